/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "memory" of a page, null if no sample has a data address:
 *
 *   {"report": {...},		what `softpmu mem report --json` prints: the objects, all of them, and the sets
 *    "threads": [[PID, TID], ...],
 *    "lines": [ADDRESS, ...],	as text: JavaScript's numbers have 53 bits
 *    "access": {"thread": [...], "object": [...], "line": [...], "offset": [...], "function": [...], "place": [...],
 *               "store": [...], "level": [...], "other": [...]},
 *    "samples": {"time": [...], "access": [...], "period": [...], "latency": [...]}}
 *
 * Samples are those that have an address; time: differences, from 0 on; latency: in cycles, 0 if it is not known.
 * What they have in common is an access: its object (an index of report.objects), line and the offset in it, function
 * and place ("file.c:12", a string of the run, or text 0), whether it is a store, where the data were (LEVELS of
 * memory.js, which follow enum memprofile_level), and whether they came modified from another core.
 * Left out: the sizes of accesses, which samples do not have.
 */
#include "output/html/part.h"
#include "output/memprofile.h"
#include "output/profile.h"
#include "util/grow.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

struct thread { uint32_t pid, tid; };
struct access { uint32_t thread, object, line, offset, function, place, store, level, other; };
struct sample { uint64_t time, period, latency; uint32_t access; };
struct load {
	struct html_run *run;
	const struct memprofile *memory;
	struct html_table threads, lines, accesses;
	struct sample *sample;
	size_t samples, room, line_bytes;
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
	struct sample *grown = grow_array(l->sample, l->samples, &l->room, 256, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	l->sample = grown;
	const uint64_t line = r->data_addr / l->line_bytes * l->line_bytes;
	const struct access access = {
		.thread = html_number(&l->threads, &(struct thread){ r->pid, r->tid }),
		.object = l->memory->object[l->samples],
		.line = html_number(&l->lines, &line),
		.offset = (uint32_t)(r->data_addr % l->line_bytes),
		.function = html_function(l->run, place), .place = place_text(l->run, place),
		.store = (d.mem_op & PERF_MEM_OP_STORE) != 0,
		.level = memprofile_level_of(r->data_src),
		.other = (d.mem_snoop & PERF_MEM_SNOOP_HITM) != 0,
	};
	const uint32_t number = html_number(&l->accesses, &access);
	if (number == UINT32_MAX || access.thread == UINT32_MAX || access.line == UINT32_MAX)
		return ERR_NOMEM;
	l->sample[l->samples++] = (struct sample){ r->time, r->period, r->weight, number };
	return 0;
}

static void write_samples(FILE *to, const struct load *l)
{
	static const char *const name[] = { "time", "access", "period", "latency" };
	for (unsigned column = 0; column < 4; column++) {
		uint64_t before = 0;
		bool first = true;
		fprintf(to, "%s\"%s\": [", column ? ",\n" : "", name[column]);
		for (size_t i = 0; i < l->samples; i++) {
			const struct sample *s = &l->sample[i];
			const uint64_t value[] = { s->time - before, s->access, s->period, s->latency };
			html_item(to, value[column], &first);
			before = s->time;
		}
		fputs("]", to);
	}
}

static void write_tables(FILE *to, const struct load *l)
{
	static const char *const of_access[] = { "thread", "object", "line", "offset", "function", "place", "store",
		"level", "other" };
	const struct thread *thread = l->threads.key;
	const uint64_t *line = l->lines.key;
	fputs(",\n\"threads\": [", to);
	for (size_t i = 0; i < l->threads.count; i++)
		fprintf(to, "%s[%u,%u]", i ? "," : "", thread[i].pid, thread[i].tid);
	fputs("],\n\"lines\": [", to);
	for (size_t i = 0; i < l->lines.count; i++)
		fprintf(to, "%s\"%#llx\"", i ? "," : "", (unsigned long long)line[i]);
	fputs("],\n\"access\": {", to);
	html_columns(to, &l->accesses, of_access, sizeof of_access / sizeof *of_access);
	fputs("},\n\"samples\": {", to);
	write_samples(to, l);
	fputs("}", to);
}

int html_part_memory(FILE *to, struct html_run *r, struct err *err)
{
	const struct memprofile_options all = { 0 };
	const struct memreport_options print = { .file_name = r->name,
		.keys = 1u << MEM_BY_OBJECT | 1u << MEM_BY_SET };
	const struct profile_options nothing = { 0 };
	struct memprofile *memory;
	struct profile *profile = NULL;
	int code = memprofile_load(&memory, r->file, &all, err);
	if (code)
		return code;
	if (!memory->with_address) {
		memprofile_free(memory);
		fputs("null", to);
		return 0;
	}
	struct load l = { .run = r, .memory = memory, .threads.bytes = sizeof(struct thread),
		.lines.bytes = sizeof(uint64_t), .accesses.bytes = sizeof(struct access),
		.line_bytes = memory->l1d.line ? memory->l1d.line : LINE };
	fputs("{\"report\": ", to);
	memreport_json(to, memory, &print);
	code = profile_open(&profile, r->file, &nothing, err);
	if (!code)
		code = profile_walk(profile, &(struct profile_visit){ &l, on_sample }, err);
	if (!code)
		write_tables(to, &l);
	if (code == ERR_NOMEM)
		err_set(err, ERR_NOMEM, "out of memory");
	fputs("}", to);
	profile_free(profile);
	memprofile_free(memory);
	html_table_free(&l.threads);
	html_table_free(&l.lines);
	html_table_free(&l.accesses);
	free(l.sample);
	return code;
}
