/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for what softpmu sweep reads: plans, lines of tasks, result files.  The first byte chooses which.
 * Checked: the sanitizers find nothing; an error is one line, and that of a plan names a line; a task that is taken is
 * written and read as the same task. */
#include "sweep/sweep_task.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void one_plan(const char *text, size_t bytes)
{
	struct plan p;
	struct err err = { 0 };
	const int rc = plan_parse(&p, text, bytes, "plan", &err);
	MUST(!rc || (rc == ERR_INPUT && !strchr(err.text, '\n') && !strncmp(err.text, "plan", 4)));
	MUST(rc || (p.programs && (p.cores || p.machines) && p.objective));
	for (size_t i = 0; i < p.factors && !rc; i++)
		MUST(p.factor[i].levels ? p.factor[i].levels <= PLAN_LEVELS : p.factor[i].from < p.factor[i].to);
	plan_free(&p);
}

static void one_task(char *line)
{
	struct plan texts = { 0 };
	struct sweep_task t, again;
	struct err err = { 0 };
	if (!sweep_task_read(&t, line, &texts, &err)) {
		char *text = NULL;
		size_t bytes;
		FILE *to = open_memstream(&text, &bytes);
		sweep_task_write(to, &t);
		fclose(to);
		text[bytes - 1] = 0;
		MUST(!strchr(text, '\n') && !sweep_task_read(&again, text, &texts, &err));
		MUST(again.trace == t.trace && !strcmp(again.key, t.key) && again.settings == t.settings);
		free(text);
	} else {
		MUST(!strchr(err.text, '\n'));
	}
	plan_free(&texts);
}

static void one_result(const char *text, size_t bytes)
{
	char path[] = "/tmp/fuzz-sweep-XXXXXX";
	struct sweep_result r;
	struct err err = { 0 };
	const int fd = mkstemp(path);
	MUST(fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes);
	close(fd);
	if (!sweep_result_read(&r, path, &err)) {
		MUST(r.values <= TASK_VALUES && *r.key);
		free(r.value);
	} else {
		MUST(!strchr(err.text, '\n'));
	}
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	char *text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (*data % 8 == 0)
		one_result(text, size - 1);
	else if (*data % 2)
		one_plan(text, size - 1);
	else
		one_task(text);
	free(text);
	return 0;
}
