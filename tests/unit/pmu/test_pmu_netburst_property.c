/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compares NetBurst's counters with a naive machine, on random streams of two threads with random ESCRs and CCCRs. The
 * naive machine evaluates every cycle of every counter in the manual's order of qualification. Tags and interrupts are
 * tested elsewhere.
 */
#include "netburst_fixture.h"

static struct spmu_model *model;
static uint64_t cycles;		/* of the stream */
static struct stream s;

static unsigned bit_of(const struct spmu_record *r)
{
	bool user = r->cpl != 0;
	return r->hw_thread ? user ? SPMU_ESCR_T1_USR : SPMU_ESCR_T1_OS : user ? SPMU_ESCR_T0_USR : SPMU_ESCR_T0_OS;
}

/* Adds to v what a source counts in each cycle, from the records that pass `who` (ESCR thread and ring bits). */
static void add_source(const struct pmu_source *src, unsigned who, uint32_t weight, uint32_t *v)
{
	uint8_t *seen = calloc(cycles, 1);
	for (size_t i = 0; i < s.n; i++) {
		const struct spmu_record *r = &s.r[i];
		const uint64_t *at = s.at[i];
		if (!(who & bit_of(r)))
			continue;
		if (r->kind == SPMU_REC_UOP) {
			if (!src->is_signal && naive_match(src, r) && at[src->stage] != PMU_NEVER)
				v[at[src->stage]] += weight;
			continue;
		}
		if (!src->is_signal || r->signal != src->signal)
			continue;
		const uint64_t attributes = r->is | (r->hw_thread & 1 ? SPMU_ATTR(THREAD1) : SPMU_ATTR(THREAD0));
		if ((attributes & src->is_mask) != src->is_want || (src->any_is && !(attributes & src->any_is)))
			continue;
		if (src->form == FORM_BEGINS)
			v[at[0]] += weight;
		else if (pmu_signal_kind(r->signal) == SPMU_POINT)
			v[at[0]] += weight * (uint32_t)r->did;
		else
			for (uint64_t c = at[0]; c < at[1]; c++) {
				v[c] += seen[c] && src->form != FORM_PENDING ? 0 : weight;
				seen[c] = 1;
			}
	}
	free(seen);
}

static uint32_t *running(unsigned who)
{
	const struct pmu_source src = { .is_signal = 1, .signal = SPMU_SIG_CYCLES, .until = STAGE_NONE };
	uint32_t *v = calloc(cycles, sizeof *v);
	add_source(&src, who, 1, v);
	return v;
}

struct setting { unsigned n; const struct pmu_row *row; uint32_t who, cccr; uint64_t preset; bool skip; };

/* Returns a counter's increment in each cycle, as if it were enabled all the time. */
static uint32_t *increments(struct setting *t)
{
	const struct pmu_expr *x = &t->row->expr;
	uint32_t *v = calloc(cycles, sizeof *v), *t0 = running(T0), *t1 = running(ALL_CLASSES & ~T0);
	bool usr = t->who & 5, os = t->who & 10, independent = t->row->public.thread_independent;
	unsigned who = independent && (usr || os) ? ALL_CLASSES : t->who;
	uint32_t *on = running(who), *in = running(usr ? 5 : 10);
	for (unsigned k = 0; k < x->terms; k++) {
		const struct pmu_term *term = &x->term[k];
		if (!term->conds) {
			add_source(&model->source[term->source], who, term->num, v);
			continue;
		}
		uint8_t *all = malloc(cycles);
		memset(all, 1, cycles);
		for (unsigned j = 0; j < term->conds; j++) {
			uint32_t *w = calloc(cycles, sizeof *w);
			for (unsigned a = 0; a < term->cond[j].sources; a++)
				add_source(&model->source[term->cond[j].source[a]], who, 1, w);
			for (uint64_t c = 0; c < cycles; c++)
				all[c] &= naive_compare(w[c], &term->cond[j]);
			free(w);
		}
		for (uint64_t c = 0; c < cycles; c++)
			v[c] += on[c] && all[c];
		free(all);
	}
	bool edge = false;
	for (uint64_t c = 0; c < cycles; c++) {
		t->skip |= v[c] > 15;		/* plain sums are not clipped */
		v[c] = v[c] > 15 ? 15 : v[c];
		if (independent && usr != os && !in[c])
			v[c] = 0;
		if (t->cccr & SPMU_CCCR_COMPARE) {
			bool pass = v[c] > (t->cccr >> 20 & 15);
			if (t->cccr & SPMU_CCCR_COMPLEMENT)
				pass = !pass;
			v[c] = t->cccr & SPMU_CCCR_EDGE ? pass && !edge : pass;
			edge = pass;
		}
		unsigned active = (t0[c] > 0) + (t1[c] > 0), mode = t->cccr >> 16 & 3;
		if (mode != 3 && mode != active)
			v[c] = 0;
	}
	free(t0);
	free(t1);
	free(on);
	free(in);
	return v;
}

static bool usable(const struct pmu_row *row)
{
	for (unsigned k = 0; k < row->expr.terms; k++) {
		const struct pmu_source *src = &model->source[row->expr.term[k].source];
		if (!row->expr.term[k].conds && (src->tagged | src->untagged))
			return false;
		/* their masks are fields: test_pmu_netburst_bus */
		if (src->is_signal && (src->signal == SPMU_SIG_BUS_QUEUE || src->signal == SPMU_SIG_BUS_UNIT))
			return false;
	}
	return row->expr.terms;
}

static bool clashes(const struct setting *a, const struct setting *b)
{
	return spmu_netburst_escr(model, a->n, a->row->public.escr_select) == spmu_netburst_escr(model, b->n,
		b->row->public.escr_select);
}

static unsigned one_run(uint64_t seed)
{
	struct setting set[18];
	unsigned sets = 0, checked = 0;
	stream_free(&s);
	uint64_t top = stream_random(&s, seed, 700);
	bool two = draw(&seed, 3);
	for (size_t i = 0; two && i < s.n; i++)
		s.r[i].hw_thread = draw(&seed, 2) ? 0 : 1;
	cycles = top + 10;
	struct spmu *p = netburst_pmu(model, NULL);
	for (unsigned n = 0; n < 18; n++) {
		struct setting t = { .n = n, .row = &model->row[draw(&seed, model->rows)], .who = (uint32_t)draw(&seed,
			16) };
		while (!(t.row->public.pmc_mask >> n & 1) || !usable(t.row))
			t.row = &model->row[draw(&seed, model->rows)];
		t.cccr = SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(t.row->public.escr_select) | SPMU_CCCR_ACTIVE(draw(&seed,
			3) ? 3 : draw(&seed, 4));
		if (draw(&seed, 2))
			t.cccr |= SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(draw(&seed, 4)) | (uint32_t)draw(&seed,
				2) << 19 | (uint32_t)draw(&seed, 2) << 24;
		bool clash = false;
		for (unsigned k = 0; k < sets; k++)
			clash |= clashes(&t, &set[k]);
		if (clash)
			continue;
		t.preset = draw(&seed, 3) ? 0 : NB_MASK - draw(&seed, 200);
		nb_write(p, spmu_netburst_escr(model, n, t.row->public.escr_select), nb_escr(&t.row->public, t.who));
		nb_write(p, NB_CCCR(n), t.cccr);
		nb_write(p, NB_COUNTER(n), t.preset);
		set[sets++] = t;
	}
	/* a cascade between the first pair that allows one; both have filters, so the start is known by its cycle */
	struct setting *from = NULL, *to = NULL;
	for (unsigned a = 0; a < sets && !to; a++)
		for (unsigned b = 0; b < sets && !to; b++)
			if (set[b].n < 16 && (set[b].n ^ 2) == set[a].n &&
				set[a].cccr & set[b].cccr & SPMU_CCCR_COMPARE) {
				from = &set[a];
				to = &set[b];
			}
	if (to) {
		to->cccr = (to->cccr & ~(SPMU_CCCR_ENABLE | SPMU_CCCR_EDGE)) | SPMU_CCCR_CASCADE;
		nb_write(p, NB_CCCR(to->n), to->cccr);
		from->preset = NB_MASK - draw(&seed, 50);
		nb_write(p, NB_COUNTER(from->n), from->preset);
	}
	stream_send_cut(&s, p, seed | 1, 1 + draw(&seed, 90));
	stream_send(&s, s.n, s.n, cycles, cycles, true, p);
	for (unsigned k = 0; k < sets; k++) {
		struct setting *t = &set[k];
		uint64_t begin = 0, sum = t->preset;
		uint32_t *v = increments(t);
		if (t == to) {		/* it counts from the cycle after the overflow */
			uint32_t *u = increments(from);
			uint64_t left = NB_MASK + 1 - from->preset;
			while (begin < cycles && u[begin] < left)
				left -= u[begin++];
			begin++;
			free(u);
		}
		for (uint64_t c = begin; c < cycles; c++)
			sum += v[c];
		bool wrapped = sum > NB_MASK;
		free(v);
		if (t->skip || (t == to && from->skip))
			continue;
		checked++;
		if (nb_count(p, t->n) != (sum & NB_MASK) ||
			!!(fixture_read(p, NB_CCCR(t->n)) & SPMU_CCCR_OVF) != wrapped)
			fail_msg("seed %llu: %s on counter %u, bits %x, CCCR %x: %llx, not %llx",
				(unsigned long long)seed, t->row->public.name, t->n,
				t->who, t->cccr, (unsigned long long)nb_count(p, t->n),
				(unsigned long long)(sum & NB_MASK));
	}
	spmu_destroy(p);
	return checked;
}

static void test_counters_agree_with_a_naive_machine(void **state)
{
	(void)state;
	unsigned checked = 0;
	model = fixture_model("netburst-prescott");
	for (uint64_t seed = 1; seed <= 60; seed++)
		checked += one_run(seed * 977);
	print_message("%u counters\n", checked);
	assert_true(checked > 300);
	spmu_model_free(model);
	stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_counters_agree_with_a_naive_machine) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
