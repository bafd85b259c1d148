/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the commands share.  One file per command: src/cli/cmd_NAME.c defines `const struct cli_command cmd_NAME`.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "core/machine/config.h"
#include "run/run.h"
#include "util/err.h"
#include "util/options.h"
#include <sys/types.h>
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

/* Whether a run applies the profile that softpmu tune kept of its program. */
enum cli_profile {
	CLI_PROFILE_NONE,	/* no: the command does not do so by itself, and --profile was not given */
	CLI_PROFILE_STORED,	/* yes, if there is an active one: the command does so by itself */
	CLI_PROFILE_ASKED,	/* yes, and it is an error if there is none: --profile */
	CLI_PROFILE_REFUSED,	/* no: --no-profile */
};

/* What the options of a run (cli_run_options) and its command decide. */
struct cli_run {
	struct core_config core;
	struct run_options run;
	char *const *argv;	/* the program and its arguments */
	/* Commands that apply profiles by themselves set it to CLI_PROFILE_STORED before they read their options. */
	enum cli_profile profile;
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
	double share;		/* of a saved stream that was read (run_options.share) */
	uint64_t expected;	/* instructions that the program will execute; 0: unknown */
	char program[16];	/* name of the first process' program, as the kernel cuts it; "": nothing has run yet */
	pid_t child;		/* the program, while it runs; 0: not known yet; -1: it ends */
	double first;		/* begin of the first run; 0: there was none */
	const char *doing;	/* what this run is for, such as "replay 2 of 6"; NULL: it is the only one */
	bool on_terminal, told;
	unsigned lines;		/* progress lines so far, on a terminal to which the program writes, too */
};
/* The options of every command that runs a program; target: struct cli_run. */
extern const struct option cli_run_options[];
/* One of these rows in the table of a command that takes only some of them; prefix: "run." for a member `run`. */
#define CLI_OPTION_CORE(type, prefix) OPT_TEXT(0, "core", "CORE", type, prefix core_name, \
	"Model this machine: a preset (softpmu cores), host for the preset of the processor that this runs on, or a " \
	"file with a / in its name. Default: golden-cove.", .filled = true)
#define CLI_OPTION_PMU(type, prefix) OPT_TEXT(0, "pmu", "PMU", type, prefix pmu_name, \
	"Give the core this PMU instead of its own: p5, p6, netburst, yonah, core2, nehalem, haswell or another of " \
	"data/events. Without --core, the core is the preset that is most like the machines with this PMU.", \
	.filled = true)
#define CLI_OPTION_SET(type, prefix) \
	OPT_LIST(0, "set", "FIELD=VALUE", type, prefix set, prefix sets, \
		"Change one field of the core, as in --set l1d.size=32K. May be repeated.", \
		.more = "put the fields into a core's file")
/* prefix: "run." again, or nothing; what: "Count", "Record" */
#define CLI_OPTIONS_FOLLOW(type, prefix, what) \
	OPT_CLEAR('i', "no-inherit", type, prefix run.follow, "Leave out the processes that the program forks, and " \
		"what they execute: they run untraced. Without this option they count, too, each on a machine of " \
		"its own."), \
	OPT_FLAG(0, "follow", type, prefix run.waits, what " also what processes do that the program leaves " \
		"running when it ends: wait for them. Without this option they run on untraced from then on.")

/* The run follows the processes that the program starts. */
void cli_run_init(struct cli_run *r);
/* After the options: argv[i..] is the program (or --replay was given).  Loads the core, and applies the profile.
 * 0, or -1 after one printed line. */
int  cli_run_finish(struct cli_run *r, int argc, char **argv, int i);
/* Reads the options of c into target, and those of a run into r (NULL: c does not take them), up to the first word
 * that is no option, whose index is *next.  1: go on; 0: help was printed; -1: wrong, one line was printed. */
int  cli_options(const struct cli_command *c, void *target, struct cli_run *r, int argc, char **argv, int *next);
/* The same for commands with words among the options: each goes to `word` with the target. */
int  cli_options_and_words(const struct cli_command *c, void *target, int argc, char **argv,
	int (*word)(void *target, const char *word, struct err *err));
/* The same with a parser that the caller has filled in but for `command`. */
int  cli_parse(const struct cli_command *c, struct option_parser *p, int argc, char **argv, int *next);
/* The tick of a run (context: r): prints a progress line on a terminal (stderr) once a run has taken two seconds,
 * and looks for Ctrl-C.  cli_run_program calls it if the sink has no tick of its own; a sink's own tick returns
 * what this one does. */
int  cli_tick(void *context, uint64_t instructions, uint64_t cycles);
/* Call it before a run whose tick is cli_tick; cli_run_program does it itself. */
void cli_progress_begin(struct cli_run *r);
void cli_progress_clear(struct cli_run *r);
/* Shows `text` in the progress line, for work that is not a run of a program: on a terminal only, and not too often. */
void cli_progress_text(struct cli_run *r, const char *text);
void cli_progress_share(struct cli_run *r);	/* what it is doing, and how much of its stream was read */
/* on: SIGINT, SIGTERM and SIGHUP no longer end softpmu, but set cli_interrupted; for work that runs no program. */
void cli_catch(bool on);
/* Loads the core and applies --pmu, --set, --feature and --wrmsr, for commands that run no program; cli_run_finish
 * calls it. 0, or -1 after one printed line. */
int  cli_core(struct cli_run *r);
/* Text to print behind the core's name: ", changed by --set" and the features that differ from the preset; "" if
 * nothing was changed. */
const char *cli_changed(const struct cli_run *r);
/* What of the run was modelled: "user mode only", or "the whole machine". */
const char *cli_rings(const struct cli_run *r);
/* Runs the program and handles SIGINT, SIGTERM and SIGHUP: the program gets the signal, and softpmu lives on to
 * write what was measured.  A second one within three seconds stops the measurement and lets the program run on; a
 * third kills it. A signal that was sent to softpmu alone (kill) is passed on to the program. */
int  cli_run_program(struct cli_run *r, const struct run_sink *sink, struct run_result *result, struct err *err);
/* For commands that replay what they run: creates a file in TMPDIR into which the next run saves its stream.
 * Returns its name, which cli_forget_stream frees, or NULL after one printed line, which ends with `hint`. */
char *cli_keep_stream(struct cli_run *r, const char *command, const char *hint);
/* Removes that file.  name NULL: nothing is done. */
void cli_forget_stream(struct cli_run *r, char *name);
/* Whether a SIGINT, SIGTERM or SIGHUP came during the last run (false before the first): then no other should begin. */
bool cli_interrupted(void);
/* Exit status as a shell would give it for a wait status. */
int  cli_exit_status(int wait_status);

/* Runs perf in place of softpmu: `perf COMMAND` with the words behind argv[0].  option: the one that asks for it.  It
 * returns only if that fails: the exit status, after one printed line. */
int cli_hand_over(const char *command, const char *option, int argc, char **argv);

/* One line on stderr each.  "softpmu: ...": the command, or a part of it, fails; something happens as it should, and
 * the user may want to know.  "softpmu: warning: ...": what is printed may not be what the user expects. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* perfdata_open, which prints the error, or a warning if the file is odd.  0, or an error after one printed line. */
struct perfdata_file;
int cli_open_data(struct perfdata_file **out, const char *path);

/* "0.1.0" */
const char *cli_version(void);
/* Folders of the build tree or of the installation, whichever the running binary is in. */
const char *cli_data_dir(void);		/* holds cores/ uops/ events/ */
const char *cli_tracer_dir(void);	/* holds softpmu-tracer-* */
/* softpmu's own path, by which it can be started again. */
const char *cli_self(void);
/* What a process that failed said to its standard error: the last line, without softpmu's name in front.  False: it
 * said nothing. */
bool cli_last_words(const char *said, size_t bytes, char *text, size_t room);
/* A line to print if --pmu chose a PMU that is not the core's own; otherwise "".  text: room for 128 bytes. */
const char *cli_pmu_note(const struct cli_run *r, char *text);
/* Loads "data_dir/events/<core.pmu>.tsv"; NULL after one printed line.  The caller frees it (spmu_model_free). */
struct spmu_model *cli_model(const struct core_config *core);
/* Loads "data_dir/events/uncore-<core.uncore>.tsv" into *out: NULL for a core whose uncore has no PMU.  0, or -1
 * after one printed line. */
struct spmu_uncore_model;
int  cli_uncore(struct spmu_uncore_model **out, const struct core_config *core);
#endif
