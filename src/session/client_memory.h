/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part of the program's memory that its own PMU's debug store needs.  Private to src/session.
 *
 * The program runs ahead of the model, so its memory cannot be read or written at any time; but the program
 * waits in each request.  At a request the tracer sends the DS management area (client_memory_known) and takes
 * what the PMU has written since the last request (client_memory_take).  Between requests the PMU reads what
 * was sent and what it has written itself; all other addresses fault.  At most CLIENT_PAGES pages are kept;
 * writes beyond them fault.
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
	uint64_t from, bytes;		/* the area that client_memory_known set last */
};

/* 0, or -1: a fault */
int  client_memory_read(const struct client_memory *m, uint64_t address, void *to, size_t bytes);
int  client_memory_write(struct client_memory *m, uint64_t address, const void *from, size_t bytes);
void client_memory_known(struct client_memory *m, uint64_t address, const void *from, size_t bytes);
/* Moves writes into the answer, as many as it holds.  When all have been moved, forgets everything but the
 * management area, because the program may change or free it. */
void client_memory_take(struct client_memory *m, struct st_answer *answer);
void client_memory_release(struct client_memory *m);
#endif
