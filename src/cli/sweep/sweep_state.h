/* SPDX-License-Identifier: GPL-2.0-or-later
 * One invocation of softpmu sweep.
 *
 * A sweep has a folder, PLAN.sweep unless --dir names another:
 *
 *   results.db	what is known (sweep_store.h); only the process that holds `lock` writes it
 *   tasks/N	what workers do (sweep_task.h), up to SWEEP_TASKS a file
 *   results/KEY	a result that a worker wrote; removed once results.db has it
 *   streams/KEY	the stream of a command
 *   logs/	what jobs of Slurm printed
 */
#ifndef CLI_SWEEP_STATE_H
#define CLI_SWEEP_STATE_H
#include "cli/cli.h"
#include "sweep/sweep_table.h"
#include <limits.h>

enum { SWEEP_TASKS = 1000, SWEEP_AT_ONCE = 20000 };
enum { SWEEP_STATUS_FULL = 75 };	/* a worker's exit status: a result could not be written (EX_TEMPFAIL) */

struct sweep {
	/* options */
	const char *plan_path, *dir_name;
	const char *sbatch[32];
	unsigned sbatches, jobs, tries;
	bool slurm, retry, dry, quiet;
	int list;			/* enum sweep_list */
	double poll;
	/* all of it */
	struct plan plan;
	struct sweep_machines machines;
	struct sweep_store *store;
	struct sweep_table table;
	char dir[PATH_MAX - 128];	/* absolute */
	char model[TASK_TEXT], mode[64], trial_mode[SWEEP_TRIALS][96];
	char *events;			/* with commas between them */
	char **event;
	size_t event_count;		/* "energy" is the last one, if it is asked for */
	int lock;			/* -1: another process has it */
	struct sweep_source { char *stream, key[FNV_CHARS]; bool known; } *source;	/* of each program */
	char **env;			/* of the commands */
	struct sweep_tries *tried, *traced;	/* of each point, of each program */
	struct sweep_tries (*trial_tried)[SWEEP_TRIALS];
	unsigned next_tasks;		/* number of the next file of tasks */
	size_t gathered, lost;		/* results so far; points that were given up */
	bool trace_failed;		/* a command could not be recorded; that was said */
};
enum sweep_list { SWEEP_LIST_NOT, SWEEP_LIST_LINES, SWEEP_LIST_MAKE };

/* ---- sweep_state.c ---- */

/* Reads the plan, makes the folder, and opens all that is in it.  writes: takes the lock, and fails without it.  0, or
 * -1 after one printed line. */
int  sweep_open(struct sweep *s, bool writes);
void sweep_close(struct sweep *s);
/* Moves results into the database.  0, or -1 after one printed line. */
int  sweep_gather(struct sweep *s);
/* Writes tasks into a new file; the name is in `path`. */
int  sweep_write_tasks(struct sweep *s, const struct sweep_task *task, size_t n, char path[PATH_MAX]);
bool sweep_has_result(const struct sweep *s, const char *key);

/* ---- sweep_run.c ---- */

int  sweep_run(struct sweep *s);
/* Finds the keys of the programs whose streams there are. */
int  sweep_know(struct sweep *s, struct err *err);

/* ---- sweep_local.c, sweep_slurm.c: do the tasks, gather results; a task may end without one.  0; 1 after one printed
 * line: go no further. ---- */

int  sweep_local(struct sweep *s, const struct sweep_task *task, size_t n);
int  sweep_slurm(struct sweep *s, const struct sweep_task *task, size_t n);

extern const struct cli_command sweep_report_command, sweep_work_command;
int  sweep_work(int argc, char **argv);
int  sweep_report(int argc, char **argv);
#endif
