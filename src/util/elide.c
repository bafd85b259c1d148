/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cuts names to a width (elide.h). */
#include "util/elide.h"
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 256, LEAST = 4, LEAST_AROUND = 12 };

/* A part in brackets: from behind the opening bracket up to the closing one. */
struct group { size_t from, to; unsigned depth; bool call, gone; };

struct cutting {
	const char *name, *mark;
	size_t bytes;
	struct group group[MOST_GROUPS];
	size_t groups;
	size_t from, to;	/* bytes to be kept; from == to: none */
};

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t elide_width(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += !continues(*text);
	return n;
}

static size_t width_of(const char *text, size_t bytes)
{
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++)
		n += !continues(text[i]);
	return n;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

/* The bytes of "operator<<" and the like at name[at], whose brackets are no groups; 0: there is none. */
static size_t operator_at(const char *name, size_t at)
{
	static const char word[] = "operator";
	if (strncmp(name + at, word, sizeof word - 1) || (at && is_word(name[at - 1])) || is_word(name[at + 8]))
		return 0;
	if (!strncmp(name + at + 8, "()", 2))
		return 10;
	return 8 + strspn(name + at + 8, "<>=-!");
}

/* Finds the groups.  Brackets that do not match are plain text. */
static void find_groups(struct cutting *c)
{
	static const char nameless[] = "(anonymous namespace)", inlined[] = "(inlined)";
	size_t open[64], depth = 0;
	for (size_t i = 0; i < c->bytes && c->groups < MOST_GROUPS; i++) {
		const size_t skip = !strncmp(c->name + i, nameless, sizeof nameless - 1) ? sizeof nameless - 1
			: !strcmp(c->name + i, inlined)                                  ? sizeof inlined - 1
											 : operator_at(c->name, i);
		const char ch = c->name[i];
		if (skip) {
			i += skip - 1;
		} else if (ch == '<' || ch == '(') {
			if (depth == sizeof open / sizeof *open)
				return;
			open[depth++] = i;
		} else if ((ch == '>' && !(i && c->name[i - 1] == '-')) || ch == ')') {
			if (depth && c->name[open[depth - 1]] == (ch == '>' ? '<' : '(')) {
				depth--;
				c->group[c->groups++] = (struct group){ .from = open[depth] + 1, .to = i,
					.depth = (unsigned)depth, .call = ch == ')' };
			}
		}
	}
}

/* Writes the name without the groups that are gone.  *from, *to: where the part to be kept is in the text. */
static size_t render(const struct cutting *c, char text[ELIDE_BYTES], size_t *from, size_t *to)
{
	size_t n = 0;
	*from = *to = SIZE_MAX;
	for (size_t i = 0; i <= c->bytes; i++) {
		size_t behind = i;
		for (size_t g = 0; g < c->groups; g++)
			if (c->group[g].gone && c->group[g].from == i && c->group[g].to > behind)
				behind = c->group[g].to;
		if (c->from <= i && *from == SIZE_MAX)
			*from = n;
		if (c->to <= i && *to == SIZE_MAX)
			*to = n;
		if (behind > i) {	/* a group ends before c->bytes */
			memcpy(text + n, c->mark, strlen(c->mark));
			n += strlen(c->mark);
			i = behind;
		}
		if (i < c->bytes)
			text[n++] = c->name[i];
	}
	text[n] = 0;
	return n;
}

/* The group that goes next: calls first, then the deepest, then the longest; NULL: none is left that would gain. */
static struct group *next_group(struct cutting *c)
{
	struct group *best = NULL;
	const size_t mark = elide_width(c->mark);
	for (size_t g = 0; g < c->groups; g++) {
		struct group *k = c->group + g;
		bool inside = k->gone || width_of(c->name + k->from, k->to - k->from) <= mark ||
			(c->from < c->to && k->from < c->to && c->from < k->to);
		for (size_t i = 0; i < c->groups && !inside; i++)
			inside = c->group[i].gone && c->group[i].from <= k->from && k->to <= c->group[i].to;
		if (inside)
			continue;
		const bool call = k->call && !k->depth, best_call = best && best->call && !best->depth;
		if (!best || (call != best_call ? call : k->depth != best->depth ? k->depth > best->depth
					  : k->to - k->from > best->to - best->from))
			best = k;
	}
	return best;
}

/* Bytes of the first n characters. */
static size_t head_bytes(const char *text, size_t n)
{
	size_t i = 0;
	for (; text[i] && (n || continues(text[i])); i++)
		n -= n && !continues(text[i]);
	while (continues(text[i]))
		i++;
	return i;
}

/* Where the last n characters begin. */
static size_t tail_start(const char *text, size_t bytes, size_t n)
{
	size_t i = bytes;
	while (i && n)
		n -= !continues(text[--i]);
	return i;
}

/* Leaves out qualifiers that end ahead of text[until], from the left, until the text fits.  If it does not fit whatever
 * goes, all of them go (`all`) or none.  Returns by how many bytes the text became shorter. */
static size_t drop_qualifiers(char text[ELIDE_BYTES], size_t bytes, size_t until, size_t width, const char *mark,
	bool all)
{
	const size_t more = strlen(mark);
	size_t best = 0;
	int depth = 0;
	for (size_t i = 0; i + 1 < until; i++) {
		const size_t skip = operator_at(text, i);
		if (skip) {
			i += skip - 1;
			continue;
		}
		depth += text[i] == '<' || text[i] == '(';
		depth -= text[i] == '>' || text[i] == ')';
		if (depth || text[i] != ':' || text[i + 1] != ':' || i <= more)
			continue;
		const bool fits = width_of(text + i, bytes - i) + elide_width(mark) <= width;
		best = fits || all ? i : 0;
		if (fits)
			break;
		i++;
	}
	if (!best)
		return 0;
	memmove(text + more, text + best, bytes - best + 1);
	memcpy(text, mark, more);
	return best - more;
}

/* Keeps the head, text[from..to) and the tail, with marks between. */
static void cut_around(char text[ELIDE_BYTES], size_t bytes, size_t from, size_t to, size_t width, const char *mark)
{
	char out[ELIDE_BYTES];
	const size_t m = elide_width(mark), room = width - 2 * m;
	size_t middle = width_of(text + from, to - from), n = 0;
	middle = middle < (room + 1) / 2 ? middle : (room + 1) / 2;
	const size_t side = room - middle, half = side - side / 2;
	to = from + head_bytes(text + from, middle);
	/* the function's own name, behind the last "::", is worth more than the beginning */
	size_t own = bytes;
	while (own > to && text[own - 1] != ':')
		own--;
	const size_t wanted = own > to ? width_of(text + own, bytes - own) : 0;
	const size_t behind = wanted > half && wanted <= side ? wanted : half;
	size_t head = head_bytes(text, side - behind), tail = tail_start(text, bytes, behind);
	head = head > from ? from : head;
	tail = tail < to ? to : tail;
	const size_t part[3][2] = { { 0, head }, { from, to }, { tail, bytes } };
	for (unsigned k = 0; k < 3; k++) {
		if (k && part[k][0] > part[k - 1][1]) {
			memcpy(out + n, mark, strlen(mark));
			n += strlen(mark);
		}
		memcpy(out + n, text + part[k][0], part[k][1] - part[k][0]);
		n += part[k][1] - part[k][0];
	}
	out[n] = 0;
	memcpy(text, out, n + 1);
}

/* Where `a` differs from `b`: from the start of the first word that differs to the end of the last. */
static void find_difference(const char *a, size_t bytes, const char *b, size_t *from, size_t *to)
{
	size_t p = 0, s = 0, other = strlen(b);
	while (p < bytes && a[p] == b[p])
		p++;
	while (s < bytes - p && s < other - (p < other ? p : other) && a[bytes - 1 - s] == b[other - 1 - s])
		s++;
	while (p && is_word(a[p - 1]))
		p--;
	while (s && is_word(a[bytes - s]))
		s--;
	*from = p;
	*to = bytes - s > p ? bytes - s : p < bytes ? p + 1 : p;
}

static void cut_name(char text[ELIDE_BYTES], const char *name, size_t width, const char *mark, const char *other)
{
	struct cutting c = { .name = name, .mark = mark, .bytes = strlen(name) };
	size_t from, to, bytes;
	struct group *g;
	width = width < LEAST ? LEAST : width;
	/* a mark may be longer than the group that it stands for, in bytes */
	if (c.bytes > ELIDE_BYTES - 1024)
		c.bytes = tail_start(name, ELIDE_BYTES - 1024, 1);
	if (other)
		find_difference(name, c.bytes, other, &c.from, &c.to);
	find_groups(&c);
	while ((bytes = render(&c, text, &from, &to)) && width_of(text, bytes) > width && (g = next_group(&c)))
		g->gone = true;
	if (width_of(text, bytes) <= width)
		return;
	const bool kept = from < to && to <= bytes && width >= LEAST_AROUND;
	const size_t dropped = drop_qualifiers(text, bytes, kept ? from : bytes, width, mark, kept);
	bytes -= dropped;
	if (width_of(text, bytes) <= width)
		return;
	if (kept) {
		cut_around(text, bytes, from - dropped, to - dropped, width, mark);
	} else {
		const size_t keep = width - elide_width(mark), head = head_bytes(text, keep / 2);
		const size_t tail = tail_start(text, bytes, keep - keep / 2), more = strlen(mark);
		memmove(text + head + more, text + tail, bytes - tail + 1);
		memcpy(text + head, mark, more);
	}
}

void elide_name(char text[ELIDE_BYTES], const char *name, size_t width, const char *mark, const char *other)
{
	char its[ELIDE_BYTES];
	cut_name(text, name, width, mark, NULL);
	if (!other || !strcmp(name, other) || !strcmp(text, name))
		return;
	cut_name(its, other, width, mark, NULL);
	if (!strcmp(text, its))
		cut_name(text, name, width, mark, other);
}

struct cut { const char *name; char *text; size_t at; };

static int by_text(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	const int c = strcmp(x->text, y->text);
	return c ? c : strcmp(x->name, y->name);
}

bool elide_names(char **cut, const char *const *name, size_t names, size_t width, const char *mark)
{
	struct cut *k = calloc(names + 1, sizeof *k);
	char *text = malloc(ELIDE_BYTES);
	size_t n = 0, done = 0;
	memset(cut, 0, names * sizeof *cut);
	for (size_t i = 0; k && text && i < names; i++, done++) {
		if (!name[i] || elide_width(name[i]) <= width)
			continue;
		elide_name(text, name[i], width, mark, NULL);
		k[n] = (struct cut){ .name = name[i], .text = strdup(text), .at = i };
		if (!k[n++].text)
			break;
	}
	if (k && done == names)
		qsort(k, n, sizeof *k, by_text);
	for (size_t i = 0, same; k && done == names && i < n; i = same) {
		const char *before = NULL;
		for (same = i + 1; same < n && !strcmp(k[same].text, k[i].text); )
			same++;
		for (size_t j = i; j < same; j++) {	/* each beside a neighbour with another name */
			const char *other = before && strcmp(before, k[j].name) ? before : NULL;
			for (size_t m = j + 1; m < same && !other; m++)
				other = strcmp(k[m].name, k[j].name) ? k[m].name : NULL;
			for (size_t m = j; m > i && !other; m--)
				other = strcmp(k[m - 1].name, k[j].name) ? k[m - 1].name : NULL;
			before = k[j].name;
			if (!other)
				break;		/* all of them are one name */
			elide_name(text, k[j].name, width, mark, other);
			cut[k[j].at] = strdup(text);
			done = cut[k[j].at] ? done : SIZE_MAX;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (done == names && !cut[k[i].at])
			cut[k[i].at] = k[i].text;
		else
			free(k[i].text);
	}
	for (size_t i = 0; done != names && i < names; i++) {
		free(cut[i]);
		cut[i] = NULL;
	}
	free(k);
	free(text);
	return done == names;
}
