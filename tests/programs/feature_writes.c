/* SPDX-License-Identifier: GPL-2.0-or-later
 * features MSR VALUE: does the same work three times: with a feature register of the modelled core (softpmu/client.h,
 * docs/reference/features.md) unchanged, then with VALUE in it, then with 0. Each time is a region: before, changed,
 * after. Prints the result of the write and the value read back, and the result of a write with all bits set, which
 * must fault. */
#include <softpmu/client.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 24 << 10, ROUNDS = 40, DIRECTIONS = 4096 };
static unsigned char data[BYTES] __attribute__((aligned(4096)));
static unsigned char way[DIRECTIONS];

/* Reads every line of `data` in turn, and has branches that follow a repeated pattern. */
static unsigned long __attribute__((noinline)) work(void)
{
	unsigned long sum = 0;
	unsigned i, round;
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < BYTES; i += 64)
			sum += data[i]++;
	for (i = 0; i < DIRECTIONS; i++)
		if (way[i])
			__asm__ volatile("add $3, %0" : "+r"(sum));
	return sum;
}

int main(int argc, char **argv)
{
	uint32_t msr = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0x1a4;
	uint64_t value = argc > 2 ? strtoull(argv[2], NULL, 0) : 0, read[3] = { 0, 0, 0 };
	unsigned i;
	int status[6];
	unsigned long sum = 0;
	for (i = 0; i < DIRECTIONS; i++)
		way[i] = i % 7 == 0 || i % 3 == 1;
	sum += work();
	SOFTPMU_REGION_BEGIN("before");
	sum += work();
	SOFTPMU_REGION_END("before");
	status[0] = spmu_client_rdmsr(msr, &read[0]);
	status[1] = spmu_client_wrmsr(msr, value);
	status[2] = spmu_client_rdmsr(msr, &read[1]);
	sum += work();
	SOFTPMU_REGION_BEGIN("changed");
	sum += work();
	SOFTPMU_REGION_END("changed");
	status[3] = spmu_client_wrmsr(msr, ~(uint64_t)0);
	status[4] = spmu_client_rdmsr(msr, &read[2]);
	status[5] = spmu_client_wrmsr(msr, 0);
	sum += work();
	SOFTPMU_REGION_BEGIN("after");
	sum += work();
	SOFTPMU_REGION_END("after");
	printf("was %d %#llx; written %d, read %d %#llx; all ones %d, read %d %#llx; zero %d\n", status[0],
		(unsigned long long)read[0], status[1],
		status[2], (unsigned long long)read[1], status[3], status[4], (unsigned long long)read[2], status[5]);
	return sum == 0;
}
