/* SPDX-License-Identifier: GPL-2.0-or-later
 * An excerpt of a run's pipeline (trace_pipeline.h). */
#include "cli/trace/trace_pipeline.h"
#include "cli/common/cli_symbols.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ROWS: at 136 bytes each, and what the orders of a sort take */
enum { ROWS = 8 << 20 };
static const char *const default_stop = "100000";

struct excerpt {
	struct symbols *symbols;
	uint64_t time;		/* of the last side record */
	struct pipeline *pipeline;
};

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct excerpt *x = context;
	unsigned number;
	const int rc = pipeline_thread(x->pipeline, t->pid, t->tid, t->comm, &number, err);
	t->sink_private = (void *)(uintptr_t)number;
	return rc;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	const struct excerpt *x = context;
	const unsigned number = (unsigned)(uintptr_t)t->sink_private;
	pipeline_rename(x->pipeline, number, t->comm);	/* a thread has its name soon after its start */
	pipeline_batch(x->pipeline, number, b);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct excerpt *x = context;
	(void)t, (void)cycle;
	cli_symbols_side(x->symbols, pid, record, &x->time);
}

int trace_pipeline_write(const struct pipeline *p, const char *file, enum trace_format format)
{
	struct err err = { 0 };
	FILE *to = strcmp(file, "-") ? fopen(file, "we") : stdout;
	if (!to) {
		err_system(&err, "cannot create %s", file);
		cli_error("%s", err.text);
		return -1;
	}
	int rc = pipeline_write(to, p, format == TRACE_BY_NAME ? pipeline_format_of(file) :
		(enum pipeline_format)format, &err);
	const bool failed = fflush(to) || ferror(to);
	if (((to != stdout && fclose(to)) || failed) && !rc)
		rc = err_system(&err, "cannot write %s", file);
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

static void summary(const struct pipeline *p, const char *file)
{
	size_t n, wrong = 0, insns = 0;
	uint64_t last = 0;
	const struct pipeline_row *row = pipeline_rows(p, &n);
	for (size_t i = 0; i < n; i++) {
		wrong += row[i].wrong;
		insns += row[i].wrong ? 0 : !!(row[i].is & SPMU_IS(INST_END)) + !!(row[i].is & SPMU_IS(INST_END2));
		last = row[i].retire > last ? row[i].retire : last;
	}
	fprintf(stderr, "[ softpmu trace: %zu instructions, %zu uops and %zu of wrong paths, in cycles %" PRIu64 " to %"
		PRIu64 ", in %s ]\n", insns, n - wrong, wrong, n ? row[0].fetch : 0, last, file);
}

int trace_pipeline(struct cli_run *run, const char *file, enum trace_format format, bool quiet)
{
	struct excerpt x = { 0 };
	struct err err = { 0 };
	struct run_result result = { 0 };
	if (!run->run.stop)
		run->run.stop = default_stop;
	int rc = symbols_create(&x.symbols, &err);
	if (!rc)
		rc = pipeline_create(&x.pipeline, x.symbols, ROWS, &err);
	const struct run_sink sink = { .context = &x, .thread_start = on_start, .batch = on_batch, .side = on_side };
	const struct core_wanted wanted = { .is = ~UINT64_C(0), .did = ~UINT64_C(0), .detail = true };
	run->run.wanted = &wanted;
	if (!rc)
		rc = cli_run_program(run, &sink, &result, &err);
	if (result.note[0])
		cli_error("%s", result.note);
	if (rc)
		cli_error("%s", err.text);
	int status = rc ? 1 : cli_exit_status(result.wait_status);
	size_t rows = 0;
	if (x.pipeline && (!rc || result.instructions) && pipeline_finish(x.pipeline, &err)) {
		cli_error("%s", err.text);
		status = 1;
	} else if (x.pipeline && (!rc || result.instructions)) {
		pipeline_rows(x.pipeline, &rows);
		if (!rows)
			cli_warn("nothing was timed: the excerpt is empty");
		if (pipeline_full(x.pipeline))
			cli_warn("the excerpt ends after %d uops: --stop says where it shall end", ROWS);
		if (trace_pipeline_write(x.pipeline, file, format))
			status = 1;
		else if (!quiet)
			summary(x.pipeline, file);
	}
	pipeline_destroy(x.pipeline);
	symbols_destroy(x.symbols);
	return status;
}
