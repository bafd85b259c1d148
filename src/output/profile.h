/* SPDX-License-Identifier: GPL-2.0-or-later
 * A profile: the samples of a perf.data file added up by sort keys.
 *
 * Percentages are 100 * part / whole of the periods, as in perf: `self` or `total` of the event's `period`.
 */
#ifndef OUTPUT_PROFILE_H
#define OUTPUT_PROFILE_H
#include "analysis/cost/spread.h"
#include "output/perfdata/perfdata.h"
#include "symbols/symbols.h"
#include "util/texts.h"

enum profile_key {
	PROFILE_COMM, PROFILE_DSO, PROFILE_SYMBOL, PROFILE_SRCLINE, PROFILE_PID, PROFILE_TID, PROFILE_CPU,
	/* delays of the sampled instructions: columns only, they do not split entries */
	PROFILE_PUSHOUT, PROFILE_PUSHOUT_MEDIAN, PROFILE_PUSHOUT_SHARE,
	/* of branch stacks (profile_options.branches) */
	PROFILE_DSO_FROM, PROFILE_SYMBOL_FROM, PROFILE_DSO_TO, PROFILE_SYMBOL_TO, PROFILE_MISPREDICT, PROFILE_CYCLES,
	PROFILE_KEYS
};

/* Which samples count.  Lists are words between commas; NULL: all. */
struct profile_filter {
	const char *comms, *pids, *tids, *cpus;	/* of the sample */
	const char *dsos, *symbols;		/* of an entry: each function of a call chain passes by itself */
	const char *part;			/* a part of the symbol's name */
	uint64_t from, until;			/* of the sample's time, in ns; until 0: no end */
	bool resolved;				/* only entries with a symbol */
	bool relative;				/* percentages are of what passes, not of the whole file */
};
struct profile_options {
	enum profile_key key[PROFILE_KEYS];
	size_t keys;
	/* Count every branch of the branch stacks, with period 1 as in perf, instead of the samples; the other keys
	 * are then those of the branch's target. */
	bool branches;
	bool chains;		/* collect call chains where the file has them */
	bool trees;		/* build call trees from them */
	bool full_paths;	/* source lines have the whole path of their file */
	bool inlines;		/* call chains have the inlined functions, too */
	/* Frames of a chain that are read, inlined ones apart, in the order of the trees; 0: all. */
	size_t max_stack;
	bool children;		/* a function's total includes what it called (needs chains) */
	bool by_self;		/* sort by `self` even with children */
	bool caller_first;	/* call trees from the outermost caller down, else from the sampled function up */
	struct profile_filter filter;
	double chain_percent;	/* call trees omit branches below this share of the whole */
};

struct profile_node {		/* of a call tree */
	const struct symbols_object *object;
	const struct symbol *symbol;
	uint64_t ip;		/* if there is no symbol */
	uint64_t hit, total;	/* periods of the chains that end here, and of those that end here or below */
	struct profile_node *child, *next;	/* sorted as printed, after profile_load */
	unsigned children;	/* their number before chain_percent applied */
};
/* An end of a branch. */
struct profile_end { const char *dso; const struct symbol *symbol; uint64_t address; char level; };
struct profile_entry {
	struct profile_end from, to;
	enum { PROFILE_PREDICTION_UNKNOWN, PROFILE_PREDICTED, PROFILE_MISPREDICTED } prediction;
	unsigned cycles;	/* since the branch before; 0: unknown */
	const char *comm, *dso, *path, *srcline;
	const struct symbol *symbol;
	uint64_t address;	/* of the first sample */
	uint32_t pid, tid, cpu;
	char level;		/* '.' user, 'k' kernel */
	uint64_t self, total, samples;	/* self, total: periods; samples: number of samples in `self` */
	/* The cycles that the samples in `self` stand for: the sum of pushout times period (retire latency for other
	 * events). */
	uint64_t pushed;
	struct spread *pushouts;	/* distribution of the pushouts; NULL: none, or no such key */
	size_t depth;			/* deepest call chain */
	struct profile_node *tree;	/* root of its call tree; NULL without chains */
};
struct profile_event {
	const struct perfdata_event_info *info;
	bool chains, children;	/* requested, and the file has them */
	uint64_t samples, period, pushed;
	bool pushouts;		/* samples have them */
	struct profile_entry *entry;	/* in printing order */
	size_t entries;
	/* private */
	size_t room, *slot, slots;
};
struct profile_read { uint32_t pid, tid; size_t event; uint64_t count; };	/* what a thread counted */
struct profile {
	struct profile_event *event;
	size_t events;
	uint64_t lost;
	struct profile_read *read;
	size_t reads;
	struct symbols *symbols;
	/* private */
	struct profile_options options;
	struct perfdata_file *file;
	struct texts texts;
	struct profile_thread *thread;
	size_t threads, read_room;
	struct profile_chunk *chunks;
};

/* Is this a column of pushouts, which does not split entries? */
static inline bool profile_is_pushout(enum profile_key k) { return k >= PROFILE_PUSHOUT && k <= PROFILE_PUSHOUT_SHARE; }
/* Is it a pushout counter, whose samples' weights are pushouts? */
bool profile_counts_pushouts(const struct perfdata_event_info *e);
/* Frees everything that an event holds. */
void profile_release_event(struct profile_event *e);
/* Replays the file's records.  The file must outlive the profile. */
int  profile_load(struct profile **out, struct perfdata_file *file, const struct profile_options *o, struct err *err);
void profile_free(struct profile *p);

/* For annotate and pages: `sample` is called for every sample, with the place that it hit, while mappings are
 * tracked. */
struct profile_visit {
	void *context;
	int (*sample)(void *context, const struct perfdata_record *r, const struct symbols_place *place,
		const char *comm);
};
int  profile_walk(struct profile *p, const struct profile_visit *v, struct err *err);
/* Creates an empty profile for profile_walk. */
int  profile_open(struct profile **out, struct perfdata_file *file, const struct profile_options *o, struct err *err);
/* For `sample` of a visit: writes the frames of the record's call chain in the order of the trees, the inlined
 * functions among them as options.inlines says.  Returns their number; 0: no chain, or a damaged one. */
struct profile_frame { struct symbols_place place; uint64_t ip; char level; };
enum { PROFILE_FRAMES_MAX = 4 * PERFDATA_CHAIN_MAX };
size_t profile_chain(struct profile *p, const struct perfdata_record *r, struct profile_frame out[PROFILE_FRAMES_MAX]);

/* ---- printing (report.c) ---- */
#include "util/terminal.h"
#include <stdio.h>
struct report_options {
	const char *file_name;
	const struct terminal *terminal;	/* NULL: a file or a pipe */
	double percent_limit;
	bool only_self;		/* one column of percentages even with children */
	bool counts;		/* a column with the number of samples */
	bool print_chains;
	const char *filtered;	/* lines about filters, above the tables; NULL: none */
	bool totals;		/* a column with the periods */
	bool quiet;		/* no headings */
	bool mangled;		/* names as in the file */
	bool threads;		/* what each thread counted, behind the tables */
	bool hierarchy;		/* an entry for each key, below that of the key before */
	bool skip_empty;	/* no tables without samples */
	const char *separator;	/* between columns, without padding; NULL: a table */
	const char *widths;	/* "W,W,...": of the columns, the percentages first; NULL: as wide as their text */
	bool sort_starts_with_symbol;	/* then, as in perf, a tree does not repeat the entry's own name */
};
void report_stdio(FILE *to, const struct profile *p, const struct report_options *o);
void report_json(FILE *to, const struct profile *p, const struct report_options *o);
#endif
