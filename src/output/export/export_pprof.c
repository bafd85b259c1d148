/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes pprof's profile.proto, gzipped.
 *
 * Source: github.com/google/pprof, proto/profile.proto (fields by number); Protocol Buffers, "Encoding".
 * The values of a sample are the number of samples, then one for each event.
 * Left out: times, since softpmu uses no wall clock.
 */
#include "output/export/export.h"
#include "util/bytes.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void varint(struct bytes *b, uint64_t v)
{
	uint8_t byte[10];
	size_t n = 0;
	do {
		byte[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
		v >>= 7;
	} while (v);
	bytes_put(b, byte, n);
}

static void number(struct bytes *b, unsigned field, uint64_t v)
{
	varint(b, field << 3);
	varint(b, v);
}

static void string(struct bytes *b, unsigned field, const void *p, size_t n)
{
	varint(b, field << 3 | 2);
	varint(b, n);
	bytes_put(b, p, n);
}

/* Appends `inner` as an embedded message, and empties it. */
static void message(struct bytes *b, unsigned field, struct bytes *inner)
{
	b->failed |= inner->failed;
	string(b, field, inner->data, inner->size);
	inner->size = 0;
}

enum {
	SAMPLE_TYPE = 1, SAMPLE = 2, MAPPING = 3, LOCATION = 4, FUNCTION = 5, STRING = 6, PERIOD_TYPE = 11,
	DEFAULT_SAMPLE_TYPE = 14
};

struct strings { const char **at; size_t n, room, *slot, slots; bool failed; };

static size_t text_hash(const char *s)
{
	uint64_t h = 14695981039346656037u;	/* FNV-1a */
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 1099511628211u;
	return (size_t)(h ^ h >> 32);
}

static uint64_t text(struct strings *s, const char *t)
{
	if (2 * (s->n + 1) > s->slots) {
		size_t slots = s->slots ? 2 * s->slots : 256, *slot = calloc(slots, sizeof *slot);
		const char **at = slot ? realloc(s->at, slots * sizeof *at) : NULL;
		if (!at) {
			free(slot);
			s->failed = true;
			return 0;
		}
		s->at = at;
		for (size_t i = 0; i < s->n; i++) {
			size_t k = text_hash(s->at[i]) & (slots - 1);
			while (slot[k])
				k = (k + 1) & (slots - 1);
			slot[k] = i + 1;
		}
		free(s->slot);
		s->slot = slot;
		s->slots = slots;
	}
	size_t k = text_hash(t) & (s->slots - 1);
	for (; s->slot[k]; k = (k + 1) & (s->slots - 1))
		if (!strcmp(s->at[s->slot[k] - 1], t))
			return s->slot[k] - 1;
	s->at[s->n] = t;
	s->slot[k] = ++s->n;
	return s->n - 1;
}

static void value_type(struct bytes *b, unsigned field, struct strings *s, const char *type)
{
	struct bytes in = { 0 };
	number(&in, 1, text(s, type));
	number(&in, 2, text(s, "count"));
	message(b, field, &in);
	bytes_free(&in);
}

static void put_samples(struct bytes *b, struct strings *s, const struct export *x)
{
	struct bytes in = { 0 }, list = { 0 };
	for (size_t k = 0; k < x->stacks; k++) {
		const struct export_stack *st = &x->stack[k];
		for (size_t i = 0; i < st->depth; i++)
			if (!x->place[x->frame[st->first + i]].is_inlined)
				varint(&list, x->frame[st->first + i] + 1);
		message(&in, 1, &list);
		varint(&list, st->samples);
		for (size_t e = 0; e < x->events; e++)
			varint(&list, x->value[k * x->events + e]);
		message(&in, 2, &list);
		number(&list, 1, text(s, "comm"));
		number(&list, 2, text(s, st->comm));
		message(&in, 3, &list);
		message(b, SAMPLE, &in);
	}
	bytes_free(&in);
	bytes_free(&list);
}

/* One mapping for each object, around all of its places, in the order in which objects were mapped: the program
 * first. */
static void put_mappings(struct bytes *b, struct strings *s, const struct export *x, uint64_t *mapping)
{
	struct bytes in = { 0 };
	const struct symbols_object *o;
	uint64_t id = 0;
	for (size_t i = 0; (o = symbols_object(x->profile->symbols, i)); i++) {
		uint64_t low = UINT64_MAX, high = 0;
		for (size_t p = 0; p < x->places; p++)
			if (x->place[p].at.object == o) {
				low = x->place[p].ip < low ? x->place[p].ip : low;
				high = x->place[p].ip > high ? x->place[p].ip : high;
			}
		if (low > high)
			continue;
		id++;
		for (size_t f = 0; f < x->functions; f++)
			if (x->function[f].object == o)
				mapping[f] = id;
		number(&in, 1, id);
		number(&in, 2, low & ~UINT64_C(0xfff));
		number(&in, 3, (high | 0xfff) + 1);
		number(&in, 5, text(s, symbols_object_path(o)));
		/* has_functions, has_filenames, has_line_numbers: pprof need not look them up */
		for (unsigned has = 7; has <= 9; has++)
			number(&in, has, 1);
		message(b, MAPPING, &in);
	}
	bytes_free(&in);
}

/* One location for each address; the functions that are inlined there are its lines, the innermost first. */
static void put_places(struct bytes *b, struct strings *s, const struct export *x, const uint64_t *mapping)
{
	struct bytes in = { 0 }, line = { 0 };
	for (size_t p = 0; p < x->places; p++) {
		const struct export_place *at = &x->place[p];
		if (at->is_inlined)
			continue;
		number(&in, 1, p + 1);
		if (mapping[at->function])
			number(&in, 2, mapping[at->function]);
		number(&in, 3, at->ip);
		for (size_t k = at->inlined + 1; k-- > 0;) {
			number(&line, 1, at[k].function + 1);
			number(&line, 2, at[k].line);
			message(&in, 4, &line);
		}
		message(b, LOCATION, &in);
	}
	for (size_t f = 0; f < x->functions; f++) {
		number(&in, 1, f + 1);
		number(&in, 2, text(s, x->function[f].name));
		number(&in, 3,
			text(s,
				x->function[f].symbol && x->function[f].symbol->linkage ? x->function[f].symbol->linkage
											: x->function[f].name));
		number(&in, 4, text(s, x->function[f].file));
		message(b, FUNCTION, &in);
	}
	bytes_free(&in);
	bytes_free(&line);
}

static int write_gzip(FILE *to, const struct bytes *b, struct err *err)
{
	z_stream z = { 0 };
	uint8_t out[65536];
	/* 15 + 16: gzip, without a time in its header */
	int code = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	if (code != Z_OK)
		return err_set(err, ERR_NOMEM, "out of memory");
	z.next_in = b->data;
	size_t left = b->size;
	do {
		uInt piece = left > 1 << 30 ? 1 << 30 : (uInt)left;
		z.avail_in = piece;
		left -= piece;
		do {
			z.next_out = out;
			z.avail_out = sizeof out;
			code = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
			fwrite(out, 1, sizeof out - z.avail_out, to);
		} while (z.avail_out == 0);
	} while (left);
	deflateEnd(&z);
	return code == Z_STREAM_END ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

int export_pprof(FILE *to, const struct export *x, struct err *err)
{
	struct bytes b = { 0 };
	struct strings s = { 0 };
	uint64_t *mapping = calloc(x->functions + 1, sizeof *mapping);
	int code = 0;
	if (mapping) {
		text(&s, "");	/* number 0 */
		value_type(&b, SAMPLE_TYPE, &s, "samples");
		for (size_t e = 0; e < x->events; e++)
			value_type(&b, SAMPLE_TYPE, &s, x->event_name[e]);
		put_samples(&b, &s, x);
		put_mappings(&b, &s, x, mapping);
		put_places(&b, &s, x, mapping);
		value_type(&b, PERIOD_TYPE, &s, x->event_name[0]);
		number(&b, DEFAULT_SAMPLE_TYPE, text(&s, x->event_name[0]));
		for (size_t i = 0; i < s.n; i++)
			string(&b, STRING, s.at[i], strlen(s.at[i]));
	}
	if (!mapping || b.failed || s.failed)
		code = err_set(err, ERR_NOMEM, "out of memory");
	else
		code = write_gzip(to, &b, err);
	free(mapping);
	bytes_free(&b);
	free(s.at);
	free(s.slot);
	return code;
}
