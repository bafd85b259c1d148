/* SPDX-License-Identifier: GPL-2.0-or-later
 * As much of the program's memory as its own PMU's debug store needs.  Private to src/session.
 *
 * The program has run ahead of the model, so its memory is not at hand; but it waits in each request.  There
 * the tracer sends the DS management area (client_memory_known), and takes what the PMU wrote since the last
 * request (client_memory_take).  In between the PMU reads what is known and what it wrote itself; all other
 * addresses fault.  At most CLIENT_PAGES pages are held: beyond, writes fault.
 */
#ifndef SESSION_CLIENT_MEMORY_H
#define SESSION_CLIENT_MEMORY_H
#include "stream/format.h"
#include <stddef.h>

enum { CLIENT_PAGES = 256, CLIENT_PAGE = 4096 };
struct client_page;
struct client_memory {			/* all zero at first */
	struct client_page *page[CLIENT_PAGES];
	size_t pages;
	uint64_t from, bytes;		/* what client_memory_known told last */
};

/* 0, or -1: a fault */
int  client_memory_read(const struct client_memory *m, uint64_t address, void *to, size_t bytes);
int  client_memory_write(struct client_memory *m, uint64_t address, const void *from, size_t bytes);
void client_memory_known(struct client_memory *m, uint64_t address, const void *from, size_t bytes);
/* Moves writes into the answer, as many as it holds; when all were taken, everything but the management area is
 * forgotten: the program may change it, or give it back. */
void client_memory_take(struct client_memory *m, struct st_answer *answer);
void client_memory_release(struct client_memory *m);
#endif
