/* SPDX-License-Identifier: GPL-2.0-or-later
 * The DS area of a session's PMU, and the reading of PEBS records (precise.h).
 *
 * Sources.  Layouts: SDM vol. 3B, "Debug Store (DS) Mechanism", "32-bit Branch Trace Record/PEBS Record
 * Format", "IA-32e Mode DS Save Area", "Adaptive PEBS".  What a driver does with them: Linux,
 * arch/x86/events/intel/ds.c.
 *
 * Left out: XMM registers, which the stream does not hold; TSX.
 */
#include "session/driver/precise.h"
#include "isa/address.h"
#include <stdlib.h>
#include <string.h>

/* Roughly the kernel's cpu entry area.  It only has to be canonical and none of the program's addresses. */
#define AREA_64 UINT64_C(0xfffffe0000100000)
#define AREA_32 UINT64_C(0xff800000)
enum {
	MANAGEMENT = 512, BASIC = 32, MEMINFO = 32, GPRS = 144, BRANCH = 24,
	BEYOND =
		/* room for records beyond the threshold, which are made while the interrupt is on its way */
		128
};

struct noted {
	uint64_t ip, cycle, batch_base;
	uint32_t record, retire_latency;
	struct history_moment moment;
	bool known, store;
	uint32_t writer;
	unsigned branches;
	struct precise_branch branch[PRECISE_BRANCHES_MAX];
};

struct precise {
	const struct spmu_model *model;
	int word_bytes, format;		/* format -1: NetBurst */
	bool wide;			/* 64-bit area */
	unsigned data, records;
	precise_moment *moment;
	precise_stack *stack;		/* NULL: not wanted, or the records hold it */
	void *context;
	uint32_t thread;		/* the thread that `context` belongs to */
	uint64_t area, bytes;
	size_t record_bytes;
	struct noted now;		/* of the record that is being written */
	struct noted *noted;		/* of the records in the buffer, in order */
	unsigned notes, taken;
	uint8_t *memory;
};

static const size_t record_size[4] = { 144, 176, 192, 200 };

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;
	memcpy(&v, at, bytes);
	return v;
}

static void put_field(struct precise *p, unsigned offset64, uint64_t value)
{
	memcpy(p->memory + (p->wide ? offset64 : offset64 / 2), &value, p->wide ? 8 : 4);
}

static uint64_t field(const struct precise *p, unsigned offset64)
{
	return get(p->memory + (p->wide ? offset64 : offset64 / 2), p->wide ? 8 : 4);
}

enum { PEBS_BASE = 0x20, PEBS_INDEX = 0x28, PEBS_MAXIMUM = 0x30, PEBS_THRESHOLD = 0x38, PEBS_RESET = 0x40 };

static void put_pointers(struct precise *p)
{
	const uint64_t base = p->area + MANAGEMENT;
	put_field(p, PEBS_BASE, base);
	put_field(p, PEBS_INDEX, base);
	put_field(p, PEBS_MAXIMUM, p->area + p->bytes);
	put_field(p, PEBS_THRESHOLD, base + p->records * p->record_bytes);
}

int precise_create(struct precise **out, const struct spmu_model *m, int word_bytes, unsigned data, unsigned records,
	precise_moment *moment, precise_stack *stack, void *context, struct err *err)
{
	struct precise *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory");
	p->model = m;
	p->word_bytes = word_bytes;
	p->format = spmu_model_family(m) == SPMU_FAMILY_NETBURST ? -1 : (int)(spmu_model_capabilities(m) >> 8 & 15);
	p->wide = p->format >= 0 || word_bytes == 8;
	p->data = data;
	p->records = records ? records : 1;
	p->moment = moment;
	p->stack = data & PRECISE_BRANCHES && p->format < 4 ? stack : NULL;
	p->context = context;
	p->area = p->wide ? AREA_64 : AREA_32;
	p->record_bytes = p->format < 0 ? (p->wide ? 144 : 40)
		: p->format < 4 ? record_size[p->format]
		: (size_t)(BASIC + GPRS + (data & PRECISE_MEMORY ? MEMINFO : 0) +
                                          (data & PRECISE_BRANCHES ? PRECISE_BRANCHES_MAX * BRANCH : 0));
	size_t one = p->record_bytes, room = one * (p->records + BEYOND);
	p->bytes = MANAGEMENT + room;
	p->memory = calloc(1, p->bytes);
	p->noted = calloc(p->records + BEYOND, sizeof *p->noted);
	if (!p->memory || !p->noted) {
		precise_destroy(p);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	put_pointers(p);
	*out = p;
	return 0;
}

void precise_move(struct precise *p, unsigned hw_thread)
{
	p->area = (p->wide ? AREA_64 : AREA_32) + ((uint64_t)hw_thread << 20);
	put_pointers(p);
}

void precise_destroy(struct precise *p)
{
	if (!p)
		return;
	free(p->memory);
	free(p->noted);
	free(p);
}

void precise_lend(struct precise *p, uint32_t thread, void *context)
{
	p->thread = thread;
	p->context = context;
}

uint64_t precise_area(const struct precise *p)
{
	return p->area;
}

uint64_t precise_data_config(unsigned data)
{
	/* The GPR group is always recorded, because it holds the address after the instruction. */
	return 2 | (data & PRECISE_MEMORY ? 1 : 0) |
		(data & PRECISE_BRANCHES ? 8 | (uint64_t)(PRECISE_BRANCHES_MAX - 1) << 24 : 0);
}

void precise_reload(struct precise *p, const struct driver_event *e, uint64_t value)
{
	unsigned slot = p->format < 0 ? 0
		: e->counter >= 0 ? (unsigned)e->counter
		: (unsigned)e->fixed + (p->format < 5 ? 8 : 32);
	memcpy(p->memory + (p->wide ? PEBS_RESET + 8 * slot : PEBS_RESET / 2), &value, 8);
}

/* ---- the PMU's side ----------------------------------------------------------------------------------------- */

static bool inside(const struct precise *p, uint64_t address, size_t bytes)
{
	return address >= p->area && address - p->area <= p->bytes && bytes <= p->bytes - (address - p->area);
}

int precise_read(struct precise *p, uint64_t address, void *to, size_t bytes)
{
	if (!inside(p, address, bytes))
		return -1;
	memcpy(to, p->memory + (address - p->area), bytes);
	return 0;
}

int precise_write(struct precise *p, uint64_t address, const void *from, size_t bytes)
{
	if (!inside(p, address, bytes))
		return -1;
	memcpy(p->memory + (address - p->area), from, bytes);
	/* a record; a write of 8 bytes is its RIP, which is known later */
	if (address >= p->area + MANAGEMENT && bytes > 8 && p->notes < p->records + BEYOND) {
		if (p->stack)
			p->now.branches = p->stack(p->context, p->now.branch);
		p->noted[p->notes++] = p->now;
		p->now = (struct noted){ 0 };
	}
	return 0;
}

/* Cycles by which the instruction of uop `record` retired later than the one before it, as far as the batch
 * shows. */
static uint32_t retire_latency(const struct spmu_batch *b, uint32_t record)
{
	const struct spmu_record *r = &b->records[record];
	bool begun = false;
	for (uint32_t i = record + 1; i-- > 0;) {
		const struct spmu_record *x = &b->records[i];
		if (x->kind != SPMU_REC_UOP || !(x->did & SPMU_DID(RETIRED)) || x->hw_thread != r->hw_thread)
			continue;
		if (begun)
			return r->retire > x->retire ? r->retire - x->retire : 0;
		begun = x->is & SPMU_IS(INST_BEGIN);
	}
	return 0;
}

int precise_registers(struct precise *p, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out)
{
	const struct spmu_record *r = &batch->records[record];
	p->now = (struct noted){
		.ip = r->ip, .cycle = batch->base_cycle + r->retire, .record = record,
		.batch_base = batch->base_cycle, .writer = p->thread,
		.retire_latency = retire_latency(batch, record), .store = r->is & SPMU_IS(STORE_ADDR)
	};
	p->now.known = p->moment(p->context, batch, record, before, &p->now.moment);
	if (!p->now.known)
		return -1;
	memset(out, 0, sizeof *out);
	memcpy(out->gpr, p->now.moment.gpr, sizeof out->gpr);
	out->rip = p->now.moment.rip;
	out->rflags = p->now.moment.rflags;
	return 0;
}

/* ---- the driver's side -------------------------------------------------------------------------------------- */

bool precise_any(const struct precise *p)
{
	return p->taken < p->notes;
}

static void forget(struct precise *p)
{
	put_field(p, PEBS_INDEX, field(p, PEBS_BASE));
	p->notes = p->taken = 0;
}

/* perf's numbers of the registers in the order of the record: flags, IP, then these. */
static void take_registers(const uint8_t *at, unsigned n, unsigned bytes, struct spmu_registers *out)
{
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	out->rflags = get(at, bytes);
	out->rip = get(at + bytes, bytes);
	for (unsigned i = 0; i < n; i++)
		out->gpr[order[i]] = get(at + (2 + i) * bytes, bytes);
}

static void take_latency(const struct precise *p, uint64_t v, struct precise_record *out)
{
	out->latency = p->format < 5 ? v & 0xffffffff : v >> 32 & 0xffff;
	out->instruction_latency = p->format < 5 ? 0 : v & 0xffff;
}

static void take_adaptive(const struct precise *p, const uint8_t *at, struct precise_record *out)
{
	uint64_t head = get(at, 8);
	const uint8_t *next = at + 32;
	out->ip = get(at + 8, 8);
	out->counters = get(at + 16, 8);
	if (head & 1) {
		out->has_address = out->has_source = true;
		out->address = get(next, 8);
		out->source = get(next + 8, 8);
		take_latency(p, get(next + 16, 8), out);
		next += 32;
	}
	if (head & 2) {
		out->registers.rflags = get(next, 8);
		out->registers.rip = get(next + 8, 8);
		for (unsigned i = 0; i < 16; i++)
			out->registers.gpr[i] = get(next + 16 + 8 * i, 8);
		next += 144;
	}
	if (head & 4)
		next += 256;
	for (unsigned i = 0; head & 8 && i <= (head >> 24 & 0xff); i++, next += 24)
		if (out->branches < PRECISE_BRANCHES_MAX && get(next, 8))
			out->branch[out->branches++] =
				(struct precise_branch){ get(next, 8), get(next + 8, 8), get(next + 16, 8) };
}

bool precise_take(struct precise *p, const struct spmu_batch *batch, struct precise_record *out)
{
	uint64_t index = field(p, PEBS_INDEX), base = field(p, PEBS_BASE);
	memset(out, 0, sizeof *out);
	if (p->taken == p->notes || index <= base)
		return forget(p), false;
	const uint8_t *at = p->memory + MANAGEMENT;
	at += p->taken * p->record_bytes;
	const struct noted *n = &p->noted[p->taken];
	out->cycle = n->cycle;
	out->writer = n->writer;
	out->record = batch && n->writer == p->thread && n->batch_base == batch->base_cycle ? n->record : UINT32_MAX;
	out->retire_latency = n->retire_latency;
	out->store = n->store;
	out->ip = n->ip;	/* the driver's fixup */
	out->has_registers = n->known && p->data & PRECISE_REGISTERS;
	if (p->format >= 4) {
		take_adaptive(p, at, out);
	} else {
		unsigned word = p->wide ? 8 : 4;
		take_registers(at, p->wide ? 16 : 8, word, &out->registers);
		if (p->format >= 1) {
			out->counters = get(at + 144, 8);
			out->address = get(at + 152, 8);
			out->source = get(at + 160, 8);
			take_latency(p, get(at + 168, 8), out);
			out->has_address = true;
			out->has_source = true;
		}
		if (p->format >= 2)
			out->ip = get(at + 176, 8);
		out->branches = n->branches;
		memcpy(out->branch, n->branch, n->branches * sizeof *n->branch);
	}
	/* the state is that before the instruction, so its RIP is the instruction's own */
	if (p->format < 0 && p->data & PRECISE_MEMORY && n->known)
		out->has_address = isa_address(p->word_bytes, n->moment.code, n->moment.length, out->ip,
			out->registers.gpr, &out->address);
	if (++p->taken == p->notes)
		forget(p);
	return true;
}
