/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code bytes to uops.  A block is decoded once, when the tracer first sends it, into the small fixed records below; the
 * core works on these alone.
 *
 * How uops share issue slots (the fused domain): a uop with UOP_SLOT opens an issue slot; uops without UOP_SLOT that
 * follow it share that slot (micro-fused load and operation, store address and store data; a macro-fused pair is one
 * uop that ends two instructions).
 *
 * A macro-fused pair: the compare has INSN_FUSES_NEXT and all the uops; the branch has INSN_FUSED_INTO_PREV, no
 * uops and no slot of its own.  The pair's last uop is the branch: its kind is UOP_BRANCH, it has UOP_FUSED_BRANCH,
 * its `insn` is the compare (the branch is insn + 1), and `is` holds INST_END for the compare and INST_END2 for the
 * branch.
 *
 * A load's `latency` comes on top of l1d.latency and l1d.vector_extra of the core's file.
 * Far transfers (SYSCALL, ..) have `is` BRANCH and FAR but are not of kind UOP_BRANCH: nothing predicts them.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H
#include "softpmu/record.h"
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>

/* Register names of the uops' operands.  REG_NONE is always ready as a source; as a destination it drops the result. */
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
	REG_HIGH = 80,		/* 4: AH, CH, DH, BH, if they are renamed separately (isa_options.high_bytes;
				 * core/backend/partial_regs.h) */
	REG_COUNT = 84
};
static inline bool reg_is_general(uint8_t reg)
{
	return (uint8_t)(reg - REG_GPR) < REG_VEC - REG_GPR;
}
/* Is one of these results a general-purpose register? */
static inline bool reg_any_general(const uint8_t dst[3])
{
	return reg_is_general(dst[0]) || reg_is_general(dst[1]) || reg_is_general(dst[2]);
}

enum uop_kind {
	UOP_NOP,     /* takes a slot, no port */
	UOP_COMPUTE, /* port, latency */
	UOP_LOAD,    /* load port, then memory; result after the access plus `latency` extra */
	UOP_STORE_ADDR,
	UOP_STORE_DATA,
	UOP_BRANCH,     /* port, latency; ends a basic block */
	UOP_ELIMINATED,	/* done at rename: the destination becomes a copy of src[0] (or is ready, if there is none).
				 * With ports: executes on these, with its latency, when rename cannot eliminate it
				 * (core/backend/eliminate.h) */
	UOP_FLUSH,	/* takes a line out of the caches, in order with stores: `flush` says how */
	UOP_FENCE_LOAD, UOP_FENCE_STORE, UOP_FENCE_FULL,
	UOP_SERIALIZE, /* waits until all before it have retired; nothing after it issues before it has */
};

enum uop_flags {
	UOP_SLOT = 1,		/* opens an issue/retire slot */
	UOP_BEGIN = 2,		/* first uop of its instruction */
	UOP_END = 4,		/* last uop of its instruction */
	UOP_MS = 8,		/* comes from the microcode sequencer */
	UOP_FUSED_BRANCH = 16,	/* macro-fused: this uop ends this instruction and the branch after it */
	UOP_ZEROES = 32,	/* both operands are the same register: the result is zero */
	UOP_GROUP = 64,		/* its slot begins an issue group: nothing is allocated before it in its cycle */
	UOP_ADDS = 128,		/* a UOP_ELIMINATED that adds its constant instead of copying */
};

struct uop {			/* 40 bytes */
	uint64_t is;		/* set of enum spmu_is: all static properties that the record carries */
	uint16_t ports;		/* ports it may go to, a bit for each; 0: none */
	uint8_t  kind;		/* enum uop_kind */
	uint8_t  flags;		/* enum uop_flags */
	uint8_t  src[4];
	uint8_t  dst[3];
	uint8_t  latency;	/* cycles from dispatch to result; loads: cycles beyond the access's own */
	uint8_t  busy;		/* cycles for which it blocks its unit for other uops; 0, 1: pipelined */
	uint8_t  unit;		/* 0, or the unit it blocks: enum UNIT_ */
	uint16_t insn;		/* index of its instruction in the block */
	uint16_t slot;		/* index of its memory slot in the block's record (for an integer divider's uop: of its
				 * ST_SLOT_DIVIDED); UOP_NO_SLOT if none */
	uint16_t size;		/* bytes it accesses */
	/* how many memory slots this access takes, from `slot` on (register slots among them do not count): the
	 * tracer may have seen it in pieces, of which a masked move may leave any ST_NOT_DONE.  0: no slot */
	uint16_t pieces;
	union {			/* meaning depends on the kind */
		int16_t constant;	/* UOP_ELIMINATED: what is added to src[0] */
		/* UOP_COMPUTE: enum uop_domain, of the vector registers that it reads and writes */
		uint16_t domain;
		uint16_t load;		/* UOP_LOAD, UOP_STORE_ADDR: enum uop_load */
		uint16_t flush;		/* UOP_FLUSH: enum uop_flush */
	};
};
#define UOP_NO_SLOT 0xffffu
/* uop.unit: the integer divider, the FP divider, others, and the FP divider of the port that the uop goes to. */
enum { UNIT_INTDIV = 1, UNIT_FPDIV, UNIT_OTHER, UNIT_FPDIVS };

enum uop_domain { /* home of its vector operands; a value from another domain arrives later (core/backend/bypass.h) */
	DOMAIN_ANY, DOMAIN_INTEGER, DOMAIN_FP,
	DOMAIN_FP_ADD,    /* an adder with a bypass of its own */
	DOMAIN_HOMES = 3, /* mask of the above */
	DOMAIN_SLOW = 4,  /* added to one of the above: has isa_options.slow_latency */
};

enum uop_flush {
	FLUSH_NONE,
	FLUSH_OUT,		/* CLFLUSH: out of all caches, in order with stores and other such flushes */
	FLUSH_OUT_WEAK,		/* CLFLUSHOPT: the same, but later stores do not wait for it */
	FLUSH_CLEAN,		/* CLWB: written back, and stays */
	FLUSH_DEMOTE,		/* CLDEMOTE: from the core's own caches to L3 */
};

enum uop_load {
	LOAD_RENAMES = 1,	/* its register may become the one that was stored (core/backend/lsq.h) */
	LOAD_BANKS = 2,		/* the first-level cache has banks */
	LOAD_BASE = 4,		/* unit of a field of five bits: REG_NONE or the general register that is its base */
	/* all bits of that field.  In a store: no load may take its value by renaming */
	LOAD_NO_BASE = 31 * LOAD_BASE,
	LOAD_INDEX = 128,	/* the address has an index */
};

enum insn_flags {
	INSN_BRANCH = 1, INSN_COND = 2, INSN_CALL = 4, INSN_RET = 8, INSN_INDIRECT = 16,
	INSN_REP = 32,		/* REP string instruction: the block that holds it runs once for each iteration */
	INSN_LCP = 64,		/* length-changing prefix */
	INSN_MS = 128,		/* needs the microcode sequencer (has more than 4 slots, or its row says so) */
	INSN_FUSES_NEXT = 256,	/* macro-fused with the branch that follows, which has no uops of its own */
	INSN_FUSED_INTO_PREV = 512,
	INSN_COMPLEX = 1024,	/* more than one slot: only the complex decoder takes it */
	INSN_FAR = 2048,	/* SYSCALL, INT, ... */
	INSN_SERIALIZE = 4096,
	INSN_SUBSTITUTE = 8192,	/* newer than the core: has substitute timing */
	INSN_WIDE = 32768,	/* its constants take two places of a uop-cache line */
	INSN_UNKNOWN = 16384,	/* has no row, or its bytes do not decode: it has a stated default timing */
};

struct insn {
	uint64_t addr;
	uint64_t target;	/* direct branch: static target; else 0 */
	uint8_t  len;
	uint8_t  uops;		/* number of its uops (0 if fused into the one before) */
	uint8_t  issue_slots;	/* slots among them */
	union {
		/* INSN_REP: index of its first uop that runs in every iteration; earlier ones run once */
		uint8_t rep_first;
		struct {			/* others */
			uint8_t prefixes : 4;	/* number of legacy prefixes that are not part of the opcode */
			uint8_t high : 1;	/* writes one of REG_HIGH */
			/* has a length-changing prefix and can macro-fuse with a branch */
			uint8_t fusible_lcp : 1;
			/* may leave the flags unchanged but does not wait for them (P6: shift by CL) */
			uint8_t flags_late : 1;
			/* 66 F7 /2 to /7: its length depends on the byte behind the opcode */
			uint8_t late_length : 1;
		};
	};
	uint16_t first_uop;
	uint16_t first_slot;	/* memory and register slots of this instruction in the block's record */
	uint16_t slots;
	uint16_t flags;		/* enum insn_flags */
	uint16_t row;		/* row of the uop table, for the coverage report */
	union {
		/* INSN_REP: bytes that one set of iteration uops moves (fast strings); 0: one element */
		uint16_t rep_chunk;
		struct {		/* others */
			uint8_t decode_slots;	/* issue slots before rename splits some */
			/* more than 8 bits of RAX, RCX, RDX, RBX are read (bits 0 to 3), written (bits 4 to 7) */
			uint8_t whole;
		};
	};
};

enum insn_vector {		/* what an instruction does to the upper halves of the vector registers */
	VECTOR_NONE,		/* touches no vector register, or MMX only */
	VECTOR_LEGACY,		/* legacy encoding: leaves them unchanged */
	VECTOR_VEX_128,		/* clears that of its destination */
	VECTOR_VEX_256,		/* uses them */
	VECTOR_ZERO,		/* VZEROUPPER, VZEROALL */
};

enum insn_elision {		/* what an instruction does to the elision of locks (core/backend/elision.h) */
	ELISION_NONE,
	ELISION_ACQUIRE,	/* has an XACQUIRE prefix */
	ELISION_RELEASE,	/* has an XRELEASE prefix */
	ELISION_ABORTS,		/* aborts a region */
	ELISION_STATE,		/* the same: it uses x87 or MMX state */
};

enum block_special {
	BLOCK_ASSISTS = 1,	/* has slots ST_SLOT_ASSIST */
	BLOCK_HINTS = 2,	/* has instructions that are ELISION_ACQUIRE or ELISION_RELEASE */
};

/* A decoded block.  Immutable except `core_plan`, `core_walk` and `core_warm`.  Freed with isa_block_free. */
struct iblock {
	uint64_t addr;		/* of its first instruction */
	uint32_t id;
	uint16_t insns, uops, slots, exits;
	/* the core's own data, from malloc, freed with the block; NULL at first */
	void *core_plan, *core_walk, *core_warm;
	const struct insn *insn;
	const struct uop *uop;
	const struct st_slot *slot;
	const struct st_exit_def *exit;
	const uint8_t (*code)[15];	/* bytes of each instruction */
	const uint8_t *vector;		/* enum insn_vector of each instruction; NULL: all VECTOR_NONE */
	/* enum insn_elision of each instruction; NULL: all ELISION_NONE, or the core elides no locks */
	const uint8_t *elision;
	uint8_t special;		/* set of enum block_special */
	uint8_t vectors;		/* set of them */
};

struct isa;			/* tables of one microarchitecture; immutable after creation, shareable */

/* Reads data/uops/<uarch>.tsv.  Error messages name the line. */
int isa_create(struct isa **out, const char *tsv_path, struct err *err);
void isa_destroy(struct isa *isa);
/* Which of the features that its uop table allows the core's decoders and rename have; the core's file sets them
 * (core_isa_options).  Without isa_configure all features are on, and there are no exceptions. */
struct isa_options {
	bool micro_fusion, macro_fusion, unlaminate, moves, vector_moves, zero_idioms;
	/* exceptions to micro-fusion; see keeps_apart in build_fusion.c */
	bool apart_partial_flags, apart_immediate, apart_widening, apart_pshufb;
	bool blend_first;	/* VBLENDV and VPBLENDVB begin an issue group */
	bool moves_limited;	/* rename may fail to eliminate a move: its uop has ports */
	uint32_t constants;	/* rename adds constants of less than this; 0: none */
	bool domains, fp_adder;	/* uops name the home of their vector operands; FP additions have a home of their own */
	/* computations that go only to these ports and have at least this latency have DOMAIN_SLOW; slow_ports 0:
	 * none */
	uint16_t slow_ports, slow_latency;
	bool renamed_loads, banked_loads;	/* loads have LOAD_RENAMES, LOAD_BANKS */
	bool renamed_by_address;	/* and loads and stores the registers of their address: LOAD_BASE, LOAD_INDEX */
	bool renamed_stack;	/* these only where RSP is the base */
	bool renamed_few;	/* with that, loads elsewhere have LOAD_RENAMES and LOAD_NO_BASE: they may learn to */
	bool nops_share;	/* a NOP shares the slot of the instruction before it */
	bool high_bytes;	/* AH to DH are registers of their own, REG_HIGH */
	/* ports of the uop that merges CF and the other flags for an instruction that reads both when two
	 * instructions wrote them; 0: there is no such uop */
	uint16_t flags_ports;
	/* a write of 8 bits does not read the rest of the register (core/backend/partial_regs.h) */
	bool bytes;
	bool laminated;		/* what rename splits is one slot in the decoders and the uop cache */
	bool elides;		/* blocks have `elision` */
	/* What no core does (fields free.* of a core's file, isa/build_free.c).  Locked operations are built like those
	 * without LOCK. */
	bool free_lock, free_divide, free_serialize, free_latency, free_ports;
};
/* Call it before isa_decode; it does not change blocks that are decoded already. */
void isa_configure(struct isa *isa, const struct isa_options *o);
/* Decodes a block.  word_bytes: 8 or 4.  `def` and its trailing arrays lie in `bytes` bytes of memory and are checked
 * here (hostile input): ERR_INPUT if they are malformed.  Never fails for an unknown instruction: INSN_UNKNOWN. */
int isa_decode(const struct isa *isa, int word_bytes, const struct st_block_def *def, size_t bytes,
               struct iblock **out, struct err *err);
/* Decodes the same block again with the current configuration. */
int isa_decode_again(const struct isa *isa, int word_bytes, const struct iblock *b, struct iblock **out,
	struct err *err);
void isa_block_free(struct iblock *b);
/* The name of a table row, for reports. */
const char *isa_row_name(const struct isa *isa, unsigned row);
/* True if the row belongs to one instruction form; false if it is a class' row, which serves forms without one. */
bool isa_row_is_form(const struct isa *isa, unsigned row);
/* Names the form of the instruction that `code` begins with ("ADD r64,m64"; at most 48 characters with the NUL).
 * *covered: the form has a row of its own.  Returns the instruction's length, or 0 with "" if the bytes do not
 * decode. */
unsigned isa_form(const struct isa *isa, int word_bytes, const uint8_t *code, size_t bytes, char *name, bool *covered);
/* Disassembly as `objdump -d` prints it.  isa_text returns the length of the first instruction in the `bytes`
 * bytes, 0 if there are no bytes; bytes that do not decode are "(bad)", with objdump's length.  Text that does not
 * fit is cut off. */
struct isa_style {
	bool intel;		/* else AT&T */
	/* Writes the name of an address, "func+0x14"; false if it has none.  NULL: no names are shown. */
	bool (*symbol)(void *ctx, uint64_t addr, char *name, size_t bytes);
	void *ctx;
};
unsigned isa_text(const uint8_t *code, size_t bytes, uint64_t addr, int word_bytes, const struct isa_style *style,
	char *text, size_t text_bytes);
/* One instruction, without names.  0, or ERR_INPUT with the text "(bad)" if it does not decode or does not fit. */
int isa_disassemble(const uint8_t *code, unsigned len, uint64_t addr, int word_bytes, bool att, char *text,
	size_t text_bytes);
#endif
