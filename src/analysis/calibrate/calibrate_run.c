/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs the microbenchmarks: their buffers, and the clock.  calibrate.h says what is measured. */
#include "analysis/calibrate/calibrate_code.h"
#include <cpuid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KB << 10
#define MB << 20
static const struct family {
	const char *name, *text;
	uint32_t far;
	uint32_t param[CAL_PARAMS];
	unsigned params;
	const char *unit;
} family[] = {
#define CAL_FAMILY(id, unit, far, what, ...) \
	{ #id, what, far, { __VA_ARGS__ }, sizeof(uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), unit },
#include "analysis/calibrate/calibrate_probes.def"
};
#undef KB
#undef MB

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, BUFFER = 256 << 20, HUGE_BUFFER = 128 << 20 };
enum { REPEATS = 4, SAMPLE_NS = 250000, CLOCK_ROUNDS = 800 };

struct cal_runner {
	uint8_t *code;
	char *small, *huge;		/* buffers of 4 KB and of 2 MB pages */
	struct cal_shape shape;
	struct cal_probe linked;	/* whose rings are in the buffer */
	bool is_linked;
	char *start, *at;		/* places of the ring */
	char state[64];			/* for two rings: where the last run stopped */
};


const char *cal_family_text(enum cal_family f)
{
	return family[f].text;
}

bool cal_is_long(const struct cal_probe *p)
{
	return family[p->family].far && p->param >= family[p->family].far;
}

bool cal_is_shared(const struct cal_probe *p)
{
	return (p->family == CAL_CHASE || p->family == CAL_STRIDE || p->family == CAL_HUGE) && p->param >= 2 << 20;
}

bool cal_is_near(const struct cal_probe *p)
{
	return p->family < CAL_WINDOW && (strcmp(family[p->family].unit, "bytes") || p->param <= 8 << 20) &&
		!cal_is_long(p);
}

static void name_of(struct cal_probe *p)
{
	char low[16];
	size_t n = 0;
	for (const char *s = family[p->family].name; *s && n + 1 < sizeof low; s++)
		low[n++] = (char)(*s >= 'A' && *s <= 'Z' ? *s + 32 : *s);
	low[n] = 0;
	uint32_t v = p->param;
	bool bytes = !strcmp(family[p->family].unit, "bytes");
	if (!v)
		snprintf(p->name, sizeof p->name, "%s", low);
	else if (bytes && !(v & ((1u << 20) - 1)))
		snprintf(p->name, sizeof p->name, "%s.%uM", low, v >> 20);
	else if (bytes)
		snprintf(p->name, sizeof p->name, "%s.%uK", low, v >> 10);
	else
		snprintf(p->name, sizeof p->name, "%s.%u", low, v);
}

size_t cal_probes(struct cal_probe **out)
{
	size_t n = 0, at = 0;
	for (unsigned f = 0; f < CAL_FAMILIES; f++)
		n += family[f].params;
	*out = calloc(n, sizeof **out);
	if (!*out)
		return 0;
	for (unsigned f = 0; f < CAL_FAMILIES; f++)
		for (unsigned i = 0; i < family[f].params; i++) {
			struct cal_probe *p = *out + at++;
			p->family = (enum cal_family)f;
			p->param = family[f].param[i];
			name_of(p);
		}
	return n;
}

size_t cal_find(const struct cal_probe *p, size_t count, const char *name)
{
	size_t i = 0;
	while (i < count && strcmp(p[i].name, name))
		i++;
	return i;
}

size_t cal_first(const struct cal_probe *p, size_t count, enum cal_family f, size_t *params)
{
	size_t i = 0;
	while (i < count && p[i].family != f)
		i++;
	for (*params = 0; i + *params < count && p[i + *params].family == f; ++*params)
		;
	return i;
}

/* --- buffers --- */
static char *map(size_t bytes, bool huge)
{
	size_t more = huge ? HUGE_PAGE : 0;
	char *m = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED)
		return NULL;
	if (huge)	/* never unmapped in part: lives until the process ends */
		m = (char *)(((uintptr_t)m + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	madvise(m, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return m;
}

int cal_runner_create(struct cal_runner **out, struct err *err)
{
	struct cal_runner *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	r->code = mmap(NULL, CAL_CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->code == MAP_FAILED)
		r->code = NULL;
	r->small = map(BUFFER, false);
	r->huge = map(HUGE_BUFFER, true);
	if (!r->code || !r->small || !r->huge) {
		cal_runner_destroy(r);
		return err_system(err, "no memory for the microbenchmarks");
	}
	*out = r;
	return 0;
}

void cal_runner_destroy(struct cal_runner *r)
{
	if (!r)
		return;
	if (r->code)
		munmap(r->code, CAL_CODE_BYTES);
	if (r->small)
		munmap(r->small, BUFFER);
	if (r->huge)
		munmap(r->huge, HUGE_BUFFER);
	free(r);
}

/* A permutation of 0 to 2^bits - 1 that looks random, made of shifts and odd factors, which can each be undone. */
static uint64_t scramble(uint64_t i, unsigned bits)
{
	uint64_t mask = (1ull << bits) - 1;
	i ^= i >> (bits / 2 + 1);
	i = i * 0x9e3779b97f4a7c15ull & mask;
	i ^= i >> (bits / 2 + 1);
	i = i * 0xbf58476d1ce4e5b9ull & mask;
	return i ^ i >> (bits / 2 + 1);
}

/* Links places 0 to n-1 into a ring in an order that looks random (of CAL_RING_STRIDE, in ascending order):
 * each place holds the address of the next.  Returns the first. */
static char *link_ring(char *memory, uint64_t n, enum cal_memory kind)
{
	unsigned bits = 2;
	char *first = NULL, *from = NULL;
	while (1ull << bits < n)
		bits++;
	for (uint64_t i = 0; i < 1ull << bits; i++) {
		uint64_t at = kind == CAL_RING_STRIDE ? i : scramble(i, bits);
		if (at >= n)
			continue;
		/* CAL_RING_PAGES: the line's offset moves on from page to page, so that the pages spread over
		 * L1's sets */
		char *to = memory +
			(kind == CAL_RING_PAGES ? at * PAGE + (at * 7 + at / 64) % 64 * LINE
						: at * (kind == CAL_RING_STRIDE ? 256 : LINE));
		if (from)
			memcpy(from, &to, sizeof to);
		else
			first = to;
		from = to;
	}
	memcpy(from, &first, sizeof first);
	return first;
}

/* Number of places of a ring; of other memory, number of its lines. */
static uint64_t places_of(const struct cal_shape *s)
{
	return s->memory == CAL_RING_PAGES ? s->bytes : s->bytes / (s->memory == CAL_RING_STRIDE ? 256 : LINE);
}

int cal_prepare(struct cal_runner *r, const struct cal_probe *p, struct err *err)
{
	cal_make(r->code, p, &r->shape);
	__builtin___clear_cache((char *)r->code, (char *)r->code + CAL_CODE_BYTES);
	const struct cal_shape *s = &r->shape;
	char *memory = s->huge ? r->huge : r->small;
	uint64_t bytes = s->memory == CAL_RING_PAGES ? s->bytes * PAGE : s->bytes;
	if (bytes > (s->huge ? HUGE_BUFFER : BUFFER))
		return err_set(err, ERR_INPUT, "%s: the buffer is too small", p->name);
	r->start = memory;
	if (s->memory == CAL_NO_MEMORY)
		return 0;
	if (s->memory == CAL_LINES) {
		/* gives each page a frame of its own, not the zero page */
		for (uint64_t at = 0; at < bytes; at += PAGE)
			memory[at] = 1;
		r->is_linked = false;
	} else if (s->memory == CAL_TWO_RINGS) {
		/* the families of windows share two rings; each goes on where the one before stopped */
		if (!r->is_linked || r->linked.family < CAL_WINDOW) {
			char *one = link_ring(memory, bytes / 2 / LINE, CAL_RING),
			     *two = link_ring(memory + bytes / 2, bytes / 2 / LINE, CAL_RING);
			memcpy(r->state, &one, sizeof one);
			memcpy(r->state + 8, &two, sizeof two);
		}
		r->linked = *p;
		r->is_linked = true;
		r->start = r->state;
	} else {
		r->start = link_ring(memory, places_of(s), s->memory);
		r->is_linked = false;
	}
	r->at = r->start;
	return 0;
}

static bool is_ring(const struct cal_shape *s)
{
	return s->memory == CAL_RING || s->memory == CAL_RING_STRIDE || s->memory == CAL_RING_PAGES;
}


void cal_run(struct cal_runner *r, uint64_t rounds)
{
	const struct cal_shape *s = &r->shape;
	const bool ring = is_ring(s);
	void *(*run)(uint64_t, void *, uint64_t);
	void *code = r->code;
	memcpy(&run, &code, sizeof run);
	char *end = run(rounds, ring ? r->at : r->start, s->argument);
	if (ring)
		r->at = end;	/* a chase goes on where it stopped */
}

static void model_rounds(const struct cal_shape *s, uint64_t ahead, uint64_t *warm, uint64_t *counted)
{
	const uint64_t places = places_of(s);
	*warm = 4000 / s->ops + 2;
	*counted = 12000 / s->ops + 2;
	switch (s->memory) {
	case CAL_RING: case CAL_RING_STRIDE: case CAL_RING_PAGES:	/* the linking was a lap already */
		/* Natively a sample begins some 0.5 ms after the linking: laps of what L2 holds, a part of a
		 * lap beyond that.  Where other programs push lines out of the L3 (l3.others), the share that is
		 * gone depends on that time.  So the model must wait alike: as many laps or as large a part of
		 * one, and PAUSEs before it (cal_model_age). */
		if (places < 16384)
			*warm = 2 * places;
		else if (places >= 32768 && ahead >= places)
			*warm = ahead;
		else
			*warm = places < 65536 && !ahead ? 32768 : 4096;
		*warm = *warm / s->ops + 2;
		*counted = (places < 8192 ? 8192 : places < 65536 ? 16384 : 4096) / s->ops;
		break;
	case CAL_TWO_RINGS:
		*warm = 60;
		*counted = 250;
		break;
	case CAL_LINES:
		if (s->bytes > 16384) {
			/* A run begins at the buffer's start, where the families before it have been.  So it
			 * warms up with a lap or two of the whole buffer. */
			*warm = (s->bytes <= 8 << 20 ? 2 : 1) * places / s->ops;
			*counted = 16384 / s->ops;
		}
		break;
	default:
		break;
	}
}

void cal_idle(uint64_t pauses)
{
	while (pauses--)
		__asm__ volatile("pause");
}

void cal_model_rounds(const struct cal_runner *r, uint64_t ahead, uint64_t *warm, uint64_t *counted)
{
	model_rounds(&r->shape, ahead, warm, counted);
}

/* false: out of memory. */
static bool shape_of(const struct cal_probe *p, struct cal_shape *s)
{
	uint8_t *code = malloc(CAL_CODE_BYTES);
	if (code)
		cal_make(code, p, s);
	free(code);
	return code != NULL;
}

uint64_t cal_model_ops(const struct cal_probe *p)
{
	struct cal_shape s;
	uint64_t warm, counted;
	if (!shape_of(p, &s))
		return 0;
	model_rounds(&s, 0, &warm, &counted);
	return counted * s.ops;
}



/* --- natively --- */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double timed(struct cal_runner *r, uint64_t rounds)
{
	double start = now();
	cal_run(r, rounds);
	return now() - start;
}

/* ns of a round of the chain of additions, which has its own runner. */
static double clock_ns(struct cal_runner *clock)
{
	double one = timed(clock, CLOCK_ROUNDS), two = timed(clock, CLOCK_ROUNDS);
	return (one < two ? one : two) / CLOCK_ROUNDS;
}

/* Rounds of a sample: as many as take SAMPLE_NS, but at least a lap of the buffer where the caches would
 * otherwise hold a part of it.  *run: the rounds that were run to find this out. */
static uint64_t sample_rounds(struct cal_runner *r, uint64_t *run)
{
	const struct cal_shape *s = &r->shape;
	uint64_t rounds = 1;
	while (timed(r, rounds) < SAMPLE_NS && rounds < 1ull << 30)
		rounds *= 2;
	*run = 2 * rounds - 1;
	if (s->memory == CAL_LINES && s->argument && s->bytes / LINE / s->ops > rounds)
		rounds = s->bytes / LINE / s->ops;
	return rounds;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median of the groups and what encloses it.  Confidence: 1 - 2 P(CAL_GROUPS fair coins all show heads). */
static void summarize(double v[CAL_GROUPS], struct cal_value *out, double *confidence)
{
	qsort(v, CAL_GROUPS, sizeof *v, by_value);
	out->cycles = v[CAL_GROUPS / 2];
	out->low = v[0];
	out->high = v[CAL_GROUPS - 1];
	*confidence = 1 - ldexp(2, -CAL_GROUPS);
}

/* How long ago, in ns, the places that a sample met were last used: by the linking, or by the lap before.  The
 * sample began at place `at`, `start` ns after the linking began; the linking took `linked` ns. */
static double age_of(const struct cal_shape *s, double linked, double start, double took, double at, double met)
{
	const double places = (double)places_of(s), middle = at + met / 2;
	return middle < places ? start + took / 2 - linked * middle / places : took * places / met;
}

double cal_places(const struct cal_probe *p)
{
	struct cal_shape s;
	return shape_of(p, &s) && is_ring(&s) ? (double)places_of(&s) : 0;
}

double cal_model_age(const struct cal_probe *p, uint64_t ahead, double place, double waited, double access)
{
	struct cal_shape s;
	uint64_t warm, counted;
	if (!ahead || !shape_of(p, &s) || !is_ring(&s))
		return -1;
	model_rounds(&s, ahead, &warm, &counted);
	const double at = (double)(warm * s.ops), met = (double)(counted * s.ops), places = (double)places_of(&s),
		     linked = place * places;
	if (at + met / 2 >= places)
		return -1;
	return age_of(&s, linked, linked + (waited < 0 ? at * access : waited), met * access, at, met);
}

/* What a group found of a microbenchmark: its least value so far; of a shared one, every sample. */
struct found { double cycles, age, ahead; };
struct group { unsigned found; struct found in[CAL_ROUNDS * CAL_TURNS]; };

/* How often a shared chain is linked.  After a buffer that L3 does not hold, L3 does not keep the chain's lines
 * either, until some were used again: on an EPYC 9005, accesses of chains of 3 and 8 MB after 64 MB take 80 to
 * 200 cycles if the chain is linked once or twice, and 58 to 61 if it is linked three or sixteen times.  Once
 * where L3 will hardly hold it. */
static unsigned linkings(const struct cal_shape *s)
{
	const double bytes = (double)places_of(s) * LINE, enough = 24 << 20;
	return bytes > 32 << 20 ? 1 : (unsigned)fmin(fmax(3, ceil(enough / bytes)), 16);
}

/* Measures one microbenchmark of a pass.  fastest: ns of the pass's shortest round of additions; ghz: the
 * group's highest frequency. */
static int measure(struct cal_runner *r, struct cal_runner *clock, const struct cal_probe *p, struct group *g,
	double *fastest, double *ghz, struct err *err)
{
	const bool shared = cal_is_shared(p);
	double begin = now();
	int code = cal_prepare(r, p, err);
	for (unsigned k = shared ? linkings(&r->shape) : 1; k > 1 && !code; k--) {
		begin = now();
		code = cal_prepare(r, p, err);
	}
	if (code)
		return code;
	const double linked = now() - begin;
	uint64_t run, rounds = sample_rounds(r, &run);
	double least = 1e300, round = clock_ns(clock), age = 0, ahead = 0;
	for (unsigned k = 0; k < (shared ? 1 : REPEATS); k++, run += rounds) {
		double start = now() - begin, took = timed(r, rounds), after = clock_ns(clock);
		if (took < least) {
			least = took;
			ahead = (double)run * r->shape.ops;
			age = age_of(&r->shape, linked, start, took, ahead, (double)rounds * r->shape.ops);
		}
		round = after < round ? after : round;
	}
	/* The additions may have been disturbed at each repeat: the fastest of the pass counts, unless the
	 * frequency changed. */
	if (round > *fastest && round < *fastest * 1.02)
		round = *fastest;
	*fastest = round;
	double c = least / (double)rounds / r->shape.ops * 128 / round;
	const struct found f = is_ring(&r->shape) ? (struct found){ c, age / 1e6, ahead } : (struct found){ c, 0, 0 };
	if (shared)
		g->in[g->found++] = f;
	else if (!g->found || c < g->in[0].cycles)
		g->in[0] = f, g->found = 1;
	if (128 / round > *ghz)
		*ghz = 128 / round;
	return 0;
}

/* One pass over all microbenchmarks; the shared ones take CAL_TURNS turns. */
static int pass(struct cal_runner *r, struct cal_runner *clock, const struct cal_probe *p, size_t count,
	const bool *wanted, struct group (*group)[CAL_GROUPS], unsigned at, double *ghz, struct err *err)
{
	double fastest = 1e300;
	int code = 0;
	for (unsigned turn = 0; turn <= CAL_TURNS; turn++)
		for (size_t i = 0; i < count && !code; i++)
			if ((!wanted || wanted[i]) && cal_is_shared(p + i) == (turn > 0))
				code = measure(r, clock, p + i, &group[i][at], &fastest, ghz + at, err);
	return code;
}

/* The medians of a group's samples. */
static struct found middle_of(const struct group *g)
{
	double v[CAL_ROUNDS * CAL_TURNS], middle[3];
	for (unsigned part = 0; part < 3; part++) {
		for (unsigned i = 0; i < g->found; i++)
			v[i] = part == 0 ? g->in[i].cycles : part == 1 ? g->in[i].age : g->in[i].ahead;
		qsort(v, g->found, sizeof *v, by_value);
		middle[part] = g->found ? v[g->found / 2] : 0;
	}
	return (struct found){ middle[0], middle[1], middle[2] };
}

int cal_measure(struct cal_native *out, const struct cal_probe *p, size_t count, unsigned rounds, const bool *wanted,
	int (*tick)(void *context, double done), void *context, struct err *err)
{
	struct cal_runner *r = NULL, *clock = NULL;
	struct cal_probe add = { .family = CAL_ADD };
	struct group (*group)[CAL_GROUPS] = calloc(count, sizeof *group);
	double ghz[CAL_GROUPS] = { 0 };
	int code = 0;
	*out = (struct cal_native){ .rounds = rounds, .value = calloc(count, sizeof *out->value) };
	if (!out->value || !group || rounds < 1 || rounds > CAL_ROUNDS)
		code = err_set(err, group && out->value ? ERR_INPUT : ERR_NOMEM, "microbenchmarks: %u rounds", rounds);
	else if (!(code = cal_runner_create(&r, err)) && !(code = cal_runner_create(&clock, err)))
		code = cal_prepare(clock, &add, err);
	for (unsigned n = 0; n < rounds * CAL_GROUPS && !code; n++) {
		code = pass(r, clock, p, count, wanted, group, n % CAL_GROUPS, ghz, err);
		if (!code && tick && tick(context, (n + 1.) / (rounds * CAL_GROUPS)))
			code = err_set(err, ERR_SYSTEM, "interrupted");
	}
	for (size_t i = 0; i < count && !code; i++) {
		out->value[i].cycles = -1;
		if (wanted && !wanted[i])
			continue;
		double cycles[CAL_GROUPS], age[CAL_GROUPS], ahead[CAL_GROUPS];
		struct cal_value ages, aheads;
		for (unsigned k = 0; k < CAL_GROUPS; k++) {
			const struct found f = middle_of(&group[i][k]);
			cycles[k] = f.cycles;
			age[k] = f.age;
			ahead[k] = f.ahead;
		}
		summarize(ahead, &aheads, &out->confidence);
		summarize(age, &ages, &out->confidence);
		summarize(cycles, out->value + i, &out->confidence);
		out->value[i].age_ms = ages.cycles;
		out->value[i].ahead = aheads.cycles;
	}
	if (!code) {
		struct cal_value g;
		summarize(ghz, &g, &out->confidence);
		out->ghz = g.high;	/* again, the shortest time counts */
		out->ghz_low = g.low;
		out->ghz_high = g.high;
	}
	free(group);
	cal_runner_destroy(r);
	cal_runner_destroy(clock);
	return code;
}

void cal_native_release(struct cal_native *n)
{
	free(n->value);
	n->value = NULL;
}
