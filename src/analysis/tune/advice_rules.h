/* SPDX-License-Identifier: GPL-2.0-or-later
 * From costs to code: which change of a program would help, where, with the evidence, and what it is estimated to win.
 *
 * A table of rules is asked of each place (a line of source, or a function where lines are not known; of the rules of code layout always a
 * function).  A rule looks at the evidence (evidence.h) and names a change of the machine that takes the trouble away; a
 * replay of the same trace on the changed machine says what the whole program wins by that, of which a place has the share that it has
 * of the events.  So an estimate is what the program would win if the change of code did to this place what that of the machine did
 * to all: an upper bound for what a change of code cannot take away wholly.  Without a change of the machine the estimate is the cycles that
 * the exact profile charges there for that reason, or there is none.  No advice is given for less than a share of the cycles.
 *
 * Leaves out: irregular addresses that are known ahead (an index that is itself loaded): whether they are cannot be seen in a trace; sets of L2 and L3.
 */
#ifndef ANALYSIS_ADVICE_RULES_H
#define ANALYSIS_ADVICE_RULES_H
#include "analysis/tune/evidence.h"
#include "core/machine/config.h"

#define ADVICE_CHANGES(X) /* of the machine */ \
	X(NONE) X(PREDICTOR) X(INDIRECT) X(L1I) X(ITLB) X(SPLIT) X(FORWARD) X(L2) X(L3) X(MEMORY) X(PAGES)
enum advice_change {
#define X(name) ADVICE_##name,
	ADVICE_CHANGES(X)
#undef X
	ADVICE_CHANGES_COUNT
};
/* Changes c; text: the fields.  False with *why: the machine cannot be changed so. */
bool advice_change(enum advice_change change, struct core_config *c, char *text, size_t bytes, const char **why);

struct advice_place {		/* the sites of a place, added up */
	const char *function, *file, *dso;	/* file: "" if not known; the caller's */
	unsigned line;		/* 0: not known, or a function as a whole */
	bool whole;		/* a function as a whole */
	struct evidence_site sum;	/* all that is added up; ip: that of the first */
	struct evidence_site before;	/* the last that was added: sites come in order of address and thread */
	struct evidence_site worst;	/* the site with most L1D misses, or accesses if there are none: its addresses say how */
	bool between;		/* threads that share L1D begin at addresses that are equal, to a line, modulo the bytes of its ways */
};
/* p: its names set, else zero. */
void advice_place_add(struct advice_place *p, const struct evidence_site *s, const struct core_config *core);

/* Can a rule have something to say of a line of a function of which this is the sum?  (It spares the search for lines.) */
bool advice_of_lines(const struct evidence_site *function);

struct advice_program {		/* what a rule knows of the run */
	const struct core_config *core;
	double cycles;		/* elapsed */
	double charged;		/* cycles of the exact profile, of all threads; 0: it has none */
	uint64_t n[EVIDENCE_COUNT];	/* of all places */
};

struct advice_rule {
	const char *name, *title;
	const char *advice;	/* what to do */
	bool whole;		/* asked of functions, not of lines */
	unsigned class_of;	/* at most one rule of a class other than 0 is given for a place: the first */
};
struct advice {			/* one piece */
	const struct advice_rule *rule;
	enum advice_change change;
	double share;		/* of the change's gain: this place's */
	double charged;		/* cycles that the exact profile charges for this reason; an estimate where there is no change */
	bool unmeasured;	/* neither: only a rebuild would tell */
	char evidence[320];
};
extern const struct advice_rule advice_rules[];
extern const unsigned advice_rules_count;
/* Rule number k about the place: whether there is something to say, then *out. */
bool advice_ask(unsigned k, const struct advice_place *p, const struct advice_program *of, struct advice *out);
#endif
