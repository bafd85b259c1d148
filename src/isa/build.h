/* SPDX-License-Identifier: GPL-2.0-or-later
 * One instruction while its uops are made: shared by build.c (what it computes) and build_memory.c (loads, stores).
 */
#ifndef ISA_BUILD_H
#define ISA_BUILD_H
#include "isa/isa_internal.h"

enum { TEMPS = 8, PIECES_MAX = 32, INSN_UOPS_MAX = 250 };	/* insn.uops is a byte */
#define IS_MAIN_ONLY (SPMU_IS(MULTIPLY) | SPMU_IS(DIVIDE) | SPMU_IS(INT_DIVIDE) | SPMU_IS(FP_FMA) | SPMU_IS(PAUSE) | \
                      SPMU_IS(SERIALIZING) | SPMU_IS(VECTOR_ADD) | SPMU_IS(VECTOR_CROSS) | SPMU_IS(LOAD_FENCE) | \
                      SPMU_IS(TSX_BEGIN))
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
#endif
