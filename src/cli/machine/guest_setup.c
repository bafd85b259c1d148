/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fills the guest's lowest memory (guest_setup.h).
 */
#include "cli/machine/guest_setup.h"
#include <string.h>

enum {					/* physical addresses */
	START = GUEST_LOW,		/* boot_rom.S has it, too */
	PARAMETERS = 0x8000, COMMAND = 0x9000,
	TABLES = 0x10000,		/* PML4, PDPT, and a page directory for each of 4 GB */
	MP_POINTER = 0x9fc00,		/* the last KB of the base memory, where systems look for it */
	MP_TABLE = MP_POINTER + 16,
	LOCAL_APIC = 0xfee00000, IO_APIC = 0xfec00000,
	MB = 1 << 20, PAGE = 4096, COMMAND_MAX = TABLES - COMMAND,
};
enum {					/* offsets in boot_params: zero-page.rst */
	ALT_MEM_K = 0x1e0, E820_ENTRIES = 0x1e8, LOADER = 0x210, LOAD_FLAGS = 0x211, RAMDISK_IMAGE = 0x218,
	RAMDISK_SIZE = 0x21c, COMMAND_POINTER = 0x228, E820 = 0x2d0, E820_ENTRY = 20,
};
enum { RAM = 1, RESERVED = 2 };		/* e820 types */

static void put(uint8_t *low, unsigned addr, unsigned bytes, uint64_t value)
{
	memcpy(low + (addr - GUEST_LOW), &value, bytes);
}

int guest_setup_initrd(const struct guest_setup *s, uint64_t *addr, struct err *err)
{
	/* A 32-bit kernel sees no more than this before it has set up its memory: initrd_addr_max says so. */
	const uint64_t most = s->memory - 1 < s->kernel->initrd_max ? s->memory : s->kernel->initrd_max + 1;
	const uint64_t needed = s->kernel->end + s->initrd_bytes + PAGE;
	if (most < needed)
		return err_set(err, ERR_INPUT, "the kernel and its files need %llu MB at least: give more by --memory",
			(unsigned long long)((2 * s->initrd_bytes + s->kernel->end) / MB + 32));
	*addr = (most - s->initrd_bytes) & ~(uint64_t)(PAGE - 1);
	return 0;
}

static void put_parameters(const struct guest_setup *s, uint8_t *low, uint64_t initrd)
{
	const struct { uint64_t from, to; unsigned type; } map[] = {
		{ 0, MP_POINTER, RAM }, { MP_POINTER, GUEST_LOW_END, RESERVED }, { 0xf0000, MB, RESERVED },
		{ MB, s->memory, RAM },
	};
	const unsigned entries = sizeof map / sizeof *map;
	memcpy(low + (PARAMETERS - GUEST_LOW) + KERNEL_HEADER, s->kernel->header, s->kernel->header_bytes);
	put(low, PARAMETERS + ALT_MEM_K, 4, (s->memory - MB) / 1024);
	put(low, PARAMETERS + E820_ENTRIES, 1, entries);
	put(low, PARAMETERS + LOADER, 1, 0xff);			/* of no known kind */
	put(low, PARAMETERS + LOAD_FLAGS, 1, s->kernel->header[LOAD_FLAGS - KERNEL_HEADER] | 1);
	put(low, PARAMETERS + RAMDISK_IMAGE, 4, initrd);
	put(low, PARAMETERS + RAMDISK_SIZE, 4, s->initrd_bytes);
	put(low, PARAMETERS + COMMAND_POINTER, 4, COMMAND);
	for (unsigned i = 0; i < entries; i++) {
		put(low, PARAMETERS + E820 + i * E820_ENTRY, 8, map[i].from);
		put(low, PARAMETERS + E820 + i * E820_ENTRY + 8, 8, map[i].to - map[i].from);
		put(low, PARAMETERS + E820 + i * E820_ENTRY + 16, 4, map[i].type);
	}
}

/* The first 4 GB where they are, by 2 MB pages. */
static void put_tables(uint8_t *low)
{
	put(low, TABLES, 8, TABLES + PAGE + 3);
	for (unsigned gb = 0; gb < 4; gb++)
		put(low, TABLES + PAGE + 8 * gb, 8, TABLES + (2 + gb) * PAGE + 3);
	for (unsigned i = 0; i < 4 * 512; i++)
		put(low, TABLES + 2 * PAGE + 8 * i, 8, (uint64_t)i << 21 | 0x83);
}

static uint8_t sum(const uint8_t *p, unsigned bytes)
{
	uint8_t s = 0;
	while (bytes--)
		s += *p++;
	return (uint8_t)-s;
}

/* What stands behind each other in the MP table. */
struct writer { uint8_t *low; unsigned at, entries; };

static void entry(struct writer *w, unsigned type, const uint8_t *rest, unsigned bytes)
{
	w->low[w->at - GUEST_LOW] = (uint8_t)type;
	memcpy(w->low + (w->at - GUEST_LOW) + 1, rest, bytes);
	w->at += 1 + bytes;
	w->entries++;
}

static void put_mp_table(const struct guest_setup *s, uint8_t *low)
{
	enum { PROCESSOR, BUS, IOAPIC, INTERRUPT, LOCAL_INTERRUPT };	/* entry types */
	enum { INT, NMI, SMI, EXTINT };					/* interrupt types */
	struct writer w = { low, MP_TABLE + 44, 0 };
	const uint8_t io_apic = (uint8_t)s->cpus;		/* Bochs gives it this ID */
	for (unsigned i = 0; i < s->cpus; i++) {
		uint8_t processor[19] = { (uint8_t)i, 0x14, i ? 1 : 3 };	/* enabled; the first one boots */
		memcpy(processor + 3, &s->signature, 4);
		processor[7] = 1 | 1 << 4;			/* FPU, TSC */
		processor[8] = 1 << 1;				/* local APIC */
		entry(&w, PROCESSOR, processor, sizeof processor);
	}
	entry(&w, BUS, (const uint8_t *)"\0ISA   ", 7);
	entry(&w, IOAPIC, (const uint8_t[]){ io_apic, 0x11, 1, 0, 0, IO_APIC >> 16 & 255, IO_APIC >> 24 & 255 }, 7);
	for (uint8_t irq = 0; irq < 16; irq++)			/* the timer is on pin 2 */
		if (irq != 2)
			entry(&w, INTERRUPT, (const uint8_t[]){ INT, 0, 0, 0, irq, io_apic, irq ? irq : 2 }, 7);
	entry(&w, LOCAL_INTERRUPT, (const uint8_t[]){ EXTINT, 0, 0, 0, 0, 0, 0 }, 7);
	entry(&w, LOCAL_INTERRUPT, (const uint8_t[]){ NMI, 0, 0, 0, 0, 0xff, 1 }, 7);
	uint8_t *head = low + (MP_TABLE - GUEST_LOW);
	memcpy(head, "PCMP", 4);
	put(low, MP_TABLE + 4, 2, w.at - MP_TABLE);
	put(low, MP_TABLE + 6, 1, 4);				/* version 1.4 */
	memcpy(head + 8, "SOFTPMU MACHINE     ", 20);
	put(low, MP_TABLE + 34, 2, w.entries);
	put(low, MP_TABLE + 36, 4, LOCAL_APIC);
	head[7] = sum(head, w.at - MP_TABLE);
	uint8_t *pointer = low + (MP_POINTER - GUEST_LOW);
	memcpy(pointer, "_MP_", 4);
	put(low, MP_POINTER + 4, 4, MP_TABLE);
	put(low, MP_POINTER + 8, 1, 1);				/* length in 16 bytes */
	put(low, MP_POINTER + 9, 1, 4);
	pointer[10] = sum(pointer, 16);
}

int guest_setup_low(const struct guest_setup *s, uint8_t *low, struct err *err)
{
	uint64_t initrd = 0;
	const size_t length = strlen(s->command);
	const unsigned most = s->kernel->command_max ? s->kernel->command_max : 255;
	const int rc = guest_setup_initrd(s, &initrd, err);
	if (rc)
		return rc;
	if (length > most || length >= COMMAND_MAX)
		return err_set(err, ERR_INPUT, "the kernel's command line has %zu characters; it takes "
			"%u", length, most);
	memset(low, 0, GUEST_LOW_END - GUEST_LOW);
	put(low, START, 4, s->kernel->entry);
	put(low, START + 4, 4, PARAMETERS);
	put(low, START + 8, 4, s->kernel->bits == 64 ? TABLES : 0);
	put_parameters(s, low, initrd);
	memcpy(low + (COMMAND - GUEST_LOW), s->command, length + 1);
	put_tables(low);
	put_mp_table(s, low);
	return 0;
}
