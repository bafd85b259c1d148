/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of one guest processor's model; private to src/machine.
 */
#ifndef MACHINE_GUEST_INTERNAL_H
#define MACHINE_GUEST_INTERNAL_H
#include "machine/machine.h"
#include "machine/path.h"
#include "core/core.h"
#include "core/machine/config.h"

enum {
	GUEST_KEPT = 4096,	/* register files that are kept for PEBS, a power of two */
	/* A path has 32 instructions at most, and seldom takes a thousand cycles.  Behind NEAR, what the core has not
	 * yet handed over may hold the overflow. */
	STEP_INSNS = PATH_INSNS + 64, STEP_CYCLES = 2048, NEAR_INSNS = 4096, NEAR_CYCLES = 16384,
	GUEST_SPACES = 1 << 14,	/* address spaces that are told apart; later ones share the last tag */
};

struct guest {
	struct guest_emulator emulator;
	enum guest_timing timing;
	struct core_config config;
	struct spmu_model *model;
	struct spmu *pmu;
	struct isa *isa;
	struct path_store *paths;
	struct machine *machine;
	struct core *core;
	struct spmu_record *spare;	/* the buffer that the core gets next */

	bool watches, marked;
	bool failed;
	struct err failure;

	/* what is being executed */
	struct path path;
	struct guest_insn insn;
	bool begun;			/* an instruction has begun and is not complete */
	bool fuses;			/* it may fuse with the next */
	bool timed;			/* and it is one that the core times */
	bool rep_open;			/* the last path was a round of a REP instruction */
	unsigned cpl;			/* of the path, and of what the core has in flight: 0 or 3 */
	unsigned tag;			/* of the address space */
	uint64_t *space;		/* page tables by tag */
	unsigned spaces;

	/* what the PMU has seen */
	uint64_t given, consumed;	/* instructions that the core has got, that the PMU has got */
	uint64_t horizon;		/* no PMI before `given` reaches this, or the core's clock the next one */
	uint64_t horizon_cycle, watermark;	/* watermark: all before this cycle has been counted */
	bool near;			/* close to them, where the PMU gets all records */
	struct core_wanted wanted;	/* what the core hands over */
	bool keeps;			/* register files, for PEBS */
	struct spmu_registers *kept;	/* before instruction n: kept[n % GUEST_KEPT] */
	uint64_t kept_first, kept_next;	/* those that are there */
	uint64_t clock;			/* the core's cycle that the machine's clock has reached */
	uint64_t cycles_from;		/* the cycle since when the core has this privilege */
	struct guest_report report;
};

/* guest_pmu.c */
int  guest_pmu_create(struct guest *g, struct err *err);
struct spmu_record *guest_take_batch(void *context, const struct spmu_batch *b);
void guest_renew(struct guest *g);	/* after the PMU's registers may have changed, or it has seen more */
/* Everything that is complete has retired, and the PMU has seen it. */
void guest_settle(struct guest *g, uint64_t next_ip);
/* Passes on what is pending, and sets what the PMU gets from here on by how close the next overflow is. */
void guest_approach(struct guest *g);
/* How close it is: instructions are run one by one where it may come within a path. */
enum guest_closeness { GUEST_FAR, GUEST_NEAR, GUEST_STEPPING };
static inline enum guest_closeness guest_closeness(const struct guest *g)
{
	const uint64_t now = core_now(g->core);
	const uint64_t insns = g->horizon > g->given ? g->horizon - g->given : 0;
	const uint64_t cycles = g->horizon_cycle > now ? g->horizon_cycle - now : 0;
	return insns < STEP_INSNS || cycles < STEP_CYCLES ? GUEST_STEPPING :
		insns < NEAR_INSNS || cycles < NEAR_CYCLES ? GUEST_NEAR : GUEST_FAR;
}
/* guest.c */
void guest_run_path(struct guest *g, uint64_t next_ip);
uint64_t guest_tagged(const struct guest *g, uint64_t addr);
#endif
