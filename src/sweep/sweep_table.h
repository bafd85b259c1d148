/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a sweep has found so far, as a table of programs and machines, and what follows from it.
 *
 * All comparisons are of logarithms: a machine that takes 5 % more has the same difference whether a program is long or
 * short.  Differences are paired: between two machines on the same program.
 */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H
#include "sweep/machines.h"
#include "sweep/paired.h"
#include "sweep/sweep_store.h"

/* Elimination by points: so many parts (run_options.parts) of each file of live points, of which SWEEP_TRIALS are run
 * at most before machines are run on whole files. */
enum { SWEEP_PARTS = 16, SWEEP_TRIALS = 6 };
enum sweep_state { SWEEP_MISSING, SWEEP_DONE, SWEEP_FAILED };

struct sweep_table {
	const struct plan *plan;
	const struct sweep_machines *machines;
	size_t programs, count, events;	/* count: of machines */
	const char **program;		/* its key; NULL: not known yet */
	char **event;			/* as stat prints it: "cycles" */
	double *value, *half;		/* [(program * count + machine) * events + event]; NaN: none */
	unsigned char *state;		/* enum sweep_state [program * count + machine] */
	char **failed;			/* likewise; NULL: not failed */
	double *seconds;		/* of a program: the most that a point of it took; NaN: unknown */
	uint64_t *kilobytes;		/* likewise; 0: unknown */
	size_t *order;			/* programs in the order in which they are run */
	/* elimination: */
	size_t *looks, look_count;	/* after so many programs, or parts */
	bool *has_points;		/* of a program: it is a file of live points.  Set by the caller */
	double (*trial)[SWEEP_TRIALS][2];	/* of each point and part: what the objective is a product of */
	unsigned char (*trial_state)[SWEEP_TRIALS];
	double *trial_seconds;		/* of a program: the most that a part took; 0: unknown */
	uint64_t *trial_kilobytes;
	size_t *gone;			/* of a machine: the look at which it was eliminated, from 1; 0: it was not */
	size_t *against;		/* which machine was better */
	struct paired *why;		/* by how much: a difference of logarithms, with its interval */
	size_t looked;			/* looks so far */
	/* private */
	uint32_t *by_program, *by_machine;	/* indexes by key */
	size_t program_places, machine_places;
	unsigned char *seen;		/* of each point and event: the store has it */
};

/* events: what is counted, for the plan and the objective. */
int  sweep_table_make(struct sweep_table *t, const struct plan *p, const struct sweep_machines *m, char *const *event,
	size_t events, struct err *err);
void sweep_table_free(struct sweep_table *t);
/* Empties the table and reads it from the store; then looks as often as can be.  Programs with a key only. */
int  sweep_table_read(struct sweep_table *t, struct sweep_store *s, const char *model, const char *mode,
	struct err *err);
/* How many programs, in their order, are to be run now; `programs` if all are.  0: sweep_trial_reach. */
size_t sweep_table_reach(const struct sweep_table *t);

/* What should be small, for a point: NaN if it is not known.  what: "time", "cycles", "energy", "edp" or an event. */
double sweep_table_objective(const struct sweep_table *t, const char *what, size_t program, size_t machine);
/* Calls `take` for each program with the key of this row of the store.  machine: `count` if the plan has not this one.
 */
int  sweep_table_points(struct sweep_table *t, const struct sweep_row *row,
	int (*take)(struct sweep_table *t, const struct sweep_row *row, size_t program, size_t machine, void *context),
	void *context);
/* -1: it is not counted. */
int  sweep_table_event(const struct sweep_table *t, const char *event);
/* How a machine compares with another one on all programs that both ran: differences of logarithms. */
struct paired sweep_table_compare(const struct sweep_table *t, const char *what, size_t machine, size_t with,
	double confidence, struct err *err);

/* ---- sweep_trial.c: elimination by points ---- */

/* How many parts of each file of live points are to be run now; 0: whole files. */
unsigned sweep_trial_reach(const struct sweep_table *t);
/* The mode of part `trial`, from 0, of runs with this one. */
void sweep_trial_mode(const char *mode, unsigned trial, char *text, size_t bytes);
int  sweep_trial_make(struct sweep_table *t, struct err *err);
void sweep_trial_free(struct sweep_table *t);
/* Reads the parts, then looks as often as can be. */
int  sweep_trial_read(struct sweep_table *t, struct sweep_store *s, const char *model, const char *mode,
	struct err *err);
/* What a machine takes more than another one on the first n parts of all files: a difference of logarithms. */
struct paired sweep_trial_compare(const struct sweep_table *t, size_t machine, size_t with, unsigned n, double tail);

/* ---- sweep_effects.c ---- */

/* The main effect of a factor's level: differences of logarithms from its first level, each program's mean over all
 * pairs of machines that differ in this factor alone; the interval is over programs.  factor: of the plan, or -1: the
 * core. Of a drawn factor: of its high end from its low end, by the least-squares plane over all drawn factors;
 * level: 1. */
struct paired sweep_effect(const struct sweep_table *t, const char *what, int factor, size_t level, double confidence,
	struct err *err);
/* Marks the machines that no other one beats in both of two objectives: means over the programs that all `candidates`
 * have.  x, y: these means relative to machine 0 (ratios); NaN: no candidate. */
int sweep_front(const struct sweep_table *t, const char *first, const char *second, double *x, double *y,
	unsigned char *front, struct err *err);
#endif
