/* SPDX-License-Identifier: GPL-2.0-or-later
 * An unbalanced tree ordered by hash: hashes come in no particular order, so the tree does not become a list.
 */
#include "util/texts.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct texts_node { struct texts_node *next[2]; unsigned hash; char text[]; };

unsigned texts_hash(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = 14695981039346656037u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211u;
	return (unsigned)(h ^ h >> 32);
}

const char *texts_keep(struct texts *t, const char *s)
{
	size_t n = strlen(s) + 1;
	unsigned hash = texts_hash(s, n);
	struct texts_node **at = &t->root;
	while (*at) {
		if ((*at)->hash == hash && !strcmp((*at)->text, s))
			return (*at)->text;
		at = &(*at)->next[hash > (*at)->hash];
	}
	*at = calloc(1, sizeof **at + n);
	if (!*at)
		return NULL;
	(*at)->hash = hash;
	memcpy((*at)->text, s, n);
	return (*at)->text;
}

static void free_node(struct texts_node *n)
{
	while (n) {
		struct texts_node *other = n->next[1];
		free_node(n->next[0]);
		free(n);
		n = other;
	}
}

void texts_free(struct texts *t)
{
	free_node(t->root);
	t->root = NULL;
}

bool texts_on_list(const char *list, const char *word)
{
	const size_t n = strlen(word);
	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (strcspn(list, ",") == n && !strncmp(list, word, n))
			return true;
	return false;
}
