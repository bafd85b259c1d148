/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes the machines of a plan (machines.h). */
#include "sweep/machines.h"
#include "core/core.h"
#include "core/machine/features.h"
#include "util/grow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one machine ---- */

int sweep_machine_config(struct core_config *config, const char *data_dir, const char *core,
	const struct plan_setting *setting, size_t settings, struct err *err)
{
	struct core_features features;
	char text[512];
	bool any = false;
	int rc = core_config_load(config, data_dir, core, err);
	for (size_t i = 0; i < settings && !rc; i++) {
		any |= setting[i].feature;
		if (setting[i].feature)
			continue;
		snprintf(text, sizeof text, "%.200s=%.200s", setting[i].field, setting[i].level);
		rc = core_config_set(config, text, err);
	}
	if (!rc)
		rc = core_config_check(config, err);
	if (rc || !any)
		return rc;
	core_features_init(&features, config);
	for (size_t i = 0; i < settings && !rc; i++) {
		snprintf(text, sizeof text, "%.200s=%.200s", setting[i].field, setting[i].level);
		rc = setting[i].feature ? core_features_set(&features, text, err) : 0;
	}
	if (!rc)
		core_features_config(&features, config);
	return rc;
}

static int add_table(struct fnv *f, const char *data_dir, const char *folder, const char *name, struct err *err)
{
	char path[4096];
	if (strchr(name, '/'))
		snprintf(path, sizeof path, "%s", name);
	else if (snprintf(path, sizeof path, "%s/%s/%s.tsv", data_dir, folder, name) >= (int)sizeof path)
		return err_set(err, ERR_INPUT, "the name of the folder %.100s... is too long", data_dir);
	return fnv_file(f, path, err);
}

int sweep_machine_key(const struct core_config *config, const char *data_dir, char key[FNV_CHARS], struct err *err)
{
	struct core_config c = *config;
	struct fnv f;
	/* whoever calls it by another name has the same machine */
	snprintf(c.name, sizeof c.name, "machine");
	snprintf(c.title, sizeof c.title, "machine");
	char *text = core_config_print(&c, false);
	if (!text)
		return err_set(err, ERR_NOMEM, "out of memory");
	fnv_init(&f);
	fnv_text(&f, text);
	free(text);
	int rc = add_table(&f, data_dir, "uops", c.uops, err);
	if (!rc)
		rc = add_table(&f, data_dir, "events", c.pmu, err);
	if (!rc)
		rc = add_table(&f, data_dir, "energy", c.energy, err);
	fnv_hex(&f, key);
	return rc;
}

static char *name_of(const struct sweep_machine *m)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	if (!to)
		return NULL;
	fputs(m->core, to);
	for (size_t i = 0; i < m->settings; i++)
		fprintf(to, " %s=%s", m->setting[i].field, m->setting[i].level);
	return fclose(to) ? NULL : text;
}

/* Equal ones in the plan's order. */
static int by_key(const void *a, const void *b)
{
	const struct sweep_machine *const *x = a, *const *y = b;
	const int order = strcmp((*x)->key, (*y)->key);
	return order ? order : *x < *y ? -1 : 1;
}

static int add(struct sweep_machines *m, struct sweep_machine *one, const char *name, const char *data_dir,
	struct err *err)
{
	struct core_config config;
	struct err why = { 0 };
	struct sweep_machine *grown = grow_array(m->machine, m->machines, &m->room, 32, sizeof *grown);
	if (!grown || !(one->name = name ? strdup(name) : name_of(one))) {
		m->machine = grown ? grown : m->machine;
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	m->machine = grown;
	int rc = sweep_machine_config(&config, data_dir, one->core, one->setting, one->settings, &why);
	if (!rc)
		rc = sweep_machine_key(&config, data_dir, one->key, &why);
	if (rc) {
		char where[32] = "";
		if (one->line)
			snprintf(where, sizeof where, "line %u: ", one->line);
		err_set(err, rc, "%smachine '%.300s': %.600s", where, one->name, why.text);
		free(one->name);
		return rc;
	}
	one->ghz = config.frequency_ghz;
	grown[m->machines++] = *one;
	return 0;
}

/* ---- the hypercube ---- */

/* Source: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* part[i]: which part of the range point i has. */
static void shuffle(size_t *part, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		part[i] = i;
	for (size_t i = n; i > 1; i--) {
		const size_t k = (size_t)((unsigned __int128)next(state) * i >> 64), kept = part[i - 1];
		part[i - 1] = part[k];
		part[k] = kept;
	}
}

/* The factor's level in that part; *level: as struct sweep_machine has it. */
static const char *drawn(struct sweep_machines *m, const struct plan_factor *f, size_t part, size_t parts,
	double *level)
{
	if (f->levels) {
		const size_t at = part * f->levels / parts;
		*level = (double)at;
		return f->level[at];
	}
	*level = ((double)part + 0.5) / (double)parts;
	char *text = plan_keep(&m->texts, 32);
	if (text)
		snprintf(text, 32, "%.0f", f->from + (f->to - f->from) * *level);
	return text;
}

/* ---- all ---- */

struct making {
	struct sweep_machines *m;
	const struct plan *p;
	const char *data_dir;
	size_t *part;		/* of each drawn factor in turn, plan.draws parts */
};

/* The machine of this core, these levels of the grid, and this point of the hypercube. */
static int one_of_grid(struct making *g, size_t core, const size_t *level, size_t point, struct err *err)
{
	const struct plan *p = g->p;
	struct sweep_machine one = { .core = p->core[core], .core_level = (int)core };
	one.setting = plan_keep(&g->m->texts, p->factors * sizeof *one.setting);
	one.level = plan_keep(&g->m->texts, p->factors * sizeof *one.level);
	if (!one.setting || !one.level)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0, d = 0; i < p->factors; i++) {
		const struct plan_factor *f = p->factor + i;
		one.level[i] = (double)level[i];
		const char *text = f->drawn ? drawn(g->m, f, g->part[d++ * p->draws + point], p->draws, one.level + i)
			: f->level[level[i]];
		if (!text)
			return err_set(err, ERR_NOMEM, "out of memory");
		one.setting[one.settings++] = (struct plan_setting){ f->field, text, f->feature };
	}
	return add(g->m, &one, NULL, g->data_dir, err);
}

static int grid(struct making *g, struct err *err)
{
	const struct plan *p = g->p;
	size_t level[PLAN_FACTORS], all = p->cores;
	for (size_t i = 0; i < p->factors; i++)
		all *= p->factor[i].drawn || all > PLAN_MACHINES ? 1 : p->factor[i].levels;
	if (all > PLAN_MACHINES || all * (p->draws ? p->draws : 1) > PLAN_MACHINES)
		return err_set(err, ERR_INPUT, "the plan has more than %d machines", PLAN_MACHINES);
	for (size_t core = 0; core < p->cores; core++) {
		memset(level, 0, sizeof level);
		for (bool more = true; more;) {
			for (size_t point = 0; point < (p->draws ? p->draws : 1); point++) {
				const int rc = one_of_grid(g, core, level, point, err);
				if (rc)
					return rc;
			}
			more = false;	/* the last factor changes fastest */
			for (size_t i = p->factors; i-- > 0 && !more;)
				if (!p->factor[i].drawn && (more = ++level[i] < p->factor[i].levels))
					break;
				else if (!p->factor[i].drawn)
					level[i] = 0;
		}
	}
	return 0;
}

static int named(struct making *g, struct err *err)
{
	for (size_t i = 0; i < g->p->machines; i++) {
		const struct plan_machine *n = g->p->machine + i;
		struct sweep_machine one = { .core = n->core, .setting = n->setting, .settings = n->settings,
			.core_level = -1, .line = n->line };
		int rc;
		if (!(one.level = plan_keep(&g->m->texts, (g->p->factors + 1) * sizeof *one.level)))
			return err_set(err, ERR_NOMEM, "out of memory");
		for (size_t k = 0; k < g->p->factors; k++)
			one.level[k] = -1;
		if ((rc = add(g->m, &one, n->name, g->data_dir, err)))
			return rc;
	}
	return 0;
}

/* Of machines with one key the first stays. */
static int once(struct sweep_machines *m, struct err *err)
{
	struct sweep_machine **sorted = calloc(m->machines + 1, sizeof *sorted);
	size_t kept = 0;
	if (!sorted)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < m->machines; i++)
		sorted[i] = m->machine + i;
	qsort(sorted, m->machines, sizeof *sorted, by_key);
	for (size_t i = m->machines; i-- > 1;)
		if (!strcmp(sorted[i]->key, sorted[i - 1]->key)) {
			free(sorted[i]->name);
			sorted[i]->name = NULL;
		}
	free(sorted);
	for (size_t i = 0; i < m->machines; i++)
		if (m->machine[i].name)
			m->machine[kept++] = m->machine[i];
	m->machines = kept;
	return 0;
}

int sweep_machines_make(struct sweep_machines *m, const struct plan *p, const char *data_dir, struct err *err)
{
	struct making g = { m, p, data_dir, NULL };
	uint64_t state = p->seed;
	size_t drawn = 0;
	*m = (struct sweep_machines){ 0 };
	for (size_t i = 0; i < p->factors; i++)
		drawn += p->factor[i].drawn;
	g.part = calloc(drawn * p->draws + 1, sizeof *g.part);
	if (!g.part)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < drawn; i++)
		shuffle(g.part + i * p->draws, p->draws, &state);
	int rc = grid(&g, err);
	if (!rc)
		rc = named(&g, err);
	if (!rc)
		rc = once(m, err);
	free(g.part);
	return rc;
}

static struct spmu_record *no_records(void *context, const struct spmu_batch *batch)
{
	(void)context, (void)batch;
	return NULL;
}

int sweep_machines_try(const struct sweep_machines *m, const char *data_dir, struct err *err)
{
	for (size_t i = 0; i < m->machines; i++) {
		const struct sweep_machine *one = m->machine + i;
		struct core_config config;
		struct machine *machine = NULL;
		struct core *core = NULL;
		struct err why = { 0 };
		int rc = sweep_machine_config(&config, data_dir, one->core, one->setting, one->settings, &why);
		rc = rc ? rc : machine_create(&machine, &config, &why);
		rc = rc ? rc : core_create(&core, machine, no_records, NULL, &why);
		core_destroy(core);
		machine_destroy(machine);
		if (rc)
			return err_set(err, rc, "machine '%.300s': %.600s", one->name, why.text);
	}
	return 0;
}

void sweep_machines_free(struct sweep_machines *m)
{
	for (size_t i = 0; i < m->machines; i++)
		free(m->machine[i].name);
	free(m->machine);
	plan_free(&m->texts);
	*m = (struct sweep_machines){ 0 };
}
