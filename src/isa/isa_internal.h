/* SPDX-License-Identifier: GPL-2.0-or-later
 * Inside src/isa: classes, the uop table in memory, and what the files pass to each other.
 *
 * classes.c  mnemonic -> class (mnemonics.def), refined by the operands
 * table.c    data/uops/<uarch>.tsv -> rows; which row serves (class, width, form)
 * forms.c    names of instruction forms; rows of one form, which take precedence over those of its class
 * operands.c Zydis operands -> registers read and written, memory operands
 * build.c    row + operands + memory slots -> uops.  build_shapes.c: the order of an instruction's uops;
 *            build_compute.c: computing; build_memory.c: loads, stores, slots; build_idioms.c: what rename does;
 *            build_fusion.c: micro-fusion; build_marks.c: what else the core must know of a uop
 * decode.c   a block: checks the description, decodes, macro-fuses, packs
 */
#ifndef ISA_INTERNAL_H
#define ISA_INTERNAL_H
#include "isa/isa.h"
#include <Zydis/Zydis.h>

enum isa_class {
#define CLASS(name, traits, is) CLASS_##name,
#include "isa/classes.def"
	CLASS_COUNT
};

enum class_traits {
	T_RULE = 1,		/* chosen by a rule of classes.c, not by a mnemonic alone */
	T_NO_MEM = 2,		/* its memory operand is only an address */
	T_NO_REGS = 4,		/* reads and writes nothing, whatever its operands say */
	T_STACK = 8,		/* the stack engine tracks RSP: no uop, no dependence */
	T_BRANCH = 16,		/* the table's uops come last; the last of them is the branch */
	T_FAR = 32,
	T_STRING = 64,
	T_SPLIT = 128,		/* one memory uop for each slot: slots are never merged into a wide access */
	T_PREFETCH = 256,
	T_GATHER = 512,
	T_FLAGS_MERGE = 1024,	/* may leave the flags unchanged: reads the old ones */
	T_DST_READ = 2048,	/* may leave its destination unchanged: reads the old one */
	T_VEC_ZERO = 4096,	/* a narrow result clears the rest of the vector register even in its SSE form */
	T_FP_ARITH = 8192,	/* counted by FP_ARITH_INST_RETIRED */
	T_X87_STATUS = 16384,	/* sets the condition code of the x87 status word */
	/* begins with a transfer from another register file: the last uop reads the vector sources */
	T_VEC_LATE = 32768,
	T_FLUSH = 65536,	/* takes a line out of the caches */
};

struct class_info { const char *name; uint32_t traits; uint64_t is; };
extern const struct class_info isa_classes[CLASS_COUNT];

enum { WIDTH_8, WIDTH_16, WIDTH_32, WIDTH_64, WIDTH_80, WIDTH_128, WIDTH_256, WIDTH_512, WIDTH_NONE, WIDTHS };
enum { FORM_REG, FORM_LOAD, FORM_STORE, FORM_RMW, FORMS };

enum spec_attr {
	SPEC_PAR = 1,		/* reads the instruction's sources, not the uops before it */
	SPEC_SIDE = 2,		/* takes slots and ports only: no data flow */
	SPEC_OUT1 = 4, SPEC_OUT2 = 8, SPEC_FLAGS = 16,	/* writes only these */
	SPEC_PTR = 32,		/* string instructions: moves the pointers and the count */
	SPEC_IN1 = 64, SPEC_IN2 = 128, SPEC_IN3 = 256, SPEC_IN4 = 512,	/* reads these visible operands */
	SPEC_IN = SPEC_IN1 | SPEC_IN2 | SPEC_IN3 | SPEC_IN4,
	SPEC_JOINED = 1024,	/* in the issue slot of the uop before it */
};
struct spec {			/* one uop of a row */
	uint16_t ports;
	uint16_t attr;		/* enum spec_attr */
	uint8_t kind;		/* enum uop_kind */
	uint8_t latency, busy, unit;
};

enum row_flags {
	ROW_MS = 1, ROW_ELIM = 2, ROW_FALSE_DEP = 4, ROW_SUBSTITUTE = 8, ROW_NO_FUSE = 16,
	ROW_FORM = 32,		/* belongs to one instruction form */
	ROW_NO_MERGE = 64,
	ROW_ROTATES = 128,	/* with one register twice it is a rotate */
};
enum { ISA_FORM_NAME = 48 };
struct row {
	char name[ISA_FORM_NAME];
	uint16_t first, count;	/* its specs */
	uint16_t startup;	/* REP strings: how many of its specs run only once */
	uint16_t chunk;		/* REP strings: bytes that one set of uops moves, 0: one element */
	uint8_t flags;		/* enum row_flags */
	uint16_t in;		/* all SPEC_IN of its specs */
	uint16_t cls;		/* its class; in a form's row CLASS_default: the instruction decides */
	uint32_t line;
	/* a form's row: issue slots and uops, loads and stores included, as its source states them */
	uint8_t fused, unfused;
	uint32_t throughput;	/* a form's row: thousandths of a cycle for each instruction; 0: unknown */
};

/* With two equal operands, rename knows that the result does not depend on them: for which instructions. */
enum idioms { IDIOMS_ALL, IDIOMS_NONE, IDIOMS_INTEGER, IDIOMS_NARROW /* all, 8 and 16 bits too */ };
enum macrofusion { MACROFUSION_ALL, MACROFUSION_NONE, MACROFUSION_CMP_TEST_32 /* Core 2 */ };
enum unlaminate { UNLAMINATE_NONE, UNLAMINATE_NONDESTRUCTIVE, UNLAMINATE_ALL };
enum { ROWS_MAX = 12288, SPECS_MAX = 65535, ROW_UOPS_MAX = 120, FORM_PLACES = 32768, TABLE_BYTES_MAX = 4 << 20 };

struct isa {
	char uarch[32];
	uint16_t ports;		/* all ports of the core */
	uint16_t computing;	/* every port to which some computation goes */
	uint8_t unlaminate;
	uint8_t macrofusion;	/* enum macrofusion */
	uint8_t idioms;		/* enum idioms */
	bool slow_scaled;	/* which addresses are slow.  true: a scaled index, or base, index and displacement;
				 * false: any index or a far displacement */
	bool no_microfusion;	/* every uop has a slot of its own: before Pentium M */
	/* What the table says; the fields above hold what isa_configure left of that. */
	struct { uint8_t unlaminate, macrofusion; bool no_microfusion; } table;
	struct isa_options o;
	struct row *rows;
	struct spec *specs;
	unsigned n_rows, n_specs;
	uint16_t *forms;	/* FORM_PLACES of a hash table: row + 1, or 0 */
	uint16_t lookup[CLASS_COUNT][WIDTHS][FORMS];
	/* Zydis register -> enum isa_reg, REG_NONE if it is not tracked */
	uint8_t reg[ZYDIS_REGISTER_MAX_VALUE + 1];
	uint8_t fp_kind[ZYDIS_MNEMONIC_MAX_VALUE + 1];	/* 1 ss, 2 sd, 3 ps, 4 pd, from the mnemonic's ending */
	ZydisDecoder decoder[2];	/* 64-bit, 32-bit */
};

struct mem {
	uint8_t read, write;
	uint8_t base, index;	/* enum isa_reg */
	uint8_t plain;		/* base + displacement only */
	uint8_t scaled;		/* has an index times 2 or more, or base, index and displacement */
	uint8_t far_disp;	/* displacement of 2048 or more, or negative */
	uint8_t operand;	/* bit of its visible operand, as in src_operand */
	uint16_t size;
};

struct operands {
	uint8_t src[12], merge[4], late[2], dst[8];
	uint8_t src_operand[12];	/* for each source, a bit for each visible operand that names it; 0: hidden */
	uint8_t n_src, n_merge, n_late, n_dst, n_mem;
	uint8_t flags_read, flags_written;	/* 1 REG_FLAGS, 2 REG_CARRY */
	uint8_t partial;	/* writes a part of a general-purpose register */
	uint8_t whole;		/* insn.whole */
	struct mem mem[3];
	uint8_t width, form;
};

struct slot_cursor {		/* the memory slots of one instruction */
	const struct st_slot *slot;
	unsigned first, count;	/* index of slot[0] in the block; number of slots, REG ones included */
	uint64_t taken[4];	/* a bit for each of the first 256 slots */
};

struct builder {
	const struct isa *isa;
	struct uop *uop;	/* uops of the whole block */
	unsigned n, capacity;
	bool no_memory;		/* allocation failed */
	bool flags_split;	/* CF and the other flags were last written by two instructions of this block */
	uint8_t top;		/* x87 top of stack, relative to the block's entry */
	unsigned dropped;	/* operands for which no uop had room: tests expect 0 */
};

extern const uint16_t isa_mnemonic_class[ZYDIS_MNEMONIC_MAX_VALUE + 1];	/* 0 (CLASS_default): no class */
enum isa_class isa_classify(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, bool *substitute);
int  isa_table_load(struct isa *isa, const char *path, struct err *err);
/* Parses `text` as a table; isa_table_load and tests use it. */
int  isa_table_parse(struct isa *isa, const char *name, const char *text, struct err *err);
const struct row *isa_row(const struct isa *isa, enum isa_class cls, unsigned width, unsigned form);
void isa_form_name(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, char name[ISA_FORM_NAME]);
/* The row of this form, or NULL if it has none. */
const struct row *isa_form_row(const struct isa *isa, const char *name);
const struct row *isa_form_add(struct isa *isa, unsigned index);
void isa_operands(const struct isa *isa, enum isa_class cls, const ZydisDecodedInstruction *zi,
                  const ZydisDecodedOperand *op, uint8_t *top, struct operands *out);
/* Appends the uops of one instruction and fills flags, counts and row of *in. */
void isa_build(struct builder *b, enum isa_class cls, bool substitute, const ZydisDecodedInstruction *zi,
               const ZydisDecodedOperand *op, struct slot_cursor *slots, struct insn *in);
void isa_build_unknown(struct builder *b, struct slot_cursor *slots, struct insn *in);
#endif
