/* SPDX-License-Identifier: GPL-2.0-or-later
 * A byte buffer that grows as it is written.  All fields zero: empty.
 */
#ifndef UTIL_BYTES_H
#define UTIL_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t size, room;
	bool failed;	/* out of memory: this put and all later ones were dropped; what came before is intact */
};

/* Appends n bytes; on failure sets b->failed and leaves the data as they are. */
void bytes_put(struct bytes *b, const void *p, size_t n);
void bytes_free(struct bytes *b);
#endif
