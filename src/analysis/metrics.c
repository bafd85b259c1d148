/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads and evaluates metrics (metrics.h).  Constants, events and metrics share one name space; a formula can
 * use what stands above it. */
#include "analysis/metrics.h"
#include "softpmu/record.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS = 9, MOST_FILE = 1 << 20, MOST_ROWS = 1024, MOST_LEVEL = 16 };
/* Indices of names in formulas. */
enum { NAME_KIND = 30, NAME_EVENT = 0, NAME_CONST = 1, NAME_METRIC = 2, NAME_INDEX = (1 << NAME_KIND) - 1 };

struct reader {
	struct metrics m;
	const struct spmu_model *model;
	const char *path;
	unsigned line;
	struct err *err;
};

static int problem(struct reader *r, const char *what, const char *name)
{
	return err_set(r->err, ERR_INPUT, "%s:%u: %s '%.60s'", r->path, r->line, what, name);
}

static void *grown(void *list, size_t count, size_t bytes)
{
	/* doubles the list when count is a power of two */
	return count & (count - 1) ? list : realloc(list, (count ? count * 2 : 1) * bytes);
}

static bool resolve(void *context, const char *name, size_t chars, unsigned *index, struct formula_unit *unit)
{
	struct reader *r = context;
#define LOOK(list, count, kind, itsunit) \
	for (size_t i = 0; i < r->m.count; i++) \
		if (strlen(r->m.list[i].name) == chars && !strncasecmp(r->m.list[i].name, name, chars)) { \
			*index = (unsigned)i | (unsigned)(kind) << NAME_KIND; \
			*unit = itsunit; \
			return true; \
		}
	LOOK(event, events, NAME_EVENT, r->m.event[i].unit)
	LOOK(constant, constants, NAME_CONST, r->m.constant[i].unit)
	LOOK(metric, metrics, NAME_METRIC, formula_unit_of(r->m.metric[i].formula))
#undef LOOK
	return false;
}

static bool known(struct reader *r, const char *name)
{
	unsigned index;
	struct formula_unit unit;
	return resolve(r, name, strlen(name), &index, &unit);
}

/* The event of a spelling; NULL: the PMU has none, or it is no event of the PMU.  name: takes its name. */
static const struct spmu_event *event_of(const struct spmu_model *model, const char *spelling, char name[128])
{
	const bool inner = !strncmp(spelling, "cpu/", 4);
	snprintf(name, 128, "%.*s", inner ? (int)strcspn(spelling + 4, ",/") : 127, inner ? spelling + 4 : spelling);
	return spmu_model_find(model, name);
}

/* Why this PMU cannot count an event; NULL: it can.  *none: out of memory. */
static char *event_refused(const struct spmu_model *model, const char *spelling, bool *none)
{
	char text[400], name[128];
	const struct spmu_event *e = event_of(model, spelling, name);
	if (!strcmp(name, "duration_time") || (e && !(e->flags & SPMU_EVENT_NOT_MODELLED)))
		return NULL;
	snprintf(text, sizeof text, "%.96s %s%.280s", name, e ? "is not modelled: " : "is not an event of this PMU",
		e ? e->not_modelled : "");
	char *copy = strdup(text);
	*none |= !copy;
	return copy;
}

static bool counts_assists(const struct spmu_model *model, const char *spelling)
{
	char name[128];
	uint64_t signal[2] = { 0, 0 };
	const struct spmu_event *e = event_of(model, spelling, name);
	if (e && !(e->flags & SPMU_EVENT_NOT_MODELLED))
		spmu_event_signals(model, e, signal);
	return signal[SPMU_SIG_FP_ASSIST >> 6] >> (SPMU_SIG_FP_ASSIST & 63) & 1;
}

/* Reads "@joins NODE OTHER". */
static int join(struct reader *r, const char *node, const char *other)
{
	struct metrics *m = &r->m;
	size_t k = metrics_find(m, node), with = metrics_find(m, other);
	if (k == SIZE_MAX || !m->metric[k].level || with == SIZE_MAX || !m->metric[with].level)
		return problem(r, "no node of the tree above this line:",
			k == SIZE_MAX || !m->metric[k].level ? node : other);
	for (int i = (int)k; i >= 0; i = m->metric[i].parent)
		if ((size_t)i == with)
			return problem(r, "a node cannot join one that it is part of:", node);
	for (int i = (int)with; i >= 0; i = m->metric[i].parent)
		if ((size_t)i == k)
			return problem(r, "a node cannot join a part of itself:", node);
	if (m->joins == METRICS_MOST_JOINS)
		return problem(r, "too many @joins, at", node);
	m->join[m->joins++] = (struct metric_join){ k, with };
	return 0;
}

/* Reads "@perf_metrics NODE 1-5". */
static int field(struct reader *r, const char *node, const char *text)
{
	struct metrics *m = &r->m;
	size_t k = metrics_find(m, node), n = strlen(text);
	bool good = n == 1 || (n == 3 && text[1] == '-' && text[2] >= '0' && text[2] <= '7');
	if (k == SIZE_MAX || !m->metric[k].level)
		return problem(r, "no node of the tree above this line:", node);
	if (!good || *text < '0' || *text > '7')
		return problem(r, "a field from 0 to 7, or two as in 1-5, was expected, at", text);
	if (m->fields == METRICS_MOST_FIELDS)
		return problem(r, "too many @perf_metrics, at", node);
	m->field[m->fields++] = (struct metric_field){ k, *text - '0', n == 3 ? text[2] - '0' : -1 };
	return 0;
}

/* Reads "@event NAME UNIT [SPELLING]", "@const NAME VALUE UNIT" and the other directives. */
static int directive(struct reader *r, char *line)
{
	char *save = NULL, *word[5] = { 0 };
	unsigned n = 0;
	for (char *w = strtok_r(line, " \t", &save); w && n < 5; w = strtok_r(NULL, " \t", &save))
		word[n++] = w;
	bool event = !strcmp(word[0], "@event") && (n == 3 || n == 4), constant = !strcmp(word[0], "@const") && n == 4;
	struct formula_unit unit;
	struct err inner = { 0 };
	if (!strcmp(word[0], "@joins") && n == 3)
		return join(r, word[1], word[2]);
	if (!strcmp(word[0], "@perf_metrics") && n == 3)
		return field(r, word[1], word[2]);
	if (!event && !constant)
		return problem(r,
			"'@event NAME UNIT [SPELLING]', '@const NAME VALUE UNIT', '@joins NODE OTHER' or "
			"'@perf_metrics NODE FIELD' was expected, at",
			word[0]);
	if (strlen(word[1]) > 90 || known(r, word[1]))
		return problem(r, "a name for the second time, or too long:", word[1]);
	if (r->m.events + r->m.constants >= MOST_ROWS)
		return problem(r, "too many names, at", word[1]);
	if (formula_unit_parse(&unit, word[event ? 2 : n - 1], &inner))
		return err_set(r->err, ERR_INPUT, "%s:%u: %s", r->path, r->line, inner.text);
	if (event) {
		bool none = false;
		struct metric_event *list = grown(r->m.event, r->m.events, sizeof *list);
		if (!list)
			return err_set(r->err, ERR_NOMEM, "out of memory");
		r->m.event = list;
		const char *spelling = word[n == 4 ? 3 : 1];
		struct metric_event *e = list + r->m.events++;
		*e = (struct metric_event){ .name = strdup(word[1]), .spelling = strdup(spelling), .unit = unit,
			.refused = event_refused(r->model, spelling, &none),
			.assists = counts_assists(r->model, spelling) };
		return e->name && e->spelling && !none ? 0 : err_set(r->err, ERR_NOMEM, "out of memory");
	}
	char *end;
	double value = strtod(word[2], &end);
	if (*end || end == word[2] || !isfinite(value))
		return problem(r, "a number was expected, at", word[2]);
	struct metric_const *list = grown(r->m.constant, r->m.constants, sizeof *list);
	if (!list)
		return err_set(r->err, ERR_NOMEM, "out of memory");
	r->m.constant = list;
	list[r->m.constants] = (struct metric_const){ .name = strdup(word[1]), .unit = unit, .value = value };
	return list[r->m.constants++].name ? 0 : err_set(r->err, ERR_NOMEM, "out of memory");
}

/* NULL for "-".  *none: out of memory. */
static char *text_of(const char *column, bool *none)
{
	if (!strcmp(column, "-"))
		return NULL;
	char *copy = strdup(column);
	*none |= !copy;
	return copy;
}

/* Refuses a metric with the reason of the first name that it lacks, "EVENT is not an event of this PMU". */
static int refuse(struct reader *r, struct metric *m)
{
	size_t names;
	const unsigned *name = formula_names(m->formula, &names);
	for (size_t i = 0; i < names && !m->refused; i++) {
		unsigned k = name[i] & NAME_INDEX, kind = name[i] >> NAME_KIND;
		const char *why = kind == NAME_EVENT ? r->m.event[k].refused
			: kind == NAME_METRIC        ? r->m.metric[k].refused
						     : NULL;
		if (why && !(m->refused = strdup(why)))
			return err_set(r->err, ERR_NOMEM, "out of memory");
	}
	return 0;
}

static int place(struct reader *r, struct metric *m, const char *parent)
{
	m->parent = -1;
	if (!strcmp(parent, "-")) {
		m->level = 1;
	} else if (*parent == ':' && parent[1]) {
		bool none = false;
		m->group = text_of(parent + 1, &none);
		if (none)
			return err_set(r->err, ERR_NOMEM, "out of memory");
	} else {
		size_t k = metrics_find(&r->m, parent);
		if (k == SIZE_MAX || !r->m.metric[k].level || r->m.metric[k].level == MOST_LEVEL)
			return problem(r, "no node of the tree above this line:", parent);
		m->parent = (int)k;
		m->level = r->m.metric[k].level + 1;
	}
	return 0;
}

static int row(struct reader *r, char *line)
{
	char *column[COLUMNS], *end;
	unsigned n = 0;
	for (char *s = line; s; n++) {
		char *tab = strchr(s, '\t');
		if (tab)
			*tab++ = 0;
		if (n < COLUMNS)
			column[n] = s;
		s = tab;
	}
	if (n != COLUMNS)
		return problem(r, "nine columns were expected, at", line);
	for (unsigned k = 0; k < COLUMNS; k++)
		if (!*column[k])
			return problem(r, "an empty column (- says none), at", column[0]);
	if (strlen(column[0]) > 60 || strcspn(column[0], " ,.(\"") < strlen(column[0]) || known(r, column[0]))
		return problem(r, "a name that is used twice, too long or invalid:", column[0]);
	struct metrics *m = &r->m;
	if (m->metrics >= MOST_ROWS)
		return problem(r, "too many metrics, at", column[0]);
	struct metric *list = grown(m->metric, m->metrics, sizeof *list);
	if (!list)
		return err_set(r->err, ERR_NOMEM, "out of memory");
	m->metric = list;
	struct metric new = { .line = r->line, .threshold = NAN }, *k = &new;
	bool none = false;
	struct err inner = { 0 };
	struct formula_unit unit;
	int rc = place(r, k, column[1]);
	const bool said = strcmp(column[3], "-");
	if (!said && !(k->refused = strdup("this PMU has no events for it")))
		rc = err_set(r->err, ERR_NOMEM, "out of memory");
	if (!rc &&
		(formula_unit_parse(&unit, column[2], &inner) ||
			formula_compile(&k->formula, said ? column[3] : "0", resolve, r, &inner)))
		rc = err_set(r->err, inner.code, "%s:%u: %s: %s", r->path, r->line, column[0], inner.text);
	if (!rc && said && !formula_unit_equal(unit, formula_unit_of(k->formula))) {
		char is[128], says[128];
		rc = err_set(r->err, ERR_INPUT, "%s:%u: %s: the formula's unit is %s, the row says %s", r->path,
			r->line, column[0], formula_unit_text(formula_unit_of(k->formula), is),
			formula_unit_text(unit, says));
	}
	if (!rc && strcmp(column[4], "-")) {
		k->alone = *column[4] == '!';
		k->threshold = strtod(column[4] + k->alone, &end);
		if (*end || end == column[4] + k->alone || !isfinite(k->threshold))
			rc = problem(r, "threshold: a number was expected, at", column[4]);
	}
	if (!rc) {
		k->name = text_of(column[0], &none);
		k->unit_text = text_of(column[2], &none);
		k->text = text_of(column[3], &none);
		k->exact = text_of(column[5], &none);
		k->sample = text_of(column[6], &none);
		k->description = text_of(column[7], &none);
		k->next = text_of(column[8], &none);
		rc = none ? err_set(r->err, ERR_NOMEM, "out of memory") : refuse(r, k);
	}
	m->metric[m->metrics++] = new;	/* metrics_free frees it, whether complete or not */
	return rc;
}

int metrics_parse(struct metrics *out, const char *path, const char *text, size_t bytes, const struct spmu_model *model,
	struct err *err)
{
	struct reader r = { .model = model, .path = path, .err = err };
	int rc = 0;
	for (size_t at = 0; at < bytes && !rc;) {
		const char *nl = memchr(text + at, '\n', bytes - at);
		size_t n = nl ? (size_t)(nl - text) - at : bytes - at;
		char *line = strndup(text + at, n);
		at += n + 1;
		r.line++;
		if (!line)
			rc = err_set(err, ERR_NOMEM, "out of memory");
		else if (strlen(line) != n)
			rc = problem(&r, "a zero byte after", line);
		else if (*line == '@')
			rc = directive(&r, line);
		else if (*line && *line != '#')
			rc = row(&r, line);
		free(line);
	}
	if (rc)
		metrics_free(&r.m);
	else
		*out = r.m;
	return rc;
}

int metrics_load(struct metrics *out, const char *path, const struct spmu_model *model, struct err *err)
{
	FILE *f = fopen(path, "re");
	if (!f)
		return err_system(err, "cannot read %s", path);
	char *text = malloc(MOST_FILE);
	size_t n = text ? fread(text, 1, MOST_FILE, f) : 0;
	int rc = 0;
	if (!text)
		rc = err_set(err, ERR_NOMEM, "out of memory");
	else if (ferror(f))
		rc = err_system(err, "cannot read %s", path);
	else if (n == MOST_FILE)
		rc = err_set(err, ERR_INPUT, "%s: the file is longer than a megabyte", path);
	fclose(f);
	if (!rc)
		rc = metrics_parse(out, path, text, n, model, err);
	free(text);
	return rc;
}

void metrics_free(struct metrics *m)
{
	for (size_t i = 0; i < m->metrics; i++) {
		struct metric *k = m->metric + i;
		char *all[] = { k->name, k->group, k->unit_text, k->text, k->exact, k->sample, k->description, k->next,
			k->refused };
		for (size_t j = 0; j < sizeof all / sizeof *all; j++)
			free(all[j]);
		formula_free(k->formula);
	}
	for (size_t i = 0; i < m->events; i++) {
		free(m->event[i].name);
		free(m->event[i].spelling);
		free(m->event[i].refused);
	}
	for (size_t i = 0; i < m->constants; i++)
		free(m->constant[i].name);
	free(m->metric);
	free(m->event);
	free(m->constant);
	*m = (struct metrics){ 0 };
}

size_t metrics_find(const struct metrics *m, const char *name)
{
	for (size_t i = 0; i < m->metrics; i++)
		if (!strcasecmp(m->metric[i].name, name))
			return i;
	return SIZE_MAX;
}

void metrics_needs(const struct metrics *m, size_t metric, bool *needed)
{
	size_t names;
	/* from last to first: a metric uses only those above it, so each is visited once */
	bool uses[MOST_ROWS] = { false };
	uses[metric] = true;
	for (size_t k = metric + 1; k-- > 0;) {
		if (!uses[k])
			continue;
		const unsigned *name = formula_names(m->metric[k].formula, &names);
		for (size_t i = 0; i < names; i++) {
			unsigned index = name[i] & NAME_INDEX;
			if (name[i] >> NAME_KIND == NAME_EVENT)
				needed[index] = true;
			else if (name[i] >> NAME_KIND == NAME_METRIC)
				uses[index] = true;
		}
	}
}

bool metrics_needs_assists(const struct metrics *m, size_t metric)
{
	bool needed[MOST_ROWS] = { false };
	metrics_needs(m, metric, needed);
	for (size_t i = 0; i < m->events; i++)
		if (needed[i] && m->event[i].assists)
			return true;
	return false;
}

struct values { const struct metrics *m; const double *count; double *value; };

static double value_of(void *context, unsigned name)
{
	const struct values *v = context;
	unsigned index = name & NAME_INDEX;
	return name >> NAME_KIND == NAME_EVENT    ? v->count[index]
		: name >> NAME_KIND == NAME_CONST ? v->m->constant[index].value
						  : v->value[index];
}

void metrics_values(const struct metrics *m, const double *count, double *value)
{
	struct values v = { m, count, value };
	for (size_t i = 0; i < m->metrics; i++)
		value[i] = m->metric[i].refused ? (double)NAN : formula_value(m->metric[i].formula, value_of, &v);
}

/* A node's share of all slots.  Below level 2 it is the node's part of the sum of its siblings, because formulas
 * there may count a cycle twice. */
static double share(const struct metrics *m, const double *value, size_t k)
{
	const struct metric *n = m->metric + k;
	double sum = 0;
	if (n->level <= 2)
		return value[k];
	for (size_t i = 0; i < m->metrics; i++)
		if (m->metric[i].level && m->metric[i].parent == n->parent && value[i] > 0)
			sum += value[i];
	return sum > 0 ? share(m, value, (size_t)n->parent) * fmax(value[k], 0) / sum : value[k];
}

bool metrics_joins(const struct metrics *m, size_t k)
{
	for (size_t j = 0; j < m->joins; j++)
		for (int i = (int)m->join[j].node; i >= 0; i = m->metric[i].parent)
			if (m->metric[k].level && m->metric[k].parent == m->metric[i].parent)
				return true;
	return false;
}

void metrics_joined(const struct metrics *m, const double *value, double *view)
{
	memcpy(view, value, m->metrics * sizeof *view);
	for (size_t j = 0; j < m->joins; j++) {
		const size_t node = m->join[j].node, with = m->join[j].with;
		const double part = share(m, value, node);
		if (isnan(part) || isnan(value[with]))
			continue;
		for (int i = (int)node; i >= 0; i = m->metric[i].parent)
			view[i] = fmax(view[i] - (m->metric[i].level > 2 ? value[node] : part), 0);
		for (int i = (int)with; i >= 0; i = m->metric[i].parent)
			view[i] += part;
	}
}

bool metrics_flagged(const struct metrics *m, const double *value, size_t k)
{
	if (isnan(m->metric[k].threshold) || !m->metric[k].level)
		return false;
	for (int i = (int)k; i >= 0; i = m->metric[i].alone ? -1 : m->metric[i].parent)
		if (!isnan(m->metric[i].threshold) && !(value[i] > m->metric[i].threshold))
			return false;
	return true;
}
