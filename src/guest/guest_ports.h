/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a guest of `softpmu machine` and the machine say to each other, by OUT to these ports.  Kernels of the tests use
 * the first three; the first program of a Linux guest (guest_init.c) uses the calls.
 */
#ifndef GUEST_PORTS_H
#define GUEST_PORTS_H
#include <stdint.h>

enum {
	GUEST_MARK_PORT = 0x5350,	/* 1, 0: what is timed begins, ends (--timing marked) */
	GUEST_CONSOLE_PORT = 0x5352,	/* a character of the standard output */
	GUEST_EXIT_PORT = 0x5354,	/* the machine ends with this status */
	GUEST_CALL_PORT = 0x5356,	/* 32 bits: the linear address of a struct guest_call, on processor 0 */
};

/* All that `addr` covers must be in memory.  result: bytes that were moved, or -1. */
struct guest_call {
	uint32_t what;			/* enum guest_call_what */
	uint32_t channel;		/* enum guest_channel */
	uint64_t addr, size;		/* linear address; bytes */
	int64_t result;
};
enum guest_call_what {
	GUEST_CALL_WRITE = 1,		/* `size` bytes to the channel */
	GUEST_CALL_REQUEST,		/* a struct guest_request, `size` bytes at most, to `addr` */
	GUEST_CALL_SAVE,		/* the machine's state is saved; a restored machine goes on behind this call */
};
enum guest_channel {
	GUEST_STDOUT = 1, GUEST_STDERR,
	GUEST_KALLSYMS,			/* /proc/kallsyms */
	GUEST_FILES,			/* /out: a struct guest_file, its name and its data for each file */
	GUEST_CHANNELS
};

/* What the guest is to do. */
enum {
	GUEST_WANTS_SAVE = 1, GUEST_WANTS_KALLSYMS = 2, GUEST_WANTS_FILES = 4,
	GUEST_COMMAND_MAX = 100000,	/* bytes, with the 0 at the end; Linux takes 131072 in one argument */
};
struct guest_request {
	uint32_t wants;
	char command[GUEST_COMMAND_MAX];
};

struct guest_file {
	uint32_t mode;			/* as in struct stat; a directory, a regular file or a symbolic link */
	uint32_t name_bytes;		/* without a 0; relative to /out */
	uint64_t data_bytes;		/* contents, or target of the link */
};
#endif
