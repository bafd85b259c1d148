/* SPDX-License-Identifier: BSD-2-Clause
 * Debug store (DS) area, PEBS, branch trace store (BTS) and last branch records (LBR): what families and the engine call.
 *
 *   ds.c           registers, CPUID, the management area in guest memory, the buffers' bounds; BTS
 *   pebs.c         which counters sample, what an overflow does, load latency and front-end tags
 *   pebs_format.c  the bytes of a record, every format
 *   lbr_stack.c          branch records: LBR stacks and their MSRs
 *
 * A family (regs_*.c) has five calls to make:
 *   1. reset:        pmu_ds_reset(p), behind its own registers'.
 *   2. wrmsr, rdmsr: where its own MSRs end: `return pmu_ds_wrmsr(p, msr, value)`; SPMU_ENOMSR when the MSR is not of this file.
 *   3. DEBUGCTL (1D9H), which the family owns: bits allowed are pmu_ds_debugctl_bits(p) and its own; every change of the
 *      register, by WRMSR or by a freeze, is told by pmu_ds_debugctl(p, value).
 *   4. setup(i):     c->acts |= pmu_pebs_on(p, i)                     (architectural PEBS)
 *   5. acts(i, ...): changed |= pmu_pebs_acts(p, i, wrapped, fired, at)   first thing (architectural PEBS), or
 *                    pmu_pebs_sample(p, i, at) when its counter fires   (NetBurst)
 * and one hook to have: pmu_family.ds_pmi, called when a buffer reached its threshold.
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
	LBR_HASWELL,		/* and TSX flags, call stack */
	LBR_SKYLAKE,		/* 680H, 6C0H, DC0H: 32 with cycle counts; Skylake to Rocket Lake */
	LBR_ARCH,		/* 14CEH, 14CFH, 1200H, 1500H, 1600H: architectural */
};
enum { PMU_LBR_MAX = 32, PMU_RELOADS = 24 };

struct pmu_lbr_state {
	uint8_t  style;		/* enum pmu_lbr_style */
	uint8_t  depth, tos;
	uint8_t  timed;		/* `last` holds the cycle of the last recorded branch */
	uint64_t control;	/* LBR_SELECT, or IA32_LBR_CTL */
	uint64_t last;
	uint64_t from[PMU_LBR_MAX], to[PMU_LBR_MAX], info[PMU_LBR_MAX];	/* as the MSRs read; ARCH: entry 0 is the newest */
	uint64_t ler_from, ler_to, ler_info;
};

struct pmu_ds_state {
	uint64_t area;		/* IA32_DS_AREA */
	uint64_t misc;		/* IA32_MISC_ENABLE, what software wrote */
	uint64_t debugctl;	/* as last told */
	uint64_t enable;	/* IA32_PEBS_ENABLE; NetBurst's is the family's */
	uint64_t data_cfg, latency, frontend;
	uint64_t reload[PMU_RELOADS];	/* of counter i of the engine: MSR_RELOAD_x */
	uint32_t waiting;	/* counters that overflowed and sample at the next instruction, in a batch to come; */
	uint64_t waiting_since;	/* the first of them in this cycle */
	bool     watch;		/* branches go somewhere: pmu_ds_segment wants to see every record */
	bool     lbr_on, bts_on;
	uint64_t rip_at;	/* a record's RIP in memory that the next instruction will tell; 0: none */
	uint64_t rip_was;
	struct pmu_stretch {	/* of cycles with empty issue slots (MSR_PEBS_FRONTEND); begin = end: none yet */
		uint64_t begin, end, tagged;	/* tagged: for what came before this cycle an instruction has its tag */
		bool due;			/* one before this was long enough, and nothing was issued behind it yet */
	} open, closing;	/* as the batch before left it and as this one does */
	uint64_t batch;		/* whose tags were made last */
	struct pmu_lbr_state lbr;
};

/* ---- for families ------------------------------------------------------------------------------------------- */

/* Is this an IA32_PERF_CAPABILITIES that the model can do? */
bool pmu_ds_capable(uint64_t capabilities);
/* Registers as after power-up, the LBR style by family: LBR_P6, LBR_NETBURST16, or by IA32_PERF_CAPABILITIES and version.  A family
 * that knows better calls pmu_lbr_style behind it (NetBurst models 0 to 2: LBR_NETBURST4). */
void pmu_ds_reset(struct spmu *p);
void pmu_lbr_style(struct spmu *p, enum pmu_lbr_style style);

/* All families: IA32_DS_AREA (600H) and IA32_MISC_ENABLE (1A0H) where the family has them (not P5, P6), the MSRs of its LBR style.
 * Architectural: IA32_PEBS_ENABLE (3F1H), MSR_PEBS_DATA_CFG (3F2H), MSR_PEBS_LD_LAT_THRESHOLD (3F6H), MSR_PEBS_FRONTEND (3F7H), MSR_RELOAD_*.
 * NetBurst's 3F0H, 3F1H and 3F2H are the family's own.  SPMU_OK, SPMU_GP, SPMU_ENOMSR (not mine, or not on this model), SPMU_ENOMEM. */
int  pmu_ds_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  pmu_ds_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);

/* Bits of DEBUGCTL that exist for LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR and FREEZE_LBRS_ON_PMI (bit 11; what it
 * does is pmu_lbr_pmi) in this family's layout. */
uint64_t pmu_ds_debugctl_bits(const struct spmu *p);
void pmu_ds_debugctl(struct spmu *p, uint64_t value);

/* A PMI's condition has arisen (where counters freeze, too): with FREEZE_LBRS_ON_PMI the LBR stack stops: from version 4 on LBR_Frz
 * (status bit 58) is set, before DEBUGCTL.LBR is cleared, in p->arch.  Nothing on other families. */
void pmu_lbr_pmi(struct spmu *p);

/* Architectural PEBS.  Counter i (of the engine) samples: it must act. */
bool pmu_pebs_on(const struct spmu *p, unsigned i);
/* Counter i wrapped and/or fired: arms it, or writes its record, reloads it and clears its overflow bit (p->arch.status).  True as
 * pmu_family.acts: the plan must be made anew (ds_pmi said so).  The family then goes on as without PEBS: if `wrapped`, and
 * the counter's INT bit is set, a PMI is due for the overflow itself. */
bool pmu_pebs_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at);
/* Overflow bits have been set by IA32_PERF_GLOBAL_STATUS_SET: a counter of an imprecise event that samples does so at the next opportunity. */
void pmu_pebs_status_set(struct spmu *p, uint64_t bits);
/* What general-purpose counter i counts: its row's expression; NULL, nothing: no row, or loads above a latency, or precise stores, while PEBS does not
 * watch them. */
const struct pmu_expr *pmu_pebs_expr(const struct spmu *p, unsigned i);
/* pmu_family.tag of the architectural family. */
void pmu_pebs_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag);

/* Any family.  Writes counter i's record of the uop at->record (at->next's, when no uop did it) into the PEBS buffer and reloads
 * counter i from the management area.  NetBurst calls this when its armed PEBS counter (16; 17 for T1) fires, the tagged uop being
 * at->record; state is that before the instruction.  Format by family: NetBurst 40 bytes, with spmu_host.mode64 144.
 * Calls pmu_family.ds_pmi if the buffer reached its threshold and returns what that returned.  *written (may be NULL): a record was
 * written; if not, the buffer was full, absent or faulted, and the counter is not reloaded. */
bool pmu_pebs_sample(struct spmu *p, unsigned i, const struct pmu_moment *at, bool *written);

/* p->ds comes from outside (spmu_restore): refuses what no WRMSR could have written, makes anew what follows from the rest.  SPMU_OK or
 * SPMU_EINPUT. */
int  pmu_ds_restored(struct spmu *p);

/* ---- for the engine ----------------------------------------------------------------------------------------- */

/* With p->ds.watch: records [from, to) of the batch have retired. */
void pmu_ds_segment(struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t to);
/* First record in [from, count) at which a BTS interrupt arises; count: none. */
uint32_t pmu_bts_due(const struct spmu *p, const struct spmu_batch *b, uint32_t from);
bool pmu_bts_reached(const struct spmu *p);	/* the record has been written: the index stands at the threshold or behind it */
/* A batch begins. */
void pmu_ds_begin(struct spmu *p, const struct spmu_batch *b);
/* An interrupt is taken: the last-exception registers. */
void pmu_lbr_interrupt(struct spmu *p);

/* ---- between these files ------------------------------------------------------------------------------------ */

bool pmu_ds_memory(const struct spmu *p);	/* the host has given memory, and the family has a DS area */
bool pmu_ds_wide(const struct spmu *p);		/* 64-bit management area and records */
/* A buffer's four pointers in the management area; which: 0 BTS, 1 PEBS.  False: a fault. */
struct pmu_ds_buffer { uint64_t base, index, maximum, threshold; };
bool pmu_ds_buffer(const struct spmu *p, unsigned which, struct pmu_ds_buffer *out);
bool pmu_ds_set_index(const struct spmu *p, unsigned which, uint64_t index);
/* Is there room for so many bytes at the index? */
bool pmu_ds_room(const struct pmu_ds_buffer *b, size_t bytes);
bool pmu_ds_counter_reset(const struct spmu *p, unsigned i, uint64_t *value);	/* from the area or the reload MSR */
/* A branch that went somewhere: recorded by LBR and BTS. */
bool pmu_ds_taken(const struct spmu *p, const struct spmu_record *r);

enum { PEBS_NONE = -1 };
enum { PEBS_BASIC = 0x20, PEBS_MEMINFO = 0x20, PEBS_GPRS = 0x90, PEBS_XMMS = 0x100, PEBS_LBR = 0x18,
	PEBS_RECORD_MAX = PEBS_BASIC + PEBS_MEMINFO + PEBS_GPRS + PEBS_XMMS + 256 * PEBS_LBR };
int  pmu_pebs_format(const struct spmu *p);		/* IA32_PERF_CAPABILITIES[11:8]; 0 for NetBurst; PEBS_NONE */
uint64_t pmu_pebs_enable_bits(const struct spmu *p);	/* those of IA32_PEBS_ENABLE that exist */
bool pmu_pebs_to_trace(const struct spmu *p);		/* records go into the trace, not into the DS buffer */
/* Counter i's event is a load latency (or, with 63, precise store) one, and switched on. */
enum pmu_pebs_extra { EXTRA_NONE, EXTRA_LATENCY, EXTRA_STORE, EXTRA_FRONTEND, PMU_EXTRAS };
enum pmu_pebs_extra pmu_pebs_extra(const struct spmu *p, unsigned i);
/* MSR_PEBS_FRONTEND names an event that the model has, with PEBS records of this format. */
bool pmu_frontend_known(unsigned format, uint64_t value);
/* First uop, at or behind record `from`, of an instruction that retires in this thread (NetBurst, whose counters see two: in any); count if
 * the batch has none. */
uint32_t pmu_pebs_next(const struct spmu *p, const struct spmu_batch *b, uint32_t from);
/* The record's bytes; *rip: offset of its RIP if only the next instruction tells it, else 0.  Returns the length. */
size_t pmu_pebs_bytes(struct spmu *p, unsigned i, const struct pmu_moment *at, uint8_t out[PEBS_RECORD_MAX], size_t *rip);

bool pmu_lbr_valid(const struct spmu *p);	/* could WRMSR have made the stack's state? */
void pmu_lbr_branch(struct spmu *p, const struct spmu_batch *b, uint32_t record);
int  pmu_lbr_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  pmu_lbr_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
/* The k-th newest entry: from, to, info (0 where the stack has none).  False: the stack is not so deep. */
bool pmu_lbr_newest(const struct spmu *p, unsigned k, uint64_t out[3]);
void pmu_bts_segment(struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t to);
bool pmu_bts_interrupts(const struct spmu *p);		/* BTS is on, with BTINT */
#endif
