/* SPDX-License-Identifier: BSD-2-Clause
 * Debug store (DS) area, PEBS, branch trace store (BTS) and last branch records (LBR): what families and the
 * engine call.
 *
 *   ds.c           registers, CPUID, the management area in guest memory, the buffers' bounds; BTS
 *   pebs.c         which counters sample, what an overflow does, load latency and front-end tags
 *   pebs_format.c  the bytes of a record, every format
 *   lbr_stack.c    branch records: LBR stacks and their MSRs
 *
 * A family (regs_*.c) must make these calls:
 *   1. reset:        pmu_ds_reset(p), after the reset of its own registers.
 *   2. wrmsr, rdmsr: for MSRs that are not its own, `return pmu_ds_wrmsr(p, msr, value)`.
 *   3. DEBUGCTL (1D9H), which the family owns: pmu_ds_debugctl_bits(p) are allowed beside its own bits; it calls
 *      pmu_ds_debugctl(p, value) after every change of the register, by WRMSR or by a freeze.
 *   4. setup(i):     c->acts |= pmu_pebs_on(p, i)                     (architectural PEBS)
 *   5. acts(i, ...): changed |= pmu_pebs_acts(p, i, wrapped, fired, at)   first of all (architectural PEBS), or
 *                    pmu_pebs_sample(p, i, at) when its counter fires   (NetBurst)
 * It must also have pmu_family.ds_pmi, which is called when a buffer has reached its threshold.
 */
#ifndef PMU_DS_H
#define PMU_DS_H
#include "softpmu/pmu.h"

struct pmu_counter;
struct pmu_moment;
struct pmu_expr;

enum pmu_lbr_style {
	LBR_NONE,
	LBR_P6,			/* 1DBH-1DEH: last branch, and last branch before an interrupt */
	LBR_NETBURST4,		/* 1DBH-1DEH: 4 pairs; NetBurst models 0 to 2 */
	LBR_NETBURST16,		/* 680H, 6C0H: 16; NetBurst from model 3 on */
	LBR_YONAH,		/* 40H-47H: 8 pairs of 32 bits */
	LBR_CORE2,		/* 40H, 60H: 4 */
	LBR_BONNELL,		/* 40H, 60H: 8 */
	LBR_NEHALEM,		/* 680H, 6C0H: 16, mispredict flag, LBR_SELECT; Nehalem to Ivy Bridge */
	LBR_HASWELL,		/* as LBR_NEHALEM, with TSX flags and call stack */
	LBR_SKYLAKE,		/* 680H, 6C0H, DC0H: 32 with cycle counts; Skylake to Rocket Lake */
	LBR_ARCH,		/* 14CEH, 14CFH, 1200H, 1500H, 1600H: architectural */
};
enum { PMU_LBR_MAX = 32, PMU_RELOADS = 24 };

struct pmu_lbr_state {
	uint8_t  style;		/* enum pmu_lbr_style */
	uint8_t  depth, tos;
	uint8_t  timed;		/* `last` holds the cycle of the last recorded branch */
	uint64_t control;	/* LBR_SELECT, or IA32_LBR_CTL */
	uint64_t last;		/* see timed */
	/* as the MSRs read; ARCH: entry 0 is the newest */
	uint64_t from[PMU_LBR_MAX], to[PMU_LBR_MAX], info[PMU_LBR_MAX];
	uint64_t ler_from, ler_to, ler_info;
};

struct pmu_ds_state {
	uint64_t area;		/* IA32_DS_AREA */
	uint64_t misc;		/* IA32_MISC_ENABLE, as software wrote it */
	uint64_t debugctl;	/* as the family last passed it to pmu_ds_debugctl */
	uint64_t enable;	/* IA32_PEBS_ENABLE; NetBurst's is the family's */
	uint64_t data_cfg, latency, frontend;
	uint64_t reload[PMU_RELOADS];	/* MSR_RELOAD_x, by the engine's number of the counter */
	uint32_t waiting;	/* counters that overflowed and sample at the next instruction, in a later batch; */
	uint64_t waiting_since;	/* the first of them overflowed in this cycle */
	bool     watch;		/* branches are recorded: pmu_ds_segment must see every record */
	bool     lbr_on, bts_on;
	/* Address of a written record's RIP that only the next instruction gives (0: none), and what is written
	 * there. */
	uint64_t rip_at;
	uint64_t rip_was;
	struct pmu_stretch {	/* of cycles with empty issue slots (MSR_PEBS_FRONTEND); begin = end: none yet */
		/* tagged: the part of the stretch before this cycle has given an instruction its tag. */
		uint64_t begin, end, tagged;
		/* An earlier stretch was long enough, and nothing has been issued after it yet. */
		bool due;
	} open, closing;	/* as the previous batch left it, and as the current one does */
	uint64_t batch;		/* number of the batch whose tags were made last */
	struct pmu_lbr_state lbr;
};

/* ---- for families ------------------------------------------------------------------------------------------- */

/* Can the model do everything that this IA32_PERF_CAPABILITIES says? */
bool pmu_ds_capable(uint64_t capabilities);
/* Sets the registers as after power-up, and the LBR style by the family: LBR_P6, LBR_NETBURST16, or by
 * IA32_PERF_CAPABILITIES and version.  A family with another style calls pmu_lbr_style afterwards (NetBurst
 * models 0 to 2: LBR_NETBURST4). */
void pmu_ds_reset(struct spmu *p);
void pmu_lbr_style(struct spmu *p, enum pmu_lbr_style style);

/* All families: IA32_DS_AREA (600H) and IA32_MISC_ENABLE (1A0H) where the family has them (not P5, P6), the
 * MSRs of its LBR style.  Architectural: IA32_PEBS_ENABLE (3F1H), MSR_PEBS_DATA_CFG (3F2H),
 * MSR_PEBS_LD_LAT_THRESHOLD (3F6H), MSR_PEBS_FRONTEND (3F7H), MSR_RELOAD_*.  NetBurst's 3F0H, 3F1H and 3F2H are
 * the family's own.  SPMU_OK, SPMU_GP, SPMU_ENOMEM; SPMU_ENOMSR: no register of these files, or not on this
 * model. */
int  pmu_ds_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  pmu_ds_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);

/* Bits of DEBUGCTL that exist for LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR and FREEZE_LBRS_ON_PMI (bit
 * 11; see pmu_lbr_pmi), in this family's layout. */
uint64_t pmu_ds_debugctl_bits(const struct spmu *p);
void pmu_ds_debugctl(struct spmu *p, uint64_t value);

/* Call it when a PMI is requested, where counters freeze, too.  With FREEZE_LBRS_ON_PMI the LBR stack stops:
 * from version 4 on this sets LBR_Frz (status bit 58), before it clears DEBUGCTL.LBR, in p->arch.  Does nothing
 * on other families. */
void pmu_lbr_pmi(struct spmu *p);

/* Architectural PEBS.  Counter i (the engine's number) samples, so it must have `acts`. */
bool pmu_pebs_on(const struct spmu *p, unsigned i);
/* Counter i wrapped, fired, or both: arms it; or writes its record, reloads it and clears its overflow bit
 * (p->arch.status).  Returns true as pmu_family.acts does: the plan must be made again (ds_pmi said so).  The
 * family then goes on as without PEBS: if `wrapped`, and the counter's INT bit is set, it requests a PMI for
 * the overflow itself. */
bool pmu_pebs_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at);
/* IA32_PERF_GLOBAL_STATUS_SET has set these overflow bits: a counter that samples an imprecise event does so at
 * the next instruction. */
void pmu_pebs_status_set(struct spmu *p, uint64_t bits);
/* The expression that general-purpose counter i counts.  NULL, nothing: its event has no row; or it counts
 * loads above a latency, or precise stores, and PEBS does not watch them. */
const struct pmu_expr *pmu_pebs_expr(const struct spmu *p, unsigned i);
/* pmu_family.tag of the architectural family: tag(0), tag(1) and tag(2) of event tables. */
enum { TAG_LATENCY = 1, TAG_FRONTEND = 2, TAG_LBR = 4 };
void pmu_pebs_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag);

/* Any family.  Writes counter i's record of the uop at->record (of the uop at->next, if no uop caused it) into
 * the PEBS buffer and reloads counter i from the management area.  NetBurst calls this when its armed PEBS
 * counter (16; 17 for T1) fires, with the tagged uop as at->record; the record's state is that before the
 * instruction.  A NetBurst record has 40 bytes, or 144 with spmu_host.mode64.  Calls pmu_family.ds_pmi if the
 * buffer has reached its threshold, and returns what that returned.  *written (may be NULL): a record was
 * written; if not, the buffer was full, absent or faulted, and the counter is not reloaded. */
bool pmu_pebs_sample(struct spmu *p, unsigned i, const struct pmu_moment *at, bool *written);

/* Call it when p->ds comes from outside (spmu_restore).  Refuses values that no WRMSR could have written, and
 * recomputes what follows from the registers.  SPMU_OK or SPMU_EINPUT. */
int  pmu_ds_restored(struct spmu *p);

/* ---- for the engine ----------------------------------------------------------------------------------------- */

/* Call it with p->watching when records [from, to) of the batch have retired. */
void pmu_ds_segment(struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t to);
/* First record in [from, count) at which a BTS interrupt arises, and the thread whose it is; count: none. */
uint32_t pmu_bts_due(struct spmu *p, const struct spmu_batch *b, uint32_t from, unsigned *thread);
/* After the record has been written: the BTS index of the thread that executes is at or above the threshold. */
bool pmu_bts_reached(const struct spmu *p);
/* Call it at the beginning of a batch. */
void pmu_ds_begin(struct spmu *p, const struct spmu_batch *b);
/* Call it when an interrupt is taken: sets the last-exception registers. */
void pmu_lbr_interrupt(struct spmu *p);

/* ---- between these files ------------------------------------------------------------------------------------ */

bool pmu_ds_memory(const struct spmu *p);	/* the host has given memory, and the family has a DS area */
bool pmu_ds_wide(const struct spmu *p);		/* 64-bit management area and records */
/* A buffer's four pointers in the management area; which: 0 BTS, 1 PEBS.  False: a fault. */
struct pmu_ds_buffer { uint64_t base, index, maximum, threshold; };
bool pmu_ds_buffer(const struct spmu *p, unsigned which, struct pmu_ds_buffer *out);
bool pmu_ds_set_index(const struct spmu *p, unsigned which, uint64_t index);
/* Is there room for `bytes` bytes at the index? */
bool pmu_ds_room(const struct pmu_ds_buffer *b, size_t bytes);
/* The value with which PEBS reloads counter i, from the management area or the reload MSR.  False: a fault. */
bool pmu_ds_counter_reset(const struct spmu *p, unsigned i, uint64_t *value);
/* Is this a retired, taken branch of the PMU's thread, such as LBR and BTS record? */
bool pmu_ds_taken(const struct spmu *p, const struct spmu_record *r);

enum { PEBS_NONE = -1 };
enum { PEBS_BASIC = 0x20, PEBS_MEMINFO = 0x20, PEBS_GPRS = 0x90, PEBS_XMMS = 0x100, PEBS_LBR = 0x18,
	PEBS_RECORD_MAX = PEBS_BASIC + PEBS_MEMINFO + PEBS_GPRS + PEBS_XMMS + 256 * PEBS_LBR };
int  pmu_pebs_format(const struct spmu *p);		/* IA32_PERF_CAPABILITIES[11:8]; 0 for NetBurst; PEBS_NONE */
uint64_t pmu_pebs_enable_bits(const struct spmu *p);	/* the bits of IA32_PEBS_ENABLE that exist */
bool pmu_pebs_to_trace(const struct spmu *p);		/* records go into the trace, not into the DS buffer */
/* Whether counter i counts a load latency, precise store or front-end event that is switched on. */
enum pmu_pebs_extra { EXTRA_NONE, EXTRA_LATENCY, EXTRA_STORE, EXTRA_FRONTEND, PMU_EXTRAS };
enum pmu_pebs_extra pmu_pebs_extra(const struct spmu *p, unsigned i);
/* Does the model have the event that this MSR_PEBS_FRONTEND value names, on a machine with this PEBS record
 * format? */
bool pmu_frontend_known(unsigned format, uint64_t value);
/* First uop at or after record `from` that begins an instruction which retires in this thread (NetBurst, whose
 * counters see two threads: in any); b->count if the batch has none. */
uint32_t pmu_pebs_next(const struct spmu *p, const struct spmu_batch *b, uint32_t from);
/* Writes the record's bytes and returns their number.  *rip: offset of its RIP if only the next instruction
 * gives it, else 0. */
size_t pmu_pebs_bytes(struct spmu *p, unsigned i, const struct pmu_moment *at, uint8_t out[PEBS_RECORD_MAX],
	size_t *rip);

bool pmu_lbr_valid(const struct spmu *p);	/* WRMSRs can write the stack's state */
/* Adds TAG_LBR to the branches that change the stack as it is set up now. */
void pmu_lbr_tag(const struct spmu *p, const struct spmu_batch *b, uint16_t *tag);
void pmu_lbr_branch(struct spmu *p, const struct spmu_batch *b, uint32_t record);
int  pmu_lbr_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  pmu_lbr_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
/* The k-th newest entry: from, to, info (0 where the stack has none).  False: the stack has no entry k. */
bool pmu_lbr_newest(const struct spmu *p, unsigned k, uint64_t out[3]);
#endif
