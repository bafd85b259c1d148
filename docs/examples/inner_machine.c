/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that is its own inner machine: PEBS records of instructions, one every 1000, though the DS area has no
 * reset values.  See docs/howto/pebs.md. */
#include "softpmu/client.h"
#include <inttypes.h>
#include <stdio.h>

static struct { uint64_t bts[4], base, index, maximum, threshold, reset[48]; } area;
static unsigned char buffer[64 * 32];	/* records of the basic group: 32 bytes each */

static volatile uint64_t sum;
static void work(void)
{
	for (int i = 0; i < 8000; i++)
		sum += (uint64_t)i;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1 && spmu_client_inner_machine())	/* any argument: not the inner machine's PMU */
		return puts("needs softpmu and a machine from Ice Lake on"), 1;
	area.base = area.index = (uintptr_t)buffer;
	area.maximum = area.threshold = (uintptr_t)buffer + sizeof buffer;
	const uint64_t start = -(uint64_t)1000 & UINT64_C(0xffffffffffff);
	int bad = spmu_client_wrmsr(0x600, (uintptr_t)&area) |	/* IA32_DS_AREA */
		spmu_client_wrmsr(0x38d, 0x2) |			/* IA32_FIXED_CTR_CTRL: user mode, no interrupt */
		spmu_client_wrmsr(0x309, start) |		/* IA32_FIXED_CTR0 */
		spmu_client_wrmsr(0x3f1, (uint64_t)1 << 32);	/* IA32_PEBS_ENABLE: fixed counter 0 */
	const int reload = spmu_client_wrmsr(0x1309, start);	/* MSR_RELOAD_FIXED_CTR0 */
	bad |= spmu_client_wrmsr(0x38f, (uint64_t)1 << 32);	/* IA32_PERF_GLOBAL_CTRL */
	work();
	bad |= spmu_client_wrmsr(0x38f, 0);
	printf("MSR_RELOAD_FIXED_CTR0: %s, reset value in the DS area: %" PRIu64 ", PEBS records: %d\n",
		reload ? "absent" : "written", area.reset[32], (int)(area.index - area.base) / 32);
	return bad != 0;
}
