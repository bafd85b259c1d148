/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu record: runs a program on the modelled core and keeps its samples in a perf.data file.
 *
 * Left out of perf's options: what needs a kernel (-a, -C, -p, ring buffers), stack dumps. */
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_sample.h"
#include "cli/profile/record_event.h"
#include "cli/profile/record_few.h"
#include "cli/profile/report_html.h"
#include "output/exact_record.h"
#include "output/html/timeline.h"
#include "output/recorder.h"
#include "session/driver/data_source.h"
#include "session/driver/precise.h"
#include "session/session.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern const struct cli_command cmd_record;

/* Cycles a sample by default: a hundred samples in 10^7 cycles, 6 MB of file in 10^10.  A prime, so that it is no
 * multiple of a loop's length. */
enum { DEFAULT_PERIOD = 100003 };
/* With --sample, more samples are taken: a window's few thousand cycles say more in 60 samples than in one.  Cycles
 * alone are sampled every 19 cycles of a window, and up to four times as far apart when a long run's windows are many
 * and stand for more.  Where there are other events, samples are 75 cycles apart at least, because an overflow within
 * the 60 cycles that an interrupt takes to arrive (pmi.latency) makes none of its own. */
enum { SAMPLED_CYCLES = 151, SAMPLED_PERIOD = 607, SAMPLED_WEIGHT = 8, SAMPLED_RARER = 4, SAMPLED_WINDOWS = 4000 };
/* Behind a part that was timed the period stays, and samples are 75 cycles apart, too. */
enum { DETAILED_WEIGHT = 1330 };
/* With --html, which draws what is sampled, samples of short programs are to be many, too. */
enum { HTML_PERIOD = 10007 };
enum { PEBS_RECORDS_MAX = 4096, PMI_CYCLES_MAX = 1000000000, PMI_LINES_MAX = 1 << 20 };

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
	const struct session_events *events;
	uint64_t *samples;		/* of each event */
	_Atomic int failed;		/* set where samples are taken; on_tick reads it in another thread */
	bool started;
};

/* perf's names, in perf's order: <asm/perf_regs.h>. */
static const char *const register_names[PERFDATA_REG_COUNT] = { "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP",
	"FLAGS", "CS", "SS", [16] = "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15" };

static int choose_registers(void *target, const struct option *option, const char *list, struct err *err)
{
	struct record *o = target;
	(void)option;
	o->fields |= PERFDATA_REGS;
	for (unsigned i = 0; (!list || !*list) && i < PERFDATA_REG_COUNT; i++)
		o->regs |= register_names[i] ? UINT64_C(1) << i : 0;
	while (list && *list) {
		size_t n = strcspn(list, ","), i = 0;
		while (i < PERFDATA_REG_COUNT &&
			(!register_names[i] || strlen(register_names[i]) != n ||
				strncasecmp(list, register_names[i], n)))
			i++;
		if (i == PERFDATA_REG_COUNT)
			return err_set(err, ERR_INPUT,
				"option -I: '%.*s' is not one of AX, BX, CX, DX, SI, DI, BP, SP, IP, FLAGS, CS, SS, R8 "
				"to R15",
				(int)n, list);
		o->regs |= UINT64_C(1) << i;
		list += n + (list[n] == ',');
	}
	return 0;
}

static int keep_data(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)value, (void)err;
	((struct record *)target)->fields |= PERFDATA_ADDR | PERFDATA_DATA_SRC;
	return 0;
}

static int keep_weight(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)value, (void)err;
	((struct record *)target)->fields |= PERFDATA_WEIGHT;
	return 0;
}

static int keep_branches(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)value, (void)err;
	((struct record *)target)->branches |= PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	return 0;
}

static int filter_branches(void *target, const struct option *option, const char *value, struct err *err)
{
	struct record *o = target;
	struct err why = { 0 };
	(void)option;
	if (session_parse_branches(value, &o->branches, &why))
		return err_set(err, why.code, "option -j: %s", why.text);
	o->branches |= PERF_SAMPLE_BRANCH_USER;
	return 0;
}

/* As perf, accepts a mode's beginning, and a stack size behind dwarf. */
static int choose_chains(void *target, const struct option *option, const char *value, struct err *err)
{
	const size_t n = strcspn(value, ",");
	(void)option;
	if (strncmp(value, "fp", n < 2 ? 2 : n) && strncmp(value, "dwarf", n < 5 ? 5 : n) &&
		strncmp(value, "lbr", n < 3 ? 3 : n))
		return err_set(err, ERR_INPUT,
			"option --call-graph: '%s' is not fp, dwarf or lbr (all mean the same here: exact call chains)",
			value);
	((struct record *)target)->chains = true;
	return 0;
}

/* A number of 1 or more, which may have a suffix. */
static int read_count(const char *option, const char *text, uint64_t *out, struct err *err)
{
	const struct option row = { .kind = OPTION_SCALED,
		.name = option,
		.argument = "N",
		.bytes = sizeof *out,
		.least = 1,
		.most = 0x1.fffffffffffffp62 };
	return options_value(&row, out, text, err);
}

static int keep_exact(void *target, const struct option *option, const char *value, struct err *err)
{
	struct record *o = target;
	o->exact = true;
	return value ? read_count(option->name, value, &o->exact_sample, err) : 0;
}

static int count_first(void *target, const struct option *option, const char *value, struct err *err)
{
	struct record *o = target;
	const char *equals = strrchr(value, '=');
	if (!equals || equals == value)
		return err_set(err, ERR_INPUT,
			"option --after: '%s' is not EVENT=N, such as branch_retired.MMTP=1000", value);
	o->after = value;
	return read_count(option->name, equals + 1, &o->after_count, err);
}

/* CYCLES[,LINES] */
static int set_pmi_cost(void *target, const struct option *option, const char *value, struct err *err)
{
	struct record *o = target;
	const size_t n = strcspn(value, ",");
	char cycles[32];
	uint64_t c = 0, l = 0;
	snprintf(cycles, sizeof cycles, "%.*s", (int)n, value);
	int code = read_count(option->name, n < sizeof cycles ? cycles : value, &c, err);
	if (!code && value[n])
		code = read_count(option->name, value + n + 1, &l, err);
	if (!code && (c > PMI_CYCLES_MAX || l > PMI_LINES_MAX))
		code = err_set(err, ERR_INPUT, "option --pmi-cost: '%s' is more than %d cycles or %d lines", value,
			PMI_CYCLES_MAX, PMI_LINES_MAX);
	o->pmi_cycles = (unsigned)c;
	o->pmi_lines = (unsigned)l;
	return code;
}

static int set_sample(void *target, const struct option *option, const char *value, struct err *err)
{
	struct record *o = target;
	(void)option;
	const int rc = cli_sample_parse(&o->sample, value, err);
	if (!rc)
		cli_sample_parts(&o->sample);
	return rc;
}

static int set_detail(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	((struct record *)target)->sample.least = SAMPLED_WINDOWS;
	return cli_sample_parse_detail(&((struct record *)target)->sample, value, err);
}

/* An option with a value that changes nothing here. */
#define OPT_IDLE(letter, long_name, value, text, ...) \
	OPT_CALL(letter, long_name, value, option_ignore, "Accepted without effect: " text, __VA_ARGS__)

static const struct option options[] = {
	OPT_GROUP("What is sampled, and how often"),
	OPT_LIST('e', "event", "EVENT,...", struct record, list, lists, "Sample these events, written as perf writes "
		"them. May be repeated. Default: cycles:u.", .more = "one -e takes a whole list"),
	OPT_SCALED('c', "count", "N", struct record, count, 1, 0x1.fffffffffffffp62, "Take a sample every N events."),
	OPT_SCALED('F', "freq", "N", struct record, frequency, 1, 0x1.fffffffffffffp62, "Take N samples a modelled "
		"second; the period adapts. Without -c and -F, cycles are sampled every 100003 cycles, and other "
		"events at the frequency that this makes: 30000 a modelled second at 3 GHz. With -d, samples of "
		"precise events lie closer together in the first 100 million cycles: a thousandth of the run so far "
		"apart."),
	OPT_TEXT(0, "region", "NAME", struct record, region, "Sample only inside the regions of this name, which the "
		"program marks (softpmu/client.h)."),
	OPT_CALL(0, "after", "EVENT=N", count_first, "On NetBurst, start to count the sampled events only after N of "
		"EVENT, and again N of EVENT after each sample (cascaded counters)."),
	OPT_FLAG(0, "force-ovf", struct record, forced, "On NetBurst, take a sample at every event: set FORCE_OVF, "
		"with which every event overflows its counter."),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of the run, and take "
		"samples only there. In windows they lie closer together, so that -c and -F give as many samples as "
		"without --sample; their periods add up to the counts of the whole run. " CLI_SAMPLE_HOW
		" Without -c and -F, the period is 151 cycles or more if cycles alone are sampled, else 607.",
		.optional = true),
	OPT_CALL(0, "detail", "N", set_detail, "Time the whole run. Without --detail and --sample, the first 200 "
		"million instructions of each process are timed and the rest is sampled; a process that has several "
		"threads by then is timed to its end. --detail=N: the same with N instead of 200 million.",
		.optional = true),
	OPT_GROUP("What samples hold"),
	OPT_FLAG('g', NULL, struct record, chains, "Keep call chains, made from the calls and returns of the stream: "
		"exact, with or without frame pointers."),
	OPT_CALL(0, "call-graph", "MODE", choose_chains, "The same as -g. perf's modes fp, dwarf and lbr are "
		"accepted, and all give the exact call chains of -g."),
	OPT_CALL('d', "data", NULL, keep_data, "For precise events (:p), keep the data address of each sample and "
		"where the data came from."),
	OPT_FLAG(0, "heap", struct record, heap, "With -d, give data addresses names: heap blocks by the function "
		"that allocated them, and the threads' stacks."),
	OPT_CALL('W', "weight", NULL, keep_weight, "For precise events (:p), keep the latency of the access, and by "
		"how many cycles the instruction retired late."),
	OPT_CALL('I', "intr-regs", "REGISTER,...", choose_registers, "Keep the registers of precise events' samples. "
		"Default: all.", .optional = true),
	OPT_CALL('b', "branch-any", NULL, keep_branches, "Keep the branch stack: the branches in the core's last "
		"branch records (up to 32 on golden-cove and skylake)."),
	OPT_CALL('j', "branch-filter", "FILTER,...", filter_branches, "The same as -b, but only for these branches: "
		"any, any_call, any_ret, ind_call, ind_jmp, call, cond, stack. Also u, save_type, no_flags, "
		"no_cycles."),
	OPT_CALL(0, "exact", "N", keep_exact, "Keep the exact profile, too: every cycle charged to the instruction "
		"that retirement waited for. With N, also keep what a time-proportional sampler would find that "
		"looks every N cycles.",
		.optional = true),
	OPT_GROUP("Interrupts and the PEBS buffer"),
	OPT_SCALED(0, "pebs-records", "N", struct record, pebs_records, 1, PEBS_RECORDS_MAX, "Raise the interrupt "
		"only when the PEBS buffer holds N records. Default: 1."),
	OPT_CHOICE(0, "pebs-shared", "drain|mixed", struct record, pebs_shared, SESSION_PEBS_DRAINED, "With --cpus, "
		"let threads share the PEBS buffer of their processor. drain: the kernel empties the buffer when the "
		"processor switches threads. mixed: it does not, and all records go to the thread that the next "
		"interrupt finds running. Default: each thread has a buffer of its own."),
	OPT_CALL(0, "pmi-cost", "CYCLES[,LINES]", set_pmi_cost, "Let each interrupt stop the program for CYCLES, "
		"which are not counted because they pass in the kernel, and bring LINES cache lines of code and as "
		"many of data into the caches. Default: 0."),
	OPT_GROUP("The file"),
	OPT_TEXT('o', "output", "FILE", struct record, output, "Write to FILE. An existing file becomes FILE.old. "
		"Default: perf.data. - is standard output, in perf's form for pipes: softpmu record -o - -- ls | perf "
		"report -i -; the program's own output goes to standard error then."),
	OPT_TEXT(0, "html", "FILE", struct record, html, "Also write a page to FILE that shows what the perf.data file "
		"holds (softpmu report --html). With it, call chains (-g), the exact profile (--exact) and counts "
		"over time are kept, too, and the whole run is timed; with --sample, only call chains. Without -e, "
		"mispredicted branches and cache misses are sampled beside cycles; without -c and -F, every 10007 "
		"cycles."),
	OPT_FLAG('B', "no-buildid", struct record, no_build_ids, "Do not keep the build-ids of mapped files."),
	OPT_FLAG(0, "buildid-mmap", struct record, map_build_ids, "Keep the build-ids in the records of mappings, not "
		"in a list of their own."),
	OPT_FLAG('s', "stat", struct record, stat, "Also keep each thread's counts of the events, which report -T "
		"prints. Not in a sampled run."),
	OPT_FLAG('n', "no-samples", struct record, no_samples, "Keep no samples, only processes, threads and mappings "
		"(and with -s, the counts)."),
	OPT_FLAG(0, "dry-run", struct record, dry, "Only check the options: run nothing, write nothing."),
	OPT_IGNORED('N', "no-buildid-cache", "Accepted without effect: softpmu never fills the build-id cache."),
	OPT_IGNORED(0, "all-user", "Accepted without effect: only user mode is modelled."),
	OPT_IGNORED(0, "buildid-all", "Accepted without effect: the build-ids of all mapped programs and libraries are "
		"kept."),
	OPT_IGNORED('P', "period", "Accepted without effect: samples always hold their period."),
	OPT_IGNORED('T', "timestamp", "Accepted without effect: samples always hold their time."),
	OPT_IGNORED(0, "sample-cpu", "Accepted without effect: samples always hold their processor."),
	OPT_IGNORED(0, "sample-identifier", "Accepted without effect: samples always hold their event's id."),
	OPT_IGNORED(0, "timestamp-boundary", "Accepted without effect: the file always holds the times of its first "
		"and last sample."),
	OPT_IGNORED('R', "raw-samples", "Accepted without effect: only a kernel's tracepoints have raw data."),
	OPT_IGNORED(0, "per-thread", "Accepted without effect: samples always say which thread they are of."),
	OPT_IGNORED(0, "group", "Accepted without effect: all events count at the same time."),
	OPT_IGNORED(0, "user-callchains", "Accepted without effect: only user mode is modelled."),
	OPT_IGNORED(0, "exclude-perf", "Accepted without effect: softpmu itself is never sampled."),
	OPT_IGNORED(0, "strict-freq", "Accepted without effect: no kernel limits the frequency."),
	OPT_IGNORED(0, "no-bpf-event", "Accepted without effect: BPF programs are not recorded."),
	OPT_IGNORED(0, "no-buffering", "Accepted without effect: samples do not wait in a kernel's buffer."),
	OPT_IDLE('m', "mmap-pages", "PAGES", "there is no kernel's buffer that samples could be lost from."),
	OPT_IDLE(0, "mmap-flush", "BYTES", "there is no kernel's buffer."),
	OPT_IDLE(0, "aio", "N", "writing does not change what is recorded.", .optional = true),
	OPT_IDLE(0, "affinity", "node|cpu", "where softpmu runs does not change what is recorded."),
	OPT_IDLE('r', "realtime", "PRIORITY", "softpmu's speed does not change what is recorded."),
	OPT_IDLE(0, "num-thread-synthesize", "N", "a run is recorded from its start."),
	OPT_IDLE(0, "synth", "KIND", "a run is recorded from its start."),
	OPT_IGNORED(0, "tail-synthesize", "Accepted without effect: a run is recorded from its start."),
	OPT_IDLE(0, "proc-map-timeout", "MS", "mappings are those of the stream."),
	OPT_IDLE(0, "debuginfod", "URLS", "softpmu never fills the build-id cache.", .optional = true),
	OPT_FLAG('q', "quiet", struct record, quiet, "Do not print the closing line."),
	OPT_FLAG('v', "verbose", struct record, verbose, "Also print how fast the model ran."),
	OPT_REFUSED('a', "all-cpus", "only the given program is traced", NULL),
	OPT_REFUSED('C', "cpu", "the program's threads have modelled cores of their own", NULL),
	OPT_REFUSED('t', "tid", "the tracer cannot attach to a thread that runs already", "start the program under "
		"softpmu"),
	OPT_REFUSED(0, "phys-data", "physical addresses of samples are not supported", NULL),
	OPT_REFUSED(0, "user-regs", "there is no kernel", "--intr-regs keeps the registers of user mode"),
	OPT_REFUSED('z', "compression-level", "the file is never compressed", NULL),
	OPT_REFUSED('D', "delay", "there is no clock to wait for", "--start FUNCTION or --start COUNT begins the "
		"sampling later"),
	OPT_REFUSED(0, "cut", "a sample's period is carried over from one piece to the next", "softpmu stat --cut "
		"counts in pieces"),
	OPT_REFUSED('k', "clockid", "times are modelled", NULL),
	OPT_REFUSED('G', "cgroup", "only the given program is traced", NULL),
	OPT_REFUSED(0, "all-cgroups", "only the given program is traced", NULL),
	OPT_REFUSED('u', "uid", "the tracer cannot attach to processes that run already", "start the program under "
		"softpmu"),
	OPT_REFUSED(0, "off-cpu", "a thread that does not run has no modelled time", NULL),
	OPT_REFUSED(0, "kcore", "the kernel is not modelled", NULL),
	OPT_REFUSED(0, "kernel-callchains", "the kernel is not modelled", NULL),
	OPT_REFUSED(0, "all-kernel", "the tracer sees user mode only", NULL),
	OPT_REFUSED(0, "vmlinux", "the kernel is not modelled", NULL),
	OPT_REFUSED('S', "snapshot", "no AUX area (Intel PT) is modelled", "-b keeps branch stacks"),
	OPT_REFUSED(0, "aux-sample", "no AUX area (Intel PT) is modelled", "-b keeps branch stacks"),
	OPT_REFUSED(0, "clang-opt", "no BPF program is compiled", NULL),
	OPT_REFUSED(0, "clang-path", "no BPF program is compiled", NULL),
	OPT_REFUSED(0, "code-page-size", "samples do not hold sizes of pages", NULL),
	OPT_REFUSED(0, "data-page-size", "samples do not hold sizes of pages", NULL),
	OPT_REFUSED(0, "control", "nothing can switch modelled counters from outside", "--start, --stop and --region "
		"choose a part of the run"),
	OPT_REFUSED(0, "filter", "filters are those of a kernel's tracepoints", "--region samples a part of the run"),
	OPT_REFUSED(0, "max-size", "the file is never cut", "-c and -F choose how many samples there are"),
	OPT_REFUSED(0, "namespaces", "namespaces are not recorded", NULL),
	OPT_REFUSED(0, "overwrite", "there is no kernel's buffer to overwrite", "--start begins the sampling later"),
	OPT_REFUSED(0, "running-time", "samples do not hold the counts of other events (:S)", "-s keeps the counts of "
		"threads"),
	OPT_REFUSED(0, "switch-events", "switches of threads are not recorded", NULL),
	OPT_REFUSED(0, "switch-output", "one file is written", "--start and --stop choose a part of the run"),
	OPT_REFUSED(0, "switch-output-event", "one file is written", NULL),
	OPT_REFUSED(0, "switch-max-files", "one file is written", NULL),
	OPT_REFUSED(0, "timestamp-filename", "no file depends on the wall clock", "-o names it"),
	OPT_REFUSED(0, "transaction", "samples do not say why transactions aborted", "-e RTM_RETIRED.ABORTED samples "
		"aborts, on cores that have it"),
	OPT_REFUSED(0, "threads", "one thread writes the file", NULL),
	OPT_END
};

/* What does not go with a sampled run; NULL: nothing. */
static const char *misfit(const struct record *o)
{
	if (o->region || o->after || o->forced)
		return "--sample goes with none of --region, --after, --force-ovf";
	if (o->pebs_records > 1 || o->pebs_shared)
		return "--sample goes with neither --pebs-records nor --pebs-shared: a record would be read only in a "
		       "later window";
	if (o->stat)
		return "--sample does not go with -s: windows do not tell a thread's counts";
	if (o->pmi_cycles)
		return "--sample does not go with --pmi-cost: interrupts would come more often in windows "
		       "than in the whole run";
	if (o->exact)
		return "--sample does not go with --exact, which charges every cycle of the run";
	if (o->branches & PERF_SAMPLE_BRANCH_CALL_STACK)
		return "--sample does not go with -j stack: last branch records miss the calls between "
		       "windows; -g has them";
	return NULL;
}

/* Options that do not go together.  0, or -1 after one printed line. */
static int check(const struct record *o)
{
	const char *text = NULL;
	if (o->heap && !(o->fields & PERFDATA_ADDR))
		text = "--heap names what data addresses hit: it goes with -d";
	else if (o->count && o->frequency)
		text = "-c and -F exclude each other: a fixed period or a frequency";
	else if (o->forced && ((o->count && o->count != 1) || o->frequency || o->after))
		text = "--force-ovf takes a sample at every event: it goes with -c 1 only, and with neither -F nor "
		       "--after";
	else if (o->html && !strcmp(o->output, "-"))
		text = "--html reads the perf.data file again: it does not go with -o -";
	else if (o->sample.on)
		text = misfit(o);
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* ---- events ---- */

/* --after: adds to each event to sample a counter of the event that comes first. */
static int choose_first(const struct record *o, const struct spmu_model *model, struct session_events *events,
	struct err *err)
{
	const struct session_parse_options how = {
		.model = model, .core = &o->run.core, .purpose = SESSION_FOR_SAMPLING
	};
	int code = 0;
	char *name = strndup(o->after, (size_t)(strrchr(o->after, '=') - o->after));
	if (!name)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < o->sampled && !code; i++) {
		size_t first = events->count;
		code = session_parse(events, &how, name, err);
		if (!code &&
			(events->count != first + 1 || events->event[first].precise || events->event[first].period ||
				events->event[first].frequency))
			code = err_set(err, ERR_INPUT, "--after '%s': one plain event was expected", name);
		if (code)
			break;
		events->event[first].period = o->after_count;
		events->event[first].starts = true;
		events->event[i].after = first + 1;
	}
	free(name);
	return code;
}

/* With --sample: cycles alone are sampled, so samples may lie close together (session_windows.c). */
static bool only_cycles(const struct session_events *events)
{
	bool only = true;
	for (size_t i = 0; i < events->count; i++)
		only &= session_is_cycles(&events->event[i]) && !events->event[i].precise;
	return only;
}

static void default_rate(const struct record *o, const struct session_events *events, struct session_event *e)
{
	const bool windows = o->sample.on && !o->sample.after, close = windows && only_cycles(events);
	const unsigned period = close ? SAMPLED_CYCLES : windows ? SAMPLED_PERIOD : o->html ? HTML_PERIOD
		: DEFAULT_PERIOD;
	if (session_is_cycles(e))
		e->period = period;
	else	/* no fixed period suits both loads and misses */
		e->frequency = (uint64_t)(o->run.core.frequency_ghz * 1e9 / period) + 1;
	/* tables of data addresses need more samples of a short program than a table of functions */
	e->gradual = !windows && e->frequency && e->precise && o->fields & PERFDATA_ADDR;
	e->most_weight = windows ? SAMPLED_WEIGHT : o->sample.on ? DETAILED_WEIGHT : 0;
	e->rarer = close ? SAMPLED_RARER : 0;
}

static int choose_events(struct record *o, const struct spmu_model *model, struct session_events *events,
	struct err *err)
{
	const struct session_parse_options how = {
		.model = model, .core = &o->run.core, .purpose = SESSION_FOR_SAMPLING
	};
	char *list = NULL;
	size_t size;
	FILE *f = open_memstream(&list, &size);
	if (!f)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (unsigned i = 0; i < o->lists; i++)
		fprintf(f, "%s%s", i ? "," : "", o->list[i]);
	if (!o->lists && (!o->exact || o->html))
		fputs("cycles:u", f);
	int code = fclose(f) ? err_set(err, ERR_NOMEM, "out of memory") : 0;
	if (!code && *list)
		code = session_parse(events, &how, list, err);
	if (!code && !o->lists && o->html) {	/* not every core has them */
		session_parse(events, &how, "branch-misses:u", NULL);
		session_parse(events, &how, "cache-misses:u", NULL);
	}
	free(list);
	o->sampled = events->count;
	for (size_t i = 0; !code && i < events->count; i++) {
		struct session_event *e = &events->event[i];
		e->forced = o->forced;
		if (e->source == SESSION_PUSHOUT)
			o->fields |= PERFDATA_WEIGHT;	/* it holds the pushout */
		if (o->forced && ((e->period && e->period != 1) || e->frequency))
			code = err_set(err, ERR_INPUT, "%s: --force-ovf is a sample at every event", e->spelled);
		else if (o->forced)
			e->period = 1;
		else if (e->source == SESSION_DURATION)
			code = err_set(err, ERR_UNSUPPORTED,
				"%s: elapsed time cannot be sampled; cycles or task-clock can", e->spelled);
		else if (o->count && !e->period)
			e->period = o->count;
		else if (!e->period && !e->frequency && o->frequency)
			e->frequency = o->frequency;
		else if (!e->period && !e->frequency)
			default_rate(o, events, e);
	}
	return !code && o->after ? choose_first(o, model, events, err) : code;
}

/* ---- the run ---- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct record *o = context;
	o->started = true;
	return session_thread_start(o->session, t, err);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	return session_client(((struct record *)context)->session, t, request, name, answer);
}

static void on_end(void *context, struct run_thread *t)
{
	struct record *o = context;
	if (o->exact_record && !o->failed)
		o->failed = exact_record_end(o->exact_record, t);
	if (o->timeline && !o->failed)
		o->failed = timeline_end(o->timeline, t);
	session_thread_end(o->session, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct record *o = context;
	if (o->exact_record && !o->failed)
		o->failed = exact_record_batch(o->exact_record, t, b, session_outside(t));
	if (o->timeline && !o->failed)
		o->failed = timeline_batch(o->timeline, t, b);
	session_batch(o->session, t, b);
	recorder_clock(o->recorder, t, b->watermark);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct record *o = context;
	if (o->exact_record && !o->failed)
		o->failed = exact_record_side(o->exact_record, t, pid, record);
	if (!o->failed)
		o->failed = recorder_side(o->recorder, t, pid, record, cycle);
}

static void add_precise(const struct run_thread *t, const struct precise_record *p, struct perfdata_sample *out,
	uint64_t reg[PERFDATA_REG_COUNT])
{
	/* selectors of user code: Linux, arch/x86/include/asm/segment.h */
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool wide = t->word_bytes == 8;
	if (p->has_address)
		out->addr = p->address;
	out->data_src = p->has_source && p->address ? data_source(p->source, p->store) : data_source_unknown(p->store);
	out->weight = p->latency > UINT32_MAX ? UINT32_MAX : (uint32_t)p->latency;
	out->instruction_latency = p->instruction_latency > UINT16_MAX ? UINT16_MAX : (uint16_t)p->instruction_latency;
	out->retire_latency = p->retire_latency > UINT16_MAX ? UINT16_MAX : (uint16_t)p->retire_latency;
	if (!p->has_registers)
		return;
	memset(reg, 0, PERFDATA_REG_COUNT * sizeof *reg);
	for (unsigned i = 0; i < 8; i++)
		reg[i] = p->registers.gpr[order[i]];
	for (unsigned i = 8; i < 16; i++)
		reg[8 + i] = p->registers.gpr[i];
	reg[8] = p->registers.rip;
	reg[9] = p->registers.rflags;
	reg[10] = wide ? 0x33 : 0x23;
	reg[11] = 0x2b;
	out->reg = reg;
	out->reg_32 = !wide;
}

static void on_sample(void *context, struct run_thread *t, const struct session_sample *s)
{
	struct record *o = context;
	recorder_clock(o->recorder, t, s->cycle);
	o->samples[s->event]++;
	struct perfdata_sample out = {
		.event = s->event, .ip = s->ip, .time = s->time_ns, .period = s->period, .pid = s->pid, .tid = s->tid,
		.cpu = s->cpu, .chain = s->chain, .chain_length = s->chain_length, .exact = s->exact,
	};
	uint64_t reg[PERFDATA_REG_COUNT];
	if (s->has_pushout) {
		out.weight = s->pushout;
		out.retire_latency = s->pushout > UINT16_MAX ? UINT16_MAX : (uint16_t)s->pushout;
	}
	if (s->precise)
		add_precise(t, s->precise, &out, reg);
	if (o->heap && out.addr && !o->failed)
		o->failed = recorder_data(o->recorder, t, out.addr, s->precise->cycle, s->time_ns);
	struct perfdata_branch branch[PRECISE_BRANCHES_MAX];
	for (size_t i = 0; s->branch && i < s->branches && i < PRECISE_BRANCHES_MAX; i++)
		branch[out.branches++] =
			(struct perfdata_branch){ s->branch[i].from, s->branch[i].to, s->branch[i].flags };
	out.branch = branch;
	if (!o->failed && !o->no_samples)
		o->failed = perfdata_sample(o->writer, &out);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct record *o = context;
	session_window(o->session, t, w, cli_sample_weight(&o->sample, t, w));
	return cli_sample_window(&o->sample, t, w);
}

static void on_sampled(void *context, struct run_thread *t)
{
	struct record *o = context;
	session_sampled(o->session, t);
	cli_sample_sampled(&o->sample, t);
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	struct record *o = context;
	return o->failed ? 1 : cli_tick(&o->run, instructions, cycles);	/* a full disk: the run stops */
}

/* "506E3H" is family 6, model 94, stepping 3.  Source: SDM vol. 2A, CPUID, "Version Information". */
static void cpuid_text(const char *signature, char *text, size_t room)
{
	unsigned long s = strtoul(signature, NULL, 16);
	unsigned family = s >> 8 & 15, model = s >> 4 & 15;
	if (family == 6 || family == 15)
		model |= (s >> 16 & 15) << 4;
	if (family == 15)
		family += s >> 20 & 255;
	snprintf(text, room, "GenuineIntel,%u,%u,%u", family, model, (unsigned)(s & 15));
}

/* Describes the caches that hold data; returns how many. */
static size_t describe_caches(const struct core_config *c, struct perfdata_cache out[3])
{
	const unsigned line = 64u >> c->cache_line;
	const struct {
		unsigned level, ways, line;
		uint64_t size;
		const char *type;
	} all[3] = {
		{ 1, (unsigned)c->l1d_ways, line, (uint64_t)c->l1d_size, "Data" },
		{ 2, (unsigned)c->l2_ways, line << c->l2_sectors, (uint64_t)c->l2_size,
			"Unified" }, /* of lines under one tag */
		{ 3, (unsigned)c->l3_ways, 64, (uint64_t)c->l3_size, "Unified" },
	};
	size_t n = 0;
	for (size_t i = 0; i < 3; i++)
		if (all[i].size && all[i].ways)
			out[n++] = (struct perfdata_cache){ all[i].level, all[i].line,
				(unsigned)(all[i].size / all[i].line / all[i].ways), all[i].ways, all[i].type };
	return n;
}

/* A profile of few samples says little: which period would take enough? */
static void say_few(const struct record *o)
{
	char text[256];
	for (size_t i = 0; i < o->sampled; i++) {
		const struct session_event *e = &o->events->event[i];
		if (e->starts || e->after || e->forced)
			continue;
		const uint64_t count = o->sample.on ? (uint64_t)session_estimate(o->session, i)
			: session_count(o->session, i);
		record_few_text(e->name, o->samples[i], count, e->gradual ? 0 : e->frequency, text, sizeof text);
		if (text[0])
			fprintf(stderr, "[ softpmu record: %s ]\n", text);
	}
}

/* What is printed when the file is closed. */
static void say(const struct record *o, const struct run_result *result, uint64_t bytes, uint64_t samples)
{
	const uint64_t interrupts = session_interrupts(o->session), taken = interrupts * o->pmi_cycles;
	const uint64_t of = o->sample.after ? result->sampled : result->instructions + result->warmed;
	fprintf(stderr, "[ softpmu record: Wrote %.3f MB %s (%llu samples) ]\n", (double)bytes / (1024 * 1024),
		o->output, (unsigned long long)samples);
	if (o->sample.windows)
		fprintf(stderr, "[ softpmu record: %s in %zu windows, which are %.2f%% of %s instructions ]\n",
			o->sample.after ? "The rest was taken" : "Taken", o->sample.windows,
			100.0 * o->sample.measured / (double)of,
			o->sample.after ? "its" : "the");
	if (o->pebs_shared)
		fprintf(stderr, "[ softpmu record: %llu of %llu samples were taken for those of another thread ]\n",
			(unsigned long long)session_mistaken(o->session), (unsigned long long)samples);
	if (o->pmi_cycles)
		fprintf(stderr, "[ softpmu record: %llu interrupts took %llu of %llu cycles (%.2f%%) ]\n",
			(unsigned long long)interrupts, (unsigned long long)taken, (unsigned long long)result->cycles,
			result->cycles ? 100.0 * (double)taken / (double)result->cycles : 0);
	if (!o->no_samples)
		say_few(o);
}

/* -s: keeps what each thread counted. */
static int keep_counts(const struct record *o)
{
	int failed = 0;
	for (size_t k = 0; k < session_threads(o->session); k++) {
		struct session_thread t;
		session_thread_info(o->session, k, &t);
		for (size_t e = 0; e < o->sampled && !failed; e++)
			failed = perfdata_read(o->writer, e, t.pid, t.tid, session_thread_count(o->session, k, e),
				t.running_ns, session_thread_running_ns(o->session, k, e));
	}
	return failed;
}

/* Behind the run, which ended with `code`: closes the file.  0, or the first error. */
static int finish(struct record *o, int code, const struct run_result *result, struct err *err)
{
	struct err why = { 0 };
	uint64_t bytes = 0, samples = 0;
	int closed = 0;
	if (o->exact_record && !o->failed)
		o->failed = exact_record_finish(o->exact_record);
	if (o->timeline && !o->failed)
		o->failed = timeline_keep(o->timeline, o->writer);
	if (o->started && o->stat && !o->failed)
		o->failed = keep_counts(o);
	if (o->started)
		closed = perfdata_finish(o->writer, &bytes, &samples, &why);
	else
		perfdata_discard(o->writer);
	o->writer = NULL;
	if (result->note[0])
		cli_warn("%s", result->note);
	if (result->threads_at_once)
		cli_warn(CLI_SAMPLE_THREADS);
	if (result->threads_detailed)
		cli_note("all of the run was timed, because several threads ran at the same time (--sample is faster)");
	if (o->started && o->region && !session_has_region(o->session, o->region))
		cli_no_region(o->session, o->region, "sampled");
	if (!code && closed)
		code = err_set(err, closed, "%s", why.text);
	if (!code && o->failed)
		code = err_set(err, ERR_NOMEM, "out of memory");
	if (o->started && !o->quiet)
		say(o, result, bytes, samples);
	if (o->verbose)
		fprintf(stderr, "softpmu: %llu instructions timed, %llu warmed, %llu cycles, %.2f s, %.2f MIPS\n",
			(unsigned long long)result->instructions, (unsigned long long)result->warmed,
			(unsigned long long)result->cycles, result->wall_seconds,
			result->wall_seconds > 0
				? 1e-6 * (double)(result->instructions + result->warmed) / result->wall_seconds
				: 0);
	return code;
}

/* Runs the program; *status: as in record. */
static int run_program_of(struct record *o, const struct spmu_model *model, struct run_result *result, int *status,
	struct err *err)
{
	struct run_sink sink = { .context = o, .thread_start = on_start, .thread_end = on_end, .batch = on_batch,
		.side = on_side, .tick = on_tick, .client = on_client, .window = o->sample.on ? on_window : NULL,
		.sampled = o->sample.on ? on_sampled : NULL };
	struct core_wanted wanted = session_wanted(o->session);
	if (o->exact)
		wanted = core_wanted_both(wanted, exact_record_wanted());
	if (o->timeline)
		wanted = core_wanted_both(wanted, timeline_wanted());
	o->run.run.wanted = &wanted;
	o->run.run.calls = o->chains && o->sample.on;
	if (o->heap)
		o->run.run.heap = o->run.run.regs = true;
	if (session_needs_registers(o->session))
		o->run.run.history = o->run.run.regs = true;
	const int code = cli_run_program(&o->run, &sink, result, err);
	o->run.run.wanted = NULL;
	cli_progress_clear(&o->run);
	if (o->started)
		cli_warn_unmodelled(o->session, model);
	*status = cli_exit_status(result->wait_status);
	return code;
}

/* -o -: the file goes to standard output, and what the program prints there goes to standard error, as in perf. */
static int take_output(int *out, struct err *err)
{
	if (isatty(1))
		return err_set(err, ERR_INPUT, "-o - writes perf.data to standard output, which is a terminal: pipe "
			"it, or name a file");
	*out = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (*out < 0 || dup2(2, 1) < 0)
		return err_system(err, "-o -: cannot use standard output");
	return 0;
}

/* Runs the program and writes the file; *status: the program's exit status. */
static int record(struct record *o, const struct spmu_model *model, const struct session_events *events, int argc,
	char **argv, int *status, struct err *err)
{
	char cpuid[64];
	struct perfdata_cache cache[3];
	struct run_result result = { 0 };
	struct perfdata_event *described = calloc(o->sampled + EXACT_EVENTS, sizeof *described);
	char **words = calloc((size_t)argc + 1, sizeof *words);
	if (!described || !words) {
		free(described);
		free(words);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	words[0] = "softpmu";
	memcpy(words + 1, argv, (size_t)argc * sizeof *words);
	for (size_t i = 0; i < o->sampled; i++)
		record_describe(&events->event[i], &described[i]);
	if (o->exact)
		exact_record_events(described + o->sampled, o->exact_sample);
	cpuid_text(o->run.core.cpuid_signature, cpuid, sizeof cpuid);
	struct perfdata_options file = {
		.path = o->output,
		.events = described,
		.event_count = o->sampled + (o->exact ? (size_t)EXACT_EVENTS : 0),
		.call_chains = o->chains,
		.fields = o->fields | (o->branches ? PERFDATA_BRANCHES : 0),
		.regs = o->regs,
		.branch_type = o->branches,
		.build_ids = !o->no_build_ids,
		.map_build_ids = o->map_build_ids,
		.thread_counts = o->stat,
		.argc = argc + 1,
		.argv = words,
		.version = "softpmu",
		.cpu_title = o->run.core.title,
		.cpuid = cpuid,
		.cache = cache,
		.caches = describe_caches(&o->run.core, cache),
	};
	struct session_options session = {
		.core = &o->run.core,
		.model = model,
		.events = events,
		.call_chains = o->chains,
		.context = o,
		.sample = on_sample,
		.region = o->region,
		.pebs_records = o->pebs_records,
		.pmi_cycles = o->pmi_cycles,
		.pmi_lines = o->pmi_lines,
		.pebs_shared = o->pebs_shared,
		.windows = o->sample.on,
		.windows_later = o->sample.after || (o->sample.automatic && o->sample.times_start),
		.cpus = o->run.run.cpus,
		.siblings = o->run.run.smt ? o->run.core.smt_threads : 0,
		.branches = o->branches,
		.data = (o->fields & (PERFDATA_ADDR | PERFDATA_WEIGHT) ? PRECISE_MEMORY : 0) |
			(o->fields & PERFDATA_REGS ? PRECISE_REGISTERS : 0),
	};
	int code = 0;
	if (o->pebs_shared && !o->run.run.cpus)
		code = err_set(err, ERR_INPUT,
			"--pebs-shared needs --cpus: without it every thread has a processor, and its buffer, of its "
			"own");
	if (!code)
		code = session_create(&o->session, &session, err);
	if (!code && o->pebs_shared && !session_needs_registers(o->session))
		code = err_set(err, ERR_INPUT,
			"--pebs-shared: no event is precise (:p), so nothing goes into the buffer");
	if (!code)
		code = cli_sample_begin(&o->sample, &o->run, o->session, 0, err);
	o->events = events;
	o->samples = calloc(events->count, sizeof *o->samples);
	if (!code && !o->samples)
		code = err_set(err, ERR_NOMEM, "out of memory for the samples' counts");
	if (!code && !strcmp(o->output, "-"))
		code = take_output(&file.pipe, err);
	if (!code)
		code = perfdata_create(&o->writer, &file, err);
	free(described);
	free(words);
	if (code)
		return code;
	double hz = o->run.core.frequency_ghz * 1e9;
	code = recorder_create(&o->recorder, o->writer, hz, !o->no_build_ids && !o->run.run.replay, err);
	if (!code && o->heap)
		code = recorder_heap(o->recorder, err);
	if (!code && o->exact)
		code = exact_record_create(&o->exact_record, o->writer, o->sampled, o->exact_sample, hz, err);
	if (!code && o->html && o->exact && !o->run.run.smt)
		code = timeline_create(&o->timeline, &o->run.core, err);
	if (!code)
		code = run_program_of(o, model, &result, status, err);
	return finish(o, code, &result, err);
}

static int run(int argc, char **argv)
{
	struct record o = { .output = "perf.data" };
	struct session_events events = { 0 };
	struct err err = { 0 };
	int next, status = 0;
	cli_run_init(&o.run);
	o.run.profile = CLI_PROFILE_STORED;
	const int go = cli_options(&cmd_record, &o, &o.run, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (o.html) {
		o.chains = true;
		o.exact |= !o.sample.on && !o.no_samples;
	}
	if (check(&o) || cli_run_finish(&o.run, argc, argv, next) || cli_sample_check(&o.sample, &o.run))
		return 2;
	struct spmu_model *model = cli_model(&o.run.core);
	if (!model)
		return 1;
	if (!o.sample.on && !o.sample.in_full && !misfit(&o) && !run_sample_misfit(&o.run.run)) {
		o.sample.least = SAMPLED_WINDOWS;
		cli_sample_default(&o.sample);
	}
	int code = choose_events(&o, model, &events, &err);
	if (!code && !o.dry)
		code = record(&o, model, &events, argc, argv, &status, &err);
	if (code) {
		cli_error("%s%s", err.text, o.started ? " (the file holds what was sampled up to there)" : "");
		status = status ? status : 1;
	}
	recorder_destroy(o.recorder);
	exact_record_destroy(o.exact_record);
	timeline_destroy(o.timeline);
	if (o.html && o.started && report_html(o.html, o.output, NULL, NULL) && !status)
		status = 1;
	session_destroy(o.session);
	free(o.samples);
	cli_sample_free(&o.sample);
	session_events_free(&events);
	spmu_model_free(model);
	return status;
}

const struct cli_command cmd_record = {
	.name = "record", .summary = "run a program and sample it into a perf.data file", .options = options, .runs =
		true, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Samples PROGRAM while it runs on a modelled core, and writes a perf.data file that perf report, "
		"perf annotate, perf script and softpmu report read. Times in it are modelled. The exit status is the "
		"program's, or 128+n if signal n ended it.",
	.notes = "N may have a suffix: k, M or G.",
};
