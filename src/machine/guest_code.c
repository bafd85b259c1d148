/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tells a stream's readers of the files that name the guest's addresses (ST_SYMBOLS): the kernel's by the path of its
 * kallsyms, its programs' by the contents of the pages that they execute (code_files.h).
 *
 * A page is looked at when its space executes it first, and again when it lies in another frame: page tables that were
 * given back serve other processes.
 */
#include "machine/code_files.h"
#include "machine/guest_internal.h"
#include "core/paging/told_map.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void tell(void *context, const void *record, size_t bytes)
{
	guest_stream_record(context, record, bytes);
}

static void tell_kallsyms(struct guest *g, const char *path)
{
	struct { struct st_symbols head; char path[PATH_MAX]; } r = { .head = { .what = ST_SYMBOLS_KALLSYMS } };
	const size_t length = strnlen(path, sizeof r.path - 1), whole = sizeof r.head + (length + 8) / 8 * 8;
	memcpy(r.path, path, length);
	r.head.path_bytes = (uint32_t)length + 1;
	r.head.header = ST_HEADER(ST_SYMBOLS, whole);
	guest_stream_record(g->stream, &r, whole);
}

int guest_code_create(struct guest *g, const struct guest_options *o, struct err *err)
{
	if (o->kallsyms)
		tell_kallsyms(g, o->kallsyms);
	if (!o->files)
		return 0;
	g->code = calloc(1, sizeof *g->code);
	return g->code ? code_files_open(&g->code->files, o->files, err)
		: err_set(err, ERR_NOMEM, "out of memory for the guest's files");
}

void guest_code_destroy(struct guest *g)
{
	if (g->code)
		code_files_close(g->code->files);
	free(g->code);
	g->code = NULL;
}

void guest_code_look(struct guest *g, uint64_t addr)
{
	struct guest_code *c = g->code;
	uint8_t page[CODE_FILES_PAGE];
	const struct told_page *t = guest_pages_find(g, addr);
	const uint64_t number = addr >> 12, frame = t ? t->frame + (addr >> 12 & 511) + 1 : 1;
	const uint64_t linear = addr & ((UINT64_C(1) << ST_SPACE_SHIFT) - 1) & ~UINT64_C(0xfff);
	const size_t slot = (number ^ number >> 31) % GUEST_CODE_SEEN;
	c->last = number;
	if ((c->seen[slot].page == number && c->seen[slot].frame == frame) ||
		g->emulator.read(g->emulator.context, linear, page, sizeof page))
		return;
	c->seen[slot].page = number;
	c->seen[slot].frame = frame;
	if (code_files_page(c->files, addr >> ST_SPACE_SHIFT, linear, page, tell, g->stream))
		memset(c->seen, 0, sizeof c->seen);
}
