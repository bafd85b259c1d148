/* SPDX-License-Identifier: GPL-2.0-or-later
 * Keys of programs in the store (program_key.h).
 */
#include "store/program_key.h"
#include "symbols/symbols.h"
#include "stream/stream.h"
#include "util/fnv.h"
#include <stdio.h>
#include <string.h>

static const char by_id[] = "build-id:", by_hash[] = "fnv1a:";

static void build_id_key(const uint8_t *id, unsigned bytes, char key[PROGRAM_KEY_CHARS])
{
	int at = snprintf(key, PROGRAM_KEY_CHARS, "%s", by_id);
	for (unsigned i = 0; i < bytes && i < SYMBOLS_BUILD_ID_BYTES; i++)
		at += snprintf(key + at, (size_t)(PROGRAM_KEY_CHARS - at), "%02x", id[i]);
}

bool program_key_hashed(const char *key)
{
	return !strncmp(key, by_hash, sizeof by_hash - 1);
}

static int hash_file(const char *path, char key[PROGRAM_KEY_CHARS], struct err *err)
{
	struct fnv f;
	char hex[FNV_CHARS];
	fnv_init(&f);
	const int rc = fnv_file(&f, path, err);
	fnv_hex(&f, hex);
	if (!rc)
		snprintf(key, PROGRAM_KEY_CHARS, "%s%s", by_hash, hex);
	return rc;
}

int program_key(const char *path, char key[PROGRAM_KEY_CHARS], struct err *err)
{
	uint8_t id[SYMBOLS_BUILD_ID_BYTES];
	unsigned n = symbols_build_id(path, id);
	if (!n)
		return hash_file(path, key, err);
	build_id_key(id, n, key);
	return 0;
}

/* Reads the side records ahead of the first block: the process, and what it has mapped.  True: found, or nothing
 * more will come. */
static bool look(const struct stream_span *span, char *key, char *path, size_t bytes, struct err *err, int *code)
{
	for (size_t at = 0; at < span->count;) {
		const uint64_t *w = span->words + at;
		unsigned kind = ST_HEADER_KIND(*w);
		size_t left = (span->count - at) * 8, size = ST_HEADER_LOW(*w);
		if (kind == ST_CHUNK_END)
			return false;
		if (kind == ST_BLOCK || kind == ST_BLOCK_CUT)
			return true;
		if (size < 8 || size % 8 || size > left) {
			*code = err_set(err, ERR_INPUT, "the stream begins with a malformed record");
			return true;
		}
		const struct st_process *p = (const struct st_process *)w;
		const struct st_map *m = (const struct st_map *)w;
		if (kind == ST_PROCESS && size > sizeof *p)
			snprintf(path, bytes, "%.*s", (int)(size - sizeof *p), (const char *)(p + 1));
		if (kind == ST_MAP && size > sizeof *m && m->build_id_bytes && *path &&
		    strlen(path) < size - sizeof *m && !strncmp(path, (const char *)(m + 1), size - sizeof *m)) {
			build_id_key(m->build_id, m->build_id_bytes, key);
			return true;
		}
		at += size / 8;
	}
	return false;
}

int program_key_stream(const char *stream, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes, struct err *err)
{
	struct stream *s = NULL;
	struct stream_span span;
	int code = stream_open(&s, stream, err), got;
	*key = *path = 0;
	while (!code && (got = stream_next(s, &span, err)) != STREAM_END) {
		if (got < 0)
			code = got;
		else if (got == STREAM_SPAN && !span.process && look(&span, key, path, bytes, err, &code))
			break;
	}
	if (s)
		stream_close(s);
	if (code || *key)
		return code;
	return *path ? hash_file(path, key, err)
		     : err_set(err, ERR_INPUT, "%s: the stream does not say which program it is of", stream);
}
