/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the files of this folder share. */
#ifndef SYMBOLS_PRIVATE_H
#define SYMBOLS_PRIVATE_H
#include "symbols/symbols.h"
#include <elfutils/libdw.h>
#include <gelf.h>

struct segment { uint64_t offset, file_bytes, vaddr, bytes; };

struct symfile {
	char *path, *debug_path;	/* debug_path: separate debug file, NULL if none */
	int fd;				/* of the file itself; -1 for JIT code */
	bool jit;
	int word_bytes;
	struct symbol *symbol;
	size_t symbols, room;
	/* for each symbol: 1 + index of the nearest earlier one that reaches over its start */
	size_t *outer;
	struct segment *segment;
	size_t segments;
	uint8_t build_id[SYMBOLS_BUILD_ID_BYTES];
	unsigned build_id_bytes;
	struct lines *lines;		/* opened on first use */
	bool lines_tried;
	struct jit_line *jit_line;	/* by address */
	size_t jit_lines;
	char *jit_files;		/* their file names */
	struct inlined *inlined;	/* made on first use; NULL: none yet */
	const struct known_code *known;	/* of a kernel: its code, in order of address; borrowed */
	size_t knowns;
};
struct known_code { uint64_t addr, bytes; const uint8_t *code; };
struct jit_line { uint64_t address; uint32_t line; size_t file; };

/* Adds a symbol and copies the name. */
int symfile_add(struct symfile *f, uint64_t start, uint64_t end, const char *name, unsigned binding, bool is_code);
/* Sorts the symbols and prepares for symfile_find.  fix: gives symbols without a size an end and keeps one of those
 * at the same address: with keep_last the one added last (JIT), else the best. */
int symfile_index(struct symfile *f, bool fix, bool keep_last);
/* The demangled name, from malloc; NULL if it is not a mangled one. */
char *symbols_demangle(const char *name);
/* The last symbol that starts at or before the address; NULL if there is none. */
const struct symbol *symfile_last_before(const struct symfile *f, uint64_t address);
/* The address in the file of an ELF address; false if no segment contains it. */
bool symfile_address(const struct symfile *f, uint64_t vaddr, uint64_t *address);
/* Adds the PLT entries as NAME@plt.  The symbols so far are indexed. */
int  symfile_read_plt(struct symfile *f, Elf *elf);

/* known_code.c: symfile_read and symfile_code of a file with `known`. */
size_t known_code_read(const struct symfile *f, uint64_t address, uint8_t *into, size_t bytes);
size_t known_code_next(const struct symfile *f, uint64_t *address, uint64_t end);
/* Checks stretches (symbols_kernel_code); *out: from malloc.  ERR_NOMEM. */
int  known_code_parse(struct known_code **out, size_t *count, const void *stretches, size_t bytes);

int  jit_read_map(struct symfile *f, const char *path);
int  jit_read_dump(struct symfile *f, const char *path);

struct inlined;
void inlined_free(struct inlined *i);

struct lines;
int  lines_open(struct lines **out, const char *path);
void lines_close(struct lines *l);
size_t lines_find(struct lines *l, uint64_t vaddr, struct symbols_line *lines, size_t max);
#endif
