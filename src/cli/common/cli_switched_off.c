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
	case PMU_LACKS_ELISION:		return !c->hle;
	default:			return false;
	}
}

static const struct { enum pmu_lack what; const char *reason; } core_parts[] = {
	{ PMU_LACKS_LOOP_BUFFER, "the loop buffer is switched off; --set lsd.size=64 switches it on" },
	{ PMU_LACKS_FLAGS_MERGE, "this core merges flags without a uop; "
		"--set partial.flags_ports=0x23 adds one" },
	{ PMU_LACKS_BLENDS, "this core has no uops that keep the upper halves of vector registers; "
		"--set assist.sse_avx=blend adds them" },
	{ PMU_LACKS_UPPER_SAVES, "this core has no microcode that saves the upper halves of vector registers; "
		"--set assist.sse_avx=save adds it" },
	{ PMU_LACKS_STALE_SNOOPS, "only an inclusive L3 asks a core for a line that the core has dropped; "
		"--set l3.inclusion=inclusive makes it inclusive" },
	{ PMU_LACKS_ELISION, "this core elides no locks; --set hle=1 makes it do so" },
	{ PMU_LACKS_1G_PAGES, "the program has no pages of 1 GB; with --set memory.page=1G all its pages are of 1 GB" },
};

const char *cli_switched_off(const struct core_config *core, const struct spmu_model *m, const struct spmu_event *e,
	uint64_t extra)
{
	for (size_t i = 0; e && i < sizeof core_parts / sizeof *core_parts; i++)
		if (off(core, core_parts[i].what) && pmu_event_lacks(m, e, extra, core_parts[i].what))
			return core_parts[i].reason;
	return NULL;
}

const char *cli_switched_off_uncore(const struct core_config *core, const char *name)
{
	static const char evicts[] = "UNC_CHA_CORE_SNP.EVICT_", closes[] = "UNC_M_PRE_COUNT.PGT";
	if (!core->l3_filter && !strncasecmp(name, evicts, sizeof evicts - 1))
		return "the snoop filter has room for all lines of the cores; --set l3.filter=1M leaves room for 1 MB";
	if (core->dram_row_close_ns <= 0 && !strncasecmp(name, closes, sizeof closes - 1))
		return "idle rows stay open; --set dram.row_close_ns=1000 closes a row after 1000 ns without a read";
	return NULL;
}
