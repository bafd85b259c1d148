/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run over modelled time (trace_timeline.h). */
#include "cli/trace/trace_timeline.h"
#include "output/export/trace_events.h"
#include "softpmu/client.h"
#include <errno.h>
#include <string.h>

struct timeline { struct trace_events *events; struct err *err; int rc; };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	const struct timeline *x = context;
	return trace_events_thread(x->events, t, err);
}

static void on_end(void *context, struct run_thread *t)
{
	const struct timeline *x = context;
	trace_events_end(x->events, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct timeline *x = context;
	if (!x->rc)
		x->rc = trace_events_batch(x->events, t, b, x->err);
}

/* The program has no PMU here: its other requests stay unanswered. */
static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct timeline *x = context;
	const bool begins = request->code == SPMU_CLIENT_REGION_BEGIN, ends = request->code == SPMU_CLIENT_REGION_END;
	if (begins || ends || request->code == SPMU_CLIENT_PRESENT)
		answer->status = SPMU_CLIENT_OK;
	if ((begins || ends) && *name && !x->rc)
		x->rc = trace_events_region(x->events, t, name, begins, x->err);
	return false;
}

int trace_timeline(struct cli_run *run, const char *file, bool quiet)
{
	struct err err = { 0 }, lost = { 0 };
	struct timeline x = { .err = &lost };
	struct run_result result = { 0 };
	int rc = trace_events_create(&x.events, &run->core, &err);
	const struct run_sink sink = { .context = &x, .thread_start = on_start, .thread_end = on_end,
		.batch = on_batch, .client = on_client };
	const struct core_wanted wanted = trace_events_wanted();
	run->run.wanted = &wanted;
	if (!rc)
		rc = cli_run_program(run, &sink, &result, &err);
	if (result.note[0])
		cli_error("%s", result.note);
	if (!rc && x.rc) {
		rc = x.rc;
		err = lost;
	}
	if (rc)
		cli_error("%s", err.text);
	int status = rc ? 1 : cli_exit_status(result.wait_status);
	if (x.events && (!rc || result.instructions)) {
		FILE *to = strcmp(file, "-") ? fopen(file, "we") : stdout;
		const char *name = run->argv ? run->argv[0] : run->run.replay;
		rc = to ? trace_events_write(to, x.events, name, &err) : err_system(&err, "cannot create %s", file);
		const bool failed = to && (fflush(to) || ferror(to));
		if (((to && to != stdout && fclose(to)) || failed) && !rc)
			rc = err_system(&err, "cannot write %s", file);
		if (rc) {
			cli_error("%s", err.text);
			status = 1;
		} else if (!quiet) {
			fprintf(stderr, "[ softpmu trace: %llu instructions in %.3f ms of modelled time, in %s ]\n",
				(unsigned long long)result.instructions,
				(double)result.cycles / (1e6 * run->core.frequency_ghz), file);
		}
	}
	trace_events_destroy(x.events);
	return status;
}
