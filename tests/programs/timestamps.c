/* SPDX-License-Identifier: GPL-2.0-or-later
 * RDTSCP, which both a host's CPUID and the tracer's may hide or show: its counter never runs backwards. */
#include <stdint.h>
#include <stdio.h>

static uint64_t rdtscp(uint32_t *processor)
{
	uint32_t low, high;
	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*processor));
	return (uint64_t)high << 32 | low;
}

int main(void)
{
	uint32_t processor;
	uint64_t before = rdtscp(&processor);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = rdtscp(&processor);
		if (now < before)
			return 1;
		before = now;
	}
	puts("forwards");
	return 0;
}
