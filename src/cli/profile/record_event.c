/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events in perf.data (record_event.h). */
#include "cli/profile/record_event.h"
#include "softpmu/pmu.h"
#include <linux/perf_event.h>
#include <string.h>

void record_describe(const struct session_event *e, struct perfdata_event *out)
{
	static const struct {
		const char *alias;
		uint64_t config;
	} generic[] = {
		{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
		{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
		{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
		{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
		{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
		{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
	};
	*out = (struct perfdata_event){
		.name = e->name && *e->name ? e->name : e->spelled,
		.type = PERF_TYPE_RAW,
		.config = e->evtsel & 0xffffffff & ~UINT64_C(0x730000),
		.config1 = e->event && e->event->extra_msr == MSR_IA32_PEBS_ENABLE ? 0 : e->extra,
		.period = e->period,
		.frequency = e->period ? 0 : e->frequency,
		.precise = e->precise,
		.exclude_user = e->exclude_user,
		.exclude_kernel = e->exclude_kernel,
	};
	if (e->source == SESSION_PUSHOUT)
		out->config =
			MSR_PUSHOUT_CAPABILITIES | (e->pushout.control & 0xff); /* no event select has such a code */
	if (e->source == SESSION_TASK_CLOCK) {
		out->type = PERF_TYPE_SOFTWARE;
		out->config = PERF_COUNT_SW_TASK_CLOCK;
	}
	if (e->source != SESSION_HARDWARE || !e->spelled || e->evtsel >> 16)	/* cycles:c=4 are not plain cycles */
		return;
	size_t length = strcspn(e->spelled, ":");
	for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
		if (strlen(generic[i].alias) == length && !strncmp(e->spelled, generic[i].alias, length)) {
			out->type = PERF_TYPE_HARDWARE;
			out->config = generic[i].config;
		}
}
