/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of JIT code: perf's map files (/tmp/perf-PID.map) and jitdump files (jit-PID.dump).
 *
 * A map file has lines "START SIZE NAME" in hexadecimal.  Source: Linux tools/perf/Documentation/jit-interface.txt.
 * jitdump is parsed by hand because perf, its only reader, offers no library.  Source: jitdump-specification.txt there.
 * Its time stamps are wall-clock times and say nothing about modelled time, so if code was generated twice at one
 * place, the last one counts.  Left out: unwinding information, JIT_CODE_MOVE's old place (the new one counts).
 */
#include "symbols/symbols_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_LIMIT = 1 << 30 };
enum { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1, JIT_CODE_DEBUG_INFO = 2 };
#define JITDUMP_MAGIC 0x4a695444u	/* "JiTD" */

/* Reads the whole of a regular file that belongs to this user or root (in /tmp anybody may put one); NULL: none. */
static char *slurp(const char *path, size_t *size)
{
	struct stat st;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	    st.st_size < SIZE_LIMIT && (text = malloc((size_t)st.st_size + 1))) {
		size_t have = 0;
		while (have < (size_t)st.st_size) {
			ssize_t n = read(fd, text + have, (size_t)st.st_size - have);
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			have += (size_t)n;
		}
		text[have] = 0;
		*size = have;
	}
	close(fd);
	return text;
}

int jit_read_map(struct symfile *f, const char *path)
{
	size_t size;
	char *text = slurp(path, &size);
	int code = 0;
	for (char *line = text; line && *line && !code; ) {
		char *next = strchr(line, '\n'), *end;
		if (next)
			*next++ = 0;
		uint64_t start = strtoull(line, &end, 16), bytes = 0;
		bool good = end != line && *end == ' ';
		if (good) {
			char *from = end + 1;
			bytes = strtoull(from, &end, 16);
			good = end != from && *end == ' ' && end[1] && start + bytes >= start;
		}
		if (good)
			code = symfile_add(f, start, start + bytes, end + 1, STB_GLOBAL, true);
		line = next;
	}
	free(text);
	return code;
}

static uint32_t u32(const char *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t u64(const char *p) { uint64_t v; memcpy(&v, p, 8); return v; }

static int by_address(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* addr, count, then entries of address, line, discriminator and a file name ("\xff": the same as in the last entry). */
static int debug_info(struct symfile *f, const char *p, size_t size, size_t *text_used, size_t *text_room)
{
	if (size < 16)
		return 0;
	uint64_t count = u64(p + 8);
	size_t name = 0;
	bool named = false;
	p += 16;
	size -= 16;
	for (uint64_t i = 0; i < count && size > 16; i++) {
		const char *text = p + 16, *end = memchr(text, 0, size - 16);
		if (!end)
			break;
		size_t length = (size_t)(end - text) + 1;
		if (!(named && length == 2 && (uint8_t)text[0] == 0xff)) {
			if (length > *text_room - *text_used) {
				size_t room = (*text_room + length) * 2;
				char *files = realloc(f->jit_files, room);
				if (!files)
					return ERR_NOMEM;
				f->jit_files = files;
				*text_room = room;
			}
			name = *text_used;
			memcpy(f->jit_files + name, text, length);
			*text_used += length;
			named = true;
		}
		if ((f->jit_lines & (f->jit_lines - 1)) == 0) {
			struct jit_line *line =
				realloc(f->jit_line, (f->jit_lines ? f->jit_lines * 2 : 1) * sizeof *line);
			if (!line)
				return ERR_NOMEM;
			f->jit_line = line;
		}
		f->jit_line[f->jit_lines++] = (struct jit_line){ u64(p), u32(p + 8), name };
		p += 16 + length;
		size -= 16 + length;
	}
	return 0;
}

int jit_read_dump(struct symfile *f, const char *path)
{
	size_t size, text_used = 0, text_room = 0;
	char *bytes = slurp(path, &size);
	int code = 0;
	if (!bytes)
		return 0;
	/* header: magic, version, total size, machine, padding, pid, time stamp, flags */
	size_t at = size >= 40 && u32(bytes) == JITDUMP_MAGIC ? u32(bytes + 8) : size;
	while (!code && at < size && size - at >= 16) {		/* a record: id, total size, time stamp */
		uint32_t id = u32(bytes + at), total = u32(bytes + at + 4);
		if (total < 16 || total > size - at)
			break;
		const char *p = bytes + at + 16;
		size_t left = total - 16;
		/* pid, tid, vma, code address, code size, index, name, code */
		if (id == JIT_CODE_LOAD && left > 40 && memchr(p + 40, 0, left - 40)) {
			uint64_t start = u64(p + 16), length = u64(p + 24);
			if (start + length >= start)
				code = symfile_add(f, start, start + length, p + 40, STB_GLOBAL, true);
		} else if (id == JIT_CODE_MOVE && left >= 48) {
			/* pid, tid, vma, old address, new address, size, index */
			uint64_t from = u64(p + 16), to = u64(p + 24), length = u64(p + 32);
			for (size_t i = f->symbols; i-- > 0 && !code; )
				if (f->symbol[i].start == from) {
					if (to + length >= to) {
						const struct symbol *s = &f->symbol[i];
						char *name = strdup(s->linkage ? s->linkage : s->name);
						code = ERR_NOMEM;
						if (name)
							code = symfile_add(f, to, to + length, name, STB_GLOBAL, true);
						free(name);
					}
					break;
				}
		} else if (id == JIT_CODE_DEBUG_INFO) {
			code = debug_info(f, p, left, &text_used, &text_room);
		}
		at += total;
	}
	if (f->jit_lines)
		qsort(f->jit_line, f->jit_lines, sizeof *f->jit_line, by_address);
	free(bytes);
	return code;
}
