/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu callgrind: takes the command line of valgrind --tool=callgrind and writes callgrind.out. */
#include "cli/cli.h"
#include "cli/callgrind/callgrind_graph.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_symbols.h"
#include "softpmu/client.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct grinding {
	struct cli_run run;
	const char *out, *log, *tool, *error_exit;
	const char *toggle[64];
	unsigned toggles;
	bool instr_at_start, collect_at_start, collect_given, cache, branches, dump_instr, dump_line, compress,
		combine, separate, children, no_cycles, quiet;
	struct callgrind_run graph;
	struct callgrind_format format;
	uint64_t time;
	uint32_t first_pid;
	unsigned files;
	int failed;		/* a file could not be written */
	char *command;
};

extern const struct cli_command cmd_callgrind;

static int collect_at(void *target, const struct option *o, const char *value, struct err *err)
{
	struct grinding *g = target;
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return err_set(err, ERR_INPUT, "option --%s: '%s' is neither yes nor no", o->name, value);
	g->collect_at_start = *value == 'y';
	g->collect_given = true;
	return 0;
}

/* Of Valgrind's core and of Callgrind's simulator: taken, so that a command line can stay as it is. */
static int no_effect(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)target, (void)o, (void)value, (void)err;
	return 0;
}

#define YES_NO(name, member, text) OPT_CHOICE(0, name, "no|yes", struct grinding, member, 0, text)
#define IGNORED(name, text) OPT_CALL(0, name, "VALUE", no_effect, text)
#define CORE_OF_VALGRIND "Accepted without effect: an option of Valgrind's core."
#define DUMPS "only the program's own requests dump or zero costs"
#define IN_PROGRAM "put CALLGRIND_DUMP_STATS into the program"

static const struct option options[] = {
	OPT_GROUP("What is collected"),
	YES_NO("instr-atstart", instr_at_start, "Collect from the start; no: from the program's first "
		"CALLGRIND_START_INSTRUMENTATION on. Default: yes."),
	OPT_CALL(0, "collect-atstart", "yes|no", collect_at, "Collect from the start; no: from the first "
		"CALLGRIND_TOGGLE_COLLECT, or --toggle-collect function, on. Default: yes, without --toggle-collect."),
	OPT_LIST(0, "toggle-collect", "FUNCTION", struct grinding, toggle, toggles, "Collect inside the functions of "
		"this name, in which * and ? are wildcards. May be repeated.", .more = "use a wildcard"),
	YES_NO("cache-sim", cache, "Add the columns Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw, counted in the modelled "
		"core's caches. Default: no."),
	YES_NO("branch-sim", branches, "Add the columns Bc Bcm Bi Bim, counted in the modelled core's predictors. "
		"Default: no."),
	YES_NO("separate-threads", separate, "Write a file for each thread, FILE-01 and so on. Default: no."),
	YES_NO("trace-children", children, "Profile programs that the program executes and processes that it forks, "
		"too. Default: no."),
	OPT_GROUP("What is written"),
	OPT_TEXT(0, "callgrind-out-file", "FILE", struct grinding, out, "Write FILE, in which %p is the process's "
		"number. Default: callgrind.out.%p.", .filled = true),
	OPT_TEXT(0, "log-file", "FILE", struct grinding, log, "Write what Callgrind would print to FILE instead of "
		"standard error; %p is the process's number.", .filled = true),
	YES_NO("dump-instr", dump_instr, "Keep costs by instruction. Default: no."),
	YES_NO("dump-line", dump_line, "Keep costs by source line. Default: yes."),
	YES_NO("compress-strings", compress, "Write each name once. Default: yes."),
	YES_NO("combine-dumps", combine, "Write the program's dumps one behind the other into one file, with whole "
		"names; no: each into a file of its own, FILE.1 and so on. Default: no."),
	OPT_FLAG(0, "no-cycles", struct grinding, no_cycles, "Leave out the column Cycles, for readers that know only "
		"Callgrind's own columns."),
	OPT_FLAG('q', "quiet", struct grinding, quiet, "Print no totals."),
	OPT_TEXT(0, "tool", "callgrind", struct grinding, tool, "Accepted, so that softpmu callgrind can stand for "
		"valgrind. Other tools are refused."),
	OPT_GROUP("Accepted without effect"),
	IGNORED("I1", "Accepted without effect: the modelled core (--core, --set) says what caches there are."),
	IGNORED("D1", "Accepted without effect, as --I1."),
	IGNORED("LL", "Accepted without effect, as --I1."),
	IGNORED("compress-pos", "Accepted without effect: positions are absolute, which every reader takes."),
	IGNORED("fair-sched", CORE_OF_VALGRIND), IGNORED("vgdb", CORE_OF_VALGRIND),
	IGNORED("vgdb-error", CORE_OF_VALGRIND),
	IGNORED("error-exitcode", CORE_OF_VALGRIND), IGNORED("command-line-only", CORE_OF_VALGRIND),
	IGNORED("child-silent-after-fork", CORE_OF_VALGRIND), IGNORED("num-callers", CORE_OF_VALGRIND),
	IGNORED("demangle", CORE_OF_VALGRIND), IGNORED("trace-children-skip", CORE_OF_VALGRIND),
	IGNORED("read-inline-info", CORE_OF_VALGRIND), IGNORED("read-var-info", CORE_OF_VALGRIND),
	IGNORED("keep-debuginfo", CORE_OF_VALGRIND), IGNORED("smc-check", CORE_OF_VALGRIND),
	IGNORED("sim-hints", CORE_OF_VALGRIND), IGNORED("soname-synonyms", CORE_OF_VALGRIND),
	IGNORED("max-threads", CORE_OF_VALGRIND), IGNORED("max-stackframe", CORE_OF_VALGRIND),
	IGNORED("main-stacksize", CORE_OF_VALGRIND), IGNORED("valgrind-stacksize", CORE_OF_VALGRIND),
	IGNORED("error-limit", CORE_OF_VALGRIND), IGNORED("error-markers", CORE_OF_VALGRIND),
	IGNORED("suppressions", CORE_OF_VALGRIND), IGNORED("gen-suppressions", CORE_OF_VALGRIND),
	IGNORED("show-below-main", CORE_OF_VALGRIND), IGNORED("sigill-diagnostics", CORE_OF_VALGRIND),
	IGNORED("stats", CORE_OF_VALGRIND), IGNORED("time-stamp", CORE_OF_VALGRIND),
	IGNORED("track-fds", CORE_OF_VALGRIND), IGNORED("run-libc-freeres", CORE_OF_VALGRIND),
	IGNORED("run-cxx-freeres", CORE_OF_VALGRIND), IGNORED("progress-interval", CORE_OF_VALGRIND),
	IGNORED("trace-children-skip-by-arg", CORE_OF_VALGRIND),
	IGNORED("separate-callers", "Accepted without effect: a function is one, whoever calls it."),
	IGNORED("separate-recs", "Accepted without effect, as --separate-callers."),
	IGNORED("collect-jumps", "Accepted without effect: jumps inside of functions are not written."),
	IGNORED("collect-systime", "Accepted without effect: the kernel takes no time in the model, so its columns are "
		"left out."),
	OPT_REFUSED(0, "dump-before", DUMPS, IN_PROGRAM), OPT_REFUSED(0, "dump-after", DUMPS, IN_PROGRAM),
	OPT_REFUSED(0, "zero-before", DUMPS, "--toggle-collect chooses functions"),
	OPT_REFUSED(0, "dump-every-bb", DUMPS, IN_PROGRAM),
	OPT_REFUSED(0, "collect-bus", "there is no column of locked accesses", NULL),
	OPT_REFUSED(0, "cacheuse", "the use of cache lines is not measured", NULL),
	OPT_REFUSED(0, "simulate-wb", "the modelled core's caches are those of --core", NULL),
	OPT_REFUSED(0, "simulate-hwpref", "the modelled core has its prefetchers", "--feature switches them"),
	OPT_END
};

/* ---- files ------------------------------------------------------------------------------------------------ */

/* The name with %p replaced, and what tells threads, dumps and further processes apart; NULL: no memory. */
static char *file_name(const struct grinding *g, const char *pattern, uint32_t pid, const char *behind)
{
	char *text = NULL;
	size_t bytes = 0;
	bool has_pid = false;
	FILE *f = open_memstream(&text, &bytes);
	for (const char *c = pattern; f && *c; c++)
		if (c[0] == '%' && c[1] == 'p') {
			fprintf(f, "%u", pid);
			has_pid = true;
			c++;
		} else {
			if (c[0] == '%' && c[1] == '%')
				c++;
			fputc(*c, f);
		}
	if (f && !has_pid && pid != g->first_pid)
		fprintf(f, ".%u", pid);
	if (f)
		fputs(behind, f);
	return f && !fclose(f) ? text : NULL;
}

/* Writes the graph as it is.  dump: a part before the end, with a number of its own. */
static void write_graph(struct grinding *g, struct callgrind_graph *graph, const char *trigger, bool dump)
{
	char behind[64] = "";
	if (dump && !g->combine)
		snprintf(behind, sizeof behind, ".%u", graph->dumps + 1);
	if (g->separate)
		snprintf(behind + strlen(behind), sizeof behind - strlen(behind), "-%02u", graph->thread);
	char *name = file_name(g, g->out, graph->pid, behind);
	g->format.behind = g->combine && graph->dumps;
	FILE *to = name ? fopen(name, g->format.behind ? "ae" : "we") : NULL;
	g->format.trigger = trigger;
	if (to)
		callgrind_write(to, &g->graph, graph, &g->format);
	bool bad = to ? ferror(to) : true;
	bad |= to && fclose(to);
	if (bad && !g->failed++)
		cli_error("cannot write %s: %s", name ? name : "callgrind.out", strerror(name ? errno : ENOMEM));
	g->files += !bad;
	free(name);
	if (dump)
		graph->dumps++;
	for (unsigned k = 0; dump && k < CALLGRIND_KINDS; k++)
		graph->dumped[k] += graph->total[k];
}

/* What Callgrind prints at the end, in its words, which harnesses read. */
static void print_totals(const struct grinding *g)
{
	const struct callgrind_graph *first = g->graph.graphs ? g->graph.graph[0] : NULL;
	const unsigned pid = first ? first->pid : 0;
	char *name = g->log ? file_name(g, g->log, pid, "") : NULL;
	FILE *to = name ? fopen(name, "we") : stderr;
	uint64_t total[CALLGRIND_KINDS] = { 0 };
	for (size_t i = 0; i < g->graph.graphs; i++)
		for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
			total[k] += g->graph.graph[i]->dumped[k] + g->graph.graph[i]->total[k];
	if (!to) {
		cli_error("cannot write %s: %m", name);
		free(name);
		return;
	}
	fprintf(to, "==%u== softpmu callgrind: a call graph with the costs of a modelled core\n", pid);
	fprintf(to, "==%u== Command: %s\n==%u== Parent PID: %ld\n==%u==\n", pid, g->command, pid, (long)getpid(), pid);
	fprintf(to, "==%u== Events    :", pid);
	for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
		if (callgrind_has(&g->format, k))
			fprintf(to, " %s", callgrind_cost_name[k]);
	fprintf(to, "\n==%u== Collected :", pid);
	for (unsigned k = 0; k < CALLGRIND_KINDS; k++)
		if (callgrind_has(&g->format, k))
			fprintf(to, " %llu", (unsigned long long)total[k]);
	fprintf(to, "\n==%u==\n==%u== I   refs:      %llu\n==%u== Cycles:        %llu\n", pid, pid,
		(unsigned long long)total[CALLGRIND_Ir], pid, (unsigned long long)total[CALLGRIND_Cycles]);
	if (to != stderr)
		fclose(to);
	free(name);
}

/* ---- the run ---------------------------------------------------------------------------------------------- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct grinding *g = context;
	if (!g->first_pid)
		g->first_pid = t->pid;
	return callgrind_thread_start(&g->graph, t) ? err_set(err, ERR_NOMEM, "out of memory") : 0;
}

static void on_end(void *context, struct run_thread *t)
{
	callgrind_thread_end(&((struct grinding *)context)->graph, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	callgrind_batch(&((struct grinding *)context)->graph, t, b);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct grinding *g = context;
	(void)t, (void)cycle;
	cli_symbols_side(g->graph.symbols, pid, record, &g->time);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct grinding *g = context;
	struct callgrind_graph *dumped = callgrind_request(&g->graph, t, request, name);
	char trigger[512];
	(void)answer;
	if (dumped) {
		snprintf(trigger, sizeof trigger, "Client Request: %s", name);
		write_graph(g, dumped, trigger, true);
		callgrind_zero(dumped);
	}
	return false;
}

static struct core_wanted wanted(void)
{
	return (struct core_wanted){ .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
}

static int grind(struct grinding *g)
{
	struct run_result result = { 0 };
	struct err err = { 0 };
	const struct core_wanted all = wanted();
	const struct run_sink sink = { .context = g, .thread_start = on_start, .thread_end = on_end, .batch = on_batch,
		.side = on_side, .client = on_client };
	char *command = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&command, &bytes);
	if (f)
		cli_print_program(f, &g->run, "");
	if (!f || fclose(f) || symbols_create(&g->graph.symbols, &err)) {
		cli_error("out of memory");
		return 1;
	}
	g->command = command;
	g->format.command = command;
	g->run.run.follow = g->children;
	g->run.run.wanted = &all;
	int rc = cli_run_program(&g->run, &sink, &result, &err);
	while (g->graph.threads)	/* that did not end */
		callgrind_thread_end(&g->graph, (const struct run_thread *)NULL);
	if (!rc && g->graph.failed)
		rc = err_set(&err, ERR_NOMEM, "out of memory");
	if (result.note[0])
		cli_warn("%s", result.note);
	for (size_t i = 0; i < g->graph.graphs; i++)
		write_graph(g, g->graph.graph[i], "Program termination", false);
	if (g->graph.graphs && (!g->quiet || g->log))	/* none: the program did not start */
		print_totals(g);
	if (rc)
		cli_error("%s%s", err.text, g->files ? "; what was counted until then is written" : "");
	const int status = cli_exit_status(result.wait_status);
	return rc || g->failed ? status ? status : 1 : status;
}

static int run(int argc, char **argv)
{
	struct grinding g = { .out = "callgrind.out.%p", .instr_at_start = true, .collect_at_start = true,
		.dump_line = true, .compress = true };
	int next = 0, status = 2;
	cli_run_init(&g.run);
	const int go = cli_options(&cmd_callgrind, &g, &g.run, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (g.tool && strcmp(g.tool, "callgrind")) {
		cli_error("--tool=%s: only callgrind; valgrind itself runs the other tools", g.tool);
		return 2;
	}
	if (cli_run_finish(&g.run, argc, argv, next))
		return 2;
	g.graph.separate = g.separate;
	g.graph.toggle = g.toggle;
	g.graph.toggles = g.toggles;
	g.graph.instruments = g.instr_at_start;
	g.graph.collects = g.collect_at_start && (g.collect_given || !g.toggles);
	g.format = (struct callgrind_format){ .cache = g.cache, .branches = g.branches, .cycles = !g.no_cycles,
		.instr = g.dump_instr, .line = g.dump_line, .compress = g.compress && !g.combine };
	status = grind(&g);
	callgrind_free(&g.graph);
	symbols_destroy(g.graph.symbols);
	free(g.command);
	return status;
}

const struct cli_command cmd_callgrind = {
	.name = "callgrind", .options = options, .runs = true, .run = run,
	.summary = "profile a program into callgrind.out, with callgrind's command line",
	.usage = "[options] [--] PROGRAM [arguments]",
	.about = "Takes the command line of valgrind --tool=callgrind, and writes the same files: the call graph with "
		"the instructions of each line and call, and beside them the cycles of the modelled core. So "
		"callgrind_annotate and kcachegrind show both, and a harness that calls valgrind runs on the model. "
		"The program's requests (CALLGRIND_START_INSTRUMENTATION and the others) work as under Callgrind. The "
		"exit status is the program's.",
};
