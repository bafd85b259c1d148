/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several readers of one recorded stream, each in a thread of its own, and one that unpacks it for all of them.
 *
 * Unpacking takes a third of the time of a sampled run, and is the same for each.  Every reader gets every span, in
 * order.  They go through the file together: the fastest is at most HUB_SLOTS spans ahead of the slowest.
 */
#ifndef STREAM_HUB_H
#define STREAM_HUB_H
#include "stream/stream.h"

struct stream_hub;
/* Opens the file.  Each reader, 0 to readers - 1, must be joined or left. */
int  stream_hub_create(struct stream_hub **out, const char *path, unsigned readers, struct err *err);
void stream_hub_destroy(struct stream_hub *h);		/* when all readers have been closed; NULL: nothing */
/* Unpacks the file for the readers; returns when it has ended or no reader is left.  What goes wrong is the readers'
 * to report: stream_next tells each of them. */
void stream_hub_feed(struct stream_hub *h);
/* The stream of a reader; stream_close leaves the hub. */
int  stream_hub_join(struct stream **out, struct stream_hub *h, unsigned reader, struct err *err);
/* The reader will not come, or takes no more. */
void stream_hub_leave(struct stream_hub *h, unsigned reader);

/* --- for stream.c --- */
int stream_hub_next(struct stream_hub *h, unsigned reader, struct stream_span *span, struct err *err);
int stream_hub_wait_status(struct stream_hub *h);
double stream_hub_share(struct stream_hub *h);
#endif
