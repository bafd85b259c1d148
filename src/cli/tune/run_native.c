/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu run --native: runs a program on the machine itself with the settings that tune --native kept for it.
 *
 * If all settings are of the process, softpmu executes the program in its own place.  If some are of the machine,
 * softpmu waits until the program has ended, passes signals on to it, and then restores the machine. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/native_commands.h"
#include "stream/stream.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct running {
	struct native_set set;
	bool quiet, native;
};

static int add_setting(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return native_set_add(&((struct running *)target)->set, value, err);
}

static const struct option options[] = {
	OPT_FLAG(0, "native", struct running, native, "Run on this machine instead of the model. It must be the first "
		"option."),
	OPT_CALL(0, "setting", "KNOB=VALUE", add_setting, "Run with this setting instead of those that are kept. May "
		"be repeated."),
	OPT_FLAG('q', "quiet", struct running, quiet, "Do not say which settings are used."),
	OPT_END
};

/* A global, because a signal handler has no other way to pass something on. */
static struct native_signals seen;

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	seen.taken = signo;
	if (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL)
		seen.sent = signo;
}

const struct native_signals *native_signals(void)
{
	const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, now;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		if (!sigaction(caught[i], NULL, &now) && now.sa_handler != SIG_IGN)	/* nohup */
			sigaction(caught[i], &a, NULL);
	return &seen;
}

const char *native_root(void)
{
	const char *root = getenv("SOFTPMU_NATIVE_ROOT");
	return root ? root : "";
}

int native_tidy(void)
{
	struct err err = { 0 };
	unsigned left = 0;
	int rc = native_machine_restore(native_root(), &left, &err);
	if (left)
		fprintf(stderr,
			"softpmu: put back %u value%s of the machine that a softpmu which was killed has left\n", left,
			left == 1 ? "" : "s");
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

/* Finds the settings that are kept for the program, and when they were found.  1; 0 if none are kept; -1 after one
 * printed line. */
static int look_up(const char *program, struct native_set *set, char *found, size_t bytes)
{
	char path[PATH_MAX], key[PROGRAM_KEY_CHARS];
	struct err err = { 0 };
	struct profile_store *store = NULL;
	struct store_profile p;
	if (cli_profile_key(program, key, path, sizeof path) || cli_profile_store(&store, false))
		return -1;
	if (!store)
		return 0;
	int rc = profile_store_get(store, key, NATIVE_CORE, NULL, &p, &err);
	profile_store_close(store);
	if (rc == 1) {
		int bad = 0;
		for (size_t i = 0; !bad && i < p.set.settings; i++)
			bad = native_set_add(set, p.set.setting[i], &err);
		snprintf(found, bytes, "%s, %s", p.objective, p.date);
		store_profile_free(&p);
		rc = bad ? bad : 1;
	}
	if (rc < 0)
		cli_error("%s", err.text);
	return rc < 0 ? -1 : rc;
}

/* Sets the machine, runs the program, waits for its end, and restores the machine. */
static int run_and_restore(struct native_start *s, struct err *err)
{
	struct native_machine *m;
	struct trial_times times;
	struct err late = { 0 };
	unsigned left = 0;
	pid_t pid;
	int status = 0;
	int rc = native_machine_open(&m, native_root(), &left, err);
	if (rc)
		return -1;
	s->stop = &native_signals()->sent;
	rc = native_machine_set(m, s->set, err);
	s->tasks = native_machine_tasks(m);
	if (!rc)
		rc = native_spawn(&pid, s, err);
	if (!rc)
		rc = native_wait(pid, s, &status, &times, err);
	if (native_machine_close(m, &late))
		cli_error("%s", late.text);
	return rc ? -1 : cli_exit_status(status);
}

int cmd_run_native(int argc, char **argv)
{
	struct running o = { .set = { .n = 0 } };
	struct native_set *const set = &o.set;
	struct err err = { 0 };
	char text[NATIVE_TEXT], found[128] = "";
	int i, kept = 1;
	const int go = cli_options(&cli_run_native, &o, NULL, argc, argv, &i);
	if (go <= 0)
		return go ? 2 : 0;
	const bool given = set->n;
	i += i < argc && !strcmp(argv[i], "--");
	if (i >= argc) {
		cli_error("no program given: softpmu run --native [options] [--] PROGRAM [arguments]");
		return 2;
	}
	struct native_start s = { .argv = argv + i, .set = set };
	if (native_tidy() || (!given && (kept = look_up(argv[i], set, found, sizeof found)) < 0))
		return 1;
	if (!o.quiet && !kept)
		fprintf(stderr,
			"softpmu: no settings of this machine are kept for %s (softpmu tune --native): it runs without "
			"any\n",
			argv[i]);
	else if (!o.quiet && !set->n)
		fprintf(stderr, "softpmu: %s runs best as it is (%s)\n", argv[i], found);
	else if (!o.quiet)
		fprintf(stderr, "softpmu: %s runs with %s%s%s%s\n", argv[i], native_set_text(set, text),
			*found ? " (" : "", found, *found ? ")" : "");
	if (native_set_machine(set)) {
		int status = run_and_restore(&s, &err);
		if (status >= 0)
			return status;
	} else {
		native_exec(&s, &err);
	}
	cli_error("%s", err.text);
	return 126;
}

const struct cli_command cli_run_native = {
	.name = "run --native", .summary = "run a program on this machine with the settings that tune --native kept "
		"for it",
	.options = options, .run = cmd_run_native, .usage = "[options] [--] PROGRAM [arguments]",
	.about = "Runs PROGRAM on this machine with the settings that softpmu tune --native kept for it. Settings of "
		"the machine are restored when PROGRAM ends, also after a crash. The exit status is the program's.",
};
