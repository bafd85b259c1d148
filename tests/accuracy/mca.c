/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs llvm-mca on the sequences of skylake-throughput. A block has four copies of a sequence, so llvm-mca sees the
 * repetition that was measured. One run of the tool takes all blocks. */
#include "accuracy.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPIES = 4, ITERATIONS = 1000 };

static bool installed(void)
{
	FILE *p = popen("command -v llvm-mca-19", "r");
	char line[256];
	bool found = p && fgets(line, sizeof line, p);
	return p && pclose(p) == 0 && found;
}

static int read_answer(struct rows *r, FILE *from)
{
	char *line = NULL;
	size_t room = 0, at = r->n;
	while (getline(&line, &room, from) > 0) {
		const char *region = strstr(line, "Code Region - r");
		unsigned long cycles;
		if (region)
			at = strtoul(region + strlen("Code Region - r"), NULL, 10);
		else if (sscanf(line, "Total Cycles: %lu", &cycles) == 1 && at < r->n)
			r->row[at].other = (double)cycles / ITERATIONS / COPIES;
	}
	free(line);
	return 0;
}

int mca_run(struct rows *r, const char *cpu, struct err *err)
{
	char path[] = "/tmp/softpmu-mca-XXXXXX", command[256];
	if (!installed())
		return err_set(err, ERR_UNSUPPORTED, "llvm-mca-19 (package llvm-19) is not installed");
	int fd = mkstemp(path), rc = 0;
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!to)
		return err_system(err, "%s", path);
	fputs(".intel_syntax noprefix\n", to);
	for (size_t i = 0; i < r->n; i++) {
		unsigned length = 1;
		for (const char *p = r->row[i].name; *p; p++)
			length += *p == '|';
		fprintf(to, "# LLVM-MCA-BEGIN r%zu\n", i);
		template_render(to, r->row[i].name, COPIES * length);
		fputs("# LLVM-MCA-END\n", to);
	}
	if (fclose(to)) {
		rc = err_system(err, "%s", path);
	} else {
		snprintf(command, sizeof command,
			"llvm-mca-19 -mtriple=x86_64 -mcpu=%s -iterations=%d -instruction-info=0 -resource-pressure=0 "
			"%s 2>/dev/null",
		         cpu, ITERATIONS, path);
		FILE *from = popen(command, "r");
		if (!from)
			rc = err_system(err, "llvm-mca-19");
		else {
			read_answer(r, from);
			if (pclose(from))
				rc = err_set(err, ERR_SYSTEM, "llvm-mca-19 failed");
		}
	}
	unlink(path);
	return rc;
}
