/* SPDX-License-Identifier: GPL-2.0-or-later
 * From code bytes to what the core takes: the path through the block, each instruction's accesses, their
 * addresses.
 * The rules are those of block.h.  Elements of gathers and scatters lie one after the other.
 */
#include "analysis/block/block_private.h"
#include "stream/format.h"
#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BASE UINT64_C(0x10000000)
enum { PAGE = 0x10000, LINE = 64, SETS = 64, CALLS = 16 };	/* SETS: sets of L1D, and lines of 4 KB */

struct group {			/* a base expression */
	uint16_t segment, base, index;
	uint8_t scale;
	int64_t low, high;	/* accessed displacements: [low, high) */
};

struct reader {
	ZydisDecoder decoder;
	const struct block_spec *spec;
	struct path *p;
	struct group *group;
	unsigned groups_room;
	uint16_t used;		/* general registers that the block names */
};

static int no_memory(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory for the block");
}

static unsigned general(ZydisRegister r)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	ZydisRegisterClass c = ZydisRegisterGetClass(full);
	return c == ZYDIS_REGCLASS_GPR64 ? (unsigned)ZydisRegisterGetId(full) : 16;
}

/* ---- accesses ---- */

static int find_group(struct reader *r, const struct group *wanted, unsigned *out, struct err *err)
{
	for (unsigned i = 0; i < r->p->groups; i++) {
		const struct group *g = &r->group[i];
		if (g->segment == wanted->segment && g->base == wanted->base && g->index == wanted->index &&
			g->scale == wanted->scale) {
			*out = i;
			return 0;
		}
	}
	if (r->p->groups == r->groups_room) {
		unsigned room = r->groups_room * 2 + 16;
		struct group *more = realloc(r->group, room * sizeof *more);
		if (!more)
			return no_memory(err);
		r->group = more;
		r->groups_room = room;
	}
	r->group[r->p->groups] = *wanted;
	r->group[r->p->groups].low = INT64_MAX;
	r->group[r->p->groups].high = INT64_MIN;
	*out = r->p->groups++;
	return 0;
}

static int add_access(struct reader *r, struct step *st, struct access a, struct err *err)
{
	struct path *p = r->p;
	struct group *g = &r->group[a.group];
	if (st->accesses == PATH_SLOTS)	/* XSAVE and the like: only the first accesses count */
		return 0;
	if (p->n_access == p->room) {
		unsigned room = p->room * 2 + 64;
		struct access *more = realloc(p->access, room * sizeof *more);
		if (!more)
			return no_memory(err);
		p->access = more;
		p->room = room;
	}
	p->access[p->n_access++] = a;
	st->accesses++;
	g->low = a.disp < g->low ? a.disp : g->low;
	g->high = a.disp + a.size > g->high ? a.disp + a.size : g->high;
	return 0;
}

/* Adds the accesses of a memory operand.  kind: of the slots that it takes.  most: bytes an access. */
static int memory_operand(struct reader *r, struct step *st, const ZydisDecodedOperand *op, unsigned kind,
	unsigned elements, unsigned most, int64_t stack, struct err *err)
{
	const ZydisDecodedOperandMem *m = &op->mem;
	unsigned base = general(m->base), group = 0, bytes = op->size / 8u;
	bool is_stack = base == 4 && m->index == ZYDIS_REGISTER_NONE;
	const struct group wanted = {
		.segment =
			(uint16_t)(m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS ? m->segment : 0),
		.base = (uint16_t)m->base, .index = (uint16_t)m->index, .scale = m->scale
	};
	int rc = find_group(r, &wanted, &group, err);
	if (rc)
		return rc;
	/* 64-bit displacements are cut to the address space */
	int64_t disp = m->disp.has_displacement ? m->disp.value % (INT64_C(1) << 46) : 0;
	if (is_stack)
		disp += stack;
	bytes = bytes ? bytes : 1;
	if (m->type != ZYDIS_MEMOP_TYPE_VSIB)
		elements = 1;
	else if (op->element_size)	/* the decoder describes the operand as one element, or as all of them */
		bytes = op->element_size / 8u;
	for (unsigned i = 0; i < elements && !rc; i++) {
		for (unsigned from = 0; from < bytes && !rc; from += most)
			rc = add_access(r, st,
				(struct access){ .kind = (uint8_t)kind,
					.size = (uint16_t)(bytes - from < most ? bytes - from : most),
					.group = group, .disp = disp + (int64_t)(i * bytes + from),
					.stack = is_stack },
				err);
	}
	return rc;
}

/* By how much the instruction moves RSP. */
static int64_t stack_move(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, int word_bytes)
{
	int64_t size = zi->operand_width == 16 ? 2 : word_bytes;
	bool constant = zi->operand_count_visible == 2 && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		general(op[0].reg.value) == 4 && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFD: case ZYDIS_MNEMONIC_PUSHFQ:
		return -size;
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFD: case ZYDIS_MNEMONIC_POPFQ:
		return size;
	case ZYDIS_MNEMONIC_PUSHA: case ZYDIS_MNEMONIC_PUSHAD:
		return -8 * size;
	case ZYDIS_MNEMONIC_POPA: case ZYDIS_MNEMONIC_POPAD:
		return 8 * size;
	case ZYDIS_MNEMONIC_CALL:
		return -word_bytes;
	case ZYDIS_MNEMONIC_RET:
		return word_bytes +
			(zi->operand_count_visible && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
					? (int64_t)op[0].imm.value.u
					: 0);
	case ZYDIS_MNEMONIC_ADD:
		return constant ? op[1].imm.value.s : 0;
	case ZYDIS_MNEMONIC_SUB:
		return constant ? -op[1].imm.value.s : 0;
	default:
		return 0;
	}
}

/* Pushes write below the pointer; all others access where it points. */
static int accesses(struct reader *r, struct step *st, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
	struct err *err)
{
	const struct block_spec *spec = r->spec;
	int64_t move = stack_move(zi, op, spec->word_bytes), stack = r->p->stack_net;
	bool prefetch = zi->meta.category == ZYDIS_CATEGORY_PREFETCH || zi->meta.category == ZYDIS_CATEGORY_PREFETCHWT1;
	bool nop = zi->meta.category == ZYDIS_CATEGORY_NOP || zi->meta.category == ZYDIS_CATEGORY_WIDENOP;
	unsigned elements = op[0].element_size ? op[0].size / op[0].element_size : 1;
	const bool all = zi->mnemonic == ZYDIS_MNEMONIC_PUSHA || zi->mnemonic == ZYDIS_MNEMONIC_PUSHAD ||
	                 zi->mnemonic == ZYDIS_MNEMONIC_POPA || zi->mnemonic == ZYDIS_MNEMONIC_POPAD;
	const unsigned most = all ? (unsigned)(move < 0 ? -move : move) / 8 : 64;	/* one access a register */
	int rc = 0;
	st->first_access = r->p->n_access;
	/* loads, then stores: the order within an instruction */
	for (int write = 0; write < 2 && !nop; write++) {
		for (unsigned i = 0; i < zi->operand_count && !rc; i++) {
			const uint8_t wanted = write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
			if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY || op[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
				op[i].mem.type == ZYDIS_MEMOP_TYPE_MIB)
				continue;
			if (prefetch) {
				if (!write)
					rc = memory_operand(r, st, &op[i], ST_SLOT_PREFETCH, 1, most, stack, err);
				continue;
			}
			if (!(op[i].actions & wanted))
				continue;
			bool hidden = op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
			int64_t at = stack + (hidden && write && move < 0 ? move : 0);
			if (op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB && op[i].element_count > 1)
				elements = op[i].element_count;
			rc = memory_operand(r, st, &op[i], write ? ST_SLOT_STORE : ST_SLOT_LOAD, elements, most, at,
				err);
		}
	}
	r->p->stack_net += move;
	return rc;
}

/* ---- addresses ---- */

/* Gives every base a page of its own, shifted by lines so that no two share a set of L1D: the first shift that
 * fits. */
static int place_groups(struct reader *r, struct err *err)
{
	struct path *p = r->p;
	uint64_t taken = 0;
	p->group_base = calloc(p->groups + 1, sizeof *p->group_base);
	if (!p->group_base)
		return no_memory(err);
	for (unsigned i = 0; i < p->groups; i++) {
		uint64_t page = DATA_BASE + (uint64_t)i * PAGE, mine = 0;
		unsigned shift = 0;
		for (unsigned a = 0; a < p->n_access; a++) {
			if (p->access[a].group != i)
				continue;
			int64_t first = p->access[a].disp & ~(int64_t)(LINE - 1),
				last = p->access[a].disp + p->access[a].size - 1;
			for (int64_t line = first; line <= last; line += LINE)	/* at most two */
				mine |= UINT64_C(1) << ((uint64_t)line / LINE) % SETS;
		}
		while (shift < SETS && (shift ? mine << shift | mine >> (SETS - shift) : mine) & taken)
			shift++;
		shift %= SETS;	/* no shift fits: too many lines */
		taken |= shift ? mine << shift | mine >> (SETS - shift) : mine;
		p->group_base[i] = page + PAGE / 2 + shift * LINE;
	}
	return 0;
}

/* ---- the path ---- */


/* Why an instruction cannot be run in a block; NULL: it can. */
static const char *refusal(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	ZydisInstructionCategory c = zi->meta.category;
	bool direct = zi->operand_count && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative;
	if (c == ZYDIS_CATEGORY_SYSCALL || c == ZYDIS_CATEGORY_SYSRET || c == ZYDIS_CATEGORY_INTERRUPT ||
		zi->mnemonic == ZYDIS_MNEMONIC_HLT || zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return "leaves the block";
	if ((c == ZYDIS_CATEGORY_UNCOND_BR || c == ZYDIS_CATEGORY_CALL) && !direct)
		return "is indirect: its target is not known";
	if (zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return "repeats as often as RCX says, and a block has no register values";
	return NULL;
}

static int append_step(struct path *p, const uint8_t *bytes, unsigned len, uint64_t offset, bool appended,
	struct err *err)
{
	if (p->steps == BLOCK_INSNS)
		return err_set(err, ERR_INPUT, "more than %d instructions are executed in the block", BLOCK_INSNS);
	struct step *st = &p->step[p->steps++];
	*st = (struct step){ .offset = (uint32_t)offset, .len = (uint8_t)len,
		.appended = appended, .first_access = p->n_access };
	memcpy(st->bytes, bytes, len);
	return 0;
}

/* Appends DEC and JNZ of a register that the block does not use. */
static int close_loop(struct reader *r, struct block_result *result, struct err *err)
{
	static const char *const name[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "8", "9", "10", "11", "12",
		"13", "14", "15" };
	struct path *p = r->p;
	bool wide = r->spec->word_bytes == 8;
	unsigned reg = wide ? 15 : 7, len = 0;
	uint8_t code[16], *jump;
	while (reg > 5 && r->used >> reg & 1)
		reg--;
	if (r->used >> reg & 1)
		reg = wide ? 15 : 7;
	if (wide)
		code[len++] = reg >= 8 ? 0x49 : 0x48;
	code[len++] = 0xff;
	code[len++] = (uint8_t)(0xc8 | (reg & 7));
	int rc = append_step(p, code, len, p->bytes, true, err);
	if (rc)
		return rc;
	p->bytes += len;
	jump = code + len;
	int64_t back = -(int64_t)(p->bytes + 2);
	unsigned bytes = 2;
	jump[0] = 0x75;
	jump[1] = (uint8_t)back;
	if (back < INT8_MIN) {
		int32_t far = (int32_t)(back - 4);
		bytes = 6;
		jump[0] = 0x0f;
		jump[1] = 0x85;
		memcpy(jump + 2, &far, sizeof far);
	}
	rc = append_step(p, jump, bytes, p->bytes, true, err);
	p->bytes += bytes;
	p->loops = true;
	snprintf(result->note[result->notes++], sizeof *result->note,
		"the block does not end in a branch to its start: dec %c%s; jnz closes the loop", wide ? 'r' : 'e',
		name[reg]);
	return rc;
}

static int decode_at(const struct reader *r, uint64_t at, ZydisDecodedInstruction *zi, ZydisDecodedOperand *op,
	struct err *err)
{
	const struct block_spec *spec = r->spec;
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, spec->code + at, spec->bytes - at, zi, op)))
		return 0;
	char hex[3 * 8 + 1] = "";
	for (unsigned i = 0; i < 8 && at + i < spec->bytes; i++)
		snprintf(hex + 3 * i, 4, " %02x", spec->code[at + i]);
	return err_set(err, ERR_INPUT, "offset %llu: not a valid instruction:%s", (unsigned long long)at, hex);
}

/* Marks the start of every instruction, so that branch targets can be checked. */
static int scan(struct reader *r, uint8_t *starts, struct err *err)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	for (uint64_t at = 0; at < r->spec->bytes; at += zi.length) {
		int rc = decode_at(r, at, &zi, op, err);
		if (rc)
			return rc;
		starts[at] = 1;
		for (unsigned i = 0; i < zi.operand_count; i++) {
			if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
				r->used |= (uint16_t)(1u << (general(op[i].reg.value) & 31));
			else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
				r->used |= (uint16_t)(1u << (general(op[i].mem.base) & 31) |
					1u << (general(op[i].mem.index) & 31));
		}
	}
	return 0;
}

static int follow(struct reader *r, const uint8_t *starts, struct block_result *result, struct err *err)
{
	const struct block_spec *spec = r->spec;
	struct path *p = r->p;
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t calls[CALLS], at = 0;
	unsigned depth = 0;
	bool said = false;
	while (at < spec->bytes && !p->loops) {
		int rc = decode_at(r, at, &zi, op, err);
		const char *bad = rc ? NULL : refusal(&zi, op);
		if (bad)
			return err_set(err, ERR_UNSUPPORTED, "offset %llu: %s %s", (unsigned long long)at,
				ZydisMnemonicGetString(zi.mnemonic), bad);
		if (!rc)
			rc = append_step(p, spec->code + at, zi.length, at, false, err);
		if (!rc)
			rc = accesses(r, &p->step[p->steps - 1], &zi, op, err);
		if (rc)
			return rc;
		uint64_t next = at + zi.length, target = UINT64_MAX;
		if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative)
			target = next + (uint64_t)op[0].imm.value.s;
		bool always = zi.meta.category == ZYDIS_CATEGORY_UNCOND_BR || zi.meta.category == ZYDIS_CATEGORY_CALL;
		if (zi.meta.category == ZYDIS_CATEGORY_RET) {
			if (!depth)
				return err_set(err, ERR_UNSUPPORTED, "offset %llu: ret leaves the block",
					(unsigned long long)at);
			at = calls[--depth];
			continue;
		}
		if (spec->loop && target == 0 && next == spec->bytes && zi.meta.category != ZYDIS_CATEGORY_CALL) {
			p->loops = true;
			break;
		}
		if (always) {
			if (target == 0 && !spec->loop)
				return err_set(err, ERR_UNSUPPORTED,
					"offset %llu: a jump to the block's start: use --loop", (unsigned long long)at);
			if (target > spec->bytes || (target < spec->bytes && !starts[target]))
				return err_set(err, ERR_UNSUPPORTED, "offset %llu: %s leaves the block",
					(unsigned long long)at, ZydisMnemonicGetString(zi.mnemonic));
			if (zi.meta.category == ZYDIS_CATEGORY_CALL) {
				if (depth == CALLS)
					return err_set(err, ERR_UNSUPPORTED, "offset %llu: more than %d calls deep",
						(unsigned long long)at, CALLS);
				calls[depth++] = next;
			}
			next = target;
		} else if (target != UINT64_MAX && !said) {
			said = true;
			snprintf(result->note[result->notes++], sizeof *result->note, "%s",
				!spec->loop && target == 0 ? "the branch to the block's start is not taken; --loop "
							     "runs the block as a loop"
							   : "conditional branches in the block are not taken");
		}
		at = next;
	}
	return 0;
}

int path_make(struct path *p, const struct block_spec *spec, struct block_result *result, struct err *err)
{
	struct reader r = { .spec = spec, .p = p };
	memset(p, 0, sizeof *p);
	if (!spec->bytes)
		return err_set(err, ERR_INPUT, "no instructions");
	if (spec->bytes > 15u * BLOCK_INSNS)
		return err_set(err, ERR_INPUT, "%zu bytes of code: more than %d instructions", spec->bytes,
			BLOCK_INSNS);
	if (ZYAN_FAILED(ZydisDecoderInit(&r.decoder,
		    spec->word_bytes == 4 ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64,
		    spec->word_bytes == 4 ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64)))
		return err_set(err, ERR_UNSUPPORTED, "this build of Zydis cannot decode %d-bit code",
			spec->word_bytes * 8);
	uint8_t *starts = calloc(spec->bytes + 1, 1);
	p->step = calloc(BLOCK_INSNS, sizeof *p->step);
	p->bytes = spec->bytes;
	int rc = starts && p->step ? scan(&r, starts, err) : no_memory(err);
	if (!rc)
		rc = follow(&r, starts, result, err);
	if (!rc && spec->loop && !p->loops)
		rc = close_loop(&r, result, err);
	if (!rc)
		rc = place_groups(&r, err);
	free(starts);
	free(r.group);
	return rc;
}

void path_release(struct path *p)
{
	free(p->step);
	free(p->access);
	free(p->group_base);
	memset(p, 0, sizeof *p);
}
