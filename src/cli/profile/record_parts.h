/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu record, in its parts: the options (record_options.c), the events with their periods (record_choose.c), the
 * run and the file (cmd_record.c).
 */
#ifndef CLI_RECORD_PARTS_H
#define CLI_RECORD_PARTS_H
#include "cli/cli.h"
#include "cli/common/cli_sample.h"
#include "session/session.h"
#include "util/options.h"

/* With --sample a process has this many windows at least before they lie further apart. */
enum { RECORD_WINDOWS = 4000 };

struct record {
	struct cli_run run;
	const char *list[64];
	unsigned lists;
	uint64_t count, frequency;
	const char *output, *region, *html;
	bool chains, no_build_ids, quiet, verbose, exact, heap, map_build_ids, stat, no_samples, dry;
	uint64_t exact_sample;		/* cycles; 0: none */
	unsigned pebs_records, pmi_cycles, pmi_lines;
	enum session_pebs pebs_shared;
	const char *after;		/* EVENT=N */
	uint64_t after_count;
	bool forced;
	struct cli_sample sample;
	size_t sampled;			/* how many events are sampled: they come first in the list */
	unsigned fields;		/* bits: PERFDATA_... */
	uint64_t regs, branches;	/* branches: bits PERF_SAMPLE_BRANCH_... */
	/* while it runs */
	struct session *session;
	struct perfdata_writer *writer;
	struct recorder *recorder;
	struct exact_record *exact_record;	/* NULL: not asked for */
	struct timeline *timeline;		/* NULL: not asked for */
	struct machine_code *code;		/* NULL: not of a whole machine */
	const struct session_events *events;
	uint64_t *samples;		/* of each event */
	_Atomic int failed;		/* set where samples are taken; on_tick reads it in another thread */
	bool started;
};

extern const struct option record_options[];
/* What does not go with a sampled run; NULL: nothing. */
const char *record_misfit(const struct record *o);
/* Options that do not go together.  0, or -1 after one printed line. */
int record_check(const struct record *o);
/* Reads -e and --after, and gives each event its period or frequency.  Sets o->sampled and o->fields. */
int record_choose(struct record *o, const struct spmu_model *model, struct session_events *events, struct err *err);
#endif
