/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tests' kernels share: registers, ports, a claim a line.  Included by one source file of each.
 */
#ifndef TESTS_MACHINE_KERNEL_H
#define TESTS_MACHINE_KERNEL_H
#include <stdint.h>

enum { CONSOLE_PORT = 0x5352, EXIT_PORT = 0x5354 };
enum { APIC = 0xfee00000, APIC_SPURIOUS = 0xf0, APIC_EOI = 0xb0, APIC_LVT_PC = 0x340, APIC_LVT_TIMER = 0x320,
	APIC_TIMER_COUNT = 0x380, APIC_TIMER_DIVIDE = 0x3e0 };
enum { VECTOR_PMI = 0x40, VECTOR_TIMER = 0x41 };
enum { EVTSEL0 = 0x186, PMC0 = 0xc1, FIXED0 = 0x309, FIXED_CTRL = 0x38d, GLOBAL_STATUS = 0x38e, GLOBAL_CTRL = 0x38f,
	GLOBAL_RESET = 0x390, DS_AREA = 0x600, PEBS_ENABLE = 0x3f1, DEBUGCTL = 0x1d9, LBR_TOS = 0x1c9,
	LBR_FROM = 0x680, LBR_TO = 0x6c0 };
enum { USR = 1 << 16, OS = 1 << 17, INT = 1 << 20, EN = 1 << 22 };
enum { INSTRUCTIONS = 0x00c0, BRANCHES = 0x00c4, LOADS = 0x81d0 };

struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t vector, code, rip, cs, rflags, rsp, ss;
};

/* boot.S */
extern char entries[], gdt[], tss[], user_return[], user_add_end[], loop_load_end[];
uint64_t user_call(const void *at, uint64_t argument);
void user_add(void), user_pmc(void), user_fault(void);
void loop_add(uint32_t n), loop_multiply(uint32_t n), loop_load(uint32_t n, const void *address);
/* the kernel's, which boot.S calls */
void kernel_main(void), interrupt(struct frame *f);

static unsigned bad;	/* claims that are wrong */

static inline void out(uint16_t port, uint8_t v) { __asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port)); }
static inline uint64_t tsc(void)
{
	uint32_t a, d;
	__asm__ volatile("rdtsc" : "=a"(a), "=d"(d));
	return a | (uint64_t)d << 32;
}
static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t a, d;
	__asm__ volatile("rdmsr" : "=a"(a), "=d"(d) : "c"(msr) : "memory");
	return a | (uint64_t)d << 32;
}
static inline void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}
static inline uint64_t rdpmc(uint32_t i)
{
	uint32_t a, d;
	__asm__ volatile("rdpmc" : "=a"(a), "=d"(d) : "c"(i) : "memory");
	return a | (uint64_t)d << 32;
}
static inline uint32_t apic_read(uint32_t at) { return *(volatile uint32_t *)(uint64_t)(APIC + at); }
static inline void apic_write(uint32_t at, uint32_t v) { *(volatile uint32_t *)(uint64_t)(APIC + at) = v; }

static inline void text(const char *s) { while (*s) out(CONSOLE_PORT, (uint8_t)*s++); }
static inline void number(uint64_t v)
{
	char s[21], *p = s + 20;
	*p = 0;
	do *--p = (char)('0' + v % 10); while (v /= 10);
	text(p);
}
static inline void check(int good, const char *what, uint64_t got, uint64_t want)
{
	text(good ? "ok " : "bad ");
	text(what);
	text(": ");
	number(got);
	text(" for ");
	number(want);
	text("\n");
	bad += !good;
}
static inline void equal(const char *what, uint64_t got, uint64_t want) { check(got == want, what, got, want); }
static inline void within(const char *what, uint64_t got, uint64_t low, uint64_t high)
{
	check(got >= low && got <= high, what, got, got < low ? low : high);
}

static inline void load_idt(void)
{
	static struct { uint64_t low, high; } idt[256] __attribute__((aligned(16)));
	for (unsigned i = 0; i < 68; i++) {
		const uint64_t at = (uint64_t)entries + 16 * i;
		idt[i].low = (at & 0xffff) | 0x10u << 16 | UINT64_C(0x8e00) << 32 | (at >> 16 & 0xffff) << 48;
		idt[i].high = at >> 32;
	}
	struct __attribute__((packed)) { uint16_t limit; uint64_t at; } pointer = { sizeof idt - 1, (uint64_t)idt };
	__asm__ volatile("lidt %0" : : "m"(pointer));
}
static inline void load_tss(void)
{
	const uint64_t t = (uint64_t)tss;
	*(volatile uint64_t *)(t + 4) = 0x300000;	/* RSP0 */
	uint64_t *d = (uint64_t *)(gdt + 0x30);
	d[0] = 103 | (t & 0xffffff) << 16 | UINT64_C(0x89) << 40 | (t >> 24 & 0xff) << 56;
	d[1] = t >> 32;
	__asm__ volatile("ltr %w0" : : "r"(0x30));
}
/* The APIC's page: the fourth GB by 2 MB pages, not cached. */
static inline void map_apic(void)
{
	volatile uint64_t *pdpt = (volatile uint64_t *)0x11000, *pd = (volatile uint64_t *)0x15000;
	for (unsigned i = 0; i < 512; i++)
		pd[i] = (UINT64_C(0xc0000000) + 0x200000 * (uint64_t)i) | 0x9b;
	pdpt[3] = 0x15003;
	apic_write(APIC_SPURIOUS, 0x1ff);
}

/* PMC0 counts what `select` says from now on; `stop` returns what it counted.  They are calls, so that what a
 * count has of the stack is the same everywhere. */
static __attribute__((noinline, unused)) void count(uint64_t select)
{
	wrmsr(GLOBAL_CTRL, 0);
	wrmsr(EVTSEL0, select | EN);
	wrmsr(PMC0, 0);
	wrmsr(GLOBAL_CTRL, 1);
}
static __attribute__((noinline, unused)) uint64_t stop(void)
{
	wrmsr(GLOBAL_CTRL, 0);
	wrmsr(EVTSEL0, 0);
	return rdmsr(PMC0);
}

static inline void end_by(const struct frame *f)
{
	text("bad interrupt ");
	number(f->vector);
	text(" at ");
	number(f->rip);
	text("\n");
	out(EXIT_PORT, 3);
}
static inline void end(void)
{
	text(bad ? "bad\n" : "all good\n");
	out(EXIT_PORT, bad ? 1 : 0);
	for (;;)
		__asm__ volatile("hlt");
}
#endif
