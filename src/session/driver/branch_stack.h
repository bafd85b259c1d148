/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch stacks, the kernel's side: which branches a PMU's last branch records keep, how they are switched on
 * and read.  Private to src/session.
 *
 * The stack is read when a sample is taken: by the PMI's handler, or for a precise event when its record is
 * written.  (Real drivers have the stack frozen for that; the model's handler takes no time.)  So the stack
 * ends at the sample's address, and no branch is missing between two samples.  An adaptive PEBS record may hold
 * the stack itself; it is the same.
 */
#ifndef SESSION_BRANCH_STACK_H
#define SESSION_BRANCH_STACK_H
#include "session/driver/driver.h"
#include "session/driver/precise.h"
#include "session/session.h"
#include "softpmu/record.h"

struct lbr;
struct lbr_known;
/* The kinds of a thread's branches, for PMUs whose registers do not hold them.  All zero at first. */
struct lbr_kinds { struct lbr_known *known; size_t room, used; };

/* type: set of PERF_SAMPLE_BRANCH_.  ERR_UNSUPPORTED: the PMU of `core` cannot record these. */
int  lbr_create(struct lbr **out, const struct spmu_model *m, const char *core, uint64_t type, struct err *err);
void lbr_destroy(struct lbr *l);
/* Appends the writes that switch the stack on. */
int  lbr_setup(const struct lbr *l, struct driver_writes *out, struct err *err);
/* Empties the stack, because later branches do not follow those before. */
void lbr_clear(const struct lbr *l, struct spmu *p);
/* Call it with each batch before it is counted. */
void lbr_batch(const struct lbr *l, struct lbr_kinds *k, const struct spmu_batch *b);
void lbr_kinds_release(struct lbr_kinds *k);
/* Reads the registers, newest entry first; returns the number of entries. */
unsigned lbr_read(const struct lbr *l, const struct spmu *p, struct precise_branch out[PRECISE_BRANCHES_MAX]);
/* Keeps those entries that the user asked for, as perf does; returns their number. */
unsigned lbr_entries(const struct lbr *l, const struct lbr_kinds *k, const struct precise_branch *raw, unsigned n,
	struct session_branch *out);
#endif
