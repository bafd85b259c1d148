/* SPDX-License-Identifier: GPL-2.0-or-later
 * Nearest names.  A name is split into parts at . : _ - and space, which all count as the same character; capitals and
 * small letters count as the same, too.  The kinds of mistakes, best matches first:
 *
 *   misspelt    a few letters changed, lost, added or exchanged in the whole name      cyles          cycles
 *   cut off     as misspelt, against the beginning of the name or of a later part         robb           rob.size
 *   guessed     the first part is right, the rest is another word                      rob.entries    rob.size
 *
 * Left out: synonyms, and which keys are neighbours on the keyboard.
 */
#include "util/near.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	EDIT = 64,		/* score of one letter's difference; the smaller terms only order equal spellings */
	CUT_OFF = 16,		/* the known name goes on with another part; the number of letters left is added */
	WITHIN_WORD = 24,	/* the known name goes on within a word; the number of letters left is added */
	NOT_FIRST = 24,		/* the match begins at a later part of the known name */
	GUESSED = 1000,
	NONE = 100000,
};

static char fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + 'a' - 'A');
	return c == ':' || c == '_' || c == '-' || c == ' ' ? '.' : c;
}

static size_t fold_text(char out[NEAR_CHARS], const char *text, size_t n)
{
	if (n >= NEAR_CHARS)
		n = 0;
	for (size_t i = 0; i < n; i++)
		out[i] = fold(text[i]);
	out[n] = 0;
	return n;
}

/* How many letters of an n-letter word may differ: one in three, but at least one and at most four. */
static unsigned tolerance(size_t n)
{
	return n < 6 ? 1 : n < 12 ? (unsigned)(n / 3) : 4;
}

/* The edit distance from a to every prefix of b: insertions, deletions, changes, and exchanges of neighbours (Damerau's
 * distance in its restricted form: no letter is moved twice). */
static void distances(const char *a, size_t n, const char *b, size_t m, unsigned out[NEAR_CHARS])
{
	unsigned row[3][NEAR_CHARS];
	for (size_t j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);
			best = up[j] + 1 < best ? up[j] + 1 : best;
			best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			now[j] = best;
		}
	}
	memcpy(out, row[n % 3], (m + 1) * sizeof *out);
}

/* Score of `wanted` against the known name from one of its parts on. */
static unsigned score_from(const char *wanted, size_t n, const char *rest, size_t m, bool first)
{
	unsigned steps[NEAR_CHARS], least = NONE, best = NONE;
	size_t dashes = strspn(wanted, "."), letters = n - dashes, part = dashes + strcspn(wanted + dashes, ".");
	distances(wanted, part, rest, m, steps);
	for (size_t j = 1; j <= m; j++)
		least = steps[j] < least ? steps[j] : least;
	if (least > tolerance(part - dashes))
			return NONE;	/* the first part decides: rob.entries is not near itlb.entries */
	distances(wanted, n, rest, m, steps);
	for (size_t j = 1; j <= m; j++) {
		bool whole = j == m, end = rest[j] == '.';
		/* Half a short word that is also misspelt would match everything; so would a single letter. */
		if (steps[j] > tolerance(letters) ||
			(!whole && (letters < 2 || (!end && steps[j] && (letters < 4 || steps[j] > 1)))))
			continue;
		unsigned score = steps[j] * EDIT + (first ? 0 : NOT_FIRST) +
				 (whole ? 0 : (end ? CUT_OFF : WITHIN_WORD) + (unsigned)(m - j));
		best = score < best ? score : best;
	}
	return best;
}

static unsigned score(const char *wanted, const char *name, size_t m)
{
	size_t n = strlen(wanted), first = strcspn(wanted, ".");
	unsigned best = score_from(wanted, n, name, m, true);
	for (size_t i = 1; i < m; i++)
		if (name[i - 1] == '.' && name[i] != '.') {
			unsigned s = score_from(wanted, n, name + i, m - i, false);
			best = s < best ? s : best;
		}
	if (best == NONE && first > 1 && first < n && strcspn(name, ".") == first && !memcmp(wanted, name, first)) {
		unsigned steps[NEAR_CHARS];
		distances(wanted, n, name, m, steps);
		best = GUESSED + steps[m] * EDIT;
	}
	return best;
}

void near_start(struct near *n, const char *wanted)
{
	memset(n, 0, sizeof *n);
	fold_text(n->wanted, wanted, strlen(wanted));
}

void near_offer(struct near *n, const char *name, size_t length)
{
	char folded[NEAR_CHARS];
	int at = NEAR_NAMES;
	if (!n->wanted[0] || !fold_text(folded, name, length))
		return;
	unsigned s = score(n->wanted, folded, length);
	if (s == NONE)
		return;
	for (int i = 0; i < NEAR_NAMES; i++)
		if (strlen(n->best[i].name) == length && !strncasecmp(n->best[i].name, name, length))
			return;
	/* Among equal scores a shorter name goes first: more of it was typed. */
	while (at && (!n->best[at - 1].name[0] || s < n->best[at - 1].score ||
		      (s == n->best[at - 1].score && length < strlen(n->best[at - 1].name))))
		at--;
	if (at == NEAR_NAMES)
		return;
	memmove(n->best + at + 1, n->best + at, (size_t)(NEAR_NAMES - 1 - at) * sizeof *n->best);
	memcpy(n->best[at].name, name, length);
	n->best[at].name[length] = 0;
	n->best[at].score = s;
}

bool near_text(const struct near *n, const char *before, char *text, size_t bytes)
{
	size_t used = 0;
	if (bytes)
		text[0] = 0;
	/* A name two edits or more worse than the best is left out: it was hardly meant. */
	for (int i = 0; i < NEAR_NAMES && n->best[i].name[0] && n->best[i].score < n->best[0].score + 2 * EDIT; i++) {
		int w = snprintf(text + used, bytes - used, "%s%s", i ? ", " : before, n->best[i].name);
		if (w < 0 || (size_t)w >= bytes - used) {
			text[used] = 0;
			break;
		}
		used += (size_t)w;
	}
	return used;
}
