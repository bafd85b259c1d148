/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for formulas and tables of metrics (analysis/formula.h, metrics.h). The first byte chooses which.
 * Checked: the sanitizers find nothing; an error is one line, and that of a formula has a column within the text; an
 * accepted formula evaluates, twice to the same value; a metric is refused or all its events exist. */
#include "analysis/metrics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x) do { if (!(x)) abort(); } while (0)

static bool resolve(void *context, const char *name, size_t chars, unsigned *index, struct formula_unit *unit)
{
	(void)context;
	*index = (unsigned)(unsigned char)name[0];
	memset(unit, 0, sizeof *unit);
	unit->power[chars % UNIT_BASES] = 1;
	return name[0] != 'Z';
}

static double value(void *context, unsigned index)
{
	(void)context;
	return (double)index - 'M';
}

static void one_formula(const char *text)
{
	struct formula *f = NULL;
	struct err err = { 0 };
	unsigned column = 0;
	int rc = formula_compile(&f, text, resolve, NULL, &err);
	if (rc) {
		MUST(rc == ERR_INPUT && !f && !strchr(err.text, '\n'));
		MUST(sscanf(err.text, "column %u:", &column) == 1 && column >= 1 && column <= strlen(text) + 1);
		return;
	}
	double a = formula_value(f, value, NULL), b = formula_value(f, value, NULL);
	MUST(a == b || (isnan(a) && isnan(b)));
	char unit[128];
	MUST(strlen(formula_unit_text(formula_unit_of(f), unit)) < sizeof unit);
	formula_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct spmu_model *model;
	static double count[2048], v[2048];
	char text[4096];
	if (!model) {
		snprintf(text, sizeof text, "%s/events/skylake.tsv", data_dir());
		MUST(!spmu_model_load(&model, text, text, sizeof text));
		for (unsigned i = 0; i < 2048; i++)
			count[i] = i % 7;
	}
	if (!size)
		return 0;
	if (data[0] & 1) {
		size_t n = 0;
		for (size_t i = 1; i < size && n + 1 < sizeof text && data[i]; i++)
			text[n++] = data[i] == '\n' ? ' ' : (char)data[i];
		text[n] = 0;
		one_formula(text);
		return 0;
	}
	struct metrics m;
	struct err err = { 0 };
	if (metrics_parse(&m, "fuzz", (const char *)data + 1, size - 1, model, &err)) {
		MUST(!strncmp(err.text, "fuzz:", 5));
		return 0;
	}
	metrics_values(&m, count, v);
	for (size_t k = 0; k < m.metrics; k++) {
		bool needed[2048] = { false };
		metrics_needs(&m, k, needed);
		for (size_t e = 0; e < m.events; e++)
			MUST(!needed[e] || !m.event[e].refused || m.metric[k].refused);
		metrics_flagged(&m, v, k);
	}
	metrics_free(&m);
	return 0;
}
