/* SPDX-License-Identifier: BSD-2-Clause
 * The registers of the pushout counters (softpmu/pmu.h, MSR_PUSHOUT_CAPABILITIES), which every family may have
 * beside its own.
 *
 * pushout_meter.c measures a batch once, into a list of the slots that fire.  The batch's segments
 * (pmu_count.c) then count, store and overflow in the order of the records.  If a handler changes registers
 * within a batch, the batch is measured again from its begin, so that the new values hold from the interrupt on.
 *
 * After C. Newburn, US 2005/0273310 A1, whose text has thresholds, the storage register and tags, but no
 * register layout: this layout is our own.
 * Leaves out: hardware threads that share a core (they have no such registers), freezing.
 */
#include "../pmu_internal.h"
#include "../pushout_meter.h"
#include <stdlib.h>
#include <string.h>

enum {
	UNITS = SPMU_PUSHOUT_UNITS,
	/* A slot may be measured for itself (or as a store), for the slot before it, and for a machine clear. */
	PER_SLOT = 3,
	FIRED_MAX = SPMU_BATCH_MAX * PER_SLOT * UNITS,
};
#define COUNT_MASK ((UINT64_C(1) << 48) - 1)
#define STORED_VALID (UINT64_C(1) << 63)
#define CONTROL_BITS \
	(UINT64_C(3) | UINT64_C(7) << 4 | SPMU_PUSHOUT_EVENT | SPMU_EVTSEL_USR | SPMU_EVTSEL_OS | SPMU_EVTSEL_INT | \
		SPMU_EVTSEL_EN | SPMU_PUSHOUT_STORE_OVF)

struct fired { uint64_t ip; uint32_t record, cycles; uint8_t unit; };

struct pmu_pushout {
	struct pmu_pushout_state reg;
	struct pushout_widths width;
	struct pushout *now, *before;	/* after and before the current batch; NULL until a unit is switched on */
	struct fired *fired;		/* in the current batch, in order */
	uint32_t fires, next;		/* how many; the first that has not been counted */
	uint8_t changed;		/* set of units whose registers have changed since set_measures */
	bool live;			/* a unit is switched on */
};

_Static_assert(PUSHOUT_FETCH == (int)SPMU_PUSHOUT_FETCH &&
		PUSHOUT_POINTS == sizeof((struct spmu_host *)0)->pushout_width,
	"points are those of pmu.h");
_Static_assert(SPMU_IS_COUNT <= 64 && SPMU_DID_COUNT <= 64, "tags hold every bit");

static uint64_t set_of(unsigned count)
{
	return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static bool add(struct tag *t, struct tag_step s)
{
	if (t->steps == TAG_STEPS)
		return false;
	t->step[t->steps++] = s;
	return true;
}

bool pmu_pushout_interrupts(const struct spmu *p)
{
	const uint64_t both = SPMU_EVTSEL_EN | SPMU_EVTSEL_INT;
	for (unsigned n = 0; n < SPMU_PUSHOUT_UNITS; n++)
		if ((p->pushout->reg.unit[n][SPMU_PUSHOUT_CONTROL] & both) == both)
			return true;
	return false;
}

/* Appends the condition that a slot has all of these bits: two steps for each.  False: the tag has no room. */
static bool add_all(struct tag *t, uint64_t bits, bool is)
{
	bool good = true;
	for (; bits && good; bits &= bits - 1) {
		const uint64_t bit = bits & -bits;
		const bool more = t->steps;
		good = add(t, (struct tag_step){ .what = TAG_HAS, .is = is ? bit : 0, .did = is ? 0 : bit }) &&
			(!more || add(t, (struct tag_step){ .what = TAG_AND }));
	}
	return good;
}

/* Compiles the tag registers to a tag; without steps it stands for every slot.  False: ALL has more bits than a
 * tag has steps for. */
static bool tag_of(const uint64_t reg[SPMU_PUSHOUT_REGISTERS], struct tag *t)
{
	const uint64_t any_is = reg[SPMU_PUSHOUT_ANY_IS], any_did = reg[SPMU_PUSHOUT_ANY_DID];
	const uint64_t none_is = reg[SPMU_PUSHOUT_NONE_IS], none_did = reg[SPMU_PUSHOUT_NONE_DID];
	*t = (struct tag){ .is = reg[SPMU_PUSHOUT_ALL_IS] | any_is | none_is,
		.did = reg[SPMU_PUSHOUT_ALL_DID] | any_did | none_did };
	bool good = true;
	if (any_is | any_did)
		good = add(t, (struct tag_step){ .what = TAG_HAS, .is = any_is, .did = any_did });
	if (good && (none_is | none_did)) {
		const bool more = t->steps;
		good = add(t, (struct tag_step){ .what = TAG_HAS, .is = none_is, .did = none_did }) &&
			add(t, (struct tag_step){ .what = TAG_NOT }) &&
			(!more || add(t, (struct tag_step){ .what = TAG_AND }));
	}
	good = good && add_all(t, reg[SPMU_PUSHOUT_ALL_IS], true) && add_all(t, reg[SPMU_PUSHOUT_ALL_DID], false);
	t->without = t->steps && tag_holds(t, 0, 0);
	return good;
}

static bool is_on(const struct pmu_pushout *q, unsigned n)
{
	return q->reg.unit[n][SPMU_PUSHOUT_CONTROL] & SPMU_EVTSEL_EN;
}

/* Can a WRMSR write this value to the register? */
static bool allowed(const struct pmu_pushout *q, const uint64_t unit[SPMU_PUSHOUT_REGISTERS], unsigned reg,
	uint64_t value)
{
	struct tag t;
	uint64_t trial[SPMU_PUSHOUT_REGISTERS];
	switch (reg) {
	case SPMU_PUSHOUT_CONTROL:
		return !(value & ~CONTROL_BITS) && (value & 3) < PUSHOUT_WAYS_COUNT &&
			(value >> 4 & 7) < PUSHOUT_POINTS && q->width.at[value >> 4 & 7];
	case SPMU_PUSHOUT_LOAD:
		return value <= UINT32_MAX;
	case SPMU_PUSHOUT_COUNT:
		return value <= COUNT_MASK;
	case SPMU_PUSHOUT_STORED:
		return !(value & ~(STORED_VALID | UINT32_MAX));
	case SPMU_PUSHOUT_STORED_IP:
		return true;
	default:
		if (value & ~set_of((reg - SPMU_PUSHOUT_ALL_IS) & 1 ? SPMU_DID_COUNT : SPMU_IS_COUNT))
			return false;
		memcpy(trial, unit, sizeof trial);
		trial[reg] = value;
		return tag_of(trial, &t);
	}
}

int pmu_pushout_create(struct spmu *p)
{
	if (!p->host.pushout_width[PUSHOUT_RETIRE] || p->host.siblings > 1)
		return SPMU_OK;
	p->pushout = calloc(1, sizeof *p->pushout);
	if (!p->pushout)
		return SPMU_ENOMEM;
	for (unsigned k = 0; k < PUSHOUT_POINTS; k++)
		p->pushout->width.at[k] = p->host.pushout_width[k];
	return SPMU_OK;
}

void pmu_pushout_destroy(struct pmu_pushout *q)
{
	if (!q)
		return;
	pushout_destroy(q->now);
	pushout_destroy(q->before);
	free(q->fired);
	free(q);
}

/* Allocates what measuring needs, when the first unit is switched on. */
static int prepare(struct pmu_pushout *q)
{
	if (!q->now)
		q->now = pushout_create(&q->width, NULL, 0);
	if (!q->before)
		q->before = pushout_create(&q->width, NULL, 0);
	if (!q->fired)
		q->fired = malloc(FIRED_MAX * sizeof *q->fired);
	return q->now && q->before && q->fired ? SPMU_OK : SPMU_ENOMEM;
}

int pmu_pushout_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	struct pmu_pushout *q = p->pushout;
	if (msr == MSR_PUSHOUT_CAPABILITIES)
		return SPMU_GP;
	if (msr == MSR_PUSHOUT_STATUS) {
		if (value & ~(set_of(UNITS) | set_of(UNITS) << 16))
			return SPMU_GP;
		q->reg.status &= ~value;	/* 19:16 are read-only */
		return SPMU_OK;
	}
	const unsigned n = (msr - MSR_PUSHOUT_0) / SPMU_PUSHOUT_STRIDE,
		       reg = (msr - MSR_PUSHOUT_0) % SPMU_PUSHOUT_STRIDE;
	if (msr < MSR_PUSHOUT_0 || n >= UNITS || reg >= SPMU_PUSHOUT_REGISTERS)
		return SPMU_ENOMSR;
	if (reg == SPMU_PUSHOUT_STORED || reg == SPMU_PUSHOUT_STORED_IP || !allowed(q, q->reg.unit[n], reg, value))
		return SPMU_GP;
	if (reg == SPMU_PUSHOUT_CONTROL && value & SPMU_EVTSEL_EN && prepare(q))
		return SPMU_ENOMEM;
	q->reg.unit[n][reg] = value;
	if (reg != SPMU_PUSHOUT_COUNT)
		q->changed |= (uint8_t)(1u << n);
	return SPMU_OK;
}

int pmu_pushout_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	struct pmu_pushout *q = p->pushout;	/* not const: reading STORED frees it */
	if (msr == MSR_PUSHOUT_CAPABILITIES) {
		*value = UNITS;
		for (unsigned k = 0; k < PUSHOUT_POINTS; k++)
			*value |= (uint64_t)q->width.at[k] << 8 * (k + 1);
		return SPMU_OK;
	}
	if (msr == MSR_PUSHOUT_STATUS) {
		*value = q->reg.status;
		for (unsigned n = 0; n < UNITS; n++)
			*value |= (q->reg.unit[n][SPMU_PUSHOUT_STORED] >> 63) << (16 + n);
		return SPMU_OK;
	}
	const unsigned n = (msr - MSR_PUSHOUT_0) / SPMU_PUSHOUT_STRIDE,
		       reg = (msr - MSR_PUSHOUT_0) % SPMU_PUSHOUT_STRIDE;
	if (msr < MSR_PUSHOUT_0 || n >= UNITS || reg >= SPMU_PUSHOUT_REGISTERS)
		return SPMU_ENOMSR;
	*value = q->reg.unit[n][reg];
	if (reg == SPMU_PUSHOUT_STORED)
		q->reg.unit[n][reg] &= ~STORED_VALID;
	return SPMU_OK;
}

static void on_each(void *context, unsigned measure, const struct pushout_one *one)
{
	struct pmu_pushout *q = context;
	const uint64_t control = q->reg.unit[measure][SPMU_PUSHOUT_CONTROL];
	if (!(control & SPMU_EVTSEL_EN) || !(control & (one->cpl ? SPMU_EVTSEL_USR : SPMU_EVTSEL_OS)) ||
		q->fires == FIRED_MAX ||
		!pushout_fires((enum pushout_way)(control & 3), (uint32_t)q->reg.unit[measure][SPMU_PUSHOUT_LOAD],
			one->cycles))
		return;
	q->fired[q->fires++] =
		(struct fired){ .ip = one->ip, .record = one->record, .cycles = one->cycles, .unit = (uint8_t)measure };
}

/* Sets the meter up by the registers. */
static void set_measures(struct pmu_pushout *q)
{
	struct pushout_measure m[UNITS];
	struct tag t[UNITS];
	const bool was = q->live;
	q->live = false;
	for (unsigned n = 0; n < UNITS; n++) {
		const uint64_t *unit = q->reg.unit[n], control = unit[SPMU_PUSHOUT_CONTROL];
		tag_of(unit, &t[n]);
		m[n] = (struct pushout_measure){ .tag = t[n].steps ? &t[n] : NULL,
			.from = control & SPMU_PUSHOUT_EVENT ? PUSHOUT_FROM_EVENT : PUSHOUT_FROM_DUE,
			.point = (enum pushout_point)(control >> 4 & 7),
			.each = on_each,
			.context = q };
		q->live |= is_on(q, n);
	}
	if (q->now)
		pushout_set(q->now, m, UNITS, q->changed);
	if (q->live && !was)
		pushout_restart(q->now);
	q->changed = 0;
}

/* Index in `fired`, from `next` on, of the first with which a unit overflows and interrupts; q->fires: none. */
static uint32_t first_due(const struct pmu_pushout *q)
{
	uint64_t left[UNITS];
	for (unsigned n = 0; n < UNITS; n++) {
		const uint64_t *unit = q->reg.unit[n];
		left[n] = unit[SPMU_PUSHOUT_CONTROL] & SPMU_EVTSEL_INT ? COUNT_MASK + 1 - unit[SPMU_PUSHOUT_COUNT]
			: UINT64_MAX;
	}
	uint32_t k = q->next;
	while (k < q->fires && --left[q->fired[k].unit])
		k++;
	return k;
}

bool pmu_pushout_begin(struct spmu *p, const struct spmu_batch *b)
{
	struct pmu_pushout *q = p->pushout;
	q->fires = q->next = 0;
	if (q->changed)
		set_measures(q);
	if (!q->live)
		return false;
	pushout_copy(q->before, q->now);
	pushout_batch(q->now, b);
	return first_due(q) < q->fires;
}

void pmu_pushout_again(struct spmu *p, const struct spmu_batch *b, uint32_t from)
{
	struct pmu_pushout *q = p->pushout;
	if (!q->changed)
		return;
	if (q->live)
		pushout_copy(q->now, q->before);
	set_measures(q);
	q->fires = q->next = 0;
	if (!q->live)
		return;
	pushout_copy(q->before, q->now);
	pushout_batch(q->now, b);
	while (q->next < q->fires && q->fired[q->next].record < from)
		q->next++;
}

uint32_t pmu_pushout_due(const struct spmu *p, const struct spmu_batch *b)
{
	const struct pmu_pushout *q = p->pushout;
	const uint32_t k = first_due(q);
	return k < q->fires ? q->fired[k].record : b->count;
}

void pmu_pushout_segment(struct spmu *p, const struct spmu_batch *b, uint32_t to)
{
	struct pmu_pushout *q = p->pushout;
	for (; q->next < q->fires && q->fired[q->next].record < to; q->next++) {
		const struct fired *f = &q->fired[q->next];
		uint64_t *unit = q->reg.unit[f->unit];
		unit[SPMU_PUSHOUT_COUNT] = (unit[SPMU_PUSHOUT_COUNT] + 1) & COUNT_MASK;
		const bool wrapped = !unit[SPMU_PUSHOUT_COUNT];
		if (!(unit[SPMU_PUSHOUT_STORED] & STORED_VALID) &&
			(wrapped || !(unit[SPMU_PUSHOUT_CONTROL] & SPMU_PUSHOUT_STORE_OVF))) {
			unit[SPMU_PUSHOUT_STORED] = STORED_VALID | f->cycles;
			unit[SPMU_PUSHOUT_STORED_IP] = f->ip;
		}
		if (!wrapped)
			continue;
		q->reg.status |= UINT64_C(1) << f->unit;
		if (unit[SPMU_PUSHOUT_CONTROL] & SPMU_EVTSEL_INT)
			pmu_request(p, b->base_cycle + b->records[f->record].retire);
	}
}

void pmu_pushout_save(const struct spmu *p, struct pmu_pushout_state *out)
{
	if (p->pushout)
		*out = p->pushout->reg;
}

bool pmu_pushout_valid(const struct spmu *p, const struct pmu_pushout_state *in)
{
	uint64_t any = in->status;
	for (unsigned n = 0; n < UNITS; n++)
		for (unsigned k = 0; k < SPMU_PUSHOUT_REGISTERS; k++) {
			any |= in->unit[n][k];
			if (p->pushout && !allowed(p->pushout, in->unit[n], k, in->unit[n][k]))
				return false;
		}
	return p->pushout ? !(in->status & ~set_of(UNITS)) : !any;
}

int pmu_pushout_restore(struct spmu *p, const struct pmu_pushout_state *in)
{
	struct pmu_pushout *q = p->pushout;
	bool on = false;
	for (unsigned n = 0; n < UNITS; n++)
		on |= in->unit[n][SPMU_PUSHOUT_CONTROL] & SPMU_EVTSEL_EN;
	if (!q)
		return SPMU_OK;
	if (on && prepare(q))
		return SPMU_ENOMEM;
	q->reg = *in;
	q->changed = (uint8_t)set_of(UNITS);
	return SPMU_OK;
}
