/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a BIOS and a boot loader would leave in the lowest 640 KB for a Linux kernel: the table for the ROM
 * (src/guest/boot_rom.S), boot_params with the memory map, the command line, page tables, and the MultiProcessor table.
 *
 * Sources: Linux, Documentation/arch/x86/boot.rst and zero-page.rst; Intel, "MultiProcessor Specification", version 1.4
 * (1997), chapter 4 "MP Configuration Table".
 */
#ifndef CLI_GUEST_SETUP_H
#define CLI_GUEST_SETUP_H
#include "cli/machine/kernel_image.h"
#include <stdint.h>

enum { GUEST_LOW = 0x7000, GUEST_LOW_END = 0xa0000 };	/* what guest_setup_low fills */

struct guest_setup {
	const struct kernel_image *kernel;
	const char *command;		/* line */
	uint64_t memory;		/* bytes */
	uint64_t initrd_bytes;
	unsigned cpus;
	uint32_t signature;		/* CPUID 1, EAX */
};

/* Where the archive goes: as high as the kernel takes it.  ERR_INPUT: the memory is too small. */
int  guest_setup_initrd(const struct guest_setup *s, uint64_t *addr, struct err *err);
/* low: GUEST_LOW_END - GUEST_LOW bytes.  ERR_INPUT: the command line is too long, the memory too small. */
int  guest_setup_low(const struct guest_setup *s, uint8_t *low, struct err *err);
#endif
