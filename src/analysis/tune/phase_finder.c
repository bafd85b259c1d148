/* SPDX-License-Identifier: GPL-2.0-or-later
 * Phases of a program (phase_finder.h).  All sums are of whole numbers or in a fixed order, so that the same run
 * gives the same phases. */
#include "analysis/tune/phase_finder.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50, NO_PHASE = 255 };
enum { STRETCH_LEAST = 2 /* intervals */, SHARE_LEAST = 50 /* one of so many intervals */ };
enum { EARLY = 4 };	/* markers may come later than the earliest by 1 / EARLY of an interval */
/* How close intervals must be to their phases on average: as a distance, or as a share of the distance with one
 * phase.  GUESS.  Experiment that would settle it: for programs with known phases (tests/programs/phases.c among
 * them), search both values for the least cycles. */
static const double close_enough = 0.25, closer_than_one = 0.25;

/* first: instructions of the interval before the block was first entered; times: how often it was entered */
struct entry { uint32_t block, insns, first, times; };
struct interval {
	struct entry *entry;		/* by block; NULL: no signatures */
	size_t entries;
	uint64_t insns, cycles;
	uint8_t phase;
};
/* insns, first, times: of the current interval */
struct block { uint64_t ip; uint32_t insns, first, times; bool touched; };

struct phases {
	uint64_t length, done;		/* done: instructions of the current interval */
	uint64_t cycle;			/* at which the previous interval ended */
	uint64_t last_cycle;
	bool signatures, lost, starts;	/* starts: the next instruction begins a block */
	uint32_t current;		/* current block */
	struct interval *interval;
	size_t intervals;
	struct block *block;
	size_t blocks, room;
	uint32_t *bucket;		/* 1 + block, by ip; 0: free */
	size_t buckets;
	uint32_t *touched;
	size_t touches;
	struct phase phase[PHASES_MOST];
	size_t phases, unmarked;
};

int phases_create(struct phases **out, uint64_t interval, bool signatures, struct err *err)
{
	struct phases *p = calloc(1, sizeof *p);
	if (p)
		p->interval = calloc(PHASES_INTERVALS, sizeof *p->interval);
	if (!p || !p->interval) {
		free(p);
		return err_set(err, ERR_NOMEM, "out of memory for phases");
	}
	p->length = interval ? interval : 1;
	p->signatures = signatures;
	p->starts = true;
	*out = p;
	return 0;
}

void phases_destroy(struct phases *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->intervals; i++)
		free(p->interval[i].entry);
	free(p->interval);
	free(p->block);
	free(p->bucket);
	free(p->touched);
	free(p);
}

struct core_wanted phases_wanted(void)
{
	return (struct core_wanted){ .is = SPMU_IS(INST_END) | SPMU_IS(BRANCH) | SPMU_IS(FAR) };
}

/* ---- intervals ---- */

static bool more_blocks(struct phases *p)
{
	size_t room = p->room ? 2 * p->room : 1024, buckets = 4 * room;
	struct block *block = realloc(p->block, room * sizeof *block);
	if (block)
		p->block = block;
	uint32_t *touched = realloc(p->touched, room * sizeof *touched);
	if (touched)
		p->touched = touched;
	uint32_t *bucket = calloc(buckets, sizeof *bucket);
	if (!block || !touched || !bucket || room > UINT32_MAX / 8) {
		free(bucket);
		return false;
	}
	free(p->bucket);
	p->bucket = bucket;
	p->buckets = buckets;
	p->room = room;
	for (size_t i = 0; i < p->blocks; i++) {
		size_t at = (size_t)((block[i].ip * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (buckets - 1);
		while (bucket[at])
			at = (at + 1) & (buckets - 1);
		bucket[at] = (uint32_t)(i + 1);
	}
	return true;
}

/* The block that begins at ip; UINT32_MAX: out of memory. */
static uint32_t block_at(struct phases *p, uint64_t ip)
{
	if (p->blocks == p->room && !more_blocks(p)) {
		p->lost = true;
		return UINT32_MAX;
	}
	size_t at = (size_t)((ip * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (p->buckets - 1);
	for (; p->bucket[at]; at = (at + 1) & (p->buckets - 1))
		if (p->block[p->bucket[at] - 1].ip == ip)
			return p->bucket[at] - 1;
	p->block[p->blocks] = (struct block){ .ip = ip };
	p->bucket[at] = (uint32_t)++p->blocks;
	return p->bucket[at] - 1;
}

static int by_block(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Joins two intervals into one. */
static bool join(struct interval *a, struct interval *b)
{
	struct entry *e = NULL;
	size_t n = 0, i = 0, k = 0;
	if (a->entry || b->entry) {
		e = malloc((a->entries + b->entries) * sizeof *e);
		if (!e)
			return false;
		while (i < a->entries || k < b->entries)
			if (k == b->entries || (i < a->entries && a->entry[i].block < b->entry[k].block)) {
				e[n++] = a->entry[i++];
			} else if (i == a->entries || b->entry[k].block < a->entry[i].block) {
				e[n] = b->entry[k++];
				e[n++].first += (uint32_t)a->insns;
			} else {
				e[n] = a->entry[i++];
				e[n].times += b->entry[k].times;
				e[n++].insns += b->entry[k++].insns;
			}
	}
	free(a->entry);
	free(b->entry);
	*a = (struct interval){ .entry = e, .entries = n, .insns = a->insns + b->insns,
		.cycles = a->cycles + b->cycles };
	*b = (struct interval){ 0 };
	return true;
}

static void close_interval(struct phases *p, uint64_t cycle)
{
	struct interval *v = p->interval + p->intervals;
	*v = (struct interval){ .insns = p->done, .cycles = cycle - p->cycle };
	if (p->signatures) {
		qsort(p->touched, p->touches, sizeof *p->touched, by_block);
		v->entry = malloc((p->touches + 1) * sizeof *v->entry);
		p->lost |= !v->entry;
		for (size_t i = 0; i < p->touches; i++) {
			struct block *b = p->block + p->touched[i];
			if (v->entry)
				v->entry[v->entries++] = (struct entry){ p->touched[i], b->insns, b->first, b->times };
			b->touched = false;
		}
		p->touches = 0;
	}
	p->done = 0;
	p->cycle = cycle;
	if (++p->intervals < PHASES_INTERVALS)
		return;
	for (size_t i = 0; i < PHASES_INTERVALS / 2; i++) {
		p->lost |= !join(&p->interval[2 * i], &p->interval[2 * i + 1]);
		if (i) {
			p->interval[i] = p->interval[2 * i];
			p->interval[2 * i] = (struct interval){ 0 };
		}
	}
	p->intervals /= 2;
	p->length *= 2;
}

static void instruction(struct phases *p, uint64_t ip, unsigned insns)
{
	const bool enters = p->starts;
	if (enters) {
		p->current = block_at(p, ip);
		p->starts = false;
	}
	if (p->current == UINT32_MAX)
		return;
	struct block *b = p->block + p->current;
	if (!b->touched) {
		b->touched = true;
		b->insns = b->times = 0;
		b->first = (uint32_t)p->done;
		p->touched[p->touches++] = p->current;
	}
	b->insns += insns;
	b->times += enters;
}

void phases_batch(struct phases *p, const struct spmu_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct spmu_record *r = batch->records + i;
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)) || r->cpl != 3)
			continue;
		if (r->is & SPMU_IS(INST_END)) {
			unsigned insns = 1 + !!(r->is & SPMU_IS(INST_END2));
			if (p->signatures)
				instruction(p, r->ip, insns);
			p->done += insns;
			p->last_cycle = batch->base_cycle + r->retire;
			if (p->done >= p->length)
				close_interval(p, p->last_cycle);
		}
		if (r->is & (SPMU_IS(BRANCH) | SPMU_IS(FAR)))
			p->starts = true;
	}
}

int phases_finish(struct phases *p, struct err *err)
{
	if (p->done)
		close_interval(p, p->last_cycle);
	return p->lost ? err_set(err, ERR_NOMEM, "out of memory for phases") : 0;
}

uint64_t phases_interval(const struct phases *p)
{
	return p->length;
}

size_t phases_intervals(const struct phases *p)
{
	return p->intervals;
}

uint64_t phases_cycles(const struct phases *p, size_t interval)
{
	return p->interval[interval].cycles;
}

uint64_t phases_instructions(const struct phases *p, size_t interval)
{
	return p->interval[interval].insns;
}

/* ---- clusters ---- */

struct clusters {
	double *centre;		/* for each of PHASES_MOST clusters, the shares of `blocks` blocks */
	double *size;		/* sum of each centre's shares */
	double *distance;	/* of each interval to its centre */
	uint8_t *of, *best;
};

/* Manhattan distance of an interval to a centre: the centre's size, corrected for each block of the interval. */
static double distance(const struct interval *v, const double *centre, double size)
{
	double d = size, all = v->insns ? (double)v->insns : 1;
	for (size_t i = 0; i < v->entries; i++) {
		double x = v->entry[i].insns / all, c = centre[v->entry[i].block];
		d += (x > c ? x - c : c - x) - c;
	}
	return d < 0 ? 0 : d;
}

static void add_to(double *centre, const struct interval *v, double weight)
{
	for (size_t i = 0; i < v->entries; i++)
		centre[v->entry[i].block] += weight * v->entry[i].insns / (double)v->insns;
}

/* Sets the centres to the means of their intervals.  The centre of an empty cluster stays. */
static void centres(const struct phases *p, struct clusters *c, size_t k)
{
	for (size_t j = 0; j < k; j++) {
		size_t n = 0;
		double *centre = c->centre + j * p->blocks;
		for (size_t i = 0; i < p->intervals; i++)
			n += c->of[i] == j;
		if (!n)
			continue;
		memset(centre, 0, p->blocks * sizeof *centre);
		for (size_t i = 0; i < p->intervals; i++)
			if (c->of[i] == j)
				add_to(centre, &p->interval[i], 1 / (double)n);
		c->size[j] = 0;
		for (size_t b = 0; b < p->blocks; b++)
			c->size[j] += centre[b];
	}
}

/* Assigns each interval to its nearest centre; returns the mean distance.  *moved: whether an assignment changed. */
static double assign(const struct phases *p, struct clusters *c, size_t k, bool *moved)
{
	double sum = 0;
	*moved = false;
	for (size_t i = 0; i < p->intervals; i++) {
		size_t nearest = 0;
		double least = 3;
		for (size_t j = 0; j < k; j++) {
			double d = distance(&p->interval[i], c->centre + j * p->blocks, c->size[j]);
			if (d < least) {
				least = d;
				nearest = j;
			}
		}
		*moved |= c->of[i] != nearest;
		c->of[i] = (uint8_t)nearest;
		c->distance[i] = least;
		sum += least;
	}
	return sum / (double)p->intervals;
}

/* Makes k clusters, starting from those of k - 1 and the interval that is farthest from them. */
static double cluster(const struct phases *p, struct clusters *c, size_t k)
{
	bool moved = true;
	double mean = 0;
	size_t far = 0;
	if (k == 1) {
		memset(c->of, 0, p->intervals);
	} else {
		for (size_t i = 1; i < p->intervals; i++)
			if (c->distance[i] > c->distance[far])
				far = i;
		double *centre = c->centre + (k - 1) * p->blocks;
		memset(centre, 0, p->blocks * sizeof *centre);
		add_to(centre, &p->interval[far], 1);
		c->size[k - 1] = 1;
		assign(p, c, k, &moved);
	}
	for (unsigned round = 0; round < ROUNDS && moved; round++) {
		centres(p, c, k);
		mean = assign(p, c, k, &moved);
	}
	return mean;
}

static int find_clusters(struct phases *p, struct err *err)
{
	struct clusters c = { calloc(PHASES_MOST * (p->blocks + 1), sizeof(double)),
		calloc(PHASES_MOST, sizeof(double)), calloc(p->intervals + 1, sizeof(double)),
		calloc(p->intervals + 1, 1), NULL };
	bool memory = c.centre && c.size && c.distance && c.of;
	double one = 0;
	for (size_t k = 1; memory && p->intervals && k <= PHASES_MOST; k++) {
		double mean = cluster(p, &c, k);
		one = k == 1 ? mean : one;
		for (size_t i = 0; i < p->intervals; i++)
			p->interval[i].phase = c.of[i];
		p->phases = k;
		if (mean <= close_enough || (k > 1 && mean <= closer_than_one * one))
			break;
	}
	free(c.centre);
	free(c.size);
	free(c.distance);
	free(c.of);
	return memory ? 0 : err_set(err, ERR_NOMEM, "out of memory for phases");
}

/* ---- stretches and markers ---- */

static size_t stretch_end(const struct phases *p, size_t at)
{
	uint8_t phase = p->interval[at].phase;
	while (at < p->intervals && p->interval[at].phase == phase)
		at++;
	return at;
}

static void paint(struct phases *p, size_t from, size_t to, uint8_t phase)
{
	while (from < to)
		p->interval[from++].phase = phase;
}

/* A stretch that is too short becomes part of the phase before it; the first stretch, of the phase after it. */
static void smooth(struct phases *p)
{
	for (size_t at = 0, end; at < p->intervals; at = end) {
		end = stretch_end(p, at);
		if (end - at >= STRETCH_LEAST)
			continue;
		if (at)
			paint(p, at, end, p->interval[at - 1].phase);
		else if (end < p->intervals)
			paint(p, at, end, p->interval[end].phase);
	}
}

/* Gives the stretches of a phase to the phase before each; the first stretch of the run, to the phase after it. */
static void dissolve(struct phases *p, uint8_t phase)
{
	size_t first = p->intervals ? stretch_end(p, 0) : 0;
	if (first < p->intervals && p->interval[0].phase == phase)
		paint(p, 0, first, p->interval[first].phase);
	for (size_t i = 1; i < p->intervals; i++)
		if (p->interval[i].phase == phase && p->interval[i - 1].phase != phase)
			paint(p, i, stretch_end(p, i), p->interval[i - 1].phase);
}

/* Numbers the phases in order of appearance, and counts their intervals and stretches. */
static void number(struct phases *p)
{
	uint8_t to[PHASES_MOST];
	struct phase old[PHASES_MOST];
	memset(to, NO_PHASE, sizeof to);
	memcpy(old, p->phase, sizeof old);
	p->phases = 0;
	for (size_t i = 0; i < p->intervals; i++) {
		uint8_t was = p->interval[i].phase;
		if (to[was] == NO_PHASE) {
			to[was] = (uint8_t)p->phases;
			p->phase[p->phases++] = (struct phase){ .marker = old[was].marker };
		}
		struct phase *f = p->phase + to[was];
		f->intervals++;
		f->stretches += !i || p->interval[i - 1].phase != to[was];
		p->interval[i].phase = to[was];
	}
}

/* last: the stretch in which it was last seen, from 1 */
struct candidate { bool foreign; uint32_t seen; size_t last; uint64_t delay, times; };

/* Marks the blocks that are executed in the middle of other phases: in an interval whose neighbours belong to
 * other phases, too. */
static void strangers(const struct phases *p, uint8_t phase, struct candidate *c)
{
	for (size_t i = 0; i < p->intervals; i++) {
		const struct interval *v = p->interval + i;
		bool own = v->phase == phase || (i && v[-1].phase == phase) ||
			(i + 1 < p->intervals && v[1].phase == phase);
		for (size_t k = 0; !own && k < v->entries; k++)
			c[v->entry[k].block].foreign = true;
	}
}

/* Counts in how many of the phase's stretches each block is, and how late in them.  A stretch may begin in the
 * middle of the interval before its first one. */
static size_t natives(const struct phases *p, uint8_t phase, struct candidate *c)
{
	size_t stretches = 0;
	for (size_t at = 0, end; at < p->intervals; at = end) {
		end = stretch_end(p, at);
		if (p->interval[at].phase != phase || !at)	/* the start of the run needs no marker */
			continue;
		uint64_t before = 0;
		stretches++;
		for (size_t i = at - 1; i < end; before += p->interval[i++].insns)
			for (size_t k = 0; k < p->interval[i].entries; k++) {
				const struct entry *e = p->interval[i].entry + k;
				c[e->block].times += e->times;
				if (c[e->block].last == stretches)
					continue;
				c[e->block].last = stretches;
				c[e->block].seen++;
				c[e->block].delay += before + e->first;
			}
	}
	return stretches;
}

static int find_marker(struct phases *p, uint8_t phase, bool (*usable)(void *context, uint64_t ip), void *context,
	bool *marked, struct err *err)
{
	struct candidate *c = calloc(p->blocks + 1, sizeof *c);
	if (!c)
		return err_set(err, ERR_NOMEM, "out of memory for phases");
	strangers(p, phase, c);
	size_t stretches = natives(p, phase, c), best = SIZE_MAX;
	uint64_t least = UINT64_MAX;
	for (size_t b = 0; b < p->blocks; b++) {
		c[b].foreign |= c[b].seen != stretches || (usable && !c[b].foreign && !usable(context, p->block[b].ip));
		if (!c[b].foreign && c[b].delay < least)
			least = c[b].delay;
	}
	/* of the candidates that are about as early as the earliest, the one that is entered least often */
	for (size_t b = 0; b < p->blocks; b++)
		if (!c[b].foreign && c[b].delay <= least + stretches * (p->length / EARLY) &&
			(best == SIZE_MAX || c[b].times < c[best].times ||
				(c[b].times == c[best].times && c[b].delay < c[best].delay)))
			best = b;
	p->phase[phase].marker = stretches && best != SIZE_MAX ? p->block[best].ip : 0;
	*marked = !stretches || best != SIZE_MAX;
	free(c);
	return 0;
}

/* Gives the stretches of a phase without a marker to the phase before each.  The first stretch of the run needs
 * no marker. */
static void drop(struct phases *p, uint8_t phase)
{
	for (size_t i = 1; i < p->intervals; i++)
		if (p->interval[i].phase == phase && p->interval[i - 1].phase != phase)
			paint(p, i, stretch_end(p, i), p->interval[i - 1].phase);
	p->unmarked++;
}

int phases_find(struct phases *p, bool (*usable)(void *context, uint64_t ip), void *context, struct err *err)
{
	int code = find_clusters(p, err);
	if (code)
		return code;
	smooth(p);
	number(p);
	for (size_t f = 0; f < p->phases; f++)
		if (p->phase[f].intervals * SHARE_LEAST < p->intervals)
			dissolve(p, (uint8_t)f);
	number(p);
	/* joining a phase changes what is foreign to the others */
	for (bool again = true; again && !code;) {
		again = false;
		for (size_t f = 0; f < p->phases && !again && !code; f++) {
			bool marked = true;
			code = find_marker(p, (uint8_t)f, usable, context, &marked, err);
			if (!code && !marked) {
				drop(p, (uint8_t)f);
				number(p);
				again = true;
			}
		}
	}
	return code;
}

size_t phases_count(const struct phases *p)
{
	return p->phases;
}

const struct phase *phases_get(const struct phases *p, size_t phase)
{
	return &p->phase[phase];
}

size_t phases_of(const struct phases *p, size_t interval)
{
	return p->interval[interval].phase;
}

size_t phases_unmarked(const struct phases *p)
{
	return p->unmarked;
}
