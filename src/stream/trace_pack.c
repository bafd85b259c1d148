/* SPDX-License-Identifier: GPL-2.0-or-later
 * Predicts the words of a stream (trace_pack.h).
 */
#include "stream/trace_pack.h"
#include "stream/format.h"
#include <stdlib.h>
#include <string.h>

enum { PATH_LOG = 18, PLACE_LOG = 16, STEP_LOG = 16 };
enum code {
	BY_PATH, BY_STRIDE, BY_STEPS, BY_NEIGHBOUR,
	BY_LITERAL,			/* + bytes of the difference, 1 to 8 */
	CODES = BY_LITERAL + 9
};

struct place {			/* what was learnt of one place: a distance behind one block header */
	uint64_t last;
	int64_t step, step_before;
	int64_t distance;	/* from the word before it in the stream */
};

struct trace_pack {
	uint64_t path[1 << PATH_LOG];
	struct place place[1 << PLACE_LOG];
	int64_t step[1 << STEP_LOG];
	uint64_t blocks[3];	/* the last three headers, newest first */
};

struct trace_pack *trace_pack_create(void)
{
	return calloc(1, sizeof(struct trace_pack));
}

void trace_pack_destroy(struct trace_pack *p)
{
	free(p);
}

void trace_pack_forget(struct trace_pack *p)
{
	memset(p, 0, sizeof *p);
}

static inline uint64_t mix(uint64_t a)
{
	return a * UINT64_C(0x9e3779b97f4a7c15);	/* 2^64 / golden ratio */
}

static inline bool is_header(uint64_t word)
{
	return word >> 56 == ST_BLOCK && !(word >> 48 & 0xff);
}

struct guess {
	uint64_t *path;
	struct place *place;
	int64_t *step;
	uint64_t previous;	/* the previous word */
	uint64_t value[BY_LITERAL];
};

struct walk {			/* through the words of a span */
	uint64_t here, before, previous; /* hash of the current block, hash of the blocks before; the previous word */
	uint64_t at;
};

static inline void begin(struct walk *w, const struct trace_pack *p, uint32_t process)
{
	*w = (struct walk){
		.here = mix(p->blocks[0] + process),
		.before = mix(mix(p->blocks[0]) + mix(p->blocks[1]) * 3 + p->blocks[2]),
	};
}

static inline void guess(struct trace_pack *p, const struct walk *w, struct guess *g)
{
	uint64_t place = mix(w->here + w->at);
	g->place = &p->place[place >> (64 - PLACE_LOG)];
	g->path = &p->path[mix(place ^ w->before) >> (64 - PATH_LOG)];
	g->step = &p->step[mix(place + (uint64_t)g->place->step * 5 + (uint64_t)g->place->step_before) >>
		(64 - STEP_LOG)];
	g->value[BY_PATH] = *g->path;
	g->value[BY_STRIDE] = g->place->last + (uint64_t)g->place->step;
	g->value[BY_STEPS] = g->place->last + (uint64_t)*g->step;
	g->value[BY_NEIGHBOUR] = w->previous + (uint64_t)g->place->distance;
}

static inline void learn(struct trace_pack *p, struct walk *w, const struct guess *g, uint32_t process, uint64_t word)
{
	int64_t step = (int64_t)(word - g->place->last);
	*g->path = word;
	*g->step = step;
	g->place->step_before = g->place->step;
	g->place->step = step;
	g->place->last = word;
	g->place->distance = (int64_t)(word - w->previous);
	w->previous = word;
	w->at++;
	if (is_header(word)) {
		p->blocks[2] = p->blocks[1];
		p->blocks[1] = p->blocks[0];
		p->blocks[0] = word;
		uint64_t previous = w->previous;
		begin(w, p, process);
		w->previous = previous;
	}
}

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

size_t trace_pack(struct trace_pack *p, uint32_t process, const uint64_t *words, size_t count, uint8_t *out)
{
	uint8_t *code = out, *literal = out + count;
	struct walk w;
	begin(&w, p, process);
	for (size_t i = 0; i < count; i++) {
		struct guess g;
		guess(p, &w, &g);
		uint64_t word = words[i];
		if (word == g.value[BY_PATH])
			*code++ = BY_PATH;
		else if (word == g.value[BY_STRIDE])
			*code++ = BY_STRIDE;
		else if (word == g.value[BY_STEPS])
			*code++ = BY_STEPS;
		else if (word == g.value[BY_NEIGHBOUR])
			*code++ = BY_NEIGHBOUR;
		else {
			uint64_t difference = zigzag(word - g.place->last); /* 0, which is rare here, takes 1 byte */
			unsigned bytes = difference ? (71 - (unsigned)__builtin_clzll(difference)) / 8 : 1;
			*code++ = (uint8_t)(BY_LITERAL + bytes);
			memcpy(literal, &difference, bytes);
			literal += bytes;
		}
		learn(p, &w, &g, process, word);
	}
	return (size_t)(literal - out);
}

bool trace_unpack(struct trace_pack *p, uint32_t process, const uint8_t *in, size_t bytes, uint64_t *words,
	size_t count)
{
	if (bytes < count)
		return false;
	const uint8_t *literal = in + count, *end = in + bytes;
	struct walk w;
	begin(&w, p, process);
	for (size_t i = 0; i < count; i++) {
		struct guess g;
		guess(p, &w, &g);
		if (in[i] < BY_LITERAL) {
			words[i] = g.value[in[i]];
		} else {
			unsigned n = in[i] - BY_LITERAL;
			uint64_t difference = 0;
			if (n < 1 || n > 8 || (size_t)(end - literal) < n)
				return false;
			memcpy(&difference, literal, n);
			literal += n;
			words[i] = g.place->last + (difference >> 1 ^ -(difference & 1));
		}
		learn(p, &w, &g, process, words[i]);
	}
	return literal == end;
}
