/* SPDX-License-Identifier: GPL-2.0-or-later
 * Source lines and inlined functions of an address, from DWARF through elfutils libdw.
 *
 * This collects the ranges of the compilation units itself, because dwarf_addrdie needs .debug_aranges, which clang
 * does not write.  It also collects the ranges of a unit's functions, once, and goes down from the function to the
 * inlined ones: dwarf_getscopes and dwarf_getscopes_die would look through the whole unit for each address.
 * Left out: split DWARF whose .dwo files lie elsewhere (libdw finds those beside the object).
 */
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct function { uint64_t begin, end; Dwarf_Off die; };
/* A function without a name in the file, such as one that is always inlined: its name with its namespaces. */
struct qualified { Dwarf_Off die; char *name; };
struct unit {
	Dwarf_Off die;
	bool read;
	struct function *function;	/* by begin */
	size_t functions, room;
	struct qualified *qualified;	/* by die */
	size_t names, name_room;
};
struct unit_range { uint64_t begin, end; size_t unit; };
enum { NESTED_MAX = 64 };		/* scopes in each other that are followed; damaged files have more */
struct joined { const char *dir, *file; char *path; };

struct lines {
	int fd;
	Dwarf *dwarf;
	struct unit *unit;
	size_t units, unit_room;
	struct unit_range *range;	/* by begin */
	size_t ranges, room;
	struct joined *joined;		/* paths that were relative to their unit's directory */
	size_t joins;
};

static int by_begin(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int function_by_begin(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
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
		l->range[l->ranges++] = (struct unit_range){ begin, end, l->units };
	}
	struct unit *grown = grow_array(l->unit, l->units, &l->unit_room, 64, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	l->unit = grown;
	l->unit[l->units++] = (struct unit){ .die = dwarf_dieoffset(unit) };
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
	for (size_t i = 0; i < l->units; i++) {
		free(l->unit[i].function);
		for (size_t k = 0; k < l->unit[i].names; k++)
			free(l->unit[i].qualified[k].name);
		free(l->unit[i].qualified);
	}
	free(l->unit);
	free(l->range);
	free(l);
}

static const char *own_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_attr(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
	return name ? name : "";
}

/* Adds the code of a function, and its name if it is in a namespace or class and has no other.  false: no memory. */
static bool add_function(struct unit *u, Dwarf_Die *die, const char *prefix)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Attribute attribute;
	ptrdiff_t at = 0;
	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		struct function *f = grow_array(u->function, u->functions, &u->room, 64, sizeof *f);
		if (!f)
			return false;
		u->function = f;
		u->function[u->functions++] = (struct function){ begin, end, dwarf_dieoffset(die) };
	}
	if (!*prefix || !*own_name(die) || dwarf_attr(die, DW_AT_linkage_name, &attribute))
		return true;
	struct qualified *q = grow_array(u->qualified, u->names, &u->name_room, 64, sizeof *q);
	if (!q)
		return false;
	u->qualified = q;
	q += u->names;
	q->die = dwarf_dieoffset(die);
	if (asprintf(&q->name, "%s%s", prefix, own_name(die)) < 0)
		return false;
	u->names++;
	return true;
}

/* Adds the functions below a scope of the unit, which come in order of their place in the file. */
static bool add_functions(struct unit *u, Dwarf_Die *scope, const char *prefix, int depth)
{
	Dwarf_Die die;
	char inner[512];
	if (depth == NESTED_MAX || dwarf_child(scope, &die))
		return true;
	do {
		const char *below = prefix;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (!add_function(u, &die, prefix))
				return false;
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			snprintf(inner, sizeof inner, "%s%s::", prefix, *own_name(&die) ? own_name(&die)
				: dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous class)");
			below = inner;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_module:
			break;
		default:
			continue;
		}
		if (!add_functions(u, &die, below, depth + 1))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

/* The function that holds an address; false: none does. */
static bool find_function(struct lines *l, struct unit *u, uint64_t vaddr, Dwarf_Die *out)
{
	Dwarf_Die die;
	if (!u->read) {
		u->read = true;
		if (dwarf_offdie(l->dwarf, u->die, &die))
			add_functions(u, &die, "", 0);	/* without memory, some functions are unknown */
		if (u->functions)
			qsort(u->function, u->functions, sizeof *u->function, function_by_begin);
	}
	size_t low = 0, high = u->functions;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (u->function[middle].begin <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < u->function[low - 1].end && dwarf_offdie(l->dwarf, u->function[low - 1].die, out);
}

/* Fills the chain of inlined functions at an address, the outermost first, behind the function itself. */
static size_t inlined_chain(Dwarf_Die *function, uint64_t vaddr, Dwarf_Die chain[NESTED_MAX])
{
	size_t n = 0;
	Dwarf_Die scope = *function, die;
	chain[n++] = scope;
	for (int depth = 0; depth < 4 * NESTED_MAX && n < NESTED_MAX; depth++) {
		bool found = false;
		if (dwarf_child(&scope, &die))
			break;
		do {
			const int tag = dwarf_tag(&die);
			if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
				tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
				dwarf_haspc(&die, vaddr) == 1) {
				found = true;
				break;
			}
		} while (dwarf_siblingof(&die, &die) == 0);
		if (!found)
			break;
		scope = die;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			chain[n++] = die;
	}
	return n;
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

/* The name in the file, or else the one with namespaces. */
static const char *linkage_name(const struct unit *u, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
		dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	for (int i = 0; !name && i < 4; i++) {
		for (size_t low = 0, high = u->names; low < high;) {
			const size_t middle = low + (high - low) / 2;
			const Dwarf_Off at = u->qualified[middle].die, wanted = dwarf_dieoffset(&origin);
			if (at == wanted)
				return u->qualified[middle].name;
			if (at < wanted)
				low = middle + 1;
			else
				high = middle;
		}
		if ((!dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) &&
			!dwarf_attr(&origin, DW_AT_specification, &attribute)) ||
			!dwarf_formref_die(&attribute, &origin))
			break;
	}
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
	Dwarf_Die unit, function, chain[NESTED_MAX];
	if (!low || vaddr >= l->range[low - 1].end)
		return 0;
	struct unit *u = l->unit + l->range[low - 1].unit;
	if (!dwarf_offdie(l->dwarf, u->die, &unit))
		return 0;

	Dwarf_Line *source = dwarf_getsrc_die(&unit, vaddr);
	const char *file = source ? dwarf_linesrc(source, NULL, NULL) : NULL;
	int line = 0;
	if (source)
		dwarf_lineno(source, &line);
	struct symbols_line frame = { whole_path(l, &unit, file), line > 0 ? (unsigned)line : 0, "", "", false };

	Dwarf_Files *files = NULL;
	size_t file_count = 0, used = 0;
	dwarf_getsrcfiles(&unit, &files, &file_count);
	size_t deep = max && find_function(l, u, vaddr, &function) ? inlined_chain(&function, vaddr, chain) : 0;
	for (; deep-- > 0 && used < max;) {
		frame.function = function_name(&chain[deep]);
		frame.linkage = linkage_name(u, &chain[deep]);
		frame.inlined = deep > 0;
		lines[used++] = frame;
		const char *caller =
			files ? dwarf_filesrc(files, number(&chain[deep], DW_AT_call_file), NULL, NULL) : NULL;
		frame = (struct symbols_line){ whole_path(l, &unit, caller), number(&chain[deep], DW_AT_call_line),
			"", "", false };
	}
	if (!used && max && *frame.file)
		lines[used++] = frame;
	return used;
}
