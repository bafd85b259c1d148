/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a script (script.h): all kinds of slots that go the short way in one function, so that nothing is saved
 * and restored between them.
 * Compiled four times, with the same results: as it is; for hosts with SSE4.1 (steps_sse4.c); with loads
 * remembered (steps_track_loads.c); for cores of several hardware threads (steps_smt.c).
 */
#if defined __GNUC__ && !defined __clang__
/* slp-vectorize packs a record's fields in vector registers: 10 % slower */
#pragma GCC optimize ("no-tree-slp-vectorize", "no-tree-pre")
#endif
#include "core/slot.h"

#ifndef STEPS
#define STEPS core_steps
#endif
#ifndef WATCH
#define WATCH false
#endif

/* Returns the script of the next operation, if that has the same kind and owner (core_run_scripts); else NULL. */
static inline const uint64_t *following(struct core *c, const uint64_t *script)
{
	const uint64_t *op = script - SCRIPT_OP_WORDS, *next;
	if (!c->follow.end)
		return NULL;
	c->follow.next = next = op + (uint32_t)*op;
	if (next >= c->follow.end || (next[0] ^ op[0]) >> 32 || next[1] != op[1] || *c->follow.stop ||
		c->steps != c->follow.steps)
		return NULL;
	return next + SCRIPT_OP_WORDS;
}

/* Has the host fetch the first steps of the next operation's script: a step is a cache line, and a program has more
 * steps than fit L1D. */
static inline void fetch_following(const struct core *c, const uint64_t *script)
{
	const uint64_t *op = script - SCRIPT_OP_WORDS, *next;
	if (!c->follow.end)	/* no operation is in front of this script */
		return;
	next = op + (uint32_t)*op;
	if (next >= c->follow.end)
		return;
	/* a number: an operation without steps has none to point at, and a prefetch of anything is harmless */
	const uintptr_t s = (uintptr_t)script_step(next[SCRIPT_OP_WORDS + 1]);
	__builtin_prefetch((const void *)s);
	__builtin_prefetch((const void *)(s + sizeof(struct step)));
	__builtin_prefetch((const void *)(s + 2 * sizeof(struct step)));
	__builtin_prefetch((const void *)(s + 3 * sizeof(struct step)));
}

static inline __attribute__((always_inline)) void run(struct core *c, const uint64_t *script, const bool quiet,
	const bool results)
{
	const struct way way = { .quiet = quiet, .watch = WATCH, .results = results };
	const uint64_t *w;
	uint32_t insns;
	c->rn.quick = 0;	/* anything may have happened since the last script */
next:
	fetch_following(c, script);
	insns = (uint32_t)*script;
	w = script + 1;
	c->e.watermark = min64(min64(frontend_earliest(c), c->rn.cycle), c->q.advanced);
	if (UNLIKELY(c->e.now - c->e.base > c->e.span))
		emit_flush(&c->e, false);
	if (UNLIKELY(c->rep.active && insns && !core_rep_goes_on(c, script)))
		/* the thread left the REP instruction for a signal, of which the stream says nothing */
		rep_end(c, false);
	c->instructions += insns;
	for (;;) {
		const unsigned kind = *w & SCRIPT_KIND;
		if (!script_is_short(kind)) {
			if (kind == SCRIPT_END) {
				if (!(script = following(c, script)))
					return;
				goto next;
			}
			if (kind == STEP_GENERAL) {
				core_step_general(c, w, script_end(script));
				w++;
			} else {
				core_wrong_path(c, w);
				w += (uint32_t)*w >> SCRIPT_INDEX;
			}
			continue;
		}
		const struct step *s = script_step(*w);
		struct slot_begun x;
		slot_begin(c, way, NULL, s, kind, &x);
#define STEP(CASES, KIND, words) CASES: slot_finish(c, way, NULL, shape_of(KIND), w, s, &x); w += words; break;
		switch (kind) {
		SHORT_STEPS(STEP)
		default: __builtin_unreachable();
		}
#undef STEP
	}
}

/* Runs a wrong path from its first word on.  Returns the word at which it ended. */
static inline __attribute__((always_inline)) const uint64_t *wrong_run(
	struct core *c, const uint64_t *w, const bool quiet)
{
	const struct way way = { .wrong = true, .lead = true, .quiet = quiet };
	struct wrong_lead l;
	const uint64_t late = c->wrong.resolve - c->rn.dispatch_delay;
	wrong_enter(c, &l);
	for (;;) {
		if (quiet && l.cycle >= late) {
			wrong_leave(c, &l);
			return wrong_late(c, w);
		}
		const unsigned kind = *w & SCRIPT_KIND;
		if (UNLIKELY(!script_is_short(kind))) {
			if (kind == SCRIPT_END)
				goto end;
			wrong_leave(c, &l);
			const uint64_t *next = core_wrong_general(c, w);
			wrong_enter(c, &l);
			if (!next)
				goto end;
			w = next;
			continue;
		}
		const struct step *s = script_step(*w);
		struct slot_begun x;
		if (!slot_begin(c, way, &l, s, kind, &x))
			goto end;
#define STEP(CASES, KIND, words) \
	CASES: \
	if (!slot_finish(c, way, &l, shape_of(KIND), w, s, &x)) \
		goto end; \
	w += words; \
	break;
		switch (kind) {
		SHORT_STEPS(STEP)
		default: __builtin_unreachable();
		}
#undef STEP
	}
end:
	wrong_leave(c, &l);
	return w;
}

static __attribute__((noinline)) void all(struct core *c, const uint64_t *w)
{
	run(c, w, false, true);
}

static __attribute__((noinline)) void quiet(struct core *c, const uint64_t *w)
{
	run(c, w, true, false);
}

static __attribute__((noinline)) void quiet_results(struct core *c, const uint64_t *w)
{
	run(c, w, true, true);
}

/* w: the first word of the wrong path. */
static __attribute__((noinline)) void wrong(struct core *c, const uint64_t *w)
{
	c->wrong.at = wrong_run(c, w, false);
}

static __attribute__((noinline)) void wrong_quiet(struct core *c, const uint64_t *w)
{
	c->wrong.at = wrong_run(c, w, true);
}

core_steps_way *STEPS(enum steps_for what)
{
	return what == STEPS_WRONG ? wrong : what == STEPS_WRONG_QUIET ? wrong_quiet :
		what == STEPS_QUIET ? quiet : what == STEPS_QUIET_RESULTS ? quiet_results : all;
}
