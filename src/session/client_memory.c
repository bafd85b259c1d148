/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's memory, seen by its PMU (client_memory.h). */
#include "session/client_memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct client_page {
	uint64_t base;
	uint8_t state[CLIENT_PAGE];	/* of each byte */
	uint8_t byte[CLIENT_PAGE];
};
enum { UNKNOWN, KNOWN, WRITTEN };

static struct client_page *find(const struct client_memory *m, uint64_t base)
{
	for (size_t i = m->pages; i-- > 0;)	/* the newest first */
		if (m->page[i]->base == base)
			return m->page[i];
	return NULL;
}

static struct client_page *get(struct client_memory *m, uint64_t base)
{
	struct client_page *p = find(m, base);
	if (p || m->pages == CLIENT_PAGES || !(p = calloc(1, sizeof *p)))
		return p;
	p->base = base;
	return m->page[m->pages++] = p;
}

/* Bytes from the address to the end of its page. */
static size_t on_page(uint64_t address, size_t bytes)
{
	size_t left = CLIENT_PAGE - address % CLIENT_PAGE;
	return bytes < left ? bytes : left;
}

int client_memory_read(const struct client_memory *m, uint64_t address, void *to, size_t bytes)
{
	for (size_t n; bytes; address += n, to = (char *)to + n, bytes -= n) {
		const struct client_page *p = find(m, address / CLIENT_PAGE * CLIENT_PAGE);
		size_t at = address % CLIENT_PAGE;
		n = on_page(address, bytes);
		if (!p || memchr(p->state + at, UNKNOWN, n))
			return -1;
		memcpy(to, p->byte + at, n);
	}
	return 0;
}

int client_memory_write(struct client_memory *m, uint64_t address, const void *from, size_t bytes)
{
	if (bytes > CLIENT_PAGE)
		return -1;
	/* get both pages first: a write is done whole or not at all */
	if (bytes &&
		(!get(m, address / CLIENT_PAGE * CLIENT_PAGE) ||
			!get(m, (address + bytes - 1) / CLIENT_PAGE * CLIENT_PAGE)))
		return -1;
	for (size_t n; bytes; address += n, from = (const char *)from + n, bytes -= n) {
		struct client_page *p = find(m, address / CLIENT_PAGE * CLIENT_PAGE);
		size_t at = address % CLIENT_PAGE;
		n = on_page(address, bytes);
		memcpy(p->byte + at, from, n);
		memset(p->state + at, WRITTEN, n);
	}
	return 0;
}

void client_memory_known(struct client_memory *m, uint64_t address, const void *from, size_t bytes)
{
	const uint8_t *b = from;
	m->from = address;
	m->bytes = bytes;
	for (size_t i = 0; i < bytes; i++, address++) {
		struct client_page *p = get(m, address / CLIENT_PAGE * CLIENT_PAGE);
		size_t at = address % CLIENT_PAGE;
		if (!p)
			return;
		if (p->state[at] == WRITTEN)
			continue;	/* the PMU's bytes are newer than the program's */
		p->byte[at] = b[i];
		p->state[at] = KNOWN;
	}
}

/* Appends one run of written bytes; false: the answer is full. */
static bool take_run(struct client_page *p, size_t at, struct st_answer *a)
{
	size_t n = 0, room = ST_ANSWER_WRITES - a->bytes;
	struct st_write w = { .addr = p->base + at };
	if (room < sizeof w + 8)
		return false;
	room = (room - sizeof w) & ~(size_t)7;
	while (at + n < CLIENT_PAGE && n < room && p->state[at + n] == WRITTEN)
		p->state[at + n++] = KNOWN;
	w.bytes = n;
	memcpy(a->writes + a->bytes, &w, sizeof w);
	memcpy(a->writes + a->bytes + sizeof w, p->byte + at, n);
	a->bytes += (uint32_t)(sizeof w + ((n + 7) & ~(size_t)7));
	return true;
}

/* Forgets everything but the area that client_memory_known has set. */
static void forget(struct client_memory *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->pages; i++) {
		struct client_page *p = m->page[i];
		bool any = false;
		for (size_t at = 0; at < CLIENT_PAGE; at++) {
			if (p->base + at - m->from >= m->bytes)
				p->state[at] = UNKNOWN;
			any |= p->state[at] != UNKNOWN;
		}
		if (any)
			m->page[kept++] = p;
		else
			free(p);
	}
	m->pages = kept;
}

void client_memory_take(struct client_memory *m, struct st_answer *answer)
{
	for (size_t i = 0; i < m->pages; i++)
		for (const uint8_t *w; (w = memchr(m->page[i]->state, WRITTEN, CLIENT_PAGE));)
			if (!take_run(m->page[i], (size_t)(w - m->page[i]->state), answer)) {
				answer->more = 1;
				return;
			}
	forget(m);
}

void client_memory_release(struct client_memory *m)
{
	for (size_t i = 0; i < m->pages; i++)
		free(m->page[i]);
	m->pages = 0;
}
