/* SPDX-License-Identifier: GPL-2.0-or-later
 * marks: places in a program that cut its run into short segments, for timed -m.
 *
 *   marks STREAM [GAP]	STREAM: what softpmu trace recorded of the program; GAP: instructions between marks (1000000)
 * Prints up to 4 lines: an instruction's offset in a file, how often the program executes it, and the file's path.
 *
 * A place is an instruction of a file's code (the program, a library) that the program executes from 3 to
 * INSTRUCTIONS / GAP + 3 times, and that stands apart from code that is executed often: on a Zen 3 host a breakpoint
 * slows down what is in the same line of code (a loop took 2.1 times as long). The first mark is the place whose
 * segments have the least sum of squared lengths; each further one is the best beside those that are chosen already, if
 * it lowers the sum by a fifth. Of a process that executes several programs (env, which sets a variable for another),
 * only the last one counts. */
#include "stream/stream.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MARKS = 4, LEAST_TIMES = 3, MOST_TIMES = 1 << 12, LINE = 64, NEAR_PART = 500 };

/* A block, and when it was executed: the instructions from the start, and how many of the block's own followed. More
 * than MOST_TIMES times are too often. */
struct time { uint64_t at; uint32_t insns; };
struct block {
	uint64_t *addr;		/* of each instruction */
	uint16_t *slots_until;	/* slots of the instructions before each, and of all */
	uint16_t *exit_insns, *exit_slots;
	struct time *time;
	uint64_t count;		/* how often it was executed */
	uint32_t times, room, insns;
};
struct mapping { uint64_t addr, bytes, offset; char *path; };
/* An instruction, and when it was executed. */
struct place { uint64_t addr; uint64_t *at; size_t times; };

static struct block *blocks;
static struct mapping *mappings;
static struct place *places;
static size_t block_count, mapping_count, place_count, place_room;

static void *grown(void *p, size_t bytes)
{
	p = realloc(p, bytes + 1);
	if (!p) {
		fputs("marks: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void define(const struct st_block_def *d)
{
	if (d->id >= block_count) {
		const size_t more = (size_t)d->id * 2 + 1024;
		blocks = grown(blocks, more * sizeof *blocks);
		memset(blocks + block_count, 0, (more - block_count) * sizeof *blocks);
		block_count = more;
	}
	const struct st_insn_def *insn = (const void *)(d + 1);
	const struct st_slot *slot = (const void *)(insn + d->insns);
	const struct st_exit_def *way = (const void *)(slot + d->slots);
	struct block *b = blocks + d->id;
	*b = (struct block){ .insns = d->insns };
	b->addr = grown(NULL, d->insns * sizeof *b->addr);
	b->slots_until = grown(NULL, (d->insns + 1u) * sizeof *b->slots_until);
	b->exit_insns = grown(NULL, d->exits * sizeof *b->exit_insns);
	b->exit_slots = grown(NULL, d->exits * sizeof *b->exit_slots);
	for (unsigned i = 0, s = 0; i <= d->insns; i++) {
		b->slots_until[i] = (uint16_t)s;
		if (i == d->insns)
			break;
		b->addr[i] = insn[i].addr;
		while (s < d->slots && slot[s].insn <= i)
			s++;
	}
	for (unsigned i = 0; i < d->exits; i++) {
		b->exit_insns[i] = way[i].insns;
		b->exit_slots[i] = way[i].slots;
	}
}

static void map(const struct st_map *m)
{
	if (!(m->prot & ST_PROT_X) || !m->path_bytes)
		return;
	mappings = grown(mappings, (mapping_count + 1) * sizeof *mappings);
	mappings[mapping_count++] = (struct mapping){ m->addr, m->bytes, m->offset, strdup((const char *)(m + 1)) };
}

/* The mapping of a file that holds an address; NULL: none, or the library that timed loads. */
static const struct mapping *file_at(uint64_t addr)
{
	for (size_t i = 0; i < mapping_count; i++)
		if (addr - mappings[i].addr < mappings[i].bytes)
			return mappings[i].path[0] == '/' && !strstr(mappings[i].path, "/resident.so") ? &mappings[i]
				: NULL;
	return NULL;
}

static inline void executes(struct block *b, uint64_t at, uint32_t insns)
{
	b->count++;
	if (b->times > MOST_TIMES)
		return;
	if (b->times == b->room)
		b->time = grown(b->time, (b->room = 2 * b->room + 4) * sizeof *b->time);
	b->time[b->times++] = (struct time){ at, insns };
	if (b->times > MOST_TIMES) {
		free(b->time);
		b->time = NULL;
	}
}

/* Reads the stream. Returns how many instructions it has, 0 after a line was printed. */
static uint64_t read_stream(const char *path)
{
	struct err err = { 0 };
	struct stream *s;
	struct stream_span span;
	uint64_t at = 0;
	int got = stream_open(&s, path, &err);
	if (got < 0) {
		fprintf(stderr, "marks: %s\n", err.text);
		return 0;
	}
	while ((got = stream_next(s, &span, &err)) != STREAM_END) {
		if (got < 0) {
			fprintf(stderr, "marks: %s\n", err.text);
			at = 0;
			break;
		}
		if (got != STREAM_SPAN || span.process)
			continue;
		for (size_t i = 0; i < span.count;) {
			const uint64_t *w = span.words + i;
			const unsigned kind = ST_HEADER_KIND(*w);
			if (kind == ST_CHUNK_END)
				break;
			if (kind == ST_BLOCK || kind == ST_BLOCK_CUT) {
				struct block *b = blocks + ST_HEADER_LOW(*w);
				const unsigned way = ST_HEADER_EXIT(*w), cut = kind == ST_BLOCK_CUT;
				const uint32_t insns = cut ? way : b->exit_insns[way];
				executes(b, at, insns);
				at += insns;
				i += 1u + (cut ? b->slots_until[way] : b->exit_slots[way]);
				continue;
			}
			if (kind == ST_PROCESS)
				block_count = mapping_count = at = 0;
			else if (kind == ST_BLOCK_DEF)
				define((const void *)w);
			else if (kind == ST_MAP)
				map((const void *)w);
			i += ST_HEADER_LOW(*w) / 8;
		}
	}
	stream_close(s);
	return at;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The instructions of all blocks by address: those of one address follow one another. */
struct found { uint64_t addr; uint32_t block, insn; };

/* How many instructions are executed in the lines around the i-th of n. */
static uint64_t executed_near(const struct found *all, size_t n, size_t i)
{
	const uint64_t line = all[i].addr / LINE;
	uint64_t count = 0;
	for (size_t k = i; k-- && all[k].addr / LINE + 1 >= line;)
		count += blocks[all[k].block].count;
	for (size_t k = i; k < n && all[k].addr / LINE <= line + 1; k++)
		count += blocks[all[k].block].count;
	return count;
}

/* Makes a place of each instruction that is executed seldom enough, in lines that are executed seldom enough. */
static void make_places(uint64_t most, uint64_t most_near)
{
	size_t n = 0;
	for (size_t i = 0; i < block_count; i++)
		n += blocks[i].insns;
	struct found *all = grown(NULL, n * sizeof *all);
	n = 0;
	for (uint32_t i = 0; i < block_count; i++)
		for (uint32_t k = 0; k < blocks[i].insns; k++)
			all[n++] = (struct found){ blocks[i].addr[k], i, k };
	qsort(all, n, sizeof *all, by_value);
	for (size_t i = 0, next; i < n; i = next) {
		uint64_t times = 0;
		for (next = i; next < n && all[next].addr == all[i].addr; next++)
			times += blocks[all[next].block].times;
		if (times < LEAST_TIMES || times > most || times > MOST_TIMES || !file_at(all[i].addr) ||
		    executed_near(all, n, i) > most_near)
			continue;
		struct place p = { .addr = all[i].addr, .at = grown(NULL, times * sizeof *p.at) };
		for (size_t j = i; j < next; j++) {
			const struct block *b = blocks + all[j].block;
			for (uint32_t k = 0; k < b->times; k++)
				if (all[j].insn < b->time[k].insns)
					p.at[p.times++] = b->time[k].at + all[j].insn;
		}
		qsort(p.at, p.times, sizeof *p.at, by_value);
		if (place_count == place_room)
			places = grown(places, (place_room = 2 * place_room + 256) * sizeof *places);
		places[place_count++] = p;
	}
	free(all);
}

/* The sum of the squared segments that these marks and the place make together. */
static double squares(const uint64_t *mark, size_t marks, const struct place *p, uint64_t total)
{
	double sum = 0, last = 0;
	for (size_t x = 0, y = 0; x < marks || y < p->times;) {
		const double at = (double)(y == p->times || (x < marks && mark[x] < p->at[y]) ? mark[x++] : p->at[y++]);
		sum += (at - last) * (at - last);
		last = at;
	}
	return sum + ((double)total - last) * ((double)total - last);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fputs("usage: marks STREAM [GAP]\n", stderr);
		return 2;
	}
	const uint64_t gap = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, total = read_stream(argv[1]);
	if (!gap || !total)
		return fputs("marks: nothing to mark\n", stderr), 1;
	make_places(total / gap + LEAST_TIMES, total / NEAR_PART);
	uint64_t *mark = NULL;
	size_t marks = 0;
	double least = (double)total * (double)total;
	for (int n = 0; n < MOST_MARKS; n++) {
		const struct place *best = NULL;
		least *= 0.8;	/* a further mark must be worth what it costs */
		for (size_t i = 0; i < place_count; i++) {
			const double sum = squares(mark, marks, places + i, total);
			if (sum < least) {
				least = sum;
				best = places + i;
			}
		}
		if (!best)
			break;
		const struct mapping *m = file_at(best->addr);
		printf("%#" PRIx64 "\t%zu\t%s\n", best->addr - m->addr + m->offset, best->times, m->path);
		mark = grown(mark, (marks + best->times) * sizeof *mark);
		memcpy(mark + marks, best->at, best->times * sizeof *mark);
		marks += best->times;
		qsort(mark, marks, sizeof *mark, by_value);
	}
	return 0;
}
