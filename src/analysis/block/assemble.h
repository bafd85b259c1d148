/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code bytes from what a user has: assembly text (through the system assembler `as`), hexadecimal digits, or a range of an
 * ELF file.
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

struct asm_block {		/* what became of it */
	uint8_t *code;		/* NULL: error says why */
	size_t bytes;
	char *error;		/* the assembler's own sentence, or ours; NULL if there is code */
	unsigned line;		/* of its text, from 1, to which the error belongs; 0: to all of it */
};

/* Assembles n blocks in one run of `as` (one more for each round of errors).  A block that does not assemble has its
 * error in out[i]; the others are not touched by it.  word_bytes 8 or 4.  Fails as a whole only if `as` cannot be
 * run.  out: n entries, released by asm_release whatever was returned. */
int  asm_blocks(const struct asm_source *source, size_t n, int word_bytes, struct asm_block *out, struct err *err);
void asm_release(struct asm_block *block, size_t n);

/* "48 01 d8", "4801d8", "\x48\x01", "0x48,0x01": *code from malloc. */
int asm_hex(const char *text, uint8_t **code, size_t *bytes, struct err *err);
/* Bytes at addresses [from, to) of an executable, a library or an object (objects: offsets into .text). *word_bytes: 8 or 4. */
int asm_elf(const char *path, uint64_t from, uint64_t to, uint8_t **code, size_t *bytes, int *word_bytes, struct err *err);
#endif
