/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes code bytes from what a user has: assembly text (through the system assembler `as`), hexadecimal digits,
 * or a range of an ELF file.
 */
#ifndef ANALYSIS_ASSEMBLE_H
#define ANALYSIS_ASSEMBLE_H
#include "util/err.h"
#include <stddef.h>
#include <stdint.h>

struct asm_source {		/* one block of assembly: Intel syntax, statements separated by `;` or newlines */
	const char *text;	/* need not be NUL-terminated */
	size_t bytes;
};

struct asm_block {		/* the result for one block */
	uint8_t *code;		/* NULL: error says why */
	size_t bytes;
	char *error;		/* the assembler's message, or ours; NULL if there is code */
	unsigned line;		/* the line of its text, from 1, that has the error; 0: the whole text */
};

/* Assembles n blocks in one run of `as` (one more run for each round of errors).  A block that does not assemble
 * has its error in out[i]; the others are not affected.  word_bytes: 8 or 4.  Fails as a whole only if `as`
 * cannot be run.  out: n entries; the caller releases them with asm_release, whatever was returned. */
int  asm_blocks(const struct asm_source *source, size_t n, int word_bytes, struct asm_block *out, struct err *err);
void asm_release(struct asm_block *block, size_t n);

/* Accepts "48 01 d8", "4801d8", "\x48\x01" and "0x48,0x01".  *code is malloc'd. */
int asm_hex(const char *text, uint8_t **code, size_t *bytes, struct err *err);
/* The bytes at addresses [from, to) of an executable, a library or an object (of objects: offsets into .text).
 * *code is malloc'd.  *word_bytes: 8 or 4. */
int asm_elf(const char *path, uint64_t from, uint64_t to, uint8_t **code, size_t *bytes, int *word_bytes,
	struct err *err);
#endif
