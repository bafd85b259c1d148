/* SPDX-License-Identifier: GPL-2.0-or-later
 * The address that an instruction accesses, from its bytes and the registers before it.
 */
#ifndef ISA_ADDRESS_H
#define ISA_ADDRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first memory operand that is accessed.  gpr: as encoded.  False: the bytes do not decode, the instruction accesses no memory, or relative to
 * FS or GS, or by a vector of indices. */
bool isa_address(int word_bytes, const uint8_t *code, size_t bytes, uint64_t ip, const uint64_t gpr[16], uint64_t *address);
#endif
