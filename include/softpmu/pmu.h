/* SPDX-License-Identifier: BSD-2-Clause
 * A performance monitoring unit at register level, to embed.
 *
 * Index spaces, never mixed: `msr` is an MSR address (ECX of RDMSR), `rdpmc_idx` is ECX of RDPMC,
 * `pmc` is the number of a general-purpose counter, from 0.
 *
 * Nothing here prints, exits, aborts or keeps global state.  All memory comes from malloc at creation (and
 * when a counter is programmed); steady state allocates nothing.
 */
#ifndef SOFTPMU_PMU_H
#define SOFTPMU_PMU_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>

enum spmu_status {
	SPMU_OK = 0,
	SPMU_GP = -1,		/* the hardware would raise #GP(0); state unchanged */
	SPMU_ENOMSR = -2,	/* this model has no such MSR (hardware: #GP(0) as well) */
	SPMU_ENOMEM = -3,
	SPMU_EINPUT = -4,	/* malformed event table */
};

struct spmu_model;		/* an event table and the PMU's shape; immutable, shareable */
struct spmu;			/* one PMU of one logical processor */

/* Where an interrupted instruction stands. */
struct spmu_pmi {
	uint64_t cycle;		/* at which the interrupt is taken */
	uint64_t overflow_cycle;/* of the first overflow that raised it */
	uint64_t ip;		/* address of the first instruction not retired when it is taken */
	uint64_t status;	/* IA32_PERF_GLOBAL_STATUS at that moment */
	uint32_t record;	/* index in the batch of that instruction's first uop; batch->count: the end of the stream
				 * (`ip` is then the last instruction's: nothing comes after it) */
	uint32_t behind;	/* 0; n: the instruction named by `ip` is the n-th before `record` and lay in an earlier
				 * batch (an event that is not counted at retirement overflowed before this batch's
				 * first record retired); registers written now take effect from `record` on */
};

struct spmu_host {
	void *context;
	/* A PMI is taken.  The handler may use every register function of this PMU (reload a counter, clear
	 * status); counting goes on behind `pmi->record`.  NULL: PMIs are lost. */
	void (*pmi)(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch);
	uint32_t pmi_latency;	/* cycles from overflow to the interrupt's arrival at the core */
};

/* Events */
enum spmu_event_flags {
	SPMU_EVENT_NOT_MODELLED = 1,	/* exists on the machine; this model cannot produce it */
	SPMU_EVENT_PRECISE = 2,		/* PEBS-capable on the machine */
	SPMU_EVENT_SPECULATIVE = 4,	/* counts speculative work too */
	SPMU_EVENT_FIXED = 8,		/* has a fixed counter: `fixed` says which */
	SPMU_EVENT_FIXED_ONLY = 16,
	SPMU_EVENT_DEPRECATED = 32,
};
struct spmu_event {		/* one row of the table */
	const char *name;	/* "MEM_LOAD_RETIRED.L1_MISS" */
	const char *help;
	const char *perf_alias;	/* perf's generic name(s), comma-separated ("instructions"), or "" */
	const char *not_modelled; /* why, or "" */
	uint32_t flags;
	uint8_t  event, umask, cmask, inv, edge, any;
	int8_t   fixed;		/* fixed counter, -1 none */
	uint32_t pmc_mask;	/* general-purpose counters that can count it */
};

/* Reads data/events/NAME.tsv.  On failure *out is untouched and `text` (text_bytes long) says why, with the line. */
int  spmu_model_load(struct spmu_model **out, const char *path, char *text, size_t text_bytes);
void spmu_model_free(struct spmu_model *m);
size_t spmu_model_events(const struct spmu_model *m);
const struct spmu_event *spmu_model_event(const struct spmu_model *m, size_t index);
/* By name, else by one of perf's aliases; case-insensitive, '.' and ':' alike; NULL if there is none. */
const struct spmu_event *spmu_model_find(const struct spmu_model *m, const char *name);
/* By the low 16 bits of PERFEVTSEL plus cmask, inv, edge where the table tells events apart by them; NULL if this machine (or this model) has none. */
const struct spmu_event *spmu_model_find_code(const struct spmu_model *m, uint64_t perfevtsel);
/* The signals (set of enum spmu_signal) that must reach the PMU for this event to count, whatever modifiers it is
 * programmed with; what else a core raises may be dropped at the source. */
void spmu_event_signals(const struct spmu_model *m, const struct spmu_event *event, uint64_t set[2]);
/* Likewise the uop records: adds bits to *is and *did (sets of enum spmu_is, spmu_did) so that every uop the event may count has
 * one of them.  A session that samples needs all records, whatever this says.  plain: the event is programmed without CMASK,
 * INV and EDGE; retired instructions are then taken from spmu_batch.instructions and need no record. */
void spmu_event_uops(const struct spmu_model *m, const struct spmu_event *event, int plain, uint64_t *is, uint64_t *did);
/* Shape. */
unsigned spmu_model_version(const struct spmu_model *m);	/* architectural perfmon version */
unsigned spmu_model_gp_counters(const struct spmu_model *m);
unsigned spmu_model_fixed_counters(const struct spmu_model *m);
unsigned spmu_model_slots(const struct spmu_model *m);		/* issue slots a cycle, for TOPDOWN.SLOTS */

int  spmu_create(struct spmu **out, const struct spmu_model *m, const struct spmu_host *host);
void spmu_destroy(struct spmu *p);

/* As WRMSR and RDMSR would do at CPL 0.  Source: SDM vol. 3B, chapter "Performance Monitoring". */
int  spmu_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  spmu_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
/* As RDPMC at the given CPL with CR4.PCE as set; SPMU_GP for a bad index. */
int  spmu_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, unsigned cpl, uint64_t *value);
void spmu_set_cr4_pce(struct spmu *p, bool pce);
/* CPUID leaf 0AH: registers EAX, EBX, ECX, EDX. */
void spmu_cpuid_0a(const struct spmu *p, uint32_t regs[4]);
/* Count a batch. */
void spmu_consume(struct spmu *p, const struct spmu_batch *batch);

/* MSR addresses used by the architectural PMU */
enum {
	MSR_IA32_PMC0 = 0xC1, MSR_IA32_PERFEVTSEL0 = 0x186, MSR_IA32_A_PMC0 = 0x4C1,
	MSR_IA32_FIXED_CTR0 = 0x309, MSR_PERF_METRICS = 0x329, MSR_IA32_PERF_CAPABILITIES = 0x345,
	MSR_IA32_FIXED_CTR_CTRL = 0x38D, MSR_IA32_PERF_GLOBAL_STATUS = 0x38E, MSR_IA32_PERF_GLOBAL_CTRL = 0x38F,
	MSR_IA32_PERF_GLOBAL_STATUS_RESET = 0x390, MSR_IA32_PERF_GLOBAL_STATUS_SET = 0x391,
	MSR_IA32_PERF_GLOBAL_INUSE = 0x392, MSR_IA32_DEBUGCTL = 0x1D9,
};
/* Fields of IA32_PERFEVTSELx */
#define SPMU_EVTSEL_USR   (UINT64_C(1) << 16)
#define SPMU_EVTSEL_OS    (UINT64_C(1) << 17)
#define SPMU_EVTSEL_EDGE  (UINT64_C(1) << 18)
#define SPMU_EVTSEL_PC    (UINT64_C(1) << 19)
#define SPMU_EVTSEL_INT   (UINT64_C(1) << 20)
#define SPMU_EVTSEL_ANY   (UINT64_C(1) << 21)
#define SPMU_EVTSEL_EN    (UINT64_C(1) << 22)
#define SPMU_EVTSEL_INV   (UINT64_C(1) << 23)
#define SPMU_EVTSEL_CMASK(v) ((uint64_t)(uint8_t)(v) << 24)
#endif
