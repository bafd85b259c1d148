/* SPDX-License-Identifier: GPL-2.0-or-later
 * Decodes the records of a perf.data file.
 */
#include "output/perfdata/perfdata_file.h"
#include <linux/perf_event.h>
#include <sys/mman.h>

enum {
	MISC_MMAP_BUILD_ID = 1 << 14,	/* MMAP2 has a build-id in place of device and inode */
};

/* PERF_SAMPLE_READ fields are not used, and cannot be skipped without knowing read_format.  So events with it are
 * refused if they have needed fields after it. */
static bool walkable(uint64_t type)
{
	return !(type & PERF_SAMPLE_READ) || !(type & PERF_SAMPLE_CALLCHAIN);
}

struct perfdata_branch perfdata_branch_at(const struct perfdata_record *r, size_t i)
{
	struct perfdata_branch b;
	memcpy(&b, (const char *)r->branch + i * sizeof b, sizeof b);
	return b;
}

/* Reads the fields after the call chain that concern branches and data accesses.  A sample in which they do not fit
 * is kept without them. */
static void decode_access(struct cursor c, const struct event *e, struct perfdata_record *r)
{
	uint64_t type = e->info.sample_type, weight = 0, source = 0;
	if (!(type & (PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_BRANCH_STACK)))
		return;
	if (type & PERF_SAMPLE_RAW)
		take(&c, take_u32(&c));
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t n = take_u64(&c);
		if (e->branch_index)
			take_u64(&c);
		const void *branch = take(&c, n > c.left / 24 ? SIZE_MAX : n * 24);
		if (!c.bad) {
			r->branch = branch;
			r->branches = n;
		}
	}
	if (type & PERF_SAMPLE_REGS_USER && take_u64(&c))
		take(&c, 8 * (size_t)__builtin_popcountll(e->regs_user));
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t n = take_u64(&c);
		take(&c, n > c.left ? SIZE_MAX : n);
		if (n)
			take(&c, 8);
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		weight = take_u64(&c);
	if (type & PERF_SAMPLE_DATA_SRC)
		source = take_u64(&c);
	if (c.bad)
		return;
	r->data_src = source;
	r->weight = type & PERF_SAMPLE_WEIGHT_STRUCT ? weight & 0xffffffff : weight;
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		r->instruction_latency = (uint16_t)(weight >> 32);
		r->retire_latency = (uint16_t)(weight >> 48);
	}
}

static bool decode_sample(const struct perfdata_file *f, struct cursor c, struct perfdata_record *r)
{
	const struct event *e = &f->event[0];
	uint64_t type = e->info.sample_type, id = 0;
	if (f->events > 1) {
		/* IDENTIFIER is the first field.  Without it, the place of ID follows from the first event's type;
		 * all events agree. */
		struct cursor peek = c;
		if (!(type & PERF_SAMPLE_IDENTIFIER)) {
			static const uint64_t before_id[] = { PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
				PERF_SAMPLE_ADDR };
			for (size_t i = 0; i < sizeof before_id / sizeof *before_id; i++)
				if (type & before_id[i])
					take(&peek, 8);
		}
		id = take_u64(&peek);
		e = perfdata_id_event(f, id);
		if (!e)
			return false;
		type = e->info.sample_type;
	}
	r->event = (size_t)(e - f->event);
	r->period = e->info.period ? e->info.period : 1;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take(&c, 8);
	if (type & PERF_SAMPLE_IP)
		r->ip = take_u64(&c);
	if (type & PERF_SAMPLE_TID) {
		r->pid = take_u32(&c);
		r->tid = take_u32(&c);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = take_u64(&c);
	if (type & PERF_SAMPLE_ADDR)
		r->data_addr = take_u64(&c);
	if (type & PERF_SAMPLE_ID)
		take(&c, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		take(&c, 8);
	if (type & PERF_SAMPLE_CPU) {
		r->cpu = take_u32(&c);
		take(&c, 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		r->period = take_u64(&c);
	if ((type & PERF_SAMPLE_CALLCHAIN) && walkable(type)) {
		uint64_t n = take_u64(&c);
		if (n > c.left / 8)
			return false;
		r->chain_length = n;
		r->chain = take(&c, n * 8);
	}
	if (walkable(type) && !(type & PERF_SAMPLE_READ))
		decode_access(c, e, r);
	return !c.bad;
}

/* Reads the trailing fields of a record other than a sample. */
static void decode_trailer(const struct perfdata_file *f, const uint8_t *record, size_t size, struct perfdata_record *r,
			   size_t *trailer)
{
	const struct event *e = &f->event[0];
	*trailer = 0;
	if (!e->sample_id_all)
		return;
	uint64_t type = e->info.sample_type;
	size_t bytes = 8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
	if (bytes > size - sizeof(struct perf_event_header))
		return;
	*trailer = bytes;
	struct cursor c = { record + size - bytes, bytes, false };
	if (type & PERF_SAMPLE_TID) {
		r->pid = take_u32(&c);
		r->tid = take_u32(&c);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = take_u64(&c);
}

static bool decode_mmap(struct cursor *c, bool two, struct perfdata_record *r)
{
	r->kind = PERFDATA_MMAP;
	r->pid = take_u32(c);
	r->tid = take_u32(c);
	r->addr = take_u64(c);
	r->bytes = take_u64(c);
	r->offset = take_u64(c);
	r->prot = PROT_READ | (r->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC);
	if (two) {
		const uint8_t *who = take(c, 24);
		r->prot = take_u32(c);
		take_u32(c);
		if (!who)
			return false;
		if (r->misc & MISC_MMAP_BUILD_ID) {
			if (who[0] > PERFDATA_BUILD_ID_BYTES)
				return false;
			r->build_id_bytes = who[0];
			r->build_id = who + 4;
		} else {
			memcpy(&r->inode, who + 8, 8);
		}
	}
	r->text = take_text(c, c->left);
	return r->text && !c->bad && r->bytes && r->addr + r->bytes > r->addr;
}

bool perfdata_decode(const struct perfdata_file *f, uint64_t offset, struct perfdata_record *r)
{
	struct perf_event_header h;
	memcpy(&h, f->bytes + offset, sizeof h);
	memset(r, 0, sizeof *r);
	r->misc = h.misc;
	struct cursor c = { f->bytes + offset + sizeof h, h.size - sizeof h, false };
	if (h.type == PERF_RECORD_SAMPLE) {
		r->kind = PERFDATA_SAMPLE;
		return decode_sample(f, c, r);
	}
	if (h.type >= 64)	/* records of the perf tool have no trailer */
		return false;
	size_t trailer;
	decode_trailer(f, f->bytes + offset, h.size, r, &trailer);
	c.left -= trailer;
	switch (h.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(&c, h.type == PERF_RECORD_MMAP2, r);
	case PERF_RECORD_COMM:
		r->kind = PERFDATA_COMM;
		r->pid = take_u32(&c);
		r->tid = take_u32(&c);
		r->text = take_text(&c, c.left);
		return r->text;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		r->kind = h.type == PERF_RECORD_FORK ? PERFDATA_FORK : PERFDATA_EXIT;
		r->pid = take_u32(&c);
		r->parent_pid = take_u32(&c);
		r->tid = take_u32(&c);
		r->parent_tid = take_u32(&c);
		return !c.bad;
	case PERF_RECORD_READ: {
		/* read_format: the count, the times, the id; a group's, or one without id, is not needed */
		const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		r->kind = PERFDATA_READ;
		r->pid = take_u32(&c);
		r->tid = take_u32(&c);
		r->count = take_u64(&c);
		if ((f->event[0].read_format & 7) != (times | PERF_FORMAT_ID))
			return false;
		take(&c, 16);
		const struct event *e = perfdata_id_event(f, take_u64(&c));
		r->event = e ? (size_t)(e - f->event) : 0;
		return e && !c.bad;
	}
	case PERF_RECORD_LOST:
		r->kind = PERFDATA_LOST;
		take(&c, 8);
		r->lost = take_u64(&c);
		return !c.bad;
	}
	return false;
}
