/* SPDX-License-Identifier: GPL-2.0-or-later
 * Calibration: microbenchmarks that show what a core's fields stand for, run natively by the clock and under the model by its
 * cycles, and what they say of the fields (calibrate_fit.h, calibrate_fields.h).
 *
 * A microbenchmark (struct cal_probe) is machine code that is made when it is needed, the same for the host and the model: `ops`
 * operations a round, over a buffer if it wants one.  Its value is in cycles an operation.
 *
 * Natively a pass times all of them one after the other, each between two runs of a chain of additions of registers, which take a cycle
 * each on every core since the P6: so cycles are time × frequency, whatever that is at the time.  What shares the host's core only
 * adds, for seconds at a time: so the passes are dealt out to CAL_GROUPS groups in turn, in each of which the shortest of all repeats
 * counts.  Chains through what L3 or memory holds (cal_is_shared) find what others of the machine have left them there, more at one moment, less at another: they
 * take turns, CAL_TURNS a pass, and of a group the median of all samples counts.  The value is the median of the groups; least and most of them enclose it with a stated confidence (H. A. David, H. N. Nagaraja, "Order
 * Statistics", section "Distribution-free confidence intervals for quantiles").
 * Left out: other page sizes than 4 KB and 2 MB, more than one thread (bandwidths are one core's), what has no field in a core's file.
 */
#ifndef ANALYSIS_CALIBRATE_H
#define ANALYSIS_CALIBRATE_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cal_family {
#define CAL_FAMILY(id, unit, cost, what, ...) CAL_##id,
#include "analysis/calibrate/calibrate_probes.def"
	CAL_FAMILIES
};
enum { CAL_PARAMS = 40, CAL_GROUPS = 5, CAL_ROUNDS = 20, CAL_TURNS = 5 };

struct cal_probe {
	enum cal_family family;
	uint32_t param;			/* bytes, pages or instructions, see the family's unit; 0: it has none */
	char name[32];			/* "chase.64K" */
};

const char *cal_family_name(enum cal_family f);	/* "chase" */
const char *cal_family_text(enum cal_family f);	/* what an operation is */
/* A microbenchmark that takes long under the model: setting up its buffer does. */
bool cal_is_long(const struct cal_probe *p);
/* A chain through 2 MB or more. */
bool cal_is_shared(const struct cal_probe *p);
/* It does without memory: L3 may still be in it. */
bool cal_is_near(const struct cal_probe *p);
/* All of them, a family's in ascending order of the parameter, into a malloc'd array. Their number, or 0 without memory. */
size_t cal_probes(struct cal_probe **out);
/* Index of a name, or `count`. */
size_t cal_find(const struct cal_probe *p, size_t count, const char *name);
/* Index of the family's first one; its number in *params. */
size_t cal_first(const struct cal_probe *p, size_t count, enum cal_family f, size_t *params);

/* --- running --- */
struct cal_runner;			/* code and buffers, used by one after the other */
int  cal_runner_create(struct cal_runner **out, struct err *err);
void cal_runner_destroy(struct cal_runner *r);
/* Makes ready: code and buffer.  ERR_UNSUPPORTED: this processor cannot run it. */
int  cal_prepare(struct cal_runner *r, const struct cal_probe *p, struct err *err);
/* Runs what was prepared: so many rounds; operations a round. */
void cal_run(struct cal_runner *r, uint64_t rounds);
uint32_t cal_ops(const struct cal_runner *r);
/* For the model: lets time go by, so many PAUSEs.  CAL_IDLE: some ms, as natively lie between a microbenchmark's passes, so that others have pushed out of
 * the shared caches what they push out; what is prepared after it finds nothing there. */
enum { CAL_IDLE = 1 << 19 };
void cal_idle(uint64_t pauses);
/* Rounds for the model: to get warm, and to count.  ahead: operations natively before the sample, for chains longer than what L3 keeps; 0: not known. */
void cal_model_rounds(const struct cal_runner *r, uint64_t ahead, uint64_t *warm, uint64_t *counted);
/* Operations that the model counts of one. 0: no memory. */
uint64_t cal_model_ops(const struct cal_probe *p);
/* Under the model: the age of the lines that a chain's counted part meets, from cycles of linking a place, of what lies between the linking and that part, and of
 * an access of it; waited < 0: as many as `ahead` accesses take.  Negative: no chain, not known, or it is a lap further, where the age is that of a lap. */
double cal_model_age(const struct cal_probe *p, uint64_t ahead, double place, double waited, double access);
/* Places of a chain.  0: no memory, or no chain. */
double cal_places(const struct cal_probe *p);
/* Did the kernel give the buffer of 2 MB pages such pages?  Without them the families that want them say less. */
bool cal_has_huge_pages(const struct cal_runner *r);

/* --- natively --- */
struct cal_value {
	double cycles;			/* an operation; below 0: not measured */
	double low, high;		/* encloses the median of what a group gives with `confidence` */
	double age_ms;			/* of a chain: so long before, its lines had been used last; 0: no chain */
	double ahead;			/* of a chain: operations between its linking and the sample */
};
struct cal_native {
	double ghz, ghz_low, ghz_high;
	double confidence;		/* of the intervals, 0 to 1 */
	unsigned rounds;
	struct cal_value *value;	/* one a microbenchmark */
};
/* rounds: passes a group, 1 to CAL_ROUNDS.  wanted: NULL, or which of them.  tick: NULL, or called with the share done; nonzero ends with ERR_SYSTEM.
 * out: released by cal_native_release whatever was returned. */
int  cal_measure(struct cal_native *out, const struct cal_probe *p, size_t count, unsigned rounds, const bool *wanted,
	int (*tick)(void *context, double done), void *context, struct err *err);
void cal_native_release(struct cal_native *n);
#endif
