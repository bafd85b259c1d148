/* SPDX-License-Identifier: BSD-2-Clause
 * The plan: from the registers, which counters count and how (enum pmu_mode), and what a pass over a batch must
 * tally.
 *
 * A counter that only adds up gets tally slots; counters with the same source share a slot.  A counter that
 * needs its increment in every cycle (CMASK, EDGE, cycles(...), or an interrupt on an event that does not come
 * in order) gets channels of the ring.  Every such counter that is programmed has channels, started or not, so
 * that a handler which clears and sets IA32_PERF_GLOBAL_CTRL does not lose what is in the ring.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t signal_kinds[] = {
#define SIGNAL(name, kind, text) SPMU_##kind,
#include "softpmu/signals.def"
};

enum spmu_signal_kind pmu_signal_kind(unsigned signal)
{
	return signal_kinds[signal];
}

/* ---- sources that a PMU makes itself ------------------------------------------------------------------------ */

static bool refers(const struct pmu_expr *x, unsigned source)
{
	for (unsigned k = 0; k < x->terms; k++)
		if (!x->term[k].conds && x->term[k].source == source)
			return true;
	return false;
}

/* Does an expression that follows from the registers, or a channel of the ring, refer to this one of p->own? */
static bool in_use(const struct spmu *p, unsigned own)
{
	const unsigned source = (unsigned)p->model->sources + own;
	for (unsigned i = 0; i <= PMU_NETBURST_COUNTERS; i++)
		if (refers(&p->detected.expr[i], source))
			return true;
	for (unsigned i = 0; i < PMU_OFFCORE_REGISTERS; i++)
		if (refers(&p->offcore[i], source))
			return true;
	for (unsigned k = 0; k < p->ring.channels; k++)
		if (p->ring.channel[k].source == source)
			return true;
	return false;
}

int pmu_own_source(struct spmu *p, const struct pmu_source *want)
{
	unsigned i;
	for (i = 0; i < p->owns; i++)
		if (!memcmp(&p->own[i], want, sizeof *want))
			return (int)(p->model->sources + i);
	for (i = 0; p->owns == PMU_MAX_OWN && i < PMU_MAX_OWN && in_use(p, i); i++)
		;
	if (p->owns < PMU_MAX_OWN)
		i = p->owns++;
	if (i == PMU_MAX_OWN)
		return -1;
	memcpy(&p->own[i], want, sizeof *want);
	return (int)(p->model->sources + i);
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

struct wanted { uint16_t source, who; };
struct plan {
	struct pmu_counter counter[PMU_MAX_COUNTERS];
	uint16_t uops[PMU_MAX_COUNTERS * PMU_MAX_TERMS], signals[PMU_MAX_COUNTERS * PMU_MAX_TERMS];
	unsigned n_uops, n_signals;
	struct wanted channel[PMU_MAX_CHANNELS];
	unsigned channels;
	uint64_t merged[2];
	bool tagging;
};

static void note_interval(struct plan *q, const struct pmu_source *s)
{
	if (s->form == FORM_VALUE && pmu_signal_kind(s->signal) == SPMU_INTERVAL)
		q->merged[s->signal >> 6] |= UINT64_C(1) << (s->signal & 63);
}

/* The source's place in the list, to which it is added if it is not there. */
static unsigned once(uint16_t *list, unsigned *n, uint16_t source)
{
	for (unsigned i = 0; i < *n; i++)
		if (list[i] == source)
			return i;
	list[*n] = source;
	return (*n)++;
}

static int channel(const struct spmu *p, struct plan *q, uint16_t source, uint16_t who)
{
	unsigned i;
	const struct pmu_source *s = pmu_source_of(p, source);
	for (i = 0; i < q->channels; i++)
		if (q->channel[i].source == source && q->channel[i].who == who)
			return (int)i;
	if (i == PMU_MAX_CHANNELS)
		return -1;
	q->channel[q->channels++] = (struct wanted){ source, who };
	if (s->is_signal)
		note_interval(q, s);
	return (int)i;
}

/* The source sig(CYCLES); every table has one. */
static int cycles_source(const struct spmu_model *m)
{
	for (size_t i = 0; i < m->sources; i++)
		if (m->source[i].is_signal && m->source[i].signal == SPMU_SIG_CYCLES && m->source[i].form == FORM_VALUE)
			return (int)i;
	return -1;
}

static int plan_ring(const struct spmu *p, struct plan *q, struct pmu_counter *c)
{
	const struct pmu_expr *x = c->expr;
	int k, cycles = cycles_source(p->model);
	if (cycles < 0 || (k = channel(p, q, (uint16_t)cycles, c->who)) < 0)
		return SPMU_ENOMEM;
	c->gate = (uint8_t)k;
	if (c->while_in) {
		if ((k = channel(p, q, (uint16_t)cycles, c->while_in)) < 0)
			return SPMU_ENOMEM;
		c->gate_in = (uint8_t)k;
	}
	for (unsigned thread = 0; c->active && thread <= p->last_thread; thread++) {
		if ((k = channel(p, q, (uint16_t)cycles, (uint16_t)(WHO_OWN << 2 * thread))) < 0)
			return SPMU_ENOMEM;
		c->gate_thread[thread] = (uint8_t)k;
	}
	for (unsigned t = 0; t < x->terms; t++) {
		const struct pmu_term *term = &x->term[t];
		if (!term->conds) {
			if ((k = channel(p, q, term->source, c->who)) < 0)
				return SPMU_ENOMEM;
			c->channel[t][0][0] = (uint8_t)k;
		}
		for (unsigned j = 0; j < term->conds; j++)
			for (unsigned a = 0; a < term->cond[j].sources; a++) {
				if ((k = channel(p, q, term->cond[j].source[a], c->who)) < 0)
					return SPMU_ENOMEM;
				c->channel[t][j][a] = (uint8_t)k;
			}
	}
	return SPMU_OK;
}

static void plan_sum(const struct spmu *p, struct plan *q, struct pmu_counter *c)
{
	const struct pmu_expr *x = c->expr;
	bool retire = true;
	uint64_t step = 0;
	for (unsigned t = 0; t < x->terms; t++) {
		const struct pmu_source *s = pmu_source_of(p, x->term[t].source);
		retire &= !s->is_signal && s->stage == STAGE_RETIRE &&	/* (`until` is then STAGE_NONE) */
			!pmu_squashed(s->stage, s->did_mask, s->did_want);
		step += x->term[t].num;
		if (s->is_signal) {
			c->slot[t] = (uint16_t)once(q->signals, &q->n_signals, x->term[t].source);
			note_interval(q, s);
		} else {
			c->slot[t] = (uint16_t)once(q->uops, &q->n_uops, x->term[t].source);
		}
	}
	c->max_step = step > UINT32_MAX ? UINT32_MAX : (uint32_t)step;
	c->mode = retire ? MODE_RETIRE : MODE_SUM;
	const struct pmu_source *first = pmu_source_of(p, x->term[0].source);
	if (x->terms == 1 && first->is_signal && first->signal == SPMU_SIG_CYCLES && first->form == FORM_VALUE)
		c->mode = MODE_CYCLES;
}

static int plan_counter(struct spmu *p, struct plan *q, unsigned i)
{
	struct pmu_counter *c = &q->counter[i], ask = { 0 };
	bool conds = false;
	p->model->family->setup(p, i, &ask);
	c->expr = ask.expr;
	c->mask = ask.mask;
	c->who = ask.who;
	c->cmask = ask.cmask;
	c->inv = ask.inv;
	c->edge = ask.edge;
	c->clip = ask.clip;
	c->always = ask.always;
	c->while_in = ask.while_in;
	c->active = ask.active;
	c->exact = ask.exact;
	c->acts = ask.acts;
	c->every = ask.every;
	c->pmi_only = ask.pmi_only;
	c->programmed = ask.programmed && ask.who && ask.expr && ask.expr->terms;
	c->counts = ask.counts && c->programmed;
	c->mode = MODE_OFF;
	c->ring = false;
	if (!c->programmed)
		return SPMU_OK;
	for (unsigned t = 0; t < c->expr->terms; t++) {
		const struct pmu_source *s = pmu_source_of(p, c->expr->term[t].source);
		conds |= c->expr->term[t].conds;
		/* it sees some classes of several threads, whose intervals may overlap */
		c->exact |= s->is_signal && s->form == FORM_VALUE && pmu_signal_kind(s->signal) == SPMU_INTERVAL &&
			pmu_several(c->who) && c->who != pmu_everyone(p);
		q->tagging |= !c->expr->term[t].conds && !s->is_signal && (s->tagged | s->untagged);
	}
	if (!conds && !c->cmask && !c->edge && !c->exact && !c->while_in && !c->active) {
		plan_sum(p, q, c);
		c->ring = c->mode == MODE_SUM && c->acts;
	} else {
		c->ring = true;
	}
	if (c->ring) {
		c->mode = MODE_RING;
		if (plan_ring(p, q, c))
			return SPMU_ENOMEM;
	}
	if (!c->counts)
		c->mode = MODE_OFF;
	return SPMU_OK;
}

/* Gives the ring the channels of `q`; channels that it has already keep their entries. */
static int plan_channels(struct spmu *p, const struct plan *q)
{
	struct pmu_ring *g = &p->ring;
	struct pmu_channel fresh[PMU_MAX_CHANNELS];
	uint8_t to[PMU_MAX_CHANNELS];
	bool same = q->channels == g->channels;
	for (unsigned i = 0; same && i < q->channels; i++)
		same = g->channel[i].source == q->channel[i].source && g->channel[i].who == q->channel[i].who;
	if (same)
		return SPMU_OK;
	if (!g->touched) {
		g->cycles = PMU_RING_FIRST;
		g->touched = calloc(g->cycles / 64, sizeof *g->touched);
		if (!g->touched)
			return SPMU_ENOMEM;
	}
	memset(fresh, 0, sizeof fresh);
	memset(to, PMU_NO_CHANNEL, sizeof to);
	for (unsigned i = 0; i < q->channels; i++) {
		const struct pmu_source *s = pmu_source_of(p, q->channel[i].source);
		for (unsigned k = 0; k < g->channels; k++)
			if (g->channel[k].source == q->channel[i].source && g->channel[k].who == q->channel[i].who) {
				fresh[i] = g->channel[k];
				to[k] = (uint8_t)i;
			}
		if (fresh[i].entry)
			continue;
		fresh[i] = (struct pmu_channel){ .source = q->channel[i].source,
			.who = q->channel[i].who,
			.fresh = true,
			.level = !s->is_signal ? s->until != STAGE_NONE
				: s->form == FORM_PENDING ||
					(s->form == FORM_VALUE && pmu_signal_kind(s->signal) != SPMU_POINT),
			.once = s->is_signal && s->form == FORM_VALUE && pmu_signal_kind(s->signal) == SPMU_INTERVAL,
			.entry = calloc(g->cycles, sizeof(int64_t)) };
		if (fresh[i].entry)
			continue;
		for (unsigned k = 0; k < i; k++)
			if (fresh[k].fresh)
				free(fresh[k].entry);	/* the others still belong to the ring */
		return SPMU_ENOMEM;
	}
	if (!g->channels) {
		g->first = g->end = g->counted = p->in_pmi ? p->now : p->floor;
		g->fars = 0;
		memset(g->touched, 0, g->cycles / 64 * sizeof *g->touched);
	}
	for (unsigned k = 0; k < g->channels; k++)
		if (to[k] == PMU_NO_CHANNEL)
			free(g->channel[k].entry);
	size_t kept = 0;
	for (size_t i = 0; i < g->fars; i++)
		if (to[g->far[i].channel] != PMU_NO_CHANNEL) {
			g->far[kept] = g->far[i];
			g->far[kept++].channel = to[g->far[i].channel];
		}
	g->fars = kept;
	pmu_far_order(g);
	memcpy(g->channel, fresh, sizeof fresh);
	g->channels = q->channels;
	return SPMU_OK;
}

static bool only_masks(const struct pmu_source *s)
{
	return !(s->any_is | s->any_did) && !s->ports && !(s->tagged | s->untagged) && s->stage == STAGE_RETIRE &&
		!pmu_squashed(s->stage, s->did_mask, s->did_want);
}

/* 0 or 1 if the source is just INST_END or INST_END2 of retired uops, else 2. */
static unsigned instruction_half(const struct pmu_source *s)
{
	const uint64_t half[2] = { SPMU_IS(INST_END), SPMU_IS(INST_END2) };
	for (unsigned h = 0; h < 2; h++)
		if (!s->is_signal && only_masks(s) && s->is_mask == half[h] && s->is_want == half[h] &&
		    s->did_mask == SPMU_DID(RETIRED) && s->did_want == SPMU_DID(RETIRED))
			return h;
	return 2;
}

/* Which of INST_END (bit 0) and INST_END2 (bit 1) the expression adds with weight 1; bit 2: one of them with
 * another weight. */
static unsigned halves(const struct spmu_model *m, const struct pmu_expr *x)
{
	unsigned seen = 0;
	for (unsigned t = 0; t < x->terms; t++) {
		unsigned source = x->term[t].source,
			 half = x->term[t].conds || source >= m->sources ? 2 : instruction_half(&m->source[source]);
		if (half < 2)
			seen |= x->term[t].num == x->term[t].den ? 1u << half : 4;
	}
	return seen;
}

bool pmu_is_instructions(const struct spmu_model *m, const struct pmu_expr *x)
{
	return x->terms == 2 && halves(m, x) == 3;
}

/* Is every counter that counts INST_END or INST_END2 the plain sum of both? */
static bool sums_instructions(const struct spmu *p)
{
	bool any = false;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++) {
		const struct pmu_counter *c = &p->counter[i];
		if (!c->programmed || c->ring)
			continue;
		bool sum = pmu_is_instructions(p->model, c->expr);
		if (!sum && halves(p->model, c->expr))
			return false;
		any |= sum;
	}
	return any;
}

static void plan_tallies(struct spmu *p, const struct plan *q)
{
	uint16_t to[PMU_MAX_COUNTERS * PMU_MAX_TERMS];
	unsigned n = 0;
	p->tally_instructions = sums_instructions(p);
	/* The order of tally slots: INST_END and INST_END2, other bit masks at retirement, other uop sources,
	 * signals. */
	for (unsigned pass = 0; pass < 3; pass++) {
		for (unsigned i = 0; i < q->n_uops; i++) {
			const struct pmu_source *s = pmu_source_of(p, q->uops[i]);
			if ((instruction_half(s) < 2 ? 0u : only_masks(s) ? 1u : 2u) != pass)
				continue;
			p->tally_source[n] =
				(struct pmu_tally_source){ s->is_mask, s->is_want, s->did_mask, s->did_want, s->any_is,
					s->any_did, s->ports, s->tagged, s->untagged, s->stage, s->until };
			to[i] = (uint16_t)n++;
		}
		if (pass == 1)
			p->tally_masks = n;
	}
	p->tally_uops = n;
	p->tallies = n + q->n_signals;
	memset(p->merged, 0, sizeof p->merged);
	memset(p->signal_slot, -1, sizeof p->signal_slot);
	p->qualifieds = 0;
	p->qualified_signals[0] = p->qualified_signals[1] = 0;
	for (unsigned i = 0; i < q->n_signals; i++) {
		const struct pmu_source *s = pmu_source_of(p, q->signals[i]);
		if (pmu_qualified(s)) {
			p->qualified[p->qualifieds++] = (struct pmu_tally_signal){ s->is_mask, s->is_want, s->any_is,
				(uint16_t)(n + i), s->signal, s->form };
			p->qualified_signals[s->signal >> 6] |= UINT64_C(1) << (s->signal & 63);
			continue;
		}
		p->signal_slot[s->signal][s->form] = (int16_t)(n + i);
		p->merged[n + i] = s->form == FORM_VALUE && pmu_signal_kind(s->signal) == SPMU_INTERVAL;
	}
	p->ring_counters = 0;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++) {
		struct pmu_counter *c = &p->counter[i];
		if (c->mode == MODE_RING)
			p->ring_counter[p->ring_counters++] = (uint8_t)i;
		if (!c->programmed || c->ring)
			continue;
		for (unsigned t = 0; t < c->expr->terms; t++)
			c->slot[t] = pmu_source_of(p, c->expr->term[t].source)->is_signal ? (uint16_t)(c->slot[t] + n)
				: to[c->slot[t]];
	}
}

int pmu_plan(struct spmu *p)
{
	struct plan q = { 0 };
	memcpy(q.counter, p->counter, sizeof q.counter);
	for (unsigned i = 0; i < p->model->counters; i++) {
		int error = plan_counter(p, &q, i);
		if (error)
			return error;
	}
	if (q.tagging && !p->tag && !(p->tag = calloc(SPMU_BATCH_MAX, sizeof *p->tag)))
		return SPMU_ENOMEM;
	bool interrupts = false;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		/* a thread that another one's counter interrupts may be ahead of it */
		interrupts |= q.counter[i].acts &&
			(p->threads > 1 || q.counter[i].ring || q.counter[i].mode == MODE_CYCLES);
	if (interrupts && !p->history) {
		p->history_room = PMU_HISTORY;
		if (!(p->history = calloc(p->history_room, sizeof *p->history)))
			return SPMU_ENOMEM;
	}
	int error = plan_channels(p, &q);
	if (error)
		return error;
	memcpy(p->counter, q.counter, sizeof q.counter);
	plan_tallies(p, &q);
	p->keep_history = interrupts;
	p->tagging = q.tagging;
	p->live = false;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		p->live |= p->counter[i].mode != MODE_OFF;
	for (unsigned w = 0; w < 2; w++)
		p->intervals[w] = q.merged[w];
	for (unsigned k = 0; k < PMU_COVERS; k++)
		for (unsigned i = 0; i < SPMU_SIG_COUNT; i++)
			if (!pmu_in_set(p->intervals, i))
				p->cover[k][i].spans = 0;	/* it is no longer kept up to date */
	return SPMU_OK;
}

void pmu_plan_release(struct spmu *p)
{
	for (unsigned k = 0; k < PMU_COVERS; k++)
		for (unsigned i = 0; i < SPMU_SIG_COUNT; i++)
			free(p->cover[k][i].span);
	free(p->tag);
	free(p->piece);
	free(p->history);
	pmu_ring_release(&p->ring);
}
