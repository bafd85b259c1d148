/* SPDX-License-Identifier: GPL-2.0-or-later
 * tune --launch: the replays of a search run in processes that a command of the user's starts, as on a cluster.
 *
 * Each is COMMAND... PATH-OF-SOFTPMU tune work, which gets a few configurations through its standard input and prints
 * what they have counted (tune_messages.h).  The figures are those of the same search without a launcher.
 * One that ends without an answer is started again.
 */
#ifndef CLI_TUNE_LAUNCH_H
#define CLI_TUNE_LAUNCH_H
#include "cli/tune/tune_messages.h"
#include "cli/tune/tune_pool.h"

enum { TUNE_LAUNCH_WORDS = 62, TUNE_LAUNCH_TRIES = 3 };
struct tune_launch {
	char *words;			/* of the command, split */
	char *word[TUNE_LAUNCH_WORDS + 4];
	struct tune_request request;	/* what is the same in all: all but `settings` and `count` */
};
/* command: as the user gave it, split into words as in util/quoted_words.h.  ERR_INPUT, ERR_NOMEM. */
int  tune_launch_create(struct tune_launch **out, const char *command, struct err *err);
/* NULL: nothing. */
void tune_launch_destroy(struct tune_launch *l);
/* Once the preset has run.  option: the options of the run as words; the caller keeps them. */
int  tune_launch_prepare(struct tune_launch *l, const struct tune_pool *p, char **option, size_t options,
	struct err *err);
/* A tune_measure of a pool whose `launch` is there. */
int  tune_launch_measure(struct tune_pool *p, struct tune_try *tries, size_t n, struct err *err);
#endif
