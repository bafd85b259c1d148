/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu calibrate: makes a core's file for the processor that it runs on, from microbenchmarks
 * (analysis/calibrate/calibrate.h).  The model runs the same machine code: softpmu itself is the traced program
 * (--run), with a region around each microbenchmark. */
#include "analysis/calibrate/calibrate_fields.h"
#include "cli/cli.h"
#include "core/machine/host_preset.h"
#include "session/session.h"
#include "softpmu/client.h"
#include "softpmu/pmu.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_command cmd_calibrate;

enum { STEPS = 4, NAMES = 64 };

struct calibration {
	struct cli_run run;
	const char *output, *page, *from, *only, *name[NAMES];
	unsigned names, rounds;
	bool quiet, list, near, native;
	struct cal_probe *probe;
	size_t probes;
	struct cal_native host;
	struct spmu_model *model;
	struct session_events events;
	struct session *session;
	double *before, *after;
	uint64_t *pauses;		/* of each: PAUSEs that make its chain as old as natively */
	bool *aligned;			/* of each: pauses[] comes from a run, not from a guess */
	double place;			/* cycles to link one place of a chain under the model; 0: not known */
	struct core_config base, core;
	struct cal_fields fields;
};

/* ---- the traced side ------------------------------------------------------------------------------------- */

/* Ends of the names of the regions ahead of a microbenchmark: while its chain is linked, and while it waits. */
#define LINKING ", linking"
#define WAITING ", waiting"

static int run_them(const char *names)
{
	struct cal_probe *probe;
	struct cal_runner *r = NULL;
	struct err err = { 0, "" };
	size_t count = cal_probes(&probe);
	int code = count ? cal_runner_create(&r, &err) : err_set(&err, ERR_NOMEM, "out of memory");
	while (*names && !code) {
		char name[32];
		size_t n = strcspn(names, ","), i;
		uint64_t warm, counted, ahead = 0, pauses = 0;
		snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), names);
		char *colon = strchr(name, ':');
		if (colon) {
			char *end;
			ahead = strtoul(colon + 1, &end, 10);
			pauses = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
			*colon = 0;
		}
		names += n + (names[n] == ',');
		if ((i = cal_find(probe, count, name)) == count)
			code = err_set(&err, ERR_INPUT, "no microbenchmark '%s' (softpmu calibrate --list)", name);
		else {
			char linking[48], waiting[48];
			snprintf(linking, sizeof linking, "%s" LINKING, probe[i].name);
			snprintf(waiting, sizeof waiting, "%s" WAITING, probe[i].name);
			if (cal_is_long(probe + i))
				cal_idle(CAL_IDLE);
			spmu_client_region_begin(linking);
			if ((code = cal_prepare(r, probe + i, &err)))
				break;
			cal_model_rounds(r, ahead, &warm, &counted);
			spmu_client_region_end(linking);
			spmu_client_region_begin(waiting);
			cal_idle(pauses);
			cal_run(r, warm);
			spmu_client_region_end(waiting);
			spmu_client_region_begin(probe[i].name);
			cal_run(r, counted);
			spmu_client_region_end(probe[i].name);
		}
	}
	if (code)
		cli_error("%s", err.text);
	cal_runner_destroy(r);
	free(probe);
	return code ? 1 : 0;
}

/* ---- the model ------------------------------------------------------------------------------------------- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	return session_thread_start(((struct calibration *)context)->session, t, err);
}

static void on_end(void *context, struct run_thread *t)
{
	session_thread_end(((struct calibration *)context)->session, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	session_batch(((struct calibration *)context)->session, t, b);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	return session_client(((struct calibration *)context)->session, t, request, name, answer);
}

/* Cycles in the microbenchmark's region (before: ""), or in one ahead of it (LINKING, WAITING). */
static double region_cycles(const struct calibration *c, size_t probe, const char *before)
{
	char name[64];
	struct session_region region;
	snprintf(name, sizeof name, "%s%s", c->probe[probe].name, before);
	for (size_t k = 0; k < session_regions(c->session); k++) {
		session_region_info(c->session, k, &region);
		if (!strcmp(region.name, name))
			return (double)session_region_count(c->session, k, 0);
	}
	return 0;
}

static uint64_t ahead_of(const struct calibration *c, size_t probe)
{
	return (uint64_t)fmin(c->host.value[probe].ahead, 1e6);
}

/* Changes pauses[i] so that a chain that was `age` cycles old becomes as old as natively. */
static void wait_for(struct calibration *c, const struct core_config *core, size_t i, double age)
{
	const double should = c->host.value[i].age_ms * 1e6 * core->frequency_ghz;
	if (age > 0 && should > 0 && core->pause_cycles)
		c->pauses[i] =
			(uint64_t)fmin(fmax((double)c->pauses[i] + (should - age) / core->pause_cycles, 0), CAL_IDLE);
}

/* Sets pauses[] for chains that have not run under the model yet.  The age is guessed from how long the model
 * linked others, and from the accesses' native latency. */
static void guess_ages(struct calibration *c, const struct core_config *core, const bool *wanted)
{
	for (size_t i = 0; i < c->probes && c->place > 0; i++)
		if (wanted[i] && !c->aligned[i] && cal_is_shared(c->probe + i))
			wait_for(c, core, i,
				cal_model_age(c->probe + i, ahead_of(c, i), c->place, -1, c->host.value[i].cycles));
}

/* Sets pauses[] by the last run, so that in the next one chains are as old as natively. */
static void align_ages(struct calibration *c, const struct core_config *core, const bool *wanted, const double *cycles)
{
	for (size_t i = 0; i < c->probes; i++) {
		if (!wanted[i] || !cal_is_shared(c->probe + i) || cycles[i] <= 0)
			continue;
		c->place = region_cycles(c, i, LINKING) / cal_places(c->probe + i);
		c->aligned[i] = true;
		wait_for(c, core, i,
			cal_model_age(c->probe + i, ahead_of(c, i), c->place, region_cycles(c, i, WAITING), cycles[i]));
	}
}

/* Runs the wanted microbenchmarks on this core into cycles[]; those of the others become -1.  0, or -1 after one
 * printed line. */
static int model_runs(struct calibration *c, const struct core_config *core, const bool *wanted, double *cycles)
{
	size_t bytes = 1;
	struct err err = { 0, "" };
	struct run_result res = { 0 };
	struct core_wanted looks = { 0 };
	for (size_t i = 0; i < c->probes; i++) {
		cycles[i] = -1;
		bytes += strlen(c->probe[i].name) + 32;
	}
	char *names = calloc(1, bytes);
	guess_ages(c, core, wanted);
	if (!names) {
		cli_error("out of memory");
		return -1;
	}
	for (size_t i = 0, used = 0; i < c->probes; i++)
		if (wanted[i])
			used += (size_t)snprintf(names + used, bytes - used, "%s%s:%u:%u", used ? "," : "",
				c->probe[i].name, (unsigned)ahead_of(c, i), (unsigned)c->pauses[i]);
	char *argv[] = { "/proc/self/exe", "calibrate", "--run", names, NULL };
	char self[4096];
	ssize_t n = readlink(argv[0], self, sizeof self - 1);
	if (n > 0) {
		self[n] = 0;
		argv[0] = self;
	}
	struct session_options so = { .core = core, .model = c->model, .events = &c->events };
	struct run_sink sink = {
		.context = c, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .client = on_client
	};
	int code = session_create(&c->session, &so, &err);
	if (!code) {
		looks = session_wanted(c->session);
		c->run.core = *core;
		c->run.run.core = &c->run.core;
		c->run.run.wanted = &looks;
		c->run.run.tracer_dir = cli_tracer_dir();
		c->run.run.argv = argv;
		code = cli_run_program(&c->run, &sink, &res, &err);
		for (size_t i = 0; !code && i < c->probes; i++) {
			const double all = wanted[i] ? region_cycles(c, i, "") : 0,
				     ops = all > 0 ? (double)cal_model_ops(c->probe + i) : 0;
			if (ops > 0)
				cycles[i] = all / ops;
		}
		if (!code)
			align_ages(c, core, wanted, cycles);
		if (!code && cli_exit_status(res.wait_status))
			code = err_set(&err, ERR_SYSTEM, "the microbenchmarks ended with status %d under the model",
				cli_exit_status(res.wait_status));
		else if (!code && cli_interrupted())
			code = err_set(&err, ERR_SYSTEM, "interrupted");
	}
	session_destroy(c->session);
	c->session = NULL;
	free(names);
	if (code)
		cli_error("%s", err.text);
	return code ? -1 : 0;
}

/* ---- a page written before ------------------------------------------------------------------------------- */

/* Reads a row of the page: its microbenchmark and the host's value.  False if it is no such row, or nothing was
 * measured. */
static bool read_row(const struct calibration *c, const char *line, size_t *at, struct cal_value *v)
{
	char name[32];
	int end = 0;
	*v = (struct cal_value){ 0 };
	if (sscanf(line, "| %31s | %lf | %lf to %lf |%n", name, &v->cycles, &v->low, &v->high, &end) != 4 || !end)
		return false;
	*at = cal_find(c->probe, c->probes, name);
	const char *age = strstr(line, "| age ");
	if (age && sscanf(age, "| age %lf ms, %lf on |", &v->age_ms, &v->ahead) != 2)
		return false;
	return *at < c->probes && v->cycles > 0 && v->low > 0 && v->low <= v->cycles && v->cycles <= v->high &&
		v->high < 1e9 && v->age_ms >= 0 && v->age_ms < 1e9 && v->ahead >= 0 && v->ahead < 1e12;
}

static int read_page(struct calibration *c, const bool *wanted, struct err *err)
{
	char line[1024];
	size_t at, rows = 0;
	struct cal_value v;
	struct cal_native *n = &c->host;
	*n = (struct cal_native){ .value = calloc(c->probes, sizeof *n->value) };
	if (!n->value)
		return err_set(err, ERR_NOMEM, "out of memory");
	FILE *f = fopen(c->from, "re");
	if (!f)
		return err_system(err, "cannot read %s", c->from);
	for (size_t i = 0; i < c->probes; i++)
		n->value[i].cycles = -1;
	while (fgets(line, sizeof line, f)) {
		const char *ghz = strstr(line, "frequency (");
		if (ghz && sscanf(ghz, "frequency (%lf GHz, %lf to %lf)", &n->ghz, &n->ghz_low, &n->ghz_high) == 3)
			continue;
		const char *confidence = strstr(line, "with a confidence of ");
		if (confidence && sscanf(confidence, "with a confidence of %lf", &n->confidence) == 1)
			n->confidence /= 100;
		if (read_row(c, line, &at, &v) && wanted[at]) {
			n->value[at] = v;
			rows++;
		}
	}
	const bool bad = ferror(f) != 0;
	fclose(f);
	if (bad)
		return err_system(err, "cannot read %s", c->from);
	if (!rows || !(n->ghz > 0.1 && n->ghz < 100) ||
		!(n->ghz_low > 0 && n->ghz_low <= n->ghz && n->ghz <= n->ghz_high))
		return err_set(err, ERR_INPUT,
			"%s: not a page of softpmu calibrate with these microbenchmarks and the host's frequency",
			c->from);
	return 0;
}

/* ---- what is written ------------------------------------------------------------------------------------- */

static bool finish_file(FILE *f, const char *path)
{
	bool bad = ferror(f) != 0;
	int why = errno;
	if (fclose(f) && !bad) {
		bad = true;
		why = errno;
	}
	if (bad)
		cli_error("cannot write %s: %s", path, strerror(why));
	return !bad;
}

static FILE *open_file(const char *path)
{
	FILE *f = fopen(path, "we");
	if (!f)
		cli_error("cannot write %s: %s", path, strerror(errno));
	return f;
}

static void day(char text[16])
{
	time_t now = time(NULL);
	struct tm tm;
	if (!gmtime_r(&now, &tm) || !strftime(text, 16, "%Y-%m-%d", &tm))
		strcpy(text, "?");
}

static bool write_core(const struct calibration *c, const char *base)
{
	struct core_host h;
	char date[16];
	FILE *f = open_file(c->output);
	if (!f)
		return false;
	core_host_read(&h);
	day(date);
	fprintf(f, "# Fitted by softpmu calibrate on %s: %s, family %02XH, model %02XH.\n", date,
		*h.brand ? h.brand : "unknown", h.family, h.model);
	fprintf(f,
		"# Use: softpmu stat --core ./FILE PROGRAM.  Each line says which microbenchmark it was read from "
		"(softpmu calibrate --list).\n");
	fprintf(f, "include %s\ntitle = %.100s (calibrated)\n", base, c->base.title);
	for (size_t i = 0; i < c->fields.fields; i++) {
		const struct cal_field *d = c->fields.field + i;
		if (d->verdict == CAL_FITTED) {
			char line[CORE_FALL_TEXT + 40];
			snprintf(line, sizeof line, "%s = %s", d->key, d->is);
			fprintf(f, "%-28s# %s\n", line, d->why);
		}
	}
	fputs("# As the base has it, which the host confirms:\n", f);
	for (size_t i = 0; i < c->fields.fields; i++)
		if (c->fields.field[i].verdict == CAL_AGREES)
			fprintf(f, "#   %s = %s: %s\n", c->fields.field[i].key, c->fields.field[i].is,
				c->fields.field[i].why);
	fputs("# As the base has it, because the host does not show it:\n", f);
	for (size_t i = 0; i < c->fields.fields; i++)
		if (c->fields.field[i].verdict == CAL_REFUSED)
			fprintf(f, "#   %s = %s: %s\n", c->fields.field[i].key, c->fields.field[i].is,
				c->fields.field[i].why);
	return finish_file(f, c->output);
}

/* The part of the machine that a microbenchmark measures. */
enum part { CORE, NEAR, FAR, PARTS };
static enum part part_of(const struct core_config *core, const struct cal_probe *p)
{
	switch (p->family) {
	case CAL_CHASE: case CAL_STRIDE: case CAL_HUGE: case CAL_GATHER: case CAL_READ: case CAL_WRITE:
		return p->param <= core->l2_size ? NEAR : FAR;
	case CAL_PAGES:
		return p->param <= core->stlb_entries ? NEAR : FAR;
	case CAL_WINDOW: case CAL_LOADQUEUE: case CAL_STOREQUEUE: case CAL_WAITING:
		return FAR;
	default:
		return CORE;
	}
}

static void write_ratio(FILE *f, double model, double host)
{
	if (model > 0)
		fprintf(f, " %.2f | %.2f |", model, model / host);
	else
		fputs(" | |", f);
}

static void write_means(FILE *f, const struct calibration *c, const double *cycles, const char *when)
{
	static const char *const name[] = { "core", "L1, L2 and TLBs", "beyond" };
	bool begun = false;
	for (int part = 0; part < PARTS; part++) {
		double sum = 0;
		unsigned n = 0;
		for (size_t i = 0; i < c->probes; i++)
			if (c->host.value[i].cycles > 0 && cycles[i] > 0 && (c->before[i] > 0 || c->names) &&
				(int)part_of(&c->core, c->probe + i) == part) {
				sum += fabs(cycles[i] / c->host.value[i].cycles - 1);
				n++;
			}
		if (n)
			fprintf(f, "%s%s %.1f %% (%u)", begun ? "; " : when, name[part], 100 * sum / n, n);
		begun |= n > 0;
	}
	fputs(".\n", f);
}

static bool write_page(const struct calibration *c, FILE *f)
{
	static const char *const verdict[] = { "fitted", "confirmed", "as in the base" };
	struct core_host h;
	char date[16];
	bool fitted = c->fields.fields;
	core_host_read(&h);
	day(date);
	fprintf(f, "# %s\n\nHost: %s, family %02XH, model %02XH, %s. Base: %s.\n\n",
		fitted ? "Calibration" : "Comparison", *h.brand ? h.brand : "unknown", h.family, h.model, date,
		c->base.title);
	fprintf(f,
		"Cycles an operation: natively the median of %d groups' shortest times (of chains through 2 MB or more "
		"their medians) × frequency (%.3f GHz, %.3f to %.3f),\n"
		"between the least and the most\n"
		"of the groups, which enclose it with a confidence of %.0f %%; the model's are exact. \"Ratio\" is "
		"model ÷ host. \"Age\": of a chain, how long\n"
		"before its lines had been used last, and operations since it was linked.\n\n",
		CAL_GROUPS, c->host.ghz, c->host.ghz_low, c->host.ghz_high, 100 * c->host.confidence);
	if (fitted) {
		fputs("## Fields\n\n| field | base | fitted | verdict | from |\n|---|---:|---:|---|---|\n", f);
		for (size_t i = 0; i < c->fields.fields; i++) {
			const struct cal_field *d = c->fields.field + i;
			fprintf(f, "| %s | %s | %s | %s | %s |\n", d->key, d->was, d->is, verdict[d->verdict], d->why);
		}
		fputs("\n", f);
	}
	fputs("## Microbenchmarks\n\n", f);
	if (!c->native)
		fputs("Mean absolute difference of model and host. ", f);
	if (fitted) {
		write_means(f, c, c->before, "Before: ");
		fputs("\n", f);
		write_means(f, c, c->after, "After: ");
		fputs("\n| microbenchmark | host | least to most | before | ratio | after | ratio | what | age "
		      "|\n|---|---:|---:|---:|---:|---:|---:|---|---|\n",
			f);
	} else {
		if (!c->native)
			write_means(f, c, c->after, "");
		fputs("\n| microbenchmark | host | least to most | model | ratio | what | age "
		      "|\n|---|---:|---:|---:|---:|---|---|\n",
			f);
	}
	for (size_t i = 0; i < c->probes; i++) {
		const struct cal_value *v = c->host.value + i;
		if (v->cycles <= 0 || (c->after[i] <= 0 && c->before[i] <= 0 && !c->native))
			continue;
		const int digits = v->cycles < 1 ? 4 : 2;
		fprintf(f, "| %s | %.*f | %.*f to %.*f |", c->probe[i].name, digits, v->cycles, digits, v->low, digits,
			v->high);
		if (fitted)
			write_ratio(f, c->before[i], v->cycles);
		write_ratio(f, c->after[i], v->cycles);
		fprintf(f, " %s |", cal_family_text(c->probe[i].family));
		if (v->age_ms > 0)
			fprintf(f, " age %.4g ms, %.0f on |\n", v->age_ms, v->ahead);
		else
			fputs(" |\n", f);
	}
	return !ferror(f);
}

/* ---- the command ----------------------------------------------------------------------------------------- */

static void say(const struct calibration *c, const char *what)
{
	if (!c->quiet)
		fprintf(stderr, "softpmu: %s\n", what);
}

static int on_tick(void *context, double done)
{
	const struct calibration *c = context;
	if (!c->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\rnatively: %3.0f %%%s", 100 * done, done >= 1 ? "\r               \r" : "");
	return 0;
}

/* The base's name: the one that was asked for, else the host's preset, else the preset nearest by vector extensions. */
static const char *base_name(struct calibration *c, char name[64])
{
	struct core_host h;
	struct err err = { 0, "" };
	if (c->run.core_name && strcmp(c->run.core_name, "host"))
		return c->run.core_name;
	core_host_read(&h);
	if (!core_host_preset(name, 64, cli_data_dir(), &h, &err))
		return name;
	if (c->run.core_name) {
		cli_error("%s", err.text);
		return NULL;
	}
	const char *near = strstr(err.text, "nearest presets: ");
	if (near)
		snprintf(name, 64, "%.*s", (int)strcspn(near + 17, ", "), near + 17);
	if (!near || !strcmp(name, "none"))
		strcpy(name, "golden-cove");
	return name;
}

/* Adds to `wanted` what refining the fields needs, as far as the host ran it. */
static void refine_wants(const struct calibration *c, const struct core_config *core, bool *wanted)
{
	cal_refine_wants(core, c->probe, c->probes, wanted);
	for (size_t i = 0; i < c->probes; i++)
		wanted[i] &= c->host.value[i].cycles > 0;
}

/* Finds the value that brings the wanted microbenchmarks nearest to the host's; *least: how far they still are.  0,
 * or -1 after one printed line. */
static int nearest(struct calibration *c, const bool *wanted, const uint32_t *value, size_t values,
	void (*set)(struct core_config *core, const struct core_config *base, uint32_t value), uint32_t *best,
	double *least)
{
	struct err err = { 0, "" };
	double *cycles = calloc(c->probes, sizeof *cycles);
	int code = cycles ? 0 : err_set(&err, ERR_NOMEM, "out of memory");
	if (code)
		cli_error("%s", err.text);
	*least = HUGE_VAL;
	for (size_t i = 0; i < values && !code; i++) {
		struct core_config core = c->core;
		set(&core, &c->base, value[i]);
		code = core_config_check(&core, &err);
		if (code)
			cli_error("the fitted fields do not go together: %s", err.text);
		else
			code = model_runs(c, &core, wanted, cycles);
		const double off = code ? HUGE_VAL : cal_off(c->probes, &c->host, wanted, cycles);
		if (off < *least) {
			*least = off;
			*best = value[i];
		}
	}
	free(cycles);
	return code ? -1 : 0;
}

static void set_scattered(struct core_config *core, const struct core_config *base, uint32_t share)
{
	(void)base;
	core->memory_scattered = share;
}

static void set_distance(struct core_config *core, const struct core_config *base, uint32_t distance)
{
	(void)base;
	core->prefetch_l1d_ip_distance = distance;
}

/* Fits the prefetcher's distance: by the sizes that fit L3, and once it is known how uneven reads of memory are,
 * also by those that do not.  0, or -1 after one printed line. */
static int try_distance(struct calibration *c, bool uneven_known, bool *wanted)
{
	const uint32_t about = c->core.prefetch_l1d_ip_distance,
		       distance[] = { about > 1 ? about - 1 : about, about, about + 1, about + 2 };
	uint32_t best;
	double off;
	if (about >= 30 || !cal_distance_wants(&c->core, c->probe, c->probes, &c->host, uneven_known, wanted))
		return 0;
	say(c, "under the model: the prefetcher's distance");
	if (nearest(c, wanted, distance, sizeof distance / sizeof *distance, set_distance, &best, &off))
		return -1;
	cal_distance_is(&c->core, &c->fields, &c->base, best, off);
	return 0;
}

/* Fits how uneven reads of memory are, which needs the right latency, and then the prefetcher's distance again.  0,
 * or -1 after one printed line. */
static int try_uneven(struct calibration *c, bool *wanted)
{
	static const uint32_t share[] = { 100, 75, 50, 25, 0 };
	uint32_t best;
	double off;
	if (!cal_uneven_wants(&c->core, c->probe, c->probes, &c->host, wanted))
		return 0;
	say(c, "under the model: how uneven reads of memory are");
	if (nearest(c, wanted, share, sizeof share / sizeof *share, cal_uneven_set, &best, &off))
		return -1;
	cal_uneven_is(&c->core, &c->fields, &c->base, best, off);
	return try_distance(c, true, wanted);
}

/* Fits by runs of the model: the share of scattered pages, then the ways of L3 that other programs leave, then the
 * prefetcher's distance.  The share cannot be computed: which sets of L2 get too many frames is drawn once for the
 * host, and a mean says little about one draw.  0, or -1 after one printed line. */
static int try_values(struct calibration *c, bool *wanted)
{
	static const uint32_t share[] = { 0, 10, 20, 30, 40, 50, 70, 100 };
	uint32_t ways[16], best;
	size_t n = 0;
	double off;
	if (cal_scatter_wants(&c->core, c->probe, c->probes, &c->host, wanted)) {
		say(c, "under the model: pages' frames");
		if (nearest(c, wanted, share, sizeof share / sizeof *share, set_scattered, &best, &off))
			return -1;
		cal_scatter_is(&c->core, &c->fields, &c->base, best, off);
	}
	for (uint32_t w = c->base.l3_ways; 2 * w > c->base.l3_ways && n < sizeof ways / sizeof *ways; w--)
		ways[n++] = w;
	if (cal_room_wants(&c->core, c->probe, c->probes, &c->host, wanted)) {
		say(c, "under the model: L3's ways");
		if (nearest(c, wanted, ways, n, cal_room_set, &best, &off))
			return -1;
		cal_room_is(&c->core, &c->fields, &c->base, best, off);
	}
	return try_distance(c, false, wanted);
}

/* Writes the page to --page; without it prints the page if nothing was fitted. */
static bool write_result(const struct calibration *c)
{
	if (!c->page)
		return (!c->names && !c->native) || write_page(c, stdout);
	FILE *f = open_file(c->page);
	if (!f)
		return false;
	write_page(c, f);
	return finish_file(f, c->page);
}

static int calibrate(struct calibration *c, const char *base)
{
	struct err err = { 0, "" };
	bool *wanted = calloc(c->probes, sizeof *wanted);
	c->before = calloc(c->probes, sizeof *c->before);
	c->after = calloc(c->probes, sizeof *c->after);
	c->pauses = calloc(c->probes, sizeof *c->pauses);
	c->aligned = calloc(c->probes, sizeof *c->aligned);
	if (!wanted || !c->before || !c->after || !c->pauses || !c->aligned) {
		cli_error("out of memory");
		free(wanted);
		return 1;
	}
	int status = 1;
	for (size_t i = 0; i < c->probes; i++) {
		wanted[i] = !c->names && (!c->near || cal_is_near(c->probe + i));
		c->before[i] = -1;
		for (unsigned k = 0; k < c->names; k++)
			wanted[i] |= !strncmp(c->probe[i].name, c->name[k], strlen(c->name[k]));
	}
	say(c, c->from ? "the host's cycles from the page" : "microbenchmarks natively");
	if (c->from ? read_page(c, wanted, &err)
		    : cal_measure(&c->host, c->probe, c->probes, c->rounds, wanted, on_tick, c, &err)) {
		cli_error("%s", err.text);
		goto done;
	}
	if (c->native) {
		status = write_result(c) ? 0 : 1;
		goto done;
	}
	if (!c->names) {
		say(c, "under the model: base");
		for (size_t i = 0; i < c->probes; i++)
			wanted[i] = !cal_is_long(c->probe + i);
		refine_wants(c, &c->base, wanted);
		if (model_runs(c, &c->base, wanted, c->before))
			goto done;
		cal_fit_sizes(&c->core, &c->fields, c->probe, c->probes, &c->host, c->before);
		bool stop = false;
		for (unsigned step = 0; !stop; step++) {
			char text[64];
			memset(wanted, 0, c->probes * sizeof *wanted);
			refine_wants(c, &c->core, wanted);
			snprintf(text, sizeof text, "under the model: step %u", step + 1);
			say(c, text);
			if (core_config_check(&c->core, &err)) {
				cli_error("the fitted fields do not go together: %s", err.text);
				goto done;
			}
			if (model_runs(c, &c->core, wanted, c->after))
				goto done;
			if (step == 1 && try_values(c, wanted))	/* the latency of L3 is nearly right by then */
				goto done;
			stop = step + 1 == STEPS ||
				!cal_refine(&c->core, &c->fields, &c->base, c->probe, c->probes, &c->host, c->after,
					c->before, false);
		}
		if (try_uneven(c, wanted))
			goto done;
		for (size_t i = 0; i < c->probes; i++)
			wanted[i] = c->host.value[i].cycles > 0;
	}
	say(c, c->names ? "under the model" : "under the model: fitted");
	if (model_runs(c, &c->core, wanted, c->after))
		goto done;
	if (!c->names) {
		cal_refine(&c->core, &c->fields, &c->base, c->probe, c->probes, &c->host, c->after, c->before, true);
		if (!write_core(c, base))
			goto done;
	}
	if (!write_result(c))
		goto done;
	status = 0;
	if (!c->names) {
		unsigned n[3] = { 0 };
		for (size_t i = 0; i < c->fields.fields; i++)
			n[c->fields.field[i].verdict]++;
		printf("%s: %u fields fitted, %u confirmed, %u as in the base, %s\n", c->output, n[CAL_FITTED],
			n[CAL_AGREES], n[CAL_REFUSED], c->base.name);
		write_means(stdout, c, c->before, "mean absolute difference from the host before: ");
		write_means(stdout, c, c->after, "mean absolute difference from the host after: ");
	}
done:
	free(wanted);
	return status;
}

static const struct option options[] = {
	OPT_GROUP("The files"),
	OPT_TEXT('o', "output", "FILE", struct calibration, output, "Write the core's file to FILE. Default: "
		"host.conf."),
	OPT_TEXT(0, "page", "FILE", struct calibration, page, "Write a page (Markdown) with one row for each "
		"microbenchmark: the host's cycles, and the model's before and after fitting."),
	OPT_TEXT(0, "from", "FILE", struct calibration, from, "Take the host's cycles from such a page of the same "
		"host instead of running natively."),
	OPT_GROUP("What is run"),
	OPT_FLAG(0, "native", struct calibration, native, "Run nothing under the model and fit nothing: only make a "
		"page with the host's cycles, for --from."),
	OPT_WHOLE(0, "rounds", "N", struct calibration, rounds, 1, CAL_ROUNDS, "Run all microbenchmarks natively 5 x "
		"N times. N is 1 to 20; take a larger N if other programs run on the host. Default: 4."),
	OPT_FLAG(0, "near", struct calibration, near, "Leave out the microbenchmarks that access memory: the fields "
		"of memory and L3 and the sizes of the windows stay as in the base."),
	OPT_TEXT(0, "run", "NAME,...", struct calibration, only, "Run these microbenchmarks once, as they are run "
		"under the model, and print nothing. NAME:N:P starts a chain of loads at its Nth access, P PAUSE "
		"instructions after the chain was written."),
	OPT_FLAG(0, "list", struct calibration, list, "List the microbenchmarks, and what each counts as one "
		"operation."),
	OPT_FLAG('q', "quiet", struct calibration, quiet, "Do not print progress."),
	OPT_GROUP("The base"),
	OPT_TEXT(0, "core", "CORE", struct calibration, run.core_name, "Begin with this core: a preset, host, or a "
		"file with a / in its name. Default: host if there is a preset for it, else the nearest."),
	CLI_OPTION_SET(struct calibration, run.),
	OPT_END
};

static int take_name(void *target, const char *word, struct err *err)
{
	struct calibration *c = target;
	if (c->names == NAMES)
		return err_set(err, ERR_INPUT, "more than %d names", NAMES);
	c->name[c->names++] = word;
	return 0;
}

static int run(int argc, char **argv)
{
	struct calibration c = { .output = "host.conf", .rounds = 4 };
	struct err err = { 0, "" };
	char name[64];
	int status = 1;
	cli_run_init(&c.run);
	const int go = cli_options_and_words(&cmd_calibrate, &c, argc, argv, take_name);
	if (go <= 0)
		return go ? 2 : 0;
	if (c.only)
		return run_them(c.only);
	c.probes = cal_probes(&c.probe);
	if (!c.probes) {
		cli_error("out of memory");
		return 1;
	}
	if (c.list) {
		for (size_t i = 0; i < c.probes; i++)
			printf("%-16s %s\n", c.probe[i].name, cal_family_text(c.probe[i].family));
		free(c.probe);
		return 0;
	}
	for (unsigned k = 0; k < c.names; k++) {
		size_t i = 0;
		while (i < c.probes && strncmp(c.probe[i].name, c.name[k], strlen(c.name[k])))
			i++;
		if (i == c.probes) {
			cli_error("no microbenchmark '%s' (softpmu calibrate --list)", c.name[k]);
			free(c.probe);
			return 2;
		}
	}
	const char *base = base_name(&c, name);
	if (base) {
		c.run.core_name = base;
		if (!cli_core(&c.run)) {
			c.base = c.core = c.run.core;
			c.model = cli_model(&c.base);
			const struct session_parse_options how = { .model = c.model, .core = &c.base };
			if (c.model && session_parse(&c.events, &how, "cycles:u", &err))
				cli_error("%s", err.text);
			else if (c.model)
				status = calibrate(&c, base);
		} else {
			status = 2;
		}
	} else {
		status = 2;
	}
	session_events_free(&c.events);
	spmu_model_free(c.model);
	cal_native_release(&c.host);
	free(c.before);
	free(c.after);
	free(c.pauses);
	free(c.aligned);
	free(c.probe);
	return status;
}

const struct cli_command cmd_calibrate = {
	.name = "calibrate", .summary = "fit a core's file to this host by microbenchmarks", .options = options,
		.run = run,
	.usage = "[options] [NAME...]",
	.about = "Fits a core's file to the processor that it runs on: runs microbenchmarks natively, reads sizes, "
		"widths and windows off their curves, and changes latencies and bandwidths of the base until the "
		"microbenchmarks take as long on the model as on the host. Fields that the measurements do not "
		"determine keep the base's value; the file lists them. The file includes the base; use it with "
		"--core ./FILE. With NAMEs, fits nothing: only compares host and core on the microbenchmarks whose "
		"names begin with one of them.",
};
