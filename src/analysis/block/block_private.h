/* SPDX-License-Identifier: GPL-2.0-or-later
 * Private to `softpmu block`: the block on its way from bytes to the core.
 *
 * block_code.c    from bytes to the path of instructions, their accesses and addresses
 * block.c         the region of copies, the run, the search for the period
 * block_detail.c  ports, bounds, dependency chain, timeline
 */
#ifndef ANALYSIS_BLOCK_PRIVATE_H
#define ANALYSIS_BLOCK_PRIVATE_H
#include "analysis/block/block.h"
#include "isa/isa.h"
#include "softpmu/record.h"

enum { PATH_SLOTS = 32 };		/* most accesses of one instruction; a gather of 16 elements has 16 */

struct access { uint8_t kind; uint16_t size; uint32_t group; int64_t disp; bool stack; };

struct step {				/* an instruction of the path */
	uint32_t offset;
	uint8_t len, bytes[15];
	bool appended;
	uint32_t first_access, accesses;
};

struct path {
	struct step *step;
	unsigned steps;
	struct access *access;
	unsigned n_access, room;
	uint64_t *group_base;		/* address of each base expression */
	unsigned groups;
	int64_t stack_net;		/* by how much one iteration moves RSP */
	bool loops;			/* the last step jumps to the first */
	uint64_t bytes;			/* of the code, with an appended pair */
};

/* Makes the path; puts notes for the user into r. */
int  path_make(struct path *p, const struct block_spec *spec, struct block_result *r, struct err *err);
void path_release(struct path *p);
/* The address of access a in the copy whose RSP starts `stack` bytes further. */
static inline uint64_t path_address(const struct path *p, const struct access *a, int64_t stack)
{
	return p->group_base[a->group] + (uint64_t)(a->disp + (a->stack ? stack : 0));
}

struct sample {				/* a uop as it went through the core; absolute cycles */
	uint32_t step, iteration;
	uint16_t nth;			/* number within its instruction */
	uint8_t port;
	bool first;
	uint64_t did;
	uint64_t fetch, alloc, ready, dispatch, complete, retire;
};
struct samples {			/* uops of the steady state */
	struct sample *s;
	size_t n;
	unsigned iterations;
	uint64_t cycles;		/* that they took */
	uint64_t signal[SPMU_SIG_COUNT];	/* sum of (length or 1) × count */
};

struct flat {				/* the uops of one iteration */
	struct uop *uop;		/* `insn` is the number of the step */
	uint64_t *addr;			/* ST_NOT_DONE: no access */
	unsigned n;
};

int block_detail(const struct core_config *core, const struct path *p, const struct flat *f, const struct samples *s,
                 struct block_result *r, struct err *err);
#endif
