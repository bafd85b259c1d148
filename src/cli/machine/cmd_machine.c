/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu machine: runs a whole machine whose guest sees the modelled PMU (src/machine).  The machine is a program of
 * its own, libexec/softpmu-machine, which `make machine` builds; this command writes its configuration, starts it, and
 * reads its report.
 */
#include "cli/cli.h"
#include "cli/machine/machine_config.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct cli_command cmd_machine;

struct request {
	struct cli_run run;
	struct machine_config config;
	const char *report;
	bool shows;		/* --show-config */
};

static const struct option options[] = {
	OPT_TEXT(0, "rom", "FILE", struct request, config.rom, "Start with this image in the place of the BIOS: up to "
		"128 KB, a multiple of 512 bytes, which end at 4 GB, the reset vector in the last 16 bytes.",
		.filled = true),
	OPT_CHOICE(0, "timing", "counting|marked|always", struct request, config.timing, MACHINE_COUNTING,
		"When the core times the guest: while it has a counter, LBR or BTS switched on (the default); between "
		"marks that it sets (a 1 or 0 written to port 5350H); always. At other times the guest runs at the "
		"emulator's speed, an instruction a cycle, and no counter moves."),
	OPT_WHOLE(0, "memory", "MB", struct request, config.memory, 32, 2048, "Memory of the guest; default: 512."),
	OPT_FLAG(0, "pebs-reload-msrs", struct request, config.reload_msrs, "The PMU has MSR_RELOAD_PMCx and "
		"MSR_RELOAD_FIXED_CTRx, and PEBS reloads counters from these, never from the DS area: for a guest that "
		"is a hypervisor and hands its PMU to an inner guest. Cores with adaptive PEBS records only."),
	OPT_TEXT(0, "report", "FILE", struct request, report, "Write to FILE how much was executed and timed, a line "
		"NAME=VALUE each.", .filled = true),
	OPT_FLAG(0, "show-config", struct request, shows, "Print the emulator's configuration; start nothing."),
	OPT_TEXT(0, "core", "CORE", struct request, run.core_name, "Model this machine: an Intel preset "
		"(softpmu cores). Default: skylake.", .filled = true),
	CLI_OPTION_SET(struct request, run.),
	OPT_END
};

static int no_word(void *target, const char *word, struct err *err)
{
	(void)target;
	return err_set(err, ERR_INPUT, "'%s': machine takes options only", word);
}

/* The emulator's last words: the line of its log that begins with what it could not do. */
static void last_words(const char *log)
{
	char line[1024], why[1024] = "";
	FILE *f = fopen(log, "r");
	while (f && fgets(line, sizeof line, f)) {
		const char *panic = strstr(line, ">>PANIC<<"), *ours = strstr(line, "softpmu-machine: ");
		if (panic || ours)
			snprintf(why, sizeof why, "%s", panic ? panic + 9 : ours + 17);
	}
	if (f)
		fclose(f);
	why[strcspn(why, "\n")] = 0;
	cli_error("the machine stopped: %s", why[0] ? why + strspn(why, " ") : "it gave no reason");
}

/* Starts the emulator and waits for it.  console: where what the guest prints goes. */
static int start(const char *program, const struct machine_files *f)
{
	const pid_t child = fork();
	if (child < 0)
		return -1;
	if (!child) {
		const int console = dup(1);	/* the configuration names it by its number: MACHINE_CONSOLE */
		const int log = open(f->log, O_WRONLY | O_CREAT | O_TRUNC, 0644), in = open("/dev/null", O_RDONLY);
		if (console < 0 || log < 0 || in < 0 || dup2(console, MACHINE_CONSOLE) < 0 || dup2(log, 1) < 0 ||
			dup2(log, 2) < 0 || dup2(in, 0) < 0 || setenv("SOFTPMU_MACHINE", f->options, 1))
			_exit(126);
		execl(program, program, "-q", "-f", f->config, (char *)NULL);
		_exit(127);
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int copy(const char *from, const char *to)
{
	char buffer[4096];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;
	int rc = in && out ? 0 : -1;
	while (!rc && (n = fread(buffer, 1, sizeof buffer, in)))
		rc = fwrite(buffer, 1, n, out) == n ? 0 : -1;
	if (in)
		fclose(in);
	if (out && fclose(out))
		rc = -1;
	if (rc)
		cli_error("%s: %s", to, strerror(errno));
	return rc;
}

/* The machine has ended: its exit status is what the guest said. */
static int finish(const struct request *o, const struct machine_files *f, int wait_status)
{
	char line[1024], failure[1024] = "";
	int status = -1;
	FILE *r = fopen(f->report, "r");
	while (r && fgets(line, sizeof line, r)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "status=", 7))
			status = atoi(line + 7);
		if (!strncmp(line, "failure=", 8))
			snprintf(failure, sizeof failure, "%s", line + 8);
	}
	if (r)
		fclose(r);
	if (r && o->report && copy(f->report, o->report))
		status = 1;
	if (failure[0]) {
		cli_error("the machine's core stopped timing: %s", failure);
		return 1;
	}
	if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) == 127 || status < 0) {
		if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 127)
			cli_error("the machine could not be started");
		else
			last_words(f->log);
		return 1;
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct request o = { .config = { .memory = 512 } };
	struct machine_files files;
	struct err err = { 0 };
	char program[PATH_MAX + 32];
	cli_run_init(&o.run);
	o.run.core_name = "skylake";
	const int go = cli_options_and_words(&cmd_machine, &o, argc, argv, no_word);
	if (go <= 0)
		return go ? 2 : 0;
	if (cli_core(&o.run))
		return 2;
	o.config.core = &o.run.core;
	o.config.core_name = o.run.core_name;
	o.config.set = o.run.set;
	o.config.sets = o.run.sets;
	if (machine_config_check(&o.config, &err)) {
		cli_error("%s", err.text);
		return 2;
	}
	if (o.shows) {
		machine_config_print(stdout, &o.config, &(struct machine_files){ .log = "log", .vga = "vga.rom" });
		return 0;
	}
	snprintf(program, sizeof program, "%s/softpmu-machine", cli_tracer_dir());
	if (access(program, X_OK)) {
		cli_error("%s is not there: `make machine` in softpmu's source builds the emulator", program);
		return 1;
	}
	if (machine_files_create(&files, &o.config, cli_data_dir(), &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	fflush(stdout);
	const int wait_status = start(program, &files);
	const int status = wait_status < 0 ? 1 : finish(&o, &files, wait_status);
	if (wait_status < 0)
		cli_error("the machine could not be started: %s", strerror(errno));
	machine_files_remove(&files);
	return status;
}

const struct cli_command cmd_machine = {
	.name = "machine", .summary = "run a whole machine whose guest sees the PMU", .options = options, .run = run,
	.usage = "[options] --rom FILE",
	.about = "Runs a machine whose guest sees the modelled PMU by RDMSR, WRMSR, RDPMC and CPUID, gets its "
		"interrupts through the local APIC, and finds PEBS records in its own memory. The core times what the "
		"guest executes at all privilege levels, and the guest's clocks go by modelled cycles. One processor.\n"
		"The emulator is Bochs 3.0; make machine in softpmu's source fetches and builds it.",
	.notes = "The exit status is what the guest writes to port 5354H, 1 if it stops otherwise. What it writes to "
		"port 5352H goes to standard output.",
};
