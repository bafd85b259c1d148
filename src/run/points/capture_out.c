/* SPDX-License-Identifier: GPL-2.0-or-later
 * Records of a file of live points on their way (capture_out.h).
 */
#include "run/points/capture_out.h"
#include <string.h>

void capture_out_flush(struct capture_out *o)
{
	const struct stream_span span = { .process = 0, .pid = o->pid, .words = o->word, .count = o->used };
	if (o->used && !o->rc)
		o->rc = trace_writer_span(o->file, &span, &o->err);
	o->used = 0;
}

void capture_out_section(struct capture_out *o, uint32_t kind, uint32_t part)
{
	capture_out_flush(o);
	if (!o->rc)
		o->rc = trace_writer_section(o->file, kind, part, &o->err);
}

void capture_out_put(struct capture_out *o, const void *record, size_t words)
{
	if (words > CAPTURE_OUT_WORDS - o->used)
		capture_out_flush(o);
	memcpy(o->word + o->used, record, words * 8);
	o->used += words;
	o->all += words;
}

void capture_out_list(struct capture_out *o, unsigned kind, const uint64_t *word, size_t count, unsigned together)
{
	while (count) {
		size_t n = CAPTURE_OUT_WORDS - 1 - o->used;
		if (o->used >= CAPTURE_OUT_WORDS / 2) {
			capture_out_flush(o);
			n = CAPTURE_OUT_WORDS - 1;
		}
		n -= n % together;
		n = n < count ? n : count;
		o->word[o->used] = ST_HEADER(kind, (n + 1) * 8);
		memcpy(o->word + o->used + 1, word, n * 8);
		o->used += n + 1;
		o->all += n + 1;
		word += n;
		count -= n;
	}
}
