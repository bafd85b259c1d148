/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws call trees (report_tree.h).  On a terminal names are cut to its width, and the levels of a deep tree stand
 * closer to each other, so that names have room. */
#include "output/report_tree.h"
#include "util/elide.h"
#include <string.h>

enum { TEXT = ELIDE_BYTES, LEVEL = 11, LEAST_LEVEL = 2, LEAST_NAME = 28, INDENT = 12, SMALL_INDENT = 4, SMALL = 100 };

void report_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

const char *report_name(const struct symbol *symbol, bool mangled)
{
	return mangled && symbol->linkage ? symbol->linkage : symbol->name;
}

enum terminal_colour report_colour(double percent)
{
	return percent >= 5 ? TERMINAL_RED : percent >= 0.5 ? TERMINAL_GREEN : TERMINAL_PLAIN;
}

struct drawing {
	FILE *to;
	const struct terminal *terminal;
	unsigned width;		/* of the terminal; 0: any */
	uint64_t whole;
	int margin, level;	/* columns ahead of the tree; of each level above the last */
	int levels;		/* those above the last that are drawn; the outermost are left out */
	bool anything, mangled;
};

static void margin(const struct drawing *d)
{
	fprintf(d->to, "%*s", d->margin, "");
}

static void whole_name(const struct profile_node *n, bool mangled, char text[TEXT])
{
	if (!n->symbol) {
		snprintf(text, TEXT, "%#llx", (unsigned long long)n->ip);
		return;
	}
	snprintf(text, TEXT, "%s%s", report_name(n->symbol, mangled), n->symbol->inlined ? " (inlined)" : "");
	report_plain(text);
}

/* used: columns ahead of the name.  beside: a node nearby, from which it must be told apart, or NULL. */
static void node_name(const struct drawing *d, const struct profile_node *n, unsigned used,
	const struct profile_node *beside)
{
	char text[TEXT], cut[TEXT], other[TEXT];
	whole_name(n, d->mangled, text);
	if (beside)
		whole_name(beside, d->mangled, other);
	const bool cuts = d->width && elide_width(text) + used > d->width;
	if (cuts)
		elide_name(cut, text, d->width > used ? d->width - used : 1, terminal_mark(d->terminal),
			beside ? other : NULL);
	fprintf(d->to, "%s\n", cuts ? cut : text);
}

/* A run of nodes without a branch or the end of a chain is one block.  Returns its last node. */
static const struct profile_node *block_end(const struct profile_node *n)
{
	while (!n->hit && n->children == 1 && n->child)
		n = n->child;
	return n;
}

static int depth_of(const struct profile_node *parent)
{
	int most = 0;
	for (const struct profile_node *c = parent->child; c; c = c->next) {
		const int depth = 1 + depth_of(block_end(c));
		most = depth > most ? depth : most;
	}
	return most;
}

static bool bar(uint32_t mask, int i) { return mask >> (i & 31) & 1; }

/* The first of `depth` levels that is drawn. */
static int first_level(const struct drawing *d, int depth)
{
	return depth - 1 > d->levels ? depth - 1 - d->levels : 0;
}

static void draw_children(struct drawing *d, const struct profile_node *parent, int depth, uint32_t mask)
{
	uint32_t below = mask;
	const struct profile_node *before = NULL;
	const int first = first_level(d, depth);
	const unsigned used = (unsigned)(d->margin + d->level * (depth - 1 - first) + LEVEL);
	for (const struct profile_node *c = parent->child; c; before = c, c = c->next) {
		if (!c->next)
			below &= ~(UINT32_C(1) << ((depth - 1) & 31));
		margin(d);
		for (int i = first; i < depth; i++)
			fprintf(d->to, "%-*s", i == depth - 1 ? LEVEL : d->level, bar(mask, i) ? "|" : " ");
		fputc('\n', d->to);
		const struct profile_node *end = block_end(c);
		for (const struct profile_node *n = c; ; before = n, n = n->child) {
			margin(d);
			for (int i = first; i < depth - 1; i++)
				fprintf(d->to, "%-*s", d->level, bar(below, i) ? "|" : " ");
			fputs(bar(below, depth - 1) ? "|" : " ", d->to);
			if (n == c) {
				const double share = d->whole ? 100.0 * (double)c->total / (double)d->whole : 0;
				fputs("--", d->to);
				terminal_on(d->to, d->terminal, report_colour(share));
				fprintf(d->to, "%.2f%%", share);
				terminal_off(d->to, d->terminal);
				fputs("--", d->to);
			} else {
				fputs("          ", d->to);
			}
			node_name(d, n, used, before);
			if (n == end)
				break;
		}
		d->anything = true;
		draw_children(d, end, depth + 1, below | UINT32_C(1) << (depth & 31));
	}
}

/* Chooses how far levels stand apart. */
static void space_out(struct drawing *d, const struct profile_node *root)
{
	const int depth = depth_of(root), room = (int)d->width - d->margin - LEVEL - LEAST_NAME;
	d->level = LEVEL;
	d->levels = depth;
	if (!d->width || depth < 2 || room >= LEVEL * (depth - 1))
		return;
	d->level = room / (depth - 1);
	d->level = d->level < LEAST_LEVEL ? LEAST_LEVEL : d->level;
	d->levels = room < LEAST_LEVEL ? 0 : room / d->level;
}

void report_tree(FILE *to, const struct profile_event *event, const struct profile_entry *e,
	const struct report_options *o, bool skip_first)
{
	struct drawing d = { .to = to, .terminal = o->terminal, .width = terminal_width(o->terminal, 0),
		.whole = event->period, .mangled = o->mangled };
	const struct profile_node *root = e->tree, *before = NULL;
	uint64_t own = event->children ? e->total : e->self;
	d.margin = d.width && d.width < SMALL ? SMALL_INDENT : INDENT;
	/* A single branch with everything below it needs no percentage. */
	if (root->child && !root->child->next && root->child->total == own) {
		const struct profile_node *n = root->child, *end = block_end(n);
		for (bool first = true; ; before = n, n = n->child) {
			if (!(first && skip_first)) {
				if (!d.anything) {
					margin(&d);
					fputs("|\n", to);
					margin(&d);
					fputs("---", to);
					d.margin += 3;
					d.anything = true;
				} else {
					margin(&d);
				}
				node_name(&d, n, (unsigned)d.margin, before);
			}
			first = false;
			if (n == end)
				break;
		}
		root = end;
	}
	space_out(&d, root);
	draw_children(&d, root, 1, 1);
	if (d.anything)
		fputc('\n', to);
}
