/* SPDX-License-Identifier: GPL-2.0-or-later
 * Event tables for the fuzzers of the PMUs.  The fuzzer allows an input one second of wall-clock time.  On a busy host,
 * loading 15 tables under the sanitizers takes longer.  So LLVMFuzzerInitialize loads them, not the first input. */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H
#include <softpmu/pmu.h>
#include <stdio.h>
#include <stdlib.h>
#include "data_dir.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The model of data/events/<name>.tsv; it lives as long as the process.  Ends the process where it cannot be loaded. */
static inline struct spmu_model *load_model(const char *name)
{
	struct spmu_model *m;
	char path[512], text[300];
	snprintf(path, sizeof path, "%s/events/%s.tsv", data_dir(), name);
	if (spmu_model_load(&m, path, text, sizeof text)) {
		fprintf(stderr, "%s\n", text);
		exit(1);
	}
	return m;
}
#endif
