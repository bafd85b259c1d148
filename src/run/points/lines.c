/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lists of touched lines (lines.h).
 */
#include "run/points/lines.h"
#include "stream/format.h"
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 10, GROUP_LEAST = 256, GROUPS = 80 };

struct packer {
	uint64_t *room;
	size_t bytes, most;	/* of the record, with its header */
	uint64_t last[2];
	void (*put)(void *context, const uint64_t *record, size_t words);
	void *context;
};

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static size_t number(uint8_t *to, uint64_t value)
{
	size_t n = 0;
	for (; value > 127; value >>= 7)
		to[n++] = (uint8_t)(value | 128);
	to[n++] = (uint8_t)value;
	return n;
}

static void flush(struct packer *p)
{
	const size_t words = (p->bytes + 7) / 8;
	if (p->bytes > 8) {
		memset((uint8_t *)p->room + p->bytes, 0, words * 8 - p->bytes);
		p->room[0] = ST_HEADER(ST_LINES, words * 8);
		p->put(p->context, p->room, words);
	}
	p->bytes = 8;
	p->last[0] = p->last[1] = 0;
}

static void pack_some(struct packer *p, const uint64_t *line, size_t n, bool code, bool exact, size_t count)
{
	uint8_t *const to = (uint8_t *)p->room;
	p->bytes += number(to + p->bytes, (uint64_t)count << 2 | (exact ? 2 : 0) | code);
	for (size_t i = 0; i < n && count; i++) {
		if ((line[i] & ST_TOUCH_CODE) != code)
			continue;
		const uint64_t addr = line[i] >> ST_TOUCH_BITS, step = addr - p->last[code],
			       zigzag = step << 1 ^ (uint64_t)((int64_t)step >> 63);
		p->bytes += number(to + p->bytes, zigzag << 1 | (line[i] & ST_TOUCH_WRITTEN ? 1 : 0));
		p->last[code] = addr;
		count--;
	}
}

/* The lines of one group that are code, or data. */
static void pack_kind(struct packer *p, const uint64_t *line, size_t n, bool code, bool exact)
{
	size_t left = 0, at = 0;
	for (size_t i = 0; i < n; i++)
		left += (line[i] & ST_TOUCH_CODE) == code;
	while (left) {
		const size_t fit = (p->most - p->bytes) / NUMBER_MOST;
		if (fit < 2) {
			flush(p);
			continue;
		}
		const size_t count = left < fit - 1 ? left : fit - 1;
		pack_some(p, line + at, n - at, code, exact, count);
		for (size_t i = 0; i < count; at++)
			i += (line[at] & ST_TOUCH_CODE) == code;
		left -= count;
	}
}

void lines_pack(uint64_t *line, size_t count, uint64_t *room, size_t most,
	void (*put)(void *context, const uint64_t *record, size_t words), void *context)
{
	struct packer p = { .room = room, .bytes = 8, .most = most * 8, .put = put, .context = context };
	size_t first[GROUPS], groups = 0, end = count > LINES_EXACT ? count - LINES_EXACT : 0;
	first[groups++] = end;
	while (end) {
		size_t n = (count - end) / 2;
		n = n < GROUP_LEAST ? GROUP_LEAST : n;
		end = n < end && groups < GROUPS - 1 ? end - n : 0;
		first[groups++] = end;
	}
	for (size_t g = groups; g-- > 0;) {
		uint64_t *const group = line + first[g];
		const size_t n = (g ? first[g - 1] : count) - first[g];
		if (g)
			qsort(group, n, sizeof *group, ascending);
		pack_kind(&p, group, n, false, !g);
		pack_kind(&p, group, n, true, !g);
	}
	flush(&p);
}

struct lines_reader lines_read(const uint64_t *word, size_t words)
{
	return (struct lines_reader){ .at = (const uint8_t *)word, .end = (const uint8_t *)(word + words) };
}

static bool read_number(struct lines_reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
		const uint8_t byte = *r->at++;
		*value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

bool lines_next(struct lines_reader *r, uint64_t *line)
{
	uint64_t v;
	while (!r->left) {
		if (r->at == r->end)
			return false;
		if (!read_number(r, &v)) {
			r->damaged = true;
			return false;
		}
		r->left = v >> 2;
		r->exact = v & 2;
		r->code = v & 1;
		if (!r->left)
			return false;
	}
	r->damaged = !read_number(r, &v);
	r->left--;
	const uint64_t zigzag = v >> 1;
	r->last[r->code] += zigzag >> 1 ^ -(zigzag & 1);
	*line = r->last[r->code] << ST_TOUCH_BITS | (r->code ? ST_TOUCH_CODE : 0) | (v & 1 ? ST_TOUCH_WRITTEN : 0);
	return !r->damaged;
}
