/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes callgrind.out (callgrind_graph.h).  Source: Valgrind manual, "Callgrind Format Specification".  Positions are
 * absolute, which the format allows with --compress-pos=yes, too. */
#include "cli/callgrind/callgrind_graph.h"
#include <stdlib.h>
#include <string.h>

const char *const callgrind_cost_name[CALLGRIND_KINDS] = {
#define X(name) #name,
	CALLGRIND_COSTS(X)
#undef X
};

struct writing {
	FILE *to;
	const struct callgrind_format *f;
	const struct callgrind_run *run;
	/* names that have a number, with --compress-strings: objects, files, functions */
	struct { char **name; size_t count, room; } known[3];
};
enum { OBJECT, SOURCE, FUNCTION };

bool callgrind_has(const struct callgrind_format *f, unsigned kind)
{
	if (kind == CALLGRIND_Cycles)
		return f->cycles;
	return kind == CALLGRIND_Ir || (kind < CALLGRIND_Bc ? f->cache : f->branches);
}

static void print_costs(FILE *to, const struct callgrind_format *f, const uint64_t *cost)
{
	for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
		if (callgrind_has(f, k))
			fprintf(to, " %llu", (unsigned long long)cost[k]);
	fputc('\n', to);
}

/* "fn=NAME", "fn=(3) NAME" the first time and "fn=(3)" later. */
static void name(struct writing *w, const char *key, unsigned kind, const char *text)
{
	bool first = true;
	fprintf(w->to, "%s=", key);
	if (w->f->compress) {
		size_t i = 0;
		while (i < w->known[kind].count && strcmp(w->known[kind].name[i], text))
			i++;
		first = i == w->known[kind].count;
		if (first) {
			char **grown = realloc(w->known[kind].name, (i + 1) * sizeof *grown);
			char *copy = grown ? strdup(text) : NULL;
			if (grown)
				w->known[kind].name = grown;
			if (copy)
				grown[w->known[kind].count++] = copy;
			else
				i = SIZE_MAX;	/* no memory: the name without a number, which is valid */
		}
		if (i != SIZE_MAX)
			fprintf(w->to, "(%zu)%s", i + 1, first ? " " : "");
	}
	for (; first && *text; text++)
		fputc((unsigned char)*text < ' ' ? '?' : *text, w->to);
	fputc('\n', w->to);
}

static const char *source(const struct symbols_place *at, struct symbols_line *line)
{
	struct symbols_line lines[8];
	*line = (struct symbols_line){ .file = "" };
	if (symbols_place_lines(at, lines, 8))
		*line = lines[0];
	return line->file && *line->file ? line->file : "???";
}

static const char *object(const struct symbols_place *at)
{
	return *at->path ? at->path : "???";
}

static void position(struct writing *w, const struct symbols_place *at, unsigned line)
{
	if (w->f->instr)
		fprintf(w->to, "0x%llx%s", (unsigned long long)at->address, w->f->line ? " " : "");
	if (w->f->line || !w->f->instr)
		fprintf(w->to, "%u", line);
}

static bool any(const struct callgrind_node *n)
{
	for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
		if (n->cost[k])
			return true;
	return n->calls;
}

static int by_place(const void *a, const void *b)
{
	const struct callgrind_node *p = *(const struct callgrind_node *const *)a,
				    *q = *(const struct callgrind_node *const *)b;
	if (p->function != q->function)
		return p->function < q->function ? -1 : 1;
	if (p->ip != q->ip)
		return p->ip < q->ip ? -1 : 1;
	return p->callee + 1u < q->callee + 1u ? -1 : p->callee + 1u > q->callee + 1u;	/* itself first */
}

static void write_node(struct writing *w, const struct callgrind_node *n, const char **file)
{
	const struct callgrind_function *own = w->run->function + n->function;
	struct symbols_line line, entry;
	const char *at = source(&n->at, &line);
	if (strcmp(at, *file)) {	/* code that was inlined from another file, or that is not */
		const char *of = source(&own->at, &entry);
		name(w, strcmp(at, of) ? "fi" : "fe", SOURCE, at);
		*file = at;
	}
	if (n->callee != CALLGRIND_NONE) {
		const struct callgrind_function *to = w->run->function + n->callee;
		const char *in = source(&to->at, &entry);
		name(w, "cob", OBJECT, object(&to->at));
		name(w, "cfi", SOURCE, in);
		name(w, "cfn", FUNCTION, to->name);
		fprintf(w->to, "calls=%llu ", (unsigned long long)n->calls);
		position(w, &to->at, entry.line);
		fputc('\n', w->to);
	}
	position(w, &n->at, line.line);
	print_costs(w->to, w->f, n->cost);
}

static void header(struct writing *w, const struct callgrind_graph *g)
{
	const struct callgrind_format *f = w->f;
	if (!f->behind) {
		fprintf(w->to, "# callgrind format\nversion: 1\ncreator: softpmu\npid: %u\ncmd: ", g->pid);
		for (const char *c = f->command; *c; c++)
			fputc((unsigned char)*c < ' ' ? '?' : *c, w->to);
	}
	fprintf(w->to, "\npart: %u\n", g->dumps + 1);
	if (w->run->separate)
		fprintf(w->to, "thread: %u\n", g->thread);
	fprintf(w->to, "\ndesc: Trigger: ");
	for (const char *c = f->trigger; *c; c++)
		fputc((unsigned char)*c < ' ' ? '?' : *c, w->to);
	fprintf(w->to, "\ndesc: Modelled cycles: %llu\n\npositions:%s%s\nevents:",
		(unsigned long long)g->total[CALLGRIND_Cycles], f->instr ? " instr" : "",
		f->line || !f->instr ? " line" : "");
	for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
		if (callgrind_has(f, k))
			fprintf(w->to, " %s", callgrind_cost_name[k]);
	fputs("\nsummary:", w->to);
	print_costs(w->to, f, g->total);
}

void callgrind_write(FILE *to, const struct callgrind_run *r, const struct callgrind_graph *g,
	const struct callgrind_format *f)
{
	struct writing w = { .to = to, .f = f, .run = r };
	const struct callgrind_node **list = malloc((g->nodes + 1) * sizeof *list);
	uint32_t last = CALLGRIND_NONE;
	const char *ob = "", *file = "";
	size_t n = 0;
	header(&w, g);
	for (size_t i = 0; list && i < g->nodes; i++)
		if (any(g->node + i))
			list[n++] = g->node + i;
	if (list)
		qsort(list, n, sizeof *list, by_place);
	for (size_t i = 0; i < n; i++) {
		const struct callgrind_function *own = r->function + list[i]->function;
		if (list[i]->function != last) {
			struct symbols_line line;
			last = list[i]->function;
			fputc('\n', to);
			if (!i || strcmp(ob, object(&own->at)))
				name(&w, "ob", OBJECT, ob = object(&own->at));
			name(&w, "fl", SOURCE, file = source(&own->at, &line));
			name(&w, "fn", FUNCTION, own->name);
		}
		write_node(&w, list[i], &file);
	}
	fputs("\ntotals:", to);
	print_costs(to, f, g->total);
	free(list);
	for (unsigned k = 0; k < 3; k++) {
		for (size_t i = 0; i < w.known[k].count; i++)
			free(w.known[k].name[i]);
		free(w.known[k].name);
	}
}
