/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu run: runs a program on the modelled core with the profile that is kept of it, and says how long that took.
 *
 * No PMU is modelled: cycles and instructions are those of the run itself. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/native_commands.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_command cmd_run;

struct running {
	struct cli_run run;
	bool quiet, native;
};

static const struct option options[] = {
	OPT_FLAG('q', "quiet", struct running, quiet, "Do not print the closing line."),
	OPT_FLAG(0, "native", struct running, native, "Run on this machine instead of the model, with the settings "
		"that softpmu tune --native kept. It must be the first option and has options of its own: softpmu "
		"help run --native."),
	OPT_END
};

/* What the profile promised, if this run has as many instructions as the one that the profile was made from. */
static void promised(const struct store_profile *p, const struct run_result *res)
{
	uint64_t n = p->after.instructions;
	if (!n || !p->after.cycles)
		return;
	if (n != res->instructions) {
		fprintf(stderr, "; the profile was made from another run, of %" PRIu64 " instructions", n);
		return;
	}
	fprintf(stderr, "; promised %" PRIu64 ", without the profile %" PRIu64, p->after.cycles, p->before.cycles);
}

static int run(int argc, char **argv)
{
	struct running o = { .quiet = false };
	struct cli_run *const r = &o.run;
	struct run_result res = { 0 };
	struct err err = { 0 };
	const struct core_wanted nothing = { .is = 0 };
	int next;
	if (argc > 1 && !strcmp(argv[1], "--native"))
		return cmd_run_native(argc - 1, argv + 1);
	cli_run_init(r);
	r->profile = CLI_PROFILE_STORED;
	const int go = cli_options(&cmd_run, &o, r, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (o.native) {
		cli_error("--native must be the first option: softpmu run --native [options] ...");
		return 2;
	}
	if (cli_run_finish(r, argc, argv, next))
		return 2;
	r->run.wanted = &nothing;
	int rc = cli_run_program(r, &(struct run_sink){ 0 }, &res, &err);
	int status = cli_exit_status(res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (rc)
		cli_error("%s", err.text);
	if (!o.quiet && res.instructions) {
		fprintf(stderr, "[ softpmu run: %" PRIu64 " instructions in %" PRIu64 " cycles of %s", res.instructions,
			res.cycles, r->core.name);
		if (r->applied)
			promised(r->applied, &res);
		else
			fputs(r->profile == CLI_PROFILE_REFUSED ? ", without a profile" : ", no profile applied",
				stderr);
		fputs(" ]\n", stderr);
	}
	return rc && !status ? 1 : status;
}

static const struct cli_command *const parts[] = { &cli_run_native, NULL };
const struct cli_command cmd_run = {
	.name = "run", .summary = "run a program on the modelled core with the settings kept for it", .options =
		options, .runs = true,
	.parts = parts, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE\n--native [options] [--] PROGRAM "
		"[arguments]",
	.about = "Runs PROGRAM on a modelled core with the settings that softpmu tune kept for it. Prints these "
		"settings, the cycles that the run took, and the cycles that softpmu tune measured with them "
		"(promised). The exit status is the program's, or 128+n if signal n ended it.",
};
