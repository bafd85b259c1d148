/* SPDX-License-Identifier: GPL-2.0-or-later
 * Source lines and inlined functions of an address, from DWARF through elfutils libdw.
 *
 * This collects the ranges of the compilation units itself, because dwarf_addrdie needs .debug_aranges, which clang
 * does not write.  Left out: split DWARF whose .dwo files lie elsewhere (libdw finds those beside the object).
 */
#include "symbols/symbols_private.h"
#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct unit_range { uint64_t begin, end; Dwarf_Off unit; };
struct joined { const char *dir, *file; char *path; };

struct lines {
	int fd;
	Dwarf *dwarf;
	struct unit_range *range;
	size_t ranges, room;
	struct joined *joined;		/* paths that were relative to their unit's directory */
	size_t joins;
};

static int by_begin(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int add_ranges(struct lines *l, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		if (begin >= end)
			continue;
		if (l->ranges == l->room) {
			size_t room = l->room ? l->room * 2 : 256;
			struct unit_range *range = realloc(l->range, room * sizeof *range);
			if (!range)
				return ERR_NOMEM;
			l->range = range;
			l->room = room;
		}
		l->range[l->ranges++] = (struct unit_range){ begin, end, dwarf_dieoffset(unit) };
	}
	return 0;
}

int lines_open(struct lines **out, const char *path)
{
	struct lines *l = calloc(1, sizeof *l);
	if (!l)
		return ERR_NOMEM;
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	l->dwarf = l->fd >= 0 ? dwarf_begin(l->fd, DWARF_C_READ) : NULL;
	int code = l->dwarf ? 0 : ERR_INPUT;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	while (!code && dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_tag(&unit) == DW_TAG_compile_unit)
			code = add_ranges(l, &unit);
	if (!code && !l->ranges)
		code = ERR_INPUT;
	if (code) {
		lines_close(l);
		return code;
	}
	qsort(l->range, l->ranges, sizeof *l->range, by_begin);
	*out = l;
	return 0;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	if (l->fd >= 0)
		close(l->fd);
	for (size_t i = 0; i < l->joins; i++)
		free(l->joined[i].path);
	free(l->joined);
	free(l->range);
	free(l);
}

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;
	/* The name in the source, because readers look for it in the text. */
	if (dwarf_attr_integrate(die, DW_AT_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : "";
}

static unsigned number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;
	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 ? (unsigned)value : 0;
}

/* Joins a relative file name with the unit's directory: libdw leaves names as the compiler got them. */
static const char *whole_path(struct lines *l, Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *dir = dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
	if (!file || *file == '/' || !dir)
		return file ? file : "";
	for (size_t i = 0; i < l->joins; i++)
		if (l->joined[i].dir == dir && l->joined[i].file == file)
			return l->joined[i].path;
	if ((l->joins & (l->joins - 1)) == 0) {
		struct joined *grown = realloc(l->joined, (l->joins ? l->joins * 2 : 1) * sizeof *grown);
		if (!grown)
			return file;
		l->joined = grown;
	}
	size_t bytes = strlen(dir) + strlen(file) + 2;
	char *path = malloc(bytes);
	if (!path)
		return file;
	snprintf(path, bytes, "%s/%s", dir, file);
	l->joined[l->joins++] = (struct joined){ dir, file, path };
	return path;
}

size_t lines_find(struct lines *l, uint64_t vaddr, struct symbols_line *lines, size_t max)
{
	size_t low = 0, high = l->ranges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (l->range[middle].begin <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	Dwarf_Die unit;
	if (!low || vaddr >= l->range[low - 1].end || !dwarf_offdie(l->dwarf, l->range[low - 1].unit, &unit))
		return 0;

	Dwarf_Line *source = dwarf_getsrc_die(&unit, vaddr);
	const char *file = source ? dwarf_linesrc(source, NULL, NULL) : NULL;
	int line = 0;
	if (source)
		dwarf_lineno(source, &line);
	struct symbols_line frame = { whole_path(l, &unit, file), line > 0 ? (unsigned)line : 0, "", false };

	Dwarf_Die *scopes = NULL, *parents = NULL, inner;
	Dwarf_Files *files = NULL;
	size_t file_count = 0, used = 0;
	int count = dwarf_getscopes(&unit, vaddr, &scopes), parent_count = 0;
	if (count > 0 && dwarf_offdie(l->dwarf, dwarf_dieoffset(&scopes[0]), &inner))
		parent_count = dwarf_getscopes_die(&inner, &parents);
	dwarf_getsrcfiles(&unit, &files, &file_count);
	for (int i = 0; i < parent_count && used < max; i++) {
		int tag = dwarf_tag(&parents[i]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		frame.function = function_name(&parents[i]);
		frame.inlined = tag == DW_TAG_inlined_subroutine;
		lines[used++] = frame;
		if (!frame.inlined)
			break;
		const char *caller =
			files ? dwarf_filesrc(files, number(&parents[i], DW_AT_call_file), NULL, NULL) : NULL;
		frame = (struct symbols_line){ whole_path(l, &unit, caller), number(&parents[i], DW_AT_call_line), "",
			false };
	}
	free(scopes);
	free(parents);
	if (!used && *frame.file)
		lines[used++] = frame;
	return used;
}
