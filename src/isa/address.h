/* SPDX-License-Identifier: GPL-2.0-or-later
 * The address that an instruction accesses, from its bytes and the registers before it.
 */
#ifndef ISA_ADDRESS_H
#define ISA_ADDRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Computes the address of the first memory operand that the instruction accesses.  gpr: indexed as encoded.  False
 * if the bytes do not decode, or the instruction accesses no memory, or its address uses FS, GS or a vector of
 * indices. */
bool isa_address(int word_bytes, const uint8_t *code, size_t bytes, uint64_t ip, const uint64_t gpr[16],
		 uint64_t *address);
#endif
