/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code of a kernel that was executed, as perf.data keeps it: stretches with gaps between them.
 */
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include <stdlib.h>
#include <string.h>

int known_code_parse(struct known_code **out, size_t *count, const void *stretches, size_t bytes)
{
	const uint8_t *p = stretches, *end = p + bytes;
	size_t room = 0;
	uint64_t last = 0;
	*out = NULL;
	*count = 0;
	while ((size_t)(end - p) >= sizeof(struct symbols_stretch)) {
		struct symbols_stretch s;
		memcpy(&s, p, sizeof s);
		p += sizeof s;
		if (s.addr < last || !s.bytes || s.bytes > (size_t)(end - p) || s.addr + s.bytes < s.addr)
			break;
		struct known_code *grown = grow_array(*out, *count, &room, 256, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		*out = grown;
		grown[(*count)++] = (struct known_code){ s.addr, s.bytes, p };
		last = s.addr + s.bytes;
		const size_t padded = (s.bytes + 7) & ~(size_t)7;
		p += padded < (size_t)(end - p) ? padded : (size_t)(end - p);
	}
	return 0;
}

/* The first stretch that ends behind the address. */
static size_t first_behind(const struct symfile *f, uint64_t address)
{
	size_t low = 0, high = f->knowns;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (f->known[middle].addr + f->known[middle].bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t known_code_next(const struct symfile *f, uint64_t *address, uint64_t end)
{
	const size_t i = first_behind(f, *address);
	if (i == f->knowns || f->known[i].addr >= end)
		return 0;
	const uint64_t stop = f->known[i].addr + f->known[i].bytes;
	*address = f->known[i].addr > *address ? f->known[i].addr : *address;
	return (stop < end ? stop : end) - *address;
}

/* Gaps are read as zeros, up to the last byte that is known. */
size_t known_code_read(const struct symfile *f, uint64_t address, uint8_t *into, size_t bytes)
{
	uint64_t at = address;
	size_t n, have = 0;
	memset(into, 0, bytes);
	while ((n = known_code_next(f, &at, address + bytes))) {
		const struct known_code *k = &f->known[first_behind(f, at)];
		memcpy(into + (at - address), k->code + (at - k->addr), n);
		at += n;
		have = at - address;
	}
	return have;
}
