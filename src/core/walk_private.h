/* SPDX-License-Identifier: GPL-2.0-or-later
 * Inside of walk*.c. */
#ifndef CORE_WALK_PRIVATE_H
#define CORE_WALK_PRIVATE_H
#include "core/walk.h"

enum { THUNK_OP = 16, THUNK_DEP1, THUNK_DEP2, THUNK_NDEP };
enum { OVERLAY = 256 /* a power of two */, OVERLAY_MOST = 192 };

/* The wrong path's own stores; those of another walk are void. */
struct overlay { uint64_t word, value; uint32_t walk; uint8_t written, known; /* sets of bytes */ };

struct walker {
	struct walk_space *space;
	uint64_t reg[WALK_REGS];
	uint32_t known;		/* set of registers */
	uint32_t most;		/* instructions of a walk */
	uint32_t walks, stores;
	struct overlay overlay[OVERLAY];
	struct bpred_path path;
};

const struct isa *walk_space_isa(const struct walk_space *s);
#endif
