/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a search and the processes that it starts elsewhere (tune_launch.h) say to each other.
 *
 * A request is texts `name=value`, each with a NUL behind it; the first one has no `=` and says what it is, the last
 * one is "end".  It comes through standard input, because launchers such as ssh have a shell split and quote the words
 * of a command line.
 * An answer is lines, one for each of the configurations in any order, and "end":
 *   measured NUMBER COUNT... HALF     the counts of energy.h; HALF in hexadecimal (%a), so that no bit is lost
 *   failed NUMBER CODE TEXT           why it cannot be measured (err.h)
 */
#ifndef CLI_TUNE_MESSAGES_H
#define CLI_TUNE_MESSAGES_H
#include "cli/tune/tune_seen.h"
#include "run/run.h"
#include "util/fnv.h"
#include <stdio.h>

/* Most configurations of a request, and those that read a stream together here: unpacking is then a small part of what
 * each of them takes. */
enum { TUNE_AT_ONCE = 20 };

struct tune_request {
	char model[128];		/* which softpmu asks: another one must not answer */
	char machine[FNV_CHARS];	/* the key of the unchanged machine (sweep/machines.h) */
	char *folder;			/* in which softpmu was started; what the options name may lie there */
	char **option;			/* the words of the options of a run (cli_run_options) */
	size_t options;
	char *stream;
	struct run_sample sample;	/* interval, lead, measured; measured 0: timed throughout */
	char *seen;			/* sampled: the preset's cycles in its windows (windows_text); else NULL */
	char **settings;		/* "feature=level,...": "": the unchanged machine */
	size_t count;
};
/* Fills in `model`. */
int  tune_request_model(struct tune_request *r, struct err *err);
int  tune_request_write(const struct tune_request *r, FILE *to, struct err *err);
/* Reads one that another process wrote; tune_request_free frees it, also after an error. */
int  tune_request_read(struct tune_request *r, FILE *from, struct err *err);
void tune_request_free(struct tune_request *r);

/* Prints the lines and "end"; m: as many as were asked for. */
void tune_answer_write(const struct tune_machine *m, size_t count, FILE *to);
struct tune_answer { bool there; struct energy_activity activity; double half; struct err err; };
/* text: all that was printed, whatever it is.  ERR_INPUT: it is not the answer to `count` configurations, with the end
 * of a sentence that begins with "it". */
int  tune_answer_read(struct tune_answer *a, size_t count, const char *text, size_t bytes, struct err *err);
#endif
