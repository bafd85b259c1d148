/* SPDX-License-Identifier: GPL-2.0-or-later
 * What every command that runs a program shares: its options, and the run itself under Ctrl-C. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "output/perfdata/perfdata.h"
#include "core/machine/host_preset.h"
#include "softpmu/pmu.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void line(const char *kind, const char *format, va_list ap)
{
	char text[2048];
	vsnprintf(text, sizeof text, format, ap);
	for (char *c = text; *c; c++)	/* names may hold line feeds; a message is one line */
		if ((unsigned char)*c < ' ' && *c != '\t')
			*c = '?';
	fprintf(stderr, "softpmu: %s%s\n", kind, text);
}

void cli_error(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	line("", format, ap);
	va_end(ap);
}

void cli_warn(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	line("warning: ", format, ap);
	va_end(ap);
}

void cli_note(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	line("", format, ap);
	va_end(ap);
}

bool cli_last_words(const char *said, size_t bytes, char *text, size_t room)
{
	size_t end = bytes, from;
	while (end && said[end - 1] == '\n')
		end--;
	for (from = end; from && said[from - 1] != '\n';)
		from--;
	const char *line = said + from;
	const size_t n = end - from, own = n > 9 && !strncmp(line, "softpmu: ", 9) ? 9 : 0;
	snprintf(text, room, "%.*s", (int)(n - own), line + own);
	return n;
}

int cli_open_data(struct perfdata_file **out, const char *path)
{
	struct err err = { 0 };
	int code = perfdata_open(out, path, &err);
	if (code)
		cli_error("%s", err.text);
	else if (*perfdata_note(*out))
		cli_warn("%s: %s", path, perfdata_note(*out));
	return code;
}

void cli_run_init(struct cli_run *r)
{
	memset(r, 0, sizeof *r);
	r->run.follow = true;
}

static bool is(const char *word, const char *option)
{
	return strcmp(word, option) == 0;
}

static int is_table(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 4 && !strcmp(d->d_name + n - 4, ".tsv") && strncmp(d->d_name, "uncore-", 7);
}

static void unknown_pmu(const char *name)
{
	char path[4096], known[1024] = "";
	struct dirent **entry = NULL;
	snprintf(path, sizeof path, "%s/events", cli_data_dir());
	int n = scandir(path, &entry, is_table, alphasort);
	for (int i = 0; i < n; i++) {
		size_t used = strlen(known);
		snprintf(known + used, sizeof known - used, "%s%.*s", i ? ", " : "", (int)strlen(entry[i]->d_name) - 4,
			entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	cli_error("no PMU '%s'; known: %s", name, known);
}

/* --pmu NAME: loads the event table to learn libpfm4's name of the PMU and the core that it runs on by default.  0,
 * or -1 after one printed line. */
static int choose_pmu(struct cli_run *r, char core[64])
{
	struct core_config c = { .name = "--pmu" };
	char path[4096];
	snprintf(path, sizeof path, "%s/events/%s.tsv", cli_data_dir(), r->pmu_name);
	if (strlen(r->pmu_name) >= sizeof c.pmu || strchr(r->pmu_name, '/') || !strncmp(r->pmu_name, "uncore-", 7) ||
		access(path, R_OK)) {
		unknown_pmu(r->pmu_name);
		return -1;
	}
	snprintf(c.pmu, sizeof c.pmu, "%s", r->pmu_name);
	struct spmu_model *m = cli_model(&c);
	if (!m)
		return -1;
	snprintf(core, 64, "%s", spmu_model_core(m) ? spmu_model_core(m) : "golden-cove");
	snprintf(r->pmu_libpfm, sizeof r->pmu_libpfm, "%s", spmu_model_libpfm(m) ? spmu_model_libpfm(m) : "none");
	spmu_model_free(m);
	return 0;
}

const char *cli_pmu_note(const struct cli_run *r, char *text)
{
	*text = 0;
	if (r->pmu_name && strcmp(r->pmu_name, r->own_pmu))
		snprintf(text, 128, " PMU: %.40s, another machine's: it counts what this core does\n", r->pmu_name);
	return text;
}

/* --wrmsr REGISTER=VALUE@FUNCTION: a write in mid-run. */
static int write_at(struct cli_run *r, const char *text, const char *at, struct err *err)
{
	struct run_write *w = &r->write[r->run.writes];
	struct core_features f;
	char write[128], name[128];
	snprintf(write, sizeof write, "%.*s", (int)(at - text), text);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(write, "="), write);
	core_features_init(&f, &r->registers.preset);
	if (!at[1])
		return err_set(err, ERR_INPUT, "--wrmsr %s: no function behind '@'", text);
	int rc = core_features_wrmsr(&f, write, err);
	if (rc)
		return rc;
	*w = (struct run_write){ .function = at + 1 };
	core_features_register_find(name, &w->msr);
	core_features_read(&f, w->msr, &w->value);
	r->run.writes++;
	r->run.write = r->write;
	return 0;
}

/* Applies --feature and --wrmsr, in their order, to the core as --set left it. */
static int set_features(struct cli_run *r, struct err *err)
{
	int rc = 0;
	char text[200];
	r->run.writes = 0;
	core_features_init(&r->registers, &r->core);
	for (unsigned k = 0; !rc && k < r->features; k++)
		if (r->feature[k].wrmsr && strchr(r->feature[k].text, '@'))
			rc = write_at(r, r->feature[k].text, strchr(r->feature[k].text, '@'), err);
		else
			rc = (r->feature[k].wrmsr ? core_features_wrmsr : core_features_set_all)(&r->registers,
				r->feature[k].text, err);
	if (rc)
		return rc;
	core_features_config(&r->registers, &r->core);
	bool all = core_features_text(&r->registers, text, sizeof text);
	snprintf(r->changed, sizeof r->changed, "%s%s%s%s", r->sets ? ", changed by --set" : "",
		*text ? ", features " : "", text, all ? "" : "...");
	return 0;
}

/* Whether a PMU, but no core, has this name.  near: the preset that is most like the machines with the PMU. */
static bool only_a_pmu(const char *name, char near[64])
{
	struct cli_run r = { .pmu_name = name };
	char core[4096], pmu[4096];
	snprintf(core, sizeof core, "%s/cores/%s.conf", cli_data_dir(), name);
	snprintf(pmu, sizeof pmu, "%s/events/%s.tsv", cli_data_dir(), name);
	return !strchr(name, '/') && strncmp(name, "uncore-", 7) && access(core, R_OK) && !access(pmu, R_OK) &&
	       !choose_pmu(&r, near);
}

int cli_core(struct cli_run *r)
{
	struct err err = { 0 };
	char host_name[64], nearest[64] = "golden-cove";
	int rc = 0;
	r->run.data_dir = cli_data_dir();
	if (r->pmu_name && choose_pmu(r, nearest))
		return -1;
	if (!r->core_name)
		r->core_name = nearest;
	if (is(r->core_name, "host")) {
		struct core_host host;
		core_host_read(&host);
		rc = core_host_preset(host_name, sizeof host_name, r->run.data_dir, &host, &err);
	}
	if (!rc)
		rc = core_config_load(&r->core, r->run.data_dir, is(r->core_name, "host") ? host_name : r->core_name,
			&err);
	for (unsigned k = 0; !rc && k < r->sets; k++)
		rc = core_config_set(&r->core, r->set[k], &err);
	if (!rc && r->sets)
		rc = core_config_check(&r->core, &err);
	if (!rc && r->no_wrong_path)
		r->core.wrong_path = 0;
	if (!rc)
		rc = set_features(r, &err);
	if (rc && only_a_pmu(r->core_name, nearest)) {
		cli_error("core '%s' is not modelled, but its PMU is: --pmu %s gives it to the nearest core, %s",
			r->core_name, r->core_name, nearest);
		return -1;
	}
	if (rc) {
		cli_error("%s", err.text);
		return -1;
	}
	if (r->pmu_name) {
		snprintf(r->own_pmu, sizeof r->own_pmu, "%s", r->core.pmu);
		snprintf(r->core.pmu, sizeof r->core.pmu, "%s", r->pmu_name);
		r->core.other_pmu = strcmp(r->core.pmu, r->own_pmu);
		snprintf(r->core.libpfm, sizeof r->core.libpfm, "%s", r->pmu_libpfm);
		memcpy(r->registers.preset.pmu, r->core.pmu, sizeof r->core.pmu);
		memcpy(r->registers.preset.libpfm, r->core.libpfm, sizeof r->core.libpfm);
	}
	r->core_name = r->core.name;
	r->run.core = &r->core;
	r->run.features = &r->registers;
	return 0;
}

const char *cli_rings(const struct cli_run *r)
{
	return r->core.both_rings ? "the whole machine" : "user mode only";
}

const char *cli_changed(const struct cli_run *r)
{
	return r->changed;
}

/* Checks --smt, --cpus and --quantum.  A quantum may be a time, for which the core must be known.  0, or -1 after
 * one printed line. */
static int share_processors(struct cli_run *r)
{
	enum { CPUS_MOST = 512 };
	static const struct {
		const char *name;
		double ns;
	} unit[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	if (r->run.smt && r->core.smt_threads < 2) {
		cli_error("option --smt: core '%s' has one hardware thread (smt.threads = %u)", r->core_name,
			r->core.smt_threads);
		return -1;
	}
	if (r->run.smt && r->cpus) {
		cli_error("options --smt and --cpus do not go together: hardware threads are not shared out by time");
		return -1;
	}
	if (r->cpus) {
		unsigned long n = strtoul(r->cpus, &end, 10);
		if (r->cpus[0] < '0' || r->cpus[0] > '9' || *end || n < 1 || n > CPUS_MOST) {
			cli_error("option --cpus: '%s' is not a number of processors from 1 to %d", r->cpus, CPUS_MOST);
			return -1;
		}
		r->run.cpus = (uint32_t)n;
	}
	if (!r->quantum)
		return 0;
	if (!r->cpus) {
		cli_error("option --quantum needs --cpus: without it no thread waits for a processor");
		return -1;
	}
	double cycles = r->quantum[0] >= '0' && r->quantum[0] <= '9' ? strtod(r->quantum, &end) : 0;
	bool known = cycles > 0 && !*end;
	for (size_t k = 0; cycles > 0 && k < sizeof unit / sizeof *unit; k++)
		if (is(end, unit[k].name)) {
			cycles *= unit[k].ns * r->core.frequency_ghz;
			known = true;
		}
	if (!known || cycles < 1 || cycles > 1e15) {
		cli_error("option --quantum: '%s' is neither a number of cycles nor a time such as 500us or 3ms",
			r->quantum);
		return -1;
	}
	r->run.quantum = (uint64_t)cycles;
	return 0;
}

int cli_run_finish(struct cli_run *r, int argc, char **argv, int i)
{
	if (i < argc && is(argv[i], "--"))
		i++;
	if (r->run.replay && i < argc) {
		cli_error("--replay takes the stream from %s: no program is run, so '%s' is one word too many",
			r->run.replay, argv[i]);
		return -1;
	}
	if (r->run.replay && r->run.save) {
		cli_error("--save-stream and --replay exclude each other: %s is a saved stream already", r->run.replay);
		return -1;
	}
	if (!r->run.replay && i >= argc) {
		cli_error("no program given: softpmu %s [options] [--] PROGRAM [arguments]  (softpmu %s --help)",
			argv[0], argv[0]);
		return -1;
	}
	if (!r->run.replay && !argv[i][0]) {
		cli_error("the program's name is empty");
		return -1;
	}
	if (cli_core(r) || share_processors(r))
		return -1;
	r->core.both_rings = r->run.replay && stream_machine(r->run.replay);
	r->run.tracer_dir = cli_tracer_dir();
	r->argv = r->run.replay ? NULL : argv + i;
	r->run.argv = r->argv;
	return cli_profile_apply(r);
}

int cli_exit_status(int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return 1;
}

char *cli_keep_stream(struct cli_run *r, const char *command, const char *hint)
{
	const char *dir = getenv("TMPDIR");
	char *name = NULL;
	if (asprintf(&name, "%s/softpmu-%s-XXXXXX", dir && *dir ? dir : "/tmp", command) < 0)
		name = NULL;
	int fd = name ? mkstemp(name) : -1;
	if (fd < 0) {
		cli_error("cannot save the program's stream: %s: %s (TMPDIR chooses the folder%s)",
			name ? name : "out of memory", strerror(errno), hint);
		free(name);
		return NULL;
	}
	close(fd);
	r->run.save = name;
	return name;
}

void cli_forget_stream(struct cli_run *r, char *name)
{
	if (!name)
		return;
	unlink(name);
	r->run.save = NULL;
	free(name);
}
