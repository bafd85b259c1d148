/* SPDX-License-Identifier: GPL-2.0-or-later
 * How long a walk may be: a little longer than the core lately got behind the same branch (walker.h).
 */
#include "core/wrongpath/walker_state.h"

void walker_follow(struct walker *w, uint64_t behind)
{
	w->behind = behind;
	w->oldest = w->newest;
}

void walker_made(struct walker *w, size_t words)
{
	w->made += words;
}

uint16_t *walker_ran(struct walker *w)
{
	return w->ran;
}

unsigned walk_pace_ahead(struct walker *w, unsigned pace)
{
	while (w->oldest != w->newest) {	/* the core is done with these */
		const uint32_t i = w->oldest & (WALKS_UNDER_WAY - 1);
		const struct walk_under_way *u = &w->under_way[i];
		if (w->made - u->made < w->behind)
			break;
		uint16_t *p = &w->pace[u->pace];
		const unsigned ran = w->ran[i] < u->words ? w->ran[i] : 2 * u->words;
		*p = (uint16_t)(ran >= *p ? ran < WALK_ROOM ? ran : WALK_ROOM : *p - ((*p - ran) >> 4));
		w->oldest++;
	}
	unsigned most = w->pace[pace] + 32;
	return !w->behind || !w->pace[pace] || most > WALK_ROOM ? WALK_ROOM : most < PACE_FLOOR ? PACE_FLOOR : most;
}

uint64_t walk_pace_note(struct walker *w, unsigned pace, unsigned words)
{
	if (!w->behind || w->newest - w->oldest >= WALKS_UNDER_WAY)
		return 0;
	const uint32_t i = w->newest++ & (WALKS_UNDER_WAY - 1);
	w->under_way[i] = (struct walk_under_way){ w->made, (uint16_t)pace, (uint16_t)words };
	return i + 1;
}
