/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "profile" of a page: all samples, with their call chains.
 *
 *   {"threads": {"pid": [...], "tid": [...], "comm": [...]},		comm: a string of the run
 *    "stacks": {"parent": [...], "function": [...]},
 *    "lost": N,
 *    "events": [{"name": TEXT, "samples": N, "period": N,
 *                "time": [...], "thread": [...], "stack": [...], "weight": N or [...], "late": [...] or null}, ...]}
 *
 * Stacks are the nodes of one prefix tree: node i is a call of function[i] by node parent[i] - 1, or the outermost
 * frame if parent[i] is 0; parents come before their children.  A sample is counted for the function of its stack's
 * nearest node that is not inlined, as `report` does; in the source, it hit that of the node itself.  time:
 * differences, from 0 on.  weight: the sample's period; one number if it is the same for all.  late: cycles by which
 * the sampled instruction retired late (pushout), if the file has them.
 * The events of the exact profile (exact_record.h) are not here.
 */
#include "output/exact_record.h"
#include "output/html/part.h"
#include "output/profile.h"
#include "util/grow.h"
#include "util/json.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct thread { uint32_t pid, tid, comm; };
struct node { uint32_t parent, function; };
struct sample { uint64_t time, weight; uint32_t thread, stack, late; };
struct event { struct sample *sample; size_t samples, room; uint64_t period; bool steady; };
struct load {
	struct html_run *run;
	struct profile *profile;
	struct html_table threads, nodes;
	struct event *event;
	size_t events;
};

/* The node of a sample's call chain; 0 without memory, else 1 + its number. */
static uint32_t stack_of(struct load *l, const struct perfdata_record *r, const struct symbols_place *place)
{
	struct profile_frame frame[PROFILE_FRAMES_MAX];
	size_t n = l->profile->event[r->event].chains ? profile_chain(l->profile, r, frame) : 0;
	const uint32_t leaf = html_function(l->run, place);
	uint32_t at = 0, function = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol = frame[i].place.symbol;
		const struct node node = { at, html_function(l->run, &frame[i].place) };
		const uint32_t number = html_number(&l->nodes, &node);
		if (number == UINT32_MAX)
			return 0;
		if (!symbol || !symbol->inlined)
			function = node.function;
		at = number + 1;
	}
	if (function == leaf)	/* the chain ends where the sample is, as it should */
		return at;
	const uint32_t number = html_number(&l->nodes, &(struct node){ at, leaf });
	return number == UINT32_MAX ? 0 : number + 1;
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct load *l = context;
	struct event *e = &l->event[r->event];
	if (exact_record_event(perfdata_event_info(l->run->file, r->event)->name) < EXACT_EVENTS)
		return 0;
	struct sample *grown = grow_array(e->sample, e->samples, &e->room, 256, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	e->sample = grown;
	const struct thread thread = { r->pid, r->tid, html_text(l->run, comm) };
	html_program(l->run, comm);
	const uint32_t number = html_number(&l->threads, &thread), stack = stack_of(l, r, place);
	if (number == UINT32_MAX || !stack || l->run->failed)
		return ERR_NOMEM;
	const uint64_t late = profile_counts_pushouts(l->profile->event[r->event].info) ? r->weight
		: r->retire_latency;
	e->sample[e->samples++] = (struct sample){ r->time, r->period, number, stack - 1,
		late < UINT32_MAX ? (uint32_t)late : UINT32_MAX };
	e->steady &= r->period == e->sample->weight;
	e->period += r->period;
	return 0;
}

enum column { TIME, THREAD, STACK, WEIGHT, LATE };
static void write_column(FILE *to, const char *name, const struct event *e, enum column which)
{
	bool first = true;
	uint64_t before = 0;
	fprintf(to, ",\n\"%s\": [", name);
	for (size_t i = 0; i < e->samples; i++) {
		const struct sample *s = &e->sample[i];
		switch (which) {
		case TIME:
			html_item(to, s->time - before, &first);
			before = s->time;
			break;
		case THREAD: html_item(to, s->thread, &first); break;
		case STACK: html_item(to, s->stack, &first); break;
		case WEIGHT: html_item(to, s->weight, &first); break;
		case LATE: html_item(to, s->late, &first); break;
		}
	}
	fputs("]", to);
}

static void write_event(FILE *to, const struct event *e, const struct perfdata_event_info *info)
{
	fputs("{\"name\": ", to);
	json_string(to, info->name);
	fprintf(to, ", \"samples\": %zu, \"period\": %llu", e->samples, (unsigned long long)e->period);
	write_column(to, "time", e, TIME);
	write_column(to, "thread", e, THREAD);
	write_column(to, "stack", e, STACK);
	if (e->steady && e->samples)
		fprintf(to, ",\n\"weight\": %llu", (unsigned long long)e->sample->weight);
	else
		write_column(to, "weight", e, WEIGHT);
	if (info->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		write_column(to, "late", e, LATE);
	else
		fputs(",\n\"late\": null", to);
	fputs("}", to);
}

static void write_tables(FILE *to, const struct load *l)
{
	static const char *const of_thread[] = { "pid", "tid", "comm" }, *const of_node[] = { "parent", "function" };
	fputs("{\"threads\": {", to);
	html_columns(to, &l->threads, of_thread, 3);
	fputs("},\n\"stacks\": {", to);
	html_columns(to, &l->nodes, of_node, 2);
	fprintf(to, "},\n\"lost\": %llu, \"events\": [", (unsigned long long)l->profile->lost);
	bool first = true;
	for (size_t i = 0; i < l->events; i++) {
		const struct perfdata_event_info *info = perfdata_event_info(l->run->file, i);
		if (exact_record_event(info->name) < EXACT_EVENTS)
			continue;
		fputs(first ? "\n" : ",\n", to);
		write_event(to, &l->event[i], info);
		first = false;
	}
	fputs("]}", to);
}

int html_part_profile(FILE *to, struct html_run *r, struct err *err)
{
	const struct profile_options options = { .chains = true, .inlines = true, .caller_first = true };
	struct load l = { .run = r, .threads.bytes = sizeof(struct thread), .nodes.bytes = sizeof(struct node),
		.events = perfdata_event_count(r->file) };
	int code = profile_open(&l.profile, r->file, &options, err);
	if (!code) {
		l.event = calloc(l.events + 1, sizeof *l.event);
		code = l.event ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	}
	for (size_t i = 0; !code && i < l.events; i++)
		l.event[i].steady = true;
	if (!code)
		code = profile_walk(l.profile, &(struct profile_visit){ &l, on_sample }, err);
	if (!code)
		write_tables(to, &l);
	for (size_t i = 0; l.event && i < l.events; i++)
		free(l.event[i].sample);
	free(l.event);
	html_table_free(&l.threads);
	html_table_free(&l.nodes);
	profile_free(l.profile);
	return code;
}
