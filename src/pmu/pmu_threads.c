/* SPDX-License-Identifier: BSD-2-Clause
 * Hardware threads that share one PMU, as those of a NetBurst core do (spmu_host.siblings).
 *
 * Counters, CCCRs, ESCRs, MSR_PEBS_ENABLE, MSR_PEBS_MATRIX_VERT and MSR_TC_PRECISE_EVENT are the core's.  Each thread
 * has its own IA32_DS_AREA, MSR_DEBUGCTLA, branch stack and local APIC.  Source: SDM vol. 4, "MSRs in the Pentium 4 and
 * Intel Xeon Processors", column "Shared/Unique".  IA32_MISC_ENABLE, some of whose bits are shared, is kept by thread
 * here; the PMU's bits in it are read-only.
 *
 * p->ds and p->lvt belong to the thread that executes (p->on); those of the others wait in p->logical.  pmu_on swaps
 * them, which only happens when a register of another thread is needed.
 *
 * The batches of the threads come one after the other, and a batch is long.  So a thread that writes a register, or is
 * interrupted, is often ahead of the cycle that all threads have passed (pmu_known).  Behind that cycle nobody knows
 * yet how many threads run, so counters that look at several threads wait there: a value that is written to them
 * counts from that cycle on, and not from the write.  So no cycle is lost, and none counts twice.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

int pmu_threads_create(struct spmu *p)
{
	p->threads = p->last_thread = 1;
	if (p->model->family != &pmu_netburst || p->host.siblings < 2)
		return SPMU_OK;
	if (p->model->threads < 2 || p->host.siblings > PMU_THREADS)
		return SPMU_EINPUT;
	p->threads = p->host.siblings;
	p->last_thread = p->threads - 1;
	p->logical = calloc(p->threads, sizeof *p->logical);
	if (!p->logical)
		return SPMU_ENOMEM;
	for (unsigned i = 1; i < p->threads; i++)
		p->logical[i] = (struct pmu_logical){ .ds = p->ds, .lvt = p->lvt };
	return SPMU_OK;
}

void pmu_threads_destroy(struct spmu *p)
{
	free(p->logical);
}

unsigned pmu_on(struct spmu *p, unsigned thread)
{
	unsigned was = p->on;
	if (thread == was || thread >= p->threads)
		return was;
	p->logical[was] = (struct pmu_logical){ .ds = p->ds, .lvt = p->lvt };
	p->ds = p->logical[thread].ds;
	p->lvt = p->logical[thread].lvt;
	p->on = thread;
	return was;
}

uint32_t *pmu_lvt(struct spmu *p, unsigned thread)
{
	return thread == p->on || thread >= p->threads ? &p->lvt : &p->logical[thread].lvt;
}

void pmu_drop_masked(struct spmu *p)
{
	for (unsigned set = p->pmi_to; set; set &= set - 1) {
		unsigned thread = (unsigned)__builtin_ctz(set);
		if (*pmu_lvt(p, thread) & PMU_LVT_MASKED)
			p->pmi_to &= (uint8_t)~(1u << thread);
	}
	p->pending = p->pmi_to != 0;
}

size_t pmu_threads_bytes(const struct spmu *p)
{
	return (p->threads - 1) * sizeof *p->logical;
}

void pmu_threads_save(const struct spmu *p, void *out)
{
	if (p->threads > 1)
		memcpy(out, p->logical + 1, pmu_threads_bytes(p));
}

bool pmu_threads_fit(const struct spmu *p, const void *in)
{
	const struct pmu_logical *saved = in;
	for (unsigned i = 1; i < p->threads; i++) {
		struct pmu_logical one;
		memcpy(&one, saved + i - 1, sizeof one);
		if (one.ds.lbr.style != p->ds.lbr.style)
			return false;
	}
	return true;
}

void pmu_threads_put(struct spmu *p, const void *in)
{
	if (p->threads > 1)
		memcpy(p->logical + 1, in, pmu_threads_bytes(p));
	for (unsigned i = 1; i < p->threads; i++)
		p->logical[i].lvt &= UINT32_C(0x7ff) | PMU_LVT_MASKED;
}

int pmu_threads_restored(struct spmu *p)
{
	int error = SPMU_OK;
	for (unsigned i = p->threads; i-- > 0 && !error;) {	/* thread 0 executes at the end */
		pmu_on(p, i);
		error = pmu_ds_restored(p);
	}
	pmu_on(p, 0);
	return error;
}

/* ---- register writes ------------------------------------------------------------------------------------------ */

uint64_t pmu_known(const struct spmu *p)
{
	const uint64_t end = p->ended ? pmu_ring_end(p) : 0, known = p->known > p->passed ? p->known : p->passed;
	return end > known ? end : known;
}

void spmu_pass(struct spmu *p, uint64_t cycle)
{
	if (cycle > p->passed && cycle <= PMU_CYCLE_LAST)
		p->passed = cycle;
}

void spmu_leave(struct spmu *p, uint8_t hw_thread)
{
	const unsigned thread = (unsigned)(hw_thread ^ p->host.hw_thread);
	if (thread < p->threads && p->threads > 1)
		p->left |= (uint8_t)(1u << thread);
}

uint64_t pmu_write_cycle(const struct spmu *p)
{
	return p->in_pmi ? p->now : p->reached[p->on];
}

/* What the counter counts depends on thread p->on alone. */
static bool alone(const struct spmu *p, const struct pmu_counter *c)
{
	return !c->active && !((c->who | c->while_in) & ~((unsigned)WHO_OWN << 2 * p->on));
}

void pmu_settle_shared(struct spmu *p, uint32_t set, uint32_t changes)
{
	const uint64_t known = pmu_known(p);
	uint32_t ahead = 0;
	pmu_ring_settle(p, p->in_pmi && p->now < known ? p->now : known);
	for (uint32_t left = set; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctz(left);
		if (p->counter[i].mode == MODE_RING && (changes >> i & 1 || alone(p, &p->counter[i])))
			ahead |= 1u << i;
	}
	if (ahead)
		pmu_ring_ahead(p, ahead, pmu_write_cycle(p));
}

void pmu_threads_begin(struct spmu *p, const struct spmu_batch *b)
{
	p->ended = b->is_last;
	if (b->watermark > p->known && b->watermark <= PMU_CYCLE_LAST)
		p->known = b->watermark;
	for (uint32_t i = 0; p->left && i < b->count; i++)
		p->left &= (uint8_t)~(1u << pmu_thread(p, b->records[i].hw_thread));
}

void pmu_threads_remember(struct spmu *p, const struct spmu_batch *b)
{
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		uint64_t *reached = &p->reached[pmu_thread(p, r->hw_thread)], cycle = b->base_cycle;
		if (r->kind != SPMU_REC_UOP)
			cycle += r->end;
		else if (r->did & SPMU_DID(RETIRED))
			cycle += r->retire + UINT64_C(1);
		if (cycle > *reached)
			*reached = cycle;
	}
}

int spmu_execute_on(struct spmu *p, uint8_t hw_thread)
{
	unsigned thread = (unsigned)(hw_thread ^ p->host.hw_thread);
	if (thread && thread >= p->threads)
		return SPMU_EINPUT;
	pmu_on(p, thread);
	return SPMU_OK;
}
