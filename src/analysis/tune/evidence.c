/* SPDX-License-Identifier: GPL-2.0-or-later
 * Gathers what advice is based on (evidence.h): a table of instructions, a table of lines, and a fully
 * associative cache beside each L1. */
#include "analysis/tune/evidence.h"
#include <stdlib.h>
#include <string.h>

enum { LINE_LOG2 = 6, LINE_BYTES = 1 << LINE_LOG2 };

static const struct { uint64_t is, did; } event[EVIDENCE_COUNT] = {
#define X(name, is, did) [EVIDENCE_##name] = { is, did },
	EVIDENCE_EVENTS(X)
#undef X
};

/* ---- a fully associative cache, LRU ---- */

struct shadow {
	uint32_t lines, used, buckets;
	struct shadow_line { uint64_t line; uint32_t newer, older, next; } *at;	/* at[0] is the list's end */
	uint32_t *bucket;
};

static bool shadow_init(struct shadow *s, uint32_t bytes)
{
	s->lines = bytes >> LINE_LOG2;
	for (s->buckets = 16; s->buckets < 2 * s->lines; s->buckets *= 2)
		;
	s->at = calloc((size_t)s->lines + 1, sizeof *s->at);
	s->bucket = calloc(s->buckets, sizeof *s->bucket);
	return s->at && s->bucket;
}

static uint32_t *shadow_bucket(const struct shadow *s, uint64_t line)
{
	return &s->bucket[(line * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->buckets - 1)];
}

static void shadow_unlink(struct shadow *s, uint32_t k)
{
	s->at[s->at[k].newer].older = s->at[k].older;
	s->at[s->at[k].older].newer = s->at[k].newer;
}

static void shadow_push(struct shadow *s, uint32_t k)
{
	s->at[k].newer = 0;
	s->at[k].older = s->at[0].older;
	s->at[s->at[0].older].newer = k;
	s->at[0].older = k;
}

/* Accesses the line; returns whether it was there. */
static bool shadow_use(struct shadow *s, uint64_t line)
{
	uint32_t *b = shadow_bucket(s, line), k = *b;
	while (k && s->at[k].line != line)
		k = s->at[k].next;
	if (k) {
		if (s->at[0].older != k) {
			shadow_unlink(s, k);
			shadow_push(s, k);
		}
		return true;
	}
	if (s->used < s->lines) {
		k = ++s->used;
	} else {
		k = s->at[0].newer;	/* the oldest */
		shadow_unlink(s, k);
		uint32_t *from = shadow_bucket(s, s->at[k].line);
		while (*from != k)
			from = &s->at[*from].next;
		*from = s->at[k].next;
	}
	s->at[k].line = line;
	s->at[k].next = *b;
	*b = k;
	shadow_push(s, k);
	return false;
}

static void shadow_clear(struct shadow *s)
{
	s->used = 0;
	s->at[0] = (struct shadow_line){ 0 };
	memset(s->bucket, 0, s->buckets * sizeof *s->bucket);
}

static void shadow_release(struct shadow *s)
{
	free(s->at);
	free(s->bucket);
}

/* ---- the tables ---- */

struct line {
	uint64_t key;		/* 1 + number of the line; 0: free */
	uint64_t first, others;	/* bytes that its first thread used, and other threads */
	uint32_t thread : 24, votes : 8;
	uint32_t site;		/* 1 + the site of most of its misses (R. Boyer, J S. Moore, "MJRTY", 1981) */
};
/* Uops of an instruction, with these bits of those that the events look at, which are not in its counts yet.  An
 * instruction does nearly always the same, so few of its uops have to be compared with every event. */
enum { ALIKE = 4 };
struct alike { uint64_t is, did, times; };
struct core_caches { uint64_t number; struct shadow data, code; struct core_caches *next; };

struct evidence {
	uint32_t data_bytes, code_bytes;
	bool failed;
	uint64_t lcp;
	struct evidence_site *site;
	struct alike (*alike)[ALIKE];	/* of each site */
	uint64_t is, did;		/* the bits that events look at */
	uint32_t *bucket;	/* 1 + index; 0: free */
	size_t sites, room, buckets;
	struct line *line;
	size_t lines, line_room;
	struct core_caches *cores;
	struct evidence_thread *threads;
	uint32_t thread_count;
};

struct evidence_thread {
	struct evidence *of;
	struct evidence_thread *next;
	struct core_caches *core;
	struct exact *exact;	/* NULL: its core is shared */
	uint32_t pid, number;
	uint32_t last;		/* the site that was looked up last */
	uint64_t code_line;	/* line that it fetched from last */
	bool code_there;	/* the fully associative L1I had that line */
	bool ended;
	bool inside;		/* an instruction has begun and not ended */
	/* of a sampled run: it counts in windows alone, and ahead of them only fills the caches */
	bool sampled, waits;
};

int evidence_create(struct evidence **out, const struct core_config *core, struct err *err)
{
	struct evidence *e = calloc(1, sizeof *e);
	if (!e)
		return err_set(err, ERR_NOMEM, "out of memory");
	e->data_bytes = core->l1d_size;
	e->code_bytes = core->l1i_size;
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++) {
		e->is |= event[i].is;
		e->did |= event[i].did;
	}
	*out = e;
	return 0;
}

void evidence_destroy(struct evidence *e)
{
	if (!e)
		return;
	while (e->threads) {
		struct evidence_thread *t = e->threads;
		e->threads = t->next;
		exact_destroy(t->exact);
		free(t);
	}
	while (e->cores) {
		struct core_caches *c = e->cores;
		e->cores = c->next;
		shadow_release(&c->data);
		shadow_release(&c->code);
		free(c);
	}
	free(e->line);
	free(e->site);
	free(e->alike);
	free(e->bucket);
	free(e);
}

struct core_wanted evidence_wanted(void)
{
	static const uint8_t signal[] = { SPMU_SIG_CYCLES, SPMU_SIG_CLEAR_MEMORY_ORDER, SPMU_SIG_CLEAR_SMC,
		SPMU_SIG_LCP_STALL };
	struct core_wanted w = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	for (size_t i = 0; i < sizeof signal; i++)
		w.signal[signal[i] >> 6] |= UINT64_C(1) << (signal[i] & 63);
	return w;
}

static struct core_caches *caches_of(struct evidence *e, uint64_t number)
{
	struct core_caches *c = e->cores;
	while (c && c->number != number)
		c = c->next;
	if (c || !(c = calloc(1, sizeof *c)))
		return c;
	c->number = number;
	c->next = e->cores;
	e->cores = c;		/* evidence_destroy releases it, complete or not */
	return shadow_init(&c->data, e->data_bytes) && shadow_init(&c->code, e->code_bytes) ? c : NULL;
}

int evidence_thread_start(struct evidence *e, struct evidence_thread **out, uint32_t pid, uint64_t core, bool shared,
	struct err *err)
{
	struct evidence_thread *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	*t = (struct evidence_thread){ .of = e, .core = caches_of(e, core),
		.exact = shared ? NULL : exact_create(0), .pid = pid, .number = e->thread_count++,
		.code_line = UINT64_MAX };
	if (!t->core || (!t->exact && !shared)) {
		exact_destroy(t->exact);
		free(t);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	t->next = e->threads;
	e->threads = t;
	*out = t;
	return 0;
}

static size_t place_of(const struct evidence *e, uint32_t pid, uint32_t thread, uint64_t ip)
{
	const uint64_t who = (uint64_t)pid << 32 | thread;
	size_t at = (size_t)((ip ^ who * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
		(e->buckets - 1);
	for (uint32_t k; (k = e->bucket[at]); at = (at + 1) & (e->buckets - 1))
		if (e->site[k - 1].ip == ip && e->site[k - 1].pid == pid && e->site[k - 1].thread == thread)
			break;
	return at;
}

static bool grow_sites(struct evidence *e)
{
	size_t room = e->room ? 2 * e->room : 1024;
	uint32_t *bucket = room < UINT32_MAX / 2 ? calloc(2 * room, sizeof *bucket) : NULL;
	struct evidence_site *site = bucket ? realloc(e->site, room * sizeof *site) : NULL;
	e->site = site ? site : e->site;
	struct alike (*alike)[ALIKE] = site ? realloc(e->alike, room * sizeof *alike) : NULL;
	if (!alike) {
		free(bucket);
		return false;
	}
	free(e->bucket);
	e->alike = alike;
	e->bucket = bucket;
	e->room = room;
	e->buckets = 2 * room;
	for (uint32_t i = 0; i < e->sites; i++)
		e->bucket[place_of(e, site[i].pid, site[i].thread, site[i].ip)] = i + 1;
	return true;
}

/* NULL: out of memory. */
static struct evidence_site *site_of(struct evidence_thread *t, uint64_t ip)
{
	struct evidence *e = t->of;
	if (t->last < e->sites && e->site[t->last].ip == ip && e->site[t->last].thread == t->number &&
		e->site[t->last].pid == t->pid)
		return &e->site[t->last];
	size_t at = e->buckets ? place_of(e, t->pid, t->number, ip) : 0;
	if (e->buckets && e->bucket[at])
		return &e->site[t->last = e->bucket[at] - 1];
	if (e->sites == e->room) {
		if (!grow_sites(e)) {
			e->failed = true;
			return NULL;
		}
		at = place_of(e, t->pid, t->number, ip);
	}
	e->site[e->sites] = (struct evidence_site){
		.ip = ip, .pid = t->pid, .thread = t->number, .shared = !t->exact, .low = UINT64_MAX
	};
	memset(e->alike[e->sites], 0, sizeof *e->alike);
	t->last = (uint32_t)e->sites;
	e->bucket[at] = (uint32_t)++e->sites;
	return &e->site[e->sites - 1];
}

/* NULL: out of memory, or EVIDENCE_LINES_MAX lines are there. */
static struct line *line_of(struct evidence *e, uint64_t number, uint32_t thread)
{
	if (2 * e->lines >= e->line_room && e->line_room < 2 * (size_t)EVIDENCE_LINES_MAX) {
		size_t room = e->line_room ? 2 * e->line_room : 4096;
		struct line *more = calloc(room, sizeof *more);
		if (!more) {
			e->failed = true;
			return NULL;
		}
		for (size_t i = 0; i < e->line_room; i++) {
			size_t to = (size_t)(e->line[i].key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
			while (e->line[i].key && more[to].key)
				to = (to + 1) & (room - 1);
			if (e->line[i].key)
				more[to] = e->line[i];
		}
		free(e->line);
		e->line = more;
		e->line_room = room;
	}
	const uint64_t key = number + 1;
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (e->line_room - 1);
	while (e->line[at].key && e->line[at].key != key)
		at = (at + 1) & (e->line_room - 1);
	if (!e->line[at].key) {
		if (e->lines == EVIDENCE_LINES_MAX)
			return NULL;
		e->lines++;
		e->line[at] = (struct line){ .key = key, .thread = thread };
	}
	return &e->line[at];
}

static void line_missed(struct line *l, uint32_t site)
{
	if (l->site == site) {
		l->votes += l->votes < 255;
	} else if (!l->votes) {
		l->site = site;
		l->votes = 1;
	} else {
		l->votes--;
	}
}

/* ---- records ---- */

static void step(struct evidence_site *s, uint64_t addr)
{
	if (s->low <= s->high) {
		const int64_t by = (int64_t)(addr - s->last);
		s->steps++;
		if (by == s->stride) {
			s->votes++;
			s->regular++;
		} else if (!s->votes) {
			s->stride = by;
			s->votes = s->regular = 1;
		} else {
			s->votes--;
		}
	}
	s->last = addr;
	s->low = addr < s->low ? addr : s->low;
	s->high = addr > s->high ? addr : s->high;
}

static bool accesses(const struct spmu_record *u)
{
	return u->addr && u->size && u->is & (SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR)) && !(u->is & SPMU_IS(PREFETCH_SW));
}

static void on_access(struct evidence_thread *t, struct evidence_site *s, const struct spmu_record *u)
{
	struct evidence *e = t->of;
	const bool load = u->is & SPMU_IS(LOAD),
		   missed = u->did & (load ? SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT) : SPMU_DID(STORE_L1D_MISS));
	const uint64_t number = u->addr >> LINE_LOG2;
	const unsigned from = (unsigned)(u->addr & (LINE_BYTES - 1)),
		       bytes = u->size < LINE_BYTES ? u->size : LINE_BYTES;
	step(s, u->addr);
	if (shadow_use(&t->core->data, number) && missed && load &&
		!(u->did & (SPMU_DID(LFB_HIT) | SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM))))
		s->conflict++;
	uint64_t mask = bytes == LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
	for (unsigned half = 0; half < 2; half++) {
		const uint64_t used = half ? (from ? mask >> (LINE_BYTES - from) : 0) : mask << from;
		struct line *l = used ? line_of(e, number + half, t->number) : NULL;
		if (!l)
			continue;
		*(l->thread == t->number ? &l->first : &l->others) |= used;
		if (half)
			continue;
		if (missed)
			line_missed(l, (uint32_t)(s - e->site) + 1);
		if (u->did & (load ? SPMU_DID(SNOOP_HITM) : SPMU_DID(STORE_HITM)) && !(l->first & l->others))
			s->apart++;
		s->beside += !load && l->others && (l->first || l->thread != t->number) && !(l->first & l->others);
	}
}

/* What a uop's times say. */
static void on_times(struct evidence_thread *t, struct evidence_site *s, const struct spmu_record *u, uint64_t base)
{
	const uint64_t memory = SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR) | SPMU_IS(STORE_DATA);
	if (u->is & SPMU_IS(INST_BEGIN))
		t->inside = true;
	else if (!t->inside && !(u->is & (SPMU_IS(FLAGS_MERGE) | SPMU_IS(VECTOR_BLEND))))
		s->merged++;
	if (u->is & SPMU_IS(INST_END))
		t->inside = false;
	s->slow += u->is & SPMU_IS(EXEC) && !(u->is & (memory | SPMU_IS(DIVIDE))) && u->complete > u->dispatch + 1;
	s->queued += u->is & SPMU_IS(EXEC) && u->dispatch > u->ready;
	if (u->is & SPMU_IS(LOAD)) {
		s->serial += s->complete && base + u->dispatch >= s->complete;
		s->complete = base + u->complete;
	}
	s->moved += u->is & SPMU_IS(STRING_REP) ? u->size : 0;
	if (u->is & SPMU_IS(CALL) && u->addr)
		s->target = u->addr;
}

/* Adds uops that are alike to the counts of their events. */
static void count_alike(struct evidence_site *s, struct alike *a)
{
	for (unsigned i = 0; a->times && i < EVIDENCE_COUNT; i++)
		if ((!event[i].is || a->is & event[i].is) && (!event[i].did || a->did & event[i].did))
			s->n[i] += a->times;
	a->times = 0;
}

static void count_events(struct evidence *e, struct evidence_site *s, const struct spmu_record *u)
{
	struct alike *a = e->alike[s - e->site];
	const uint64_t is = u->is & e->is, did = u->did & e->did;
	unsigned k = 0;
	while (k < ALIKE && a[k].times && (a[k].is != is || a[k].did != did))
		k++;
	if (k == ALIKE) {	/* the first one stays: it is what the instruction does usually */
		k = 1;
		for (unsigned i = 2; i < ALIKE; i++)
			k = a[i].times < a[k].times ? i : k;
		count_alike(s, &a[k]);
	}
	a[k] = (struct alike){ is, did, a[k].times + 1 };
}

static void on_uop(struct evidence_thread *t, const struct spmu_record *u, uint64_t base)
{
	const uint64_t code = u->ip >> LINE_LOG2;
	if (code != t->code_line) {
		t->code_line = code;
		t->code_there = shadow_use(&t->core->code, code);
	}
	const uint64_t ip = u->is & SPMU_IS(BRANCH) ? SPMU_BRANCH_IP(u) : u->ip;
	struct evidence_site *s = site_of(t, ip);
	if (!s)
		return;
	count_events(t->of, s, u);
	on_times(t, s, u, base);
	if (u->did & SPMU_DID(ICACHE_MISS) && t->code_there)
		s->code_conflict++;
	if (accesses(u))
		on_access(t, s, u);
}

/* The lead of a window fills the caches. */
static void fill(struct evidence_thread *t, const struct spmu_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *u = &b->records[i];
		if (u->kind != SPMU_REC_UOP || !(u->did & SPMU_DID(RETIRED)))
			continue;
		if (u->ip >> LINE_LOG2 != t->code_line) {
			t->code_line = u->ip >> LINE_LOG2;
			t->code_there = shadow_use(&t->core->code, t->code_line);
		}
		if (accesses(u))
			shadow_use(&t->core->data, u->addr >> LINE_LOG2);
	}
}

void evidence_thread_batch(struct evidence_thread *t, const struct spmu_batch *b)
{
	if (t->exact)
		exact_batch(t->exact, b);
	if (t->waits) {
		fill(t, b);
		return;
	}
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *u = &b->records[i];
		t->of->lcp += u->kind == SPMU_REC_SIGNAL && u->signal == SPMU_SIG_LCP_STALL;
		if (u->kind != SPMU_REC_UOP || !(u->did & SPMU_DID(RETIRED)))
			continue;
		on_uop(t, u, b->base_cycle);
		if (!t->exact && u->is & SPMU_IS(INST_END)) {
			struct evidence_site *s = site_of(t, u->ip);
			if (s)
				s->instructions++;
		}
	}
}

static int on_exact(void *context, const struct exact_entry *x)
{
	struct evidence_thread *t = context;
	struct evidence_site *s = site_of(t, x->ip);
	if (!s)
		return ERR_NOMEM;
	s->instructions += x->instructions;
	for (unsigned c = 0; c < EXACT_CAUSES; c++)
		s->part[c] += x->part[c];
	return 0;
}

void evidence_thread_sample(struct evidence_thread *t)
{
	t->sampled = t->waits = true;
}

/* What was charged before a window's measured part. */
static int forget(void *context, const struct exact_entry *x)
{
	(void)context, (void)x;
	return 0;
}

void evidence_thread_window(struct evidence_thread *t, const struct run_window *part)
{
	t->waits = !part->begins;
	if (part->leads) {
		shadow_clear(&t->core->data);
		shadow_clear(&t->core->code);
		t->code_line = UINT64_MAX;
		t->inside = false;
	} else if (t->exact && (exact_take(t->exact, part->begins ? forget : on_exact, t) || exact_failed(t->exact))) {
		t->of->failed = true;
	}
}

void evidence_thread_end(struct evidence_thread *t)
{
	if (t->exact && !t->ended && !t->sampled && (exact_take(t->exact, on_exact, t) || exact_failed(t->exact)))
		t->of->failed = true;
	exact_destroy(t->exact);
	t->exact = NULL;
	t->ended = true;
}

static int by_place(const void *a, const void *b)
{
	const struct evidence_site *p = a, *q = b;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->ip != q->ip)
		return p->ip < q->ip ? -1 : 1;
	return p->thread < q->thread ? -1 : p->thread > q->thread;
}

int evidence_finish(struct evidence *e, struct err *err)
{
	for (struct evidence_thread *t = e->threads; t; t = t->next)
		if (!t->ended)
			evidence_thread_end(t);
	for (size_t i = 0; i < e->sites; i++)
		for (unsigned k = 0; k < ALIKE; k++)
			count_alike(&e->site[i], &e->alike[i][k]);
	for (size_t i = 0; i < e->line_room; i++) {
		const struct line *l = &e->line[i];
		if (!l->key || !l->site)
			continue;
		e->site[l->site - 1].lines++;
		e->site[l->site - 1].bytes += (uint64_t)__builtin_popcountll(l->first | l->others);
	}
	if (e->sites)
		qsort(e->site, e->sites, sizeof *e->site, by_place);
	e->buckets = 0;		/* no site is looked up any more */
	return e->failed ? err_set(err, ERR_NOMEM, "out of memory: some of the evidence is missing") : 0;
}

uint64_t evidence_lcp(const struct evidence *e) { return e->lcp; }

const struct evidence_site *evidence_sites(const struct evidence *e, size_t *count)
{
	*count = e->sites;
	return e->site;
}
