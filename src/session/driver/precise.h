/* SPDX-License-Identifier: GPL-2.0-or-later
 * Precise sampling, the kernel's side: the DS area of one copy of the PMU, and what its records say.  Private
 * to src/session.
 *
 * The area has an address of the guest's kernel, but its memory exists on this side only.  Records are read out
 * of the buffer as a driver reads them, so everything in a sample comes from the record's bytes, with two
 * exceptions that are noted when the record is written: the address of the instruction itself, where the record
 * has only that of the next one (a driver searches the last branch records and the code for it), and the retire
 * latency (a field of the record from Lion Cove on).
 */
#ifndef SESSION_PRECISE_H
#define SESSION_PRECISE_H
#include "run/watch/history.h"
#include "session/driver/driver.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum precise_data {		/* set: what a sample holds beside its address */
	PRECISE_REGISTERS = 1, PRECISE_MEMORY = 2, PRECISE_BRANCHES = 4,
};
enum { PRECISE_BRANCHES_MAX = 32 };

struct precise_branch { uint64_t from, to, info; };	/* info: as in IA32_LBR_x_INFO */

struct precise_record {
	uint64_t ip;		/* address of the instruction that caused the event */
	uint64_t cycle;		/* when it retired */
	/* bit i: general-purpose counter i; bit 32 + i: fixed counter i; 0: the record does not say */
	uint64_t counters;
	uint32_t record;	/* index in the current batch; UINT32_MAX: of an earlier one */
	uint32_t writer;	/* the thread that had the area when it was written (precise_lend) */
	uint32_t retire_latency;	/* cycles by which it retired later than the instruction before it */
	bool has_registers;	/* known, and wanted */
	bool store;		/* it writes memory; if not, and it accesses memory, it reads */
	bool has_address, has_source;	/* has_source: source and latency are valid (they may be 0) */
	/* registers before or after the instruction, depending on the generation */
	struct spmu_registers registers;
	uint64_t address;		/* data address; 0: none */
	uint64_t source, latency;	/* as in the record; latency: cycles from dispatch to the data */
	uint32_t instruction_latency;	/* cycles to retirement; 0: unknown */
	unsigned branches;
	struct precise_branch branch[PRECISE_BRANCHES_MAX];	/* newest first, as in the registers */
};

struct precise;
/* The function that reads the branch stack: returns the number of branches, at most PRECISE_BRANCHES_MAX. */
typedef unsigned precise_stack(void *context, struct precise_branch *out);
/* The function that gives the registers before or after the instruction of uop `record`; false: not known. */
typedef bool precise_moment(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct history_moment *out);

/* Makes the area for PMUs of model m, with room for `records` records before it interrupts.  word_bytes: the
 * guest's.  data: set of PRECISE_; with PRECISE_BRANCHES, records that do not hold a branch stack are given the
 * one at the moment when they are written. */
int precise_create(struct precise **out, const struct spmu_model *m, int word_bytes, unsigned data, unsigned records,
	precise_moment *moment, precise_stack *stack, void *context, struct err *err);
void precise_destroy(struct precise *p);
uint64_t precise_area(const struct precise *p);
/* Moves the empty area to the place for this hardware thread; those of one core must differ. */
void precise_move(struct precise *p, unsigned hw_thread);
/* The area belongs to a processor, on which another thread now runs: from now on records are this thread's, and
 * `context` is its. */
void precise_lend(struct precise *p, uint32_t thread, void *context);
/* Bits of MSR_PEBS_DATA_CFG for this data. */
uint64_t precise_data_config(unsigned data);
/* Sets the value with which PEBS reloads the event's counter. */
void precise_reload(struct precise *p, const struct driver_event *e, uint64_t value);
/* Is there a record? */
bool precise_any(const struct precise *p);
/* Takes the oldest record out of the buffer; false: there is none.  batch: the current one. */
bool precise_take(struct precise *p, const struct spmu_batch *batch, struct precise_record *out);
/* For struct spmu_host. */
int  precise_read(struct precise *p, uint64_t address, void *to, size_t bytes);
int  precise_write(struct precise *p, uint64_t address, const void *from, size_t bytes);
int precise_registers(struct precise *p, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out);
#endif
