/* SPDX-License-Identifier: GPL-2.0-or-later
 * From costs to code: which change of a program would help, and where, with the evidence and an estimate of the
 * gain.
 *
 * Each rule of a table is applied to each place: a line of source, or a function where lines are not known.
 * Rules about code layout always look at functions.  A rule looks at the evidence (evidence.h) and names a
 * change of the machine that removes the trouble.  A replay of the same trace on the changed machine shows what
 * the whole program gains; the place gets the same share of that gain as it has of the events.  So the estimate
 * is what the program would gain if the change of the code did to this place what the change of the machine did
 * to all; it is an upper bound where a change of the code cannot remove the trouble wholly.  Without a change of
 * the machine, the estimate is the cycles that the exact profile charges there for that reason, or there is
 * none.  Advice is only given from a certain share of the cycles on.
 *
 * Leaves out: irregular addresses that are known ahead (an index that is itself loaded), because a trace does
 * not show whether they are known; sets of L2 and L3.
 */
#ifndef ANALYSIS_ADVICE_RULES_H
#define ANALYSIS_ADVICE_RULES_H
#include "analysis/tune/evidence.h"
#include "core/machine/config.h"

#define ADVICE_CHANGES(X) /* of the machine */ \
	X(NONE) X(PREDICTOR) X(INDIRECT) X(BTB) X(L1I) X(ITLB) X(DSB) X(JCC) X(LCP) X(FRONT_END) X(SPLIT) X(ALIAS) \
	X(FORWARD) X(CLEAR) X(STORES) X(SNOOP) X(LOCK) X(OWN) X(SERIALIZE) X(L2) X(L3) X(MEMORY) X(PAGES) X(DIVIDE) \
	X(ASSIST) X(BLEND) X(LATENCY) X(PORTS) X(PARTIAL)
enum advice_change {
#define X(name) ADVICE_##name,
	ADVICE_CHANGES(X)
#undef X
	ADVICE_CHANGES_COUNT
};
/* Changes c and writes the changed fields into text. false with *why: the machine cannot be changed that way. */
bool advice_change(enum advice_change change, struct core_config *c, char *text, size_t bytes, const char **why);

/* How to see whether a change of the code did what the change of the machine does: a command, or what to look at. */
void advice_check(enum advice_change change, char *text, size_t bytes);

struct advice_place {		/* the sites of one place, added up */
	const char *function, *file, *dso;	/* file: "" if not known.  The caller owns the texts. */
	const char *caller, *caller_file;	/* of code from a library's header: the program's own line; "": none */
	unsigned caller_line;
	unsigned line;		/* 0: not known, or the whole function */
	bool whole;		/* the whole function */
	struct evidence_site sum;	/* sum of all sites; ip: of the first one */
	struct evidence_site before;	/* the last site that was added: sites come in order of address and thread */
	/* the site with most L1D misses (or accesses, if there are no misses); its addresses show the pattern */
	struct evidence_site worst;
	/* threads that share L1D begin at addresses that are equal, to within a line, modulo the bytes of a way */
	bool between;
	uint64_t code_lines, code_bytes;	/* of the instructions that were executed; bytes: about as many */
	uint64_t places;	/* instructions of it that were executed */
	uint64_t allocations;	/* calls of the allocator; the caller sets it */
	uint64_t string;	/* of STRING's instructions: cycles, in parts of 1 / EXACT_CYCLE */
	uint64_t kept;		/* advice_kept of the sites that restore no register; the caller sets it */
};
/* p: zero, with its names set. */
void advice_place_add(struct advice_place *p, const struct evidence_site *s, const struct core_config *core);

/* Loads of one and the same address that got what was just stored there, as of a variable in memory. */
uint64_t advice_kept(const struct evidence_site *s);

/* Whether a rule could apply to a line of a function with this sum.  This saves looking up lines. */
bool advice_of_lines(const struct evidence_site *function);

struct advice_program {		/* what a rule knows of the whole run */
	const struct core_config *core;
	double cycles;		/* elapsed */
	double charged;		/* cycles of the exact profile, of all threads; 0: there is none */
	uint64_t n[EVIDENCE_COUNT];	/* of all places */
	double part[EXACT_CAUSES];	/* cycles of the exact profile by cause */
	uint64_t lcp, merged, queued, beside;	/* evidence_lcp; evidence_site.merged, queued, beside of all places */
	uint64_t allocations;		/* calls of the allocator */
	double allocator;		/* cycles of the exact profile that are charged to its functions */
};

struct advice_rule {
	const char *name, *title;
	const char *advice;	/* what to do */
	bool whole;		/* looks at functions, not at lines */
	/* of the rules with the same nonzero class, only the first that applies to a place is given */
	unsigned class_of;
};
struct advice {			/* one piece of advice */
	const struct advice_rule *rule;
	enum advice_change change;
	double share;		/* this place's share of the change's gain */
	/* cycles that the exact profile charges for this reason; the estimate where there is no change */
	double charged;
	/* threads meet otherwise in the replay: the advice counts if either estimate does */
	bool uncertain;
	bool unmeasured;	/* there is neither estimate: only a rebuild would show the gain */
	char evidence[320];
};
extern const struct advice_rule advice_rules[];
extern const unsigned advice_rules_count;
/* Applies rule k to the place.  true: *out is the advice. */
bool advice_ask(unsigned k, const struct advice_place *p, const struct advice_program *of, struct advice *out);
#endif
