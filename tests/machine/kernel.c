/* SPDX-License-Identifier: GPL-2.0-or-later
 * A kernel of the tests' own, which looks at the PMU of a Skylake from inside: registers and their #GP, counts at both
 * privilege levels, PMIs, PEBS records behind page tables, branch records, time.  It prints a line for each claim,
 * "ok ..." or "bad ...", and figures that two runs must share.  boot.S brings it up.
 */
#include "kernel.h"

#define FAULTING UINT64_C(0x40000000)	/* the second GB: nothing is mapped there until somebody asks */

static volatile unsigned faults, gps, pmis, timers;
static volatile uint64_t pmi_ip, reload, skip_to;
static volatile uint32_t lvt_in_handler;
static volatile unsigned pmi_user;

/* Maps the page of the second GB to the same offset behind 8 MB. */
static void map(uint64_t addr)
{
	volatile uint64_t *table = (volatile uint64_t *)0x14000;
	table[addr >> 12 & 511] = (0x800000 + (addr & 0x1ff000)) | 7;
}

void interrupt(struct frame *f)
{
	switch (f->vector) {
	case 13:
		gps++;
		f->rip = skip_to ? skip_to : f->rip + 2;	/* WRMSR, RDMSR and RDPMC have two bytes */
		return;
	case 14: {
		uint64_t addr;
		__asm__ volatile("mov %%cr2, %0" : "=r"(addr));
		faults++;
		if (addr >> 21 == FAULTING >> 21) {
			map(addr);
			return;
		}
		break;
	}
	case 2:
	case VECTOR_PMI:
		pmis++;
		pmi_ip = f->rip;
		pmi_user += f->cs & 3 ? 1 : 0;
		lvt_in_handler = apic_read(APIC_LVT_PC);
		wrmsr(GLOBAL_CTRL, 0);
		wrmsr(GLOBAL_RESET, rdmsr(GLOBAL_STATUS));
		if (reload) {
			wrmsr(PMC0, -reload & 0xffffffff);
			wrmsr(GLOBAL_CTRL, 1);
		}
		apic_write(APIC_LVT_PC, f->vector == 2 ? 0x400 : VECTOR_PMI);
		if (f->vector != 2)
			apic_write(APIC_EOI, 0);
		return;
	case VECTOR_TIMER:
		timers++;
		apic_write(APIC_EOI, 0);
		return;
	default:
		break;
	}
	end_by(f);
}

static void prepare(void)
{
	load_idt();
	load_tss();
	wrmsr(0xc0000081, UINT64_C(0x18) << 48 | UINT64_C(0x10) << 32);	/* STAR */
	wrmsr(0xc0000082, (uint64_t)user_return);
	wrmsr(0xc0000084, 0x200);				/* SYSCALL clears IF */
	map_apic();
}

static void test_cpuid(void)
{
	uint32_t a = 0x0a, b, c = 0, d;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	equal("CPUID.0AH: version", a & 255, 4);
	equal("CPUID.0AH: counters", a >> 8 & 255, 8);
	equal("CPUID.0AH: fixed counters", d & 31, 3);
	a = 1, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	equal("CPUID.01H: signature", a, 0x506e3);
	check((c >> 15 & 1) && (d >> 21 & 1), "CPUID.01H: PDCM and DS", c >> 15 & 1, 1);
}

static void test_faults(void)
{
	gps = 0;
	wrmsr(EVTSEL0, UINT64_C(1) << 40);
	equal("#GP: reserved bit of PERFEVTSEL", gps, 1);
	wrmsr(GLOBAL_CTRL, UINT64_C(1) << 60);
	equal("#GP: reserved bit of GLOBAL_CTRL", gps, 2);
	(void)rdpmc(31);
	equal("#GP: RDPMC without such a counter", gps, 3);
	wrmsr(0x14c1, 1);		/* MSR_RELOAD_PMC0, which Skylake lacks */
	equal("#GP: a register of later processors", gps, 4);
	equal("a refused write changes nothing", rdmsr(EVTSEL0), 0);
	skip_to = (uint64_t)user_add_end - 2;	/* the SYSCALL that ends user_add */
	user_call((void *)user_pmc, 0);
	equal("#GP: RDPMC at CPL 3", gps, 5);
	skip_to = 0;
	__asm__ volatile("mov %%cr4, %%rax; or $0x100, %%rax; mov %%rax, %%cr4" : : : "rax");
	wrmsr(PMC0, 4711);
	equal("RDPMC at CPL 3 with CR4.PCE", user_call((void *)user_pmc, 0), 4711);
	equal("and no #GP", gps, 5);
}

/* What n rounds of loop_add count at CPL 0, with the same instructions around them for each n. */
static __attribute__((noinline)) uint64_t count_rounds(uint32_t n)
{
	count(INSTRUCTIONS | OS);
	loop_add(n);
	return stop();
}

static void test_counts(void)
{
	uint64_t few;
	equal("instructions at CPL 0, 2000 rounds more", count_rounds(3000) - count_rounds(1000), 4000);
	count(INSTRUCTIONS | USR);
	loop_add(1000);
	equal("USR counts nothing of CPL 0", stop(), 0);
	count(INSTRUCTIONS | USR);
	user_call((void *)user_add, 1000);
	equal("instructions at CPL 3", stop(), 2002);
	count(INSTRUCTIONS | OS);
	user_call((void *)user_add, 1000);
	few = stop();
	count(INSTRUCTIONS | OS);
	user_call((void *)user_add, 100000);
	equal("OS counts nothing of CPL 3", stop(), few);
	count(BRANCHES | USR);
	user_call((void *)user_add, 5000);
	equal("branches at CPL 3, SYSCALL among them", stop(), 5001);
	faults = 0;
	count(INSTRUCTIONS | USR);
	user_call((void *)user_fault, FAULTING + 0x5008);
	equal("a page fault: the instruction counts once", stop(), 4);
	equal("one page fault", faults, 1);
}

static void test_time(void)
{
	wrmsr(FIXED_CTRL, 0x30);		/* core cycles, both levels */
	wrmsr(GLOBAL_CTRL, UINT64_C(1) << 33);
	uint64_t c0 = rdpmc(0x40000001), t0 = tsc();
	loop_multiply(2000);
	uint64_t t1 = tsc(), c1 = rdpmc(0x40000001);
	within("2000 dependent multiplications: cycles", c1 - c0, 6000, 6300);
	within("and the time stamp agrees", t1 - t0, c1 - c0 - 300, c1 - c0 + 300);
	/* a halt: the clock goes on, the counter does not */
	timers = 0;
	apic_write(APIC_TIMER_DIVIDE, 0xb);	/* 1 */
	apic_write(APIC_LVT_TIMER, VECTOR_TIMER);
	c0 = rdpmc(0x40000001), t0 = tsc();
	apic_write(APIC_TIMER_COUNT, 100000);
	__asm__ volatile("sti; hlt; cli");
	t1 = tsc(), c1 = rdpmc(0x40000001);
	equal("HLT until the timer's interrupt", timers, 1);
	within("time passed", t1 - t0, 90000, 130000);
	within("cycles not halted", c1 - c0, 100, 5000);
	wrmsr(GLOBAL_CTRL, 0);
	wrmsr(FIXED_CTRL, 0);
}

static void test_pmi(void)
{
	apic_write(APIC_LVT_PC, VECTOR_PMI);
	__asm__ volatile("sti");
	pmis = pmi_user = 0;
	reload = 1000;
	wrmsr(EVTSEL0, INSTRUCTIONS | USR | INT | EN);
	wrmsr(PMC0, -reload & 0xffffffff);
	wrmsr(GLOBAL_CTRL, 1);
	user_call((void *)user_add, 20000);
	reload = 0;
	stop();
	__asm__ volatile("cli");
	/* a period is 1000 and what retires until the interrupt is taken */
	within("PMIs of 40002 instructions, period 1000", pmis, 30, 40);
	check(lvt_in_handler >> 16 & 1, "the APIC's entry is masked in the handler", lvt_in_handler >> 16 & 1, 1);
	check(pmi_ip >= (uint64_t)user_add && pmi_ip < (uint64_t)user_add_end, "the last one is in the loop", pmi_ip,
		(uint64_t)user_add);
	equal("all of CPL 3", pmi_user, pmis);
	/* the same as an NMI, with interrupts off */
	apic_write(APIC_LVT_PC, 0x400);
	pmis = 0;
	wrmsr(EVTSEL0, INSTRUCTIONS | OS | INT | EN);
	wrmsr(PMC0, -UINT64_C(5000) & 0xffffffff);
	wrmsr(GLOBAL_CTRL, 1);
	loop_add(5000);
	stop();
	equal("a PMI as NMI", pmis, 1);
	apic_write(APIC_LVT_PC, 0x10000);
	pmis = 0;
	wrmsr(EVTSEL0, INSTRUCTIONS | OS | INT | EN);
	wrmsr(PMC0, -UINT64_C(5000) & 0xffffffff);
	wrmsr(GLOBAL_CTRL, 1);
	loop_add(5000);
	stop();
	equal("a masked one is lost", pmis, 0);
	equal("its overflow is not", rdmsr(GLOBAL_STATUS) & 1, 1);
	wrmsr(GLOBAL_RESET, 1);
}

static uint64_t ds[16] __attribute__((aligned(64)));

/* The buffer lies behind the page tables of the second GB. */
static void test_pebs(void)
{
	enum { BYTES = 200, RECORDS = 10 };
	uint64_t *buffer = (uint64_t *)(FAULTING + 0x9000);
	map(FAULTING + 0x9000);
	ds[4] = ds[5] = (uint64_t)buffer;
	ds[6] = (uint64_t)buffer + 20 * BYTES;
	ds[7] = ds[6];
	ds[8] = -UINT64_C(100) & 0xffffffffffff;
	wrmsr(DS_AREA, (uint64_t)ds);
	wrmsr(EVTSEL0, LOADS | USR | OS | EN);
	wrmsr(PMC0, -UINT64_C(100) & 0xffffffff);
	wrmsr(PEBS_ENABLE, 1);
	wrmsr(GLOBAL_CTRL, 1);
	loop_load(1050, ds);
	wrmsr(GLOBAL_CTRL, 0);
	wrmsr(PEBS_ENABLE, 0);
	wrmsr(EVTSEL0, 0);
	const uint64_t records = (ds[5] - ds[4]) / BYTES;
	equal("PEBS records", records, RECORDS);
	unsigned in_loop = 0, apart = 0, address = 0;
	for (unsigned i = 0; i < records; i++) {
		const uint64_t *r = buffer + i * BYTES / 8;
		in_loop += r[22] >= (uint64_t)loop_load && r[22] < (uint64_t)loop_load_end;	/* EventingIP */
		apart += !i || r[-BYTES / 8 + 4] - r[4] == 101;		/* RCX counts the loads down */
		address += r[19] == (uint64_t)ds;
	}
	equal("in the loop", in_loop, records);
	equal("101 loads apart by their RCX: the next one triggers", apart, records);
	equal("with the address of the data", address, records);
}

static void test_lbr(void)
{
	wrmsr(DEBUGCTL, 1);
	loop_add(40);
	wrmsr(DEBUGCTL, 0);
	const uint64_t top = rdmsr(LBR_TOS);
	/* the last one is the return, those before are the loop's */
	uint64_t from = rdmsr(LBR_FROM + (uint32_t)((top - 2) & 31)), to = rdmsr(LBR_TO + (uint32_t)((top - 2) & 31));
	check(from > (uint64_t)loop_add && from < (uint64_t)loop_add + 8 && to < from, "a branch record of the loop",
		from, (uint64_t)loop_add);
}

void kernel_main(void)
{
	prepare();
	test_cpuid();
	test_faults();
	test_counts();
	test_time();
	test_pmi();
	test_pebs();
	test_lbr();
	end();
}
