/* SPDX-License-Identifier: GPL-2.0-or-later
 * From addresses to names: the symbols and source lines of a file, and the address spaces of a run's processes.
 *
 * Address kinds, never mixed: `ip` is a run-time address; `vaddr` an address as the ELF file numbers it; `address` a place
 * in an object: the offset in its file for ELF files (perf's choice: it follows from a mapping alone), the ip itself for JIT code.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMBOLS_BUILD_ID_BYTES = 20 };

/* ---- one file ---- */

struct symbol {
	uint64_t start, end;	/* addresses; end is behind the last byte */
	uint64_t shown_end;	/* the same for annotate: one without a size (_init) shows the PLT behind it too, as perf has it */
	char *name;		/* demangled, without parameters (as perf shows it); PLT entries are NAME@plt */
	char *linkage;		/* as in the file, NULL if the same */
	uint8_t binding;	/* STB_* */
	bool is_code;
	bool stretched;		/* had no size: reaches to the next symbol */
};
struct symbols_line {		/* strings live as long as the file */
	const char *file;	/* "" if unknown */
	unsigned line;		/* 0 if unknown */
	const char *function;	/* "" if unknown */
	bool inlined;		/* this frame was inlined into the next one */
};
struct symfile;

/* Opens an ELF file: .symtab and .dynsym, the separate debug file by build-id or debuglink, .gnu_debugdata, PLT entries.
 * want: if want_bytes, only a file with this build-id is taken (ERR_INPUT otherwise). */
int  symfile_open(struct symfile **out, const char *path, const uint8_t *want, unsigned want_bytes, struct err *err);
/* JIT code: perf's map file and a jitdump file; either may be NULL or absent. */
int  symfile_open_jit(struct symfile **out, const char *map_path, const char *jitdump_path, struct err *err);
void symfile_close(struct symfile *f);
size_t symfile_count(const struct symfile *f);
const struct symbol *symfile_symbol(const struct symfile *f, size_t index);	/* in order of address */
/* The innermost symbol that covers the address, or NULL. */
const struct symbol *symfile_find(const struct symfile *f, uint64_t address);
/* ELF address of a place; false if no segment holds it. */
bool symfile_vaddr(const struct symfile *f, uint64_t address, uint64_t *vaddr);
int  symfile_word_bytes(const struct symfile *f);	/* 8 or 4 */
/* Reads code (or data) at an address: bytes read, at most `bytes`. */
size_t symfile_read(const struct symfile *f, uint64_t address, uint8_t *into, size_t bytes);
/* The first code at or behind *address and below `end`: moves *address there and returns how many bytes its section has of it
 * (what lies between sections is padding); 0: none.  Without section headers all of it counts as code. */
size_t symfile_code(const struct symfile *f, uint64_t *address, uint64_t end);
/* Source place of an address, innermost inlined function first: number of frames filled, 0 if unknown. */
size_t symfile_lines(struct symfile *f, uint64_t address, struct symbols_line *lines, size_t max);
/* Build-id of a file: its length, 0 if it has none. */
unsigned symbols_build_id(const char *path, uint8_t id[SYMBOLS_BUILD_ID_BYTES]);
/* For --start and --stop: a function by its name (as in the file or demangled); false if the file has none.
 * A mapping [addr, addr + bytes) of the file at `offset` holds it at addr + *file_offset - offset. */
bool symbols_find_function(const char *path, const char *name, uint64_t *file_offset);

/* The same for several at once: file_offset[i] is UINT64_MAX where there is none.  Returns how many were found. */
size_t symbols_find_functions(const char *path, const char *const *name, uint64_t *file_offset, size_t count);
/* What an ELF file has beyond its bytes (.bss), if its executable part is mapped at `addr` from file offset `offset` on: run-time start and end, and at
 * which address of the object (as in symbols_place) the start is.  False: it has none. */
struct symbols_bss { uint64_t start, end, address; };
bool symbols_find_bss(const char *path, uint64_t addr, uint64_t offset, struct symbols_bss *out);

/* Names of ELF addresses for a disassembly (isa_style.symbol): "name", "name+0x12"; false: it has none.  The file outlives them. */
struct symbols_names;
int  symbols_names_open(struct symbols_names **out, const struct symfile *f, struct err *err);
bool symbols_names_find(void *names, uint64_t vaddr, char *name, size_t bytes);
void symbols_names_close(struct symbols_names *names);

/* ---- address spaces over time ---- */

struct symbols;
struct symbols_map {
	uint64_t addr, bytes, offset;
	bool executable;
	const char *path;	/* "" or "//anon": anonymous; "[stack]", "[heap]", "[vdso]" as the kernel names them */
	const uint8_t *build_id;/* NULL: any file at that path will do */
	unsigned build_id_bytes;
};
struct symbols_object;		/* a mapped file or JIT area; one per path */
struct symbols_place {
	const char *dso;	/* short name; "[unknown]" without a mapping */
	const char *path;	/* whole name; "" without a mapping */
	uint64_t address;	/* in the object; the ip itself without a mapping */
	const struct symbol *symbol;	/* NULL: unknown */
	struct symbols_object *object;	/* NULL without a mapping */
};

int  symbols_create(struct symbols **out, struct err *err);
void symbols_destroy(struct symbols *s);
/* Events of a process, each with the time from which it holds; per process in order of time.  ERR_NOMEM or 0. */
int  symbols_map(struct symbols *s, uint32_t pid, const struct symbols_map *m, uint64_t time);
int  symbols_unmap(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t bytes, uint64_t time);
int  symbols_fork(struct symbols *s, uint32_t parent, uint32_t child, uint64_t time);
int  symbols_exec(struct symbols *s, uint32_t pid, uint64_t time);
/* What was at ip at that time (UINT64_MAX: now).  Fills *place always. */
void symbols_resolve(struct symbols *s, uint32_t pid, uint64_t ip, uint64_t time, struct symbols_place *place);
/* As symfile_lines. */
size_t symbols_place_lines(const struct symbols_place *place, struct symbols_line *lines, size_t max);
/* The file behind a place; NULL if it has none that can be read. */
struct symfile *symbols_place_file(const struct symbols_place *place);
/* Objects in order of appearance; why: NULL, or why its symbols could not be read. */
struct symbols_object *symbols_object(struct symbols *s, size_t index);
size_t symbols_object_index(const struct symbols_object *o);
const char *symbols_object_path(const struct symbols_object *o);
const char *symbols_object_why(const struct symbols_object *o);
#endif
