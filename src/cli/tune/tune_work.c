/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune work: measures some configurations for a search that runs elsewhere (tune_launch.h).
 *
 * It reads a request from standard input, and prints the answer (tune_messages.h).  It makes the machine from the same
 * options as the search did, and compares its key, because a node may have another softpmu or other tables. */
#include "cli/tune/tune_commands.h"
#include "cli/tune/tune_messages.h"
#include "sweep/machines.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nobody reads the answer any more: the search has ended, or the launcher.  A launcher does not always end what it has
 * started on another machine; but then it closes this pipe. */
static int on_tick(void *context)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	(void)context;
	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP | POLLNVAL);
}

/* The machine of the request.  0, or -1 after one printed line. */
static int make(struct cli_run *run, const struct tune_request *r)
{
	const struct option_set set[] = { { cli_run_options, run }, { NULL, NULL } };
	char **word = calloc(r->options + 5, sizeof *word), key[FNV_CHARS];
	struct tune_request own = { 0 };
	struct err err = { 0 };
	int words = 0, next;
	if (!word) {
		cli_error("out of memory");
		return -1;
	}
	word[words++] = "tune work";
	for (size_t i = 0; i < r->options; i++)
		word[words++] = r->option[i];
	word[words++] = "--replay";
	word[words++] = r->stream;
	/* only the options of a run that need not lie there: paths of cores */
	if (chdir(r->folder))
		cli_warn("%s: %m", r->folder);
	cli_run_init(run);
	int rc = cli_parse(&tune_work, &(struct option_parser){ .set = set }, words, word, &next) > 0 &&
		!cli_run_finish(run, words, word, next) ? 0 : -1;
	if (!rc && (tune_request_model(&own, &err) || sweep_machine_key(&run->core, cli_data_dir(), key, &err))) {
		cli_error("%s", err.text);
		rc = -1;
	} else if (!rc && strcmp(own.model, r->model)) {
		cli_error("the search runs %s, but this node has %s", r->model, own.model);
		rc = -1;
	} else if (!rc && strcmp(key, r->machine)) {
		cli_error("the core %s differs on this node", run->core.name);
		rc = -1;
	}
	free(word);
	return rc;
}

static int measure(const struct cli_run *run, const struct tune_request *r, struct tune_machine *m, struct err *err)
{
	struct run_options o = run->run;
	struct tune_seen preset = { 0 };
	int rc = 0;
	for (size_t i = 0; i < r->count && !rc; i++)
		rc = tune_machine_set(&m[i], &run->core, r->settings[i], err);
	if (!rc && r->sample.measured) {
		o.sample = r->sample;
		o.core = &run->core;
		rc = windows_read(&preset.windows, r->seen, err);
		if (!rc)
			rc = tune_seen_replay(&o, &preset, m, (unsigned)r->count, on_tick, NULL, err);
		tune_seen_release(&preset);
		return rc;
	}
	for (size_t i = 0; i < r->count && !rc; i++)
		tune_machine_replay(&m[i], &o, on_tick, NULL);
	return rc;
}

static int work(int argc, char **argv)
{
	struct tune_request r;
	struct cli_run run;
	struct err err = { 0 };
	int next, status = 1;
	const int go = cli_options(&tune_work, NULL, NULL, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (next < argc) {
		cli_error("tune work takes no words: it reads what to do from standard input");
		return 2;
	}
	struct tune_machine *m = calloc(TUNE_AT_ONCE, sizeof *m);
	int rc = tune_request_read(&r, stdin, &err);
	if (!m)
		rc = err_set(&err, ERR_NOMEM, "out of memory for replays");
	if (!rc && !make(&run, &r)) {
		rc = measure(&run, &r, m, &err);
		status = rc || on_tick(NULL);	/* a replay that was stopped has no result */
		if (!status)
			tune_answer_write(m, r.count, stdout);
		status |= fflush(stdout) || ferror(stdout);
	}
	if (rc)
		cli_error("%s", err.text);
	tune_request_free(&r);
	free(m);
	return status;
}

const struct cli_command tune_work = {
	.name = "tune work",
	.run = work,
	.summary = "replay for a search: what tune --launch runs",
	.usage = "<REQUEST",
	.about = "Replays a recorded stream on some configurations of a machine, for a search elsewhere: softpmu tune "
		 "--launch starts it, and writes to its standard input which stream and which configurations. It "
		 "prints a line for each, and a line \"end\".",
};
