/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that count 0 because the machine has a part switched off, or does without it: its own PMU has them
 * nevertheless.  (An event of a part that another core's PMU brings along is refused: cli_paths.c.)
 */
#include "cli/common/cli_switched_off.h"
#include "pmu/pmu_lacks.h"
#include <strings.h>

enum { PAGE_1G = 2, SAVE = 1, BLEND = 2 };	/* values of memory.page and assist.sse_avx */

static bool off(const struct core_config *c, enum pmu_lack what)
{
	switch (what) {
	case PMU_LACKS_LOOP_BUFFER:	return !c->lsd_size;
	case PMU_LACKS_FLAGS_MERGE:	return !c->partial_flags_ports;
	case PMU_LACKS_BLENDS:		return c->sse_avx != BLEND;
	case PMU_LACKS_UPPER_SAVES:	return c->sse_avx != SAVE;
	case PMU_LACKS_STALE_SNOOPS:	return c->l3_inclusion || !c->l3_size;
	case PMU_LACKS_1G_PAGES:	return c->memory_page != PAGE_1G;
	default:			return false;
	}
}

static const struct { enum pmu_lack what; const char *reason; } core_parts[] = {
	{ PMU_LACKS_LOOP_BUFFER, "the loop buffer is switched off; --set lsd.size=64 switches it on" },
	{ PMU_LACKS_FLAGS_MERGE, "no uop merges flags on this core; "
		"--set partial.flags_ports=0x23 makes it do so" },
	{ PMU_LACKS_BLENDS, "no uop keeps the upper halves of vector registers on this core; "
		"--set assist.sse_avx=blend makes it do so" },
	{ PMU_LACKS_UPPER_SAVES, "no microcode saves the upper halves of vector registers on this core; "
		"--set assist.sse_avx=save makes it do so" },
	{ PMU_LACKS_STALE_SNOOPS, "only an inclusive L3 snoops a core in vain; "
		"--set l3.inclusion=inclusive makes it so" },
	{ PMU_LACKS_1G_PAGES, "no page has 1 GB; with --set memory.page=1G all have" },
};

const char *cli_switched_off(const struct core_config *core, const struct spmu_model *m, const struct spmu_event *e)
{
	for (size_t i = 0; e && i < sizeof core_parts / sizeof *core_parts; i++)
		if (off(core, core_parts[i].what) && pmu_event_lacks(m, e, core_parts[i].what))
			return core_parts[i].reason;
	return NULL;
}

const char *cli_switched_off_uncore(const struct core_config *core, const char *name)
{
	static const char evicts[] = "UNC_CHA_CORE_SNP.EVICT_", closes[] = "UNC_M_PRE_COUNT.PGT";
	if (!core->l3_filter && !strncasecmp(name, evicts, sizeof evicts - 1))
		return "the snoop filter has room for all lines; --set l3.filter=N gives it room for N bytes of lines";
	if (core->dram_row_close_ns <= 0 && !strncasecmp(name, closes, sizeof closes - 1))
		return "unused rows stay open; --set dram.row_close_ns=N closes them after N ns";
	return NULL;
}
