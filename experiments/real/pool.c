/* SPDX-License-Identifier: GPL-2.0-or-later
 * An allocator for a program with one thread: blocks of up to 512 bytes come from lists, one for each 16 bytes of size,
 * and go back there; they never meet again to larger ones.  experiments/real-changes.sh links it into jq. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 16, CLASSES = 33, CHUNK = 1 << 16 };
union block {	/* before the memory */
	union block *next;
	struct { size_t bytes; } of;
	_Alignas(16) char room[UNIT];
};
extern void *__libc_malloc(size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static union block *freed[CLASSES];
static char *chunk, *end;

static size_t class_of(size_t bytes) { return bytes / UNIT + (bytes % UNIT != 0); }

static void *pool_take(size_t bytes)
{
	const size_t k = class_of(bytes);
	union block *b = k < CLASSES ? freed[k] : NULL;
	if (b) {
		freed[k] = b->next;
	} else if (k < CLASSES) {
		const size_t all = (k + 1) * UNIT;
		if ((size_t)(end - chunk) < all) {
			chunk = __libc_malloc(CHUNK);
			end = chunk ? chunk + CHUNK : NULL;
		}
		b = (union block *)(void *)chunk;
		chunk += chunk ? all : 0;
	} else {
		b = bytes < SIZE_MAX - sizeof *b ? __libc_malloc(sizeof *b + bytes) : NULL;
	}
	if (!b)
		return NULL;
	b->of.bytes = bytes;
	return b + 1;
}

static void pool_give(void *p)
{
	union block *b = p ? (union block *)p - 1 : NULL;
	const size_t k = b ? class_of(b->of.bytes) : 0;
	if (b && k < CLASSES) {
		b->next = freed[k];
		freed[k] = b;
	} else {
		__libc_free(b);
	}
}

void *malloc(size_t bytes) { return pool_take(bytes); }
void free(void *p) { pool_give(p); }
void *calloc(size_t n, size_t bytes)
{
	size_t all;
	void *p = __builtin_mul_overflow(n, bytes, &all) ? NULL : pool_take(all);
	return p ? memset(p, 0, all) : NULL;
}

void *realloc(void *p, size_t bytes)
{
	union block *b = p ? (union block *)p - 1 : NULL;
	const size_t had = b ? b->of.bytes : 0;
	if (b && class_of(had) >= CLASSES && class_of(bytes) >= CLASSES) {
		b = __libc_realloc(b, sizeof *b + bytes);
		if (!b)
			return NULL;
		b->of.bytes = bytes;
		return b + 1;
	}
	void *to = pool_take(bytes);
	if (!to)
		return NULL;
	memcpy(to, p ? p : "", had < bytes ? had : bytes);
	pool_give(p);
	return to;
}
