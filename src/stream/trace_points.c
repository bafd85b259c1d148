/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a file holds, by its first records (format.h): live points, a whole machine.
 */
#include "stream/stream.h"
#include <string.h>
#include <sys/stat.h>

static bool find(const struct stream_span *span, struct st_points *out)
{
	const uint64_t *w = span->words;
	for (size_t at = 0; at < span->count;) {
		const unsigned kind = ST_HEADER_KIND(w[at]);
		const size_t length = ST_HEADER_LOW(w[at]) / 8;
		if ((kind != ST_PROCESS && kind != ST_POINTS) || !length || length > span->count - at)
			return false;
		if (kind == ST_POINTS && length * 8 >= sizeof *out) {
			memcpy(out, w + at, sizeof *out);
			return true;
		}
		at += length;
	}
	return false;
}

/* The first span, or NULL; the caller closes the stream. */
static struct stream *first(const char *path, struct stream_span *span)
{
	struct stat st;
	struct stream *s;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || stream_open(&s, path, NULL))
		return NULL;
	if (stream_next(s, span, NULL) == STREAM_SPAN)
		return s;
	stream_close(s);
	return NULL;
}

bool stream_points(const char *path, struct st_points *out)
{
	struct stream_span span;
	struct stream *s = first(path, &span);
	const bool found = s && find(&span, out);
	stream_close(s);
	return found;
}

bool stream_machine(const char *path)
{
	struct stream_span span;
	struct stream *s = first(path, &span);
	const struct st_process *p = s ? (const struct st_process *)span.words : NULL;
	const bool found = p && span.count * 8 >= sizeof *p && ST_HEADER_KIND(p->header) == ST_PROCESS && p->is_machine;
	stream_close(s);
	return found;
}
