/* SPDX-License-Identifier: BSD-2-Clause
 * The performance monitoring unit of the uncore at register level, to embed: counters in the L3's slices, in the unit in front of
 * memory and in the memory controllers.  One of a package; the cores' own PMUs are pmu.h's.
 *
 *   client   C-Boxes, ARB, a fixed clock counter (MSRs); free-running counters of the memory controller (memory-mapped).
 *            Sandy Bridge to Skylake.  Source: SDM vol. 3B, "Uncore Performance Monitoring Facility" of the 2nd generation Core; vol. 4,
 *            tables of uncore MSRs of the 2nd, 4th and 6th generation.
 *   server   CHA boxes (MSRs) and a box for each memory channel (memory-mapped), free-running counters of each memory controller.
 *            Sapphire Rapids.  Source: Uncore Performance Monitoring Reference Manual of the 3rd and 4th generation Xeon Scalable;
 *            addresses also in Linux, arch/x86/events/intel/uncore_discovery.h and uncore_snbep.c.
 *
 * What it counts are signals (record.h) that carry the number of their slice or channel and what was found there.
 * Nothing here prints, exits, aborts or keeps global state.  Status codes are pmu.h's.
 */
#ifndef SOFTPMU_UNCORE_H
#define SOFTPMU_UNCORE_H
#include "softpmu/pmu.h"
#ifdef __cplusplus
extern "C" {
#endif

struct spmu_uncore_model;	/* a table of events and the shape of the units; immutable, shareable */
struct spmu_uncore;		/* the uncore PMU of one package */

enum { SPMU_UNCORE_SLICES = 64, SPMU_UNCORE_CHANNELS = 16, SPMU_UNCORE_COUNTERS = 5 };	/* most boxes of a kind; counters of a box */

enum spmu_uncore_boxes {
	SPMU_BOX_SLICE,		/* one for each slice of the L3 */
	SPMU_BOX_PACKAGE,	/* one */
	SPMU_BOX_CHANNEL,	/* one for each memory channel */
	SPMU_BOX_CONTROLLER,	/* one for each memory controller, which has two channels */
};

struct spmu_uncore_unit {	/* a kind of box */
	const char *name;	/* as in perf's names of PMUs: "cbox" of uncore_cbox_0 */
	enum spmu_uncore_boxes boxes;
	uint8_t counters;	/* of a box */
	uint8_t bits;		/* of a counter */
	bool    programmable;	/* counters have a control register; else counter n counts the event with code n, always or (clock) when enabled */
};

struct spmu_uncore_event {
	const char *name;	/* "UNC_CBO_CACHE_LOOKUP.ANY_MESI" */
	const char *alias;	/* name below perf's PMU: "clockticks" of uncore_cbox/clockticks/, or "" */
	const char *help;
	const char *not_modelled; /* why, or "" */
	const char *scale_unit;	/* "MiB": what a count times `scale` is; "" none */
	double   scale;		/* 1 if there is none */
	uint8_t  unit;		/* spmu_uncore_unit's index */
	uint8_t  event, cmask;
	uint8_t  counters;	/* set of counters that can count it */
	uint32_t umask;		/* server: with its extension (bits 57:32 of the control register) from bit 8 up */
};

/* Reads data/events/uncore-NAME.tsv, described in uncore_table.c.  On failure *out is untouched and `text` says why, with the line. */
int  spmu_uncore_load(struct spmu_uncore_model **out, const char *path, char *text, size_t text_bytes);
void spmu_uncore_free(struct spmu_uncore_model *m);
size_t spmu_uncore_units(const struct spmu_uncore_model *m);
const struct spmu_uncore_unit *spmu_uncore_unit(const struct spmu_uncore_model *m, size_t index);
size_t spmu_uncore_events(const struct spmu_uncore_model *m);
const struct spmu_uncore_event *spmu_uncore_event(const struct spmu_uncore_model *m, size_t index);
/* By name; case-insensitive, '.' and ':' alike; NULL if there is none. */
const struct spmu_uncore_event *spmu_uncore_find(const struct spmu_uncore_model *m, const char *name);
/* What a unit counts with this event and unit mask.  *modelled: bits of the mask that ask for what the model does not produce are not among
 * those set, and what is asked for is all produced; set: signals (enum spmu_signal) that must reach the PMU.  False: no such event. */
bool spmu_uncore_detects(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask, bool *modelled, uint64_t set[2]);
bool spmu_uncore_server(const struct spmu_uncore_model *m);

struct spmu_uncore_host {
	void *context;
	uint32_t slices, channels;	/* of the package: 1 to SPMU_UNCORE_SLICES, SPMU_UNCORE_CHANNELS */
	uint64_t core_hz;	/* cycles a second of the batches */
	/* A counter whose overflow is forwarded wrapped.  cores: set of those that MSR_UNC_PERF_GLOBAL_CTRL selects for the interrupt (server: all);
	 * whether one takes it, its IA32_DEBUGCTL[13] says.  The handler may use every register function.  NULL: lost. */
	void (*pmi)(void *context, struct spmu_uncore *u, uint64_t cores);
};

/* SPMU_EINPUT: a host with more boxes than there can be, or with none. */
int  spmu_uncore_create(struct spmu_uncore **out, const struct spmu_uncore_model *m, const struct spmu_uncore_host *host);
void spmu_uncore_destroy(struct spmu_uncore *u);

/* As WRMSR and RDMSR at CPL 0.  SPMU_ENOMSR: not the uncore PMU's. */
int  spmu_uncore_wrmsr(struct spmu_uncore *u, uint32_t msr, uint64_t value);
int  spmu_uncore_rdmsr(const struct spmu_uncore *u, uint32_t msr, uint64_t *value);
/* Memory-mapped registers of memory controller `controller` (client: 0): `offset` from the base that PCI configuration space gives
 * (client: MCHBAR; server: the controller's MEM_BAR).  bytes: 4, or 8 for counters.  SPMU_ENOMSR: nothing of the PMU's there; SPMU_GP: a width or
 * alignment that the register does not have.  Reserved bits are ignored when written and read as 0. */
int  spmu_uncore_mmio_write(struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes, uint64_t value);
int  spmu_uncore_mmio_read(const struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes, uint64_t *value);

/* A core from which batches come; returns a number for spmu_uncore_consume, or SPMU_ENOMEM.  Numbers of cores that have left are given anew. */
int  spmu_uncore_attach(struct spmu_uncore *u, unsigned core);
/* Batches of different cores need not come in the order of time.  Plain counts are exact all the same; thresholds, edges and inversion are
 * evaluated per uncore clock when all attached cores have passed it (a core is out of it from a batch with is_last to its next). */
void spmu_uncore_consume(struct spmu_uncore *u, int source, const struct spmu_batch *b);
void spmu_uncore_detach(struct spmu_uncore *u, int source);

/* Client.  C-Box n's registers lie 10H * n higher.  The global control register is MSR_UNC_PERF_GLOBAL_CTRL on Sandy Bridge to Broadwell,
 * MSR_UNC_PERF_GLOBAL_CTRL_SKL from Skylake on; the status is the one behind it. */
enum {
	MSR_UNC_PERF_GLOBAL_CTRL = 0x391, MSR_UNC_PERF_GLOBAL_STATUS = 0x392, MSR_UNC_PERF_FIXED_CTRL = 0x394, MSR_UNC_PERF_FIXED_CTR = 0x395,
	MSR_UNC_CBO_CONFIG = 0x396, MSR_UNC_ARB_PERFCTR0 = 0x3B0, MSR_UNC_ARB_PERFEVTSEL0 = 0x3B2, MSR_UNC_CBO_0_PERFEVTSEL0 = 0x700,
	MSR_UNC_CBO_0_UNIT_STATUS = 0x705, MSR_UNC_CBO_0_PERFCTR0 = 0x706, MSR_UNC_PERF_GLOBAL_CTRL_SKL = 0xE01,
	MMIO_UNC_GT_REQUESTS = 0x5040, MMIO_UNC_IA_REQUESTS = 0x5044, MMIO_UNC_IO_REQUESTS = 0x5048,
	MMIO_UNC_DATA_READS = 0x5050, MMIO_UNC_DATA_WRITES = 0x5054,
};
#define SPMU_UNC_GLOBAL_EN     (UINT64_C(1) << 29)
#define SPMU_UNC_GLOBAL_WAKE   (UINT64_C(1) << 30)
#define SPMU_UNC_GLOBAL_FREEZE (UINT64_C(1) << 31)
/* Server.  CHA n's registers lie 10H * n higher.  Channel n of a controller: 8000H * n higher. */
enum {
	MSR_UNC_CHA_0_BOX_CTL = 0x2000, MSR_UNC_CHA_0_BOX_STATUS = 0x2001, MSR_UNC_CHA_0_CTL0 = 0x2002, MSR_UNC_CHA_0_CTR0 = 0x2008,
	MSR_UNC_CHA_0_FILTER0 = 0x200E, MSR_UNC_PMON_GLOBAL_CTL = 0x2FF0,
	MMIO_UNC_IMC_0_BOX_CTL = 0x22800, MMIO_UNC_IMC_0_CTR0 = 0x22808, MMIO_UNC_IMC_0_FIXED_CTR = 0x22838, MMIO_UNC_IMC_0_CTL0 = 0x22840,
	MMIO_UNC_IMC_0_FIXED_CTL = 0x22854, MMIO_UNC_IMC_0_BOX_STATUS = 0x2285C, MMIO_UNC_IMC_STRIDE = 0x8000,
	MMIO_UNC_IMC_FREE_READ = 0x2290, MMIO_UNC_IMC_FREE_WRITE = 0x2298, MMIO_UNC_IMC_FREE_DCLK = 0x22B0,
};
#define SPMU_UNC_BOX_FRZ      UINT64_C(1)
#define SPMU_UNC_BOX_RST_CTRL (UINT64_C(1) << 8)
#define SPMU_UNC_BOX_RST_CTRS (UINT64_C(1) << 9)
/* Control registers of both; event, unit mask and threshold as in IA32_PERFEVTSELx. */
#define SPMU_UNC_TID_EN  (UINT64_C(1) << 16)	/* CHA */
#define SPMU_UNC_RST     (UINT64_C(1) << 17)	/* server */
#define SPMU_UNC_EDGE    (UINT64_C(1) << 18)
#define SPMU_UNC_OVF_EN  (UINT64_C(1) << 20)
#define SPMU_UNC_EN      (UINT64_C(1) << 22)
#define SPMU_UNC_INV     (UINT64_C(1) << 23)
/* The control register's image of an event: event, unit mask with its extension, threshold. */
#define SPMU_UNC_SELECT(event, umask, cmask) \
	((uint64_t)((event) & 0xff) | ((uint64_t)(umask) & 0xff) << 8 | (uint64_t)(uint8_t)(cmask) << 24 | ((uint64_t)(umask) >> 8) << 32)
#ifdef __cplusplus
}
#endif
#endif
