/* SPDX-License-Identifier: GPL-2.0-or-later
 * The options of softpmu stat (stat_counting.h). */
#include "cli/stat/stat_counting.h"
#include <stdlib.h>

static int set_separator(void *target, const struct option *o, const char *value, struct err *err)
{
	struct stat_options *s = target;
	(void)o, (void)err;
	s->form = STAT_CSV;
	return cli_separator(value, &s->separator) ? 0 : ERR_INPUT;
}

static int set_json(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o, (void)value, (void)err;
	((struct stat_options *)target)->form = STAT_JSON;
	return 0;
}

static int set_sample(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return cli_sample_parse(&((struct stat_options *)target)->sample, value, err);
}

static int set_detail(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return cli_sample_parse_detail(&((struct stat_options *)target)->sample, value, err);
}

static int set_cut(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return stat_cut_parse(&((struct stat_options *)target)->cut, value, err);
}

static int set_parts(void *target, const struct option *o, const char *value, struct err *err)
{
	struct run_parts *const parts = &((struct stat_options *)target)->run.run.parts;
	char *end = "";
	(void)o;
	const unsigned long k = *value >= '0' && *value <= '9' ? strtoul(value, &end, 10) : 0;
	const unsigned long n = *end == '/' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &end, 10) : 0;
	if (*end || !k || k > n || n > 1000000)
		return err_set(err, ERR_INPUT, "--parts '%.100s': not K/N, with K from 1 to N", value);
	*parts = (struct run_parts){ (uint32_t)k - 1, (uint32_t)n };
	return 0;
}

static int set_rotate(void *target, const struct option *o, const char *value, struct err *err)
{
	struct stat_options *s = target;
	(void)o, (void)err;
	s->one_pmu = true;
	return cli_milliseconds("--rotate", value, &s->rotate_ms) ? 0 : ERR_INPUT;
}

const struct option stat_option_table[] = {
	OPT_GROUP("What is counted"),
	OPT_LIST('e', "event", "EVENT,...", struct stat_options, list, lists, "Count these events, written as perf "
		"writes them: names (softpmu list), rUUEE, cpu/event=0x..,umask=0x../, {a,b} groups, libpfm4's "
		"pmu::EVENT:UMASK. Events count in user mode; over a whole machine's stream in both rings, "
		"or as :u and :k say. May be repeated. Default: task-clock, cycles, instructions, branches, "
		"branch-misses.", .more = "one -e takes a whole list"),
	OPT_FLAG(0, "all-user", struct stat_options, all_user, "Over a whole machine's stream, count user mode, as if "
		"each event had :u. Of a program nothing else is modelled."),
	OPT_COUNT('d', "detailed", struct stat_options, detailed, "Count more events: those of L1D and the last-level "
		"cache; given twice, also L1I and the TLBs; three times, also prefetches."),
	OPT_LIST('M', "metrics", "METRIC,...", struct stat_options, metrics, metric_lists, "Count the events that "
		"these metrics are computed from, and print the values of the metrics: IPC, L1_MPKI, Frontend_Bound, "
		"TopdownL1 and others in data/metrics. May be repeated.", .more = "one -M takes a whole list"),
	OPT_FLAG(0, "topdown", struct stat_options, topdown, "Print level 1 of the top-down tree alone; softpmu "
		"topdown prints all of it."),
	OPT_WHOLE(0, "td-level", "N", struct stat_options, topdown_level, 0, 4, "With --topdown, print the levels up "
		"to N; 0 is all that the core has. Default: 1."),
	OPT_FLAG(0, "energy", struct stat_options, energy, "Also print the energy of the run in nJ, as the model of "
		"softpmu tune estimates it."),
	OPT_FLAG('n', "null", struct stat_options, null, "Count no events: print only how long the program ran."),
	OPT_TEXT(0, "region", "NAME", struct stat_options, region, "Count only inside the regions of this name, which "
		"the program marks (softpmu/client.h).", .filled = true),
	OPT_GROUP("How it is counted"),
	OPT_WHOLE('r', "repeat", "N", struct stat_options, repeat, 1, 100000, "Run the program N times; print each "
		"mean with its standard deviation."),
	OPT_FLAG(0, "one-pmu", struct stat_options, one_pmu, "Give each core one PMU, as the machine has, instead of "
		"as many as the events need. Events that do not fit on it take turns, and their counts are scaled, as "
		"the kernel does it."),
	OPT_CALL(0, "rotate", "MS", set_rotate, "With --one-pmu (which this implies), let a turn last MS modelled "
		"milliseconds. Default: 4, as in the kernel."),
	OPT_FLAG(0, "no-scale", struct stat_options, unscaled, "With --one-pmu, print what was counted while an event "
		"had its turns, not scaled to the whole run."),
	OPT_CLEAR(0, "scale", struct stat_options, unscaled, "Scale such counts. This is the default."),
	OPT_TEXT(0, "pre", "COMMAND", struct stat_options, pre, "Run COMMAND by the shell before the program, each "
		"time; it is not counted.", .filled = true),
	OPT_TEXT(0, "post", "COMMAND", struct stat_options, post, "Run COMMAND by the shell after the program.",
		.filled = true),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of the run, and estimate "
		"the counts of the whole run from them, each with its 95 % interval. " CLI_SAMPLE_HOW,
		.optional = true),
	OPT_CALL(0, "detail", "N", set_detail, "Time the whole run and estimate nothing. Without --detail and "
		"--sample, the first 200 million instructions of each process are timed and the rest is sampled. A "
		"process that has several threads by then is timed to its end. --detail=N: the same with N instead "
		"of 200 million.", .optional = true),
	OPT_CALL(0, "cut", "LENGTH", set_cut, "With --replay: time the whole stream in pieces of LENGTH instructions "
		"(default: 10M), which do not wait for each other, so that --jobs N times N of them at once. Before "
		"each piece a tenth of its length is timed and not counted. Where it was measured, "
		"cycles differed by less than 0.2 % from a run that is not cut (NetBurst: 2 %); instructions are "
		"equal. Only for streams of one thread.", .optional = true),
	OPT_WHOLE(0, "jobs", "N", struct stat_options, sample.jobs, 1, 1024, "In a sampled run, time up to N windows "
		"at once, each on a processor of the host. An N above 2 counts as 2, because more windows would only "
		"wait for the warming. Default: the host's processors less one. With a file of live points: N parts "
		"of it. Default: the host's processors. With --cut: time N pieces at once, "
		"each on two processors. Default: half of the host's. The counts are the same for every N."),
	OPT_CALL(0, "parts", "K/N", set_parts, "With a file of live points: time part K of the file, and every Nth "
		"after it. The counts are those of these parts alone. So --parts 1/10 is a first look in about a "
		"tenth of the time. With the same K/N, two machines are compared over the same parts."),
	OPT_GROUP("What is printed"),
	OPT_MILLISECONDS('I', "interval-print", "MS", struct stat_options, interval_ms, "Print the counts of every MS "
		"modelled milliseconds; fractions are allowed. Where a run is sampled, they are estimates, and are "
		"printed when the run has ended. With -x, --sample and --detail=N add the column of their intervals; "
		"without them there is none."),
	OPT_WHOLE(0, "interval-count", "N", struct stat_options, interval_count, 1, 1e9, "With -I, print only the "
		"first N intervals."),
	OPT_FLAG(0, "interval-clear", struct stat_options, clear, "With -I, clear the screen before each interval."),
	OPT_FLAG(0, "summary", struct stat_options, summary, "With -I, also print the counts of the whole run at the "
		"end."),
	OPT_FLAG(0, "no-csv-summary", struct stat_options, no_csv_summary, "With -x and --summary, leave out the "
		"field \"summary\" at the beginning of those lines."),
	OPT_FLAG(0, "metric-only", struct stat_options, metric_only, "Print only what is computed from the counts, in "
		"a row with a column for each: GHz, insn per cycle, shares of misses, the metrics of -M."),
	OPT_FLAG(0, "table", struct stat_options, table, "With -r, also print the time of each run."),
	OPT_FLAG(0, "per-thread", struct stat_options, per_thread, "Print the counts of each thread."),
	OPT_FLAG(0, "per-region", struct stat_options, per_region, "Print the counts of each region that the program "
		"marks."),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_separator, "Print a line of fields for each event: value, "
		"unit, event, with -r the standard deviation of the mean in percent, run time in ns, percentage of "
		"that time in which it was counted, metric, unit of the metric. \\t is a tab."),
	OPT_CALL('j', "json", NULL, set_json, "Print a JSON object for each event, one a line."),
	OPT_CALL(0, "json-output", NULL, set_json, "As --json.", .hidden = true),
	OPT_FLAG('B', "big-num", struct stat_options, big, "Group digits in threes. This is the default."),
	OPT_CLEAR(0, "no-big-num", struct stat_options, big, "Do not group digits."),
	OPT_TEXT('o', "output", "FILE", struct stat_options, output.path, "Print to FILE instead of standard error."),
	OPT_FLAG(0, "append", struct stat_options, output.append, "With -o, append to FILE."),
	OPT_WHOLE(0, "log-fd", "N", struct stat_options, output.fd, 0, 1 << 20, "Print to the open file descriptor N."),
	OPT_FLAG(0, "quiet", struct stat_options, quiet, "Print no counts."),
	OPT_FLAG('v', "verbose", struct stat_options, verbose, "Also print how fast the model ran."),
	OPT_IGNORED('S', "sync", "Accepted without effect: what the host writes to its disks does not change modelled "
		"counts."),
	OPT_FLAG('g', "group", struct stat_options, group, "Accepted without effect, because all events count at the "
		"same time. Refused with --one-pmu: braces make groups there, as in -e '{a,b}'."),
	OPT_IGNORED(0, "no-merge", "Accepted without effect: no event is counted by several units."),
	OPT_IGNORED(0, "hybrid-merge", "Accepted without effect: all cores are of one type."),
	OPT_IGNORED(0, "metric-no-group", "Accepted without effect: the events of metrics are never put into groups."),
	OPT_IGNORED(0, "metric-no-merge", "Accepted without effect: metrics share no groups."),
	OPT_REFUSED(0, "control", "nothing can switch modelled counters from outside", "a program marks regions itself "
		"(--region), and --start and --stop name functions"),
	OPT_REFUSED(0, "filter", "filters are those of a kernel's tracepoints", "--region counts a part of the "
		"program"),
	OPT_REFUSED(0, "percore-show-thread", "no event counts by core ('percore')", "--per-thread shows the threads"),
	OPT_REFUSED('a', "all-cpus", "only the given program is traced", NULL),
	OPT_REFUSED(0, "all-kernel", "the tracer sees user mode only", "over a whole machine's stream :k counts the "
		"kernel"),
	OPT_REFUSED('C', "cpu", "the program's threads have modelled cores of their own", "--per-thread shows them"),
	OPT_REFUSED('t', "tid", "the tracer cannot attach to a thread that runs already", "start the program under "
		"softpmu"),
	OPT_REFUSED('A', "no-aggr", "nothing is aggregated over CPUs", "--per-thread shows the threads"),
	OPT_REFUSED(0, "per-core", "the program's threads have modelled cores of their own", "--per-thread shows them"),
	OPT_REFUSED(0, "per-socket", "one socket is modelled", NULL),
	OPT_REFUSED(0, "per-die", "one die is modelled", NULL),
	OPT_REFUSED(0, "per-node", "one NUMA node is modelled", NULL),
	OPT_REFUSED(0, "cputype", "all cores of a machine are of one type", "--core chooses it"),
	OPT_REFUSED('T', "transaction", "the model does not know which cycles are in a transaction", "-e "
		"RTM_RETIRED.START,HLE_RETIRED.START counts those that begin, on cores that have them"),
	OPT_REFUSED(0, "smi-cost", "system management mode is not modelled", NULL),
	OPT_REFUSED(0, "iostat", "no device is modelled", NULL),
	OPT_REFUSED(0, "for-each-cgroup", "only the given program is traced", NULL),
	OPT_REFUSED('D', "delay", "there is no clock to wait for", "--start FUNCTION or --start COUNT begins the "
		"timing later"),
	OPT_REFUSED('G', "cgroup", "only the given program is traced", NULL),
	OPT_REFUSED(0, "timeout", "a run ends with its program", "--stop COUNT ends the timing"),
	OPT_END
};

bool stat_misfit(const struct stat_options *o)
{
	return o->repeat > 1 || o->per_thread || o->per_region || o->region || o->one_pmu;
}

int stat_check(const struct stat_options *o)
{
	const bool repeats = o->repeat > 1, intervals = o->interval_ms > 0;
	const char *text = NULL;
	if (repeats && intervals)
		text = "-I and -r exclude each other: the intervals of different runs do not add up";
	else if (o->per_thread && (repeats || intervals))
		text = "--per-thread goes neither with -r nor with -I";
	else if (o->per_region && (repeats || intervals))
		text = "--per-region goes neither with -r nor with -I";
	else if (o->one_pmu && o->per_region)
		text = "--one-pmu and --per-region exclude each other: a region may end before its event has a turn";
	else if (o->per_thread && o->per_region)
		text = "--per-thread and --per-region exclude each other";
	else if (o->output.path && o->output.fd >= 0)
		text = "-o and --log-fd exclude each other";
	else if (o->topdown && (o->lists || o->metric_lists || o->detailed || o->per_region || o->form == STAT_JSON))
		text = "--topdown prints its four shares alone: not with -e, -M, -d, -j or --per-region";
	else if (o->metric_only && repeats)
		text = "--metric-only is not supported with -r";
	else if (o->table && !repeats)
		text = "--table prints the times of repeated runs: it goes with -r";
	else if ((o->summary || o->interval_count || o->clear) && !intervals)
		text = "--summary, --interval-count and --interval-clear go with -I";
	else if (o->group && o->one_pmu)
		text = "-g does not go with --one-pmu: write the group with braces, -e '{a,b}'";
	else if (o->topdown_level != 1 && !o->topdown)
		text = "--td-level goes with --topdown";
	else if (o->sample.on && stat_misfit(o))
		text = "--sample goes with none of -r, --per-thread, --per-region, --region, --one-pmu; nor does "
		       "--detail=N";
	else if (o->cut.on && (o->sample.on || intervals || stat_misfit(o)))
		text = "--cut goes with none of --sample, --detail=N, -r, -I, --per-thread, --per-region, --region, "
		       "--one-pmu";
	else if (o->energy && (intervals || o->cut.on || o->per_thread || o->per_region || o->region || o->topdown))
		text = "--energy is of whole runs: it goes with none of -I, --cut, --per-thread, --per-region, "
		       "--region, --topdown";
	else if (o->output.append && !o->output.path)
		text = "--append needs -o FILE";
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* ---- stat report ---- */

static const struct option report_option_table[] = {
	OPT_TEXT('i', "input", "FILE", struct stat_options, input, "Read FILE. Default: perf.data."),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_separator, "Print a line of fields for each event, as stat "
		"does."),
	OPT_CALL('j', "json", NULL, set_json, "Print a JSON object for each event, one a line."),
	OPT_CALL(0, "json-output", NULL, set_json, "As --json.", .hidden = true),
	OPT_FLAG(0, "metric-only", struct stat_options, metric_only, "Print only what is computed from the counts."),
	OPT_FLAG('B', "big-num", struct stat_options, big, "Group digits in threes. This is the default."),
	OPT_CLEAR(0, "no-big-num", struct stat_options, big, "Do not group digits."),
	OPT_TEXT('o', "output", "FILE", struct stat_options, output.path, "Print to FILE instead of standard error."),
	OPT_FLAG(0, "append", struct stat_options, output.append, "With -o, append to FILE."),
	OPT_WHOLE(0, "log-fd", "N", struct stat_options, output.fd, 0, 1 << 20, "Print to the open file descriptor N."),
	OPT_REFUSED('A', "no-aggr", "the counts of processors are added up", NULL),
	OPT_REFUSED(0, "per-core", "the counts of processors are added up", NULL),
	OPT_REFUSED(0, "per-socket", "the counts of processors are added up", NULL),
	OPT_REFUSED(0, "per-die", "the counts of processors are added up", NULL),
	OPT_REFUSED(0, "per-node", "the counts of processors are added up", NULL),
	OPT_END
};

const struct cli_command stat_report_command = {
	.name = "stat report", .summary = "print the counts in a perf.data file", .options = report_option_table,
	.usage = "[options]",
	.about = "Prints the counts in a perf.data file that softpmu stat record or perf stat record wrote.",
};
const struct cli_command stat_record_command = {
	.name = "stat record", .summary = "count, and keep the counts in a perf.data file", .options =
		stat_option_table, .runs = true,
	.usage = "[-o FILE] [options] [--] PROGRAM [arguments]",
	.about = "Counts as softpmu stat does, and also writes the counts to FILE (default: perf.data), which perf "
		"stat report and softpmu stat report read. Takes the options of softpmu stat before and behind the "
		"word record; -o names the perf.data file.",
};
