/* SPDX-License-Identifier: GPL-2.0-or-later
 * Causes of slots by uop (slots_cause.h). */
#include "analysis/slots_cause.h"

enum slots_cause slots_retired(uint64_t is, uint64_t did, bool further)
{
	const uint64_t scalar = SPMU_IS(FP_SCALAR_SINGLE) | SPMU_IS(FP_SCALAR_DOUBLE);
	const uint64_t vector = SPMU_IS(FP_128_SINGLE) | SPMU_IS(FP_128_DOUBLE) | SPMU_IS(FP_256_SINGLE) |
		SPMU_IS(FP_256_DOUBLE);
	const bool multiplies = is & SPMU_IS(INT_VECTOR) && is & SPMU_IS(MULTIPLY);
	return did & SPMU_DID(FROM_MS)                         ? SLOTS_RET_MS
		: further                                      ? SLOTS_RET_FEW
		: is & SPMU_IS(INST_NOP)                       ? SLOTS_RET_NOP
		: is & SPMU_IS(MACRO_FUSED)                    ? SLOTS_RET_FUSED
		: is & SPMU_IS(BRANCH)                         ? SLOTS_RET_BRANCH
		: is & SPMU_IS(X87)                            ? SLOTS_RET_X87
		: is & scalar                                  ? SLOTS_RET_FP_SCALAR
		: is & vector                                  ? SLOTS_RET_FP_VECTOR
		: !(is & SPMU_IS(VECTOR_ADD)) && !multiplies   ? is & SPMU_IS(VECTOR_CROSS) ? SLOTS_RET_SHUFFLE
			: is & (SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR)) ? SLOTS_RET_MEMORY
								     : SLOTS_RET_OTHER
		: is & SPMU_IS(VECTOR_256) ? SLOTS_RET_INT_256
					   : SLOTS_RET_INT_128;
}

static void add(struct slots_wait *w, uint64_t until, uint8_t cause)
{
	if (w->waits < SLOTS_WAITS && (!w->waits || until > w->until[w->waits - 1])) {
		w->until[w->waits] = until;
		w->cause[w->waits++] = cause;
	}
}

/* The cycle until which the uop waits for its translation; 0: it does not. */
static uint64_t translated(const struct slots_core *core, const struct spmu_record *r, uint64_t base,
	const struct slots_access *a)
{
	const uint64_t dispatch = base + r->dispatch, complete = base + r->complete;
	if (a->walk > dispatch && a->walk <= complete && r->did & SPMU_DID(STLB_MISS))
		return a->walk;
	return r->did & (SPMU_DID(STLB_HIT) | SPMU_DID(STLB_MISS)) ? dispatch + core->stlb_latency : 0;
}

/* What serves the load, behind all that comes before. */
static uint8_t served(const struct slots_core *core, const struct spmu_record *r, uint8_t *fallback)
{
	const uint64_t did = r->did;
	const uint32_t took = r->complete > r->dispatch ? r->complete - r->dispatch : 0;
	if (did & SPMU_DID(SNOOP_HITM))
		return SLOTS_BE_L3_CONTESTED;
	if (did & SPMU_DID(SNOOP_HIT))
		return SLOTS_BE_L3_SHARED;
	if (did & SPMU_DID(LFB_HIT)) {
		*fallback = took > core->l3_latency ? SLOTS_MEMORY
			: took > core->l2_latency ? SLOTS_BE_L3 : SLOTS_BE_L2;
		return SLOTS_LINE_UNDER_WAY;
	}
	if (did & SPMU_DID(L3_MISS))
		return SLOTS_MEMORY;
	if (did & SPMU_DID(L3_HIT))
		return SLOTS_BE_L3;
	if (did & SPMU_DID(L2_MISS))
		return SLOTS_MEMORY;
	if (did & SPMU_DID(L2_HIT))
		return SLOTS_BE_L2;
	return did & SPMU_DID(FORWARD_BLOCKED) ? SLOTS_BE_L1_FORWARD
		: did & SPMU_DID(ALIAS_4K)     ? SLOTS_BE_L1_ALIAS
		: did & SPMU_DID(SPLIT_LINE)   ? SLOTS_BE_L1_SPLIT
					       : SLOTS_BE_L1;
}

static void wait_of_load(struct slots_wait *w, const struct slots_core *core, const struct spmu_record *r,
	uint64_t base, const struct slots_access *a)
{
	const uint64_t dispatch = base + r->dispatch, complete = base + r->complete;
	if (r->is & SPMU_IS(LOCK)) {
		w->last = r->did & SPMU_DID(SNOOP_HITM) ? SLOTS_BE_L3_CONTESTED : SLOTS_BE_L1_LOCK;
		return;
	}
	add(w, dispatch, r->did & SPMU_DID(WAIT_STORE_ADDR) ? SLOTS_BE_L1_FORWARD : SLOTS_LOAD_PORT);
	add(w, translated(core, r, base, a), SLOTS_BE_L1_DTLB);
	if (r->did & SPMU_DID(L1D_MISS) && a->fill_buffer <= complete)
		add(w, a->fill_buffer, SLOTS_BE_L1_FB_FULL);
	if (r->did & SPMU_DID(L2_MISS) && a->queue <= complete)
		add(w, a->queue, SLOTS_BE_L3_SQ_FULL);
	w->last = served(core, r, &w->fallback);
	/* it hit the TLB, which got the page by a walk that is still under way */
	if (w->last == SLOTS_BE_L1 && !(r->did & SPMU_DID(DTLB_MISS)) && a->walk > dispatch &&
		a->walk + core->l1_latency <= complete)
		add(w, a->walk, SLOTS_BE_L1_DTLB);
}

/* Moves the ends of the access's parts from [dispatch, complete) into [oldest, retire). */
static void scale(struct slots_wait *w, const struct spmu_record *r, uint64_t base, uint64_t oldest)
{
	const uint64_t dispatch = base + r->dispatch, complete = base + r->complete, retire = base + r->retire;
	if (oldest < dispatch)
		oldest = dispatch;
	if (retire <= oldest || complete <= dispatch)
		return;
	for (unsigned i = 0; i < w->waits; i++)
		if (w->until[i] > dispatch && w->until[i] <= complete)
			w->until[i] = oldest + (w->until[i] - dispatch) * (retire - oldest) / (complete - dispatch);
}

void slots_wait_of(struct slots_wait *w, const struct slots_core *core, const struct spmu_record *r, uint64_t base,
	const struct slots_access *a, uint64_t oldest)
{
	w->waits = 0;
	w->fallback = SLOTS_NO_CAUSE;
	if (r->is & SPMU_IS(LOAD)) {
		wait_of_load(w, core, r, base, a);
	} else if (r->is & SPMU_IS(DIVIDE) && r->is & SPMU_IS(EXEC)) {
		w->last = SLOTS_BE_DIVIDER;
	} else if (r->is & (SPMU_IS(SERIALIZING) | SPMU_IS(PAUSE))) {
		w->last = r->is & SPMU_IS(PAUSE)      ? SLOTS_BE_PAUSE
			: r->is & SPMU_IS(LOAD_FENCE) ? SLOTS_BE_FENCE
						      : SLOTS_BE_SERIAL;
	} else {
		add(w, base + r->dispatch, SLOTS_PORT);
		if (r->is & SPMU_IS(STORE_ADDR))
			add(w, translated(core, r, base, a), SLOTS_BE_STORE_DTLB);
		w->last = SLOTS_CHAIN;
	}
	if (w->waits > 1)
		scale(w, r, base, oldest);
}
