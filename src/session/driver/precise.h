/* SPDX-License-Identifier: GPL-2.0-or-later
 * Precise sampling, the kernel's side: the DS area of one copy of the PMU, what its records say.  Private to
 * src/session.
 *
 * The area lies at an address of the guest's kernel, in memory of this side alone.  Records are read out of the
 * buffer as a driver reads them: everything in a sample comes from the record's bytes, but two things that
 * drivers get elsewhere: the address of the instruction itself where the record has only the one behind it (a
 * driver searches the last branch records and the code), and the retire latency (a field of its own from Lion
 * Cove on): both are noted as the record is written.
 */
#ifndef SESSION_PRECISE_H
#define SESSION_PRECISE_H
#include "run/history.h"
#include "session/driver/driver.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum precise_data {		/* set: what a sample holds beyond its address */
	PRECISE_REGISTERS = 1, PRECISE_MEMORY = 2, PRECISE_BRANCHES = 4,
};
enum { PRECISE_BRANCHES_MAX = 32 };

struct precise_branch { uint64_t from, to, info; };	/* info: as IA32_LBR_x_INFO */

struct precise_record {
	uint64_t ip;		/* of the instruction that did it */
	uint64_t cycle;		/* when it retired */
	/* set: bit i general-purpose counter i, bit 32 + i fixed counter i; 0: the record does not say */
	uint64_t counters;
	uint32_t record;	/* index in the batch in hand; UINT32_MAX: of an earlier one */
	uint32_t writer;	/* thread that the area was lent to when it was written (precise_lend) */
	uint32_t retire_latency;	/* cycles by which it retired behind the instruction before it */
	bool has_registers;	/* known, and wanted */
	bool store;		/* it writes memory; else, if it accesses memory, it loads */
	bool has_address, has_source;	/* has_source: source and latency are told (they may be 0) */
	struct spmu_registers registers;	/* before or behind the instruction, as the generation has it */
	uint64_t address;	/* of data; 0: it has none */
	uint64_t source, latency;	/* as in the record; latency: cycles from dispatch to data */
	uint32_t instruction_latency;	/* cycles to retirement; 0: not told */
	unsigned branches;
	struct precise_branch branch[PRECISE_BRANCHES_MAX];	/* newest first, as the registers have it */
};

struct precise;
/* Asks for the branch stack as it is: branches, at most PRECISE_BRANCHES_MAX. */
typedef unsigned precise_stack(void *context, struct precise_branch *out);
/* Asks what the registers were before or behind the instruction that uop `record` is part of; false: not known. */
typedef bool precise_moment(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct history_moment *out);

/* The area for PMUs of model m, with room for `records` records before it interrupts.  word_bytes: the guest's.
 * data: set of PRECISE_; with PRECISE_BRANCHES records that do not hold the branch stack are given that of the
 * moment in which they are written. */
int precise_create(struct precise **out, const struct spmu_model *m, int word_bytes, unsigned data, unsigned records,
	precise_moment *moment, precise_stack *stack, void *context, struct err *err);
void precise_destroy(struct precise *p);
uint64_t precise_area(const struct precise *p);
/* The area is a processor's, which has switched: from now on records are of this thread, for which `context`
 * stands. */
void precise_lend(struct precise *p, uint32_t thread, void *context);
/* Bits of MSR_PEBS_DATA_CFG for the data wanted. */
uint64_t precise_data_config(unsigned data);
/* What the event's counter is reloaded with. */
void precise_reload(struct precise *p, const struct driver_event *e, uint64_t value);
/* Is there a record? */
bool precise_any(const struct precise *p);
/* Takes the oldest one out of the buffer; false: there is none.  batch: the one in hand. */
bool precise_take(struct precise *p, const struct spmu_batch *batch, struct precise_record *out);
/* For struct spmu_host. */
int  precise_read(struct precise *p, uint64_t address, void *to, size_t bytes);
int  precise_write(struct precise *p, uint64_t address, const void *from, size_t bytes);
int precise_registers(struct precise *p, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out);
#endif
