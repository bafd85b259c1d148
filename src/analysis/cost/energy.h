/* SPDX-License-Identifier: GPL-2.0-or-later
 * The energy of a run: for each part of the core, the number of accesses times the energy of one, plus what the
 * part leaks while the run lasts.
 *
 *   dynamic  accesses × pJ × (size / at) ^ power
 *   static   mW × (size / at) for as long as the clock runs: mW / GHz is pJ a cycle
 *
 * The figures and their sources stand in data/energy/NAME.tsv.  Sizes are those of the core as it was run.  So a
 * part that is made smaller or switched off takes less energy, and the accesses that then go to the next part
 * take more there.  A core's share of the L3 is one slice.
 *
 * Leaves out: voltage and frequency (both stay the same), temperature, idle memory, other cores, the ring.
 */
#ifndef ANALYSIS_ENERGY_H
#define ANALYSIS_ENERGY_H
#include "core/machine/config.h"
#include "core/core.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdint.h>

/* What is counted in a run; includes wrong paths, except for instructions. */
#define ENERGY_COUNTS(X) \
	X(cycles,       "unhalted, of all threads") \
	X(instructions, "retired") \
	X(slots,        "slots allocated") \
	X(uops,         "uops executed") \
	X(integer,      "of these, on general registers") \
	X(multiply,     "of these, multiplications") \
	X(divide,       "of these, divides and square roots") \
	X(floating,     "of these, scalar floating point") \
	X(vector,       "of these, packed") \
	X(loads,        "loads") \
	X(stores,       "stores") \
	X(branches,     "branches") \
	X(indirect,     "of these, indirect") \
	X(mispredicts,  "mispredicted branches") \
	X(dsb,          "slots from the uop cache") \
	X(mite,         "slots from the decoders") \
	X(ms,           "slots from the microcode sequencer") \
	X(lsd,          "slots from the loop buffer") \
	X(fetches,      "lines looked up in L1I") \
	X(itlb_misses,  "of the first level") \
	X(dtlb_misses,  "of the first level") \
	X(walks,        "page walks") \
	X(l1d_fills,    "lines brought into L1D") \
	X(l1d_evicts,   "modified lines that L1D gave up") \
	X(l2_requests,  "by loads, stores, code and prefetchers") \
	X(l2_prefetches,"of these, by prefetchers") \
	X(l2_prefetch_misses, "of these, missed") \
	X(l2_fills,     "lines brought into L2") \
	X(l2_evicts,    "lines that L2 gave up") \
	X(l3_requests,  "reads of L3 or, without one, of the bus") \
	X(l3_writes,    "lines that L2 gave up to L3") \
	X(l3_evicts,    "lines that L3 gave up") \
	X(dram_reads,   "lines") \
	X(dram_writes,  "lines")
enum energy_count {
#define X(name, text) ENERGY_COUNT_##name,
	ENERGY_COUNTS(X)
#undef X
	ENERGY_COUNTS_COUNT
};
struct energy_activity { uint64_t n[ENERGY_COUNTS_COUNT]; };

/* Sets *w to what energy_batch needs in the records. */
struct core_wanted energy_wanted(void);
void energy_batch(struct energy_activity *a, const struct spmu_batch *b);

/* name, unit of its size, what an access is */
#define ENERGY_PARTS(X) \
	X(core,         "what has no size of its own",  "slot") \
	X(rob,          "entries",                      "slot") \
	X(scheduler,    "entries",                      "uop") \
	X(load_buffer,  "entries",                      "load or store") \
	X(store_buffer, "entries",                      "load or store") \
	X(integer,      "1",                            "uop") \
	X(multiply,     "1",                            "uop") \
	X(divide,       "1",                            "uop") \
	X(floating,     "1",                            "uop") \
	X(vector,       "1",                            "uop") \
	X(decoders,     "decoders",                     "slot") \
	X(microcode,    "1",                            "slot") \
	X(uop_cache,    "slots",                        "slot read or written") \
	X(loop_buffer,  "slots",                        "slot") \
	X(predictor,    "bytes",                        "branch") \
	X(btb,          "entries",                      "branch") \
	X(indirect,     "bytes",                        "indirect branch") \
	X(itlb,         "entries",                      "line looked up") \
	X(dtlb,         "entries",                      "load or store") \
	X(stlb,         "entries",                      "miss of the first level") \
	X(walker,       "walkers",                      "page walk") \
	X(l1i,          "bytes",                        "line looked up") \
	X(l1d,          "bytes",                        "load or store; a line counts as two") \
	X(l2,           "bytes",                        "line read or written") \
	X(l3,           "bytes of a slice",             "line read or written") \
	X(dram,         "1",                            "line read or written") \
	X(prefetch_l1,  "instructions followed",        "load") \
	X(prefetch_l2,  "streams followed",             "request to L2")
enum energy_part {
#define X(name, size, access) ENERGY_##name,
	ENERGY_PARTS(X)
#undef X
	ENERGY_PARTS_COUNT
};
extern const char *const energy_part_name[ENERGY_PARTS_COUNT];

struct energy_model {
	struct energy_row { double at, pj, power, mw; } row[ENERGY_PARTS_COUNT];
};
/* Reads data_dir/energy/NAME.tsv; a name with a slash is a path. */
int energy_load(struct energy_model *out, const char *data_dir, const char *name, struct err *err);

struct energy_bill {		/* nJ */
	double total, fixed;	/* fixed: the part of the total that leaked */
	double part[ENERGY_PARTS_COUNT], part_fixed[ENERGY_PARTS_COUNT];
};
void energy_bill(struct energy_bill *out, const struct energy_model *m, const struct core_config *c,
	const struct energy_activity *a);
#endif
