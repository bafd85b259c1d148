/* SPDX-License-Identifier: GPL-2.0-or-later
 * Address spaces of a whole machine in perf.data (machine_record.h).
 *
 * A space without a known program is called "space-N".  A program's name is dated back to when its space was entered
 * first, since it is known only when its first own page is executed, behind its loader.  Build-ids of its files are
 * left out: the stream does not have them, and what the files on the host are now need not be what ran.
 */
#include "output/machine_record.h"
#include "stream/stream.h"
#include "symbols/kallsyms.h"
#include "symbols/symbols.h"
#include "util/fnv.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SPACES = 1 << 16 };

struct machine_record {
	struct perfdata_writer *w;
	bool named[SPACES];		/* the space has a COMM record */
	bool known[SPACES];		/* that of a program */
	uint64_t since[SPACES];		/* time from which on the space has this image */
	bool kernel;			/* the kernel is mapped */
	char note[1200];
};

static int on_space(struct machine_record *m, uint64_t space, uint64_t time)
{
	char name[16];
	if (space >= SPACES || m->named[space])
		return 0;
	m->named[space] = true;
	m->since[space] = time;
	const uint32_t pid = symbols_space_pid(space);
	snprintf(name, sizeof name, "space-%u", (unsigned)space);
	return perfdata_comm(m->w, pid, pid, name, false, time);
}

int machine_record_create(struct machine_record **out, struct perfdata_writer *w, uint64_t time)
{
	struct machine_record *m = calloc(1, sizeof *m);
	if (!m)
		return ERR_NOMEM;
	m->w = w;
	*out = m;
	return on_space(m, 0, time);
}

void machine_record_destroy(struct machine_record *m)
{
	free(m);
}

const char *machine_record_note(const struct machine_record *m)
{
	return m->note;
}

/* perf asks for a build-id of a kernel that is not the host's; a kernel's kallsyms do not tell its own.  So this is
 * one that names and addresses of its functions give. */
static void make_build_id(const struct kallsyms *k, uint8_t id[PERFDATA_BUILD_ID_BYTES])
{
	const struct symfile *f = k->owner[0].file;
	const uint32_t count = (uint32_t)symfile_count(f);
	struct fnv h;
	fnv_init(&h);
	for (size_t i = 0; i < symfile_count(f); i++) {
		const struct symbol *s = symfile_symbol(f, i);
		fnv_bytes(&h, &s->start, sizeof s->start);
		fnv_text(&h, s->name);
	}
	_Static_assert(PERFDATA_BUILD_ID_BYTES == sizeof h.hash + sizeof count, "");
	memcpy(id, &h.hash, sizeof h.hash);
	memcpy(id + sizeof h.hash, &count, sizeof count);
}

/* The kernel's text from _text on, then the modules, each up to its last function. */
static int on_kallsyms(struct machine_record *m, const char *path, uint64_t time)
{
	struct kallsyms *k;
	struct err err = { 0 };
	uint8_t id[PERFDATA_BUILD_ID_BYTES];
	char full[PATH_MAX];
	if (m->kernel)
		return 0;
	const int failed = kallsyms_open(&k, path, &err);
	if (failed) {
		snprintf(m->note, sizeof m->note, "the kernel's functions have no names: %s", err.text);
		return failed == ERR_NOMEM ? failed : 0;
	}
	m->kernel = true;
	const struct kallsyms_owner *own = &k->owner[0];
	const uint64_t text = k->text && k->text <= own->start ? k->text : own->start;
	int code = 0;
	if (own->start < own->end) {
		make_build_id(k, id);
		code = perfdata_mmap_kernel(m->w, k->text ? KALLSYMS_KERNEL "_text" : KALLSYMS_KERNEL, text,
			own->end - text, k->text, time);
		code = code ? code : perfdata_kernel_build_id(m->w, id);
	}
	for (size_t i = 1; i < k->owners && !code; i++)
		if (k->owner[i].start < k->owner[i].end)
			code = perfdata_mmap_kernel(m->w, k->owner[i].name, k->owner[i].start,
				k->owner[i].end - k->owner[i].start, 0, time);
	kallsyms_close(k);
	const char *kept = realpath(path, full) ? full : path;
	return code ? code : perfdata_own(m->w, PERFDATA_KALLSYMS, kept, strlen(kept) + 1);
}

static int on_program(struct machine_record *m, const struct st_symbols *s, const char *path, uint64_t time)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const uint32_t pid = symbols_space_pid(s->tag);
	char none[16];
	if (s->tag >= SPACES)
		return 0;
	if (!*path || !m->named[s->tag])
		m->since[s->tag] = time;
	else if (!m->known[s->tag])	/* what its loader did, too */
		time = m->since[s->tag];
	m->named[s->tag] = true;
	m->known[s->tag] = *path;
	snprintf(none, sizeof none, "space-%u", (unsigned)s->tag);
	/* An exec clears the mappings; the name that follows it must not, since a loader's came before. */
	return perfdata_comm(m->w, pid, pid, *name ? name : none, !*path, time);
}

static int on_code(struct machine_record *m, const struct st_symbols *s, const char *path, uint64_t time)
{
	const uint32_t pid = symbols_space_pid(s->tag);
	const struct perfdata_map map = { .pid = pid, .tid = pid, .addr = s->addr, .bytes = s->bytes,
		.offset = s->offset, .prot = PROT_READ | PROT_EXEC, .path = path };
	if (!s->bytes || s->addr + s->bytes < s->addr || symbols_is_kernel(s->addr + s->bytes - 1))
		return 0;
	const int code = on_space(m, s->tag, time);
	return code ? code : perfdata_mmap(m->w, &map, time);
}

static int on_symbols(struct machine_record *m, const struct st_symbols *s, uint64_t time)
{
	const char *path = st_symbols_path(s);
	switch (path ? s->what : UINT64_MAX) {
	case ST_SYMBOLS_KALLSYMS:
		return on_kallsyms(m, path, time);
	case ST_SYMBOLS_CODE:
		return on_code(m, s, path, time);
	case ST_SYMBOLS_PROGRAM:
		return on_program(m, s, path, time);
	default:
		return 0;
	}
}

int machine_record_side(struct machine_record *m, const uint64_t *record, uint64_t time)
{
	switch (ST_HEADER_KIND(record[0])) {
	case ST_SPACE:
		return on_space(m, ((const struct st_space *)record)->tag, time);
	case ST_SYMBOLS:
		return on_symbols(m, (const struct st_symbols *)record, time);
	default:
		return 0;
	}
}
