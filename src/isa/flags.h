/* SPDX-License-Identifier: GPL-2.0-or-later
 * RFLAGS from the tracer's condition-code thunk (stream/format.h: ST_SLOT_REG, registers 16 to 19).
 */
#ifndef ISA_FLAGS_H
#define ISA_FLAGS_H
#include <stdint.h>

enum isa_flag { FLAG_CF = 1, FLAG_PF = 4, FLAG_AF = 16, FLAG_ZF = 64, FLAG_SF = 128, FLAG_OF = 2048,
	FLAGS_ARITHMETIC = FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF };

/* Returns the six arithmetic flags.  thunk: CC_OP, CC_DEP1, CC_DEP2, CC_NDEP.  word_bytes 8 or 4 selects the
 * numbering of operations.  An unknown operation sets no flag.  Flags that the manual calls undefined have VEX's
 * value. */
uint64_t isa_flags(int word_bytes, const uint64_t thunk[4]);
#endif
