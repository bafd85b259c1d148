/* SPDX-License-Identifier: GPL-2.0-or-later
 * FNV-1a, 128 bits (draft-eastlake-fnv).  It distinguishes contents, but gives no protection against deliberately made
 * collisions.
 */
#ifndef UTIL_FNV_H
#define UTIL_FNV_H
#include "util/err.h"
#include <stddef.h>

struct fnv { unsigned __int128 hash; };
enum { FNV_CHARS = 33 };		/* of a hash in hexadecimal, with its NUL */

void fnv_init(struct fnv *f);
void fnv_bytes(struct fnv *f, const void *bytes, size_t n);
/* The text with its NUL, so that texts that follow each other do not run together. */
void fnv_text(struct fnv *f, const char *text);
void fnv_hex(const struct fnv *f, char hex[FNV_CHARS]);
/* Adds a file's content.  ERR_INPUT: it is none; ERR_SYSTEM. */
int  fnv_file(struct fnv *f, const char *path, struct err *err);
#endif
