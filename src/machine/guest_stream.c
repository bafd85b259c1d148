/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a guest's stream (guest_stream.h).  Not written yet: none can be opened.
 */
#include "machine/guest_stream.h"

int guest_stream_open(struct guest_stream **out, const char *path, unsigned word_bytes, struct err *err)
{
	(void)out;
	(void)word_bytes;
	return err_set(err, ERR_UNSUPPORTED, "%s: a machine's stream cannot be written yet", path);
}

int guest_stream_close(struct guest_stream *s, struct err *err)
{
	(void)s;
	(void)err;
	return 0;
}

void guest_stream_block(struct guest_stream *s, const struct st_block_def *def, unsigned exit, const uint64_t *values)
{
	(void)s;
	(void)def;
	(void)exit;
	(void)values;
}

void guest_stream_record(struct guest_stream *s, const void *record, size_t bytes)
{
	(void)s;
	(void)record;
	(void)bytes;
}
