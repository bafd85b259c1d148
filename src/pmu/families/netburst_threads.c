/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst with more than two hardware threads on a core: registers of this model alone (softpmu/pmu.h,
 * MSR_THREADS_CAPABILITIES), and what they and the machine's own bits say together.
 *
 * ESCR and CCCR have bits for two threads.  MSR_THREADS(n) extends counter n: a set of threads and privilege levels,
 * of which any combination can be chosen; the numbers of running threads with which the counter counts, in place of
 * ACTIVE THREAD; and more threads to interrupt.  The set belongs to the counter and not to its ESCR, so that counters
 * which see one ESCR can count different threads: a unit has two ESCRs, one for each of two threads and none for a
 * third.  Counters 12 to 17 can write PEBS records of each thread, for the same reason.
 *
 * A register that is 0 leaves everything as on the machine: threads from T2 on are then not counted, and ACTIVE THREAD
 * means no thread, one, two, or any number.
 * An ESCR that tags does so for the threads of its own bits and for those in the sets of the running counters that
 * select it.
 */
#include "netburst_pmu.h"

#define CLASSES(v) ((unsigned)(v) & 0xffff)
#define USR 0x5555u
#define OS  0xaaaau
enum { FIRST_PEBS = 12 };	/* counters 12 to 17 see the ESCRs of the tagged events */

bool netburst_extended(const struct spmu *p)
{
	return p->threads > 2;
}

uint64_t netburst_threads_bits(const struct spmu *p, unsigned i)
{
	if (!netburst_extended(p))
		return 0;
	return pmu_everyone(p) | SPMU_THREADS_OVF_PMI((1u << p->threads) - 1) |
		SPMU_THREADS_ACTIVE((2u << p->threads) - 1) |
		(i >= FIRST_PEBS ? SPMU_THREADS_PEBS | SPMU_THREADS_PEBS_THREAD(7) : 0);
}

bool netburst_threads_valid(const struct spmu *p, unsigned i, uint64_t value)
{
	return !(value & ~netburst_threads_bits(p, i)) &&
		(!netburst_extended(p) || (value >> 41 & 7) < p->threads);
}

static unsigned own_bits(uint32_t escr)
{
	return (escr & SPMU_ESCR_T0_USR ? WHO_USER : 0) | (escr & SPMU_ESCR_T0_OS ? WHO_KERNEL : 0) |
		(escr & SPMU_ESCR_T1_USR ? WHO_OTHER_USER : 0) | (escr & SPMU_ESCR_T1_OS ? WHO_OTHER_KERNEL : 0);
}

static unsigned by_rule(const struct spmu *p, unsigned classes, bool independent)
{
	if (!independent)
		return classes;
	return ((classes & USR ? USR : 0) | (classes & OS ? OS : 0)) & pmu_everyone(p);
}

unsigned netburst_who(const struct spmu *p, unsigned i, uint32_t escr, bool independent)
{
	const unsigned classes = CLASSES(p->netburst.threads[i]);
	return by_rule(p, classes ? classes : own_bits(escr), independent);
}

unsigned netburst_tags_who(const struct spmu *p, unsigned e, bool independent)
{
	unsigned classes = own_bits(p->netburst.escr[e]);
	for (uint32_t set = netburst_counters(e); set; set &= set - 1) {
		const unsigned i = (unsigned)__builtin_ctz(set);
		if (netburst_wired(p->model, i, p->netburst.cccr[i] >> 13 & 7) == (int)e && netburst_running(p, i))
			classes |= CLASSES(p->netburst.threads[i]);
	}
	return by_rule(p, classes, independent);
}

uint16_t netburst_active(const struct spmu *p, unsigned i)
{
	const unsigned field = p->netburst.cccr[i] >> 16 & 3;
	const uint16_t set = p->netburst.threads[i] >> 24 & 0x1ff;
	if (p->model->threads < 2)
		return 0;
	return set ? set : field == 3 ? 0 : (uint16_t)(1u << field);
}

uint8_t netburst_interrupted(const struct spmu *p, unsigned i)
{
	const uint32_t v = p->netburst.cccr[i];
	return (v & SPMU_CCCR_OVF_PMI_T0 ? PMI_OWN : 0) | (v & SPMU_CCCR_OVF_PMI_T1 ? PMI_OTHER : 0) |
		(p->netburst.threads[i] >> 16 & 0xff);
}

int netburst_pebs_thread(const struct spmu *p, unsigned i)
{
	const uint32_t enable = p->netburst.pebs_enable;
	const uint64_t v = p->netburst.threads[i];
	if (v & SPMU_THREADS_PEBS)
		return v >> 41 & 7;
	return i == 16 && enable & SPMU_PEBS_MY_THREAD ? 0 : i == 17 && enable & SPMU_PEBS_OTHER_THREAD ? 1 : -1;
}
