/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu record: runs a program on the modelled core and keeps its samples in a perf.data file.
 */
#include "cli/common/cli_count.h"
#include "cli/profile/record_parts.h"
#include "cli/profile/record_event.h"
#include "cli/profile/record_few.h"
#include "cli/profile/report_html.h"
#include "output/exact_record.h"
#include "output/html/timeline.h"
#include "output/machine_code.h"
#include "output/recorder.h"
#include "session/driver/data_source.h"
#include "session/driver/precise.h"
#include "session/session.h"
#include "symbols/symbols.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct cli_command cmd_record;

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

static void on_defined(void *context, const struct st_block_def *def)
{
	machine_code_add(((struct record *)context)->code, def);
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
	if (t->is_machine) {
		out.kernel = symbols_is_kernel(s->ip);	/* skid may leave the kernel */
		out.pid = out.tid = symbols_space_pid(s->space);
	}
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
	const double weight = cli_sample_weight(&o->sample, t, w);
	if (o->timeline && !o->failed)
		o->failed = timeline_window(o->timeline, t, w, weight);
	session_window(o->session, t, w, weight);
	return cli_sample_window(&o->sample, t, w);
}

static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	timeline_executed(((struct record *)context)->timeline, b, insns, times, repeats);
}

static void on_sampled(void *context, struct run_thread *t)
{
	struct record *o = context;
	if (o->timeline && !o->failed)
		o->failed = timeline_sampled(o->timeline, t);
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
		o->failed = timeline_keep(o->timeline, o->writer, result, &why);
	if (o->started && o->stat && !o->failed)
		o->failed = keep_counts(o);
	if (o->code && !o->failed)
		o->failed = machine_code_keep(o->code, o->writer);
	if (o->started)
		closed = perfdata_finish(o->writer, &bytes, &samples, &why);
	else
		perfdata_discard(o->writer);
	o->writer = NULL;
	if (result->note[0])
		cli_warn("%s", result->note);
	if (*recorder_note(o->recorder))
		cli_warn("%s", recorder_note(o->recorder));
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
		.sampled = o->sample.on ? on_sampled : NULL,
		.executed = o->sample.on && o->timeline ? on_executed : NULL };
	struct core_wanted wanted = session_wanted(o->session);
	if (o->code)
		sink.defined = on_defined;
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
	if (!code && o->html)
		code = timeline_create(&o->timeline, &o->run.core, o->run.run.smt, err);
	if (!code && o->run.core.both_rings && !(o->code = machine_code_create()))
		code = err_set(err, ERR_NOMEM, "out of memory for the kernel's code");
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
	if (record_check(&o) || cli_run_finish(&o.run, argc, argv, next) || cli_sample_check(&o.sample, &o.run))
		return 2;
	struct spmu_model *model = cli_model(&o.run.core);
	if (!model)
		return 1;
	if (!o.sample.on && !o.sample.in_full && !record_misfit(&o) && !run_sample_misfit(&o.run.run)) {
		o.sample.least = RECORD_WINDOWS;
		cli_sample_default(&o.sample);
	}
	int code = record_choose(&o, model, &events, &err);
	if (!code && !o.dry)
		code = record(&o, model, &events, argc, argv, &status, &err);
	if (code) {
		cli_error("%s%s", err.text, o.started ? " (the file holds what was sampled up to there)" : "");
		status = status ? status : 1;
	}
	recorder_destroy(o.recorder);
	machine_code_destroy(o.code);
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
	.name = "record", .summary = "run a program and sample it into a perf.data file",
	.options = record_options, .runs = true, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Samples PROGRAM while it runs on a modelled core, and writes a perf.data file that perf report, "
		"perf annotate, perf script and softpmu report read. Times in it are modelled. The exit status is the "
		"program's, or 128+n if signal n ended it.",
	.notes = "N may have a suffix: k, M or G.",
};
