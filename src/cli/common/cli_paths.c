/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where softpmu's own files are: beside the running binary in the build tree (build/softpmu,
 * build/san/softpmu), or under PREFIX after `make install`.  The working directory never matters. */
#include "cli/cli.h"
#include "softpmu/uncore.h"
#include "softpmu/pmu.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Directory of the running binary; "." if /proc is not mounted. */
static const char *own_dir(void)
{
	static char dir[PATH_MAX];
	if (!dir[0]) {
		ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
		char *slash;
		dir[n > 0 ? n : 0] = 0;
		slash = strrchr(dir, '/');
		if (slash && slash != dir)
			*slash = 0;
		else
			strcpy(dir, slash ? "/" : ".");
	}
	return dir;
}

/* The first place that contains `witness`; if none does, the first of all, so that an error can name it. */
static const char *find(char *out, const char *const *place, size_t places, const char *witness)
{
	char path[PATH_MAX + 64];
	for (size_t i = 0; i < places; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", own_dir(), place[i], witness);
		if (access(path, F_OK) == 0) {
			snprintf(path, sizeof path, "%s/%s", own_dir(), place[i]);
			if (realpath(path, out))
				return out;
		}
	}
	snprintf(path, sizeof path, "%s/%s", own_dir(), place[0]);
	memcpy(out, path, PATH_MAX - 1);
	out[PATH_MAX - 1] = 0;
	return out;
}

const char *cli_data_dir(void)
{
	static const char *const place[] = { "../share/softpmu", "../data", "../../data" };
	static char dir[PATH_MAX];
	return dir[0] ? dir : find(dir, place, 3, "cores");
}

const char *cli_tracer_dir(void)
{
	static const char *const place[] = { "../libexec/softpmu", "libexec", "../libexec" };
	static char dir[PATH_MAX];
	return dir[0] ? dir : find(dir, place, 3, "softpmu-tracer-amd64-linux");
}

struct spmu_model *cli_model(const struct core_config *core)
{
	char path[PATH_MAX], text[512] = "";
	struct spmu_model *m = NULL;
	int n = snprintf(path, sizeof path, "%s/events/%s.tsv", cli_data_dir(), core->pmu);
	if (n < 0 || (size_t)n >= sizeof path || spmu_model_load(&m, path, text, sizeof text) != SPMU_OK) {
		cli_error("event table of %s: %s", core->name, text[0] ? text : path);
		return NULL;
	}
	return m;
}

int cli_uncore(struct spmu_uncore_model **out, const struct core_config *core)
{
	char path[PATH_MAX], text[512] = "";
	*out = NULL;
	if (!core->uncore[0] || !strcmp(core->uncore, "none"))
		return 0;
	int n = snprintf(path, sizeof path, "%s/events/uncore-%s.tsv", cli_data_dir(), core->uncore);
	if (n < 0 || (size_t)n >= sizeof path || spmu_uncore_load(out, path, text, sizeof text) != SPMU_OK) {
		cli_error("uncore event table of %s: %s", core->name, text[0] ? text : path);
		return -1;
	}
	return 0;
}
