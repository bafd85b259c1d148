/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of one guest processor's model; private to src/machine.
 */
#ifndef MACHINE_GUEST_INTERNAL_H
#define MACHINE_GUEST_INTERNAL_H
#include "machine/machine.h"
#include "machine/guest_queue.h"
#include "machine/guest_stream.h"
#include "machine/path.h"
#include "core/core.h"
#include "core/machine/config.h"

enum {
	GUEST_KEPT = 4096,	/* register files that are kept for PEBS, a power of two */
	/* A path has 32 instructions at most, and seldom takes a thousand cycles.  NEAR: a few such paths more. */
	STEP_INSNS = PATH_INSNS + 64, STEP_CYCLES = 1024, NEAR_INSNS = 1024, NEAR_CYCLES = 3072,
	/* Instructions between two meetings of emulator and core (guest_ahead.c).  MOST: about half of what the ring
	 * between them holds. */
	MEET_LEAST = 256, MEET_MOST = 4096,
	GUEST_SPACES = 1 << 14,	/* address spaces that are told apart; later ones share the last tag */
	GUEST_DELIVERED = 64,	/* accesses of a delivery; further ones are dropped */
	GUEST_RECENT = 1024,	/* pages that are known to be told, by low bits */
	GUEST_PCID_COUNT = 4096,
	GUEST_WAITING = 16,	/* drops that wait; if there are more, all is dropped */
	GUEST_CODE_SEEN = 8192,	/* pages of code whose file was asked for */
};

/* What the processors of a machine share: address spaces by tag. */
struct guest_spaces {
	unsigned count;
	uint64_t tables[GUEST_SPACES];
	uint16_t recent[256];		/* tag + 1 of tables, by low bits */
};

/* What a processor's model knows of the guest's page tables (guest_pages.c). */
struct guest_pages {
	struct told *told;		/* what the core was told; NULL: no page tables */
	unsigned mode;			/* set of enum guest_mode */
	uint64_t cr3;
	uint64_t recent[GUEST_RECENT];	/* pages that are told and current; 0: none */
	/* A clock that counts drops.  A page is current if it was told or confirmed after the last drop that concerns
	 * it. */
	uint32_t clock, all, not_global, space[GUEST_SPACES];
	uint16_t owner[GUEST_PCID_COUNT];	/* tag + 1 of the space that had this PCID last */
	uint16_t pcid[GUEST_SPACES];		/* the PCID of a space + 1 */
	int dropped;			/* enum st_drop_what of the last drop, if nothing was done since; else -1 */
	/* While nobody watches: drops that the core is told of once somebody watches, and the space that it knows. */
	struct { unsigned what; uint64_t addr; } wait[GUEST_WAITING];
	unsigned waiting, told_tag;
};

struct guest {
	struct guest *first;		/* of the machine's processors: it owns what they share */
	struct guest_emulator emulator;
	enum guest_timing timing;
	bool reload_msrs;
	struct core_config config;
	struct spmu_model *model;
	struct spmu *pmu;
	struct spmu *idle_pmu;		/* shared: says which registers there are while the core's thread has `pmu` */
	struct isa *isa;
	struct path_store *paths;
	struct machine *machine;
	struct core *core;
	struct spmu_record *spare;	/* the buffer that the core gets next */

	bool watches, marked;
	bool times;			/* the core times what is executed; else, with `watches`, it is only warmed */
	bool warms;			/* it is warmed where it does not time */
	bool failed;
	struct err failure;

	/* what is being executed */
	struct path path;
	struct { uint64_t ip; unsigned len; bool rep, jcc; } insn;
	bool begun;			/* an instruction has begun and is not complete */
	/* CPL and word size of the path's instructions, if another one with the same is simply put behind them;
	 * else 0 */
	unsigned mode;
	bool timed;			/* the instruction is one that the core times */
	bool rep_open;			/* the last path was a round of a REP instruction */
	unsigned cpl;			/* of the path, and of what the core has in flight: 0 or 3 */
	unsigned tag;			/* of the address space */
	struct guest_spaces *spaces;
	struct guest_pages *pages;
	uint8_t word_bytes;		/* of what the core has in flight */
	bool delivers;			/* accesses outside of instructions are those of a delivery */
	unsigned delivered;
	uint64_t delivery[2 * GUEST_DELIVERED];	/* as st_delivery */
	struct guest_stream *stream;	/* NULL: nobody wants it */
	struct guest_code *code;	/* which files the blocks are of; NULL: nobody wants it, or there is no list */
	bool owes;			/* the last record is a block; that it led to next_ip is not recorded yet */
	bool owes_space;		/* the space has changed since the last block */
	uint64_t tables;		/* of the space */
	uint64_t next_ip;

	/* The core in a thread of its own (guest_ahead.c).  While `ahead` is set, the fields from `applied` to `wants`
	 * belong to that thread, and so do `cycles_from` and the report's pmis, cycles and stepped. */
	struct guest_queue *queue;	/* NULL: there is none */
	bool ahead;
	struct {			/* what the core told last */
		uint64_t now, at, horizon, horizon_cycle;	/* at: instructions that it had got */
		uint64_t took, length;	/* cycles and instructions between its last two meetings */
	} seen;
	uint64_t meet_at;		/* by `given` */
	uint64_t given;			/* instructions that the core has got, or will get */

	uint64_t applied;		/* instructions that the core has got */
	unsigned core_cpl;
	bool core_failed;
	struct err core_failure;
	unsigned deferred;		/* PMIs that came while the emulator was ahead */
	uint32_t deferred_lvt;
	/* what the PMU has seen */
	uint64_t consumed;		/* instructions */
	uint64_t horizon;		/* no PMI before `applied` reaches this, or the core's clock horizon_cycle */
	uint64_t horizon_cycle, watermark;	/* watermark: all before this cycle has been counted */
	bool near;			/* close to either, where the PMU gets all records */
	struct spmu_wants wants;	/* what the core hands over */
	bool keeps;			/* register files are kept for PEBS */
	bool stores;			/* branch records go to the guest's memory, whether the PMU interrupts or not */
	struct spmu_registers *kept;	/* before instruction n: kept[n % GUEST_KEPT] */
	uint64_t kept_first, kept_next;	/* the first n that is there, and one behind the last */
	uint64_t clock;			/* the core's cycle that the machine's clock has reached */
	uint64_t passed_untimed;	/* what that has counted of report.untimed */
	uint64_t cycles_from;		/* the cycle since when the core has this privilege */
	struct guest_report report;
};

/* guest_pmu.c */
int  guest_pmu_create(struct guest *g, struct err *err);
struct spmu_record *guest_take_batch(void *context, const struct spmu_batch *b);
void guest_renew(struct guest *g);	/* after the PMU's registers may have changed, or the PMU has seen more */
/* Afterwards everything that is complete has retired, and the PMU has seen it. */
void guest_settle(struct guest *g, uint64_t next_ip);
/* Passes on what is pending.  From here on, what the PMU gets depends on how close the next overflow is. */
void guest_approach(struct guest *g);
/* How close the next overflow is: instructions are run one by one where it may come within a path. */
enum guest_closeness { GUEST_FAR, GUEST_NEAR, GUEST_STEPPING };
static inline enum guest_closeness guest_closeness(const struct guest *g)
{
	const uint64_t now = core_now(g->core);
	const uint64_t insns = g->horizon > g->applied ? g->horizon - g->applied : 0;
	const uint64_t cycles = g->horizon_cycle > now ? g->horizon_cycle - now : 0;
	return insns < STEP_INSNS || cycles < STEP_CYCLES ? GUEST_STEPPING :
		insns < NEAR_INSNS || cycles < NEAR_CYCLES ? GUEST_NEAR : GUEST_FAR;
}
/* guest_ahead.c */
int  guest_ahead_create(struct guest *g, struct err *err);
/* Afterwards the core has done all that it was given, and is the caller's. */
void guest_together(struct guest *g);
void guest_apart(struct guest *g);	/* if the next overflow is far enough: gives the core to its thread */
void guest_meet(struct guest *g);
/* guest_core.c: each writes its record, and does to the core what a replay of the record does. */
/* complete: how many instructions it completes; slots: how many values */
struct guest_run {
	struct iblock *block;
	uint64_t next_ip;
	uint32_t exit, insns, complete, slots;
	uint64_t warms;		/* 1: it only warms caches and predictors */
};
void guest_core_block(struct guest *g, const struct guest_run *r, const struct st_block_def *def,
	const uint64_t *values);
void guest_core_level(struct guest *g, unsigned cpl, unsigned word_bytes);	/* does nothing if they are the same */
void guest_core_trap(struct guest *g, const struct guest_trap *t);
void guest_core_delivery(struct guest *g);		/* g->delivery; empties it */
void guest_core_halt(struct guest *g, uint64_t cycles);
void guest_core_serialize(struct guest *g);
void guest_core_space(struct guest *g, uint64_t tables);	/* g->tag */
void guest_core_page(struct guest *g, const struct st_page *p);	/* fails the guest where the core refuses it */
void guest_core_drop(struct guest *g, enum st_drop_what what, uint64_t addr);
const uint64_t *guest_core_apply(void *guest, const uint64_t *op, const uint64_t *end);	/* from the queue */
/* guest_code.c: ST_SYMBOLS in the stream, as struct guest_options says */
struct code_files;
struct guest_code {
	struct code_files *files;
	uint64_t last;			/* page that was looked at last, with its tag; 0: none */
	struct { uint64_t page, frame; } seen[GUEST_CODE_SEEN];	/* by low bits */
};
int  guest_code_create(struct guest *g, const struct guest_options *o, struct err *err);
void guest_code_destroy(struct guest *g);
void guest_code_look(struct guest *g, uint64_t addr);
/* A block at this address, with its tag, is executed next. */
static inline void guest_code_block(struct guest *g, uint64_t addr)
{
	if (g->code && !(addr >> 63) && addr >> 12 != g->code->last)
		guest_code_look(g, addr);
}
/* guest_pages.c */
int  guest_pages_create(struct guest *g, struct err *err);
void guest_pages_destroy(struct guest *g);
void guest_pages_resume(struct guest *g);	/* somebody watches from now on */
/* What the core was told last of the page that holds the address, or NULL. */
struct told_page;
struct told_page *guest_pages_find(const struct guest *g, uint64_t addr);
/* The address is used next: the core is told of its page, unless it was already.  addr: with its tag. */
void guest_pages_ask(struct guest *g, uint64_t addr);
/* Nothing is to be told of the address, and all bytes are in one page. */
static inline bool guest_pages_used(const struct guest *g, uint64_t addr, unsigned bytes)
{
	return g->pages->recent[(addr >> 12) % GUEST_RECENT] == addr >> 12 && (addr & 4095) + bytes <= 4096;
}
static inline void guest_pages_use(struct guest *g, uint64_t addr, unsigned bytes)
{
	const uint64_t last = addr + (bytes ? bytes - 1 : 0);
	if (g->pages->recent[(addr >> 12) % GUEST_RECENT] != addr >> 12)
		guest_pages_ask(g, addr);
	if ((addr ^ last) >> 12 && g->pages->recent[(last >> 12) % GUEST_RECENT] != last >> 12)
		guest_pages_ask(g, last);
}
/* guest.c */
void guest_fail(struct guest *g);	/* g->failure says why */
void guest_run_path(struct guest *g, uint64_t next_ip);
uint64_t guest_tagged(const struct guest *g, uint64_t addr);
#endif
