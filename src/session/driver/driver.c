/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drivers of the architectural PMU, the P6's and the Pentium's (driver.h).
 *
 * Source of the order of writes: SDM vol. 3B, chapter "Performance Monitoring"; a counter is set up while
 * IA32_PERF_GLOBAL_CTRL (P6: PerfEvtSel0's enable bit; P5: CESR) keeps it still.
 */
#include "session/driver/driver.h"
#include "session/driver/branch_stack.h"
#include "session/events/counter_plan.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int driver_write(struct driver_writes *out, struct err *err, const char *name, uint32_t msr, uint64_t value,
	const char *why, ...)
{
	va_list args;
	if (out->count == sizeof out->write / sizeof *out->write)
		return err_set(err, ERR_UNSUPPORTED, "too many register writes: measure fewer events at a time");
	struct driver_write *w = &out->write[out->count++];
	*w = (struct driver_write){ .msr = msr, .value = value, .name = name };
	va_start(args, why);
	vsnprintf(w->why, sizeof w->why, why, args);
	va_end(args);
	return 0;
}

/* IA32_PERF_CAPABILITIES.PEBS_REC_FMT; -1: this PMU has no PEBS. */
static int pebs_format(const struct spmu_model *m)
{
	return spmu_model_family(m) == SPMU_FAMILY_ARCH && spmu_model_version(m) >= 2
		? (int)(spmu_model_capabilities(m) >> 8 & 15)
		: -1;
}

/* General-purpose counters that can make PEBS records: SDM vol. 3B, "Processor Event Based Sampling" of Core
 * (one), Nehalem (four), Ice Lake (all). */
static uint32_t pebs_counters(const struct spmu_model *m)
{
	return pebs_format(m) == 0 ? 1 : pebs_format(m) < 4 ? 15 : 255;
}

static int pebs_check(const struct spmu_model *m, const struct driver_event *e, struct err *err)
{
	if (pebs_format(m) < 0)
		return err_set(err, ERR_UNSUPPORTED, "'%s': this PMU has no PEBS", e->event->name);
	if (pebs_format(m) < 4 && !(e->event->flags & SPMU_EVENT_PRECISE))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' is not a precise event; PEBS takes other events only from Ice Lake on", e->event->name);
	if (e->fixed < 0 && !(e->event->pmc_mask & pebs_counters(m)))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': none of the counters that can count this event makes PEBS records", e->event->name);
	return 0;
}

/* Restricts a precise event to counters with precise distribution.  PDist: SDM vol. 3B, "Precise Distribution
 * (PDist)"; :ppp asks for it: Linux, core.c, spr_get_event_constraints. */
static uint32_t precise_counters(const struct spmu_model *m, const struct driver_event *e)
{
	if (!e->precise)
		return UINT32_MAX;
	return e->pdist && pebs_format(m) >= 4 && e->event->pmc_mask & 1 ? 1 : pebs_counters(m);
}

/* OFFCORE_RESPONSE_0 and _1 count the same, each by a register of its own: the event that counts on the same counters
 * by the other register.  NULL: there is none. */
static const struct spmu_event *other_offcore(const struct spmu_model *m, const struct spmu_event *e)
{
	const uint32_t msr = e->extra_msr == MSR_OFFCORE_RSP_0 ? MSR_OFFCORE_RSP_1
		: e->extra_msr == MSR_OFFCORE_RSP_1            ? MSR_OFFCORE_RSP_0 : 0;
	for (size_t i = 0; msr && i < spmu_model_events(m); i++) {
		const struct spmu_event *o = spmu_model_event(m, i);
		if (o->extra_msr == msr && o->pmc_mask == e->pmc_mask)
			return o;
	}
	return NULL;
}

/* The event counts by the other register, with its bits of PERFEVTSEL beside the code kept (as Linux does it:
 * arch/x86/events/intel/core.c, intel_fixup_er). */
static void take_other_offcore(const struct spmu_model *m, struct driver_event *e)
{
	e->event = other_offcore(m, e->event);
	e->evtsel = (e->evtsel & ~UINT64_C(0xffff)) | e->event->event | (uint64_t)e->event->umask << 8;
}

/* First fit over copies of the PMU, for families whose counters differ only in the masks of the events. */
static int assign(const struct spmu_model *m, struct driver_event *e, size_t n, unsigned room, unsigned *pmus,
	size_t *which, struct err *err)
{
	struct plan_item *item = calloc(n ? n : 1, sizeof *item);
	if (!item)
		return err_set(err, ERR_NOMEM, "out of memory");
	bool metrics = false;
	for (size_t i = 0; i < n; i++)
		metrics |= !!(e[i].event->flags & SPMU_EVENT_METRIC);
	for (size_t i = 0; i < n; i++)
		e[i].beside_metrics = metrics && e[i].fixed == 3 && !e[i].sampled && !e[i].precise &&
			!(e[i].event->flags & SPMU_EVENT_METRIC);
	for (size_t i = 0; i < n; i++) {
		const struct spmu_event *other = other_offcore(m, e[i].event);
		item[i] = (struct plan_item){ .evtsel = e[i].evtsel,
			.fixed = e[i].precise && pebs_format(m) < 4 ? -1 : e[i].fixed,
			.metric = driver_is_metric(&e[i]),
			.pmc_mask = e[i].event->flags & SPMU_EVENT_FIXED_ONLY
				? 0
				: e[i].event->pmc_mask & precise_counters(m, &e[i]),
			.extra_msr = e[i].event->extra_msr,
			.extra = e[i].extra,
			.other_msr = other ? other->extra_msr : 0 };
	}
	int rc = 0;
	for (size_t i = 0; i < n && !rc; i++)
		if (e[i].event->flags & SPMU_EVENT_METRIC && (e[i].sampled || e[i].precise)) {
			*which = i;
			rc = err_set(err, ERR_UNSUPPORTED,
				"a field of MSR_PERF_METRICS has no counter that overflows: it can be counted, not "
				"sampled; slots can be sampled");
		} else if (e[i].precise) {
			*which = i;
			rc = pebs_check(m, &e[i], err);
		}
	if (!rc)
		rc = plan_make(item, n, spmu_model_gp_counters_of(m, n ? e[0].threads : 1),
			spmu_model_fixed_counters(m), pmus, which, err);
	for (size_t i = 0; i < n && !rc; i++) {
		e[i].pmu = item[i].pmu;
		e[i].counter = item[i].gp;
		e[i].fixed = item[i].fixed;
		if (item[i].other)
			take_other_offcore(m, &e[i]);
		if (room && e[i].pmu >= room) {
			*which = i;
			rc = err_set(err, ERR_UNSUPPORTED,
				"no counter is left for this event%s; measure fewer events at a time",
				!e[i].event->extra_msr ? ""
					: ", or other events need other values in its second register");
		}
	}
	free(item);
	return rc;
}

static const char *numbered(const char *const *names, size_t count, unsigned i)
{
	return i < count ? names[i] : "";
}
#define NAME(list, i) numbered(list, sizeof (list) / sizeof *(list), (unsigned)(i))

static const char *rings(const struct driver_event *e)
{
	return e->user && e->kernel ? "all rings" : e->user ? "user mode" : "ring 0";
}

/* ---- architectural ------------------------------------------------------------------------------------------ */

#define RDPMC_FIXED (UINT32_C(1) << 30)
#define RDPMC_METRICS (UINT32_C(1) << 29)

static const char *const pmc_names[] = { "IA32_PMC0", "IA32_PMC1", "IA32_PMC2", "IA32_PMC3", "IA32_PMC4", "IA32_PMC5",
	"IA32_PMC6", "IA32_PMC7" };
static const char *const a_pmc_names[] = { "IA32_A_PMC0", "IA32_A_PMC1", "IA32_A_PMC2", "IA32_A_PMC3", "IA32_A_PMC4",
	"IA32_A_PMC5", "IA32_A_PMC6", "IA32_A_PMC7" };
static const char *const evtsel_names[] = { "IA32_PERFEVTSEL0", "IA32_PERFEVTSEL1", "IA32_PERFEVTSEL2",
	"IA32_PERFEVTSEL3", "IA32_PERFEVTSEL4", "IA32_PERFEVTSEL5", "IA32_PERFEVTSEL6", "IA32_PERFEVTSEL7" };
static const char *const fixed_names[] = { "IA32_FIXED_CTR0", "IA32_FIXED_CTR1", "IA32_FIXED_CTR2", "IA32_FIXED_CTR3" };

/* Loads above a latency, and stores that a bit of IA32_PEBS_ENABLE makes PEBS watch: they count only while PEBS
 * is on. */
static bool is_latency(const struct driver_event *e)
{
	return e->event->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD;
}

static bool is_precise_store(const struct driver_event *e)
{
	return e->event->extra_msr == MSR_IA32_PEBS_ENABLE;
}

/* IA32_PERF_CAPABILITIES.FW_WRITE: SDM vol. 3B, "Full-Width Writes to Performance Counter Registers". */
static bool full_width(const struct spmu_model *m)
{
	return spmu_model_capabilities(m) >> 13 & 1;
}

/* Bits of IA32_PEBS_ENABLE for a general-purpose counter.  Before Ice Lake, load latency has an enable bit of
 * its own. */
static uint64_t pebs_bits(const struct spmu_model *m, const struct driver_event *e)
{
	uint64_t bit = UINT64_C(1) << e->counter;
	return is_precise_store(e) ? bit | e->extra : is_latency(e) && pebs_format(m) < 4 ? bit | bit << 32 : bit;
}

/* The MSRs beside IA32_PERFEVTSELx that the copy's events need.  counter_plan.h gives a copy only events that
 * need the same value. */
static int extra_setup(const struct driver_event *e, size_t n, unsigned pmu, struct driver_writes *out, struct err *err)
{
	static const struct { uint32_t msr; const char *name, *why; } extras[] = {
		{ MSR_PEBS_LD_LAT_THRESHOLD, "MSR_PEBS_LD_LAT_THRESHOLD", "loads that take more cycles count" },
		{ MSR_PEBS_FRONTEND, "MSR_PEBS_FRONTEND", "the front-end event that counts" },
		{ MSR_OFFCORE_RSP_0, "MSR_OFFCORE_RSP_0", "the requests and answers that count" },
		{ MSR_OFFCORE_RSP_1, "MSR_OFFCORE_RSP_1", "the requests and answers that count" },
	};
	for (size_t k = 0; k < sizeof extras / sizeof *extras; k++)
		for (size_t i = 0; i < n; i++)
			if (e[i].pmu == pmu && e[i].event && e[i].event->extra_msr == extras[k].msr) {
				int rc = driver_write(out, err, extras[k].name, extras[k].msr, e[i].extra, "%s",
					extras[k].why);
				if (rc)
					return rc;
				break;
			}
	return 0;
}

/* Last branch records, which some events count: any branch in user mode.  Linux leaves them off unless samples hold
 * branch stacks, and these events then count 0. */
static int lbr_events_setup(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	struct driver_writes *out, struct err *err)
{
	struct lbr *l = NULL;
	size_t i = 0;
	while (i < n && !(e[i].pmu == pmu && e[i].event && e[i].event->flags & SPMU_EVENT_LBR))
		i++;
	int rc = i < n ? lbr_create(&l, m, spmu_model_core(m), 0, err) : 0;
	if (!rc && l)
		rc = lbr_setup(l, out, err);
	lbr_destroy(l);
	return rc;
}

/* Adaptive_Record: IA32_PERFEVTSELx[34], and a bit of each fixed counter.  SDM vol. 3B, "Adaptive PEBS". */
#define EVTSEL_ADAPTIVE (UINT64_C(1) << 34)
static bool adaptive(const struct spmu_model *m, const struct driver_event *e)
{
	return e->precise && e->pebs_data && pebs_format(m) >= 4;
}

/* IA32_PERF_GLOBAL_CTRL.EN_PERF_METRICS: SDM vol. 3B, "Performance Metrics". */
#define GLOBAL_METRICS (UINT64_C(1) << 48)

bool driver_is_metric(const struct driver_event *e)
{
	return e->beside_metrics || (e->event && e->event->flags & SPMU_EVENT_METRIC);
}

uint64_t driver_metric_read(const struct spmu *p, const struct driver_event *e)
{
	uint64_t slots = 0, shares = 0;
	spmu_rdpmc(p, RDPMC_FIXED | 3, 0, &slots);
	if (e->beside_metrics)
		return slots;
	spmu_rdpmc(p, RDPMC_METRICS, 0, &shares);
	return (slots * (shares >> 8 * (e->event->umask & 7) & 0xff) + 127) / 255;
}

int driver_metric_reset(struct spmu *p)
{
	int rc = spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + 3, 0);
	return rc ? rc : spmu_wrmsr(p, MSR_PERF_METRICS, 0);
}

static int arch_setup(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	struct driver_writes *out, struct err *err)
{
	uint64_t fixed_ctrl = 0, global = 0, pebs = 0, data = 0;
	const struct driver_event *precise = NULL;
	bool version2 = spmu_model_version(m) >= 2;
	int rc = 0;
	for (size_t i = 0; i < n; i++)
		if (e[i].pmu == pmu && e[i].precise) {
			precise = &e[i];
			data |= e[i].pebs_data;
			pebs |= e[i].counter < 0 ? UINT64_C(1) << (32 + e[i].fixed) : pebs_bits(m, &e[i]);
		} else if (e[i].pmu == pmu && (is_latency(&e[i]) || is_precise_store(&e[i]))) {
			pebs |= pebs_bits(m, &e[i]);
		}
	if (version2)
		rc = driver_write(out, err, "IA32_PERF_GLOBAL_CTRL", MSR_IA32_PERF_GLOBAL_CTRL, 0,
			"stops all counters");
	if (!rc && precise)
		rc = driver_write(out, err, "IA32_DS_AREA", MSR_IA32_DS_AREA, precise->ds_area,
			"address of the DS area");
	for (size_t i = 0; i < n && !rc; i++) {
		if (e[i].pmu != pmu)
			continue;
		if (e[i].counter < 0) {
			fixed_ctrl |= ((e[i].kernel ? 1u : 0) | (e[i].user ? 2u : 0) |
					      (e[i].sampled && !e[i].precise ? UINT64_C(8) : 0))
				<< 4 * e[i].fixed;
			fixed_ctrl |= adaptive(m, &e[i]) ? UINT64_C(1) << (32 + 4 * e[i].fixed) : 0;
			global |= UINT64_C(1) << (32 + e[i].fixed);
			global |= driver_is_metric(&e[i]) ? GLOBAL_METRICS : 0;
			continue;
		}
		uint64_t v = e[i].evtsel | (e[i].user ? SPMU_EVTSEL_USR : 0) | (e[i].kernel ? SPMU_EVTSEL_OS : 0) |
			(e[i].sampled && !e[i].precise ? SPMU_EVTSEL_INT : 0) |
			(adaptive(m, &e[i]) ? EVTSEL_ADAPTIVE : 0) | SPMU_EVTSEL_EN;
		rc = driver_write(out, err, NAME(evtsel_names, e[i].counter),
			MSR_IA32_PERFEVTSEL0 + (uint32_t)e[i].counter, v, "%.60s, %s%s", e[i].event->name, rings(&e[i]),
			e[i].precise           ? ", no PMI: PEBS"
				: e[i].sampled ? ", PMI on overflow"
				: "");
		global |= UINT64_C(1) << e[i].counter;
	}
	if (!rc && fixed_ctrl)
		rc = driver_write(out, err, "IA32_FIXED_CTR_CTRL", MSR_IA32_FIXED_CTR_CTRL, fixed_ctrl,
			"rings and PMI of the fixed counters");
	if (!rc && precise && pebs_format(m) >= 4)
		rc = driver_write(out, err, "MSR_PEBS_DATA_CFG", MSR_PEBS_DATA_CFG, data,
			data ? "groups that records hold besides the basic one" : "records hold the basic group");
	if (!rc)
		rc = extra_setup(e, n, pmu, out, err);
	if (!rc)
		rc = lbr_events_setup(m, e, n, pmu, out, err);
	if (!rc && global & GLOBAL_METRICS)
		rc = driver_write(out, err, NAME(fixed_names, 3), MSR_IA32_FIXED_CTR0 + 3, 0, "slots count from 0");
	if (!rc && global & GLOBAL_METRICS)	/* in this order: Linux, core.c, icl_set_topdown_event_period */
		rc = driver_write(out, err, "MSR_PERF_METRICS", MSR_PERF_METRICS, 0, "the slots' shares, too");
	if (!rc && pebs)
		rc = driver_write(out, err, "IA32_PEBS_ENABLE", MSR_IA32_PEBS_ENABLE, pebs,
			precise ? "overflow of these counters arms PEBS" : "PEBS measures loads or stores");
	if (!rc && version2)
		rc = driver_write(out, err, "IA32_PERF_GLOBAL_CTRL", MSR_IA32_PERF_GLOBAL_CTRL, global,
			"starts these counters");
	return rc;
}

static uint32_t arch_rdpmc(const struct spmu_model *m, const struct driver_event *e)
{
	(void)m;
	return e->counter < 0 ? RDPMC_FIXED | (uint32_t)e->fixed : (uint32_t)e->counter;
}

static uint32_t arch_counter_msr(const struct spmu_model *m, const struct driver_event *e, const char **name)
{
	if (e->counter < 0) {
		*name = NAME(fixed_names, e->fixed);
		return MSR_IA32_FIXED_CTR0 + (uint32_t)e->fixed;
	}
	*name = full_width(m) ? NAME(a_pmc_names, e->counter) : NAME(pmc_names, e->counter);
	return (full_width(m) ? MSR_IA32_A_PMC0 : MSR_IA32_PMC0) + (uint32_t)e->counter;
}

static unsigned arch_counter_bits(const struct spmu_model *m, const struct driver_event *e)
{
	return spmu_model_counter_bits(m, e->counter < 0);
}

/* A write to a legacy counter MSR takes 32 bits and extends their sign. */
static uint64_t arch_counter_value(const struct spmu_model *m, const struct driver_event *e, uint64_t value)
{
	return e->counter < 0 || full_width(m) ? value & ((UINT64_C(1) << arch_counter_bits(m, e)) - 1)
		: value & UINT32_MAX;
}

static uint64_t arch_max_period(const struct spmu_model *m)
{
	return full_width(m) ? (UINT64_C(1) << (spmu_model_counter_bits(m, false) - 1)) - 1 : INT32_MAX;
}

/* For families without overflow bits: a preset counter is negative, and positive once it has overflowed. */
static bool crossed_zero(struct spmu *p, uint32_t rdpmc, unsigned bits)
{
	uint64_t v = 0;
	spmu_rdpmc(p, rdpmc, 0, &v);
	return !(v >> (bits - 1) & 1);
}

static void arch_acknowledge(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
	unsigned pmu, bool *hit)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t bit = UINT64_C(1) << (e[i].counter < 0 ? 32 + e[i].fixed : e[i].counter);
		hit[i] = e[i].pmu == pmu &&
			(spmu_version(p) >= 2 ? !!(pmi->status & bit)
				: e[i].sampled &&
						crossed_zero(p, (uint32_t)e[i].counter,
							arch_counter_bits(spmu_model_of(p), &e[i])));
		bits |= hit[i] ? bit : 0;
	}
	/* first of all, as in the kernel: an overflow from now on is a new one */
	if (bits && spmu_version(p) >= 2)
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, bits);
}

static const struct driver driver_arch = {
	.family = "arch",
	.interrupts = true, .assign = assign, .setup = arch_setup, .rdpmc = arch_rdpmc,
	.counter_msr = arch_counter_msr, .counter_value = arch_counter_value, .counter_bits = arch_counter_bits,
	.max_period = arch_max_period, .acknowledge = arch_acknowledge,
};

/* ---- P6 ----------------------------------------------------------------------------------------------------- */

static const char *const p6_evtsel_names[] = { "PerfEvtSel0", "PerfEvtSel1" },
			 *const p6_counter_names[] = { "PerfCtr0", "PerfCtr1" };

static int p6_setup(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	struct driver_writes *out, struct err *err)
{
	uint64_t sel[2] = { 0 };
	char what[2][100] = { "no event", "no event" };
	(void)m;
	for (size_t i = 0; i < n; i++) {
		if (e[i].pmu != pmu)
			continue;
		if (e[i].evtsel & SPMU_EVTSEL_ANY)
			return err_set(err, ERR_UNSUPPORTED, "'%s': the P6 has no AnyThread ('any')", e[i].event->name);
		sel[e[i].counter] = e[i].evtsel | (e[i].user ? SPMU_EVTSEL_USR : 0) |
			(e[i].kernel ? SPMU_EVTSEL_OS : 0) | (e[i].sampled ? SPMU_EVTSEL_INT : 0);
		snprintf(what[e[i].counter], sizeof what[0], "%.60s, %s%s", e[i].event->name, rings(&e[i]),
			e[i].sampled ? ", PMI on overflow" : "");
	}
	int rc = driver_write(out, err, p6_evtsel_names[0], MSR_P6_PERFEVTSEL0, 0, "EN is clear: no counter counts");
	if (!rc)
		rc = driver_write(out, err, p6_evtsel_names[1], MSR_P6_PERFEVTSEL1, sel[1], "%s", what[1]);
	if (!rc)
		rc = driver_write(out, err, p6_evtsel_names[0], MSR_P6_PERFEVTSEL0, sel[0] | SPMU_EVTSEL_EN,
			"%s; EN starts both", what[0]);
	return rc;
}

static uint32_t older_rdpmc(const struct spmu_model *m, const struct driver_event *e)
{
	(void)m;
	return (uint32_t)e->counter;
}

static uint32_t p6_counter_msr(const struct spmu_model *m, const struct driver_event *e, const char **name)
{
	(void)m;
	*name = NAME(p6_counter_names, e->counter);
	return MSR_P6_PERFCTR0 + (uint32_t)e->counter;
}

static uint64_t p6_counter_value(const struct spmu_model *m, const struct driver_event *e, uint64_t value)
{
	(void)m, (void)e;
	return value & UINT32_MAX;	/* a write takes 32 bits and extends their sign */
}

static unsigned older_counter_bits(const struct spmu_model *m, const struct driver_event *e)
{
	(void)m, (void)e;
	return 40;
}

static uint64_t p6_max_period(const struct spmu_model *m)
{
	(void)m;
	return INT32_MAX;
}

static void p6_acknowledge(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
	unsigned pmu, bool *hit)
{
	(void)pmi;
	for (size_t i = 0; i < n; i++)
		hit[i] = e[i].pmu == pmu && e[i].sampled && crossed_zero(p, (uint32_t)e[i].counter, 40);
}

static const struct driver driver_p6 = {
	.family = "p6",
	.interrupts = true, .assign = assign, .setup = p6_setup, .rdpmc = older_rdpmc,
	.counter_msr = p6_counter_msr, .counter_value = p6_counter_value, .counter_bits = older_counter_bits,
	.max_period = p6_max_period, .acknowledge = p6_acknowledge,
};

/* ---- P5 ----------------------------------------------------------------------------------------------------- */

static const char *const p5_counter_names[] = { "CTR0", "CTR1" };

static int p5_setup(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	struct driver_writes *out, struct err *err)
{
	uint64_t cesr = 0;
	const char *name[2] = { "nothing", "nothing" };
	(void)m;
	for (size_t i = 0; i < n; i++) {
		if (e[i].pmu != pmu)
			continue;
		if (e[i].evtsel & ~UINT64_C(0xffff))
			return err_set(err, ERR_UNSUPPORTED,
				"'%s': the Pentium's counters have no CMASK, INV or EDGE", e[i].event->name);
		unsigned code = (e[i].user ? SPMU_CC_CPL3 : 0) | (e[i].kernel ? SPMU_CC_CPL012 : 0) |
			(e[i].event->flags & SPMU_EVENT_DURATION ? SPMU_CC_CLOCKS : 0);
		cesr |= SPMU_CESR_ES(e[i].counter, e[i].event->event) | SPMU_CESR_CC(e[i].counter, code);
		name[e[i].counter] = e[i].event->name;
	}
	int rc = driver_write(out, err, "CESR", MSR_P5_CESR, 0, "stops all counters");
	if (!rc)
		rc = driver_write(out, err, "CESR", MSR_P5_CESR, cesr, "%.50s on CTR0, %.50s on CTR1", name[0],
			name[1]);
	return rc;
}

static uint32_t p5_counter_msr(const struct spmu_model *m, const struct driver_event *e, const char **name)
{
	(void)m;
	*name = NAME(p5_counter_names, e->counter);
	return MSR_P5_CTR0 + (uint32_t)e->counter;
}

static uint64_t p5_counter_value(const struct spmu_model *m, const struct driver_event *e, uint64_t value)
{
	(void)m, (void)e;
	return value & ((UINT64_C(1) << 40) - 1);
}

static uint64_t p5_max_period(const struct spmu_model *m)
{
	(void)m;
	return (UINT64_C(1) << 39) - 1;
}

static void p5_acknowledge(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
	unsigned pmu, bool *hit)
{
	(void)p, (void)pmi, (void)e, (void)pmu;
	memset(hit, 0, n * sizeof *hit);
}

static const struct driver driver_p5 = {
	.family = "p5",
	.assign = assign, .setup = p5_setup, .rdpmc = older_rdpmc, .counter_msr = p5_counter_msr,
	.counter_value = p5_counter_value, .counter_bits = older_counter_bits, .max_period = p5_max_period,
	.acknowledge = p5_acknowledge,
};

const struct driver *driver_for(const struct spmu_model *m)
{
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5: return &driver_p5;
	case SPMU_FAMILY_P6: return &driver_p6;
	case SPMU_FAMILY_NETBURST: return &driver_netburst;
	default: return &driver_arch;
	}
}

bool driver_uses(const struct driver_event *e, unsigned pmu)
{
	if (e->threads < 2)
		return e->pmu == pmu;
	for (unsigned k = 0; k < e->threads; k++)
		if (e->seat[k].pmu == pmu)
			return true;
	return false;
}

void driver_sit(struct driver_event *e, unsigned thread)
{
	const struct driver_seat *s = &e->seat[thread];
	e->thread = thread;
	e->pmu = s->pmu;
	e->counter = s->counter;
	e->escr = s->escr;
	e->up_escr = s->up_escr;
	e->up_counter = s->up_counter;
	e->tags = s->tags;
}

void driver_put(struct driver_event *e, unsigned pmu)
{
	e->pmu = pmu;
	for (unsigned k = 0; k < DRIVER_THREADS; k++)
		e->seat[k].pmu = pmu;
}
