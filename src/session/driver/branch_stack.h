/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch stacks, the kernel's side: which branches the last branch records of a PMU keep, how they are switched
 * on and read.  Private to src/session.
 *
 * The stack is read when a sample is taken: by the PMI's handler, of a precise event as its record is written.
 * (Drivers have the stack frozen for that; the model's handler takes no time.)  So it ends at the sample's
 * address, and no branch is missing between two samples.  An adaptive PEBS record brings the stack along; it is
 * the same.
 */
#ifndef SESSION_BRANCH_STACK_H
#define SESSION_BRANCH_STACK_H
#include "session/driver/driver.h"
#include "session/driver/precise.h"
#include "session/session.h"
#include "softpmu/record.h"

struct lbr;
struct lbr_known;
/* What kind the branches of a thread are, where registers do not tell.  All zero at first. */
struct lbr_kinds { struct lbr_known *known; size_t room, used; };

/* type: set of PERF_SAMPLE_BRANCH_.  ERR_UNSUPPORTED when the PMU of `core` cannot do it. */
int  lbr_create(struct lbr **out, const struct spmu_model *m, const char *core, uint64_t type, struct err *err);
void lbr_destroy(struct lbr *l);
/* The writes that switch the stack on, appended. */
int  lbr_setup(const struct lbr *l, struct driver_writes *out, struct err *err);
/* Empties the stack: what comes next does not follow what was before. */
void lbr_clear(const struct lbr *l, struct spmu *p);
/* A batch that is about to be counted. */
void lbr_batch(const struct lbr *l, struct lbr_kinds *k, const struct spmu_batch *b);
void lbr_kinds_release(struct lbr_kinds *k);
/* The registers as they are, newest first; how many entries there are. */
unsigned lbr_read(const struct lbr *l, const struct spmu *p, struct precise_branch out[PRECISE_BRANCHES_MAX]);
/* What of them was asked for, as perf has it; how many. */
unsigned lbr_entries(const struct lbr *l, const struct lbr_kinds *k, const struct precise_branch *raw, unsigned n,
	struct session_branch *out);
#endif
