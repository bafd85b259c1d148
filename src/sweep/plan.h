/* SPDX-License-Identifier: GPL-2.0-or-later
 * The plan of a sweep: a text file with a keyword and words on each line (quoted_words.h says how words are quoted).
 *
 *   program NAME PROGRAM [ARGUMENTS]	a command, whose stream is recorded once
 *   stream NAME FILE			what softpmu trace -o or --live-points wrote
 *   env NAME[=VALUE]			in the environment of the commands
 *   core CORE...			machines: each core with each combination of the levels below
 *   set FIELD LEVEL...			a field of the core (--set)
 *   feature NAME LEVEL...		a feature (--feature)
 *   draw COUNT SEED			so many machines of each such combination, drawn as a Latin hypercube from:
 *   draw set FIELD LEVEL...|FROM..TO
 *   draw feature NAME LEVEL...
 *   machine NAME CORE [set FIELD LEVEL | feature NAME LEVEL]...	one more machine
 *   events EVENT,...			count these, too
 *   energy				estimate the energy, too
 *   objective WHAT			what should be small: time, cycles, energy, edp, or an event
 *   detail | sample [auto|N,U,W]	how each run is timed; without either as softpmu stat does it
 *   live-points				commands are recorded as live points
 *   eliminate [PERCENT [FIRST]]	stop the runs of machines that are worse at this confidence, from FIRST programs
 *   eliminate points [PERCENT]	the same, after some of the points of files of live points
 *   memory SIZE, time SECONDS		what a job is given before anything was measured
 *
 * A level of `set` may be a range: A..B*F or A..B+S.  Numbers take K, M and G.
 */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PLAN_LINE = 65536, PLAN_WORDS = 1024,	/* of a line */
	PLAN_FACTORS = 64, PLAN_LEVELS = 256,
	PLAN_PROGRAMS = 100000, PLAN_MACHINES = 100000, PLAN_DRAWS = 10000,
};

struct plan_program {
	const char *name;
	char *const *argv;	/* NULL: a stream */
	const char *stream;
};
struct plan_factor {
	const char *field;
	bool feature;
	bool drawn;
	const char **level;
	size_t levels;
	double from, to;	/* of a drawn range, which has no levels */
	unsigned line;
};
struct plan_setting { const char *field, *level; bool feature; };
struct plan_machine {		/* of a line `machine` */
	const char *name, *core;
	struct plan_setting *setting;
	size_t settings;
	unsigned line;
};

struct plan {
	struct plan_program *program;
	const char **core, **env, **events;	/* events: lists with commas */
	struct plan_factor *factor;
	struct plan_machine *machine;
	size_t programs, cores, envs, event_lists, factors, machines;
	size_t draws;		/* 0: nothing is drawn */
	uint64_t seed;
	const char *objective;	/* "time" */
	bool energy;
	bool detail;
	const char *sample;	/* "auto", "N,U,W"; NULL: not asked for */
	double confidence;	/* of the elimination: 0.95; 0: none */
	bool by_points;		/* by points of each program, not by programs */
	size_t first;		/* programs before the first elimination */
	bool live_points;	/* of commands */
	uint64_t memory;	/* bytes */
	uint64_t seconds;
	/* private */
	size_t program_room, core_room, env_room, event_room, factor_room, machine_room;
	void **memories;
	size_t memory_count, memory_room;
	unsigned line;
	uint32_t *names;	/* index of the programs by name */
	size_t name_places;
};

/* ERR_INPUT: the text names the line.  On failure the plan is to be freed as well. */
int  plan_read(struct plan *p, const char *path, struct err *err);
/* The same from memory; name: in messages. */
int  plan_parse(struct plan *p, const char *text, size_t bytes, const char *name, struct err *err);
void plan_free(struct plan *p);

/* ---- plan_levels.c ---- */

/* Adds the levels that one word says to the factor: itself, or those of a range.  keep: of the plan. */
int  plan_levels(struct plan *p, struct plan_factor *f, const char *word, struct err *err);
/* A number with K, M or G (powers of 1024); false: it is none. */
bool plan_number(const char *text, const char *end, double *out);
/* Memory that lives as long as the plan; NULL: none. */
void *plan_keep(struct plan *p, size_t bytes);
#endif
