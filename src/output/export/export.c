/* SPDX-License-Identifier: GPL-2.0-or-later
 * Adds up samples by stack for export, and writes the folded and speedscope formats.
 *
 * Source of the formats: Brendan Gregg's FlameGraph, README ("Fold stacks"); speedscope's file-format-spec.ts.
 * Without call chains a stack is the sampled instruction alone, with the functions that are inlined there.
 */
#include "output/export/export.h"
#include "util/json.h"
#include "util/grow.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static const char *keep(struct export *x, const char *s)
{
	char **grown = (x->texts & (x->texts - 1)) == 0
		? realloc(x->text, (x->texts ? 2 * x->texts : 1) * sizeof *grown)
		: x->text;
	if (!grown)
		return NULL;
	x->text = grown;
	if (!(x->text[x->texts] = strdup(s)))
		return NULL;
	return x->text[x->texts++];
}

static uint64_t place_hash(const struct symbols_place *at, bool caller)
{
	return mix(mix(1 + caller, (uintptr_t)at->object), at->address);
}

#define NOT_FOUND_BY UINT64_MAX	/* a hash of what is not in the table */

static bool rehash(size_t **slot, size_t *slots, size_t used, uint64_t (*hash)(const struct export *x, size_t i),
	const struct export *x)
{
	if (2 * (used + 1) <= *slots)
		return true;
	size_t room = *slots ? 2 * *slots : 256, *fresh = calloc(room, sizeof *fresh);
	if (!fresh)
		return false;
	for (size_t i = 0; i < used; i++) {
		const uint64_t h = hash(x, i);
		size_t at = h & (room - 1);
		if (h == NOT_FOUND_BY)
			continue;
		while (fresh[at])
			at = (at + 1) & (room - 1);
		fresh[at] = i + 1;
	}
	free(*slot);
	*slot = fresh;
	*slots = room;
	return true;
}

/* Inlined places are found behind the one that has the code. */
static uint64_t hash_place(const struct export *x, size_t i)
{
	if (x->place[i].is_inlined)
		return NOT_FOUND_BY;
	 return place_hash(&x->place[i].at, x->place[i].caller);
}

static uint64_t stack_hash(const char *comm, const size_t *frame, size_t n)
{
	uint64_t h = mix(2, (uintptr_t)comm);
	for (size_t i = 0; i < n; i++)
		h = mix(h, frame[i]);
	return h;
}
static uint64_t hash_stack(const struct export *x, size_t i)
{
	return stack_hash(x->stack[i].comm, x->frame + x->stack[i].first, x->stack[i].depth);
}

/* Are these one function?  A function that is inlined is the same wherever it is. */
static bool same_function(const struct export_function *f, const struct export_place *p)
{
	if (f->object != p->at.object)
		return false;
	if (p->is_inlined || (f->symbol && f->symbol->inlined))
		return !strcmp(f->name, p->name) && !strcmp(f->file, p->own_file);
	return f->symbol == p->at.symbol && (p->at.symbol || !strcmp(f->name, p->name));
}

/* Returns the index of a place's function, or SIZE_MAX without memory.  Functions of the same name in the same object
 * and file are one. */
static size_t function_of(struct export *x, const struct export_place *p, size_t place)
{
	for (size_t i = 0; i < x->functions; i++)
		if (same_function(&x->function[i], p))
			return i;
	struct export_function *f = grow_array(x->function, x->functions, &x->function_room, 64, sizeof *f);
	if (!f)
		return SIZE_MAX;
	x->function = f;
	x->function[x->functions] = (struct export_function){ p->at.symbol, p->at.object, p->name, p->at.dso,
		p->at.path, p->own_file, place };
	return x->functions++;
}

/* Adds a place; `line` is the number of its line among `lines`. */
static bool add_place(struct export *x, const struct export_place *place, const struct symbols_line *line,
	size_t lines, size_t number)
{
	char text[32];
	struct export_place *p = grow_array(x->place, x->places, &x->place_room, 64, sizeof *p);
	if (!p)
		return false;
	x->place = p;
	p += x->places;
	*p = *place;
	p->file = p->own_file = "";
	if (number < lines) {
		p->file = p->own_file = line[number].file;
		p->line = line[number].line;
	}
	if (!p->is_inlined && lines)
		p->own_file = line[lines - 1].file;
	snprintf(text, sizeof text, "%#llx", (unsigned long long)p->ip);
	p->name = p->at.symbol ? p->at.symbol->name : keep(x, text);
	p->at.dso = p->name ? keep(x, p->at.dso) : NULL;
	p->at.path = p->at.dso ? keep(x, p->at.path) : NULL;
	if (!p->at.path || (p->function = function_of(x, p, x->places)) == SIZE_MAX)
		return false;
	x->places++;
	return true;
}

/* The place of the function that has the code at ip. */
static size_t place_of(struct export *x, const struct symbols_place *at, uint64_t ip, bool caller)
{
	enum { LINES = 64 };
	struct symbols_line line[LINES];
	const struct symbol *const *inlined = NULL;
	if (!rehash(&x->place_slot, &x->place_slots, x->places, hash_place, x))
		return SIZE_MAX;
	size_t slot = place_hash(at, caller) & (x->place_slots - 1);
	for (; x->place_slot[slot]; slot = (slot + 1) & (x->place_slots - 1)) {
		const struct export_place *other = &x->place[x->place_slot[slot] - 1];
		if (other->at.object == at->object && other->at.address == at->address && other->caller == caller)
			return x->place_slot[slot] - 1;
	}
	struct symbols_place instruction = *at;
	instruction.address -= caller && at->address;	/* in the call */
	const size_t lines = symbols_place_lines(&instruction, line, LINES), base = x->places;
	const size_t count = x->inlines ? symbols_place_inlined(at, caller, &inlined) : 0;
	struct export_place p = { .at = *at, .ip = ip, .caller = caller, .inlined = count };
	if (!add_place(x, &p, line, lines, count))
		return SIZE_MAX;
	for (size_t k = count; k-- > 0;) {
		p.at.symbol = inlined[k];
		p.is_inlined = true;
		p.inlined = 0;
		if (!add_place(x, &p, line, lines, k))
			return SIZE_MAX;
	}
	x->place_slot[slot] = base + 1;
	return base;
}

static size_t stack_of(struct export *x, const char *comm, const size_t *frame, size_t n)
{
	if (!rehash(&x->stack_slot, &x->stack_slots, x->stacks, hash_stack, x))
		return SIZE_MAX;
	size_t slot = stack_hash(comm, frame, n) & (x->stack_slots - 1);
	for (; x->stack_slot[slot]; slot = (slot + 1) & (x->stack_slots - 1)) {
		const struct export_stack *s = &x->stack[x->stack_slot[slot] - 1];
		if (s->comm == comm && s->depth == n && !memcmp(x->frame + s->first, frame, n * sizeof *frame))
			return x->stack_slot[slot] - 1;
	}
	size_t room = x->stack_room;
	struct export_stack *s = grow_array(x->stack, x->stacks, &x->stack_room, 64, sizeof *s);
	if (!s)
		return SIZE_MAX;
	x->stack = s;
	if (x->stack_room != room) {
		uint64_t *value = realloc(x->value, x->stack_room * x->events * sizeof *value);
		if (!value)
			return SIZE_MAX;
		x->value = value;
	}
	while (x->frame_room - x->frames < n) {
		size_t *f = grow_array(x->frame, x->frame_room, &x->frame_room, 64, sizeof *f);
		if (!f)
			return SIZE_MAX;
		x->frame = f;
	}
	memcpy(x->frame + x->frames, frame, n * sizeof *frame);
	memset(x->value + x->stacks * x->events, 0, x->events * sizeof *x->value);
	x->stack[x->stacks] = (struct export_stack){ comm, x->frames, n, 0 };
	x->frames += n;
	x->stack_slot[slot] = ++x->stacks;
	return x->stacks - 1;
}

enum { FRAMES_MAX = 4 * PERFDATA_CHAIN_MAX };	/* of a stack, inlined functions among them */

/* Adds the frames of an address, innermost first: at most up to `most`, but always that of the function that has the
 * code. */
static bool add_frames(struct export *x, const struct symbols_place *at, uint64_t ip, bool caller, size_t most,
	size_t frame[FRAMES_MAX], size_t *n)
{
	const size_t place = place_of(x, at, ip, caller);
	if (place == SIZE_MAX)
		return false;
	for (size_t k = x->place[place].inlined; k > 0 && *n + 1 < most; k--)
		frame[(*n)++] = place + k;
	frame[(*n)++] = place;
	return true;
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct export *x = context;
	size_t frame[FRAMES_MAX], n = 0, chain = 0;
	bool user = true, caller = false;
	for (size_t i = 0; i < r->chain_length && chain < PERFDATA_CHAIN_MAX; i++) {
		uint64_t ip = perfdata_chain_ip(r, i);
		struct symbols_place at;
		if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
			user = ip == (uint64_t)PERF_CONTEXT_USER;
			caller = false;
			continue;
		}
		symbols_resolve(x->profile->symbols, r->pid, ip, UINT64_MAX, &at);
		if (!user)
			at = (struct symbols_place){ "[kernel.kallsyms]", "[kernel.kallsyms]", ip, NULL, NULL };
		if (!add_frames(x, &at, ip, caller, FRAMES_MAX - PERFDATA_CHAIN_MAX + chain++, frame, &n))
			return ERR_NOMEM;
		caller = true;
	}
	if (!n && !add_frames(x, place, r->ip, false, FRAMES_MAX, frame, &n))
		return ERR_NOMEM;
	size_t stack = stack_of(x, comm, frame, n);
	if (stack == SIZE_MAX)
		return ERR_NOMEM;
	struct export_sample *s = grow_array(x->sample, x->samples, &x->sample_room, 64, sizeof *s);
	if (!s)
		return ERR_NOMEM;
	x->sample = s;
	x->sample[x->samples++] = (struct export_sample){ stack, r->event, r->period, r->time, r->pid, r->tid };
	x->stack[stack].samples++;
	x->value[stack * x->events + r->event] += r->period;
	x->total[r->event] += r->period;
	return 0;
}

int export_load(struct export **out, struct perfdata_file *file, bool inlines, struct err *err)
{
	struct export *x = calloc(1, sizeof *x);
	if (!x)
		return err_set(err, ERR_NOMEM, "out of memory");
	x->inlines = inlines;
	int code = profile_open(&x->profile, file, &(struct profile_options){ .chains = true }, err);
	if (!code) {
		x->events = x->profile->events;
		x->total = calloc(x->events, sizeof *x->total);
		x->event_name = calloc(x->events, sizeof *x->event_name);
		if (!x->total || !x->event_name)
			code = err_set(err, ERR_NOMEM, "out of memory");
	}
	for (size_t i = 0; !code && i < x->events; i++)
		x->event_name[i] = x->profile->event[i].info->name;
	if (!code)
		code = profile_walk(x->profile, &(struct profile_visit){ x, on_sample }, err);
	if (code) {
		export_free(x);
		return code;
	}
	*out = x;
	return 0;
}

void export_free(struct export *x)
{
	if (!x)
		return;
	profile_free(x->profile);
	for (size_t i = 0; i < x->texts; i++)
		free(x->text[i]);
	free(x->text);
	free(x->total);
	free(x->event_name);
	free(x->place);
	free(x->function);
	free(x->stack);
	free(x->value);
	free(x->frame);
	free(x->sample);
	free(x->place_slot);
	free(x->stack_slot);
	free(x);
}

/* Prints a frame of a folded stack, without the characters that separate frames, stacks and values. */
static void folded_name(FILE *to, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name, to);
}

void export_folded(FILE *to, const struct export *x, size_t event)
{
	for (size_t s = 0; s < x->stacks; s++) {
		uint64_t value = x->value[s * x->events + event];
		if (!value)
			continue;
		folded_name(to, x->stack[s].comm);
		for (size_t i = x->stack[s].depth; i-- > 0;) {
			fputc(';', to);
			folded_name(to, x->place[x->frame[x->stack[s].first + i]].name);
		}
		fprintf(to, " %llu\n", (unsigned long long)value);
	}
}

void export_speedscope(FILE *to, const struct export *x, const char *title)
{
	fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", "
	      "\"exporter\": \"softpmu\", \"name\": ", to);
	json_string(to, title);
	fputs(", \"shared\": {\"frames\": [", to);
	for (size_t i = 0; i < x->functions; i++) {
		fprintf(to, "%s\n{\"name\": ", i ? "," : "");
		json_string(to, x->function[i].name);
		if (*x->function[i].file || *x->function[i].path) {
			fputs(", \"file\": ", to);
			json_string(to, *x->function[i].file ? x->function[i].file : x->function[i].path);
		}
		fputc('}', to);
	}
	fputs("]},\n\"profiles\": [", to);
	for (size_t e = 0; e < x->events; e++) {
		fprintf(to, "%s\n{\"type\": \"sampled\", \"name\": ", e ? "," : "");
		json_string(to, x->event_name[e]);
		fprintf(to, ", \"unit\": \"none\", \"startValue\": 0, \"endValue\": %llu, \"samples\": [",
			(unsigned long long)x->total[e]);
		bool first = true;
		for (size_t k = 0; k < x->samples; k++) {
			const struct export_stack *s = &x->stack[x->sample[k].stack];
			if (x->sample[k].event != e)
				continue;
			fputs(first ? "\n[" : ",\n[", to);
			first = false;
			for (size_t i = s->depth; i-- > 0;)
				fprintf(to, "%zu%s", x->place[x->frame[s->first + i]].function, i ? "," : "");
			fputc(']', to);
		}
		fputs("],\n\"weights\": [", to);
		first = true;
		for (size_t k = 0; k < x->samples; k++) {
			if (x->sample[k].event != e)
				continue;
			fprintf(to, "%s%llu", first ? "" : ",", (unsigned long long)x->sample[k].value);
			first = false;
		}
		fputs("]}", to);
	}
	fputs("\n]}\n", to);
}
