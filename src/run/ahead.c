/* SPDX-License-Identifier: GPL-2.0-or-later
 * Copies the slots of blocks that wait (ahead.h).
 */
#include "run/ahead.h"
#include <stdlib.h>
#include <string.h>

int ahead_keep(struct ahead *a, struct err *err)
{
	const unsigned to = !a->turn, mask = CONVERGE_BLOCKS - 1;
	size_t words = 0;
	for (uint32_t n = a->converge.first; n != a->converge.end; n++)
		words += a->pending[n & mask].slot_count;
	if (words > a->kept_size[to]) {
		uint64_t *bigger = realloc(a->kept[to], words * sizeof *bigger);
		if (!bigger)
			return err_set(err, ERR_NOMEM, "out of memory for the slots of blocks");
		a->kept[to] = bigger;
		a->kept_size[to] = words;
	}
	uint64_t *at = a->kept[to];
	for (uint32_t n = a->converge.first; n != a->converge.end; n++) {
		struct pending *p = &a->pending[n & mask];
		if (!p->slot_count)	/* there may be no buffer */
			continue;
		memcpy(at, p->slots, p->slot_count * sizeof *at);
		p->slots = a->converge.block[n & mask].slots = at;
		at += p->slot_count;
	}
	a->turn = to;
	return 0;
}

void ahead_destroy(struct ahead *a)
{
	if (a) {
		free(a->kept[0]);
		free(a->kept[1]);
	}
	free(a);
}
