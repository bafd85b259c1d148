/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory that grows as it is written.  All zero: empty.
 */
#ifndef UTIL_BYTES_H
#define UTIL_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes { uint8_t *data; size_t size, room; bool failed; /* no memory: what came since is not in it */ };

void bytes_put(struct bytes *b, const void *p, size_t n);
void bytes_free(struct bytes *b);
#endif
