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
	uint64_t horizon;		/* no PMI before `given` reaches this */
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
/* guest.c */
void guest_run_path(struct guest *g, uint64_t next_ip);
uint64_t guest_tagged(const struct guest *g, uint64_t addr);
#endif
