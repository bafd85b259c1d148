/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code bytes to uops.  A block is decoded once, when the tracer first sends it, into the small fixed records
 * below; the core works on these alone.
 *
 * Rules of the decoding (fused domain): a `slot` uop opens an issue slot; uops without `UOP_SLOT` that
 * follow belong to the same slot (micro-fused load+op, store-address+store-data; macro-fused pairs are one
 * uop that ends two instructions).
 *
 * A macro-fused pair: the compare has INSN_FUSES_NEXT and all the uops; the branch has INSN_FUSED_INTO_PREV, 0 uops and
 * no slot of its own.  The pair's last uop is the branch: kind UOP_BRANCH, UOP_FUSED_BRANCH, `insn` is the compare (the
 * branch is insn + 1), `is` holds INST_END and INST_END2: one INST_END, and one INST_END2 for the second instruction.
 *
 * Load latencies in `latency` are beyond l1d.latency and l1d.vector_extra of the core's file.
 * Far transfers (SYSCALL, ..) have `is` BRANCH and FAR but are not of kind UOP_BRANCH: nothing predicts them.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H
#include "softpmu/record.h"
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>

/* Register names of the uops' operands.  0 is "none": always ready as a source, a sink as a destination. */
enum isa_reg {
	REG_NONE = 0,
	REG_GPR = 1,		/* 16: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8.. as encoded */
	REG_VEC = 17,		/* 32 vector registers */
	REG_X87 = 49,		/* 8, relative to the top of stack at the block's entry, also MMX */
	REG_FLAGS = 57,		/* SF ZF AF PF OF */
	REG_CARRY = 58,		/* CF */
	REG_MXCSR = 59, REG_X87_STATUS = 60,
	REG_SEGMENT = 61, REG_MASK = 62 /* 8 */,
	REG_TEMP = 70,		/* 8 temporaries within an instruction */
	REG_HIGH = 80,		/* 4: AH, CH, DH, BH, if they are renamed apart (isa_options.high_bytes; core/backend/partial_regs.h) */
	REG_COUNT = 84
};
/* Is one of these results a general register? */
static inline bool reg_any_general(const uint8_t dst[3])
{
	return (uint8_t)(dst[0] - REG_GPR) < REG_VEC - REG_GPR || (uint8_t)(dst[1] - REG_GPR) < REG_VEC - REG_GPR || (uint8_t)(dst[2] - REG_GPR) < REG_VEC - REG_GPR;
}

enum uop_kind {
	UOP_NOP,		/* takes a slot, no port */
	UOP_COMPUTE,		/* port, latency */
	UOP_LOAD,		/* load port, then memory; result after the access plus `latency` extra */
	UOP_STORE_ADDR,
	UOP_STORE_DATA,
	UOP_BRANCH,		/* port, latency; ends a basic block */
	UOP_ELIMINATED,		/* done at rename: destination becomes a copy of src[0] (or ready, if none).  With ports: on these, with
				 * its latency, if rename cannot (core/backend/eliminate.h) */
	UOP_FENCE_LOAD, UOP_FENCE_STORE, UOP_FENCE_FULL,
	UOP_SERIALIZE,		/* waits until all before it retired; nothing after it issues before it did */
};

enum uop_flags {
	UOP_SLOT = 1,		/* opens an issue/retire slot */
	UOP_BEGIN = 2,		/* first uop of its instruction */
	UOP_END = 4,		/* last uop of its instruction */
	UOP_MS = 8,		/* comes from the microcode sequencer */
	UOP_FUSED_BRANCH = 16,	/* macro-fused: this uop ends this instruction and the branch after it */
	UOP_ZEROES = 32,	/* two equal operands: its result is zero */
	UOP_GROUP = 64,		/* its slot begins an issue group: nothing is allocated before it in its cycle */
	UOP_ADDS = 128,		/* UOP_ELIMINATED: adds its constant, is no copy */
};

struct uop {			/* 40 bytes */
	uint64_t is;		/* set of enum spmu_is: everything static that the record shall carry */
	uint16_t ports;		/* ports it may go to, bit per port; 0: none */
	uint8_t  kind;		/* enum uop_kind */
	uint8_t  flags;		/* enum uop_flags */
	uint8_t  src[4];
	uint8_t  dst[3];
	uint8_t  latency;	/* cycles from dispatch to result; loads: cycles beyond the access's own */
	uint8_t  busy;		/* cycles the unit is blocked for others of the same `unit`; 0 or 1: pipelined */
	uint8_t  unit;		/* 0: none; else a non-pipelined unit (1 integer divider, 2 FP divider, 3 others, 4 the FP divider of the port that it goes to) */
	uint16_t insn;		/* index of its instruction in the block */
	uint16_t slot;		/* index of its memory slot in the block's record, of an integer divider's uop of ST_SLOT_DIVIDED; UOP_NO_SLOT if none */
	uint16_t size;		/* bytes it accesses */
	uint16_t pieces;	/* memory slots, from `slot` on (register slots among them do not count), that this one access was
				 * seen as; of masked moves any of them may be ST_NOT_DONE.  0: no slot */
	union {			/* more of it, by kind */
		int16_t constant;	/* UOP_ELIMINATED: what is added to src[0] */
		uint16_t domain;	/* UOP_COMPUTE: enum uop_domain, of the vector registers that it reads and writes */
		uint16_t load;		/* UOP_LOAD, UOP_STORE_ADDR: enum uop_load */
	};
};
#define UOP_NO_SLOT 0xffffu
enum { UNIT_INTDIV = 1, UNIT_FPDIV, UNIT_OTHER, UNIT_FPDIVS };	/* uop.unit */

enum uop_domain {		/* where its vector operands are at home: what comes from elsewhere comes later (core/backend/bypass.h) */
	DOMAIN_ANY, DOMAIN_INTEGER, DOMAIN_FP,
	DOMAIN_FP_ADD,		/* an adder with a bypass of its own */
	DOMAIN_HOMES = 3,	/* mask of these */
	DOMAIN_SLOW = 4,	/* beside one of them: isa_options.slow_latency */
};

enum uop_load {
	LOAD_RENAMES = 1,	/* its register may become the one that was stored (core/backend/lsq.h) */
	LOAD_BANKS = 2,		/* the first-level cache has banks */
	LOAD_BASE = 4,		/* times REG_NONE or the general register that is its base (31 * LOAD_BASE: all of it) */
	LOAD_NO_BASE = 31 * LOAD_BASE,	/* a store that no load's register becomes: the base of none */
	LOAD_INDEX = 128,	/* there is an index */
};

enum insn_flags {
	INSN_BRANCH = 1, INSN_COND = 2, INSN_CALL = 4, INSN_RET = 8, INSN_INDIRECT = 16,
	INSN_REP = 32,		/* REP string instruction: the block that holds it runs once an iteration */
	INSN_LCP = 64,		/* length-changing prefix */
	INSN_MS = 128,		/* needs the microcode sequencer (more than 4 uops or says so) */
	INSN_FUSES_NEXT = 256,	/* macro-fused with the branch that follows; that one has no uops of its own */
	INSN_FUSED_INTO_PREV = 512,
	INSN_COMPLEX = 1024,	/* more than one slot: only the complex decoder takes it */
	INSN_FAR = 2048,	/* SYSCALL, INT, ... */
	INSN_SERIALIZE = 4096,
	INSN_SUBSTITUTE = 8192,	/* newer than the core: substitute timing */
	INSN_WIDE = 32768,	/* its constants take two places of a uop-cache line */
	INSN_UNKNOWN = 16384,	/* no row, or bytes that do not decode: a stated default was used */
};

struct insn {
	uint64_t addr;
	uint64_t target;	/* direct branch: static target; else 0 */
	uint8_t  len;
	uint8_t  uops;		/* number of its uops (0 if fused into the one before) */
	uint8_t  issue_slots;	/* slots among them */
	union {
		uint8_t rep_first;	/* INSN_REP: index of its first uop that runs every iteration; those before run once */
		struct {		/* others */
			uint8_t prefixes : 4;	/* legacy prefixes that are no part of the opcode */
			uint8_t high : 1;	/* writes one of REG_HIGH */
			uint8_t fusible_lcp : 1;	/* has a length-changing prefix, and macro-fuses with a branch if one follows */
			uint8_t flags_late : 1;	/* may leave the flags alone that it writes, and does not read them for that (shift by CL of P6) */
			uint8_t late_length : 1;	/* 66 F7 /2 to /7: its length is not known before the byte behind its opcode is there */
		};
	};
	uint16_t first_uop;
	uint16_t first_slot;	/* memory and register slots of this instruction in the block's record */
	uint16_t slots;
	uint16_t flags;		/* enum insn_flags */
	uint16_t row;		/* row of the uop table, for coverage */
	union {
		uint16_t rep_chunk;	/* INSN_REP: bytes that one set of iteration uops moves (fast strings); 0: one element */
		struct {		/* others */
			uint8_t decode_slots;	/* before rename takes some apart */
			uint8_t whole;	/* more than 8 bits of RAX, RCX, RDX, RBX are read (bits 0 to 3), written (bits 4 to 7) */
		};
	};
};

enum insn_vector {		/* what an instruction is to the upper halves of the vector registers */
	VECTOR_NONE,		/* touches no vector register, or MMX only */
	VECTOR_LEGACY,		/* legacy encoding: leaves them alone */
	VECTOR_VEX_128,		/* clears its destination's */
	VECTOR_VEX_256,		/* uses them */
	VECTOR_ZERO,		/* VZEROUPPER, VZEROALL */
};

/* A decoded block.  Immutable but for `core_plan` and `core_walk`.  Freed with isa_block_free. */
struct iblock {
	uint64_t addr;		/* of its first instruction */
	uint32_t id;
	uint16_t insns, uops, slots, exits;
	const struct insn *insn;
	const struct uop *uop;
	const struct st_slot *slot;
	const struct st_exit_def *exit;
	const uint8_t (*code)[15];	/* bytes of each instruction */
	const uint8_t *vector;	/* enum insn_vector of each instruction; NULL: all VECTOR_NONE */
	void *core_plan, *core_walk;	/* the core's own, from malloc, freed with the block; NULL at first */
};

struct isa;			/* tables of one microarchitecture; immutable after creation, shareable */

/* Reads data/uops/<uarch>.tsv.  Errors name the line. */
int isa_create(struct isa **out, const char *tsv_path, struct err *err);
void isa_destroy(struct isa *isa);
/* What a core's decoders and rename do of what its uop table says they can; a core's file switches it (core_isa_options).
 * Without isa_configure: everything, none of the exceptions. */
struct isa_options {
	bool micro_fusion, macro_fusion, unlaminate, moves, vector_moves, zero_idioms;
	/* exceptions of micro-fusion; see keeps_apart in build.c */
	bool apart_partial_flags, apart_immediate, apart_widening, apart_pshufb;
	bool blend_first;	/* VBLENDV and VPBLENDVB begin an issue group */
	bool moves_limited;	/* rename may be unable to eliminate a move: it has ports */
	uint32_t constants;	/* rename adds constants of less than this; 0: none */
	bool domains, fp_adder;	/* uops say where their vector operands are at home; FP additions by themselves */
	uint16_t slow_ports, slow_latency;	/* computations that go to these ports only and take so long say DOMAIN_SLOW; slow_ports 0: none */
	bool renamed_loads, banked_loads;	/* loads say LOAD_RENAMES, LOAD_BANKS */
	bool renamed_by_address;	/* and loads and stores the registers of their address: LOAD_BASE, LOAD_INDEX */
	bool nops_share;	/* a NOP takes no slot beside the instruction before it */
	bool high_bytes;	/* AH to DH are registers of their own, REG_HIGH */
	uint16_t flags_ports;	/* a uop on these merges CF and the other flags for whoever reads both, if two instructions wrote them; 0: none */
	bool bytes;		/* a write of 8 bits does not read what it leaves (core/backend/partial_regs.h) */
	bool laminated;		/* what rename takes apart is one in the decoders and the uop cache */
};
/* Before an isa_decode; blocks stay as they were decoded. */
void isa_configure(struct isa *isa, const struct isa_options *o);
/* Decodes.  word_bytes 8 or 4.  `def` and its trailing arrays lie in `bytes` bytes of memory and are checked here
 * (hostile input): ERR_INPUT if they are malformed.  Never fails for an unknown instruction: INSN_UNKNOWN. */
int isa_decode(const struct isa *isa, int word_bytes, const struct st_block_def *def, size_t bytes,
               struct iblock **out, struct err *err);
/* The same block as it is decoded now. */
int  isa_decode_again(const struct isa *isa, int word_bytes, const struct iblock *b, struct iblock **out, struct err *err);
void isa_block_free(struct iblock *b);
/* For reports: the name of a table row. */
const char *isa_row_name(const struct isa *isa, unsigned row);
/* The row is of one instruction form; false: a class' row, which serves the forms that have none. */
bool isa_row_is_form(const struct isa *isa, unsigned row);
/* The form of the instruction that `code` begins with ("ADD r64,m64"; at most 48 characters with the zero), and whether it has
 * a row of its own.  Its length, or 0 and "" if the bytes do not decode. */
unsigned isa_form(const struct isa *isa, int word_bytes, const uint8_t *code, size_t bytes, char *name, bool *covered);
/* Disassembly as `objdump -d` prints it.  isa_text: the length of the instruction that `bytes` bytes begin with, 0 if there are
 * none; what does not decode is "(bad)" and as long as objdump has it.  The text is cut off where it does not fit. */
struct isa_style {
	bool intel;		/* else AT&T */
	/* The name of an address, "func+0x14"; false: it has none.  NULL: no names. */
	bool (*symbol)(void *ctx, uint64_t addr, char *name, size_t bytes);
	void *ctx;
};
unsigned isa_text(const uint8_t *code, size_t bytes, uint64_t addr, int word_bytes, const struct isa_style *style, char *text,
                  size_t text_bytes);
/* One instruction without names: 0, or ERR_INPUT and the text "(bad)" if it does not decode or does not fit. */
int isa_disassemble(const uint8_t *code, unsigned len, uint64_t addr, int word_bytes, bool att, char *text, size_t text_bytes);
#endif
