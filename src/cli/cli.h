/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the commands share.  One file per command: src/cli/cmd_NAME.c defines `const struct cli_command cmd_NAME`.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "core/machine/config.h"
#include "run/run.h"
#include "util/err.h"
#include "util/options.h"
#include <stdbool.h>

/* A command, or a part of one that has options of its own ("mem report", "tune --software"). */
struct cli_command {
	const char *name;
	const char *summary;	/* one line for `softpmu --help`, or for the list of the parts */
	const char *usage;	/* a line for each form, without "softpmu NAME": "[options] [FILE]" */
	const char *about; /* paragraphs, wrapped when they are printed: what it does (util/options.h, options_wrap) */
	const char *notes;	/* likewise, below the options; NULL: none */
	const struct option *options;	/* its own; NULL: none */
	bool runs;		/* takes the options of a run as well (cli_run_options) */
	const struct cli_command *const *parts;	/* up to a NULL; NULL: none */
	int (*run)(int argc, char **argv);	/* argv[0] is the command's name; returns the exit status */
};

struct store_profile;

/* Whether a run looks for the profile that softpmu tune kept of its program: only when asked for, by itself, with --profile, not with --no-profile. */
enum cli_profile { CLI_PROFILE_NONE, CLI_PROFILE_STORED, CLI_PROFILE_ASKED, CLI_PROFILE_REFUSED };

/* What the options of a run (cli_run_options) and its command decide. */
struct cli_run {
	struct core_config core;
	struct run_options run;
	char *const *argv;	/* the program and its arguments */
	enum cli_profile
		profile; /* set to CLI_PROFILE_STORED before the options by commands that apply it by themselves */
	const char *profile_name;	/* --profile=NAME, or NULL: the active one */
	const struct store_profile *applied;	/* NULL: none */
	/* private */
	const char *core_name;	/* NULL: not asked for */
	const char *pmu_name;	/* --pmu, or NULL */
	char own_pmu[64], pmu_libpfm[64];
	const char *cpus, *quantum;	/* --cpus, --quantum, or NULL */
	const char *set[64];
	unsigned sets;
	struct { const char *text; bool wrmsr; } feature[64];	/* --feature and --wrmsr */
	unsigned features;
	struct core_features registers;
	struct run_write write[64];	/* --wrmsr in mid-run */
	char changed[256];	/* cli_changed */
	bool no_wrong_path;
	double started, shown;
	bool on_terminal;
};
/* The options of every command that runs a program; target: struct cli_run. */
extern const struct option cli_run_options[];
/* One of these rows in the table of a command that takes only some of them; prefix: "run." for a member `run`. */
#define CLI_OPTION_CORE(type, prefix) OPT_TEXT(0, "core", "CORE", type, prefix core_name, \
	"Model this machine: a preset (softpmu cores), host for the preset of the processor that this runs on, or a file with a / " \
	"in its name. Default: golden-cove.", .filled = true)
#define CLI_OPTION_PMU(type, prefix) OPT_TEXT(0, "pmu", "PMU", type, prefix pmu_name, \
	"Carry this PMU instead of the core's own: p5, p6, netburst, yonah, core2, nehalem, haswell and others in data/events. " \
	"Without --core the core is the one nearest to the machines that have it.", .filled = true)
#define CLI_OPTION_SET(type, prefix) \
	OPT_LIST(0, "set", "FIELD=VALUE", type, prefix set, prefix sets, \
		"Change one field of the core, as in --set l1d.size=32K. May be repeated.", \
		.more = "put the fields into a core's file")

void cli_run_init(struct cli_run *r);
/* After the options: argv[i..] is the program (or --replay was given). Loads the core. 0, or -1 after one printed line. */
int  cli_run_finish(struct cli_run *r, int argc, char **argv, int i);
/* Reads the options of c: into target, and those of a run into r (NULL: c has none of them), up to the first word that is no
 * option: *next.  1: go on; 0: help was printed; -1: bad, one line was printed. */
int  cli_options(const struct cli_command *c, void *target, struct cli_run *r, int argc, char **argv, int *next);
/* The same for commands with words among the options: each goes to `word` with the target. */
int  cli_options_and_words(const struct cli_command *c, void *target, int argc, char **argv,
	int (*word)(void *target, const char *word, struct err *err));
/* The same with a parser of the caller's making, whose command is filled in. */
struct option_parser;
int  cli_parse(const struct cli_command *c, struct option_parser *p, int argc, char **argv, int *next);
/* Progress line on a terminal (stderr) for runs over two seconds, and Ctrl-C.  cli_run_program calls it by itself (context: r) if the
 * sink has no tick of its own; a tick of your own should return what this one returns. */
int  cli_tick(void *context, uint64_t instructions, uint64_t cycles);
void cli_progress_clear(struct cli_run *r);
/* The same line for what is not a run of a program: `text` for a while, on a terminal and not too often. */
void cli_progress_text(struct cli_run *r, const char *text);
/* Signals are taken note of (cli_interrupted) from now on, or no more: for what runs no program meanwhile. */
void cli_catch(bool on);
/* Loads the core and its --set fields without a program, for commands that only look at it; called by cli_run_finish. 0, or -1 after one
 * printed line. */
int  cli_core(struct cli_run *r);
/* ", changed by --set" and which features are not as the preset has them, behind the core's name; "" if nothing was changed. */
const char *cli_changed(const struct cli_run *r);
/* Runs with Ctrl-C handling: the program gets the SIGINT, we live on to write what was measured.
 * A second SIGINT within three seconds stops the measurement and lets the program run on, a third kills it; SIGTERM and SIGHUP likewise.
 * A signal sent to softpmu alone (kill) is passed on to the program. */
int  cli_run_program(struct cli_run *r, const struct run_sink *sink, struct run_result *result, struct err *err);
/* For a command that replays what it runs: a file of its own in TMPDIR, into which the next run saves its stream.  Its name, or NULL after one printed
 * line, which ends with `hint`.  And its end (NULL: there was none). */
char *cli_keep_stream(struct cli_run *r, const char *command, const char *hint);
void cli_forget_stream(struct cli_run *r, char *name);
/* A SIGINT, SIGTERM or SIGHUP came during the last run (false before the first): do not start another. */
bool cli_interrupted(void);
/* Exit status as a shell would give it for a wait status. */
int  cli_exit_status(int wait_status);

/* One line on stderr: "softpmu: ..." */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* perfdata_open that says what is wrong, or odd, with the file. */
struct perfdata_file;
int cli_open_data(struct perfdata_file **out, const char *path);

/* "0.1.0" */
const char *cli_version(void);
/* Directories, found from the place of the running binary: in the build tree or installed. */
const char *cli_data_dir(void);		/* holds cores/ uops/ events/ */
const char *cli_tracer_dir(void);	/* holds softpmu-tracer-* */
/* A line to print if --pmu chose a PMU that is not this core's; "" else.  text: room for 128. */
const char *cli_pmu_note(const struct cli_run *r, char *text);
/* "data_dir/events/<core.pmu>.tsv" loaded; prints the error and returns NULL on failure. */
struct spmu_model *cli_model(const struct core_config *core);
/* Likewise "data_dir/events/uncore-<core.uncore>.tsv" into *out, NULL for a core whose uncore has no PMU.  0, or -1 after one printed line. */
struct spmu_uncore_model;
int  cli_uncore(struct spmu_uncore_model **out, const struct core_config *core);
#endif
