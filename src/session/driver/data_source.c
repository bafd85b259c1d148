/* SPDX-License-Identifier: GPL-2.0-or-later
 * Data sources (data_source.h).
 *
 * Sources.  The record's values: SDM vol. 3B, "Data Source Encoding for Load Latency Record".  perf's words:
 * <linux/perf_event.h>, PERF_MEM_.  Which words go with which value: Linux, arch/x86/events/intel/ds.c,
 * pebs_data_source.
 */
#include "session/driver/data_source.h"
#include <linux/perf_event.h>

static union perf_mem_data_src start(bool store)
{
	union perf_mem_data_src d = { 0 };
	d.mem_op = store ? PERF_MEM_OP_STORE : PERF_MEM_OP_LOAD;
	d.mem_snoop = PERF_MEM_SNOOP_NA;
	d.mem_lock = PERF_MEM_LOCK_NA;
	d.mem_dtlb = PERF_MEM_TLB_NA;
	d.mem_lvl = PERF_MEM_LVL_NA;
	d.mem_lvl_num = PERF_MEM_LVLNUM_NA;
	return d;
}

uint64_t data_source_unknown(bool store)
{
	return start(store).val;
}

uint64_t data_source(uint64_t source, bool store)
{
	static const struct { uint16_t level, number, snoop; } load[16] = {
		[0x1] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1, PERF_MEM_SNOOP_NONE },
		[0x2] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_LFB, PERF_MEM_LVLNUM_LFB, PERF_MEM_SNOOP_NONE },
		[0x3] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2, PERF_MEM_LVLNUM_L2, PERF_MEM_SNOOP_NONE },
		[0x4] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3, PERF_MEM_SNOOP_NONE },
		[0x5] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3, PERF_MEM_SNOOP_MISS },
		[0x6] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3, PERF_MEM_SNOOP_HIT },
		[0x7] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3, PERF_MEM_SNOOP_HITM },
		[0xa] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM, PERF_MEM_SNOOP_NONE },
		[0xc] = { PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM, PERF_MEM_SNOOP_NONE },
	};
	union perf_mem_data_src d = start(store);
	if (store && (source & 15) < 2) {	/* L1D or not; else it has a load's value */
		d.mem_lvl = PERF_MEM_LVL_L1 | (source & 1 ? PERF_MEM_LVL_HIT : PERF_MEM_LVL_MISS);
		d.mem_lvl_num = PERF_MEM_LVLNUM_L1;
	} else if (load[source & 15].level) {
		d.mem_lvl = load[source & 15].level;
		d.mem_lvl_num = load[source & 15].number;
		d.mem_snoop = load[source & 15].snoop;
	}
	d.mem_dtlb = source & 1 << 4 ? PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2
		: PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2;
	d.mem_lock = source & 1 << 5 ? PERF_MEM_LOCK_LOCKED : PERF_MEM_LOCK_NA;
	d.mem_blk = (source & 1 << 6 ? PERF_MEM_BLK_DATA : 0) | (source & 1 << 7 ? PERF_MEM_BLK_ADDR : 0);
	return d.val;
}
