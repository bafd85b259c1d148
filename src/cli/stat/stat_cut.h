/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat --cut: a saved stream in full detail, in pieces that are timed independently of each other (run/cut.h).
 *
 * Several runs of the stream count the pieces in turn, as many at a time as --jobs says.  Each piece has a session of
 * its own, and its counts are the difference between its two ends.  So they depend neither on the other pieces nor on
 * --jobs, and what is counted at retirement is counted once.
 */
#ifndef CLI_STAT_CUT_H
#define CLI_STAT_CUT_H
#include "cli/cli.h"
#include "session/session.h"

/* A piece's lead is a tenth of it.  The tables of docs/measured/cut-streams.md are about these. */
enum { STAT_CUT_LENGTH = 10000000, STAT_CUT_LEAST = 1000000, STAT_CUT_LEADS = 10 };

struct stat_cut {
	bool on;
	uint64_t length;	/* instructions of a piece */
	unsigned jobs;		/* pieces timed at a time */
	/* of the run: */
	uint64_t *count;	/* of each event */
	uint64_t ns;		/* the time that the thread ran */
	size_t pieces;
};

/* The value of --cut; NULL: none was given. */
int  stat_cut_parse(struct stat_cut *c, const char *value, struct err *err);
/* Options that do not go with --cut.  0, or -1 after one printed line. */
int  stat_cut_check(const struct stat_cut *c, const struct cli_run *run);
/* Runs the stream.  After an error that came later than the first piece's end, the counts are those of the pieces that
 * were timed until then.  res: of one of the runs. */
int  stat_cut_run(struct stat_cut *c, const struct cli_run *run, const struct session_options *so,
	struct run_result *res, struct err *err);
/* "less than 0.2%": how far cycles were from those of one run on such a core. */
const char *stat_cut_differs(const struct core_config *core);
void stat_cut_free(struct stat_cut *c);
#endif
