/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes of address spaces (spaces.h). */
#include "run/threads/spaces.h"
#include <stdlib.h>
#include <string.h>

#define PROGRAMS UINT64_C(0x1000)

static uint64_t tables_of(const struct spaces *s, uint64_t tag)
{
	return tag < s->count ? s->tables[tag] : 0;
}

void spaces_enter(struct spaces *s, uint64_t tag, uint64_t tables)
{
	if (tag >= s->count) {
		const size_t count = 2 * (size_t)tag + 64;
		uint64_t *grown = realloc(s->tables, count * sizeof *grown);
		if (!grown)
			return;
		memset(grown + s->count, 0, (count - s->count) * sizeof *grown);
		s->tables = grown;
		s->count = count;
	}
	s->tables[tag] = tables + 1;
}

void spaces_program(struct spaces *s, uint64_t tag)
{
	const uint64_t tables = tables_of(s, tag);
	s->split |= tables && (tables - 1) & PROGRAMS;
	s->whole |= tables && !((tables - 1) & PROGRAMS);
}

uint64_t spaces_process(const struct spaces *s, uint64_t tag)
{
	const uint64_t tables = tables_of(s, tag);
	if (!s->split || s->whole || !tables || (tables - 1) & PROGRAMS)
		return tag;
	if (tables_of(s, tag + 1) == tables + PROGRAMS)		/* the two are entered one behind the other */
		return tag + 1;
	for (size_t i = 0; i < s->count; i++)
		if (s->tables[i] == tables + PROGRAMS)
			return i;
	return tag;
}

void spaces_release(struct spaces *s)
{
	free(s->tables);
	*s = (struct spaces){ 0 };
}
