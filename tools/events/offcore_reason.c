/* SPDX-License-Identifier: GPL-2.0-or-later
 * Why the model cannot count a value of MSR_OFFCORE_RSP_x, for generate_events.py: reads values (hex), one a line, and
 * prints the reason or "-" for each.  The argument is the layout (@offcore).  src/pmu/families/offcore.c decides.
 */
#include "pmu/pmu_internal.h"
#include <stdio.h>

int main(int argc, char **argv)
{
	const struct pmu_offcore *o = argc == 2 ? pmu_offcore_find(argv[1]) : NULL;
	unsigned long long value;
	bool nothing;
	if (!o) {
		fprintf(stderr, "usage: offcore_reason LAYOUT\n");
		return 2;
	}
	while (scanf("%llx", &value) == 1) {
		const char *why = pmu_offcore_problem(o, value, &nothing);
		puts(why ? why : "-");
	}
	return 0;
}
