/* SPDX-License-Identifier: GPL-2.0-or-later
 * Each feature changes the count that it should. One core runs a stream of code and accesses; a register of features
 * is written in mid-run and the stream runs again; then the register is written back and the stream runs a third time.
 * The count changes with the first write, and changes back with the second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/core.h"
#include "core/machine/features.h"
#include "isa/isa.h"
#include "data_dir.h"

static struct err err;

enum { BLOCKS = 20000 };
struct rig {
	struct core_config preset, now;
	struct core_features registers;
	struct machine *m;
	struct core *c;
	struct isa *isa;
	struct iblock *block[BLOCKS];
	unsigned blocks;
	uint64_t did[64], is[64], port[256], signal[SPMU_SIG_COUNT], spent[SPMU_SIG_COUNT];
	uint32_t random, msr;
	uint64_t written;	/* value of the last FEATURE_WRITE signal */
};

static struct spmu_record *tally(void *context, const struct spmu_batch *b)
{
	struct rig *r = context;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *e = &b->records[i];
		if (e->kind == SPMU_REC_SIGNAL) {
			r->signal[e->signal] += e->did;
			if (e->signal == SPMU_SIG_FEATURE_WRITE) {
				r->msr = e->unit;
				r->written = e->addr;
			}
			r->spent[e->signal] += e->end - e->begin;
			continue;
		}
		r->port[e->port]++;
		for (unsigned k = 0; k < 64; k++) {
			r->did[k] += e->did >> k & 1;
			r->is[k] += e->is >> k & 1;
		}
	}
	return NULL;
}

/* ---- code ---- */

/* Makes a block at an address. text: instructions in hexadecimal, with L or S before one that loads or stores 8 bytes;
 * J (jmp), C (jnz) or K (call) at the end makes a branch to `target`. */
static struct iblock *block(struct rig *r, uint64_t addr, const char *text, uint64_t target)
{
	static struct {
		struct st_block_def def;
		uint8_t rest[256 * (sizeof(struct st_insn_def) + sizeof(struct st_slot)) + sizeof(struct st_exit_def)];
	} d;
	struct st_insn_def insn[64];
	struct st_slot slot[64];
	struct st_exit_def exit = { .target = target };
	unsigned n = 0, slots = 0;
	memset(insn, 0, sizeof insn);
	memset(slot, 0, sizeof slot);
	for (uint64_t at = addr; *text; n++) {
		struct st_insn_def *i = &insn[n];
		unsigned kind = *text == 'L' ? ST_SLOT_LOAD : *text == 'S' || *text == 'K' ? ST_SLOT_STORE : 0;
		if (kind)
			slot[slots++] = (struct st_slot){ .kind = (uint8_t)kind, .insn = (uint8_t)n, .size = 8 };
		i->addr = at;
		if (strchr("JCK", *text)) {
			const char *op = *text == 'J' ? "\xe9" : *text == 'C' ? "\x0f\x85" : "\xe8";
			memcpy(i->bytes, op, strlen(op));
			i->len = (uint8_t)(strlen(op) + 4);
			uint32_t to = (uint32_t)(target - at - i->len);
			memcpy(i->bytes + strlen(op), &to, 4);
			exit.jump = *text == 'K' ? ST_JUMP_CALL : ST_JUMP_BORING;
			text++;
		} else {
			text += *text == 'L' || *text == 'S';
			for (unsigned v; sscanf(text, "%2x", &v) == 1 && *text != ' '; text += 2)
				i->bytes[i->len++] = (uint8_t)v;
		}
		at += i->len;
		text += strspn(text, " ");
	}
	exit.insns = (uint16_t)n;
	exit.slots = (uint16_t)slots;
	d.def = (struct st_block_def){ .id = r->blocks, .insns = (uint16_t)n, .slots = (uint16_t)slots, .exits = 1 };
	memcpy(d.rest, insn, n * sizeof *insn);
	memcpy(d.rest + n * sizeof *insn, slot, slots * sizeof *slot);
	memcpy(d.rest + n * sizeof *insn + slots * sizeof *slot, &exit, sizeof exit);
	struct iblock *b = NULL;
	if (r->blocks == BLOCKS || isa_decode(r->isa, 8, &d.def, sizeof d, &b, &err))
		fail_msg("%s", err.text);
	return r->block[r->blocks++] = b;
}

static void forget(struct rig *r)
{
	while (r->blocks)
		isa_block_free(r->block[--r->blocks]);
}

static void go(struct rig *r, struct iblock *b, const uint64_t *slots, uint64_t next)
{
	core_run_block(r->c, b, 0, b->insns, slots, next);
}

static uint64_t behind(const struct iblock *b)
{
	return b->insn[b->insns - 1].addr + b->insn[b->insns - 1].len;
}

static unsigned dice(struct rig *r)
{
	r->random = r->random * 1664525 + 1013904223;
	return r->random >> 16;
}

/* ---- streams ---- */

#define DATA 0x10000000u
#define CODE 0x400000u
#define LOADS8 "L488b03 L488b03 L488b03 L488b03 L488b03 L488b03 L488b03 L488b03"

/* Loads over `bytes` of data, `stride` bytes apart, in order. */
static void loads(struct rig *r, uint64_t bytes, uint64_t stride)
{
	struct iblock *b = block(r, CODE, LOADS8 " J", CODE);
	uint64_t slots[8];
	for (uint64_t at = 0; at + 8 * stride <= bytes; at += 8 * stride) {
		for (unsigned i = 0; i < 8; i++)
			slots[i] = DATA + at + i * stride;
		go(r, b, slots, CODE);
	}
}
static void data_l1(struct rig *r) { loads(r, r->preset.l1d_size / 2, 64); loads(r, r->preset.l1d_size / 2, 64); }
static void data_l2(struct rig *r) { loads(r, r->preset.l2_size / 2, 64); }
static void data_l3(struct rig *r) { loads(r, r->preset.l2_size * 2, 64); }
static void pages_dtlb(struct rig *r) { for (int i = 0; i < 4; i++) loads(r, (r->preset.dtlb_entries / 2) * 4160, 4160);
	}
static void pages_stlb(struct rig *r) { for (int i = 0; i < 4; i++) loads(r, 512 * 4160, 4160); }
static void pages_walked(struct rig *r)
{
	for (int i = 0; i < (r->preset.stlb_entries ? 1 : 10); i++)
		loads(r, (r->preset.stlb_entries ? 3000 : 128) * 4160, 4160);
}
static void data_dense(struct rig *r) { loads(r, 3 * r->preset.l1d_size, 8); }
/* Loads over `bytes` of data in random order. */
static void shuffled(struct rig *r, uint64_t bytes)
{
	struct iblock *b = block(r, CODE, LOADS8 " J", CODE);
	uint64_t slots[8];
	loads(r, bytes, 64);	/* page frames are allocated in the order of first touch */
	for (unsigned i = 0; i < 4000; i++) {
		for (unsigned k = 0; k < 8; k++)
			slots[k] = DATA + ((uint64_t)dice(r) << 16 | dice(r)) % (bytes / 64) * 64;
		go(r, b, slots, CODE);
	}
}
static void more_than_l2(struct rig *r) { shuffled(r, r->preset.l2_size + r->preset.l2_size / 4); }
static void more_than_l3(struct rig *r) { shuffled(r, r->preset.l3_size + r->preset.l3_size / 4); }
/* Loads of one line after the other, with additions that depend on them in between. */
static void walked_l2(struct rig *r)
{
	struct iblock *b = block(r, CODE, "L488b1b 4801db 4801db 4801db 4801db 4801db 4801db J", CODE);
	for (uint64_t at = 0; at < 4 * r->preset.l1d_size; at += 64)
		go(r, b, (const uint64_t[]){ DATA + at }, CODE);
}

/* Independent loads that miss, on random pages: as many overlap as the machine can have. */
static void misses(struct rig *r)
{
	struct iblock *b = block(r, CODE, "L488b03 4801c8 4801c8 4801c8 L488b03 4801c8 4801c8 4801c8 J", CODE);
	for (int i = 0; i < 1500; i++) {
		uint64_t slots[2] = { DATA + (uint64_t)(dice(r) % 16384) * 4096 + (dice(r) % 64) * 64,
			DATA + (uint64_t)(dice(r) % 16384) * 4096 + (dice(r) % 64) * 64 };
		go(r, b, slots, CODE);
	}
}
/* Loads that miss all caches, on few pages. */
static void misses_near(struct rig *r)
{
	struct iblock *b = block(r, CODE, LOADS8 " J", CODE);
	static uint64_t page;
	uint64_t slots[8];
	for (int i = 0; i < 800; i++) {
		for (unsigned k = 0; k < 8; k++)
			slots[k] = 0x40000000 + (page += 64 * 33);
		go(r, b, slots, CODE);
	}
}
/* Misses with other work between them: they overlap as far as the work fits into the buffers. */
static void misses_between(struct rig *r, const char *text)
{
	struct iblock *b = block(r, CODE, text, CODE);
	static uint64_t page;
	for (int i = 0; i < 3000; i++)
		go(r, b, (const uint64_t[]){ 0x40000000 + (page += 64 * 33) }, CODE);
}
static void misses_aside(struct rig *r) { misses_between(r,
	"L488b03 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 J"); }
/* Sequences of eight lines, each on a page of its own. */
static void short_streams(struct rig *r)
{
	struct iblock *b = block(r, CODE, "L488b1b 4801db 4801db 4801db 4801db J", CODE);
	static uint64_t page;
	for (unsigned i = 0; i < 4000; i++) {
		page += i % 8 ? 0 : 8192;
		go(r, b, (const uint64_t[]){ 0x60000000 + page + i % 8 * 64 }, CODE);
	}
}
static void stores_missing(struct rig *r)
{
	struct iblock *b = block(r, CODE, "S488903 S488903 S488903 S488903 S488903 S488903 S488903 S488903 J", CODE);
	static uint64_t page;
	uint64_t slots[8];
	for (int i = 0; i < 600; i++) {
		for (unsigned k = 0; k < 8; k++)
			slots[k] = 0x80000000u + (page += 64 * 5);
		go(r, b, slots, CODE);
	}
}
/* Stores to a few pages. */
static void store_pages(struct rig *r)
{
	struct iblock *b = block(r, CODE, "S488903 J", CODE);
	for (int i = 0; i < 800; i++)
		go(r, b, (const uint64_t[]){ DATA + (uint64_t)(i % 8) * 4096 }, CODE);
}
/* Non-temporal stores to four sequences in turn, a part of a line each time. */
static void combined(struct rig *r)
{
	struct iblock *b = block(r, CODE, "S480fc303 S480fc303 S480fc303 S480fc303 J", CODE);
	for (uint64_t i = 0; i < 1500; i++)
		go(r, b, (const uint64_t[]){ DATA + 8 * i, DATA + 0x100000 + 8 * i, DATA + 0x200000 + 8 * i,
			DATA + 0x300000 + 8 * i }, CODE);
}

/* Jumps from one of n pieces of code to the next, `stride` bytes apart, `rounds` times round. */
static void jumps(struct rig *r, unsigned n, uint64_t stride, const char *text, unsigned rounds)
{
	struct iblock *b[8192];
	for (unsigned i = 0; i < n; i++)
		b[i] = block(r, CODE + i * stride, text, CODE + (i + 1) % n * stride);
	for (unsigned k = 0; k < rounds; k++)
		for (unsigned i = 0; i < n; i++)
			go(r, b[i], NULL, b[(i + 1) % n]->addr);
}
static void code_l1i(struct rig *r) { jumps(r, r->preset.l1i_size / 64 / 2, 64, "4801c8 4801d9 4801ca 90 J", 4); }
static void code_pages(struct rig *r) { jumps(r, r->preset.itlb_entries / 2, 4096 + 64, "4801c8 J", 6); }
static void code_straight(struct rig *r) { jumps(r, 3000, 64, "4801c8 4801d9 4801ca J", 2); }
#define CHAIN12 "480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 " \
	"480fafc1"
/* Lines of code that miss; every seventh has a long chain, during which the next lines could be fetched. */
static void code_late(struct rig *r)
{
	struct iblock *b[1400];
	for (unsigned i = 0; i < 1400; i++)
		b[i] = block(r, CODE + i * 192, i % 7 ? "4801d9 4801d9 4801d9 4801d9 4801d9 4801d9 J"
			: CHAIN12 " " CHAIN12 " J", CODE + (i + 1) % 1400 * 192);
	for (unsigned i = 0; i < 2800; i++)
		go(r, b[i % 1400], NULL, b[(i + 1) % 1400]->addr);
}
static void code_cached(struct rig *r) { jumps(r, 60, 64, "4801c8 4801d9 4801ca J", 6); }
static void code_branches(struct rig *r) { jumps(r, r->preset.btb_l1_entries / 2, 32, "4801c8 J", 4); }
static void code_branches_l2(struct rig *r) { jumps(r, r->preset.btb_l1_entries + r->preset.btb_l2_entries / 4, 32,
	"4801c8 J", 4); }
static void loop(struct rig *r) { jumps(r, 1, 64, "4801c8 4801d9 4801ca J", 2000); }
static void loads_added(struct rig *r)
{
	struct iblock *b = block(r, CODE, "L480303 L48030b L480313 L480333 L48033b L4c0303 L4c030b L4c0313 J", CODE);
	for (int i = 0; i < 500; i++)
		go(r, b, (const uint64_t[]){ DATA, DATA, DATA, DATA, DATA, DATA, DATA, DATA }, CODE);
}
static void compares(struct rig *r) { jumps(r, 1, 64, "4801c8 4839d9 C", 1000); }

/* n conditional branches at `places` addresses in turn; `taken` says the outcome of each. */
static void branches(struct rig *r, unsigned places, unsigned n, bool (*taken)(struct rig *r, unsigned i))
{
	struct iblock *b[4096];
	for (unsigned i = 0; i < places; i++)
		b[i] = block(r, CODE + i * 64, "4801c8 4839d9 C", CODE + i * 64 + 32);
	for (unsigned i = 0; i < n; i++) {
		struct iblock *it = b[i % places];
		go(r, it, NULL, taken(r, i) ? it->exit[0].target : behind(it));
	}
}
static bool in_pattern(struct rig *r, unsigned i) { (void)r; return i % 7 == 0 || i % 3 == 1; }
static void pattern(struct rig *r) { branches(r, 1, 6000, in_pattern); }
static bool as_always(struct rig *r, unsigned i) { (void)r; return (i % 4096 * 2654435761u >> 13) & 1; }
static void biased(struct rig *r) { branches(r, 4096, 16384, as_always); }
static bool in_short_pattern(struct rig *r, unsigned i) { (void)r; return i % 3 == 0; }
static void short_pattern(struct rig *r) { branches(r, 1, 3000, in_short_pattern); }
static bool in_loop(struct rig *r, unsigned i) { (void)r; return i % 40 != 39; }
static void counted(struct rig *r) { branches(r, 1, 8000, in_loop); }

static void indirect(struct rig *r)
{
	struct iblock *b = block(r, CODE, "4801c8 ffe0", 0);
	for (unsigned i = 0; i < 4000; i++)
		go(r, b, NULL, CODE + 4096 + (i % 4 ^ i % 3) * 64);
}
/* A function that is called from two places in an irregular order. */
static void calls(struct rig *r)
{
	struct iblock *from[2] = { block(r, CODE, "4801c8 K", CODE + 4096), block(r, CODE + 512, "4801c8 4801c8 K",
		CODE + 4096) };
	struct iblock *f = block(r, CODE + 4096, "4801d9 K", CODE + 8192), *g = block(r, CODE + 8192, "4801d9 Lc3", 0),
		*ret = block(r, behind(f), "4801d9 Lc3", 0);
	for (unsigned i = 0; i < 1500; i++) {
		struct iblock *a = from[(i * 2654435761u >> 20) & 1];
		go(r, a, (const uint64_t[]){ DATA + 64 }, f->addr);
		go(r, f, (const uint64_t[]){ DATA + 56 }, g->addr);
		go(r, g, (const uint64_t[]){ DATA + 56 }, ret->addr);
		go(r, ret, (const uint64_t[]){ DATA + 64 }, behind(a));
	}
}

static void repeat(struct rig *r, const char *text, unsigned n)
{
	struct iblock *b = block(r, CODE, text, CODE);
	for (unsigned i = 0; i < n; i++)
		go(r, b, NULL, CODE);
}
static void additions(struct rig *r) { repeat(r,
	"4801c8 4801ca 4801cb 4801ce 4801cf 4901c8 4901c9 4901ca 4901cb 4901cc "
	"4901cd 4901ce J", 800); }
static void copies(struct rig *r) { repeat(r, "4889c1 4889c8 4889c1 4889c8 4889c1 4889c8 J", 800); }
/* Independent chains of multiplications: they overlap as far as they fit into the buffers. */
static void chains(struct rig *r) { repeat(r, "31c0 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 480fafc1 J", 1500); }
static void zeros(struct rig *r) { repeat(r, "480fafc1 31c0 480fafc1 31c0 480fafc1 31c0 480fafc1 31c0 J", 800); }
static void sums(struct rig *r) { repeat(r, "4883c007 4883c007 4883c007 4883c007 4883c007 4883c007 J", 800); }
static void stacked(struct rig *r)
{
	struct iblock *b = block(r, CODE, "S48890424 L488b0424 4801c8 J", CODE);
	for (int i = 0; i < 1500; i++)
		go(r, b, (const uint64_t[]){ DATA, DATA }, CODE);
}
/* A store whose address comes late, then a load from elsewhere; each `conflict`-th load is from the store's address. */
static void behind_stores(struct rig *r, unsigned conflict)
{
	struct iblock *b = block(r, CODE, "L488b1b S488903 L488b0e 4801c8 J", CODE);
	static uint64_t page;
	for (unsigned i = 0; i < 1500; i++)
		go(r, b, (const uint64_t[]){ DATA + 0x1000 * (page = page + 65), DATA + 64 * (i % 8),
			DATA + (conflict && i % conflict == 0 ? 64 * (i % 8) : 0x800) }, CODE);
}
static void behind_unknown(struct rig *r) { behind_stores(r, 0); }
static void behind_known(struct rig *r) { behind_stores(r, 3); }
/* Loads of more lines of one set than it has ways, some lines more often than others. */
static void one_set(struct rig *r, uint64_t size, unsigned ways, unsigned n)
{
	struct iblock *b = block(r, CODE, "L488b03 J", CODE);
	uint64_t apart = size / ways;
	for (unsigned i = 0; i < n; i++)
		go(r, b, (const uint64_t[]){ DATA + (uint64_t)(i % 3 == 0 ? i / 3 % 4 : dice(r) % (ways + 5)) * apart },
			CODE);
}
static void set_l1d(struct rig *r) { one_set(r, r->preset.l1d_size, r->preset.l1d_ways, 4000); }
static void set_l1i(struct rig *r)
{
	unsigned ways = r->preset.l1i_ways;
	struct iblock *b[32];
	for (unsigned i = 0; i < ways + 4; i++)
		b[i] = block(r, CODE + i * (uint64_t)(r->preset.l1i_size / ways), "4801c8 ffe0", 0);
	for (unsigned i = 0, at = 0, to; i < 4000; i++, at = to) {
		to = i % 3 == 0 ? i / 3 % 4 : dice(r) % (ways + 4);
		go(r, b[at], NULL, b[to]->addr);
	}
}

/* ---- each feature ---- */

enum of { CYCLES, DID, IS, SIGNAL, SPENT, PORT };
enum then { MORE, LESS, NONE, OTHER, SAME /* no other port can do it */ };
struct row {
	const char *feature, *level;	/* level: NULL for the last */
	const char *base;		/* fields set first, so that no other feature has the same effect */
	void (*stream)(struct rig *r);
	enum of of;
	unsigned which;
	enum then then;
	const char *core;		/* for this core alone; NULL: for all */
};
#define NO_DSB "dsb.sets=0 trace.sets=0"
#define NO_PREFETCH "prefetch.l2_streamer=0 prefetch.l2_adjacent=0 prefetch.l1d_next_line=0 prefetch.l1d_ip=0"
static const struct row rows[] = {
	{ "prefetch.l2_streamer", NULL, "prefetch.l2_adjacent=0 prefetch.l1d_next_line=0 prefetch.l1d_ip=0", data_l3,
	SIGNAL, SPMU_SIG_L2_PF_MISS, NONE, NULL },
	{ "prefetch.l2_adjacent", NULL, "prefetch.l2_streamer=0 prefetch.l1d_next_line=0 prefetch.l1d_ip=0",
	misses_near, SIGNAL, SPMU_SIG_L2_PF_MISS, NONE, NULL },
	{ "prefetch.l1d_next_line", NULL, "prefetch.l2_streamer=0 prefetch.l2_adjacent=0 prefetch.l1d_ip=0", data_dense,
	SIGNAL, SPMU_SIG_L2_PF_HIT, NONE, NULL },
	{ "prefetch.l1d_ip", NULL, "prefetch.l2_streamer=0 prefetch.l2_adjacent=0 prefetch.l1d_next_line=0", walked_l2,
	DID, SPMU_DID_PF_L1_USED, NONE, NULL },
	{ "l1i.size", NULL, NO_DSB " l1i.next_line=0", code_l1i, SIGNAL, SPMU_SIG_ICACHE_MISS_LINE, MORE, NULL },
	{ "l1i.size", "1/4", NO_DSB " l1i.next_line=0", code_l1i, SIGNAL, SPMU_SIG_ICACHE_MISS_LINE, MORE, NULL },
	{ "itlb.size", NULL, NO_DSB, code_pages, SIGNAL, SPMU_SIG_ITLB_MISS, MORE, NULL },
	{ "dsb.size", NULL, "lsd.size=0", code_cached, DID, SPMU_DID_FROM_DSB, NONE, NULL },
	{ "dsb.size", "1/16", "lsd.size=0", code_cached, DID, SPMU_DID_FROM_MITE, MORE, NULL },
	{ "trace.size", NULL, "", code_cached, DID, SPMU_DID_FROM_MITE, MORE, NULL },
	{ "lsd.size", NULL, "", loop, DID, SPMU_DID_FROM_LSD, NONE, NULL },
	{ "idq.size", NULL, NO_DSB " rob.size=16", code_late, CYCLES, 0, OTHER, NULL },
	{ "l1i.fill_buffers", NULL, NO_DSB, code_straight, CYCLES, 0, OTHER, NULL },
	{ "l1i.next_line", NULL, NO_DSB, code_straight, SIGNAL, SPMU_SIG_ICACHE_MISS_LINE, MORE, NULL },
	{ "fusion.micro", NULL, "", loads_added, IS, SPMU_IS_SLOT, MORE, NULL },
	{ "fusion.macro", NULL, "", compares, IS, SPMU_IS_MACRO_FUSED, NONE, NULL },
	{ "btb.size", NULL, "btb.l2_entries=0", code_branches, DID, SPMU_DID_BTB_MISS, MORE, NULL },
	{ "btb_l2.size", NULL, "", code_branches_l2, DID, SPMU_DID_BTB_MISS, MORE, NULL },
	{ "trace_btb.size", NULL, "", pattern, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "base.size", NULL, "tage.tables=0", biased, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "tage.size", NULL, "", pattern, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "global.size", NULL, "global.entries_log2=8", pattern, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "loop.size", NULL, "tage.tables=0", counted, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "indirect.size", NULL, "", indirect, DID, SPMU_DID_MISP_TARGET, MORE, NULL },
	{ "ras.size", NULL, "indirect.tables=0", calls, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "local.history", NULL, "", short_pattern, DID, SPMU_DID_MISPREDICTED, MORE, NULL },
	{ "rob.size", NULL, NO_PREFETCH, misses_aside, CYCLES, 0, MORE, NULL },
	{ "rs.size", NULL, "", chains, CYCLES, 0, MORE, NULL },
	{ "load_buffer.size", NULL, "", misses, DID, SPMU_DID_STALL_LB, MORE, NULL },
	{ "store_buffer.size", NULL, "", stores_missing, CYCLES, 0, OTHER, NULL },
	{ "eliminate.moves", NULL, "", copies, IS, SPMU_IS_ELIMINATED, NONE, NULL },
	{ "eliminate.zero_idioms", NULL, "", zeros, CYCLES, 0, MORE, NULL },
	{ "eliminate.constants", NULL, "", sums, CYCLES, 0, MORE, NULL },
	{ "forward.renamed", NULL, "", stacked, CYCLES, 0, MORE, NULL },
	{ "l1d.size", NULL, NO_PREFETCH, data_l1, DID, SPMU_DID_L1D_MISS, MORE, NULL },
	{ "l1d.size", "1/4", NO_PREFETCH, data_l1, DID, SPMU_DID_L1D_MISS, MORE, NULL },
	{ "l2.size", NULL, NO_PREFETCH, data_l2, DID, SPMU_DID_L2_MISS, MORE, NULL },
	{ "l2.size", "1/4", NO_PREFETCH, data_l2, DID, SPMU_DID_L2_MISS, MORE, NULL },
	{ "l3.size", NULL, NO_PREFETCH, data_l3, DID, SPMU_DID_L3_MISS, MORE, NULL },
	{ "dtlb.size", NULL, "dtlb_store.entries=0", pages_dtlb, DID, SPMU_DID_DTLB_MISS, MORE, NULL },
	{ "dtlb_store.size", NULL, "dtlb.entries=4 dtlb.ways=4", store_pages, DID, SPMU_DID_DTLB_MISS, MORE, NULL },
	{ "stlb.size", NULL, "", pages_stlb, SIGNAL, SPMU_SIG_DTLB_LOAD_WALK, MORE, NULL },
	{ "walk_cache.size", NULL, NO_PREFETCH, pages_walked, SPENT, SPMU_SIG_DTLB_LOAD_WALK, MORE, NULL },
	{ "walk.walkers", NULL, NO_PREFETCH, misses, CYCLES, 0, MORE, NULL },
	{ "l1d.fill_buffers", NULL, NO_PREFETCH, misses_near, SPENT, SPMU_SIG_L1D_FB_FULL, MORE, NULL },
	{ "l1d.wc_buffers", NULL, "", combined, SIGNAL, SPMU_SIG_DRAM_WRITE, MORE, NULL },
	{ "l2.queue", NULL, NO_PREFETCH, misses_near, CYCLES, 0, MORE, NULL },
	{ "l1i.replacement", NULL, NO_DSB " l1i.next_line=0", set_l1i, SIGNAL, SPMU_SIG_ICACHE_MISS_LINE, OTHER, NULL },
	{ "l1d.replacement", NULL, NO_PREFETCH, set_l1d, DID, SPMU_DID_L1D_MISS, OTHER, NULL },
	{ "l2.replacement", "lru", NO_PREFETCH, more_than_l2, DID, SPMU_DID_L2_MISS, OTHER, NULL },
	{ "l3.replacement", "lru", NO_PREFETCH " l2.size=64K l2.ways=16 l3.size=960K l3.slices=1", more_than_l3, DID,
	SPMU_DID_L3_MISS, OTHER, NULL },
	{ "prefetch.l2_depth", "low", "prefetch.l1d_next_line=0 prefetch.l1d_ip=0", short_streams, SIGNAL,
	SPMU_SIG_L2_PF_MISS, LESS, NULL },
	{ "prefetch.l2_depth", "high", "prefetch.l1d_next_line=0 prefetch.l1d_ip=0", short_streams, SIGNAL,
	SPMU_SIG_L2_PF_MISS, OTHER, NULL },
	{ "disambiguation", "wait", "", behind_unknown, DID, SPMU_DID_WAIT_STORE_ADDR, MORE, NULL },
#define ALU(n) { "ports." #n, NULL, "", additions, PORT, n, NONE, NULL }
	ALU(0), ALU(1), ALU(5), ALU(10),
	{ "ports.6", NULL, "", additions, PORT, 6, LESS, NULL },	/* taken branches keep using it */
#define LOAD(n) { "ports." #n, NULL, NO_PREFETCH, data_l1, PORT, n, NONE, NULL }
	LOAD(2), LOAD(3), LOAD(11),
#define STORE(n) { "ports." #n, NULL, "", store_pages, PORT, n, NONE, NULL }
	STORE(7), STORE(8), STORE(9),
	{ "ports.4", NULL, "", store_pages, PORT, 4, NONE, "golden-cove" },
	{ "ports.4", NULL, "", store_pages, PORT, 4, SAME, "skylake" },
	{ "disambiguation", "pass", "", behind_known, DID, SPMU_DID_CLEAR_MEMORY_ORDER, MORE, NULL },
};
enum { ROWS = sizeof rows / sizeof *rows };
/* Features tested elsewhere: those of several hardware threads in tests/unit/core/test_core_smt.c; those of the wrong
 * path, which these streams do not have, in tests/system/model/wrong-path.sh. */
static const char *const elsewhere[] = { "smt.idq", "smt.rob", "smt.load_buffer", "smt.store_buffer",
	"wrong_path.walks", "wrong_path.tlb",
	"wrong_path.converge" };

static uint64_t count(struct rig *r, const struct row *row)
{
	uint64_t from;
	r->random = 1;
	row->stream(r);
	core_flush(r->c, true);
	memset(r->did, 0, sizeof r->did);
	memset(r->is, 0, sizeof r->is);
	memset(r->port, 0, sizeof r->port);
	memset(r->signal, 0, sizeof r->signal);
	memset(r->spent, 0, sizeof r->spent);
	from = core_now(r->c);
	r->random = 1;
	row->stream(r);
	core_flush(r->c, true);
	forget(r);
	return row->of == CYCLES ? core_now(r->c) - from : row->of == DID ? r->did[row->which] : row->of == IS
		? r->is[row->which] :
	       row->of == PORT ? r->port[row->which] : row->of == SIGNAL ? r->signal[row->which] : r->spent[row->which];
}

/* Writes one field of the feature's register, as WRMSR would. */
static void write_field(struct rig *r, const struct core_feature *f, uint32_t code)
{
	struct isa_options o;
	uint64_t value;
	assert_int_equal(core_features_read(&r->registers, f->msr, &value), FEATURE_OK);
	value = (value & ~(((UINT64_C(1) << f->width) - 1) << f->low)) | (uint64_t)code << f->low;
	assert_int_equal(core_features_write(&r->registers, f->msr, value), FEATURE_OK);
	core_features_config(&r->registers, &r->now);
	if (machine_resize(r->m, &r->c, 1, &r->now, &err))
		fail_msg("%s", err.text);
	core_isa_options(&r->now, &o);
	isa_configure(r->isa, &o);
	core_discard_code(r->c, 0, UINT64_MAX);
	r->signal[SPMU_SIG_FEATURE_WRITE] = 0;
	core_note_write(r->c, f->msr, value);
	core_flush(r->c, false);
	assert_int_equal(r->signal[SPMU_SIG_FEATURE_WRITE], 1);	/* a record says so */
	assert_int_equal(r->msr, f->msr);
	assert_int_equal(r->written, value);
}

static void set_fields(struct core_config *c, const char *base)
{
	char text[256];
	snprintf(text, sizeof text, "%s", base);
	for (char *rest, *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest))
		assert_int_equal(core_config_set(c, one, &err), 0);
	if (core_config_check(c, &err))
		fail_msg("%s", err.text);
}

static bool moved(enum then then, uint64_t was, uint64_t is)
{
	switch (then) {
	case MORE: return is > was + was / 50;
	case LESS: return is + is / 50 < was;
	case NONE: return was && !is;
	case SAME: return was && is == was;
	default: return is != was;
	}
}

/* Runs a row on a core. Returns false if the core lacks the feature. */
static bool check(const char *name, const struct row *row, unsigned *wrong)
{
	static struct rig rig;
	struct rig *r = &rig;
	struct core_feature f;
	struct isa_options o;
	char uops[sizeof r->preset.uops + 4200];
	memset(r, 0, sizeof *r);
	assert_int_equal(core_config_load(&r->preset, data_dir(), name, &err), 0);
	if (core_feature_find(&r->preset, row->feature, &f, &err))
		return false;
	r->preset.wrong_path = 0;
	set_fields(&r->preset, row->base);
	if (core_feature_find(&r->preset, row->feature, &f, &err))
		return false;		/* with the base fields the core has no such feature any more */
	core_features_init(&r->registers, &r->preset);
	snprintf(uops, sizeof uops, "%s/uops/%.63s.tsv", data_dir(), r->preset.uops);
	if (isa_create(&r->isa, uops, &err) || machine_create(&r->m, &r->preset, &err) || core_create(&r->c, r->m,
		tally, r, &err))
		fail_msg("%s: %s", name, err.text);
	core_isa_options(&r->preset, &o);
	isa_configure(r->isa, &o);
	core_reset(r->c, 0);
	uint32_t code = f.level[f.levels - 1].code;
	for (uint32_t i = 0; row->level && i < f.levels; i++)
		if (!strcmp(f.level[i].name, row->level))
			code = f.level[i].code;
	uint64_t before = count(r, row);
	write_field(r, &f, code);
	uint64_t changed = count(r, row);
	write_field(r, &f, 0);
	uint64_t after = count(r, row);
	core_destroy(r->c);
	machine_destroy(r->m);
	isa_destroy(r->isa);
	if (!moved(row->then, before, changed) || !moved(row->then, after, changed)) {
		print_message("%s, %s=%s: %llu, changed %llu, back %llu\n", name, row->feature, row->level ? row->level
			: f.level[f.levels - 1].name,
			(unsigned long long)before, (unsigned long long)changed, (unsigned long long)after);
		++*wrong;
	}
	return true;
}

/* Checks all features of a core. */
static void all_features_of(const char *name)
{
	static struct core_feature f[FEATURES_MAX];
	struct core_config c;
	unsigned wrong = 0;
	assert_int_equal(core_config_load(&c, data_dir(), name, &err), 0);
	size_t n = core_features_list(&c, f, FEATURES_MAX);
	for (size_t i = 0; i < n; i++) {
		bool tried = false;
		for (unsigned k = 0; k < ROWS; k++)
			if (!strcmp(rows[k].feature, f[i].name) && (!rows[k].core || !strcmp(rows[k].core, name)))
				tried |= check(name, &rows[k], &wrong);
		for (unsigned k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
			tried |= !strcmp(elsewhere[k], f[i].name);
		if (!tried) {
			print_message("%s: %s was not tried\n", name, f[i].name);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void test_each_feature_of_golden_cove_changes_its_count(void **state) { (void)state;
	all_features_of("golden-cove"); }
static void test_each_feature_of_skylake_changes_its_count(void **state) { (void)state; all_features_of("skylake"); }
static void test_each_feature_of_prescott_changes_its_count(void **state) { (void)state; all_features_of("prescott"); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_feature_of_golden_cove_changes_its_count),
		cmocka_unit_test(test_each_feature_of_skylake_changes_its_count),
		cmocka_unit_test(test_each_feature_of_prescott_changes_its_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
