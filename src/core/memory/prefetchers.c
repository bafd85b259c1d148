/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware prefetchers; see prefetchers.h. */
#include "core/memory/prefetchers.h"
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_LINES = 64, LINEAR_YOUNG = 3 };

void next_line_init(struct next_line *p)
{
	memset(p, 0xff, sizeof(*p));
	p->at = 0;
}

bool next_line_train(struct next_line *p, uint64_t addr, unsigned line_log2)
{
	for (unsigned i = 0; i < RECENT_LINES; i++) {
		if (p->recent[i] >> line_log2 != addr >> line_log2)
			continue;
		bool ascending = addr > p->recent[i];
		p->recent[i] = addr;
		return ascending && ((addr >> line_log2) + 1) << line_log2 & 4095;
	}
	p->recent[p->at++ % RECENT_LINES] = addr;
	return false;
}

int ip_stride_init(struct ip_stride *p, uint32_t entries, uint32_t max_stride, uint32_t distance, struct err *err)
{
	memset(p, 0, sizeof(*p));
	if (!entries || entries & (entries - 1))
		return err_set(err, ERR_INPUT, "prefetch.l1d_ip_entries: %u is not a power of two", entries);
	p->mask = entries - 1;
	p->max_stride = max_stride;
	p->distance = distance;
	p->entry = malloc(entries * sizeof(*p->entry));
	if (!p->entry)
		return err_set(err, ERR_NOMEM, "out of memory for the stride prefetcher");
	ip_stride_clear(p);
	return 0;
}

void ip_stride_release(struct ip_stride *p)
{
	free(p->entry);
	p->entry = NULL;
}

void ip_stride_clear(struct ip_stride *p)
{
	memset(p->entry, 0, (p->mask + 1) * sizeof(*p->entry));
}

unsigned ip_stride_train(struct ip_stride *p, uint64_t ip, uint64_t addr, uint64_t *target, int64_t *step)
{
	struct ip_entry *e = &p->entry[(ip ^ ip >> 8) & p->mask];
	if (e->ip != (uint32_t)ip) {
		*e = (struct ip_entry){ .ip = (uint32_t)ip, .addr = addr };
		return 0;
	}
	/* Only the first access to a line comes here, so strides below a line look like strides of one line. */
	int64_t stride = (int64_t)(addr - e->addr), lines = (int64_t)(addr >> 6) - (int64_t)(e->addr >> 6);
	if (!lines)
		return 0;
	bool same = stride == e->stride, same_lines = lines == e->lines;
	if (!same || (!p->pages && (addr ^ e->addr) >> 12))
		e->ahead = 0;
	e->addr = addr;
	e->stride = stride;
	e->lines = lines;
	if (!same && !same_lines) {
		e->confidence = 1;
		return 0;
	}
	if (e->confidence < PREFETCH_CONFIDENT)
		e->confidence++;
	*step = same ? stride : lines * 64;
	if (e->confidence < PREFETCH_CONFIDENT || *step > (int64_t)p->max_stride || -*step > (int64_t)p->max_stride)
		return 0;
	/* This access is one stride further, so the requested addresses are one stride less ahead. */
	unsigned n = 0, first = e->ahead ? e->ahead : 1;
	uint64_t to = addr + (uint64_t)*step * first;
	for (*target = to; first + n <= p->distance && (p->pages || to >> 12 == addr >> 12) && to >> 6 != addr >> 6;
		to += (uint64_t)*step)
		n++;
	e->ahead = first + n - 1;
	return n;
}

void linear_init(struct linear *l, uint32_t count, uint32_t start, uint32_t distance, uint32_t degree)
{
	*l = (struct linear){ .count = count < LINEAR_MAX ? count : LINEAR_MAX, .start = start,
		.distance = distance, .degree = degree };
}

/* Does the line belong to the stream? */
static bool linear_belongs(const struct linear_stream *s, uint64_t vline)
{
	const int64_t by = (int64_t)(vline - s->last);
	return s->run && by >= -LINEAR_APART && by <= LINEAR_APART;
}

/* Takes the line into the stream.  Returns by how many lines it got further: 0 if the line is one that it passed. */
static uint32_t linear_take(struct linear_stream *s, uint64_t vline)
{
	const int64_t by = (int64_t)(vline - s->last), from_first = (int64_t)(vline - s->first);
	if (s->run == 1 || (s->run <= LINEAR_YOUNG && from_first * s->direction < 0)) {
		if (s->run > 1)		/* it turns */
			s->first = s->last;
		s->direction = by > 0 ? 1 : -1;
		s->holes = 0;
	} else if (by * s->direction < 0) {
		if (s->holes) {		/* else the line is not new */
			s->holes--;
			s->run++;
		}
		return 0;
	}
	const uint32_t further = (uint32_t)(by * s->direction);
	s->holes += further - 1;
	s->run += s->run < INT32_MAX;
	s->last = vline;
	return further;
}

unsigned linear_train(struct linear *l, uint64_t vline, uint64_t *next, int64_t *step)
{
	struct linear_stream *s = NULL, *oldest = l->stream;
	for (uint32_t i = 0; i < l->count && !s; i++) {
		struct linear_stream *e = &l->stream[i];
		if (linear_belongs(e, vline))
			s = e;
		else if (e->stamp < oldest->stamp)
			oldest = e;
	}
	if (!s) {
		*oldest = (struct linear_stream){ .last = vline, .first = vline, .stamp = ++l->clock, .run = 1 };
		return 0;
	}
	s->stamp = ++l->clock;
	l->current = (uint32_t)(s - l->stream);
	if (vline == s->last)
		return 0;
	const uint32_t further = linear_take(s, vline);
	s->ahead -= further < s->ahead ? further : s->ahead;
	if (s->holes > LINEAR_APART) {		/* these are not all of the lines */
		*s = (struct linear_stream){ .last = vline, .first = vline, .stamp = s->stamp, .run = 1 };
		return 0;
	}
	if (s->run <= l->start || 2 * s->holes >= s->run)
		return 0;
	const uint32_t room = l->distance > s->ahead ? l->distance - s->ahead : 0,
		       n = room < l->degree ? room : l->degree;
	*step = s->direction;
	*next = s->last + (uint64_t)(s->direction * (s->ahead + 1));
	s->ahead += n;
	return n;
}

void linear_refused(struct linear *l, unsigned n)
{
	l->stream[l->current].ahead -= n;
}

void streamer_init(struct streamer *s, uint32_t streams, uint32_t degree, uint32_t distance)
{
	memset(s, 0, sizeof(*s));
	s->count = streams < STREAMS_MAX ? streams : STREAMS_MAX;
	s->degree = degree < STREAM_OUT_MAX ? degree : STREAM_OUT_MAX;
	s->distance = distance;
	memset(s->page, 0xff, sizeof(s->page));
	for (unsigned i = 0; i < s->count; i++) {
		s->next[i] = (uint8_t)(i + 1);
		s->previous[i] = (uint8_t)(i - 1);
	}
	s->newest = (uint8_t)(s->count - 1);
}

/* The stream becomes the newest. */
static inline void stream_asked(struct streamer *s, unsigned i)
{
	if (i == s->newest)
		return;
	if (i == s->oldest)
		s->oldest = s->next[i];
	else
		s->next[s->previous[i]] = s->next[i];
	s->previous[s->next[i]] = s->previous[i];
	s->previous[i] = s->newest;
	s->next[s->newest] = (uint8_t)i;
	s->newest = (uint8_t)i;
}

/* Returns the page's stream, or NULL.  No two streams have the same page. */
static struct stream_entry *stream_of(struct streamer *s, uint32_t page)
{
	const __m128i want = _mm_set1_epi32((int)page);
	for (unsigned i = 0; i < s->count; i += 4) {
		__m128i same = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)&s->page[i]), want);
		int mask = _mm_movemask_ps(_mm_castsi128_ps(same));
		if (mask)
			return &s->stream[i + (unsigned)__builtin_ctz((unsigned)mask)];
	}
	return NULL;
}

/* Trains a stream with a line of its page: the two lines directly below it, or the two directly above it, must have
 * been requested before, in any order.  Returns as streamer_train. */
static unsigned stream_any_order(const struct streamer *s, struct stream_entry *e, uint32_t line,
	uint32_t out[STREAM_OUT_MAX])
{
	const uint32_t page = line / PAGE_LINES, at = line % PAGE_LINES;
	const uint64_t bit = UINT64_C(1) << at, below = bit >> 1 | bit >> 2, above = bit << 1 | bit << 2;
	e->asked |= bit;
	e->last = line;
	const bool up = at >= 2 && (e->asked & below) == below;
	const bool down = at < PAGE_LINES - 2 && (e->asked & above) == above;
	unsigned n = 0;
	for (int32_t direction = 1; direction >= -1 && !n; direction -= 2) {
		if (!(direction > 0 ? up : down))
			continue;
		if (direction != e->direction || (int32_t)(e->next - line) * direction <= 0)
			e->next = line + (uint32_t)direction;
		e->direction = direction;
		for (; n < STREAM_OUT_MAX && e->next / PAGE_LINES == page &&
			(int32_t)(e->next - line) * direction <= (int32_t)s->distance; e->next += (uint32_t)direction)
			if (!(e->asked >> e->next % PAGE_LINES & 1))
				out[n++] = e->next;
	}
	return n;
}

unsigned streamer_train(struct streamer *s, uint32_t line, uint32_t out[STREAM_OUT_MAX])
{
	uint32_t page = line / PAGE_LINES;
	struct stream_entry *e = stream_of(s, page);
	if (!e) {
		const unsigned oldest = s->oldest;
		stream_asked(s, oldest);
		s->page[oldest] = page;
		s->stream[oldest] = (struct stream_entry){ .asked = UINT64_C(1) << line % PAGE_LINES, .last = line };
		return 0;
	}
	stream_asked(s, (unsigned)(e - s->stream));
	s->current = (uint32_t)(e - s->stream);
	if (line == e->last)
		return 0;
	if (s->any_order)
		return stream_any_order(s, e, line, out);
	int32_t direction = line > e->last ? 1 : -1;
	uint32_t apart = line > e->last ? line - e->last : e->last - line;
	e->last = line;
	if (direction != e->direction || (s->window && apart > s->window)) {
		e->direction = direction;
		e->confidence = 1;
		e->next = line + (uint32_t)direction;
		return 0;
	}
	if (e->confidence < PREFETCH_CONFIDENT)
		e->confidence++;
	if (e->confidence < PREFETCH_CONFIDENT)
		return 0;
	if ((int32_t)(e->next - line) * direction <= 0)	/* the program overtook the stream */
		e->next = line + (uint32_t)direction;
	unsigned n = 0;
	while (n < STREAM_OUT_MAX && e->next / PAGE_LINES == page &&
		(int32_t)(e->next - line) * direction <= (int32_t)s->distance) {
		out[n++] = e->next;
		e->next += (uint32_t)direction;
	}
	return n;
}

void streamer_refused(struct streamer *s, uint32_t line)
{
	s->stream[s->current].next = line;
}
