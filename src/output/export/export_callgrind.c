/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes callgrind.out, with the sampled events as columns.
 *
 * Source: Valgrind manual, "Callgrind Format Specification".  Positions are the instruction's address in its file and
 * its line.
 * Samples do not give the number of calls: `calls=` has the number of different stacks through the call.
 */
#include "output/export/export.h"
#include <stdlib.h>
#include <string.h>

/* A cost line: of an instruction (callee is SIZE_MAX), or of a call made there. */
struct cost { size_t function, place, callee, calls, seen; };

struct table { struct cost *cost; uint64_t *value; size_t costs, room, *slot, slots; };

static size_t hash(size_t place, size_t callee)
{
	uint64_t h = ((uint64_t)place * UINT64_C(0x9e3779b97f4a7c15) ^ callee) * UINT64_C(0xbf58476d1ce4e5b9);
	return (size_t)(h ^ h >> 31);
}

static bool add(struct table *t, const struct export *x, size_t place, size_t callee, size_t stack)
{
	if (2 * (t->costs + 1) > t->slots) {
		size_t slots = t->slots ? 2 * t->slots : 1024, *slot = calloc(slots, sizeof *slot);
		if (!slot)
			return false;
		for (size_t i = 0; i < t->costs; i++) {
			size_t at = hash(t->cost[i].place, t->cost[i].callee) & (slots - 1);
			while (slot[at])
				at = (at + 1) & (slots - 1);
			slot[at] = i + 1;
		}
		free(t->slot);
		t->slot = slot;
		t->slots = slots;
	}
	size_t at = hash(place, callee) & (t->slots - 1);
	while (t->slot[at] && (t->cost[t->slot[at] - 1].place != place || t->cost[t->slot[at] - 1].callee != callee))
		at = (at + 1) & (t->slots - 1);
	if (!t->slot[at]) {
		if (t->costs == t->room) {
			size_t room = t->room ? 2 * t->room : 256;
			struct cost *cost = realloc(t->cost, room * sizeof *cost);
			if (cost)
				t->cost = cost;
			uint64_t *value = cost ? realloc(t->value, room * x->events * sizeof *value) : NULL;
			if (!value)
				return false;
			t->value = value;
			t->room = room;
		}
		t->cost[t->costs] = (struct cost){ x->place[place].function, place, callee, 0, SIZE_MAX };
		memset(t->value + t->costs * x->events, 0, x->events * sizeof *t->value);
		t->slot[at] = ++t->costs;
	}
	struct cost *c = &t->cost[t->slot[at] - 1];
	if (c->seen == stack)
		return true;	/* recursion is charged once */
	c->seen = stack;
	c->calls++;
	for (size_t e = 0; e < x->events; e++)
		t->value[(size_t)(c - t->cost) * x->events + e] += x->value[stack * x->events + e];
	return true;
}

static void name(FILE *to, const char *key, const char *text)
{
	fprintf(to, "%s=", key);
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' ? '?' : *text, to);
	fputc('\n', to);
}

static void line(FILE *to, const struct export *x, size_t place, const uint64_t *value)
{
	fprintf(to, "%#llx %u", (unsigned long long)x->place[place].at.address, x->place[place].line);
	for (size_t e = 0; e < x->events; e++)
		fprintf(to, " %llu", (unsigned long long)value[e]);
	fputc('\n', to);
}

static void write_costs(FILE *to, const struct export *x, const struct table *t, size_t *first, size_t *next)
{
	memset(first, 0xff, x->functions * sizeof *first);
	for (size_t i = t->costs; i-- > 0;) {
		next[i] = first[t->cost[i].function];
		first[t->cost[i].function] = i;
	}
	for (size_t f = 0; f < x->functions; f++) {
		const char *file = *x->function[f].file ? x->function[f].file : "???";
		if (first[f] == SIZE_MAX)
			continue;
		fputc('\n', to);
		name(to, "ob", *x->function[f].path ? x->function[f].path : x->function[f].dso);
		name(to, "fl", file);
		name(to, "fn", x->function[f].name);
		for (size_t i = first[f]; i != SIZE_MAX; i = next[i]) {
			const struct cost *c = &t->cost[i];
			const char *at = *x->place[c->place].file ? x->place[c->place].file : "???";
			if (strcmp(at, file))	/* inlined from another file */
				name(to, strcmp(at, *x->function[f].file ? x->function[f].file : "???") ? "fi" : "fe",
					at);
			file = at;
			if (c->callee != SIZE_MAX) {
				const struct export_function *g = &x->function[c->callee];
				name(to, "cob", *g->path ? g->path : g->dso);
				name(to, "cfi", *g->file ? g->file : "???");
				name(to, "cfn", g->name);
				fprintf(to, "calls=%zu %#llx %u\n", c->calls,
					(unsigned long long)(g->symbol ? g->symbol->start
								       : x->place[g->place].at.address),
					x->place[g->place].line);
			}
			line(to, x, c->place, t->value + i * x->events);
		}
	}
}

int export_callgrind(FILE *to, const struct export *x, const char *command, struct err *err)
{
	struct table t = { 0 };
	bool good = true;
	for (size_t s = 0; s < x->stacks && good; s++) {
		const size_t *frame = x->frame + x->stack[s].first;
		good = add(&t, x, frame[0], SIZE_MAX, s);
		for (size_t i = 1; i < x->stack[s].depth && good; i++)
			good = add(&t, x, frame[i], x->place[frame[i - 1]].function, s);
	}
	size_t *first = calloc(x->functions + 1, sizeof *first), *next = calloc(t.costs + 1, sizeof *next);
	if (good && first && next) {
		fputs("# callgrind format\nversion: 1\ncreator: softpmu\n", to);
		fprintf(to, "cmd: %s\npositions: instr line\n", command);
		fputs("events:", to);
		for (size_t e = 0; e < x->events; e++) {	/* words */
			fputc(' ', to);
			for (const char *p = x->event_name[e]; *p; p++)
				fputc((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')
						? *p
						: '_',
					to);
		}
		fputs("\nsummary:", to);
		for (size_t e = 0; e < x->events; e++)
			fprintf(to, " %llu", (unsigned long long)x->total[e]);
		fputc('\n', to);
		write_costs(to, x, &t, first, next);
		fputs("\ntotals:", to);
		for (size_t e = 0; e < x->events; e++)
			fprintf(to, " %llu", (unsigned long long)x->total[e]);
		fputc('\n', to);
	} else {
		good = false;
	}
	free(first);
	free(next);
	free(t.cost);
	free(t.value);
	free(t.slot);
	return good ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}
