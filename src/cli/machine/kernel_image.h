/* SPDX-License-Identifier: GPL-2.0-or-later
 * A Linux kernel for x86 as distributions have it (bzImage), unpacked on the host: the guest need not do it, which
 * would take it some thousand million instructions.
 *
 * Layout: Linux, Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header", protocol 2.08 and later.
 */
#ifndef CLI_KERNEL_IMAGE_H
#define CLI_KERNEL_IMAGE_H
#include "util/err.h"
#include <stdint.h>

enum { KERNEL_SEGMENTS = 16, KERNEL_HEADER = 0x1f1, KERNEL_HEADER_MAX = 0x90 };

struct kernel_segment {			/* of the unpacked ELF file */
	uint64_t addr;			/* physical */
	uint64_t offset, bytes;		/* in the file */
	uint64_t memory;		/* bytes in memory: not less; the rest is 0 */
};

struct kernel_image {
	unsigned bits;			/* 32 or 64 */
	uint64_t entry;			/* physical */
	uint64_t end;			/* of what it needs at first, with what it says in init_size */
	struct kernel_segment segment[KERNEL_SEGMENTS];
	unsigned segments;
	uint8_t header[KERNEL_HEADER_MAX];	/* the file from KERNEL_HEADER on: setup_header */
	unsigned header_bytes;
	unsigned command_max;		/* bytes of the command line, without its 0 */
	uint64_t initrd_max;		/* the highest address that an archive may have */
};

/* Reads the bzImage and writes the ELF file that it holds to `unpacked`.  NULL: only the header is read; `bits` may be
 * 0 then, of an old kernel.  It runs xz, zstd, gzip or lz4.  ERR_INPUT: it is none, is cut short, or holds no kernel;
 * ERR_UNSUPPORTED: packed in another way, or an old one; ERR_SYSTEM. */
int kernel_image_read(struct kernel_image *k, const char *bzimage, const char *unpacked, struct err *err);

/* Parts of it: the header; where the payload is (offset, bytes in the file); the ELF file. */
int kernel_image_header(struct kernel_image *k, const uint8_t *start, uint64_t bytes, uint64_t file_bytes,
	uint64_t payload[2], const char *name, struct err *err);
int kernel_image_elf(struct kernel_image *k, const char *unpacked, const char *name, struct err *err);
#endif
