/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction predictors that live in the branch target buffer; see twolevel.h. */
#include "core/predict/bpred.h"
#include "core/predict/twolevel.h"
#include <stdlib.h>
#include <string.h>

#define ALL_TAKEN	UINT32_C(0xaaaaaaaa)	/* every counter weakly taken */
#define ALL_NOT_TAKEN	UINT32_C(0x55555555)
#define STRONGLY_TAKEN	UINT32_MAX

int twolevel_init(struct twolevel *t, const struct core_config *c, struct err *err)
{
	memset(t, 0, sizeof(*t));
	int rc = btb_level_init(&t->main, "btb.l1", c->btb_l1_entries, c->btb_l1_ways, err);
	if (!rc)
		rc = btb_level_init(&t->trace, "trace_btb.", c->trace_btb_entries, c->trace_btb_ways, err);
	if (!rc && !t->main.sets)
		rc = err_set(err, ERR_INPUT, "btb.l1_entries must be at least 1");
	if (rc)
		goto fail;
	size_t entries = (size_t)t->main.sets * t->main.stride;
	t->local = calloc(entries, sizeof(*t->local));
	t->counters = calloc(entries, sizeof(*t->counters));
	if (t->trace.sets) {
		t->global_log2 = c->global_entries_log2;
		t->global_entries = UINT32_C(1) << t->global_log2;
		t->global = malloc(t->global_entries);
		t->bias = calloc((size_t)t->trace.sets * t->trace.stride, sizeof(*t->bias));
	}
	if (!t->local || !t->counters || (t->trace.sets && (!t->global || !t->bias))) {
		rc = err_set(err, ERR_NOMEM, "out of memory for the branch predictor");
		goto fail;
	}
	t->local_mask = (1u << c->local_history) - 1;
	t->global_mask = (UINT32_C(1) << c->global_history) - 1;
	t->rule = c->bpred_static;
	t->hints = c->bpred_hints;
	t->backward_limit = c->bpred_static_distance;
	twolevel_clear(t);
	return 0;
fail:
	twolevel_release(t);
	return rc;
}

void twolevel_release(struct twolevel *t)
{
	btb_level_release(&t->main);
	btb_level_release(&t->trace);
	free(t->local);
	free(t->counters);
	free(t->global);
	free(t->bias);
	memset(t, 0, sizeof(*t));
}

void twolevel_clear(struct twolevel *t)
{
	btb_level_clear(&t->main);
	btb_level_clear(&t->trace);
	if (t->global)
		memset(t->global, 2, t->global_entries);	/* weakly agree */
	t->history = 0;
}

static bool static_taken(const struct twolevel *t, uint64_t ip, uint32_t flags, uint64_t target)
{
	if (t->hints && flags & (BPRED_HINT_TAKEN | BPRED_HINT_NOT_TAKEN))
		return flags & BPRED_HINT_TAKEN;
	return t->rule == STATIC_BACKWARD_TAKEN && target <= ip &&
		(!t->backward_limit || ip - target <= t->backward_limit);
}

void twolevel_look(const struct twolevel *t, uint64_t history, int local, uint64_t ip, uint32_t flags, uint64_t target,
                   struct twolevel_look *out)
{
	uint32_t tag = btb_tag(ip), set = btb_set(&t->main, tag);
	int32_t way = btb_level_find(&t->main, set, tag);
	*out = (struct twolevel_look){ .main = -1, .trace = -1 };
	if (way >= 0) {
		out->main = (int32_t)(set * t->main.stride) + way;
		out->target = t->main.target[out->main];
		if (local < 0)
			local = t->local[out->main];
		out->taken = t->counters[out->main] >> (2 * ((uint32_t)local & t->local_mask)) & 2;
	}
	if (t->trace.sets) {
		uint32_t line = btb_set(&t->trace, tag);
		way = btb_level_find(&t->trace, line, tag);
		if (way >= 0) {
			out->trace = (int32_t)(line * t->trace.stride) + way;
			out->target = t->trace.target[out->trace];
			uint32_t seen = (uint32_t)history & t->global_mask;
			out->agree = (seen ^ seen >> t->global_log2 ^ tag * UINT32_C(0x9e3779b1) >> 8) &
				(t->global_entries - 1);
			out->taken = t->bias[out->trace] == (t->global[out->agree] >= 2);
		}
	}
	out->known = out->main >= 0 || out->trace >= 0;
	if (!out->known)
		out->taken = static_taken(t, ip, flags, target);
}

static void enter(struct twolevel *t, uint64_t ip, bool conditional, bool taken, uint64_t target)
{
	uint32_t tag = btb_tag(ip), at = btb_level_room(&t->main, btb_set(&t->main, tag));
	t->main.tag[at] = tag;
	t->main.target[at] = target;
	t->local[at] = taken ? 0xff : 0;
	/* P5's manual: a new entry is strongly taken.  Patterns not seen yet predict the first outcome: GUESS. */
	t->counters[at] = !conditional || (taken && !t->local_mask) ? STRONGLY_TAKEN
		: taken                                             ? ALL_TAKEN
								    : ALL_NOT_TAKEN;
}

void twolevel_learn(struct twolevel *t, const struct twolevel_look *l, uint64_t ip, bool conditional, bool taken,
	uint64_t target)
{
	uint32_t tag = btb_tag(ip);
	bool biased = taken;
	if (l->main >= 0) {
		uint32_t at = (uint32_t)l->main, set = btb_set(&t->main, tag);
		if (conditional) {
			unsigned shift = 2 * (t->local[at] & t->local_mask);
			uint32_t counter = t->counters[at] >> shift & 3;
			biased = counter >= 2;
			if (taken && counter < 3)
				t->counters[at] += UINT32_C(1) << shift;
			else if (!taken && counter)
				t->counters[at] -= UINT32_C(1) << shift;
			t->local[at] = (uint8_t)(t->local[at] << 1 | taken);
		}
		if (taken)
			t->main.target[at] = target;
		repl_touch_plru(&t->main.repl, &t->main.word[set], at - set * t->main.stride);
	} else if (taken || l->taken) {
		enter(t, ip, conditional, taken, target);
	}
	if (!t->trace.sets)
		return;
	uint32_t set = btb_set(&t->trace, tag);
	if (l->trace >= 0) {
		uint32_t at = (uint32_t)l->trace;
		if (conditional) {
			uint8_t *agree = &t->global[l->agree];
			if (t->bias[at] == taken)
				*agree += *agree < 3;
			else
				*agree -= *agree > 0;
		}
		if (taken)
			t->trace.target[at] = target;
		repl_touch_plru(&t->trace.repl, &t->trace.word[set], at - set * t->trace.stride);
	} else if (taken || l->main >= 0) {
		uint32_t at = btb_level_room(&t->trace, set);
		t->trace.tag[at] = tag;
		t->trace.target[at] = target;
		t->bias[at] = biased;
	}
	if (conditional)
		t->history = t->history << 1 | taken;
}

void twolevel_copy(struct twolevel *to, const struct twolevel *from)
{
	const size_t entries = (size_t)from->main.sets * from->main.stride;
	btb_level_copy(&to->main, &from->main);
	btb_level_copy(&to->trace, &from->trace);
	memcpy(to->local, from->local, entries * sizeof *to->local);
	memcpy(to->counters, from->counters, entries * sizeof *to->counters);
	if (to->global)
		memcpy(to->global, from->global, from->global_entries);
	if (to->bias)
		memcpy(to->bias, from->bias, (size_t)from->trace.sets * from->trace.stride);
	to->history = from->history;
}
