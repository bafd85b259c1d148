/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tests of predictors: one of a preset, branches put to it, and counts of what it got wrong. */
#ifndef BPRED_FIXTURE_H
#define BPRED_FIXTURE_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/bpred.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COND = INSN_BRANCH | INSN_COND, JUMP = INSN_BRANCH, CALL = INSN_BRANCH | INSN_CALL, RET = INSN_BRANCH | INSN_RET,
       INDIRECT = INSN_BRANCH | INSN_INDIRECT };

static inline struct core_config preset(const char *name)
{
	struct core_config c;
	struct err err = { 0 };
	char dir[4096];
	const char *top = getenv("TOP");
	snprintf(dir, sizeof dir, "%s/data", top ? top : ".");
	if (core_config_load(&c, dir, name, &err))
		fail_msg("%s", err.text);
	return c;
}

static inline struct bpred *predictor(const struct core_config *c)
{
	struct bpred *p;
	struct err err = { 0 };
	if (bpred_create(&p, c, &err))
		fail_msg("%s", err.text);
	return p;
}

static inline struct bpred *predictor_of(const char *name)
{
	struct core_config c = preset(name);
	return predictor(&c);
}

/* A conditional branch forward. */
static inline bool missed(struct bpred *p, uint64_t ip, bool taken)
{
	struct bpred_outcome o;
	bpred_branch(p, ip, COND, ip + 2, taken, ip + 100, &o);
	return o.mispredicted;
}

/* Any branch that is taken. */
static inline struct bpred_outcome to(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t target)
{
	struct bpred_outcome o;
	bpred_branch(p, ip, flags, ip + 5, true, target, &o);
	return o;
}

/* Of the last `counted` of `all` rounds of a pattern, what was missed, in per cent. */
static inline double pattern_missed(struct bpred *p, const char *pattern, unsigned all, unsigned counted)
{
	size_t length = strlen(pattern);
	unsigned n = 0;
	for (unsigned i = 0; i < all; i++)
		for (size_t k = 0; k < length; k++)
			n += missed(p, 0x401000, pattern[k] == '1') && i >= all - counted;
	return 100.0 * n / ((double)counted * (double)length);
}

static inline bool random_bit(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 40 & 1;
}
#endif
