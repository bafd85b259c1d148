/* SPDX-License-Identifier: GPL-2.0-or-later
 * One instruction while its uops are made: what build.c has from its neighbours build_*.c.
 */
#ifndef ISA_BUILD_H
#define ISA_BUILD_H
#include "isa/isa_internal.h"

enum { TEMPS = 8, PIECES_MAX = 32, INSN_UOPS_MAX = 250 };	/* insn.uops is a byte */
#define IS_MAIN_ONLY (SPMU_IS(MULTIPLY) | SPMU_IS(DIVIDE) | SPMU_IS(INT_DIVIDE) | SPMU_IS(FP_FMA) | SPMU_IS(PAUSE) | \
                      SPMU_IS(SERIALIZING) | SPMU_IS(VECTOR_ADD) | SPMU_IS(VECTOR_CROSS) | SPMU_IS(LOAD_FENCE) | \
                      SPMU_IS(TSX_BEGIN))
#define IS_BRANCH    (SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(INDIRECT) | SPMU_IS(FAR))
#define IS_MEM_ALSO  (SPMU_IS(NON_TEMPORAL) | SPMU_IS(STRING_REP) | SPMU_IS(LOCK))

struct build {
	struct builder *b;
	const struct isa *isa;
	const struct row *row;	/* the row whose uops are built */
	/* the form's own row or NULL; it counts as the row used even if an idiom's uops are built */
	const struct row *form;
	struct operands o;
	struct slot_cursor *slots;
	struct insn *in;
	enum isa_class cls;
	uint32_t traits;
	uint64_t is_all, is_mem, is_main;	/* `is` of computing uops, of memory uops, of the main computing uop */
	unsigned first;			/* its first uop */
	uint8_t temp;			/* next temporary */
	uint8_t loaded[16], n_loaded;	/* temporaries that loads fill */
	uint8_t loaded_operand[16];	/* as operands.src_operand */
	uint8_t unread[16], n_unread;	/* temporaries that computing uops filled and no uop has read yet */
	uint8_t late[12], n_late;	/* sources for which no uop had room yet */
	uint8_t result;			/* register that a store stores */
	bool sources_read, fusable;
	/* slots beyond what the decoders make: rename splits one, or merges flags ahead of it */
	uint8_t apart;
	unsigned elements;	/* number of elements of a gather */
};

/* build_memory.c.  build_emit appends a uop (NULL: out of memory and there is no uop yet); build_source and
 * build_destination choose another uop if this one has no room; kinds of slots are enum st_slot_kind. */
struct uop *build_emit(struct build *c, uint8_t kind, uint16_t ports, uint8_t latency, bool slot);
void build_source(struct build *c, struct uop *u, uint8_t reg);
void build_destination(struct build *c, struct uop *u, uint8_t reg);
bool build_add_source(struct uop *u, uint8_t reg);
bool build_add_dest(struct uop *u, uint8_t reg);
uint8_t build_new_temp(struct build *c);
void build_assign_slot(struct build *c, struct uop *u, unsigned kind, unsigned want);
const struct spec *build_memory_spec(const struct build *c, enum isa_class cls, enum isa_class indexed, bool slow);
struct uop *build_load(struct build *c, const struct mem *m, uint8_t dest, bool slot);
void build_store(struct build *c, const struct mem *m, uint8_t data);
void build_loads(struct build *c);
void build_stores(struct build *c);
void build_left_over(struct build *c);
uint16_t build_divided_slot(const struct build *c);

/* The uops of the instruction's row. */
static inline const struct spec *build_specs(const struct build *c)
{
	return &c->isa->specs[c->row->first];
}

/* build_compute.c */
/* Appends a uop of a row.  slot: it begins an issue slot, unless the row joins it to the one before. */
struct uop *build_emit_spec(struct build *c, const struct spec *s, bool slot);
/* Appends the row's uops from `from` on, with their operands.  store: a store of the result follows. */
void build_compute(struct build *c, unsigned from, bool store);
/* The uop writes the flags that the instruction writes; its i-th register (nothing, if it has fewer). */
void build_write_flags(struct build *c, struct uop *u);
void build_write_register(struct build *c, struct uop *u, unsigned i);

/* build_shapes.c: all uops of an instruction */
void build_generic(struct build *c, bool locked);
void build_leave(struct build *c);
void build_prefetch(struct build *c);
/* size: bytes of an element */
void build_string(struct build *c, bool rep, unsigned size);
/* FXCH and XCHG exchange the names of two registers: three renames in two slots, or (FXCH) two uops on ports. */
void build_names(struct build *c);
/* Call it behind build_generic: one of the uops flushes the line. */
void build_flush(struct build *c, const ZydisDecodedInstruction *zi);

/* build_idioms.c */
/* Chooses another row where two equal operands make the instruction a rotate or an idiom. */
void build_equal_operands(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op);
/* Appends the uop of an instruction that rename can do.  False: it cannot, and there is no uop. */
bool build_renamed(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op);
/* XOR or SUB of a whole register with itself. */
bool build_zeroes(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op);

/* build_fusion.c */
/* Adds the uop that merges CF and the other flags, ahead of an instruction that reads both when two instructions wrote
 * them (Optimization Manual, "Partial Flag Register Stalls": since Sandy Bridge this costs a uop, not a stall).  Left
 * out: writers before the block's beginning. */
void build_merge_flags(struct build *c);
/* Gives the uop behind a load or a store address a slot of its own, where the core does not micro-fuse them. */
void build_split_slots(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op);

/* build_marks.c */
/* Sets c->is_all, is_mem and is_main.  Returns the instruction's `is` with the bits of branches, which those lack. */
uint64_t build_set_is(struct build *c, const ZydisDecodedInstruction *zi, bool locked);
/* Applies isa_options.free_*.  far: it is a far transfer, which stays as it is. */
void build_free(const struct build *c, bool far);
/* Sets domains, slow ports and `load` of the instruction's uops.  operands: number of visible ones. */
void build_set_marks(struct build *c, const ZydisDecodedOperand *op, unsigned operands);
/* Does the uop load or store a vector, MMX or x87 register, or copy one? */
bool build_moves_vector(const struct build *c, const struct uop *u);
#endif
