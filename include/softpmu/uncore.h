/* SPDX-License-Identifier: BSD-2-Clause
 * The performance monitoring unit (PMU) of the uncore at register level, to embed: counters in the slices of
 * the L3, in the arbitration unit in front of memory and in the memory controllers.  There is one per package.
 * pmu.h has the cores' PMUs.
 *
 *   client   C-Boxes, ARB, a fixed clock counter (MSRs); free-running counters of the memory controller
 *            (memory-mapped).  Sandy Bridge to Skylake.  Source: SDM vol. 3B, "Uncore Performance Monitoring
 *            Facility" of the 2nd generation Core; vol. 4, tables of uncore MSRs of the 2nd, 4th and 6th generation.
 *   server   CHA boxes (MSRs) and a box for each memory channel (memory-mapped), free-running counters of each
 *            memory controller.  Sapphire Rapids.  Source: Uncore Performance Monitoring Reference Manual of
 *            the 3rd and 4th generation Xeon Scalable; addresses also in Linux,
 *            arch/x86/events/intel/uncore_discovery.h and uncore_snbep.c.
 *
 * It counts the uncore signals (signals.def), whose records carry the number of their slice or channel and what
 * was found there.  Nothing here prints, exits, aborts or keeps global state.  Functions that can fail return
 * SPMU_OK or a negative enum spmu_status (pmu.h); on failure nothing has changed.
 */
#ifndef SOFTPMU_UNCORE_H
#define SOFTPMU_UNCORE_H
#include "softpmu/pmu.h"
#ifdef __cplusplus
extern "C" {
#endif

struct spmu_uncore_model;	/* a table of events and the shape of the units; immutable, shareable */
struct spmu_uncore;		/* the uncore PMU of one package */

/* At most so many slices, channels, and counters in a box. */
enum { SPMU_UNCORE_SLICES = 64, SPMU_UNCORE_CHANNELS = 16, SPMU_UNCORE_COUNTERS = 5 };

/* A box is a group of counters with registers of its own.  How many boxes of a kind a package has: */
enum spmu_uncore_boxes {
	SPMU_BOX_SLICE,		/* one for each slice of the L3 */
	SPMU_BOX_PACKAGE,	/* one in all */
	SPMU_BOX_CHANNEL,	/* one for each memory channel */
	SPMU_BOX_CONTROLLER,	/* one for each memory controller, which has two channels */
};

struct spmu_uncore_unit {	/* a kind of box */
	const char *name;	/* as in perf's names of PMUs: "cbox" of uncore_cbox_0 */
	enum spmu_uncore_boxes boxes;
	uint8_t counters;	/* in each box */
	uint8_t bits;		/* width of a counter */
	/* true: each counter has a control register.  false: counter n counts the event whose row names it,
	 * either always or, for a clock, when it is enabled. */
	bool    programmable;
};

struct spmu_uncore_event {
	const char *name;	/* "UNC_CBO_CACHE_LOOKUP.ANY_MESI" */
	const char *alias;	/* its name in perf's PMU: "clockticks" of uncore_cbox/clockticks/, or "" */
	const char *help;	/* what it counts, in one line */
	const char *not_modelled; /* why this model cannot produce it, or "" */
	const char *scale_unit;	/* unit of a count times `scale`: "MiB"; "" if there is none */
	double   scale;		/* 1 if there is none */
	uint8_t  unit;		/* index for spmu_uncore_unit */
	uint8_t  event, cmask;	/* event select; threshold */
	uint8_t  counters;	/* bit n: counter n can count it */
	/* unit mask; server: bits 31:8 are its extension (bits 57:32 of the control register) */
	uint32_t umask;
};

/* Reads data/events/uncore-NAME.tsv, whose format src/pmu/uncore/uncore_table.c describes.  On success the
 * caller owns *out and releases it with spmu_uncore_free after the last PMU of this model; all strings belong
 * to the model.  On failure (SPMU_EINPUT, SPMU_ENOMEM) *out is untouched and `text` (text_bytes long) holds the
 * reason with the line number. */
int  spmu_uncore_load(struct spmu_uncore_model **out, const char *path, char *text, size_t text_bytes);
void spmu_uncore_free(struct spmu_uncore_model *m);	/* NULL: does nothing */
/* Units and events by index, which must be below the number of them. */
size_t spmu_uncore_units(const struct spmu_uncore_model *m);
const struct spmu_uncore_unit *spmu_uncore_unit(const struct spmu_uncore_model *m, size_t index);
size_t spmu_uncore_events(const struct spmu_uncore_model *m);
const struct spmu_uncore_event *spmu_uncore_event(const struct spmu_uncore_model *m, size_t index);
/* Finds an event by its name.  Case does not matter, and '.' equals ':'.  NULL: none. */
const struct spmu_uncore_event *spmu_uncore_find(const struct spmu_uncore_model *m, const char *name);
/* What a unit counts with this event select and unit mask.  *modelled: the model produces everything that the
 * mask selects.  set: the signals (bit n of the 128: enum spmu_signal n) that must reach the PMU.  False: the
 * unit has no such event. */
bool spmu_uncore_detects(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask,
	bool *modelled, uint64_t set[2]);
bool spmu_uncore_server(const struct spmu_uncore_model *m);	/* server; false: client */

struct spmu_uncore_host {
	void *context;
	/* Of the package: 1 to SPMU_UNCORE_SLICES and 1 to SPMU_UNCORE_CHANNELS. */
	uint32_t slices, channels;
	uint64_t core_hz;	/* frequency of the cycles in the batches; not 0 */
	/* Called when a counter with OVF_EN overflows.  cores: the set of cores that MSR_UNC_PERF_GLOBAL_CTRL
	 * selects for the interrupt (server: all); a core takes it if its IA32_DEBUGCTL[13] is set.  The
	 * handler may use every register function.  NULL: interrupts are lost. */
	void (*pmi)(void *context, struct spmu_uncore *u, uint64_t cores);
};

/* Makes a PMU with its registers as after reset.  The model must outlive it; *host is copied.  The caller owns
 * *out and releases it with spmu_uncore_destroy (NULL: does nothing).  SPMU_EINPUT: a field of *host is out of
 * its range. */
int  spmu_uncore_create(struct spmu_uncore **out, const struct spmu_uncore_model *m,
	const struct spmu_uncore_host *host);
void spmu_uncore_destroy(struct spmu_uncore *u);

/* As WRMSR and RDMSR at CPL 0.  SPMU_GP where hardware raises #GP(0); SPMU_ENOMSR: no register of the uncore PMU. */
int  spmu_uncore_wrmsr(struct spmu_uncore *u, uint32_t msr, uint64_t value);
int  spmu_uncore_rdmsr(const struct spmu_uncore *u, uint32_t msr, uint64_t *value);
/* Memory-mapped registers of a memory controller (client: controller 0), by their offset from the base that PCI
 * configuration space gives (client: MCHBAR; server: the controller's MEM_BAR).  bytes: 4, or 8 for counters.
 * Reserved bits are ignored when written and read as 0.  SPMU_ENOMSR: no register of the PMU; SPMU_GP: a width
 * or alignment that it does not have. */
int spmu_uncore_mmio_write(struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes, uint64_t value);
int  spmu_uncore_mmio_read(const struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes,
	uint64_t *value);

/* A running counter that watches something which the model cannot produce: it reads 0, or too little. */
struct spmu_uncore_unmodelled {
	const char *unit;	/* name of the kind of box */
	unsigned box, counter;
	uint64_t control;	/* its control register; 0: a free-running counter */
	const char *event;	/* the table's name for it; "": it has none */
	const char *reason;	/* why it cannot be counted.  All three strings belong to the model. */
};
/* Writes the first `room` such counters to out (which may be NULL if room is 0) and returns how many there are.
 * Free-running counters are among them, since nothing can stop them. */
size_t spmu_uncore_unmodelled(const struct spmu_uncore *u, struct spmu_uncore_unmodelled *out, size_t room);

/* Announces a core (its number, which the server's thread filter compares) whose batches will come.  Returns a
 * number from 0 for spmu_uncore_consume, or SPMU_ENOMEM.  The number is free for another core after
 * spmu_uncore_detach. */
int  spmu_uncore_attach(struct spmu_uncore *u, unsigned core);
/* Counts a batch of an attached core.  Batches of different cores need not come in the order of time; plain
 * counts are exact all the same.  Thresholds, edges and inversion are evaluated for each uncore clock once all
 * attached cores have passed it; nobody waits for a core between a batch with is_last and its next one. */
void spmu_uncore_consume(struct spmu_uncore *u, int source, const struct spmu_batch *b);
void spmu_uncore_detach(struct spmu_uncore *u, int source);

/* Client.  The registers of C-Box n are 10H * n higher.  The global control register is
 * MSR_UNC_PERF_GLOBAL_CTRL on Sandy Bridge to Broadwell and MSR_UNC_PERF_GLOBAL_CTRL_SKL from Skylake on; the
 * global status is at the next address. */
enum {
	MSR_UNC_PERF_GLOBAL_CTRL = 0x391, MSR_UNC_PERF_GLOBAL_STATUS = 0x392, MSR_UNC_PERF_FIXED_CTRL = 0x394,
	MSR_UNC_PERF_FIXED_CTR = 0x395, MSR_UNC_CBO_CONFIG = 0x396, MSR_UNC_ARB_PERFCTR0 = 0x3B0,
	MSR_UNC_ARB_PERFEVTSEL0 = 0x3B2, MSR_UNC_CBO_0_PERFEVTSEL0 = 0x700, MSR_UNC_CBO_0_UNIT_STATUS = 0x705,
	MSR_UNC_CBO_0_PERFCTR0 = 0x706, MSR_UNC_PERF_GLOBAL_CTRL_SKL = 0xE01, MMIO_UNC_GT_REQUESTS = 0x5040,
	MMIO_UNC_IA_REQUESTS = 0x5044, MMIO_UNC_IO_REQUESTS = 0x5048, MMIO_UNC_DATA_READS = 0x5050,
	MMIO_UNC_DATA_WRITES = 0x5054,
};
#define SPMU_UNC_GLOBAL_EN     (UINT64_C(1) << 29)
#define SPMU_UNC_GLOBAL_WAKE   (UINT64_C(1) << 30)
#define SPMU_UNC_GLOBAL_FREEZE (UINT64_C(1) << 31)
/* Server.  The registers of CHA n are 10H * n higher, those of channel n of a controller 8000H * n. */
enum {
	MSR_UNC_CHA_0_BOX_CTL = 0x2000, MSR_UNC_CHA_0_BOX_STATUS = 0x2001, MSR_UNC_CHA_0_CTL0 = 0x2002,
	MSR_UNC_CHA_0_CTR0 = 0x2008, MSR_UNC_CHA_0_FILTER0 = 0x200E, MSR_UNC_PMON_GLOBAL_CTL = 0x2FF0,
	MMIO_UNC_IMC_0_BOX_CTL = 0x22800, MMIO_UNC_IMC_0_CTR0 = 0x22808, MMIO_UNC_IMC_0_FIXED_CTR = 0x22838,
	MMIO_UNC_IMC_0_CTL0 = 0x22840, MMIO_UNC_IMC_0_FIXED_CTL = 0x22854, MMIO_UNC_IMC_0_BOX_STATUS = 0x2285C,
	MMIO_UNC_IMC_STRIDE = 0x8000, MMIO_UNC_IMC_FREE_READ = 0x2290, MMIO_UNC_IMC_FREE_WRITE = 0x2298,
	MMIO_UNC_IMC_FREE_DCLK = 0x22B0,
};
#define SPMU_UNC_BOX_FRZ      UINT64_C(1)
#define SPMU_UNC_BOX_RST_CTRL (UINT64_C(1) << 8)
#define SPMU_UNC_BOX_RST_CTRS (UINT64_C(1) << 9)
/* Control registers of client and server; event, unit mask and threshold are as in IA32_PERFEVTSELx. */
#define SPMU_UNC_TID_EN  (UINT64_C(1) << 16)	/* CHA */
#define SPMU_UNC_RST     (UINT64_C(1) << 17)	/* server */
#define SPMU_UNC_EDGE    (UINT64_C(1) << 18)
#define SPMU_UNC_OVF_EN  (UINT64_C(1) << 20)
#define SPMU_UNC_EN      (UINT64_C(1) << 22)
#define SPMU_UNC_INV     (UINT64_C(1) << 23)
/* The control register's value for an event: event select, unit mask with its extension, threshold. */
#define SPMU_UNC_SELECT(event, umask, cmask) \
	((uint64_t)((event) & 0xff) | ((uint64_t)(umask) & 0xff) << 8 | (uint64_t)(uint8_t)(cmask) << 24 | \
		((uint64_t)(umask) >> 8) << 32)
#ifdef __cplusplus
}
#endif
#endif
