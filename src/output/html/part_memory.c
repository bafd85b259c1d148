/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "memory" of a page, null if no sample has a data address:
 *
 *   {"report": {...},			what `softpmu mem report --json` prints, without its pages
 *    "lines": [[ADDRESS, ACCESS, ...], ...]}
 *
 * "lines" has the lines that several threads accessed and one of them wrote, most samples first, LINES at most.  An
 * ACCESS is [TID, FUNCTION, PLACE, OFFSET, STORE, SAMPLES, OTHER]: the place is a string of the run ("file.c:12", or
 * text 0), the offset that in the line, OTHER the samples of which the data came modified from another core.
 * Left out: the sizes of accesses, which samples do not have.
 */
#include "output/html/part.h"
#include "output/memprofile.h"
#include "output/profile.h"
#include "util/grow.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LINES = 100 };

struct key { uint64_t line; uint32_t pid, tid, function, place, offset, store; };
struct access { struct key key; uint64_t samples, other; };
struct group { const struct access *access; size_t count; uint64_t samples; };
struct load {
	struct html_run *run;
	struct html_table keys;
	struct access *access;	/* one for each key */
	size_t room, line_bytes;
};

static uint32_t place_text(struct html_run *run, const struct symbols_place *place)
{
	struct symbols_line line;
	char text[1024];
	if (!symbols_place_lines(place, &line, 1) || !*line.file || !line.line)
		return 0;
	const char *name = strrchr(line.file, '/');
	snprintf(text, sizeof text, "%s:%u", name ? name + 1 : line.file, line.line);
	return html_text(run, text);
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct load *l = context;
	const union perf_mem_data_src d = { .val = r->data_src };
	(void)comm;
	if (!r->data_addr)
		return 0;
	const struct key key = { r->data_addr / l->line_bytes * l->line_bytes, r->pid, r->tid,
		html_function(l->run, place), place_text(l->run, place), (uint32_t)(r->data_addr % l->line_bytes),
		(d.mem_op & PERF_MEM_OP_STORE) != 0 };
	const size_t before = l->keys.count;
	const uint32_t number = html_number(&l->keys, &key);
	if (number == UINT32_MAX)
		return ERR_NOMEM;
	if (number == before) {
		struct access *grown = grow_array(l->access, before, &l->room, 256, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		l->access = grown;
		grown[number] = (struct access){ .key = key };
	}
	l->access[number].samples++;
	l->access[number].other += (d.mem_snoop & PERF_MEM_SNOOP_HITM) != 0;
	return 0;
}

static int by_line(const void *x, const void *y)
{
	const struct access *a = x, *b = y;
	if (a->key.pid != b->key.pid)
		return a->key.pid < b->key.pid ? -1 : 1;
	if (a->key.line != b->key.line)
		return a->key.line < b->key.line ? -1 : 1;
	if (a->key.tid != b->key.tid)
		return a->key.tid < b->key.tid ? -1 : 1;
	if (a->key.offset != b->key.offset)
		return a->key.offset < b->key.offset ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof a->key);
}

static int hotter(const void *x, const void *y)
{
	const struct group *a = x, *b = y;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return by_line(a->access, b->access);
}

static int write_lines(FILE *to, struct load *l)
{
	struct group *group = calloc(l->keys.count + 1, sizeof *group);
	size_t groups = 0;
	if (!group)
		return ERR_NOMEM;
	if (l->keys.count)
		qsort(l->access, l->keys.count, sizeof *l->access, by_line);
	for (size_t i = 0, next; i < l->keys.count; i = next) {
		const struct key *first = &l->access[i].key;
		struct group g = { .access = &l->access[i] };
		bool several = false, stored = false;
		for (next = i; next < l->keys.count && l->access[next].key.line == first->line &&
				l->access[next].key.pid == first->pid; next++) {
			several |= l->access[next].key.tid != first->tid;
			stored |= l->access[next].key.store;
			g.samples += l->access[next].samples;
		}
		g.count = next - i;
		if (several && stored)
			group[groups++] = g;
	}
	if (groups)
		qsort(group, groups, sizeof *group, hotter);
	for (size_t i = 0; i < groups && i < LINES; i++) {
		/* as text: JavaScript's numbers have 53 bits */
		fprintf(to, "%s[\"%#llx\"", i ? ",\n" : "\n", (unsigned long long)group[i].access->key.line);
		for (const struct access *a = group[i].access; a < group[i].access + group[i].count; a++)
			fprintf(to, ",[%u,%u,%u,%u,%u,%llu,%llu]", a->key.tid, a->key.function, a->key.place,
				a->key.offset, a->key.store, (unsigned long long)a->samples,
				(unsigned long long)a->other);
		fputs("]", to);
	}
	free(group);
	return 0;
}

int html_part_memory(FILE *to, struct html_run *r, struct err *err)
{
	const struct memprofile_options all = { 0 };
	const struct memreport_options print = { .file_name = r->name, .percent_limit = 0.01,
		.keys = 1u << MEM_BY_INSTRUCTION | 1u << MEM_BY_OBJECT | 1u << MEM_BY_SET };
	const struct profile_options nothing = { 0 };
	struct memprofile *memory;
	struct profile *profile = NULL;
	struct load l = { .run = r, .keys.bytes = sizeof(struct key) };
	int code = memprofile_load(&memory, r->file, &all, err);
	if (code)
		return code;
	if (!memory->with_address) {
		memprofile_free(memory);
		fputs("null", to);
		return 0;
	}
	l.line_bytes = memory->l1d.line ? memory->l1d.line : LINE;
	fputs("{\"report\": ", to);
	memreport_json(to, memory, &print);
	memprofile_free(memory);
	fputs(",\"lines\": [", to);
	code = profile_open(&profile, r->file, &nothing, err);
	if (!code)
		code = profile_walk(profile, &(struct profile_visit){ &l, on_sample }, err);
	if (!code)
		code = write_lines(to, &l);
	if (code == ERR_NOMEM)
		err_set(err, ERR_NOMEM, "out of memory");
	fputs("]}", to);
	profile_free(profile);
	html_table_free(&l.keys);
	free(l.access);
	return code;
}
