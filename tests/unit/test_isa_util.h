/* SPDX-License-Identifier: GPL-2.0-or-later
 * For the tests of src/isa: block descriptions from hexadecimal code, and the tables from the source tree. */
#ifndef TEST_ISA_UTIL_H
#define TEST_ISA_UTIL_H
#include "isa/isa.h"
#include "isa/internal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The tables' folder: TOP/data/uops, TOP from the environment (tests/run.sh sets it), else the working directory. */
static inline struct isa *open_isa(const char *uarch)
{
	char path[4096];
	const char *top = getenv("TOP");
	struct isa *isa = NULL;
	struct err err = { 0 };
	snprintf(path, sizeof path, "%s/data/uops/%s.tsv", top ? top : ".", uarch);
	if (isa_create(&isa, path, &err))
		fail_msg("%s", err.text);
	return isa;
}


struct maker {			/* builds a description piece by piece */
	struct st_insn_def insn[32];
	struct st_slot slot[256];
	unsigned insns, slots;
	uint64_t addr;
	uint64_t bytes[2048];
};

static inline void maker_init(struct maker *m, uint64_t addr)
{
	memset(m, 0, sizeof *m);
	m->addr = addr;
}

static inline void maker_insn(struct maker *m, const char *hex)
{
	struct st_insn_def *i = &m->insn[m->insns++];
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		unsigned v;
		assert_int_equal(sscanf(hex, "%2x", &v), 1);
		i->bytes[i->len++] = (uint8_t)v;
		hex++;
	}
	i->addr = m->addr;
	m->addr += i->len;
}

static inline void maker_slot(struct maker *m, unsigned kind, unsigned size)
{
	m->slot[m->slots++] = (struct st_slot){ .kind = (uint8_t)kind, .insn = (uint8_t)(m->insns - 1),
	                                        .size = (uint16_t)size };
}

static inline const struct st_block_def *maker_def(struct maker *m, size_t *bytes)
{
	struct st_block_def *d = (struct st_block_def *)m->bytes;
	struct st_exit_def x = { .insns = (uint16_t)m->insns, .slots = (uint16_t)m->slots };
	*d = (struct st_block_def){ .id = 7, .insns = (uint16_t)m->insns, .slots = (uint16_t)m->slots, .exits = 1 };
	char *p = (char *)(d + 1);
	memcpy(p, m->insn, m->insns * sizeof *m->insn);
	p += m->insns * sizeof *m->insn;
	memcpy(p, m->slot, m->slots * sizeof *m->slot);
	p += m->slots * sizeof *m->slot;
	memcpy(p, &x, sizeof x);
	*bytes = (size_t)(p + sizeof x - (char *)m->bytes);
	return d;
}

static inline struct iblock *maker_decode(struct maker *m, const struct isa *isa, int word_bytes)
{
	size_t bytes;
	struct iblock *b = NULL;
	struct err err = { 0 };
	const struct st_block_def *d = maker_def(m, &bytes);
	if (isa_decode(isa, word_bytes, d, bytes, &b, &err))
		fail_msg("%s", err.text);
	return b;
}

static const char *const test_kind[] = { "nop", "op", "load", "sta", "std", "branch", "elim", "lfence", "sfence",
                                         "mfence", "serialize" };

static inline char *reg_text(char *out, uint8_t r)
{
	static const char *const gpr[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",
	                                   "r11", "r12", "r13", "r14", "r15" };
	if (r >= REG_GPR && r < REG_VEC)
		return out + sprintf(out, "%s", gpr[r - REG_GPR]);
	if (r >= REG_VEC && r < REG_X87)
		return out + sprintf(out, "v%d", r - REG_VEC);
	if (r >= REG_X87 && r < REG_FLAGS)
		return out + sprintf(out, "st%d", r - REG_X87);
	if (r == REG_FLAGS)
		return out + sprintf(out, "flags");
	if (r == REG_CARRY)
		return out + sprintf(out, "cf");
	if (r >= REG_TEMP && r < REG_COUNT)
		return out + sprintf(out, "t%d", r - REG_TEMP);
	if (r == REG_X87_STATUS)
		return out + sprintf(out, "sw");
	if (r == REG_MXCSR)
		return out + sprintf(out, "mxcsr");
	if (r == REG_SEGMENT)
		return out + sprintf(out, "seg");
	return out + sprintf(out, "k%d", r - REG_MASK);
}

/* "*load p23/0 rsi>t0 s0:8; op p0156/1 rax,t0>rax,flags,cf": a star opens an issue slot, s is the memory slot and size. */
static inline void uop_text(char *out, const struct uop *u)
{
	if (u->flags & UOP_SLOT)
		*out++ = '*';
	out += sprintf(out, "%s", test_kind[u->kind]);
	if (u->ports) {
		out += sprintf(out, " p");
		for (int p = 0; p < 16; p++)
			if (u->ports & 1u << p)
				out += sprintf(out, "%x", (unsigned)p);
		out += sprintf(out, "/%u", u->latency);
	}
	if (u->busy)
		out += sprintf(out, ":b%u:u%u", u->busy, u->unit);
	if (u->src[0] || u->dst[0]) {
		*out++ = ' ';
		for (int i = 0; i < 4 && u->src[i]; i++) {
			if (i)
				*out++ = ',';
			out = reg_text(out, u->src[i]);
		}
		*out++ = '>';
		for (int i = 0; i < 3 && u->dst[i]; i++) {
			if (i)
				*out++ = ',';
			out = reg_text(out, u->dst[i]);
		}
	}
	if (u->slot != UOP_NO_SLOT)
		out += sprintf(out, " s%u:%u", u->slot, u->size);
	else if (u->size)
		out += sprintf(out, " -:%u", u->size);
	*out = 0;
}

static inline void block_text(char *out, const struct iblock *b)
{
	*out = 0;
	for (unsigned i = 0; i < b->uops; i++) {
		if (i)
			out += sprintf(out, "; ");
		uop_text(out, &b->uop[i]);
		out += strlen(out);
	}
}
#endif
