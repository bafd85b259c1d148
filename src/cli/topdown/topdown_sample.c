/* SPDX-License-Identifier: GPL-2.0-or-later
 * From the tree to the instructions (topdown_sample.h): `record` and `annotate` on the stream that was kept. */
#include "cli/cli.h"
#include "cli/topdown/topdown_sample.h"
#include "output/annotate.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 2000 };				/* wanted */
enum { FUNCTIONS = 3, INSTRUCTIONS = 5 };	/* shown */

extern const struct cli_command cmd_record;

bool topdown_sample_folder(char *path, unsigned bytes)
{
	const char *in = getenv("TMPDIR");
	if (snprintf(path, bytes, "%s/softpmu-XXXXXX", in && *in ? in : "/tmp") < (int)bytes && mkdtemp(path))
		return true;
	cli_error("--hottest keeps the run's stream: cannot make a folder for it in %s: %s", in && *in ? in : "/tmp",
		strerror(errno));
	*path = 0;
	return false;
}

void topdown_sample_remove(const char *folder, const char *stream)
{
	if (*folder) {
		unlink(stream);
		rmdir(folder);
	}
}

struct hot { const struct annotate_symbol *in; const struct annotate_hit *hit; };

static int hotter(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	if (x->hit->period != y->hit->period)
		return x->hit->period > y->hit->period ? -1 : 1;
	return x->hit->address < y->hit->address ? -1 : x->hit->address > y->hit->address;
}

/* Prints the hottest instructions of all functions, with their source lines. */
static int print_hottest(FILE *out, const struct annotate_event *e)
{
	size_t n = 0;
	for (size_t k = 0; k < e->symbols; k++)
		n += e->symbol[k].hits;
	struct hot *all = malloc((n + 1) * sizeof *all);
	if (!all) {
		cli_error("out of memory");
		return -1;
	}
	n = 0;
	for (size_t k = 0; k < e->symbols; k++)
		for (size_t i = 0; i < e->symbol[k].hits; i++)
			all[n++] = (struct hot){ &e->symbol[k], &e->symbol[k].hit[i] };
	qsort(all, n, sizeof *all, hotter);
	for (size_t i = 0; i < n && i < INSTRUCTIONS; i++) {
		struct symbols_line line;
		const struct symbol *s = all[i].in->symbol;
		fprintf(out, " %5.1f%%  %s+0x%" PRIx64,
			100 * (double)all[i].hit->period / (double)(e->period ? e->period : 1), s->name,
			all[i].hit->address - s->start);
		if (all[i].in->file && symfile_lines(all[i].in->file, all[i].hit->address, &line, 1) && *line.file)
			fprintf(out, "  %s:%u", strrchr(line.file, '/') ? strrchr(line.file, '/') + 1 : line.file,
				line.line);
		fprintf(out, "  [%s]\n", all[i].in->dso);
	}
	free(all);
	return 0;
}

static int show(FILE *out, const char *path)
{
	struct perfdata_file *file;
	struct annotate *a;
	struct err err = { 0 };
	const struct annotate_options how = { 0 };
	if (cli_open_data(&file, path))
		return -1;
	if (annotate_load(&a, file, &err)) {
		cli_error("%s", err.text);
		perfdata_close(file);
		return -1;
	}
	int rc = 0;
	const struct annotate_event *e = a->events ? a->event : NULL;
	if (!e || !e->samples) {
		cli_error("%s holds no sample", path);
		rc = -1;
	} else if (!e->symbols) {
		cli_error("%s: no sample hit a function that has a symbol", path);
		rc = -1;
	} else {
		fprintf(out, "\n %" PRIu64 " samples of %s in %s; the hottest instructions:\n", e->samples,
			e->info->name, path);
		rc = print_hottest(out, e);
		for (size_t k = 0, shown = 0; !rc && k < e->symbols && shown < FUNCTIONS; k++) {
			if (shown && e->symbol[k].period < e->period / 10)
				break;
			fputc('\n', out);
			shown += annotate_print(out, e, &e->symbol[k], &how, &err) == 0;
		}
	}
	annotate_free(a);
	perfdata_close(file);
	return rc;
}

int topdown_sample(FILE *out, const struct topdown_sample *s)
{
	char period[32];
	const char **argv = calloc(s->count_words + 16, sizeof *argv);
	unsigned n = 0;
	if (!argv) {
		cli_error("out of memory");
		return -1;
	}
	argv[n++] = "record";
	for (unsigned k = 0; k < s->count_words; k++)
		argv[n++] = s->words[k];
	argv[n++] = "--replay";
	argv[n++] = s->stream;
	argv[n++] = "-e";
	argv[n++] = s->event;
	argv[n++] = "-o";
	argv[n++] = s->file;
	if (s->count) {
		/* an odd period is no multiple of the number of events in a loop */
		snprintf(period, sizeof period, "%" PRIu64, s->count / SAMPLES | 1);
		argv[n++] = "-c";
		argv[n++] = period;
	}
	/* record does not change its arguments */
	int status = cmd_record.run((int)n, (char **)argv);
	free(argv);
	return status ? -1 : show(out, s->file);
}
