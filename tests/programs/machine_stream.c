/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a small stream of a whole machine: two programs that take turns, whose functions make system calls.
 *   machine_stream OUT KALLSYMS FILE FUNCTION OTHER_FILE OTHER_FUNCTION
 * Each program runs a loop at FUNCTION of its FILE, and then enters the kernel, which calls a function of a module.
 * The kernel's addresses are those of the kallsyms of tests/system/record/machine-names.sh.
 */
#include "machine/guest_stream.h"
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY  UINT64_C(0xffffffff81000100)	/* entry_SYSCALL_64 */
#define SYSCALL UINT64_C(0xffffffff81000200)	/* do_syscall_64 */
#define MODULE UINT64_C(0xffffffffc0000040)	/* a function of the module */
enum { TURNS = 40, LOOPS = 50, WORK = 12 };

struct block {
	struct st_block_def def;
	struct st_insn_def insn[WORK + 1];
	struct st_slot slot;
	struct st_exit_def exit;
};
static struct guest_stream *stream;
static uint32_t blocks;

/* WORK instructions at addr, INC of eight registers in turn, then the last one. */
static void make(struct block *b, uint64_t addr, unsigned work, const void *last, unsigned length, uint8_t slot,
	int jump)
{
	memset(b, 0, sizeof *b);
	b->def.id = blocks++;
	for (unsigned i = 0; i <= work; i++) {
		struct st_insn_def *d = &b->insn[i];
		const uint8_t inc[3] = { 0x48, 0xff, (uint8_t)(0xc0 | (i % 4)) };
		d->addr = addr;
		d->len = (uint8_t)(i < work ? sizeof inc : length);
		memcpy(d->bytes, i < work ? inc : last, d->len);
		addr += d->len;
	}
	b->def.insns = (uint16_t)(work + 1);
	b->def.slots = slot != 0;
	b->def.exits = 1;
	b->slot = (struct st_slot){ .kind = slot, .insn = (uint8_t)work, .size = 8 };
	b->exit = (struct st_exit_def){ .insns = b->def.insns, .slots = b->def.slots, .jump = (uint8_t)jump };
}

static void run(struct block *b, uint64_t value)
{
	struct { struct st_block_def def; unsigned char rest[sizeof *b]; } flat = { .def = b->def };
	const size_t insns = b->def.insns * sizeof b->insn[0], slots = b->def.slots * sizeof b->slot;
	memcpy(flat.rest, b->insn, insns);
	memcpy(flat.rest + insns, &b->slot, slots);
	memcpy(flat.rest + insns + slots, &b->exit, sizeof b->exit);
	flat.def.header = ST_HEADER(ST_BLOCK_DEF, sizeof flat.def + insns + slots + sizeof b->exit);
	guest_stream_block(stream, &flat.def, 0, &value);
}

static void next(uint64_t ip)
{
	const struct st_next s = { ST_HEADER(ST_NEXT, sizeof s), ip };
	guest_stream_record(stream, &s, sizeof s);
}

static void level(unsigned cpl)
{
	const struct st_level s = { .header = ST_HEADER(ST_LEVEL, sizeof s), .cpl = (uint8_t)cpl, .word_bytes = 8,
		.drains = 1 };
	guest_stream_record(stream, &s, sizeof s);
}

static void space(uint64_t tag)
{
	const struct st_space s = { ST_HEADER(ST_SPACE, sizeof s), tag, tag << 12 };
	guest_stream_record(stream, &s, sizeof s);
}

static void symbols(unsigned what, uint64_t tag, uint64_t addr, uint64_t bytes, uint64_t offset, const char *path)
{
	struct { struct st_symbols head; char path[4096]; } s = { .head = { .what = what, .addr = addr, .bytes = bytes,
		.offset = offset, .tag = tag, .path_bytes = (uint32_t)strlen(path) + 1 } };
	const size_t length = sizeof s.head + (strlen(path) + 8) / 8 * 8;
	snprintf(s.path, sizeof s.path, "%s", path);
	s.head.header = ST_HEADER(ST_SYMBOLS, length);
	guest_stream_record(stream, &s, length);
}

struct program { const char *file; uint64_t offset; struct block loop, call, inner, back; };

/* The programs are not relocated: addresses are those of the file. */
static int prepare(struct program *p, uint64_t tag, const char *file, const char *function)
{
	struct symfile *f;
	uint64_t addr;
	struct err err;
	if (!symbols_find_function(file, function, &p->offset) || symfile_open(&f, file, NULL, 0, &err) ||
		!symfile_vaddr(f, p->offset, &addr)) {
		fprintf(stderr, "%s has no function %s\n", file, function);
		return -1;
	}
	symfile_close(f);
	p->file = file;
	const uint64_t tagged = addr | tag << ST_SPACE_SHIFT;
	make(&p->loop, tagged, WORK, "\xeb\xda", 2, 0, ST_JUMP_BORING);		/* JMP to its begin */
	make(&p->call, tagged, 2, "\xe8\x00\x00\x00\x00", 5, ST_SLOT_STORE, ST_JUMP_CALL);
	make(&p->inner, tagged + 11, 2, "\x0f\x05", 2, 0, ST_JUMP_SYSCALL);
	make(&p->back, tagged + 19, 2, "\xc3", 1, ST_SLOT_LOAD, ST_JUMP_RET);
	symbols(ST_SYMBOLS_CODE, tag, addr & ~UINT64_C(0xfff), 0x4000, p->offset & ~UINT64_C(0xfff), file);
	symbols(ST_SYMBOLS_PROGRAM, tag, 0, 0, 0, file);
	return 0;
}

int main(int argc, char **argv)
{
	struct program p[2] = { 0 };
	struct block entry, call, module, back, leave;
	struct err err = { 0 };
	if (argc != 7 || guest_stream_open(&stream, argv[1], 8, false, &err)) {
		fprintf(stderr, "machine_stream: %s\n", err.code ? err.text : "six words");
		return 1;
	}
	if (*argv[2])
		symbols(ST_SYMBOLS_KALLSYMS, 0, 0, 0, 0, argv[2]);
	if (prepare(&p[0], 1, argv[3], argv[4]) || prepare(&p[1], 2, argv[5], argv[6]))
		return 1;
	make(&entry, ENTRY, 3, "\xe8\x00\x00\x00\x00", 5, ST_SLOT_STORE, ST_JUMP_CALL);
	make(&call, SYSCALL, WORK, "\xe8\x00\x00\x00\x00", 5, ST_SLOT_STORE, ST_JUMP_CALL);
	make(&module, MODULE, WORK, "\xc3", 1, ST_SLOT_LOAD, ST_JUMP_RET);
	make(&back, call.insn[WORK].addr + 5, 2, "\xc3", 1, ST_SLOT_LOAD, ST_JUMP_RET);
	make(&leave, entry.insn[3].addr + 5, 2, "\x48\x0f\x07", 3, 0, ST_JUMP_OTHER);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct program *on = &p[turn & 1];
		const uint64_t stack = UINT64_C(0x7ffff000) | (uint64_t)(1 + turn % 2) << ST_SPACE_SHIFT;
		const uint64_t kstack = UINT64_C(0xffffc90000008000) + turn % 2 * 0x8000;
		space(1 + turn % 2);
		level(3);
		for (unsigned i = 0; i < LOOPS; i++)
			run(&on->loop, 0);
		run(&on->call, stack - 8);
		run(&on->inner, 0);
		next(ENTRY);
		level(0);
		run(&entry, kstack - 8);
		run(&call, kstack - 16);
		for (unsigned i = 0; i < 8; i++)
			run(&module, kstack - 16), run(&call, kstack - 16);
		run(&module, kstack - 16);
		run(&back, kstack - 8);
		run(&leave, 0);
		next(on->back.insn[0].addr);
		level(3);
		run(&on->back, stack - 8);
		next(ENTRY);
		level(0);
	}
	if (guest_stream_close(stream, &err)) {
		fprintf(stderr, "machine_stream: %s\n", err.text);
		return 1;
	}
	return 0;
}
