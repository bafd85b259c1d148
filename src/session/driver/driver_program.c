/* SPDX-License-Identifier: GPL-2.0-or-later
 * The whole list of register writes from an idle PMU to counting events: the writes of setup, and those that
 * setup leaves to its caller: the counters' first values and the local APIC's entry.
 */
#include "session/driver/driver.h"
#include <stdio.h>
#include <string.h>

/* The first of the writes [from, count) after which the event may count; its counter must hold its first value
 * before. */
static size_t starts(const struct spmu_model *m, const struct driver_event *e, const struct driver_writes *w,
	size_t from)
{
	enum spmu_pmu_family family = spmu_model_family(m);
	uint32_t msr = family == SPMU_FAMILY_NETBURST ? MSR_BPU_CCCR0 + (uint32_t)e->counter
		: family == SPMU_FAMILY_ARCH && spmu_model_version(m) < 2 ? MSR_IA32_PERFEVTSEL0 + (uint32_t)e->counter
		: w->write[w->count - 1].msr;
	for (size_t i = w->count; i-- > from;)
		if (w->write[i].msr == msr && !w->write[i].apic)
			return i;
	return w->count;
}

static int insert(struct driver_writes *w, size_t at, const struct driver_write *one, struct err *err)
{
	if (w->count == sizeof w->write / sizeof *w->write)
		return err_set(err, ERR_UNSUPPORTED, "too many register writes: measure fewer events at a time");
	memmove(&w->write[at + 1], &w->write[at], (w->count - at) * sizeof *w->write);
	w->write[at] = *one;
	w->count++;
	return 0;
}

int driver_program(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	const uint64_t *period, struct driver_writes *out, struct err *err)
{
	const struct driver *d = driver_for(m);
	size_t from = out->count;
	bool interrupts = false;
	int rc = d->setup(m, e, n, pmu, out, err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct driver_write one = { 0 };
		bool samples = e[i].sampled || e[i].precise;
		if (e[i].pmu != pmu || driver_is_metric(&e[i]))	/* setup presets what metrics are read from */
			continue;
		if (samples && (!period[i] || period[i] > d->max_period(m)))
			return err_set(err, ERR_INPUT,
				"'%s': the period %llu is not from 1 to %llu, the range of this PMU's counters",
				e[i].event->name, (unsigned long long)period[i], (unsigned long long)d->max_period(m));
		interrupts |= samples;
		one.msr = d->counter_msr(m, &e[i], &one.name);
		one.value = d->counter_value(m, &e[i], samples ? -period[i] : 0);
		if (samples && spmu_model_family(m) == SPMU_FAMILY_NETBURST)
			snprintf(one.why, sizeof one.why, "%.50s acts at event %llu, the one after the overflow",
				e[i].event->name,
				(unsigned long long)(e[i].precise ? period[i] + 1
					: period[i] > 1 ? period[i]
					: 2));
		else if (samples)
			snprintf(one.why, sizeof one.why, "%.60s overflows at event %llu", e[i].event->name,
				(unsigned long long)period[i]);
		else
			snprintf(one.why, sizeof one.why, "%.60s counts from 0", e[i].event->name);
		rc = insert(out, starts(m, &e[i], out, from), &one, err);
	}
	if (!rc && interrupts) {
		struct driver_write one = { .msr = SPMU_APIC_LVT_PC, .value = 0x400, .name = "LVT_PC", .apic = true };
		snprintf(one.why, sizeof one.why, "local APIC: a PMI is delivered as an NMI, not masked");
		rc = insert(out, from, &one, err);
	}
	return rc;
}

int driver_execute(struct spmu *p, const struct driver_writes *w, struct err *err)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct driver_write *one = &w->write[i];
		int status = one->apic ? spmu_apic_write(p, one->msr, (uint32_t)one->value)
			: spmu_wrmsr(p, one->msr, one->value);
		if (status)
			return err_set(err, status == SPMU_ENOMEM ? ERR_NOMEM : ERR_UNSUPPORTED,
				"write %zu, %s (%XH) = %#llx: %s", i + 1, one->name, one->msr,
				(unsigned long long)one->value, status == SPMU_ENOMEM ? "out of memory" : "#GP");
	}
	return 0;
}
