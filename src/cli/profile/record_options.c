/* SPDX-License-Identifier: GPL-2.0-or-later
 * The options of softpmu record.
 *
 * Left out of perf's: what needs a kernel (-a, -C, -p, ring buffers), stack dumps.
 */
#include "cli/profile/record_parts.h"
#include "output/perfdata/perfdata.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PEBS_RECORDS_MAX = 4096, PMI_CYCLES_MAX = 1000000000, PMI_LINES_MAX = 1 << 20 };

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
	((struct record *)target)->sample.least = RECORD_WINDOWS;
	return cli_sample_parse_detail(&((struct record *)target)->sample, value, err);
}

/* An option with a value that changes nothing here. */
#define OPT_IDLE(letter, long_name, value, text, ...) \
	OPT_CALL(letter, long_name, value, option_ignore, "Accepted without effect: " text, __VA_ARGS__)

const struct option record_options[] = {
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
		"over time are kept, too, and the whole run is timed; with --sample, there is no exact profile, and "
		"the counts are estimates. Without -e, "
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

const char *record_misfit(const struct record *o)
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

int record_check(const struct record *o)
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
		text = record_misfit(o);
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}
