/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where softpmu's own files are: beside the running binary in the build tree (build/softpmu,
 * build/san/softpmu), or under PREFIX after `make install`.  The working directory never matters. */
#include "cli/cli.h"
#include "pmu/pmu_lacks.h"
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

const char *cli_self(void)
{
	static char path[PATH_MAX];
	const ssize_t n = *path ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
	return n < 0 ? "softpmu" : path;
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

/* A core that carries another core's PMU: what it cannot raise is not modelled on it.  What --set or --feature switches
 * off counts 0, as was asked; and so does what a machine has switched off that has this PMU.  A third-level cache is no
 * such switch: the Pentium 4's PMU has events for that of a Xeon MP, which has the same cores. */
static void without(struct spmu_model *m, const struct core_config *core)
{
	struct core_config *preset = calloc(1, sizeof *preset);
	struct err none = { 0 };
	if (!preset || !core->name[0] || core_config_load(preset, cli_data_dir(), core->name, &none)) {
		free(preset);
		return;
	}
	if (!preset->l3_size && !core->l3_size)
		pmu_model_lacks(m, PMU_LACKS_L3, "this core has no third-level cache (l3.size = 0); "
			"--set l3.size=N gives it one");
	if (!strcmp(preset->pmu, core->pmu) && spmu_model_core(m) && !strcmp(spmu_model_core(m), core->name)) {
		free(preset);
		return;
	}
	if (!preset->lsd_size && !core->lsd_size)
		pmu_model_lacks(m, PMU_LACKS_LOOP_BUFFER, "this core has no loop buffer (lsd.size = 0); "
			"--set lsd.size=N gives it one of N slots");
	if (!preset->mite_lcp_penalty && !core->mite_lcp_penalty)
		pmu_model_lacks(m, PMU_LACKS_LCP, "no length-changing prefix stalls this core (mite.lcp_penalty = 0)");
	if (!preset->fp_assist && !core->fp_assist)
		pmu_model_lacks(m, PMU_LACKS_FP_ASSISTS, "this core needs no assist for denormal numbers "
			"(assist.fp = none)");
	if (!preset->l1d_split_registers && !core->l1d_split_registers)
		pmu_model_lacks(m, PMU_LACKS_SPLIT_REGISTERS, "no access waits for a split register on this core "
			"(l1d.split_registers = 0)");
	if (!preset->hle && !core->hle)
		pmu_model_lacks(m, PMU_LACKS_ELISION, "this core elides no locks (hle = 0); "
			"--set hle=1 makes it do so");
	if (strcmp(preset->cpuid_vendor, "GenuineIntel"))
		pmu_model_lacks(m, PMU_LACKS_FP_PORTS, "this core does floating-point arithmetic on other ports than "
			"the event counts");
	free(preset);
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
	without(m, core);
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
