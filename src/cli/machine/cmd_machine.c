/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu machine: runs a whole machine whose guest sees the modelled PMU (src/machine).  The machine is a program of
 * its own, libexec/softpmu-machine, which `make machine` builds; this command writes its configuration, starts it, and
 * reads its report.
 */
#include "cli/cli.h"
#include "cli/machine/machine_config.h"
#include "cli/machine/machine_linux.h"
#include "cli/machine/machine_run.h"
#include "cli/machine/machine_state.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct cli_command cmd_machine;

struct request {
	struct cli_run run;
	struct machine_config config;
	struct machine_linux linux_guest;
	const char *report;
	bool shows;		/* --show-config */
};

static const struct option options[] = {
	OPT_TEXT(0, "kernel", "FILE", struct request, linux_guest.kernel, "Boot this Linux kernel: a bzImage, such as "
		"Debian's /boot/vmlinuz-*. tools/machine/fetch-kernel.sh in softpmu's source fetches "
		"one.", .filled = true),
	OPT_TEXT(0, "run", "COMMAND", struct request, linux_guest.command, "Run this in the guest by /bin/sh -c, as "
		"root. What it prints comes to standard output and standard error, and its exit status is this "
		"command's.",
		.filled = true),
	OPT_LIST(0, "add", "PATH", struct request, linux_guest.add, linux_guest.adds, "Bring a program, a file or a "
		"folder of the host into the guest, under the same name. With a program come its shared libraries. "
		"May be repeated.",
		.filled = true, .more = "put them into a folder, and add that"),
	OPT_TEXT(0, "root", "DIR", struct request, linux_guest.root, "Use a copy of this folder as the guest's /. "
		"Without it, / has what --add names, a shell, and some thirty tools of the host.", .filled = true),
	OPT_TEXT(0, "out", "DIR", struct request, linux_guest.out, "Bring to DIR what the command leaves in /out.",
		.filled = true),
	OPT_TEXT(0, "state", "DIR", struct request, linux_guest.state, "Save the booted machine in DIR; later runs "
		"start from it. Kernel, files and options must be the same then; only --run, --out, --kallsyms, "
		"--save-stream, --console and --report may differ.", .filled = true),
	OPT_TEXT(0, "append", "TEXT", struct request, linux_guest.append, "Append TEXT to the kernel's command line.",
		.filled = true),
	OPT_TEXT(0, "console", "FILE", struct request, linux_guest.console, "Write the kernel's messages to FILE.",
		.filled = true),
	OPT_TEXT(0, "kallsyms", "FILE", struct request, linux_guest.kallsyms, "Write the guest's /proc/kallsyms to "
		"FILE.",
		.filled = true),
	OPT_TEXT(0, "save-stream", "FILE", struct request, linux_guest.stream, "Save what the core times to FILE, "
		"which other commands take by --replay. They name the kernel's functions if --kallsyms is given "
		"here, too.", .filled = true),
	OPT_TEXT(0, "rom", "FILE", struct request, config.rom, "Instead of a kernel, start this image, which takes the "
		"place of the BIOS. It has up to 128 KB, a multiple of 512 bytes, and ends at 4 GB, with the reset "
		"vector in its last 16 bytes.",
		.filled = true),
	OPT_CHOICE(0, "timing", "counting|marked|always", struct request, config.timing, MACHINE_COUNTING,
		"When the core times the guest: while a counter, the LBR or BTS is switched on (the default); between "
		"marks that the guest sets (a 1 or 0 written to port 5350H); always. At other times the guest runs at "
		"the emulator's speed, an instruction a cycle, and no counter moves."),
	OPT_FLAG(0, "warm", struct request, config.warm, "Let caches, TLBs and predictors follow the guest also where "
		"the core does not time it. This takes longer; a short count then starts on a warm machine. "
		"One processor only."),
	OPT_FLAG(0, "functional", struct request, config.functional, "Time nothing: all counters stay 0."),
	OPT_WHOLE(0, "cpus", "N", struct request, config.cpus, 1, 4, "Processors: 1 (the default), 2 or 4."),
	OPT_WHOLE(0, "memory", "MB", struct request, config.memory, 32, 2048, "Memory of the guest; default: 512."),
	OPT_FLAG(0, "pebs-reload-msrs", struct request, config.reload_msrs, "Give the PMU MSR_RELOAD_PMCx and "
		"MSR_RELOAD_FIXED_CTRx. PEBS then reloads counters from these, never from the DS area. This is for a "
		"guest that is a hypervisor and hands its PMU to an inner guest. Cores with adaptive PEBS records "
		"only."),
	OPT_TEXT(0, "report", "FILE", struct request, report, "Write to FILE how much was executed and timed: lines "
		"NAME=VALUE.", .filled = true),
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

static int check(struct request *o, struct err *err)
{
	if (o->config.warm && (o->linux_guest.stream || o->config.functional || o->config.cpus > 1))
		return err_set(err, ERR_INPUT, "--warm does not go with %s", o->linux_guest.stream ?
			"--save-stream, which has only what is timed" : o->config.functional ? "--functional" :
			"several processors");
	struct machine_linux *l = &o->linux_guest;
	if (l->kernel && o->config.rom)
		return err_set(err, ERR_INPUT, "--rom and --kernel are two ways to start: give one of them");
	if (!l->kernel && !o->config.rom)
		return err_set(err, ERR_INPUT, "nothing to start: give the machine a kernel by --kernel, or an image "
			"by --rom");
	if (!l->kernel && (l->command || l->adds || l->root || l->out || l->state || l->append || l->console ||
		l->kallsyms || l->stream))
		return err_set(err, ERR_INPUT, "--run, --add, --root, --out, --state, --append, --console, --kallsyms "
			"and --save-stream need --kernel");
	if (l->stream && o->config.cpus > 1)
		return err_set(err, ERR_UNSUPPORTED, "--save-stream: a stream is that of one processor, so not with "
			"--cpus %u", o->config.cpus);
	if (l->kernel) {
		l->libexec = cli_tracer_dir();
		const int rc = machine_linux_check(l, &o->config, err);
		if (rc)
			return rc;
	}
	const int rc = machine_config_check(&o->config, err);
	return rc || !l->kernel ? rc : machine_config_check_bits(&o->config, l->bits, err);
}

static int failed(const struct err *err)
{
	cli_error("%s", err->text);
	return MACHINE_FAILED;
}

static int write_config(const struct request *o, const struct machine_files *f, struct err *err)
{
	FILE *out = fopen(f->config, "w");
	if (out)
		machine_config_print(out, &o->config, o->config.rom, f->vga);
	return !out || fclose(out) || machine_config_write_vga(f->vga) ? err_system(err, "%s", f->folder) : 0;
}

/* A ROM of the user's own. */
static int run_rom(const struct request *o, const struct machine_files *f, const char *program)
{
	struct err err = { 0 };
	FILE *out = fopen(f->options, "w");
	if (out)
		machine_options_print(out, &o->config, cli_data_dir(), f->report);
	if (!out || fclose(out)) {
		err_system(&err, "%s", f->options);
		return failed(&err);
	}
	return write_config(o, f, &err) ? failed(&err) : machine_run(program, f, NULL, f->serial);
}

/* Boots the machine up to its command, and saves it. */
static int save_state(struct request *o, const struct machine_files *f, const char *program, struct machine_state *s)
{
	struct machine_linux *l = &o->linux_guest;
	struct err err = { 0 };
	if (machine_linux_unpack(l, &o->config, f, &err) || machine_state_begin(s, l, &err) ||
		machine_linux_options(l, &o->config, f, cli_data_dir(), s->folder, NULL, &err))
		return failed(&err);
	/* The same ROMs as later. */
	FILE *out = fopen(f->config, "w");
	if (out)
		machine_config_print(out, &o->config, s->rom, s->vga);
	if (!out || fclose(out)) {
		err_system(&err, "%s", f->config);
		return failed(&err);
	}
	const int status = machine_run(program, f, NULL, f->serial);
	if (status != MACHINE_SAVED) {
		if (status != MACHINE_FAILED)
			cli_error("the machine ended before its state was saved");
		return MACHINE_FAILED;
	}
	unlink(f->options);
	return machine_state_end(s, &err) ? failed(&err) : MACHINE_SAVED;
}

static int run_linux(struct request *o, const struct machine_files *f, const char *program)
{
	struct machine_linux *l = &o->linux_guest;
	struct machine_state *s = NULL, state;
	struct err err = { 0 };
	int status;
	/* Of an old kernel only its unpacked file tells whether it is a 64-bit one. */
	if (l->bits ? machine_linux_pack(l, &o->config, f, &err) : machine_linux_unpack(l, &o->config, f, &err))
		return failed(&err);
	if (l->state) {
		s = &state;
		if (machine_state_open(s, l, &o->config, f, program, &err))
			return failed(&err);
		if (!s->there && save_state(o, f, program, s) != MACHINE_SAVED)
			return MACHINE_FAILED;
		unlink(f->options);
		if (machine_state_config(s, &o->config, &err) ||
			machine_linux_options(l, &o->config, f, cli_data_dir(), NULL, s->folder, &err))
			return failed(&err);
		status = machine_run(program, f, s->folder, l->console ? l->console : f->serial);
	} else {
		if (machine_linux_unpack(l, &o->config, f, &err) || write_config(o, f, &err) ||
			machine_linux_options(l, &o->config, f, cli_data_dir(), NULL, NULL, &err))
			return failed(&err);
		status = machine_run(program, f, NULL, l->console ? l->console : f->serial);
	}
	if (l->out && machine_out(f->out, l->out, &err))
		return failed(&err);
	return status;
}

static int run(int argc, char **argv)
{
	struct request o = { .config = { .memory = 512, .cpus = 1 } };
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
	if (check(&o, &err)) {
		cli_error("%s", err.text);
		return 2;
	}
	if (o.shows) {
		machine_config_print(stdout, &o.config, o.config.rom, "vga.rom");
		return 0;
	}
	snprintf(program, sizeof program, "%s/softpmu-machine", cli_tracer_dir());
	if (access(program, X_OK)) {
		cli_error("%s is not there: `make machine` in softpmu's source builds the emulator", program);
		return 1;
	}
	if (machine_files_create(&files, &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	int status = o.linux_guest.kernel ? run_linux(&o, &files, program) : run_rom(&o, &files, program);
	if (o.report && !access(files.report, R_OK) && machine_copy_file(files.report, o.report, &err))
		status = failed(&err);
	machine_files_remove(&files);
	return status < 0 ? 1 : status;
}

const struct cli_command cmd_machine = {
	.name = "machine", .summary = "run a whole machine whose guest sees the PMU", .options = options, .run = run,
	.usage = "[options] --kernel FILE --run COMMAND\n[options] --rom FILE",
	.about = "Boots a Linux kernel in a machine whose guest sees the modelled PMU: by RDMSR, WRMSR, RDPMC and "
		"CPUID, by interrupts of the local APIC, and by PEBS records in the guest's own memory. So the guest's "
		"own perf counts and samples. The core times what the guest executes at all privilege levels, and the "
		"guest's clocks advance by modelled cycles, so two runs are equal. It needs no root, BIOS, boot loader "
		"or disk.\nThe emulator is Bochs 3.0; make machine, in softpmu's source, fetches and builds it.",
	.notes = "The exit status is the command's (128 plus the signal's number if a signal ended it), or what a "
		"guest writes to port 5354H; 1 if the machine stops otherwise. What a guest writes to port 5352H goes "
		"to standard output.",
};
