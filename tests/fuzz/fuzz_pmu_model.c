/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness that compares the PMU with a second, naive model (naive_pmu.h), operation by operation: WRMSR,
 * RDMSR, RDPMC, CR4.PCE, the local APIC's entry, save and restore, events of the table, and stretches of records as a
 * core sends them (one or two threads, user and kernel, squashed uops, every signal, cut into batches), with
 * interrupts whose handler writes registers.
 *
 *   make fuzz; TOP=. build/fuzz/fuzz_pmu_model -max_total_time=600 -len_control=0 -max_len=900 /tmp/new
 *     tests/fuzz/corpus/fuzz_pmu_model
 *
 * Checked: the same outcome of every operation, the same value of every register and counter after it, and the
 * same interrupts: cycle, instruction, status. FUZZ_TRACE in the environment tells each operation and record,
 * to stderr.
 *
 * What the harness avoids:
 *   - Registers change only between stretches, when all records are known, or in a handler.
 *   - PMIs have no latency, and a stretch with PMIs has the records of one thread.
 *   - If an interrupting event does not count at retirement, the stretch is one batch; otherwise the instruction to
 *     interrupt could lie in an earlier batch.
 *   - If counters may freeze or start each other, the stretch is one batch. A core sends the cycle of a batch's last
 *     retirement with the next batch, so a freeze in that cycle would be too late and one cycle short.
 *   - Nothing is counted after the instruction that ends such a stretch.
 *   - If a handler changes more than counters' values, the stretch is one batch, too: cycles from before the change
 *     that a later batch brings are counted as the handler left the registers (pmu.h, spmu_host.pmi).
 */
#include "naive_pmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input { const uint8_t *at, *end; };

enum { SCRIPTS = 4, OPS = 4, LOG = 64, CLEAR_STATUS = 1, UNMASK = 2 };
struct script { struct { uint32_t msr; uint64_t value; } op[OPS]; unsigned ops, flags; };
struct taken { uint64_t cycle, overflow_cycle, status; unsigned record; };
struct log { struct taken at[LOG]; unsigned n; };

struct pair {
	struct input in;
	struct spmu_host host;
	uint64_t now;			/* no record has a cycle below this */
	struct naive_record r[NAIVE_RECORDS];
	unsigned records, cut[NAIVE_RECORDS], cuts;	/* batches begin at cut[] */
	unsigned sent;			/* records before the current batch */
	struct script script[SCRIPTS];	/* what the handler does */
	struct log log, naive_log;
	const struct spmu_model *m;
	struct spmu *p;
	struct naive n, saved_n;
	uint8_t *saved;
	bool has_saved;
};

static bool tracing;
#define TRACE(...) do { if (tracing) fprintf(stderr, __VA_ARGS__); } while (0)

static void differ(const struct pair *q, const char *what, uint64_t where, uint64_t pmu, uint64_t naive)
{
	fprintf(stderr, "DIFFERENCE (%s) in %s %llX: PMU %llX, naive model %llX\n", spmu_model_core(q->m), what,
		(unsigned long long)where,
		(unsigned long long)pmu, (unsigned long long)naive);
	abort();
}

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static void compare_msr(struct pair *q, uint32_t msr)
{
	uint64_t a = 0, b = 0;
	int x = spmu_rdmsr(q->p, msr, &a), y = naive_rdmsr(&q->n, msr, &b);
	if (y == NAIVE_ANY)
		return;
	if (x != y)
		differ(q, "outcome of RDMSR", msr, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (x == SPMU_OK && a != b)
		differ(q, "RDMSR", msr, a, b);
}

static void compare_all(struct pair *q)
{
	for (unsigned i = 0; i < q->n.msrs; i++)
		compare_msr(q, q->n.msr[i].address);
	uint32_t a = 0, b = 0;
	int x = spmu_apic_read(q->p, SPMU_APIC_LVT_PC, &a), y = naive_apic_read(&q->n, SPMU_APIC_LVT_PC, &b);
	if (x != y || a != b)
		differ(q, "LVT", SPMU_APIC_LVT_PC, a, b);
}

static int both_wrmsr(struct pair *q, uint32_t msr, uint64_t value)
{
	int x = spmu_wrmsr(q->p, msr, value), y = naive_wrmsr(&q->n, msr, value);
	TRACE("wrmsr %X <- %llX: %d, %d\n", msr, (unsigned long long)value, x, y);
	if (y != NAIVE_ANY && x != y)
		differ(q, "outcome of WRMSR", msr, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (y == NAIVE_ANY && x == SPMU_OK) {
		uint64_t v = 0;
		const struct naive_msr *r = naive_find(&q->n, msr);
		uint32_t from = r && (r->kind == NAIVE_CLEAR || r->kind == NAIVE_SET) ? 0x38e : msr;
		if (spmu_rdmsr(q->p, from, &v) == SPMU_OK)
			naive_adopt(&q->n, from, v);
	}
	return x;
}

/* A row of the table, so that the fuzzer need not guess codes. */
static void program(struct pair *q)
{
	size_t k = take(&q->in, 2) % q->m->rows;
	const struct spmu_event *e = &q->m->row[k].public;
	unsigned pmc = (unsigned)take(&q->in, 1), more = (unsigned)take(&q->in, 1);
	uint32_t mask = e->pmc_mask & ((UINT32_C(1) << q->n.gp) - 1);
	TRACE("program %s\n", e->name);
	if (e->fixed >= 0 && (!mask || more & 128)) {
		uint64_t control = naive_reg(&q->n, 0x38d);
		if ((unsigned)e->fixed >= q->n.fixed)
			return;
		both_wrmsr(q, 0x38d, (control & ~(UINT64_C(15) << 4 * e->fixed)) |
			(uint64_t)(more & 11) << 4 * e->fixed);
		both_wrmsr(q, 0x38f, naive_reg(&q->n, 0x38f) | UINT64_C(1) << (32 + e->fixed));
		return;
	}
	if (!mask)
		return;
	for (pmc %= 18; !(mask >> pmc & 1);)
		pmc = (pmc + 1) % 18;
	uint64_t mods = more & 16 ? take(&q->in, 1) : 0;
	if (spmu_model_family(q->m) == SPMU_FAMILY_P5) {
		unsigned shift = 16 * pmc;
		both_wrmsr(q, 0x11, (naive_reg(&q->n, 0x11) & ~(UINT64_C(0x3ff) << shift)) |
			(e->event | (uint64_t)(more & 7) << 6) << shift);
	} else if (spmu_model_family(q->m) == SPMU_FAMILY_NETBURST) {
		uint32_t escr = e->escr[pmc < 12 ? pmc >> 1 & 1 : pmc == 14 || pmc == 15 || pmc == 17];
		uint64_t field = mods << 4 | (more & 8 ? 8 : 0), flow = 0;
		if (!naive_find(&q->n, escr))
			return;
		both_wrmsr(q, escr, SPMU_ESCR_EVENT(e->event) | SPMU_ESCR_MASK(e->umask) | (more & 15));
		if (more & 64) {	/* overflows */
			unsigned f = (unsigned)take(&q->in, 1);
			flow |= (f & 1 ? SPMU_CCCR_OVF_PMI_T0 : 0) | ((f & 6) == 6 ? SPMU_CCCR_FORCE_OVF : 0);
			flow |= f & 8 ? SPMU_CCCR_CASCADE : f & 16 ? SPMU_CCCR_EXTENDED_CASCADE & naive_find(&q->n,
				0x360 + pmc)->valid : 0;
		}
		flow |= flow & (SPMU_CCCR_CASCADE | SPMU_CCCR_EXTENDED_CASCADE) ? 0 : SPMU_CCCR_ENABLE;
		both_wrmsr(q, 0x360 + pmc, flow | SPMU_CCCR_SELECT(e->escr_select) | SPMU_CCCR_ACTIVE(more & 32
			? more >> 6 : 3) |
			(more & 16 ? (field << 16 & (SPMU_CCCR_THRESHOLD(15) | SPMU_CCCR_EDGE)) | (mods & 1
				? SPMU_CCCR_COMPLEMENT : 0) | SPMU_CCCR_COMPARE : 0));
	} else {
		uint64_t v = e->event | (uint64_t)e->umask << 8 | SPMU_EVTSEL_EN | (more & 1 ? SPMU_EVTSEL_USR
			: 0) | (more & 2 ? SPMU_EVTSEL_OS : 0) |
			(more & 8 ? SPMU_EVTSEL_INT : 0);
		if (more & 16)
			v |= SPMU_EVTSEL_CMASK(mods >> 3 & 7) | (mods & 1 ? SPMU_EVTSEL_INV : 0) | (mods & 2
				? SPMU_EVTSEL_EDGE : 0);
		else
			v |= SPMU_EVTSEL_CMASK(e->cmask) | (e->inv ? SPMU_EVTSEL_INV : 0) | (e->edge ? SPMU_EVTSEL_EDGE
				: 0);
		const struct naive_msr *r = naive_find(&q->n, 0x186 + pmc);
		v |= more & 4 ? SPMU_EVTSEL_ANY & r->valid : 0;
		both_wrmsr(q, 0x186 + pmc, v & (r->valid | r->loose) & ~(r->loose & SPMU_EVTSEL_EN));
		if (spmu_model_family(q->m) == SPMU_FAMILY_P6)
			both_wrmsr(q, 0x186, naive_reg(&q->n, 0x186) | SPMU_EVTSEL_EN);
		else if (q->n.version >= 2)
			both_wrmsr(q, 0x38f, naive_reg(&q->n, 0x38f) | UINT64_C(1) << pmc);
	}
	if (more & 64) {
		for (unsigned i = 0; i < q->n.msrs; i++)
			if (q->n.msr[i].counter == pmc && (q->n.msr[i].kind == NAIVE_NARROW ||
				(q->n.msr[i].kind == NAIVE_WIDE && !q->n.version))) {
				both_wrmsr(q, q->n.msr[i].address,
					(UINT64_C(0) - 1 - (take(&q->in, 1) & 15)) & naive_width(&q->n, pmc));
				break;
			}
	}
}

/* Switches off the counters whose set-up the sources do not describe. */
static void switch_off_unsettled(struct pair *q)
{
	int i;
	while ((i = naive_unsettled(&q->n)) >= 0) {
		TRACE("unsettled: counter %d\n", i);
		if (i >= 16 && q->n.version)
			both_wrmsr(q, 0x38d, naive_reg(&q->n, 0x38d) & ~(UINT64_C(15) << 4 * (i - 16)));
		else if (spmu_model_family(q->m) == SPMU_FAMILY_P5)
			both_wrmsr(q, 0x11, naive_reg(&q->n, 0x11) & ~(UINT64_C(0x3ff) << 16 * i));
		else if (spmu_model_family(q->m) == SPMU_FAMILY_NETBURST)
			both_wrmsr(q, 0x360 + (uint32_t)i, 0);
		else
			both_wrmsr(q, 0x186 + (uint32_t)i, 0);
	}
}

/* ---- records
 * ---------------------------------------------------------------------------------------------------------- */

static struct naive_record *add_record(struct pair *q)
{
	struct naive_record *x = &q->r[q->records++];
	memset(x, 0, sizeof *x);
	return x;
}

static void add_signal(struct pair *q, unsigned signal, unsigned cpl, unsigned thread, uint64_t begin, uint64_t end,
	uint64_t count)
{
	const uint64_t attributes = SPMU_ATTR(SHARED) | SPMU_ATTR(EXCLUSIVE) | SPMU_ATTR(MODIFIED) | SPMU_ATTR(FORCED);
	struct naive_record *x = add_record(q);
	x->r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = (uint8_t)cpl, .hw_thread = (uint8_t)thread,
		.port = 255, .signal = signal,
		.is = signal == SPMU_SIG_CYCLES ? 0 : (begin * 5 + end) * SPMU_ATTR(SHARED) & attributes,
		.did = count };
	x->at[0] = begin;
	x->at[1] = end;
}

static uint64_t lowest(const struct naive_record *x)
{
	uint64_t low = UINT64_MAX;
	for (unsigned k = 0; k < (x->r.kind == SPMU_REC_UOP ? 6u : 1u); k++)
		if (x->at[k] < low)
			low = x->at[k];
	return low;
}

static void send(struct pair *q, unsigned from, unsigned to, uint64_t base, uint64_t watermark, bool last)
{
	static struct spmu_record copy[NAIVE_RECORDS];
	struct spmu_batch b = { .base_cycle = base, .watermark = watermark, .count = to - from, .is_last = last,
		.user_only = 1, .records = copy };
	for (unsigned i = from; i < to; i++) {
		struct spmu_record *r = &copy[i - from];
		const uint64_t *at = q->r[i].at;
		*r = q->r[i].r;
		b.user_only &= r->cpl == 3 && r->hw_thread == q->r[from].r.hw_thread;
		b.hw_threads |= UINT64_C(1) << r->hw_thread;
		if (r->kind != SPMU_REC_UOP) {
			r->begin = (uint32_t)(at[0] - base);
			r->end = (uint32_t)(at[1] - base);
			continue;
		}
		if (r->did & SPMU_DID(RETIRED))
			b.instructions += !!(r->is & SPMU_IS(INST_END)) + !!(r->is & SPMU_IS(INST_END2));
		uint32_t *out[6] = { &r->fetch, &r->alloc, &r->ready, &r->dispatch, &r->complete, &r->retire };
		for (unsigned k = 0; k < 6; k++)
			*out[k] = at[k] == PMU_NEVER ? UINT32_MAX : (uint32_t)(at[k] - base);
	}
	q->sent = from;
	spmu_consume(q->p, &b);
}

/* ---- interrupts
 * --------------------------------------------------------------------------------------------------------- */

static void note(struct log *l, uint64_t cycle, uint64_t overflow_cycle, uint64_t status, unsigned record)
{
	if (l->n < LOG)
		l->at[l->n] = (struct taken){ cycle, overflow_cycle, status, record };
	l->n++;
}

/* The bits whose meaning is settled, so that both models agree on a 1. */
static uint64_t settled(const struct naive *n, uint32_t msr)
{
	const struct naive_msr *r = naive_find(n, msr);
	return r ? r->valid : 0;
}

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct pair *q = context;
	const struct script *s = &q->script[q->log.n % SCRIPTS];
	(void)b;
	TRACE("  PMU: interrupt at %llu (%llu) record %u behind %u status %llx\n", (unsigned long long)pmi->cycle,
		(unsigned long long)pmi->overflow_cycle, q->sent + pmi->record, pmi->behind,
		(unsigned long long)pmi->status);
	note(&q->log, pmi->cycle, pmi->overflow_cycle, pmi->status, q->sent + pmi->record);
	if (s->flags & UNMASK)
		spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	if (s->flags & CLEAR_STATUS)
		spmu_wrmsr(p, 0x390, pmi->status & settled(&q->n, 0x390));
	for (unsigned i = 0; i < s->ops; i++)
		if (spmu_wrmsr(p, s->op[i].msr, s->op[i].value) != SPMU_OK)
			differ(q, "WRMSR in the handler", s->op[i].msr, s->op[i].value, 0);
}

static void on_naive_pmi(void *context, struct naive *n, uint64_t cycle, uint64_t overflow_cycle, unsigned record)
{
	struct pair *q = context;
	const struct script *s = &q->script[q->naive_log.n % SCRIPTS];
	uint64_t status = n->version >= 2 ? n->status : 0;
	for (unsigned i = 0; i < 18 && n->msr[0].address == 0x300; i++)
		status |= naive_reg(n, 0x360 + i) >> 31 << i;
	TRACE("  naive: interrupt at %llu (%llu) record %u status %llx\n", (unsigned long long)cycle,
		(unsigned long long)overflow_cycle, record,
		(unsigned long long)status);
	note(&q->naive_log, cycle, overflow_cycle, status, record);
	if (s->flags & UNMASK)
		naive_apic_write(n, SPMU_APIC_LVT_PC, 0x400);
	if (s->flags & CLEAR_STATUS)
		naive_wrmsr(n, 0x390, status & settled(n, 0x390));
	for (unsigned i = 0; i < s->ops; i++)
		naive_wrmsr(n, s->op[i].msr, s->op[i].value);
}

/* Switches on everything that a handler might switch on; returns whether each counter's meaning is settled then. */
static bool settled_when_on(struct naive *try)
{
	uint32_t gate = try->version >= 2 ? 0x38f : 0x186;
	naive_wrmsr(try, gate, try->version >= 2 ? settled(try, gate) : naive_reg(try, gate) | (try->version ? 0
		: SPMU_EVTSEL_EN));
	return naive_unsettled(try) < 0 && !naive_edges(try);
}

/* Chooses what the handler will do in this stretch: reload counters, stop and start them, change their events. */
static void write_scripts(struct pair *q, bool counters_only)
{
	static struct naive try;
	try = q->n;
	counters_only |= !settled_when_on(&try);
	for (unsigned k = 0; k < SCRIPTS; k++) {
		struct script *s = &q->script[k];
		unsigned what = (unsigned)take(&q->in, 1);
		s->flags = (what & 7 ? UNMASK : 0) | (what & 8 ? 0 : CLEAR_STATUS);
		s->ops = 0;
		for (unsigned j = 0; j < what >> 5 && s->ops < OPS; j++) {
			unsigned kind = (unsigned)take(&q->in, 1), arg = (unsigned)take(&q->in, 1),
				pmc = (kind >> 3) % q->n.gp;
			uint32_t msr = q->n.msr[0].address;
			uint64_t value;
			if (counters_only || (kind & 3) < 2) {
				msr = q->n.version || msr == 0x186 ? 0xc1 + pmc : 0x300 + pmc;
				value = UINT64_C(0) - 1 - (arg & 63);
				value &= naive_width(&q->n, pmc);
			} else if ((kind & 3) == 2 && q->n.version >= 2) {
				msr = 0x38f;
				value = naive_reg(&q->n, msr) ^ UINT64_C(1) << arg % q->n.gp;
			} else if (q->n.version || msr == 0x186) {
				const struct pmu_row *row = &q->m->row[(arg << 4 | kind >> 4) % q->m->rows];
				struct naive_setup setup;
				msr = 0x186 + pmc;
				value = row->public.event | (uint64_t)row->public.umask << 8 |
					SPMU_EVTSEL_CMASK(row->public.cmask) | SPMU_EVTSEL_USR |
					SPMU_EVTSEL_OS | (row->public.inv ? SPMU_EVTSEL_INV : 0) | (q->n.version ||
						!pmc ? SPMU_EVTSEL_EN : 0) |
					(arg & 1 ? SPMU_EVTSEL_INT : 0);
				try = q->n;
				if (naive_wrmsr(&try, msr, value) != SPMU_OK || !settled_when_on(&try))
					continue;
				naive_setup(&try, pmc, &setup);
				if (setup.threshold)
					continue;
			} else if (q->n.msr[0].address == 0x300) {
				msr = 0x360 + pmc;
				value = naive_reg(&q->n, msr) & ~(uint64_t)SPMU_CCCR_OVF;
			} else {
				continue;
			}
			s->op[s->ops].msr = msr;
			s->op[s->ops++].value = value;
			TRACE("  script %u: %X <- %llX\n", k, msr, (unsigned long long)value);
		}
	}
}

static void trace_records(const struct pair *q)
{
	for (unsigned i = 0; tracing && i < q->records; i++) {
		const struct spmu_record *r = &q->r[i].r;
		fprintf(stderr, "  %3u t%u cpl%u ", i, r->hw_thread, r->cpl);
		if (r->kind == SPMU_REC_SIGNAL)
			fprintf(stderr, "sig %u count %llu at", r->signal, (unsigned long long)r->did);
		else
			fprintf(stderr, "uop is %llx did %llx port %u at", (unsigned long long)r->is,
				(unsigned long long)r->did, r->port);
		for (unsigned k = 0; k < (r->kind == SPMU_REC_SIGNAL ? 2u : 6u); k++)
			fprintf(stderr, " %lld", (long long)q->r[i].at[k]);
		fprintf(stderr, "\n");
	}
}

/* Makes and sends a stretch of records: uops in program order and signals, cut into batches. At its end all records
 * are known. */
static void stretch(struct pair *q)
{
	static const uint64_t kinds[][2] = { { 0, 0 }, { SPMU_IS(LOAD), SPMU_DID(L1D_HIT) }, { SPMU_IS(LOAD),
		SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT) },
		{ SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(TAKEN) }, { SPMU_IS(BRANCH) | SPMU_IS(COND),
		SPMU_DID(MISPREDICTED) }, { SPMU_IS(STORE_ADDR), 0 },
		{ SPMU_IS(BRANCH) | SPMU_IS(RET), SPMU_DID(TAKEN) }, { SPMU_IS(DIVIDE) | SPMU_IS(MULTIPLY), 0 } };
	enum spmu_pmu_family family = spmu_model_family(q->m);
	bool single = naive_interrupts(&q->n), whole = naive_interrupts_late(&q->n), inside[2] = { 0 };
	/* then no two uops retire in one cycle, and the stretch is one batch */
	bool alone = naive_freezes(&q->n) || naive_cascades(&q->n);
	whole |= alone && single;
	unsigned head = (unsigned)take(&q->in, 1), items = (unsigned)take(&q->in, 1) & 63, cpl[2] = { head & 1 ? 0 : 3,
		head & 2 ? 0 : 3 };
	bool reload_only = !(head & 64);
	whole |= single && !reload_only;
	bool two = head & 4 && !single && (family == SPMU_FAMILY_ARCH || family == SPMU_FAMILY_NETBURST);
	uint64_t from = q->now, fetch = from + 2, retired[2] = { from + 2, from + 2 }, counted[2] = { from + 2,
		from + 2 }, top = from + 2, ip = 0x1000;
	q->records = q->cuts = 0;
	q->cut[q->cuts++] = 0;
	for (unsigned i = 0; i < items && q->in.at < q->in.end && q->records + 8 < NAIVE_RECORDS; i++) {
		unsigned kind = (unsigned)take(&q->in, 1), th = two ? kind >> 7 : 0, thread = th ^ q->n.hw_thread;
		if ((kind & 3) == 3) {
			unsigned signal = (unsigned)take(&q->in, 1) % SPMU_SIG_COUNT, span = (unsigned)take(&q->in, 1);
			enum spmu_signal_kind k = pmu_signal_kind(signal);
			uint64_t begin = fetch + (kind >> 2 & 7), end = begin + (k == SPMU_POINT ? 0 : 1 + (span & 31));
			if (signal == SPMU_SIG_CYCLES)
				continue;
			add_signal(q, signal, cpl[th], thread, begin, end, 1 + (span >> 5));
			top = end > top ? end : top;
		} else {
			struct naive_record *x = add_record(q);
			unsigned shape = (unsigned)take(&q->in, 1), bits = (unsigned)take(&q->in, 2);
			bool squashed = (kind & 3) == 2 && !inside[th], ends = !(shape & 8);
			uint64_t *at = x->at;
			x->r = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = (uint8_t)cpl[th],
				.hw_thread = (uint8_t)thread, .port = (uint8_t)(bits >> 12) };
			x->r.is = kinds[shape & 7][0] | SPMU_IS(EXEC) | SPMU_IS(SLOT) |
				UINT64_C(1) << (bits & 63) % SPMU_IS_COUNT;
			x->r.did = kinds[shape & 7][1] | UINT64_C(1) << (bits >> 6 & 63) % SPMU_DID_COUNT;
			x->r.is &= ~(SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(INST_END2) |
				SPMU_IS(STRING_REP));
			x->r.did &= ~SPMU_DID(RETIRED);
			/* NetBurst's counters count at most 15 a clock */
			fetch += (kind >> 2 & 3) + (family == SPMU_FAMILY_NETBURST);
			at[0] = fetch;
			at[1] = at[0] + (shape >> 4 & 3);
			at[2] = at[1] + (shape >> 6 & 3);
			at[3] = at[2] + (kind >> 4 & 3);
			at[4] = at[3] + 1 + (bits >> 3 & 7);
			if (squashed) {
				at[5] = at[4] + 1;
				if (kind & 64)
					at[3] = at[4] = PMU_NEVER;
				if (kind & 64 && bits & 1)
					at[5] = PMU_NEVER;
			} else {
				uint64_t earliest = retired[th] + alone;
				retired[th] = at[5] = at[4] + 1 > earliest ? at[4] + 1 : earliest;
				x->r.did |= SPMU_DID(RETIRED);
				x->r.is |= inside[th] ? 0 : SPMU_IS(INST_BEGIN);
				x->r.is |= ends ? SPMU_IS(INST_END) | (shape == 0x80 ? SPMU_IS(INST_END2) : 0) : 0;
				ip += !inside[th];
				inside[th] = !ends;
			}
			x->r.ip = ip << 1 | th;
			for (unsigned k = 0; k < 6; k++)
				top = at[k] != PMU_NEVER && at[k] > top ? at[k] : top;
		}
		/* the batch ends here, with cycles up to its last retirement */
		if (kind & 64 && (kind & 3) != 2 && !(kind & 12) && !whole) {
			for (unsigned t = 0; t < 1u + two; t++)
				if (retired[t] > counted[t]) {
					add_signal(q, SPMU_SIG_CYCLES, cpl[t], t ^ q->n.hw_thread, counted[t],
						retired[t], 1);
					counted[t] = retired[t];
				}
			if (q->cut[q->cuts - 1] < q->records)
				q->cut[q->cuts++] = q->records;
		}
	}
	if (single) {	/* a last instruction, at which the last interrupt can be taken */
		struct naive_record *x = add_record(q);
		x->r = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = (uint8_t)cpl[0],
			.hw_thread = (uint8_t)q->n.hw_thread, .ip = 2 * ip + 2,
			.is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END), .did = SPMU_DID(RETIRED) };
		retired[0] = ++top;
		for (unsigned k = 0; k < 6; k++)
			x->at[k] = top;
	}
	for (unsigned t = 0; t < 1u + two; t++) {
		uint64_t end = head & 8 << t && !single ? top + 1 : retired[t];
		if (end > counted[t])
			add_signal(q, SPMU_SIG_CYCLES, cpl[t], t ^ q->n.hw_thread, counted[t], end, 1);
	}
	uint64_t to = top + (single ? 1 : 3), base = from;
	if (single)
		write_scripts(q, reload_only);
	q->log.n = q->naive_log.n = 0;
	TRACE("stretch: %u records, %u batches, cycles %llu to %llu%s\n", q->records, q->cuts, (unsigned long long)from,
		(unsigned long long)to,
		two ? ", two threads" : "");
	trace_records(q);
	for (unsigned k = 0; k < q->cuts; k++) {
		unsigned end = k + 1 < q->cuts ? q->cut[k + 1] : q->records;
		bool last = k + 1 == q->cuts;
		uint64_t mark = to;
		for (unsigned i = end; i < q->records; i++)
			mark = lowest(&q->r[i]) < mark ? lowest(&q->r[i]) : mark;
		send(q, q->cut[k], end, base, mark, last && (head & 32 || single));
		base = mark;
	}
	naive_run(&q->n, q->r, q->records, from, to);
	q->now = to;
	if (q->log.n != q->naive_log.n)
		differ(q, "number of interrupts", 0, q->log.n, q->naive_log.n);
	for (unsigned k = 0; k < q->log.n && k < LOG; k++) {
		const struct taken *a = &q->log.at[k], *b = &q->naive_log.at[k];
		if (a->cycle != b->cycle || a->overflow_cycle != b->overflow_cycle)
			differ(q, "cycle of an interrupt", k, a->cycle, b->cycle);
		if (a->record != b->record)
			differ(q, "instruction of an interrupt", k, a->record, b->record);
		if (a->status != b->status)
			differ(q, "status at an interrupt", k, a->status, b->status);
	}
}

/* Chooses an address: mostly of a register that exists, seldom the next one or any. */
static uint32_t some_msr(struct pair *q)
{
	unsigned which = (unsigned)take(&q->in, 1);
	if (which >= 250) {
		uint32_t any = (uint32_t)take(&q->in, 2);
		/* PEBS and tagging stay off, MSR_OFFCORE_RSP_x stay 0 */
		return (any >= 0x3f0 && any < 0x3f8) || any >> 1 == 0x1a6 >> 1 ? 0 : any;
	}
	if (which >= 245)
		return q->n.msr[take(&q->in, 1) % q->n.msrs].address + 1;
	return q->n.msr[which % q->n.msrs].address;
}

/* Chooses a value that is likely to be accepted, and sometimes one that is not. */
static uint64_t some_value(struct pair *q, uint32_t msr)
{
	unsigned how = (unsigned)take(&q->in, 1);
	const struct naive_msr *r = naive_find(&q->n, msr);
	uint64_t valid = r ? r->valid : ~UINT64_C(0), any = r ? r->valid | r->loose : ~UINT64_C(0);
	if (how < 160)
		return take(&q->in, 8) & valid;
	if (how < 200)
		return (UINT64_C(0) - 1 - (how & 7)) & valid;	/* a counter about to overflow; or all bits but some */
	if (how < 230)
		return UINT64_C(1) << (take(&q->in, 1) & 63);
	return how & 1 ? take(&q->in, 8) & any : take(&q->in, 8);
}

static void rdpmc(struct pair *q)
{
	static const uint32_t high[8] = { 0, 0, 0x40000000, 0x80000000, 0x20000000, 0xc0000000, 0x10000000,
		0x40000000 };
	unsigned which = (unsigned)take(&q->in, 1), cpl = which >> 3 & 3;
	uint32_t index = high[which & 7] | (uint32_t)(take(&q->in, 1) & 31);
	uint64_t a = 0, b = 0;
	int x = spmu_rdpmc(q->p, index, cpl, &a), y = naive_rdpmc(&q->n, index, cpl, &b);
	TRACE("rdpmc %X cpl %u: %d, %d\n", index, cpl, x, y);
	if (y == NAIVE_ANY)
		return;
	if (x != y)
		differ(q, "outcome of RDPMC", index, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (x == SPMU_OK && a != b)
		differ(q, "RDPMC", index, a, b);
}

static void lvt(struct pair *q)
{
	unsigned how = (unsigned)take(&q->in, 1);
	uint32_t offset = how & 0x80 && how & 0x40 ? (uint32_t)take(&q->in, 2) : SPMU_APIC_LVT_PC;
	uint32_t value = how & 1 ? (uint32_t)take(&q->in, 4) : how & 2 ? 0x10400 : 0x400, a = 0, b = 0;
	TRACE("apic %X <- %X\n", offset, value);
	int x = spmu_apic_write(q->p, offset, value), y = naive_apic_write(&q->n, offset, value);
	if (x != y)
		differ(q, "outcome of APIC write", offset, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	x = spmu_apic_read(q->p, offset, &a);
	y = naive_apic_read(&q->n, offset, &b);
	if (x != y || a != b)
		differ(q, "APIC read", offset, a, b);
}

static void save_restore(struct pair *q)
{
	unsigned how = (unsigned)take(&q->in, 1);
	TRACE("save or restore %u\n", how & 3);
	if (how & 1 || !q->has_saved) {
		spmu_save(q->p, q->saved);
		q->saved_n = q->n;
		q->has_saved = true;
	}
	if (how & 2) {
		int x = spmu_restore(q->p, q->saved);
		if (x != SPMU_OK)
			differ(q, "outcome of restoring", 0, (uint64_t)(int64_t)x, 0);
		q->n = q->saved_n;
	}
}

static void run(const struct spmu_model *m, const uint8_t *data, size_t size)
{
	struct pair *q = calloc(1, sizeof *q);
	if (!q)
		abort();
	q->in = (struct input){ data, data + size };
	q->m = m;
	unsigned shape = (unsigned)take(&q->in, 1);
	q->host = (struct spmu_host){ .context = q, .hw_thread = shape & 1, .siblings = shape & 6 ? 1 : 2 };
	q->host.pmi = shape & 128 ? NULL : on_pmi;
	q->now = 1000;
	if (spmu_create(&q->p, m, &q->host))
		abort();
	q->saved = malloc(spmu_state_bytes(q->p));
	naive_init(&q->n, m, &q->host);
	q->n.pmi = q->host.pmi ? on_naive_pmi : NULL;
	q->n.context = q;
	if (!(shape & 64)) {	/* an NMI, not masked */
		spmu_apic_write(q->p, SPMU_APIC_LVT_PC, 0x400);
		naive_apic_write(&q->n, SPMU_APIC_LVT_PC, 0x400);
	}
	compare_all(q);
	while (q->in.at < q->in.end) {
		unsigned op = (unsigned)take(&q->in, 1) % 32;
		if (op >= 24) {
			if (op < 29) {
				program(q);
			} else {
				switch_off_unsettled(q);
				stretch(q);
			}
			compare_all(q);
			continue;
		}
		op &= 15;
		if (op < 9) {
			uint32_t msr = some_msr(q);
			both_wrmsr(q, msr, some_value(q, msr));
			compare_msr(q, msr);
		} else if (op < 10) {
			compare_msr(q, (uint32_t)take(&q->in, 2));
		} else if (op < 12) {
			rdpmc(q);
		} else if (op < 13) {
			q->n.pce = take(&q->in, 1) & 1;
			spmu_set_cr4_pce(q->p, q->n.pce);
		} else if (op < 14) {
			lvt(q);
		} else {
			save_restore(q);
		}
		compare_all(q);
	}
	spmu_destroy(q->p);
	free(q->saved);
	free(q);
}

static const char *const names[] = { "p5", "p6", "netburst", "netburst-prescott", "yonah", "core2", "nehalem",
	"haswell", "skylake", "ice-lake", "golden-cove" };
enum { MODELS = sizeof names / sizeof *names };
static struct spmu_model *model[MODELS];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	for (unsigned i = 0; i < MODELS; i++)
		model[i] = load_model(names[i]);
	tracing = getenv("FUZZ_TRACE") != NULL;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	TRACE("model %s\n", names[data[0] % MODELS]);
	run(model[data[0] % MODELS], data + 1, size - 1);
	return 0;
}
