/* SPDX-License-Identifier: GPL-2.0-or-later
 * One run of a benchmark (gate_run.h). */
#include "cli/gate/gate_run.h"
#include "cli/common/cli_symbols.h"
#include "cli/gate/gate_surroundings.h"
#include "output/exact_record.h"
#include "softpmu/client.h"
#include "store/program_key.h"
#include "symbols/symbols.h"
#include "util/grow.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The exact profile of a thread, inside a region or everywhere. */
struct part {
	const struct run_thread *run;
	uint32_t pid;
	char *region;		/* NULL: everywhere */
	uint64_t depth;		/* open markers */
	struct exact *exact;
};

/* A function's sum, in parts of cycles (EXACT_CYCLE). */
struct sum { char *key, *region; uint64_t parts, instructions; };

struct gating {
	struct session *session;
	const struct gate_work *work;
	struct symbols *symbols;
	struct gate_objects objects;
	uint64_t time;
	struct part *part;
	size_t parts, part_room;
	struct sum *sum;	/* by region, then key */
	size_t sums, sum_room;
	uint32_t pid;		/* of the part that is being taken */
	const char *region;
	int failed;
};

/* ---- functions ------------------------------------------------------------------------------------------- */

static int compare_sum(const struct sum *s, const char *region, const char *key)
{
	const int by_region = strcmp(s->region, region);
	return by_region ? by_region : strcmp(s->key, key);
}

static struct sum *sum_of(struct gating *g, const char *region, const char *key)
{
	size_t low = 0, high = g->sums;
	while (low < high) {
		const size_t at = low + (high - low) / 2;
		if (compare_sum(g->sum + at, region, key) < 0)
			low = at + 1;
		else
			high = at;
	}
	if (low < g->sums && !compare_sum(g->sum + low, region, key))
		return g->sum + low;
	struct sum *grown = grow_array(g->sum, g->sums, &g->sum_room, 64, sizeof *grown);
	if (!grown)
		return NULL;
	g->sum = grown;
	struct sum new = { .key = strdup(key), .region = strdup(region) };
	if (!new.key || !new.region) {
		free(new.key);
		free(new.region);
		return NULL;
	}
	memmove(grown + low + 1, grown + low, (g->sums - low) * sizeof *grown);
	grown[low] = new;
	g->sums++;
	return grown + low;
}

static int take_entry(void *context, const struct exact_entry *e)
{
	struct gating *g = context;
	struct symbols_place at;
	char *key = NULL;
	uint64_t parts = 0;
	for (unsigned i = 0; i < EXACT_CAUSES; i++)
		parts += e->part[i];
	if (!parts && !e->instructions)
		return 0;
	symbols_resolve(g->symbols, g->pid, e->ip, UINT64_MAX, &at);
	if (asprintf(&key, "%s [%s]", at.symbol ? at.symbol->name : "(no symbol)", at.dso) < 0)
		return ERR_NOMEM;
	struct sum *s = sum_of(g, g->region, key);
	free(key);
	if (!s)
		return ERR_NOMEM;
	s->parts += parts;
	s->instructions += e->instructions;
	return 0;
}

/* Adds what the part has so far to the functions. */
static int take_part(struct gating *g, struct part *p)
{
	g->pid = p->pid;
	g->region = p->region ? p->region : "";
	const int rc = exact_take(p->exact, take_entry, g);
	return exact_failed(p->exact) ? ERR_NOMEM : rc;
}

static struct part *part_add(struct gating *g, const struct run_thread *t, const char *region)
{
	struct part *grown = grow_array(g->part, g->parts, &g->part_room, 8, sizeof *grown);
	if (!grown)
		return NULL;
	g->part = grown;
	struct part *p = grown + g->parts;
	*p = (struct part){ .run = t, .pid = t->pid, .region = region ? strdup(region) : NULL,
		.exact = exact_create(0) };
	if (!p->exact || (region && !p->region)) {
		exact_destroy(p->exact);
		free(p->region);
		return NULL;
	}
	g->parts++;
	return p;
}

static void part_end(struct gating *g, size_t i)
{
	struct part *p = g->part + i;
	const int rc = take_part(g, p);
	g->failed = g->failed ? g->failed : rc;
	exact_destroy(p->exact);
	free(p->region);
	*p = g->part[--g->parts];
}

/* ---- the run --------------------------------------------------------------------------------------------- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct gating *g = context;
	if (!g->work->regions && !part_add(g, t, NULL))
		return err_set(err, ERR_NOMEM, "out of memory");
	return session_thread_start(g->session, t, err);
}

static void on_end(void *context, struct run_thread *t)
{
	struct gating *g = context;
	for (size_t i = g->parts; i-- > 0;)
		if (g->part[i].run == t)
			part_end(g, i);
	session_thread_end(g->session, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct gating *g = context;
	session_batch(g->session, t, b);
	for (size_t i = 0; i < g->parts; i++)
		if (g->part[i].run == t)
			(!g->part[i].region || g->part[i].depth ? exact_batch : exact_skip)(g->part[i].exact, b);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct gating *g = context;
	const bool begins = request->code == SPMU_CLIENT_REGION_BEGIN, ends = request->code == SPMU_CLIENT_REGION_END;
	if (g->work->regions && (begins || ends) && *name) {
		struct part *p = NULL;
		for (size_t i = 0; i < g->parts; i++)
			if (g->part[i].run == t && !strcmp(g->part[i].region, name))
				p = g->part + i;
		if (begins && !p && !(p = part_add(g, t, name)))
			g->failed = ERR_NOMEM;
		else if (begins)
			p->depth++;
		else if (p && p->depth)
			p->depth--;
	}
	return session_client(g->session, t, request, name, answer);
}

static void add_object(struct gating *g, const struct st_map *map)
{
	const char *path = (const char *)(map + 1), *slash = strrchr(path, '/'), *name = slash ? slash : "/";
	char key[PROGRAM_KEY_CHARS] = "";
	int at = 0;
	if (*path != '/' || !strncmp(name, "/softpmu-tracer-", 16) || !strncmp(name, "/vgpreload_", 11))
		return;		/* not a file, or one of the tracer's, which the model's id covers */
	if (map->build_id_bytes && map->build_id_bytes <= sizeof map->build_id) {
		at = snprintf(key, sizeof key, "build-id:");
		for (unsigned i = 0; i < map->build_id_bytes && at < (int)sizeof key - 2; i++)
			at += snprintf(key + at, sizeof key - (size_t)at, "%02x", map->build_id[i]);
	} else if (program_key(path, key, NULL)) {
		snprintf(key, sizeof key, "unknown");
	}
	if (gate_objects_add(&g->objects, name + 1, key))
		g->failed = ERR_NOMEM;
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct gating *g = context;
	const struct st_map *map = (const struct st_map *)record;
	const unsigned kind = ST_HEADER_KIND(record[0]);
	const bool code = kind == ST_MAP && ST_HEADER_LOW(record[0]) >= sizeof *map && map->prot & ST_PROT_X;
	(void)t, (void)cycle;
	/* what is mapped over code that was executed gives its addresses other names */
	for (size_t i = 0; i < g->parts && (code || kind == ST_PROCESS); i++)
		if (g->part[i].pid == pid &&
			(kind == ST_PROCESS || exact_holds(g->part[i].exact, map->addr, map->bytes))) {
			const int rc = take_part(g, g->part + i);
			g->failed = g->failed ? g->failed : rc;
		}
	if (code)
		add_object(g, map);
	cli_symbols_side(g->symbols, pid, record, &g->time);
}

/* ---- what it gives --------------------------------------------------------------------------------------- */

static int add_functions(struct gate_benchmark *b, const struct gating *g, const char *region)
{
	for (size_t i = 0; i < g->sums; i++) {
		const struct sum *s = g->sum + i;
		if (strcmp(s->region, region))
			continue;
		int rc = gate_figures_add(&b->table[GATE_CYCLES], s->key,
			s->parts / EXACT_CYCLE + (s->parts % EXACT_CYCLE >= EXACT_CYCLE / 2));
		if (!rc)
			rc = gate_figures_add(&b->table[GATE_INSTRUCTIONS], s->key, s->instructions);
		if (rc)
			return rc;
	}
	return 0;
}

/* region: SIZE_MAX, or the number of the session's region. */
static int add_benchmark(struct gate_file *to, struct gating *g, const struct gate_machine *m, size_t region)
{
	struct session_region r = { .name = "" };
	char *name = NULL;
	int rc = 0;
	if (region != SIZE_MAX)
		session_region_info(g->session, region, &r);
	if (asprintf(&name, "%s%s%s", g->work->name, *r.name ? "/" : "", r.name) < 0)
		return ERR_NOMEM;
	struct gate_benchmark *b = gate_benchmark_add(to, name);
	free(name);
	for (size_t i = 0; b && !rc && i < g->objects.count; i++)
		rc = gate_objects_add(&b->objects, g->objects.object[i].name, g->objects.object[i].id);
	for (size_t e = 0; b && !rc && e < m->events->count; e++)
		rc = gate_figures_add(&b->table[GATE_COUNTS], m->events->event[e].spelled,
			region == SIZE_MAX ? session_count(g->session, e)
					   : session_region_count(g->session, region, e));
	if (b && !rc && region != SIZE_MAX)
		rc = gate_figures_add(&b->table[GATE_COUNTS], "entries", r.entries);
	if (b && !rc)
		rc = add_functions(b, g, r.name);
	return b ? rc : ERR_NOMEM;
}

static int add_all(struct gate_file *to, struct gating *g, const struct gate_machine *m, struct err *err)
{
	int rc = 0;
	if (!g->work->regions)
		rc = add_benchmark(to, g, m, SIZE_MAX);
	for (size_t k = 0; g->work->regions && !rc && k < session_regions(g->session); k++)
		rc = add_benchmark(to, g, m, k);
	if (!rc && g->work->regions && !session_regions(g->session))
		return err_set(err, ERR_INPUT, "%s marked no region (softpmu/client.h)", g->work->argv[0]);
	return rc ? err_set(err, rc, rc == ERR_NOMEM ? "out of memory" : "a count exceeds 2^63 - 1") : 0;
}

static void release(struct gating *g)
{
	for (size_t i = 0; i < g->parts; i++) {
		exact_destroy(g->part[i].exact);
		free(g->part[i].region);
	}
	for (size_t i = 0; i < g->sums; i++) {
		free(g->sum[i].key);
		free(g->sum[i].region);
	}
	for (size_t i = 0; i < g->objects.count; i++) {
		free(g->objects.object[i].name);
		free(g->objects.object[i].id);
	}
	free(g->part);
	free(g->sum);
	free(g->objects.object);
	session_destroy(g->session);
	symbols_destroy(g->symbols);
}

int gate_run(struct gate_file *to, const struct gate_work *w, const struct gate_machine *m, struct err *err)
{
	struct gating g = { .work = w };
	struct run_result result = { 0 };
	struct gate_surroundings around;
	const struct session_options so = { .core = &m->run->core, .model = m->model, .events = m->events };
	const struct run_sink sink = { .context = &g, .thread_start = on_start, .thread_end = on_end,
		.batch = on_batch, .side = on_side, .client = on_client };
	int rc = symbols_create(&g.symbols, err);
	if (!rc)
		rc = session_create(&g.session, &so, err);
	if (!rc)
		rc = gate_surroundings_enter(&around, err);
	if (!rc) {
		const struct core_wanted wanted = core_wanted_both(session_wanted(g.session), exact_record_wanted());
		m->run->argv = w->argv;
		m->run->run.argv = w->argv;
		m->run->run.env = m->env;
		m->run->run.wanted = &wanted;
		rc = cli_run_program(m->run, &sink, &result, err);
		m->run->run.wanted = NULL;
		const bool fails = !rc && result.wait_status;
		gate_surroundings_leave(&around, rc || fails);
		if (result.note[0])
			cli_warn("%s: %s", w->name, result.note);
		if (fails && WIFSIGNALED(result.wait_status))
			rc = err_set(err, ERR_INPUT, "%s: signal %d ended the program", w->name,
				WTERMSIG(result.wait_status));
		else if (fails)
			rc = err_set(err, ERR_INPUT, "%s: the program ended with status %d", w->name,
				cli_exit_status(result.wait_status));
		if (!rc && cli_interrupted())
			rc = err_set(err, ERR_INPUT, "%s was interrupted", w->name);
	}
	while (g.parts)		/* threads that had not ended */
		part_end(&g, g.parts - 1);
	if (!rc && g.failed)
		rc = err_set(err, ERR_NOMEM, "out of memory");
	if (!rc)
		rc = add_all(to, &g, m, err);
	release(&g);
	return rc;
}
