/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether a file holds live points: its second record says so (format.h).
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

bool stream_points(const char *path, struct st_points *out)
{
	struct stat st;
	struct stream *s;
	struct stream_span span;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || stream_open(&s, path, NULL))
		return false;
	const bool found = stream_next(s, &span, NULL) == STREAM_SPAN && find(&span, out);
	stream_close(s);
	return found;
}
