/* SPDX-License-Identifier: GPL-2.0-or-later
 * From addresses to names: the symbols and source lines of a file, and the address spaces of a run's processes.
 *
 * Kinds of addresses, which are never mixed: `ip` is a run-time address; `vaddr` is an address as the ELF file
 * numbers it; `address` is a place in an object: for ELF files the offset in the file (as perf does, because it
 * follows from a mapping alone), for JIT code the ip itself.
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
	/* end for annotate: a symbol without a size (_init) also shows the PLT behind it, as in perf */
	uint64_t shown_end;
	char *name;		/* demangled, without parameters (as perf shows it); PLT entries are NAME@plt */
	char *linkage;		/* the name as in the file, NULL if it is the same */
	uint8_t binding;	/* STB_* */
	bool is_code;
	bool stretched;		/* has no size of its own: reaches to the next symbol */
	bool inlined;		/* symbols_place_inlined made it: start and end are those of the function around it */
};
struct symbols_line {		/* its strings live as long as the file */
	const char *file;	/* "" if unknown */
	unsigned line;		/* 0 if unknown */
	const char *function;	/* as in the source; "" if unknown */
	const char *linkage;	/* its name in the file (_ZN...), or else that with its namespaces; "": the same */
	bool inlined;		/* this frame was inlined into the next one */
};
struct symfile;

/* Opens an ELF file and reads .symtab and .dynsym, the separate debug file (found by build-id or debuglink),
 * .gnu_debugdata, and PLT entries.  With want_bytes, only a file with the build-id `want` is accepted (else
 * ERR_INPUT). */
int  symfile_open(struct symfile **out, const char *path, const uint8_t *want, unsigned want_bytes, struct err *err);
/* Opens JIT code: perf's map file and a jitdump file; either may be NULL or absent. */
int  symfile_open_jit(struct symfile **out, const char *map_path, const char *jitdump_path, struct err *err);
void symfile_close(struct symfile *f);
size_t symfile_count(const struct symfile *f);
const struct symbol *symfile_symbol(const struct symfile *f, size_t index);	/* in order of address */
/* The innermost symbol that covers the address, or NULL. */
const struct symbol *symfile_find(const struct symfile *f, uint64_t address);
/* The ELF address of a place; false if no segment contains it. */
bool symfile_vaddr(const struct symfile *f, uint64_t address, uint64_t *vaddr);
int  symfile_word_bytes(const struct symfile *f);	/* 8 or 4 */
/* Reads code or data at an address.  Returns the number of bytes read, at most `bytes`. */
size_t symfile_read(const struct symfile *f, uint64_t address, uint8_t *into, size_t bytes);
/* Finds the first code at or behind *address and below `end`, and moves *address there.  Returns how many bytes of
 * it are in the same section (what lies between sections is padding); 0: there is none.  Without section headers
 * everything counts as code. */
size_t symfile_code(const struct symfile *f, uint64_t *address, uint64_t end);
/* The source place of an address, innermost inlined function first.  Returns how many frames it filled; 0 if
 * unknown. */
size_t symfile_lines(struct symfile *f, uint64_t address, struct symbols_line *lines, size_t max);
/* The build-id of a file; returns its length, 0 if it has none. */
unsigned symbols_build_id(const char *path, uint8_t id[SYMBOLS_BUILD_ID_BYTES]);
/* For --start and --stop: finds a function by its name, as in the file or demangled; false if the file has none.
 * Without it, the first copy that the compiler made of it (walk.constprop.0 for walk) is found.  A mapping [addr,
 * addr + bytes) of the file at `offset` holds it at addr + *file_offset - offset. */
bool symbols_find_function(const char *path, const char *name, uint64_t *file_offset);

/* The same for several names: file_offset[i] is UINT64_MAX if there is none.  Returns how many were found. */
size_t symbols_find_functions(const char *path, const char *const *name, uint64_t *file_offset, size_t count);
/* The part of an ELF file's data that has no bytes in the file (.bss), when its executable part is mapped at `addr`
 * from file offset `offset` on: run-time start and end, and the start's address in the object (as in
 * symbols_place).  False if it has none. */
struct symbols_bss { uint64_t start, end, address; };
bool symbols_find_bss(const char *path, uint64_t addr, uint64_t offset, struct symbols_bss *out);

/* Names of ELF addresses for a disassembly (isa_style.symbol): "name", "name+0x12"; false if there is none.  The
 * file must live longer than the names. */
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
	const uint8_t *build_id;/* NULL: any file at that path is accepted */
	unsigned build_id_bytes;
};
struct symbols_object;		/* a mapped file or JIT area; one per path */
struct symbols_place {
	const char *dso;	/* short name; "[unknown]" without a mapping */
	const char *path;	/* full name; "" without a mapping */
	uint64_t address;	/* in the object; the ip itself without a mapping */
	const struct symbol *symbol;	/* NULL: unknown */
	struct symbols_object *object;	/* NULL without a mapping */
};

int  symbols_create(struct symbols **out, struct err *err);
void symbols_destroy(struct symbols *s);
/* Changes of a process' address space, each with the time from which it holds; call them in order of time for each
 * process.  They return 0 or ERR_NOMEM. */
int  symbols_map(struct symbols *s, uint32_t pid, const struct symbols_map *m, uint64_t time);
int  symbols_unmap(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t bytes, uint64_t time);
int  symbols_fork(struct symbols *s, uint32_t parent, uint32_t child, uint64_t time);
int  symbols_exec(struct symbols *s, uint32_t pid, uint64_t time);
/* Finds what was at ip at that time (UINT64_MAX: now).  Always fills *place. */
void symbols_resolve(struct symbols *s, uint32_t pid, uint64_t ip, uint64_t time, struct symbols_place *place);
/* The kernel: SYMBOLS_KERNEL is the number of its address space.  symbols_kernel: its functions are those of this copy
 * of /proc/kallsyms (kallsyms.h); errors leave the space as it was. */
enum { SYMBOLS_KERNEL = INT32_MAX };
int  symbols_kernel(struct symbols *s, const char *kallsyms, struct err *err);
/* Behind it: code of the kernel, as far as it is known: stretches in order of address, each a struct symbols_stretch
 * and its bytes, padded to 8.  They are hostile, and must live longer than s.  0 or ERR_NOMEM. */
struct symbols_stretch { uint64_t addr, bytes; };
int  symbols_kernel_code(struct symbols *s, const void *stretches, size_t bytes);
/* From now on these are the spaces of a whole machine (stream/format.h, ST_SPACE): addresses in the upper half are the
 * kernel's, whatever the process, and each space is a process, whose number is symbols_space_pid. */
void symbols_machine(struct symbols *s);
enum { SYMBOLS_SPACE_PID = 1000 };
static inline uint32_t symbols_space_pid(uint64_t space) { return SYMBOLS_SPACE_PID + (uint32_t)space; }
static inline bool symbols_is_kernel(uint64_t ip) { return ip >> 63; }
/* As symfile_lines. */
size_t symbols_place_lines(const struct symbols_place *place, struct symbols_line *lines, size_t max);
/* The functions that are inlined at a place, innermost first, without the function that has place->symbol.  A function
 * is one symbol for each other that it is inlined into.  caller: the place is a return address, so the call before it
 * counts.  They are found once for each address, and live as long as the file; the list lives until the next call.
 * Returns how many. */
size_t symbols_place_inlined(const struct symbols_place *place, bool caller, const struct symbol *const **list);
/* The file of a place; NULL if it has none that can be read. */
struct symfile *symbols_place_file(const struct symbols_place *place);
/* Objects in order of appearance.  symbols_object_why: NULL, or why its symbols could not be read. */
struct symbols_object *symbols_object(struct symbols *s, size_t index);
size_t symbols_object_index(const struct symbols_object *o);
const char *symbols_object_path(const struct symbols_object *o);
const char *symbols_object_why(const struct symbols_object *o);
#endif
