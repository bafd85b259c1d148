/* SPDX-License-Identifier: GPL-2.0-or-later
 * Calibration: microbenchmarks that show the values of a core's fields.  The same code runs natively, timed by
 * the clock, and under the model, timed by its cycles; calibrate_fit.h and calibrate_fields.h turn the results
 * into fields.
 *
 * A microbenchmark (struct cal_probe) is machine code that is generated when it is needed.  Each round executes
 * `ops` operations, over a buffer if the microbenchmark uses one.  Its value is in cycles an operation.
 *
 * Natively, a pass times all microbenchmarks one after the other, each between two runs of a chain of register
 * additions.  Such an addition takes one cycle on every core since the P6, so cycles are time × frequency,
 * whatever the frequency is at that moment.  Other programs on the same host core can only add time, and may do so
 * for seconds.  Therefore the passes are dealt out in turn to CAL_GROUPS groups, and in each group the shortest
 * repeat counts.  Chains through L3 or memory (cal_is_shared) depend on how much of the L3 other programs leave,
 * which varies from moment to moment: they take CAL_TURNS turns a pass, and the median of all samples of a group
 * counts.  The value is the median of the groups; the least and the most of the groups enclose it with a stated
 * confidence (H. A. David, H. N. Nagaraja, "Order Statistics", section "Distribution-free confidence intervals for
 * quantiles").
 *
 * Leaves out: page sizes other than 4 KB and 2 MB; more than one thread (bandwidths are those of one core);
 * anything that has no field in a core's file.
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
	/* bytes, pages or instructions, as the family's unit says; 0: the family has no parameter */
	uint32_t param;
	char name[32];			/* "chase.64K" */
};

const char *cal_family_text(enum cal_family f);	/* what an operation is */
/* Takes long under the model, because setting up its buffer does. */
bool cal_is_long(const struct cal_probe *p);
/* A chain through 2 MB or more, part of which other programs may push out of the L3. */
bool cal_is_shared(const struct cal_probe *p);
/* Does not go to memory; it may use the L3. */
bool cal_is_near(const struct cal_probe *p);
/* All microbenchmarks, each family's in ascending order of the parameter, in a malloc'd array.  Returns their
 * number; 0: out of memory. */
size_t cal_probes(struct cal_probe **out);
/* Index of the microbenchmark of that name, or `count`. */
size_t cal_find(const struct cal_probe *p, size_t count, const char *name);
/* Index of the family's first microbenchmark; *params gets the family's number of them. */
size_t cal_first(const struct cal_probe *p, size_t count, enum cal_family f, size_t *params);

/* --- running --- */
struct cal_runner;			/* code and buffers, which the microbenchmarks use one after the other */
int  cal_runner_create(struct cal_runner **out, struct err *err);
void cal_runner_destroy(struct cal_runner *r);
/* Prepares code and buffer.  ERR_INPUT: the microbenchmark needs a larger buffer than there is. */
int  cal_prepare(struct cal_runner *r, const struct cal_probe *p, struct err *err);
/* Runs what was prepared for that many rounds. */
void cal_run(struct cal_runner *r, uint64_t rounds);
/* For the model: lets time go by with that many PAUSEs.  CAL_IDLE PAUSEs take some ms, as much as natively lies
 * between a microbenchmark's passes.  In that time other programs push out of the shared caches what they can:
 * what is prepared next finds nothing there. */
enum { CAL_IDLE = 1 << 19 };
void cal_idle(uint64_t pauses);
/* Rounds for the model: to warm up, and to count.  ahead: native operations before the sample, for chains longer
 * than what L3 keeps; 0: not known. */
void cal_model_rounds(const struct cal_runner *r, uint64_t ahead, uint64_t *warm, uint64_t *counted);
/* How many operations of a microbenchmark the model counts. 0: out of memory. */
uint64_t cal_model_ops(const struct cal_probe *p);
/* Under the model: the age, in cycles, of the lines that the counted part of a chain meets.  place: cycles of
 * linking one place; waited: cycles between the linking and that part, or negative for as long as `ahead`
 * accesses take; access: cycles of one access.  Negative result: not a chain, or not known, or the counted part
 * is a lap further on, where the age is that of a lap. */
double cal_model_age(const struct cal_probe *p, uint64_t ahead, double place, double waited, double access);
/* Places of a chain. 0: not a chain, or out of memory. */
double cal_places(const struct cal_probe *p);

/* --- natively --- */
struct cal_value {
	double cycles;			/* cycles an operation; below 0: not measured */
	double low, high;		/* enclose the median of what a group gives, with `confidence` */
	double age_ms;			/* of a chain: time since its lines were last used; 0: not a chain */
	double ahead;			/* of a chain: operations between its linking and the sample */
};
struct cal_native {
	double ghz, ghz_low, ghz_high;
	double confidence;		/* of the intervals, 0 to 1 */
	unsigned rounds;
	struct cal_value *value;	/* one for each microbenchmark */
};
/* rounds: passes a group, 1 to CAL_ROUNDS.  wanted: which microbenchmarks to run; NULL: all.  tick: called with
 * the share done; a nonzero result ends the measurement with ERR_SYSTEM; may be NULL. out: the caller releases
 * it with cal_native_release, whatever was returned. */
int  cal_measure(struct cal_native *out, const struct cal_probe *p, size_t count, unsigned rounds, const bool *wanted,
	int (*tick)(void *context, double done), void *context, struct err *err);
void cal_native_release(struct cal_native *n);
#endif
