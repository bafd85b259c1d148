/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slurm's commands, as a user has them: sbatch, squeue, scontrol, sacct. */
#ifndef CLI_SLURM_TOOL_H
#define CLI_SLURM_TOOL_H
#include <stdbool.h>
#include <stddef.h>

struct slurm_tool {		/* of the last command */
	char *said, *error;	/* its output; a line of its standard error */
	int status;		/* exit status; 127: it cannot be started */
	bool passes;		/* it failed because the controller does not answer now */
};
/* Runs it, with `input` (NULL: none) as its standard input.  False: out of memory, or no process. */
bool slurm_tool_run(struct slurm_tool *t, char *const *argv, const char *input);
void slurm_tool_free(struct slurm_tool *t);

/* An element of a job array, a line of squeue. */
struct slurm_element { char name[64]; unsigned long index; };
/* Calls `each` for every element of the user's jobs that has not ended.  False: squeue failed, see *t. */
bool slurm_queue(struct slurm_tool *t, void (*each)(void *context, const struct slurm_element *e), void *context);
/* How the elements of an ended job ended that did not complete: "NODE_FAIL 1, OUT_OF_MEMORY 2", by sacct or else by
 * scontrol; "" if nothing is known.  *full: one ended with this exit status.  *own: one ended by its own doing.  (A
 * controller that was started again may have forgotten jobs, and gives their numbers to others.) */
void slurm_ends(const char *job, char *text, size_t bytes, int full_status, bool *full, bool *own);
#endif
