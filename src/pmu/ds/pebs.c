/* SPDX-License-Identifier: BSD-2-Clause
 * Precise event based sampling: which counters sample, what their overflow does, and where records go.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", "Processor Event Based Sampling (PEBS)" of Core,
 * Nehalem, Sandy Bridge, Haswell, Skylake, Goldmont, Goldmont Plus and Ice Lake ("Extended PEBS", "Adaptive
 * PEBS"); US9465680B1 (events that are not precise, and fixed counters); US20200242003A1 (reload values in
 * MSRs); Linux, arch/x86/events/intel/{core,ds}.c.
 *
 * A counter that IA32_PEBS_ENABLE selects does not sample when it overflows.  The overflow arms it, and the
 * next event (from spmu_host.pebs_arming cycles on) triggers the record.  Events in the shadow of another one
 * are therefore never sampled, as on the machine.  Two counters have no shadow and sample the very event that
 *   overflows: PDIR   counter 1 with INST_RETIRED.PREC_DIST (C0H/01H), Sandy Bridge to Skylake
 *   PDist  counter 0 with a precise event, and fixed counter 0 (from Ice Lake on)
 * An event that is not precise is sampled from Ice Lake on only, at the next opportunity: the record is of the first
 * instruction that retires after the overflow.  If the batch with that instruction has gone when the overflow
 * is found, it is the first instruction of the current batch.  Setting the overflow bit by
 * IA32_PERF_GLOBAL_STATUS_SET has the same effect.  A precise event is one that the table marks as precise,
 * with the table's CMASK, INV and EDGE and without AnyThread.
 *
 * A record clears the counter's overflow bit and reloads the counter: from the DS area; from MSR_RELOAD_x when
 * records go into the trace (IA32_PEBS_ENABLE[62:61] is 1), or always with spmu_host.pebs_reload_msrs.  When
 * the buffer is full, absent or faults, the record is lost and the counter continues from 0.  When the index
 * has reached the threshold (also when it was there already and the record is lost), OvfDSBuffer (status bit
 * 62) is set and a PMI is requested.  With INT set, the overflow itself requests a PMI as without PEBS.  Lower
 * counters are handled first, general-purpose ones before fixed ones, the assist before the PMI.
 *
 * Load latency: loads whose time from dispatch to completion is above the threshold (at least 3) count.  The
 * machine watches one load in a few, this model all of them.  Front-end events (MSR_PEBS_FRONTEND):
 * frontend_event and tag_bubbles.
 *
 * GUESS: the record of an imprecise event has the state after that next instruction (its LBR group ends before
 * it); a loop of distinct instructions on such a machine settles it.
 * GUESS: with PMI_AFTER_EACH_RECORD (bit 60, output into the trace) the overflow bit stays set and the PMI is
 * the counter's own.  GUESS: an armed counter is disarmed by clearing its bit of IA32_PEBS_ENABLE and by
 * nothing else.  GUESS: a full buffer does not reload the counter (as the manual says of Goldmont).
 * GUESS: retired instructions (C0H, mask 00H) are precise before Ice Lake, with any CMASK and INV.  The manual lists
 * them for Core only, but Linux samples cycles:p by them (INV, CMASK 10H) on these machines, too.  Counting the
 * records of this code on a Skylake settles it.  Precise with any CMASK and INV are also INST_RETIRED.PREC_DIST and
 * UOPS_RETIRED.ALL of Sandy Bridge to Skylake: Linux samples cycles by them (cycles:ppp, and cycles:p before Skylake).
 */
#include "../pmu_internal.h"
#include <string.h>

#define CAP_FW_WRITE (UINT64_C(1) << 13)
#define CAP_PEBS_OUTPUT_PT (UINT64_C(1) << 16)
#define ENABLE_PRECISE_STORE (UINT64_C(1) << 63)
#define ENABLE_PMI_EACH (UINT64_C(1) << 60)
enum { LATENCY_MIN = 3 };
/* MSR_PEBS_FRONTEND[7:0] */
enum {
	FRONTEND_ANY_DSB_MISS = 0x01, FRONTEND_LATENCY = 0x06, FRONTEND_MS_FLOWS = 0x08,
	FRONTEND_DSB_MISS = 0x11, FRONTEND_L1I_MISS = 0x12, FRONTEND_L2_MISS = 0x13, FRONTEND_ITLB_MISS = 0x14,
	FRONTEND_STLB_MISS = 0x15, FRONTEND_UNKNOWN_BRANCH = 0x17
};

int pmu_pebs_format(const struct spmu *p)
{
	if (p->model->family == &pmu_netburst)
		return 0;
	if (p->model->family != &pmu_arch || p->model->version < 2)
		return PEBS_NONE;
	int format = p->model->capabilities >> 8 & 15;
	return format <= 5 ? format : PEBS_NONE;
}

/* Nehalem and Westmere: format 1 without full-width writes. */
static bool is_nehalem(const struct spmu *p)
{
	return pmu_pebs_format(p) == 1 && !(p->model->capabilities & CAP_FW_WRITE);
}

static bool is_sandy_bridge(const struct spmu *p)
{
	return pmu_pebs_format(p) == 1 && p->model->capabilities & CAP_FW_WRITE;
}

uint64_t pmu_pebs_enable_bits(const struct spmu *p)
{
	const struct spmu_model *m = p->model;
	int format = pmu_pebs_format(p);
	uint64_t gp = (UINT64_C(1) << m->gp) - 1;
	if (format < 1)
		return format < 0 ? 0 : 1;
	if (format >= 4)
		return (gp & 0xff) | ((UINT64_C(1) << m->fixed) - 1) << 32 |
			(m->capabilities & CAP_PEBS_OUTPUT_PT ? UINT64_C(7) << 60 : 0);
	gp &= 15;		/* PMC4 to PMC7 do not sample */
	return gp | gp << 32 | (is_sandy_bridge(p) ? ENABLE_PRECISE_STORE : 0);
}

bool pmu_pebs_to_trace(const struct spmu *p)
{
	return p->model->family == &pmu_arch && p->model->capabilities & CAP_PEBS_OUTPUT_PT &&
		(p->ds.enable >> 61 & 3) == 1;
}

static bool is_fixed(const struct spmu *p, unsigned i)
{
	return i >= p->model->gp && i < p->model->gp + p->model->fixed;
}

bool pmu_pebs_on(const struct spmu *p, unsigned i)
{
	int format = pmu_pebs_format(p);
	if (p->model->family != &pmu_arch || !p->ds.enable || format < 0)
		return false;
	if (!(pmu_pebs_to_trace(p) ? p->host.pebs_output != NULL || pmu_ds_memory(p) : pmu_ds_memory(p)))
		return false;
	if (i < p->model->gp)
		return p->ds.enable >> i & 1;
	return format >= 4 && is_fixed(p, i) && p->ds.enable >> (32 + i - p->model->gp) & 1;
}

/* ---- events that need more than the record's bits ----------------------------------------------------------- */

/* Counter i counts loads above a latency, which needs PEBS. */
static bool is_latency(const struct spmu *p, unsigned i)
{
	return pmu_pebs_format(p) >= 1 && i < p->model->gp &&
		(p->arch.evtsel[i] & 0xffff) == (is_nehalem(p) ? 0x100bu : 0x01cdu);
}

/* Counter i counts stores that PEBS must watch: Sandy Bridge and Ivy Bridge. */
static bool is_precise_store(const struct spmu *p, unsigned i)
{
	return is_sandy_bridge(p) && i < p->model->gp && (p->arch.evtsel[i] & 0xffff) == 0x02cd;
}

enum pmu_pebs_extra pmu_pebs_extra(const struct spmu *p, unsigned i)
{
	int format = p->model->family == &pmu_arch ? pmu_pebs_format(p) : PEBS_NONE;
	if (format < 1 || i >= p->model->gp)
		return EXTRA_NONE;
	unsigned event = p->arch.evtsel[i] & 0xffff;
	if (is_latency(p, i))	/* before Ice Lake it has an enable bit of its own */
		return p->ds.enable >> i & 1 && (format >= 4 || p->ds.enable >> (32 + i) & 1) ? EXTRA_LATENCY
			: EXTRA_NONE;
	const bool store_sample = (event == 0x02cd || event == 0x03cd) && format >= 5;
	if (is_precise_store(p, i) ? i == 3 && p->ds.enable & ENABLE_PRECISE_STORE : store_sample)
		return EXTRA_STORE;
	return event == 0x01c6 && format >= 3 ? EXTRA_FRONTEND : EXTRA_NONE;
}

const struct pmu_expr *pmu_pebs_expr(const struct spmu *p, unsigned i)
{
	const struct pmu_row *row = p->row[i];
	if ((is_latency(p, i) && pmu_pebs_extra(p, i) != EXTRA_LATENCY) ||
		(is_precise_store(p, i) && pmu_pebs_extra(p, i) != EXTRA_STORE))
		return NULL;
	return row ? &row->expr : NULL;
}

/* Does the uop have the front-end event that MSR_PEBS_FRONTEND selects?  Codes: Intel's event lists,
 * FRONTEND_RETIRED (Skylake, Ice Lake, Sapphire Rapids); UNKNOWN_BRANCH is the branch itself.  A critical DSB
 * miss is one after an empty slot: tag_bubbles.  GUESS: each instruction that the legacy decoders delivered
 * counts as one that missed the DSB; counting a loop of many instructions a line that does not fit the DSB, on
 * such a machine, settles it. */
static bool frontend_event(const struct spmu *p, const struct spmu_record *r)
{
	bool first = r->is & SPMU_IS(INST_BEGIN), ice_lake = pmu_pebs_format(p) >= 4;
	switch (p->ds.frontend & 0xff) {
	case FRONTEND_ANY_DSB_MISS:
		return ice_lake && first && r->did & SPMU_DID(FROM_MITE);
	case FRONTEND_DSB_MISS:
		return !ice_lake && first && r->did & SPMU_DID(FROM_MITE);
	case FRONTEND_L1I_MISS:
		return r->did & SPMU_DID(ICACHE_MISS);
	case FRONTEND_L2_MISS:
		return r->did & SPMU_DID(FETCH_L2_MISS);
	case FRONTEND_ITLB_MISS:
		return r->did & SPMU_DID(ITLB_MISS_F);
	case FRONTEND_STLB_MISS:
		return r->did & SPMU_DID(FETCH_STLB_MISS);
	case FRONTEND_UNKNOWN_BRANCH:
		return ice_lake && r->did & SPMU_DID(BTB_MISS);
	case FRONTEND_MS_FLOWS:
		return first && r->did & SPMU_DID(FROM_MS);	/* (the bit is reserved before format 5) */
	default:
		return false;
	}
}

bool pmu_frontend_known(unsigned format, uint64_t value)
{
	switch (value & 0xff) {
	case FRONTEND_DSB_MISS:
	case FRONTEND_L1I_MISS:
	case FRONTEND_L2_MISS:
	case FRONTEND_ITLB_MISS:
	case FRONTEND_STLB_MISS:
	case FRONTEND_LATENCY:
		return true;
	case FRONTEND_ANY_DSB_MISS: case FRONTEND_UNKNOWN_BRANCH:
		return format >= 4;
	case FRONTEND_MS_FLOWS:
		return format >= 5;
	default:
		return false;
	}
}

/* The stretch up to `to` is long enough, and has not given an instruction its tag yet. */
static bool stretch_due(const struct pmu_stretch *now, uint64_t length, uint64_t to)
{
	return to - now->begin >= length && to > now->begin && to > now->tagged;
}

/* LATENCY_GE_n_BUBBLES_GE_m: tags the first instruction issued after n or more cycles in each of which m or
 * more slots stayed empty because the front end delivered no uops.  Critical DSB misses: tags the instruction
 * after any empty slot, if it came from the legacy decoders.  Uops are issued in program order, and stretches
 * come in order.  Everything that decides on an instruction's tag lies before its cycle, so the tags do not
 * depend on where a batch ends; a stretch at a batch's end continues in the next one.  GUESS: where some slots
 * of each cycle are filled, the first instruction of each of these cycles, from the nth on, comes after such a
 * stretch; a loop whose front end delivers three uops a cycle settles it for BUBBLES_GE_1. */
static void tag_bubbles(struct spmu *p, const struct spmu_batch *b, uint16_t *tag)
{
	const bool latency = (p->ds.frontend & 0xff) == FRONTEND_LATENCY;
	const uint64_t length = latency ? p->ds.frontend >> 8 & 0xfff : 1,
		       width = latency ? p->ds.frontend >> 20 & 7 : 1;
	uint32_t next = 0;	/* the first record whose stretch has not been read */
	if (p->ds.batch != p->batches)	/* else the batch is tagged again, after a handler */
		p->ds.open = p->ds.closing;
	p->ds.batch = p->batches;
	struct pmu_stretch now = p->ds.open;
	for (uint32_t i = 0; i <= b->count; i++) {	/* the last round reads the remaining stretches */
		const struct spmu_record *r = i < b->count ? &b->records[i] : NULL;
		if (r &&
			(r->kind != SPMU_REC_UOP || r->hw_thread != p->host.hw_thread ||
				!(r->is & SPMU_IS(INST_BEGIN)) || r->alloc == UINT32_MAX))
			continue;
		const uint64_t at = r ? b->base_cycle + r->alloc : UINT64_MAX;
		for (; next < b->count; next++) {
			const struct spmu_record *s = &b->records[next];
			if (s->kind == SPMU_REC_UOP || s->signal != SPMU_SIG_IDQ_BUBBLE ||
				s->hw_thread != p->host.hw_thread || s->did < width || s->end <= s->begin)
				continue;
			if (b->base_cycle + s->begin >= at)
				break;
			if (b->base_cycle + s->begin != now.end) {
				now.due |= stretch_due(&now, length, now.end);
				now.begin = b->base_cycle + s->begin;
			}
			now.end = b->base_cycle + s->end;
		}
		if (!r)
			break;
		const uint64_t to = now.end < at ? now.end : at;
		if (!now.due && !stretch_due(&now, length, to))
			continue;
		if (latency || r->did & SPMU_DID(FROM_MITE))
			tag[i] |= TAG_FRONTEND;	/* even if it is squashed: the tag goes with the uop */
		now.tagged = to;
		now.due = false;
	}
	p->ds.closing = now;
}

void pmu_pebs_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag)
{
	uint64_t threshold = p->ds.latency < LATENCY_MIN ? LATENCY_MIN : p->ds.latency;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		tag[i] = 0;
		if (r->kind != SPMU_REC_UOP)
			continue;
		if ((r->is & (SPMU_IS(LOAD) | SPMU_IS(PREFETCH_SW))) == SPMU_IS(LOAD) && r->complete != UINT32_MAX &&
			r->dispatch <= r->complete && r->complete - r->dispatch > threshold)
			tag[i] |= TAG_LATENCY;
		if (frontend_event(p, r))
			tag[i] |= TAG_FRONTEND;
	}
	if ((p->ds.frontend & 0xff) == FRONTEND_LATENCY ||
		((p->ds.frontend & 0xff) == FRONTEND_DSB_MISS && pmu_pebs_format(p) >= 4))
		tag_bubbles(p, b, tag);
	pmu_lbr_tag(p, b, tag);
}

/* ---- overflow ----------------------------------------------------------------------------------------------- */

enum way { WAY_NONE, WAY_ARMED, WAY_EXACT, WAY_NEXT };

static bool is_precise(const struct spmu *p, unsigned i)
{
	uint64_t v = p->arch.evtsel[i];
	if ((v & 0xffff) == 0x00c0 && pmu_pebs_format(p) < 4)
		return !(v & SPMU_EVTSEL_ANY);
	const struct pmu_row *row = pmu_find_code(p->model, v);
	if (!row || !(row->public.flags & SPMU_EVENT_PRECISE) || v & SPMU_EVTSEL_ANY)
		return false;
	const unsigned code = v & 0xffff;
	if ((code == 0x01c0 || code == 0x01c2) && pmu_pebs_format(p) < 4 && pmu_pebs_format(p) >= 1)
		return true;
	const struct spmu_event *e = &row->public;
	return e->cmask == (v >> 24 & 0xff) && e->inv == !!(v & SPMU_EVTSEL_INV) && e->edge == !!(v & SPMU_EVTSEL_EDGE);
}

static enum way way_of(const struct spmu *p, unsigned i)
{
	int format = pmu_pebs_format(p);
	if (i >= p->model->gp)
		return i == p->model->gp ? WAY_EXACT : WAY_NEXT;
	if (!is_precise(p, i) && pmu_pebs_extra(p, i) == EXTRA_NONE)
		return format >= 4 ? WAY_NEXT : WAY_NONE;
	if (format >= 4)
		return i == 0 ? WAY_EXACT : WAY_ARMED;
	/* PDIR: Sandy Bridge (format 1 with full-width writes) and later */
	return i == 1 && (p->arch.evtsel[i] & 0xffff) == 0x01c0 && format >= 1 && !is_nehalem(p) ? WAY_EXACT
		: WAY_ARMED;
}

static uint64_t status_bit(const struct spmu *p, unsigned i)
{
	return i < p->model->gp ? UINT64_C(1) << i : UINT64_C(1) << (32 + i - p->model->gp);
}

static void wait_for_next(struct spmu *p, unsigned i, uint64_t cycle)
{
	if (!p->ds.waiting || cycle < p->ds.waiting_since)
		p->ds.waiting_since = cycle;
	p->ds.waiting |= 1u << i;
}

/* SDM, section on PEBS of Goldmont: such a record "may also be generated". */
void pmu_pebs_status_set(struct spmu *p, uint64_t bits)
{
	for (unsigned i = 0; i < p->model->gp + p->model->fixed; i++)
		if (bits & status_bit(p, i) && pmu_pebs_on(p, i) && way_of(p, i) == WAY_NEXT)
			wait_for_next(p, i, p->in_pmi ? p->now : p->floor);
}

static void reload(struct spmu *p, unsigned i)
{
	uint64_t value;
	if (pmu_ds_counter_reset(p, i, &value))
		pmu_write_counter(p, i, value);
}

bool pmu_pebs_sample(struct spmu *p, unsigned i, const struct pmu_moment *at, bool *written)
{
	uint8_t bytes[PEBS_RECORD_MAX];
	size_t rip = 0, n;
	struct pmu_ds_buffer buffer;
	bool done = false, reached = false;
	if (written)
		*written = false;
	if (pmu_pebs_to_trace(p)) {
		n = pmu_pebs_bytes(p, i, at, bytes, &rip);
		p->effects++;
		if (p->host.pebs_output)
			p->host.pebs_output(p->host.context, bytes, n);
		if (written)
			*written = true;
		reload(p, i);
		return p->ds.enable & ENABLE_PMI_EACH && p->model->family->ds_pmi &&
			p->model->family->ds_pmi(p, false, at);
	}
	if (!pmu_ds_buffer(p, 1, &buffer))
		return false;
	n = pmu_pebs_bytes(p, i, at, bytes, &rip);
	if (pmu_ds_room(&buffer, n) && !p->host.write_memory(p->host.context, buffer.index, bytes, n) &&
		pmu_ds_set_index(p, 1, buffer.index + n)) {
		done = true;
		p->effects++;
		p->ds.rip_at = rip ? buffer.index + rip : 0;
		if (rip)
			memcpy(&p->ds.rip_was, bytes + rip, 8);
		buffer.index += n;
		reload(p, i);
	}
	reached = buffer.index >= buffer.threshold;
	if (written)
		*written = done;
	return reached && p->model->family->ds_pmi && p->model->family->ds_pmi(p, true, at);
}

bool pmu_pebs_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at)
{
	struct pmu_counter *c = &p->counter[i];
	struct pmu_moment where = *at;
	bool waited = p->ds.waiting >> i & 1;
	if (!pmu_pebs_on(p, i)) {
		p->ds.waiting &= ~(1u << i);
		return false;
	}
	enum way way = way_of(p, i);
	if (waited || (wrapped && way == WAY_NEXT)) {
		where.record = pmu_pebs_next(p, at->batch, at->next);
		if (where.record == at->batch->count && !at->batch->is_last) {	/* behind this batch */
			wait_for_next(p, i, at->cycle);
			return false;
		}
		p->ds.waiting &= ~(1u << i);
	} else if (wrapped && way == WAY_ARMED && !fired) {
		c->armed = true;
		c->armed_from = at->cycle + p->host.pebs_arming;
		return false;
	} else if (!(fired && way == WAY_ARMED) && !(wrapped && way == WAY_EXACT)) {
		c->armed = false;
		return false;
	}
	c->armed = false;
	bool written, changed = pmu_pebs_sample(p, i, &where, &written);
	if (!(pmu_pebs_to_trace(p) && p->ds.enable & ENABLE_PMI_EACH))
		p->arch.status &= ~status_bit(p, i);
	return changed;
}
