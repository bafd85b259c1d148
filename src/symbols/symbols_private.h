/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the files of the symboliser share among themselves. */
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
	size_t *outer;			/* of each symbol: 1 + index of the nearest earlier one that reaches over its start */
	struct segment *segment;
	size_t segments;
	uint8_t build_id[SYMBOLS_BUILD_ID_BYTES];
	unsigned build_id_bytes;
	struct lines *lines;		/* opened on first use */
	bool lines_tried;
	struct jit_line *jit_line;	/* by address */
	size_t jit_lines;
	char *jit_files;		/* their file names */
};
struct jit_line { uint64_t address; uint32_t line; size_t file; };

/* Adds a symbol: takes over nothing, copies the name. */
int symfile_add(struct symfile *f, uint64_t start, uint64_t end, const char *name, unsigned binding, bool is_code);
/* Sorts and prepares for symfile_find. keep_last: of symbols at the same address the last added stays (JIT), else the best. */
int symfile_index(struct symfile *f, bool fix, bool keep_last);
/* Demangled or NULL. */
char *symbols_demangle(const char *name);

int  jit_read_map(struct symfile *f, const char *path);
int  jit_read_dump(struct symfile *f, const char *path);

struct lines;
int  lines_open(struct lines **out, const char *path);
void lines_close(struct lines *l);
size_t lines_find(struct lines *l, uint64_t vaddr, struct symbols_line *lines, size_t max);
#endif
