/* SPDX-License-Identifier: GPL-2.0-or-later
 * A hypervisor of the tests' own, with one inner guest that has a PMU: what of it is the inner guest's is handed over
 * at VM entry and VM exit by the lists of MSRs, so that the hypervisor's own instructions are not counted.  The inner
 * guest's DS area and PEBS buffer lie behind its own page tables and behind EPT.  PEBS reloads the counter from
 * MSR_RELOAD_PMC0 (US patent application US20200242003A1), which the inner guest does not know of: the hypervisor takes
 * the value from the write of the counter.
 *
 * Source of fields, controls and exit reasons: SDM vol. 3C, appendices "VMX Capability Reporting Facility", "Field
 * Encoding in VMCS" and "VMX Basic Exit Reasons".
 */
#include "kernel.h"

enum {	/* physical memory, which the hypervisor sees at the same addresses */
	INNER_TABLES = 0x20000,		/* PML4, PDPT, PD of the first GB, PD and PT of the second */
	EPT_TABLES = 0x28000,		/* PML4, PDPT, PD */
	VMXON_REGION = 0x2c000, VMCS_REGION = 0x2d000, LISTS = 0x2e000, INNER_STACK = 0x70000,
	INNER_PAGES = 0xa00000,		/* where the inner guest believes its pages of the second GB to be: 2 MB */
	TRUE_PAGES = 0x1200000,		/* where they are */
};
#define INNER_LINEAR UINT64_C(0x40000000)
enum { PEBS_DATA_CFG = 0x3f2, RELOAD_PMC0 = 0x14c1 };
enum { LOADS_GLC = 0x81d0 };
enum { BYTES = 32, PERIOD = 100, CALLS = 10, LOADS_EACH = 105 };

/* The MSRs that are the inner guest's; in this order they are loaded. */
enum { V_EVTSEL, V_PMC, V_DATA_CFG, V_DS, V_RELOAD, V_PEBS, V_GLOBAL, V_COUNT };
static const uint32_t virtual_msr[V_COUNT] = { EVTSEL0, PMC0, PEBS_DATA_CFG, DS_AREA, RELOAD_PMC0, PEBS_ENABLE,
	GLOBAL_CTRL };
static uint64_t virtual_value[V_COUNT];

struct msr_entry { uint32_t index, reserved; uint64_t value; };
static struct msr_entry *const entry_load = (struct msr_entry *)LISTS;
static struct msr_entry *const exit_store = (struct msr_entry *)(LISTS + 0x400);
static struct msr_entry *const exit_load = (struct msr_entry *)(LISTS + 0x800);

uint64_t inner_regs[15];		/* RAX RCX RDX RBX RSI RDI RBP R8 to R15 */
uint64_t enter_inner(uint64_t resume);	/* 0: it ran and exited; else VMLAUNCH or VMRESUME failed */
void vm_exit(void);

__asm__(".globl enter_inner, vm_exit\n"
	"enter_inner:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov $0x6c14, %eax\n	vmwrite %rsp, %rax\n"		/* host RSP */
	"	test %edi, %edi\n"
	"	mov inner_regs+0, %rax\n	mov inner_regs+8, %rcx\n	mov inner_regs+16, %rdx\n"
	"	mov inner_regs+24, %rbx\n	mov inner_regs+32, %rsi\n	mov inner_regs+40, %rdi\n"
	"	mov inner_regs+48, %rbp\n	mov inner_regs+56, %r8\n	mov inner_regs+64, %r9\n"
	"	mov inner_regs+72, %r10\n	mov inner_regs+80, %r11\n	mov inner_regs+88, %r12\n"
	"	mov inner_regs+96, %r13\n	mov inner_regs+104, %r14\n	mov inner_regs+112, %r15\n"
	"	jnz 1f\n	vmlaunch\n	jmp 2f\n1:	vmresume\n"
	"2:	mov $1, %eax\n	jmp 3f\n"
	"vm_exit:\n"
	"	mov %rax, inner_regs+0\n	mov %rcx, inner_regs+8\n	mov %rdx, inner_regs+16\n"
	"	mov %rbx, inner_regs+24\n	mov %rsi, inner_regs+32\n	mov %rdi, inner_regs+40\n"
	"	mov %rbp, inner_regs+48\n	mov %r8, inner_regs+56\n	mov %r9, inner_regs+64\n"
	"	mov %r10, inner_regs+72\n	mov %r11, inner_regs+80\n	mov %r12, inner_regs+88\n"
	"	mov %r13, inner_regs+96\n	mov %r14, inner_regs+104\n	mov %r15, inner_regs+112\n"
	"	xor %eax, %eax\n"
	"3:	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n	ret\n");

static void vmwrite(uint64_t field, uint64_t value)
{
	__asm__ volatile("vmwrite %1, %0" : : "r"(field), "rm"(value) : "cc");
}
static uint64_t vmread(uint64_t field)
{
	uint64_t value;
	__asm__ volatile("vmread %1, %0" : "=rm"(value) : "r"(field) : "cc");
	return value;
}
/* The controls that are wanted, with those that must be 1 and without those that must be 0 */
static uint64_t allowed(uint32_t msr, uint32_t want)
{
	const uint64_t v = rdmsr(msr);
	return (want | (uint32_t)v) & v >> 32;
}

void interrupt(struct frame *f)
{
	end_by(f);
}

/* ---- the inner guest, which knows nothing of all this ---- */

static void call_hypervisor(uint64_t what, uint64_t value)
{
	__asm__ volatile("vmcall" : : "a"(what), "d"(value) : "memory");
}

/* What n rounds count, with the same instructions around them for each n */
static __attribute__((noinline)) uint64_t inner_count(uint32_t n)
{
	wrmsr(PMC0, 0);
	wrmsr(GLOBAL_CTRL, 1);
	loop_add(n);
	call_hypervisor(1, 0);
	wrmsr(GLOBAL_CTRL, 0);
	return rdmsr(PMC0);
}

static void inner(void)
{
	volatile uint64_t *const ds = (volatile uint64_t *)INNER_LINEAR;
	ds[4] = ds[5] = INNER_LINEAR + 0x1000;
	ds[6] = ds[7] = ds[4] + 40 * BYTES;
	wrmsr(DS_AREA, INNER_LINEAR);
	wrmsr(PEBS_DATA_CFG, 0);
	wrmsr(EVTSEL0, LOADS_GLC | USR | OS | EN);
	wrmsr(PMC0, -(uint64_t)PERIOD & 0xffffffff);
	wrmsr(PEBS_ENABLE, 1);
	wrmsr(GLOBAL_CTRL, 1);
	for (unsigned i = 0; i < CALLS; i++) {
		loop_load(LOADS_EACH, (const void *)(INNER_LINEAR + 0x3000));
		call_hypervisor(1, i);
	}
	wrmsr(GLOBAL_CTRL, 0);
	wrmsr(PEBS_ENABLE, 0);
	call_hypervisor(2, (ds[5] - ds[4]) / BYTES);
	/* and once more to count: its own instructions alone */
	wrmsr(EVTSEL0, INSTRUCTIONS | OS | EN);
	call_hypervisor(3, inner_count(1000));
	call_hypervisor(3, inner_count(3000));
	call_hypervisor(0, 0);
}

/* ---- the hypervisor ---- */

static void make_tables(void)
{
	volatile uint64_t *t = (volatile uint64_t *)INNER_TABLES, *e = (volatile uint64_t *)EPT_TABLES;
	for (unsigned i = 0; i < 5 * 512; i++)
		t[i] = 0;
	for (unsigned i = 0; i < 3 * 512; i++)
		e[i] = 0;
	t[0] = INNER_TABLES + 0x1007;
	t[512] = INNER_TABLES + 0x2007;
	t[513] = INNER_TABLES + 0x3007;
	t[3 * 512] = INNER_TABLES + 0x4007;
	e[0] = EPT_TABLES + 0x1007;
	e[512] = EPT_TABLES + 0x2007;
	for (unsigned i = 0; i < 512; i++) {
		t[2 * 512 + i] = (uint64_t)i << 21 | 0x87;
		t[4 * 512 + i] = (INNER_PAGES + ((uint64_t)i << 12)) | 7;
		e[2 * 512 + i] = (uint64_t)i << 21 | 0xb7;	/* write-back, a large page */
	}
	e[2 * 512 + INNER_PAGES / 0x200000] = TRUE_PAGES | 0xb7;
}

static int vmx_on(void)
{
	uint64_t region = VMXON_REGION, cr0, cr4;
	uint8_t failed;
	__asm__ volatile("mov %%cr4, %0; or $0x2000, %0; mov %0, %%cr4" : "=r"(cr4));
	__asm__ volatile("mov %%cr0, %0; or $0x20, %0; mov %0, %%cr0" : "=r"(cr0));	/* NE */
	if (!(rdmsr(0x3a) & 1))
		wrmsr(0x3a, 5);
	*(volatile uint32_t *)VMXON_REGION = *(volatile uint32_t *)VMCS_REGION = (uint32_t)rdmsr(0x480) & 0x7fffffff;
	__asm__ volatile("vmxon %1; setbe %0" : "=q"(failed) : "m"(region) : "cc", "memory");
	if (failed)
		return -1;
	region = VMCS_REGION;
	__asm__ volatile("vmclear %1; setbe %0" : "=q"(failed) : "m"(region) : "cc", "memory");
	if (failed)
		return -1;
	__asm__ volatile("vmptrld %1; setbe %0" : "=q"(failed) : "m"(region) : "cc", "memory");
	return failed ? -1 : 0;
}

static void fill_vmcs(void)
{
	uint64_t cr0, cr3, cr4;
	struct __attribute__((packed)) { uint16_t limit; uint64_t base; } idtr, gdtr;
	__asm__ volatile("sidt %0; sgdt %1" : "=m"(idtr), "=m"(gdtr));
	__asm__ volatile("mov %%cr0, %0; mov %%cr3, %1; mov %%cr4, %2" : "=r"(cr0), "=r"(cr3), "=r"(cr4));
	vmwrite(0x4000, allowed(0x481, 0));
	vmwrite(0x4002, allowed(0x482, 1u << 31));		/* secondary controls; every RDMSR and WRMSR exits */
	vmwrite(0x401e, allowed(0x48b, 1u << 1));		/* EPT */
	vmwrite(0x400c, allowed(0x483, 1u << 9 | 1u << 20 | 1u << 21));	/* host in 64-bit mode; EFER */
	vmwrite(0x4012, allowed(0x484, 1u << 9 | 1u << 15));	/* guest too; EFER */
	vmwrite(0x4004, 0);
	vmwrite(0x201a, EPT_TABLES | 3 << 3 | 6);
	vmwrite(0x2800, ~UINT64_C(0));
	static const uint16_t host[7] = { 0x18, 0x10, 0x18, 0x18, 0, 0, 0x30 };
	for (unsigned i = 0; i < 7; i++)
		vmwrite(0xc00 + 2 * i, host[i]);
	vmwrite(0x6c00, cr0);
	vmwrite(0x6c02, cr3);
	vmwrite(0x6c04, cr4);
	vmwrite(0x6c0a, (uint64_t)tss);
	vmwrite(0x6c0c, gdtr.base);
	vmwrite(0x6c0e, idtr.base);
	vmwrite(0x6c16, (uint64_t)vm_exit);
	vmwrite(0x2c02, rdmsr(0xc0000080));
	/* the inner guest: ES CS SS DS FS GS LDTR TR */
	static const uint16_t selector[8] = { 0x18, 0x10, 0x18, 0x18, 0, 0, 0, 0x30 };
	static const uint32_t rights[8] = { 0xc093, 0xa09b, 0xc093, 0xc093, 0x10000, 0x10000, 0x10000, 0x8b };
	for (unsigned i = 0; i < 8; i++) {
		vmwrite(0x800 + 2 * i, selector[i]);
		vmwrite(0x4800 + 2 * i, i == 7 ? 103 : 0xffffffff);
		vmwrite(0x4814 + 2 * i, rights[i]);
		vmwrite(0x6806 + 2 * i, i == 7 ? (uint64_t)tss : 0);
	}
	vmwrite(0x4810, gdtr.limit);
	vmwrite(0x4812, idtr.limit);
	vmwrite(0x6816, gdtr.base);
	vmwrite(0x6818, idtr.base);
	vmwrite(0x6800, cr0);
	vmwrite(0x6802, INNER_TABLES);
	vmwrite(0x6804, cr4);
	vmwrite(0x2806, rdmsr(0xc0000080));
	vmwrite(0x681a, 0x400);
	vmwrite(0x681c, INNER_STACK - 8);
	vmwrite(0x681e, (uint64_t)inner);
	vmwrite(0x6820, 2);
	/* what is handed over */
	for (unsigned i = 0; i < V_COUNT; i++)
		exit_store[i] = (struct msr_entry){ virtual_msr[i], 0, 0 };
	exit_load[0] = (struct msr_entry){ GLOBAL_CTRL, 0, 0 };
	exit_load[1] = (struct msr_entry){ PEBS_ENABLE, 0, 0 };
	exit_load[2] = (struct msr_entry){ EVTSEL0, 0, 0 };
	vmwrite(0x2006, (uint64_t)exit_store);
	vmwrite(0x400e, V_COUNT);
	vmwrite(0x2008, (uint64_t)exit_load);
	vmwrite(0x4010, 3);
	vmwrite(0x200a, (uint64_t)entry_load);
	vmwrite(0x4014, V_COUNT);
}

static int virtual_of(uint64_t msr)
{
	for (int i = 0; i < V_COUNT; i++)
		if (virtual_msr[i] == (uint32_t)msr && i != V_RELOAD)
			return i;
	return -1;
}

static void skip_instruction(void)
{
	vmwrite(0x681e, vmread(0x681e) + vmread(0x440c));
}

static unsigned exits, handed_over;
static uint64_t records, counted[2];
static unsigned counts;

/* Runs the inner guest until it says that it is done.  0, or the exit reason that nobody expects. */
static uint64_t run_inner(void)
{
	for (uint64_t resume = 0;; resume = 1) {
		for (unsigned i = 0; i < V_COUNT; i++)
			entry_load[i] = (struct msr_entry){ virtual_msr[i], 0, virtual_value[i] };
		if (enter_inner(resume))
			return 0x10000 | vmread(0x4400);
		exits++;
		for (unsigned i = 0; i < V_COUNT; i++)
			virtual_value[i] = exit_store[i].value;
		handed_over += virtual_value[V_GLOBAL] & 1;
		const uint64_t reason = vmread(0x4402), msr = inner_regs[1];
		int v;
		switch (reason) {
		case 31:	/* RDMSR */
		case 32:	/* WRMSR */
			if ((v = virtual_of(msr)) < 0)
				return reason | msr << 32;
			if (reason == 32) {
				virtual_value[v] = (inner_regs[0] & 0xffffffff) | inner_regs[2] << 32;
				if (v == V_PMC)		/* as WRMSR does, and what PEBS reloads */
					virtual_value[V_PMC] = virtual_value[V_RELOAD] =
						(uint64_t)(int32_t)inner_regs[0] & ((UINT64_C(1) << 48) - 1);
			} else {
				inner_regs[0] = virtual_value[v] & 0xffffffff;
				inner_regs[2] = virtual_value[v] >> 32;
			}
			break;
		case 18:	/* VMCALL */
			if (inner_regs[0] == 0)
				return 0;
			if (inner_regs[0] == 2)
				records = inner_regs[2];
			if (inner_regs[0] == 3 && counts < 2)
				counted[counts++] = inner_regs[2];
			break;
		default:
			return reason;
		}
		skip_instruction();
	}
}

void kernel_main(void)
{
	uint32_t a = 1, b, c = 0, d;
	load_idt();
	load_tss();
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	check(c >> 5 & 1, "CPUID.01H: VMX", c >> 5 & 1, 1);
	make_tables();
	if (vmx_on()) {
		text("bad VMXON\n");
		out(EXIT_PORT, 2);
	}
	fill_vmcs();
	const uint64_t failed = run_inner();
	check(!failed, "the inner guest ran to its end: reason of the last exit", failed, 0);
	equal("exits with the inner guest's counter running", handed_over, CALLS + 2 + 3);
	equal("its GLOBAL_CTRL is not the hypervisor's", rdmsr(GLOBAL_CTRL), 0);
	equal("PEBS records in the inner guest's memory", records, CALLS * LOADS_EACH / (PERIOD + 1));
	/* What the inner guest has at 40001000H, it believes at INNER_PAGES, and is at TRUE_PAGES */
	const uint64_t *r = (const uint64_t *)(TRUE_PAGES + 0x1000);
	unsigned in_loop = 0;
	for (unsigned i = 0; i < records; i++)
		in_loop += r[i * BYTES / 8 + 1] >= (uint64_t)loop_load &&
			r[i * BYTES / 8 + 1] < (uint64_t)loop_load_end;
	equal("they lie behind its tables and EPT, and are of its loop", in_loop, records);
	equal("nothing lies where it believes them", *(const uint64_t *)(INNER_PAGES + 0x1000), 0);
	equal("and its DS area has no reset value", *(const uint64_t *)(TRUE_PAGES + 0x40), 0);
	equal("its instructions, without the hypervisor's", counted[1] - counted[0], 4000);
	end();
}
