/* SPDX-License-Identifier: GPL-2.0-or-later
 * Gathers counts over time; timeline.h describes them. */
#include "output/html/timeline.h"
#include "analysis/windows.h"
#include "run/executed.h"
#include "util/grow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_INTERVAL = 1000 };		/* cycles */

struct cell { double of[TIMELINE_COLUMNS]; };
struct followed {
	const struct run_thread *run;	/* NULL: it has ended */
	uint32_t pid, tid;
	struct slots *slots;
	double charged[SLOTS_CAUSE_COUNT];	/* slots that are in cells already */
	/* of a sampled thread: it is in the measured part of a window; what was counted there */
	bool sampled, counts;
	struct cell window;
	struct windows_thread *estimate;
	uint64_t now, done;		/* the last cycle that it ran; cells are complete up to this one */
	uint64_t first;			/* interval of cell 0 */
	struct cell *cell;
	size_t cells, room;
};
struct timeline {
	struct slots_core core;
	uint64_t hz, interval;		/* interval: in cycles */
	bool l3, shared;		/* the machine has one; hardware threads share cores */
	uint64_t windows;
	/* of a sampled run: its counts where all was timed, those in its windows, and those of the whole run */
	double timed[TIMELINE_COUNTS];
	uint64_t executed[TIMELINE_COUNTS];	/* behind what was timed in full */
	bool is_executed[TIMELINE_COUNTS];	/* and this is exact */
	struct windows *estimate;
	struct timeline_total total[TIMELINE_COUNTS];
	struct followed *thread;
	size_t threads, room;
};

_Static_assert(!TIMELINE_CYCLES, "windows.h wants the time first");

static const char *const column_name[TIMELINE_COLUMNS] = {
#define X(name, text, help) [TIMELINE_##name] = text,
	TIMELINE_COUNT_LIST(X)
#undef X
#define X(name, text) [TIMELINE_COUNTS + SLOTS_##name] = text,
	SLOTS_CAUSES(X)
#undef X
};

int timeline_create(struct timeline **out, const struct core_config *c, bool shared, struct err *err)
{
	struct timeline *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	*t = (struct timeline){
		.core = slots_core_of(c),
		.hz = (uint64_t)(c->frequency_ghz * 1e9 + 0.5),
		.interval = FIRST_INTERVAL,
		.l3 = c->l3_size != 0,
		.shared = shared,
		.is_executed = { [TIMELINE_BRANCHES] = true, [TIMELINE_LOADS] = true },
	};
	*out = t;
	return 0;
}

void timeline_destroy(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->threads; i++) {
		slots_destroy(t->thread[i].slots);
		free(t->thread[i].cell);
	}
	windows_destroy(t->estimate);
	free(t->thread);
	free(t);
}

struct core_wanted timeline_wanted(void)
{
	struct core_wanted w = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	slots_wanted(w.signal);
	return w;
}

/* ---- intervals ---- */

/* Makes every interval twice as long. */
static void halve(struct timeline *t)
{
	t->interval *= 2;
	for (size_t i = 0; i < t->threads; i++) {
		struct followed *f = &t->thread[i];
		size_t used = 0;
		for (size_t k = 0; k < f->cells; k++) {
			const size_t to = (size_t)((f->first + k) / 2 - f->first / 2);
			if (to == used) {
				f->cell[used++] = f->cell[k];
				continue;
			}
			for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
				f->cell[to].of[c] += f->cell[k].of[c];
		}
		f->cells = used;
		f->first /= 2;
	}
}

/* The cell of a cycle; NULL without memory.  A batch's signals come behind its uops, so cycles go back a little. */
static struct cell *cell_at(struct timeline *t, struct followed *f, uint64_t cycle)
{
	while (cycle / t->interval >= TIMELINE_INTERVALS)
		halve(t);
	const uint64_t at = cycle / t->interval;
	if (!f->cells)
		f->first = at;
	while (at < f->first || at - f->first >= f->cells) {
		struct cell *grown = grow_array(f->cell, f->cells, &f->room, 16, sizeof *grown);
		if (!grown)
			return NULL;
		f->cell = grown;
		const size_t fresh = at < f->first ? 0 : f->cells;
		if (at < f->first) {
			memmove(&grown[1], grown, f->cells * sizeof *grown);
			f->first--;
		}
		memset(&grown[fresh], 0, sizeof *grown);
		f->cells++;
	}
	return &f->cell[at - f->first];
}

/* Adds counts[0..n), columns from `first` on, that happened evenly in each cycle of [begin, end), in each `scale` of
 * them. */
static bool spread(struct timeline *t, struct followed *f, uint64_t begin, uint64_t end, unsigned first,
	const double *counts, unsigned n, double scale)
{
	while (begin < end) {
		struct cell *cell = cell_at(t, f, begin);
		if (!cell)
			return false;
		const uint64_t next = (begin / t->interval + 1) * t->interval, until = next < end ? next : end;
		for (unsigned c = 0; c < n; c++)
			cell->of[first + c] += counts[c] * (double)(until - begin) * scale;
		begin = until;
	}
	return true;
}

/* Adds the cycles in which the thread ran. */
static bool spread_cycles(struct timeline *t, struct followed *f, uint64_t begin, uint64_t end)
{
	static const double one = 1;
	return spread(t, f, begin, end, TIMELINE_CYCLES, &one, 1, 1);
}

/* ---- batches ---- */

static struct followed *follow(struct timeline *t, const struct run_thread *run)
{
	for (size_t i = t->threads; i-- > 0;)
		if (t->thread[i].run == run)
			return &t->thread[i];
	struct followed *grown = grow_array(t->thread, t->threads, &t->room, 8, sizeof *grown);
	if (!grown)
		return NULL;
	t->thread = grown;
	struct followed *f = &t->thread[t->threads];
	*f = (struct followed){ .run = run, .pid = run->pid, .tid = run->tid };
	if (!t->shared && slots_create(&f->slots, &t->core, NULL))
		return NULL;
	t->threads++;
	return f;
}

/* The slots that were charged since the last call. */
static int slots_since(struct followed *f, double since[SLOTS_CAUSE_COUNT])
{
	uint64_t slots[SLOTS_CAUSE_COUNT], cycles;
	const int code = slots_read(f->slots, slots, &cycles, NULL);
	for (unsigned c = 0; !code && c < SLOTS_CAUSE_COUNT; c++) {
		since[c] = (double)slots[c] - f->charged[c];
		f->charged[c] = (double)slots[c];
	}
	return code;
}

/* Spreads the slots that were charged since the last call over the cycles of the batch; without any, over one cycle. */
static int spread_slots(struct timeline *t, struct followed *f, const struct spmu_batch *b)
{
	double since[SLOTS_CAUSE_COUNT];
	uint64_t of = 0;
	const int code = slots_since(f, since);
	if (code)
		return code;
	for (uint32_t i = 0; b && i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_CYCLES && r->end > r->begin)
			of += r->end - r->begin;
	}
	for (uint32_t i = 0; of && i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_CYCLES && r->end > r->begin &&
			!spread(t, f, b->base_cycle + r->begin, b->base_cycle + r->end, TIMELINE_COUNTS, since,
				SLOTS_CAUSE_COUNT, 1.0 / (double)of))
			return ERR_NOMEM;
	}
	for (unsigned c = 0; !of && f->cells && c < SLOTS_CAUSE_COUNT; c++)
		f->cell[f->cells - 1].of[TIMELINE_COUNTS + c] += since[c];
	return 0;
}

static void count_uop(struct cell *cell, const struct spmu_record *r)
{
	const bool branch = r->is & SPMU_IS(BRANCH), load = r->is & SPMU_IS(LOAD);
	cell->of[TIMELINE_INSTRUCTIONS] += !!(r->is & SPMU_IS(INST_END)) + !!(r->is & SPMU_IS(INST_END2));
	cell->of[TIMELINE_BRANCHES] += branch;
	cell->of[TIMELINE_MISPREDICTS] += branch && (r->did & SPMU_DID(MISPREDICTED));
	if (!load)
		return;
	cell->of[TIMELINE_LOADS] += 1;
	cell->of[TIMELINE_L1D_MISSES] += !!(r->did & (SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT)));
	cell->of[TIMELINE_L2_MISSES] += !!(r->did & SPMU_DID(L2_MISS));
	cell->of[TIMELINE_L3_MISSES] += !!(r->did & SPMU_DID(L3_MISS));
}

/* Adds up what a sampled thread does in a window's measured part. */
static int batch_of_window(struct followed *f, const struct spmu_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_CYCLES && r->end > r->begin) {
			f->now = b->base_cycle + r->end;
			f->window.of[TIMELINE_CYCLES] += f->counts ? r->end - r->begin : 0;
		} else if (r->kind != SPMU_REC_SIGNAL && f->counts && r->did & SPMU_DID(RETIRED)) {
			count_uop(&f->window, r);
		}
	}
	return 0;
}

int timeline_batch(struct timeline *t, const struct run_thread *run, const struct spmu_batch *b)
{
	struct followed *f = follow(t, run);
	struct cell *cell = NULL;
	uint64_t begin = 1, end = 0;	/* of the cell */
	if (!f)
		return ERR_NOMEM;
	if (f->slots)
		slots_batch(f->slots, b);
	if (f->sampled)
		return batch_of_window(f, b);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL) {
			if (r->signal == SPMU_SIG_CYCLES && r->end > r->begin &&
				!spread_cycles(t, f, b->base_cycle + r->begin, b->base_cycle + r->end))
				return ERR_NOMEM;
			end = 0;	/* cells may have moved */
			continue;
		}
		if (!(r->did & SPMU_DID(RETIRED)))
			continue;
		const uint64_t cycle = b->base_cycle + r->retire;
		if (cycle < begin || cycle >= end) {
			cell = cell_at(t, f, cycle);
			if (!cell)
				return ERR_NOMEM;
			begin = cycle / t->interval * t->interval;
			end = begin + t->interval;
		}
		count_uop(cell, r);
	}
	return f->slots ? spread_slots(t, f, b) : 0;
}

static void add_timed(struct timeline *t, const struct followed *f)
{
	for (size_t k = 0; k < f->cells; k++)
		for (unsigned c = 0; c < TIMELINE_COUNTS; c++)
			t->timed[c] += f->cell[k].of[c];
}

int timeline_sampled(struct timeline *t, const struct run_thread *run)
{
	struct followed *f = follow(t, run);
	if (!f || (!t->estimate && windows_create(&t->estimate, TIMELINE_COUNTS, TIMELINE_COUNTS, NULL)) ||
		windows_thread(t->estimate, &f->estimate, run, NULL))
		return ERR_NOMEM;
	add_timed(t, f);
	f->sampled = true;
	f->done = f->cells ? (f->first + f->cells) * t->interval : 0;
	f->now = f->done;
	return 0;
}

int timeline_window(struct timeline *t, const struct run_thread *run, const struct run_window *w, double weight)
{
	struct followed *f = follow(t, run);
	double since[SLOTS_CAUSE_COUNT] = { 0 };
	if (!f)
		return ERR_NOMEM;
	const int code = f->slots ? slots_since(f, since) : 0;
	if (code)
		return code;
	if (!w->leads) {
		static const double nothing[TIMELINE_COUNTS];
		windows_part(f->estimate, w, w->begins ? nothing : f->window.of);
	}
	if (!w->leads && !w->begins) {
		t->windows++;
		memcpy(f->window.of + TIMELINE_COUNTS, since, sizeof since);
		if (!spread(t, f, f->done, f->now, 0, f->window.of, TIMELINE_COLUMNS,
			weight / (double)(f->now - f->done)))
			return ERR_NOMEM;
		f->done = f->now;
	}
	f->counts = w->begins;
	f->window = (struct cell){ 0 };
	return 0;
}

void timeline_executed(struct timeline *t, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	static const struct { enum timeline_count count; uint64_t is; } what[] = {
		{ TIMELINE_BRANCHES, SPMU_IS(BRANCH) }, { TIMELINE_LOADS, SPMU_IS(LOAD) } };
	for (unsigned k = 0; k < sizeof what / sizeof *what; k++) {
		const enum timeline_count c = what[k].count;
		uint64_t n = 0;
		for (const struct uop *u = b->uop; u < b->uop + b->uops && u->insn < insns; u++) {
			if (!(u->is & what[k].is))
				continue;
			t->is_executed[c] &= executed_once(b, u, insns, repeats);
			n++;
		}
		t->executed[c] += n * times;
	}
}

int timeline_end(struct timeline *t, const struct run_thread *run)
{
	for (size_t i = 0; i < t->threads; i++) {
		struct followed *f = &t->thread[i];
		if (f->run != run)
			continue;
		int code = 0;
		if (f->slots) {
			slots_end(f->slots);
			code = f->sampled ? 0 : spread_slots(t, f, NULL);
			slots_destroy(f->slots);
		}
		f->slots = NULL;
		f->run = NULL;
		return code;
	}
	return 0;
}

/* ---- writing ---- */

static void put(FILE *to, uint64_t v)
{
	for (; v > 127; v >>= 7)
		fputc((int)(v & 127) | 128, to);
	fputc((int)v, to);
}

/* Whole numbers, so that every sum from the first on is the exact one, rounded. */
static void put_column(FILE *to, const struct followed *f, unsigned column)
{
	double sum = 0;
	uint64_t given = 0;
	for (size_t k = 0; k < f->cells; k++) {
		sum += f->cell[k].of[column];
		const uint64_t whole = (uint64_t)floor(sum + 0.5);
		put(to, whole - given);
		given = whole;
	}
}

/* Those that the machine or the run does not have are left out. */
static bool has_column(const struct timeline *t, unsigned column)
{
	return column == TIMELINE_L3_MISSES ? t->l3 : column < TIMELINE_COUNTS || !t->shared;
}

/* Totals of a sampled run. */
static int make_totals(struct timeline *t, const struct run_result *r, struct err *err)
{
	for (size_t i = 0; i < t->threads; i++)
		if (!t->thread[i].sampled)
			add_timed(t, &t->thread[i]);
	const int code = windows_total(t->estimate, r, err);
	for (unsigned c = 0; c < TIMELINE_COUNTS && !code; c++) {
		double half;
		const double sum = t->timed[c] + windows_count(t->estimate, c, &half);
		t->total[c] = (struct timeline_total){ .count = (uint64_t)(fmax(sum, 0) + 0.5),
			.known = !isnan(half), .half = isnan(half) ? 0 : (uint64_t)ceil(half) };
		if (t->is_executed[c])
			t->total[c] = (struct timeline_total){ .known = true,
				.count = (uint64_t)(t->timed[c] + 0.5) + t->executed[c] };
	}
	t->total[TIMELINE_INSTRUCTIONS] = (struct timeline_total){ .known = true,
		.count = r->instructions + r->warmed };
	return code;
}

int timeline_keep(struct timeline *t, struct perfdata_writer *w, const struct run_result *r, struct err *err)
{
	/* ERR_INPUT: no window has an instruction, as if there were none */
	const int bad = t->windows ? make_totals(t, r, err) : ERR_INPUT;
	if (bad && bad != ERR_INPUT)
		return bad;
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	if (!to)
		return ERR_NOMEM;
	fwrite(TIMELINE_MAGIC, 1, sizeof TIMELINE_MAGIC, to);
	put(to, t->interval);
	put(to, t->hz);
	put(to, t->core.width);
	put(to, t->windows);
	put(to, bad ? 0 : TIMELINE_COUNTS - !t->l3);
	for (unsigned c = 0; c < TIMELINE_COUNTS && !bad; c++)
		if (has_column(t, c)) {
			put(to, t->total[c].count);
			put(to, t->total[c].known ? t->total[c].half + 1 : 0);
		}
	unsigned columns = 0;
	for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
		columns += has_column(t, c);
	put(to, columns);
	for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
		if (has_column(t, c))
			fwrite(column_name[c], 1, strlen(column_name[c]) + 1, to);
	put(to, t->threads);
	for (size_t i = 0; i < t->threads; i++) {
		const struct followed *f = &t->thread[i];
		put(to, f->pid);
		put(to, f->tid);
		put(to, f->first);
		put(to, f->cells);
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			if (has_column(t, c))
				put_column(to, f, c);
	}
	int code = fclose(to) ? ERR_NOMEM : perfdata_own(w, PERFDATA_TIMELINE, text, bytes);
	free(text);
	return code;
}
