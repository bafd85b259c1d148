/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a program is called in the store: by its build-id, which the linker makes of its contents; where it has none (scripts, other linkers) by
 * a hash of the file: FNV-1a, 128 bits (draft-eastlake-fnv), which tells files apart but not against somebody who makes two alike.
 */
#ifndef STORE_PROGRAM_KEY_H
#define STORE_PROGRAM_KEY_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_KEY_CHARS = 64 };
/* "build-id:HEX" or "fnv1a:HEX" of the file. */
int  program_key(const char *path, char key[PROGRAM_KEY_CHARS], struct err *err);
/* The same from the bytes of a build-id. */
void program_key_build_id(const uint8_t *id, unsigned bytes, char key[PROGRAM_KEY_CHARS]);
/* No build-id: it was hashed. */
bool program_key_hashed(const char *key);
/* Of the first process of a recorded stream (stream.h); path: where it was.  A program without a build-id is hashed where it is now. */
int  program_key_stream(const char *stream, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes, struct err *err);
#endif
