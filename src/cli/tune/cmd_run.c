/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu run: a program on the modelled core with the profile that is kept of it, and nothing but how long that took.
 *
 * It has no PMU: cycles and instructions are the run's own. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/native_commands.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"usage: softpmu run [options] [--] PROGRAM [arguments]\n"
"       softpmu run [options] --replay FILE\n"
"       softpmu run --native [options] [--] PROGRAM [arguments]\n\n"
"Runs PROGRAM on a modelled core with the settings that softpmu tune kept for it, says which these are, and how many\n"
"cycles it took beside those that were promised.  Exit status: the program's, 128+n if signal n ended it.\n\n"
"  -q, --quiet             no closing line\n"
"      --native            first of the options: on this machine, with what tune --native kept; it has its own options\n\n"
CLI_RUN_HELP;

/* What the profile promised, if the run is the one that it was made from: as many instructions. */
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
	struct cli_run r;
	struct run_result res = { 0 };
	struct err err = { 0 };
	const struct core_wanted nothing = { .is = 0 };
	bool quiet = false;
	int i;
	if (argc > 1 && !strcmp(argv[1], "--native"))
		return cmd_run_native(argc - 1, argv + 1);
	cli_run_init(&r);
	r.profile = CLI_PROFILE_STORED;
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		int ours = cli_run_option(&r, argc, argv, &i);
		if (ours < 0)
			return 2;
		if (ours)
			continue;
		if (strcmp(argv[i], "-q") && strcmp(argv[i], "--quiet")) {
			cli_unknown_option("run", help, argv[i]);
			return 2;
		}
		quiet = true;
	}
	if (cli_run_finish(&r, argc, argv, i))
		return 2;
	r.run.wanted = &nothing;
	int rc = cli_run_program(&r, &(struct run_sink){ 0 }, &res, &err);
	int status = cli_exit_status(res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (rc)
		cli_error("%s", err.text);
	if (!quiet && res.instructions) {
		fprintf(stderr, "[ softpmu run: %" PRIu64 " instructions in %" PRIu64 " cycles of %s", res.instructions, res.cycles, r.core.name);
		if (r.applied)
			promised(r.applied, &res);
		else
			fputs(r.profile == CLI_PROFILE_REFUSED ? ", without a profile" : ", no profile applied", stderr);
		fputs(" ]\n", stderr);
	}
	return rc && !status ? 1 : status;
}

const struct cli_command cmd_run = {
	.name = "run", .summary = "run a program on the modelled core with the settings kept for it", .help = help, .run = run,
};
