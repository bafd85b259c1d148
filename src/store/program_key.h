/* SPDX-License-Identifier: GPL-2.0-or-later
 * The key of a program in the store: its build-id, which the linker makes from its content; or, if it has none
 * (scripts, other linkers), a hash of the file: FNV-1a, 128 bits (draft-eastlake-fnv).  The hash distinguishes
 * files, but gives no protection against deliberately made collisions.
 */
#ifndef STORE_PROGRAM_KEY_H
#define STORE_PROGRAM_KEY_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_KEY_CHARS = 64 };
/* Writes "build-id:HEX" or "fnv1a:HEX" for the file. */
int  program_key(const char *path, char key[PROGRAM_KEY_CHARS], struct err *err);
/* True if the key is a hash: the program has no build-id. */
bool program_key_hashed(const char *key);
/* The key of the first process of a recorded stream (stream.h); path: where the program was.  A program without a
 * build-id is hashed at that path as it is now. */
int  program_key_stream(const char *stream, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes, struct err *err);
#endif
