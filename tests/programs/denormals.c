/* SPDX-License-Identifier: GPL-2.0-or-later
 * Floating-point operations on denormal numbers, in assembly, so that each count is known.
 *
 *   denormals KIND N [ftz]
 *
 * KIND: multiply, divide, sqrt (a denormal input), small (normal inputs, denormal product), packed, single, add,
 * compare, convert, normal (nothing denormal), load, store, overflow (x87), empty, full (faults of the x87 stack).
 * all: each of these.
 * It does so N times.  ftz: with FTZ and DAZ on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double denormal = 1e-310, half = 0.5, tiny = 1e-160, result;
static float single_denormal = 1e-40f, single_half = 0.5f, single_result;
static double packed[2] __attribute__((aligned(16))) = { 0.5, 1e-310 };
static double halves[2] __attribute__((aligned(16))) = { 1.5, 1.5 };

#define TIMES(...) do { for (long i = 0; i < n; i++) __asm__ volatile(__VA_ARGS__); } while (0)

static int is(const char *kind, const char *one)
{
	return !strcmp(kind, one) || !strcmp(kind, "all");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1000;
	unsigned mxcsr;
	if (argc > 3 && !strcmp(argv[3], "ftz"))	/* one bit at a time: the first must be read back */
		for (int bit = 6; bit <= 15; bit += 9) {
			__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
			mxcsr |= 1u << bit;
			__asm__ volatile("ldmxcsr %0" :: "m"(mxcsr));
		}
	if (is(kind, "multiply"))
		TIMES("movsd %1, %%xmm0; mulsd %0, %%xmm0" :: "m"(half), "m"(denormal) : "xmm0");
	if (is(kind, "divide"))
		TIMES("movsd %1, %%xmm0; divsd %0, %%xmm0" :: "m"(half), "m"(denormal) : "xmm0");
	if (is(kind, "sqrt"))
		TIMES("sqrtsd %0, %%xmm0" :: "m"(denormal) : "xmm0");
	if (is(kind, "small"))
		TIMES("movsd %0, %%xmm0; mulsd %0, %%xmm0" :: "m"(tiny) : "xmm0");
	if (is(kind, "packed"))
		TIMES("movapd %1, %%xmm0; mulpd %0, %%xmm0" :: "m"(halves), "m"(packed) : "xmm0");
	if (is(kind, "single"))
		TIMES("movss %1, %%xmm0; mulss %0, %%xmm0" :: "m"(single_half), "m"(single_denormal) : "xmm0");
	if (is(kind, "add"))
		TIMES("movsd %1, %%xmm0; addsd %0, %%xmm0" :: "m"(half), "m"(denormal) : "xmm0");
	if (is(kind, "compare"))
		TIMES("movsd %1, %%xmm0; ucomisd %0, %%xmm0" :: "m"(half), "m"(denormal) : "xmm0", "cc");
	if (is(kind, "convert"))
		TIMES("cvtss2sd %0, %%xmm0" :: "m"(single_denormal) : "xmm0");
	if (is(kind, "normal"))
		TIMES("movsd %0, %%xmm0; mulsd %0, %%xmm0" :: "m"(half) : "xmm0");
	if (is(kind, "load"))
		TIMES("fldl %0; fstp %%st(0)" :: "m"(denormal));
	if (is(kind, "store"))
		TIMES("fldl %1; fstps %0" : "=m"(single_result) : "m"((const double){ 1e-40 }));
	if (is(kind, "overflow"))
		TIMES("fldl %1; fstps %0" : "=m"(single_result) : "m"((const double){ 1e300 }));
	if (is(kind, "empty"))
		TIMES("fninit; jmp 1f; 1: fstpl %0" : "=m"(result));
	if (is(kind, "full"))
		TIMES("fninit; fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1; jmp 1f; 1: fldl %0; fninit"
			:: "m"(half));
	return 0;
}
