/* SPDX-License-Identifier: GPL-2.0-or-later
 * What an instruction does, for the wrong path (core/wrongpath/walker.h): its operation, if that is one of the
 * common ones on general-purpose registers, else which of these registers it changes in an unknown way; and its
 * memory operand.
 *
 * Left out (all are SEM_OTHER): rotates through carry, double shifts, multiplication to two registers, division,
 * strings, everything on vector and x87 registers.  Their memory operands are given nevertheless.
 */
#ifndef ISA_SEMANTIC_H
#define ISA_SEMANTIC_H
#include "isa/isa.h"

enum sem_op {
	SEM_OTHER,		/* the registers of `spoils` are unknown after it, and so are the flags if SEM_FLAGS */
	SEM_STOP,		/* what follows it is unknown */
	SEM_NOP, SEM_MOV, SEM_MOVZX, SEM_MOVSX, SEM_LEA, SEM_ADD, SEM_SUB, SEM_AND, SEM_OR, SEM_XOR, SEM_CMP, SEM_TEST,
	SEM_INC, SEM_DEC, SEM_NEG, SEM_NOT, SEM_ADC, SEM_SBB, SEM_SHL, SEM_SHR, SEM_SAR,
	SEM_IMUL,		/* dst = src * (third or dst) */
	SEM_PUSH, SEM_POP, SEM_CALL, SEM_RET, SEM_JMP, SEM_JCC, SEM_LEAVE, SEM_SETCC, SEM_CMOV,
	SEM_CDQ,		/* fills RDX with RAX's sign */
	SEM_CDQE,		/* sign-extends RAX's lower half */
	SEM_XCHG, SEM_BSWAP,
	SEM_BSF,		/* TZCNT, too */
	SEM_BSR, SEM_LZCNT, SEM_POPCNT, SEM_ROL, SEM_ROR,
};
enum sem_flags {
	SEM_DST_MEM = 1, SEM_SRC_MEM = 2, SEM_SRC_IMM = 4,	/* otherwise they are registers */
	SEM_LOADS = 8, SEM_STORES = 16,	/* the memory operand is read, written */
	SEM_POPS = 32, SEM_PUSHES = 64,	/* reads at the stack pointer (LEAVE: at RBP), writes below it */
	/* the memory operand's address is unknown: segment FS or GS, a vector of indexes, several operands */
	SEM_NO_ADDRESS = 128,
	SEM_FLAGS = 256,	/* changes flags */
	SEM_ADDRESS_32 = 512,
	SEM_PREFETCH = 1024,
	SEM_THIRD = 2048,	/* IMUL: imm is the third operand */
};
enum { SEM_NONE = 255, SEM_HIGH = 16 /* AH, CH, DH, BH */ };

struct sem {
	uint8_t op;		/* enum sem_op */
	uint8_t size, from;	/* bytes of the operation; bytes of the source of MOVZX, MOVSX */
	uint8_t dst, src;	/* registers as encoded; from SEM_HIGH on the high bytes of the first four */
	uint8_t base, index, scale;	/* of the memory operand; SEM_NONE: none */
	uint8_t cc;		/* condition, as encoded; for JCXZ SEM_NONE */
	uint8_t bytes;		/* size of the memory operand */
	uint16_t flags;		/* enum sem_flags */
	uint16_t spoils;	/* SEM_OTHER: set of registers */
	int64_t imm;		/* RET: bytes it pops besides the address */
	int64_t disp;		/* RIP-relative: the address */
};

/* Describes the instruction that `code` begins with, which lies at `addr`.  Returns its length; 0 if it does not
 * decode. */
unsigned isa_semantic(const struct isa *isa, int word_bytes, const uint8_t *code, size_t bytes, uint64_t addr,
		      struct sem *out);
#endif
