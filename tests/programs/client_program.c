/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that uses softpmu/client.h; tests/system/registers/client.sh checks its output. Built as C for both word
 * sizes, and as C++.
 *
 *   client alone             prints the results of the calls; without softpmu these are errors
 *   client count FAMILY N    counts of known code between an enabling and a disabling write; FAMILY: arch, p6, p5,
 *                            netburst
 *   client fixed N           the same with fixed counters, and IA32_PERF_GLOBAL_CTRL as the switch
 *   client pmi FAMILY        interrupts and the LVT entry
 *   client errors            accesses that an architectural PMU refuses
 *   client threads           two threads, each with a PMU
 *   client any               two threads at once, each of which counts its core's instructions and its own
 *   client regions N         regions of known length
 *   client leaf              CPUID leaf 0AH
 *   client event EVTSEL N    an event of an architectural PMU or a P6
 *   client pebs BYTES        precise records of loads, BYTES each, in the program's memory
 *   client bts N             branch records of known code
 *   client forever           calls until softpmu is gone
 */
#include "softpmu/client.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define REG(name) "%%r" name
#else
#define REG(name) "%%e" name
#endif

static volatile uint32_t memory;

/* Instructions after the first request, up to and including the second: 3 + 4 * n,
 * among them n branches and n loads. */
static __attribute__((noinline)) void measured(const struct spmu_client_request *on,
	const struct spmu_client_request *off, uint32_t n)
{
	uintptr_t a = (uintptr_t)on, d = 0;
	__asm__ __volatile__(SPMU_CLIENT_SEQUENCE
		"mov %[off], " REG("ax") "\n\t"
		"xor %%edx, %%edx\n"
		"1:\tcmpl $0, %[memory]\n\t"
		"nop\n\t"
		"dec %%ecx\n\t"
		"jnz 1b\n\t"
		SPMU_CLIENT_SEQUENCE
		: "+a"(a), "+d"(d), "+c"(n) : [off] "S"(off), [memory] "m"(memory) : "cc", "memory");
}

static void must(int status, const char *what)
{
	if (status == SPMU_CLIENT_OK)
		return;
	printf("%s: status %d\n", what, status);
	exit(1);
}

static void wrmsr(uint32_t msr, uint64_t value) { must(spmu_client_wrmsr(msr, value), "wrmsr"); }

static uint64_t rdmsr(uint32_t msr)
{
	uint64_t value = 0;
	must(spmu_client_rdmsr(msr, &value), "rdmsr");
	return value;
}

enum { INSTRUCTIONS, BRANCHES, EVENTS };
static const char *const event_name[EVENTS] = { "instructions", "branches" };

struct family {
	const char *name;
	uint32_t prepare_msr[EVENTS];	/* 0: none */
	uint64_t prepare[EVENTS];
	uint32_t control;		/* the register that enables counting */
	uint64_t on[EVENTS], off;
	uint32_t counter, rdpmc;
	uint64_t interrupt;		/* bit of the control register */
	unsigned width;
};

static const struct family families[] = {
	/* IA32_PERFEVTSEL0; IA32_PERF_GLOBAL_CTRL is written by main */
	{ "arch", { 0, 0 }, { 0, 0 }, 0x186, { 0x4100c0, 0x4100c4 }, 0, 0xc1, 0, 1 << 20, 48 },
	{ "p6", { 0, 0 }, { 0, 0 }, 0x186, { 0x4100c0, 0x4100c4 }, 0, 0xc1, 0, 1 << 20, 40 },
	{ "p5", { 0, 0 }, { 0, 0 }, 0x11, { 0x96, 0x92 }, 0, 0x12, 0, 0, 40 },	/* control code 2: counts at CPL 3 */
	/* CRU_ESCR0: instr_retired, NBOGUSNTAG; CRU_ESCR2: branch_retired,
	 * all four; both T0 and T1 at user level. IQ_CCCR0. */
	{ "netburst", { 0x3b8, 0x3cc }, { 2u << 25 | 1 << 9 | 5, 6u << 25 | 15 << 9 | 5 }, 0x36c,
	  { 3 << 16 | 4 << 13 | 1 << 12, 3 << 16 | 5 << 13 | 1 << 12 }, 3 << 16, 0x30c, 12, 1 << 26, 40 },
};

static const struct family *family_of(const char *name)
{
	unsigned i;
	for (i = 0; name && i < sizeof families / sizeof *families; i++)
		if (!strcmp(families[i].name, name))
			return families + i;
	puts("no such family");
	exit(2);
}

static uint64_t count(const struct family *f, unsigned event, uint32_t n)
{
	struct spmu_client_request on, off;
	if (f->prepare_msr[event])
		wrmsr(f->prepare_msr[event], f->prepare[event]);
	wrmsr(f->counter, 0);
	spmu_client_prepare_wrmsr(&on, f->control, f->on[event]);
	spmu_client_prepare_wrmsr(&off, f->control, f->off);
	measured(&on, &off, n);
	return rdmsr(f->counter);
}

static void counts(const struct family *f, uint32_t n)
{
	unsigned e;
	for (e = 0; e < EVENTS; e++) {
		uint64_t first = count(f, e, n), again, read = 0;
		int status;
		volatile int elsewhere;
		for (elsewhere = 0; elsewhere < 100; elsewhere++)
			;	/* not counted: the counter is disabled */
		status = spmu_client_rdpmc(f->rdpmc, &read);
		printf("%s %" PRIu64 " rdpmc %s\n", event_name[e], first, status == SPMU_CLIENT_UD ? "#UD"
			: read == first ? "same" : "differs");
		again = count(f, e, n);
		printf("%s %" PRIu64 " again\n", event_name[e], again);
	}
}

static void fixed(uint32_t n)
{
	struct spmu_client_request on, off;
	uint64_t cycles;
	wrmsr(0x38f, 0);
	wrmsr(0x38d, 0x22);	/* both at user level */
	wrmsr(0x186, 0x4100c0);
	wrmsr(0x309, 0);
	wrmsr(0x30a, 0);
	wrmsr(0xc1, 0);
	spmu_client_prepare_wrmsr(&on, 0x38f, (uint64_t)3 << 32 | 1);
	spmu_client_prepare_wrmsr(&off, 0x38f, 0);
	measured(&on, &off, n);
	cycles = rdmsr(0x30a);
	printf("fixed %" PRIu64 " general %" PRIu64 "\n", rdmsr(0x309), rdmsr(0xc1));
	printf("cycles %s\n", cycles >= n && cycles < 20 * (uint64_t)n + 5000 ? "plausible" : "wrong");
	measured(&off, &off, n);
	printf("disabled %" PRIu64 "\n", rdmsr(0x309));
}

static void pmi(const struct family *f)
{
	struct spmu_client_request on, off;
	struct spmu_client_pmi p = { 0, 0, 0 };
	uint32_t lvt = 0;
	uint64_t most = f->width == 48 ? UINT64_C(0xffffffffffff) : UINT64_C(0xffffffffff);
	int round;
	must(spmu_client_apic_read(0x340, &lvt), "apic_read");
	printf("lvt %#x after reset\n", (unsigned)lvt);
	for (round = 0; round < 3; round++) {	/* masked, unmasked, and as the PMI left it */
		uint64_t preset = (0 - (uint64_t)1000) & most;
		int n;
		if (round == 1)
			must(spmu_client_apic_write(0x340, 0x400), "apic_write");
		if (f->prepare_msr[0])
			wrmsr(f->prepare_msr[0], f->prepare[0]);
		if (f == families)
			wrmsr(0x390, 1);
		wrmsr(f->counter, f->width == 48 ? preset & 0xffffffff : preset); /* legacy write: sign-extended */
		spmu_client_prepare_wrmsr(&on, f->control, f->on[0] | f->interrupt);
		spmu_client_prepare_wrmsr(&off, f->control, f->off);
		measured(&on, &off, 1000);
		must(spmu_client_apic_read(0x340, &lvt), "apic_read");
		n = spmu_client_pmi_pending(&p);
		printf("pending %d counter %" PRIu64 " lvt %#x", n, rdmsr(f->counter), (unsigned)lvt);
		if (n > 0)
			printf(" status %" PRIx64 " ip %s", p.status,
				p.ip >= (uintptr_t)measured && p.ip < (uintptr_t)measured + 120 ? "in the loop"
				: "elsewhere");
		puts("");
	}
}

static void errors(void)
{
	uint64_t value = 77;
	uint32_t word = 77;
	struct spmu_client_request bad;
	printf("no such msr %d %d\n", spmu_client_rdmsr(0x10000, &value), spmu_client_wrmsr(0x10000, 1));
	printf("reserved bits %d\n", spmu_client_wrmsr(0x38d, ~(uint64_t)0));
	printf("bad counter %d\n", spmu_client_rdpmc(99, &value));
	printf("bad apic %d %d\n", spmu_client_apic_read(0x350, &word), spmu_client_apic_write(0x350, 0));
	printf("untouched %" PRIu64 " %u\n", value, (unsigned)word);
	memset(&bad, 0, sizeof bad);
	bad.code = SPMU_CLIENT_RDMSR;
	bad.index = 0x38f;
	bad.answer = 16;		/* nothing is mapped there */
	printf("bad address %d\n", spmu_client_do(&bad));
	bad.code = SPMU_CLIENT_CODES;	/* an unknown code */
	printf("unknown code %d\n", spmu_client_do(&bad));
	spmu_client_region_begin((const char *)16);
	spmu_client_region_begin("");
	spmu_client_region_end("never begun");
	puts("alive");
}

static void *thread(void *argument)
{
	uint32_t n = *(const uint32_t *)argument;
	static char text[2][64];
	char *out = text[n == 70];
	wrmsr(0x38f, 1);
	snprintf(out, sizeof text[0], "thread %u: %" PRIu64, (unsigned)n, count(families, INSTRUCTIONS, n));
	return out;
}

static void threads(void)
{
	static const uint32_t n[2] = { 70, 700 };
	pthread_t id[2];
	unsigned i;
	wrmsr(0x38f, 1);
	wrmsr(0xc1, 5);
	for (i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, thread, (void *)(uintptr_t)&n[i]);
	for (i = 0; i < 2; i++) {
		void *said = NULL;
		pthread_join(id[i], &said);
		puts((const char *)said);
	}
	printf("main: %" PRIu64 "\n", rdmsr(0xc1));
}

static pthread_barrier_t both_run;

/* Prints whether AnyThread counts about what both threads execute, by a general-purpose and by a fixed counter. */
static void *any_thread(void *unused)
{
	volatile uint32_t n = 0;
	double own, any[2];
	wrmsr(0x38d, 7);		/* fixed counter 0: instructions, AnyThread */
	wrmsr(0x186, 0x4300c0);
	wrmsr(0x187, 0x6300c0);
	wrmsr(0x38f, 3 | (uint64_t)1 << 32);
	pthread_barrier_wait(&both_run);
	while (n < 200000)
		n++;
	pthread_barrier_wait(&both_run);
	own = (double)rdmsr(0xc1);
	any[0] = (double)rdmsr(0xc2);
	any[1] = (double)rdmsr(0x309);
	printf("%.0f %.0f\n", any[0] / own, any[1] / own);
	return unused;
}

static void any(void)
{
	pthread_t id;
	pthread_barrier_init(&both_run, NULL, 2);
	pthread_create(&id, NULL, any_thread, NULL);
	any_thread(NULL);
	pthread_join(id, NULL);
}

static void regions(uint32_t n)
{
	struct spmu_client_request begin, end;
	unsigned i;
	memset(&begin, 0, sizeof begin);
	begin.code = SPMU_CLIENT_REGION_BEGIN;
	begin.index = (uintptr_t)"loop";
	end = begin;
	end.code = SPMU_CLIENT_REGION_END;
	for (i = 0; i < 3; i++)
		measured(&begin, &end, n);
	SOFTPMU_REGION_BEGIN("outer");
	measured(&begin, &end, n);
	SOFTPMU_REGION_BEGIN("outer");
	measured(&begin, &end, n);
	SOFTPMU_REGION_END("outer");
	measured(&begin, &end, n);
	SOFTPMU_REGION_END("outer");
}

static void event(uint64_t evtsel, uint32_t n)
{
	struct family f = families[0];
	(void)spmu_client_wrmsr(0x38f, 1);	/* a P6 has none */
	f.on[0] = evtsel;
	printf("%" PRIu64 "\n", count(&f, 0, n));
}

/* SDM vol. 3B, "DS Save Area and IA-32e Mode Operation": the layout of processors with 64-bit DS areas. */
static struct { uint64_t bts[4], pebs[4], reset[48]; } area;
static unsigned char buffer[64][256];

static void pebs(unsigned bytes)
{
	struct spmu_client_request on, off;
	unsigned char *at = buffer[0];
	unsigned i, good = 0;
	uint64_t records;
	area.pebs[0] = area.pebs[1] = (uintptr_t)buffer;
	area.pebs[2] = (uintptr_t)buffer + sizeof buffer;
	area.pebs[3] = area.pebs[2];
	area.reset[0] = -(uint64_t)100 & UINT64_C(0xffffffffffff);
	wrmsr(0x600, (uintptr_t)&area);
	wrmsr(0x38f, 0);
	wrmsr(0x186, 0x4181d0);		/* MEM_INST_RETIRED.ALL_LOADS */
	wrmsr(0xc1, -(uint64_t)100 & 0xffffffff);
	wrmsr(0x3f1, 1);
	spmu_client_prepare_wrmsr(&on, 0x38f, 1);
	spmu_client_prepare_wrmsr(&off, 0x38f, 0);
	measured(&on, &off, 4000);
	records = (area.pebs[1] - area.pebs[0]) / bytes;
	for (i = 0; i < records; i++) {
		uint64_t ip, first;
		memcpy(&ip, at + i * bytes + 8, sizeof ip);
		memcpy(&first, at + 8, sizeof first);
		good += ip == first && ip > (uintptr_t)measured && ip < (uintptr_t)measured + 120;
	}
	printf("records %" PRIu64 " rest %u in the loop %u\n", records,
		(unsigned)((area.pebs[1] - area.pebs[0]) % bytes), good);
	area.pebs[1] = area.pebs[0];	/* the program empties it */
	area.reset[0] = -(uint64_t)1000 & UINT64_C(0xffffffffffff);
	measured(&on, &off, 4000);
	printf("then %" PRIu64 "\n", (area.pebs[1] - area.pebs[0]) / bytes);
	area.pebs[2] = area.pebs[0] + 8 * bytes;	/* it is full after eight */
	area.pebs[1] = area.pebs[0];
	area.reset[0] = -(uint64_t)10 & UINT64_C(0xffffffffffff);
	measured(&on, &off, 4000);
	printf("full %" PRIu64 "\n", (area.pebs[1] - area.pebs[0]) / bytes);
	wrmsr(0x600, 4096);		/* nothing is mapped there */
	measured(&on, &off, 4000);
	puts("alive");
}

static void bts(uint32_t n)
{
	static uint64_t records[1500][3];
	struct spmu_client_request on, off;
	uint32_t i, good = 0;
	area.bts[0] = area.bts[1] = (uintptr_t)records;
	area.bts[2] = area.bts[3] = (uintptr_t)records + sizeof records;
	wrmsr(0x600, (uintptr_t)&area);
	spmu_client_prepare_wrmsr(&on, 0x1d9, 0xc0);	/* IA32_DEBUGCTL: TR, BTS */
	spmu_client_prepare_wrmsr(&off, 0x1d9, 0);
	measured(&on, &off, n);
	for (i = 0; i < (area.bts[1] - area.bts[0]) / sizeof records[0]; i++)
		good += records[i][0] == records[0][0] && records[i][1] == records[0][1] &&
			records[i][1] < records[i][0];
	printf("%u branches taken, %u of them back\n", (unsigned)i, (unsigned)good);
}

static void leaf(void)
{
	uint32_t r[4] = { 0, 0, 0, 0 };
	must(spmu_client_cpuid_0a(r), "cpuid");
	printf("%08x %08x %08x %08x\n", (unsigned)r[0], (unsigned)r[1], (unsigned)r[2], (unsigned)r[3]);
}

static void alone(void)
{
	uint64_t value = 77;
	uint32_t word = 77, r[4] = { 77, 77, 77, 77 };
	struct spmu_client_pmi p = { 77, 77, 77 };
	printf("present %d\n", spmu_client_present());
	printf("rdmsr %d wrmsr %d rdpmc %d cpuid %d\n", spmu_client_rdmsr(0xc1, &value), spmu_client_wrmsr(0xc1, 1),
		spmu_client_rdpmc(0, &value),
		spmu_client_cpuid_0a(r));
	printf("apic %d %d pmi %d\n", spmu_client_apic_read(0x340, &word), spmu_client_apic_write(0x340, 0),
		spmu_client_pmi_pending(&p));
	printf("values %" PRIu64 " %u %u %" PRIu64 "\n", value, (unsigned)word, (unsigned)r[3], p.ip);
	SOFTPMU_REGION_BEGIN("nowhere");
	SOFTPMU_REGION_END("nowhere");
	regions(10);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "alone";
	uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[argc - 1], NULL, 10) : 1000;
	if (!strcmp(mode, "count") || !strcmp(mode, "pmi")) {
		const struct family *f = family_of(argv[2]);
		if (f == families)
			wrmsr(0x38f, 1);
		if (mode[0] == 'c')
			counts(f, n);
		else
			pmi(f);
	} else if (!strcmp(mode, "fixed")) {
		fixed(n);
	} else if (!strcmp(mode, "errors")) {
		errors();
	} else if (!strcmp(mode, "threads")) {
		threads();
	} else if (!strcmp(mode, "any")) {
		any();
	} else if (!strcmp(mode, "regions")) {
		regions(n);
	} else if (!strcmp(mode, "event") && argc == 4) {
		event(strtoull(argv[2], NULL, 0), n);
	} else if (!strcmp(mode, "pebs")) {
		pebs(n);
	} else if (!strcmp(mode, "bts")) {
		bts(n);
	} else if (!strcmp(mode, "leaf")) {
		leaf();
	} else if (!strcmp(mode, "forever")) {
		uint64_t v;
		setvbuf(stdout, NULL, _IONBF, 0);
		puts("asks");
		while (spmu_client_rdmsr(0xc1, &v) == SPMU_CLIENT_OK)
			;
		puts("gone");
	} else {
		alone();
	}
	return 0;
}
