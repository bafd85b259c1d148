/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/bytes.h"
#include <stdlib.h>
#include <string.h>

void bytes_put(struct bytes *b, const void *p, size_t n)
{
	if (b->failed || !n)
		return;
	if (n > b->room - b->size) {
		size_t room = (b->room + n) * 2 + 256;
		uint8_t *data = n < SIZE_MAX / 4 - b->room ? realloc(b->data, room) : NULL;
		if (!data) {
			b->failed = true;
			return;
		}
		b->data = data;
		b->room = room;
	}
	memcpy(b->data + b->size, p, n);
	b->size += n;
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}
