/* SPDX-License-Identifier: GPL-2.0-or-later
 * Advice on a program (tune_advice.h). */
#include "cli/tune/tune_advice.h"
#include "cli/common/cli_symbols.h"
#include "cli/tune/tune_replays.h"
#include "analysis/cost/cost.h"
#include "session/events/pushout_events.h"
#include "core/machine/leads.h"
#include "util/json.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_BYTES = 256, WINDOWS = 500 /* --sample=auto: of each replay */ };
enum { EVIDENCE_LEAD = 10000, EVIDENCE_MEASURED = 40000, EVIDENCE_APART = 3 };
struct piece {
	struct advice a;
	const struct advice_place *at;
	double wins, low, high;	/* cycles; the range in which the two estimates lie */
	const char *sure;
};
struct tune_advice {
	struct symbols *symbols;
	uint64_t time;		/* of the last side record */
	struct evidence *evidence;
	struct cost_run *cycles;	/* of a sampled run: the estimate of its cycles; else NULL */
	size_t windows;
	double measured;		/* share of the instructions that these measured */
	uint64_t lone_core;	/* next number for a core that threads do not share */
	struct advice_program program;
	struct advice_place *place;
	size_t places;
	struct piece *piece;
	size_t pieces;
	struct {
		bool wanted;
		bool done;
		double gain, half;	/* share of the cycles; half of its interval's width: 0: exact, NaN: unknown */
		char fields[FIELDS_BYTES];
		const char *why;
	} replay[ADVICE_CHANGES_COUNT];
	double loader;		/* cycles of the exact profile that are charged to the dynamic loader */
	const char *name;	/* of the program, or the stream */
};

int tune_advice_create(struct tune_advice **out, struct err *err)
{
	struct tune_advice *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(err, ERR_NOMEM, "out of memory");
	int rc = symbols_create(&a->symbols, err);
	if (rc) {
		free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void tune_advice_destroy(struct tune_advice *a)
{
	if (!a)
		return;
	evidence_destroy(a->evidence);
	cost_run_destroy(a->cycles);
	symbols_destroy(a->symbols);
	free(a->place);
	free(a->piece);
	free(a);
}

/* ---- the run ---- */

struct thread { struct evidence_thread *evidence; struct cost_thread *cycles; /* NULL: not sampled */ };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct tune_advice *a = context;
	struct thread *thread = calloc(1, sizeof *thread);
	const bool shared = t->siblings > 1;
	const uint64_t core = shared ? (uint64_t)t->process << 32 | t->core : UINT64_C(1) << 63 | a->lone_core++;
	int rc = thread ? evidence_thread_start(a->evidence, &thread->evidence, t->pid, core, shared, err)
		: err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && a->cycles)
		rc = cost_thread_start(a->cycles, &thread->cycles, t->pid, err);
	if (!rc && a->cycles) {
		evidence_thread_sample(thread->evidence);
		rc = cost_thread_sample(thread->cycles, t, err);
	}
	if (rc)
		free(thread);
	t->sink_private = rc ? NULL : thread;
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	struct thread *thread = t->sink_private;
	if (thread)
		evidence_thread_end(thread->evidence);
	if (thread && thread->cycles)
		cost_thread_end(thread->cycles);
	free(thread);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	const struct thread *thread = t->sink_private;
	if (thread)
		evidence_thread_batch(thread->evidence, b);
	if (thread && thread->cycles)
		cost_thread_batch(thread->cycles, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	(void)context;
	const struct thread *thread = t->sink_private;
	if (thread) {
		evidence_thread_window(thread->evidence, part);
		cost_thread_window(thread->cycles, part);
	}
	return 0;
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct tune_advice *a = context;
	(void)t, (void)cycle;
	cli_symbols_side(a->symbols, pid, record, &a->time);
}

/* The windows from which evidence comes are longer than the replays', and fewer: the fully associative caches have to
 * fill, and lines have to be used as they are in the whole run. */
static struct run_sample evidence_plan(const struct run_sample *plan)
{
	struct run_sample p = { .lead = EVIDENCE_LEAD, .measured = EVIDENCE_MEASURED };
	const uint64_t least = RUN_SAMPLE_LEAST * (p.lead + p.measured), wanted = EVIDENCE_APART * plan->interval;
	p.interval = wanted > least ? wanted : least;
	return p;
}

/* plan: of a sampled run, else NULL. */
static int gather(struct tune_advice *a, struct cli_run *r, const struct run_sample *plan, struct run_result *res)
{
	struct run_sink sink = {
		.context = a, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .side = on_side
	};
	struct err err = { 0 };
	int rc = evidence_create(&a->evidence, &r->core, &err);
	if (!rc && plan) {
		const struct pushout_widths widths = session_pushout_widths(&r->core);
		sink.window = on_window;
		r->run.sample = evidence_plan(plan);
		rc = cost_run_create(&a->cycles, &widths, NULL, 0, false, &err);
		rc = rc ? rc : cost_run_sample(a->cycles, &err);
	}
	if (!rc) {
		const struct core_wanted wanted = evidence_wanted();
		r->run.wanted = &wanted;
		rc = cli_run_program(r, &sink, res, &err);
		r->run.wanted = NULL;
		struct err memory = { 0 };
		if (evidence_finish(a->evidence, &memory) && !rc) {
			rc = memory.code;
			err = memory;
		}
	}
	r->run.sample = (struct run_sample){ 0 };
	if (!rc && plan)
		rc = cost_run_finish(a->cycles, &err);
	if (!rc && plan)	/* of a run that was interrupted: from the windows that it has */
		rc = cost_run_estimate(a->cycles, res, &err);
	a->program.cycles = rc ? 0 : plan ? (double)cost_run_cycles(a->cycles) : (double)res->cycles;
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

/* ---- places ---- */

struct named {
	const struct evidence_site *site;
	const char *dso, *symbol, *function, *file;
	unsigned line;
	uint64_t allocations;	/* calls of the allocator, or of a function that does little else */
	/* Of code that is inlined from a library's header: the line of the program's own that it is in; "": none */
	const char *caller, *caller_file;
	unsigned caller_line;
	const char *called;	/* of a call: its function; NULL: none */
	uint64_t calls;
};

static int by_line(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = strcmp(a->dso, b->dso);
	c = c ? c : strcmp(a->function, b->function);
	c = c ? c : strcmp(a->file, b->file);
	c = c ? c : (a->line > b->line) - (a->line < b->line);
	c = c ? c : strcmp(a->caller, b->caller);
	c = c ? c : (a->caller_line > b->caller_line) - (a->caller_line < b->caller_line);
	return c ? c : (a->site > b->site) - (a->site < b->site);
}

static int by_symbol(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = strcmp(a->dso, b->dso);
	c = c ? c : strcmp(a->symbol, b->symbol);
	return c ? c : (a->site > b->site) - (a->site < b->site);
}

static void name_site(struct tune_advice *a, const struct evidence_site *s, struct named *n)
{
	struct symbols_place at;
	symbols_resolve(a->symbols, s->pid, s->ip, UINT64_MAX, &at);
	*n = (struct named){ .site = s, .dso = at.dso,
		.symbol = at.symbol ? at.symbol->name : "(no symbol)", .file = "", .caller = "", .caller_file = "" };
	n->function = n->symbol;
}

/* Functions of malloc's family, as glibc, other allocators and C++ have them; also behind a PLT entry's name. */
static bool allocates(const char *symbol)
{
	static const char *const name[] = { "malloc", "calloc", "realloc", "free", "cfree", "aligned_alloc", "memalign",
		"posix_memalign", "operator new", "operator delete", "_Znw", "_Zna", "_Zdl", "_Zda" };
	static const char *const prefix[] = { "_int_malloc", "_int_free", "_int_realloc", "malloc_consolidate",
		"unlink_chunk", "sysmalloc", "tcache_", "__libc_malloc", "__libc_free", "__libc_calloc",
		"__libc_realloc", "_mid_memalign" };
	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		const size_t bytes = strlen(name[i]);
		if (!strncmp(symbol, name[i], bytes) &&
			(!symbol[bytes] || symbol[bytes] == '@' || name[i][0] == '_' || strchr(name[i], ' ')))
			return true;
	}
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (!strncmp(symbol, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

static void find_call(struct tune_advice *a, struct named *n)
{
	struct symbols_place at;
	if (!n->site->target || !n->site->n[EVIDENCE_CALLS])
		return;
	symbols_resolve(a->symbols, n->site->pid, n->site->target, UINT64_MAX, &at);
	n->called = at.symbol ? at.symbol->name : NULL;
	n->calls = n->site->n[EVIDENCE_CALLS];
	/* what is allocated once is freed once */
	if (n->called && !allocates(n->symbol) && allocates(n->called) && !strstr(n->called, "free") &&
		!strstr(n->called, "delete") && strncmp(n->called, "_Zd", 3))
		n->allocations = n->calls;
}

/* Gives the allocations of a function to those that call it, if it does little else.  n: by symbol, from its first
 * instruction on. */
static void pass_up(struct named *n, size_t sites, size_t first, size_t behind)
{
	const char *const function = n[first].symbol;
	uint64_t made = 0, entered = 0;
	for (size_t i = first; i < behind; i++)
		made += n[i].allocations;
	for (size_t i = 0; i < sites && made; i++)
		entered += n[i].called == function ? n[i].calls : 0;
	if (!entered || made * 10 < entered * 9 || made * 9 > entered * 10)
		return;
	for (size_t i = first; i < behind; i++)
		n[i].allocations = 0;
	for (size_t i = 0; i < sites; i++)
		n[i].allocations += n[i].called == function ? n[i].calls : 0;
}

/* A short function that allocates once each time that it is called says nothing: those that call it do. */
static void pass_allocations_up(struct named *n, size_t sites)
{
	/* SHORT: instructions.  GUESS; try other values on programs with allocators of their own */
	enum { LEVELS = 3, SHORT = 40 };
	for (unsigned level = 0; level < LEVELS; level++)
		for (size_t first = 0, next; first < sites; first = next) {
			for (next = first + 1; next < sites && n[next].symbol == n[first].symbol; next++)
				;
			if (next - first <= SHORT)
				pass_up(n, sites, first, next);
		}
}

/* The dynamic loader. */
static bool loads_program(const char *dso)
{
	const char *slash = strrchr(dso, '/'), *base = slash ? slash + 1 : dso;
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2.", 5) || !strncmp(base, "ld.so", 5);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A header of the system or the compiler: who looks for a place to change wants the line that calls it. */
static bool of_system(const char *file)
{
	return !strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/gcc", 12) ||
		!strncmp(file, "/usr/lib/llvm", 13);
}

static void find_line(struct tune_advice *a, struct named *n)
{
	enum { FRAMES = 32 };
	struct symbols_place at;
	struct symbols_line line[FRAMES];
	symbols_resolve(a->symbols, n->site->pid, n->site->ip, UINT64_MAX, &at);
	const size_t frames = symbols_place_lines(&at, line, FRAMES);
	if (!frames || !line[0].line)
		return;
	n->file = base_name(line[0].file);
	n->line = line[0].line;
	n->function = *line[0].function ? line[0].function : n->symbol;
	size_t k = 0;
	while (k + 1 < frames && of_system(line[k].file))
		k++;
	if (!k || of_system(line[k].file) || !line[k].line)
		return;
	n->caller = *line[k].function ? line[k].function : n->symbol;
	n->caller_file = base_name(line[k].file);
	n->caller_line = line[k].line;
}

/* POP, LEAVE or RET: it loads what was stored by the function's beginning, or its call. */
static bool restores(const struct tune_advice *a, const struct evidence_site *s)
{
	struct symbols_place at;
	uint8_t code[2] = { 0 };
	symbols_resolve(a->symbols, s->pid, s->ip, UINT64_MAX, &at);
	struct symfile *f = symbols_place_file(&at);
	if (!f || !symfile_read(f, at.address, code, sizeof code))
		return false;
	const uint8_t op = (code[0] & 0xf0) == 0x40 ? code[1] : code[0];	/* behind REX */
	return (op & 0xf8) == 0x58 || op == 0xc9 || (op & 0xfe) == 0xc2;
}

static void add_places(struct tune_advice *a, const struct named *n, size_t sites, bool whole)
{
	for (size_t i = 0; i < sites; i++) {
		struct advice_place *p = a->places ? &a->place[a->places - 1] : NULL;
		const char *function = whole ? n[i].symbol : n[i].function, *file = whole ? "" : n[i].file;
		const char *caller = whole ? "" : n[i].caller;
		const unsigned line = whole ? 0 : n[i].line, caller_line = whole ? 0 : n[i].caller_line;
		if (!p || p->whole != whole || strcmp(p->dso, n[i].dso) || strcmp(p->function, function) ||
			strcmp(p->file, file) || p->line != line || strcmp(p->caller, caller) ||
			p->caller_line != caller_line) {
			p = &a->place[a->places++];
			*p = (struct advice_place){ .function = function, .file = file, .dso = n[i].dso,
				.line = line, .whole = whole, .caller = caller,
				.caller_file = whole ? "" : n[i].caller_file, .caller_line = caller_line };
		}
		advice_place_add(p, n[i].site, a->program.core);
		p->allocations += n[i].allocations;
		const uint64_t kept = whole ? advice_kept(n[i].site) : 0;
		p->kept += kept && !restores(a, n[i].site) ? kept : 0;
	}
}

static int find_places(struct tune_advice *a)
{
	size_t sites;
	const struct evidence_site *s = evidence_sites(a->evidence, &sites);
	struct named *n = calloc(sites + 1, sizeof *n);
	a->place = calloc(2 * sites + 1, sizeof *a->place);
	if (!n || !a->place) {
		free(n);
		cli_error("out of memory");
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < sites; i++) {
		name_site(a, &s[i], &n[i]);
		for (unsigned k = 0; k < EVIDENCE_COUNT; k++)
			a->program.n[k] += s[i].n[k];
		a->program.merged += s[i].merged;
		a->program.queued += s[i].queued;
		a->program.beside += s[i].beside;
		for (unsigned k = 0; k < EXACT_CAUSES; k++) {
			const double part = (double)s[i].part[k] / EXACT_CYCLE;
			a->program.charged += part;
			a->program.part[k] += part;
			a->program.allocator += allocates(n[i].symbol) ? part : 0;
			if (loads_program(n[i].dso))
				a->loader += part;
		}
		find_call(a, &n[i]);
		a->program.allocations += n[i].allocations;
	}
	a->program.lcp = evidence_lcp(a->evidence);
	qsort(n, sites, sizeof *n, by_symbol);
	pass_allocations_up(n, sites);
	add_places(a, n, sites, true);
	size_t next = 0;
	/* the names are in the same order as these functions */
	for (size_t k = 0; k < a->places; k++) {
		const struct advice_place *p = &a->place[k];
		const bool lines = advice_of_lines(&p->sum);
		for (; next < sites && !strcmp(n[next].dso, p->dso) && !strcmp(n[next].symbol, p->function); next++)
			if (lines)
				find_line(a, &n[next]);
	}
	qsort(n, sites, sizeof *n, by_line);
	add_places(a, n, sites, false);
	free(n);
	return 0;
}

static int ask(struct tune_advice *a)
{
	size_t room = 0;
	for (size_t i = 0; i < a->places; i++) {
		unsigned given = 0;	/* classes of which a rule was given */
		/* the start of a program is not its work, unless there is little else */
		if (loads_program(a->place[i].dso) && a->loader * 2 < a->program.charged)
			continue;
		for (unsigned k = 0; k < advice_rules_count; k++) {
			struct advice advice;
			const unsigned class_of = advice_rules[k].class_of;
			if ((class_of && given >> class_of & 1) || !advice_ask(k, &a->place[i], &a->program, &advice))
				continue;
			given |= 1u << class_of;
			if (a->pieces == room) {
				room = room ? 2 * room : 64;
				struct piece *more = realloc(a->piece, room * sizeof *more);
				if (!more) {
					cli_error("out of memory");
					return ERR_NOMEM;
				}
				a->piece = more;
			}
			a->piece[a->pieces++] = (struct piece){ .a = advice, .at = &a->place[i] };
		}
	}
	return 0;
}

/* ---- estimates ---- */

/* A replay is made if some piece can be worth it.  Where the exact profile knows the cause, what it charges is nearly
 * the most that can be gained; a tenth of the threshold is left for what it does not see. */
static void choose_replays(struct tune_advice *a, double threshold)
{
	for (size_t i = 0; i < a->pieces; i++) {
		const struct piece *p = &a->piece[i];
		if (!(p->a.charged > 0) || !(a->program.charged > 0) ||
			p->a.charged >= 0.1 * threshold * a->program.charged)
			a->replay[p->a.change].wanted = true;
	}
}

/* Replays on the machines that are wanted.  Changes that make the same machine share its replay. */
static int replay(struct tune_advice *a, struct cli_run *r, const struct run_sample *plan)
{
	struct tune_replay *replay = calloc(ADVICE_CHANGES_COUNT, sizeof *replay);
	unsigned of[ADVICE_CHANGES_COUNT], n = 0;
	if (!replay) {
		cli_error("out of memory");
		return ERR_NOMEM;
	}
	for (unsigned k = ADVICE_NONE + 1; k < ADVICE_CHANGES_COUNT; k++) {
		replay[n].core = r->core;
		of[k] = n;
		if (!a->replay[k].wanted || !advice_change((enum advice_change)k, &replay[n].core,
				a->replay[k].fields, FIELDS_BYTES, &a->replay[k].why)) {
			a->replay[k].wanted = false;
			continue;
		}
		while (of[k] && !core_config_same(&replay[of[k] - 1].core, &replay[n].core))
			of[k]--;
		of[k] = of[k] ? of[k] - 1 : n;
		n += of[k] == n;
	}
	const int rc = n ? tune_replays(r, a->program.cycles, plan, replay, n) : 0;
	for (unsigned k = ADVICE_NONE + 1; k < ADVICE_CHANGES_COUNT && !rc; k++) {
		a->replay[k].done = a->replay[k].wanted && replay[of[k]].done;
		a->replay[k].gain = replay[of[k]].gain;
		a->replay[k].half = replay[of[k]].half;
	}
	free(replay);
	return rc;
}

/* Cycles elapsed, of those charged. */
static double elapsed(const struct tune_advice *a, double charged)
{
	return a->program.charged > 0 ? charged / a->program.charged * a->program.cycles : 0;
}

/* Of a sampled replay: its interval widens the range. */
static void add_chance(const struct tune_advice *a, struct piece *p)
{
	const double half = a->replay[p->a.change].half * fmin(p->a.share, 1) * a->program.cycles;
	if (half > 0) {
		p->low = fmax(p->low - half, 0);
		p->high += half;
	}
}

/* The replay's estimate, beside which the exact profile has one of its own: what retirement waited for. */
static void estimate(const struct tune_advice *a, struct piece *p)
{
	const double gain = a->replay[p->a.change].gain * a->program.cycles, charged = elapsed(a, p->a.charged);
	p->wins = p->low = p->high = charged;
	p->sure = p->a.unmeasured ? "low: nothing but a rebuild shows it" : "fair: no replay can free this alone";
	if (p->a.change == ADVICE_NONE || !a->replay[p->a.change].done)
		return;
	p->wins = p->low = p->high = gain > 0 ? gain * fmin(p->a.share, 1) : 0;
	p->sure = "fair: by a replay; the exact profile cannot tell this cause from others";
	if (!(charged > 0)) {
		add_chance(a, p);
		return;
	}
	p->low = fmin(charged, p->wins);
	p->high = fmax(charged, p->wins);
	p->sure = p->high <= 1.5 * p->low ? "high: a replay and the exact profile agree"
		: charged > p->wins ? "fair: retirement waits longer for it than the replay gains: it would wait for "
				      "something else"
				    : "fair: the replay gains more than retirement waits for it here";
	add_chance(a, p);
}

static int by_gain(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;
	if (a->wins != b->wins)
		return a->wins > b->wins ? -1 : 1;
	return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : strcmp(a->a.rule->name, b->a.rule->name);
}

static void keep_what_counts(struct tune_advice *a, double threshold)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->pieces; i++) {
		struct piece *p = &a->piece[i];
		estimate(a, p);
		if ((p->a.uncertain ? p->high : p->wins) < threshold * a->program.cycles || !(p->high > 0))
			continue;
		a->piece[kept++] = *p;
	}
	a->pieces = kept;
	if (kept)
		qsort(a->piece, kept, sizeof *a->piece, by_gain);
}

/* Nobody asked for a sampled run, and its threads run at the same time: such runs leave out how they delay each other.
 */
static int gather_in_full(struct tune_advice *a, struct cli_run *r, struct run_result *res)
{
	struct err err = { 0 };
	cli_note(CLI_SAMPLE_NOT_THREADS);
	evidence_destroy(a->evidence);
	cost_run_destroy(a->cycles);
	symbols_destroy(a->symbols);
	a->evidence = NULL;
	a->cycles = NULL;
	a->symbols = NULL;
	a->lone_core = a->time = 0;
	if (!symbols_create(&a->symbols, &err))
		return gather(a, r, NULL, res);
	cli_error("%s", err.text);
	return ERR_NOMEM;
}

int tune_advice_run(struct tune_advice *a, struct cli_run *r, struct cli_sample *sample, double threshold, int *status)
{
	struct run_result res = { 0 };
	struct run_sample windows;
	const bool unasked = !sample->on;
	int recorded = 0;
	if (cli_sample_plan_long(sample, r, WINDOWS, &windows, &recorded))
		return ERR_INPUT;
	const struct run_sample *plan = sample->on ? &windows : NULL;
	a->program.core = &r->core;
	int rc = gather(a, r, plan, &res);
	if (!rc && plan && unasked && res.threads_at_once && !cli_interrupted()) {
		plan = NULL;
		rc = gather_in_full(a, r, &res);
	} else if (res.threads_at_once) {
		cli_warn(CLI_SAMPLE_THREADS);
	}
	*status = cli_exit_status(recorded ? recorded : res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (rc)
		return rc;
	if (!(a->program.cycles > 0)) {
		cli_error("nothing was measured: no instruction lies between --start and --stop");
		return ERR_INPUT;
	}
	if (plan) {
		a->windows = windows_number(cost_run_windows(a->cycles));
		a->measured = windows_measured(cost_run_windows(a->cycles)) / (double)(res.instructions + res.warmed);
	}
	if (find_places(a) || ask(a))
		return ERR_NOMEM;
	const char *const replayed = r->run.replay, *const saved = r->run.save;
	char *const *const argv = r->argv;
	r->run.replay = replayed ? replayed : saved;
	r->run.save = NULL;
	r->run.argv = NULL;
	choose_replays(a, threshold);
	if (r->run.replay && !cli_interrupted())
		rc = replay(a, r, plan);
	r->run.replay = replayed;
	r->run.save = saved;
	r->run.argv = argv;
	keep_what_counts(a, threshold);
	return rc;
}

/* ---- printing ---- */

static const char *basis(const struct tune_advice *a, const struct piece *p, char text[FIELDS_BYTES + 64])
{
	if (a->replay[p->a.change].done)
		snprintf(text, FIELDS_BYTES + 64, "replay with %s", a->replay[p->a.change].fields);
	else
		snprintf(text, FIELDS_BYTES + 64, "%s",
			p->a.unmeasured ? "cycles spent here; only a rebuild shows how many of them it saves"
					: "cycles charged to it");
	return text;
}

static void print_json(const struct tune_advice *a, FILE *to, size_t rows)
{
	char text[FIELDS_BYTES + 64], check[160];
	for (size_t i = 0; i < a->pieces && i < rows; i++) {
		const struct piece *p = &a->piece[i];
		fputs("{\"advice\":", to);
		json_string(to, p->a.rule->name);
		fputs(",\"function\":", to);
		json_string(to, p->at->function);
		fputs(",\"object\":", to);
		json_string(to, p->at->dso);
		if (p->at->line) {
			fputs(",\"file\":", to);
			json_string(to, p->at->file);
			fprintf(to, ",\"line\":%u", p->at->line);
		}
		if (*p->at->caller) {
			fputs(",\"into_function\":", to);
			json_string(to, p->at->caller);
			fputs(",\"into_file\":", to);
			json_string(to, p->at->caller_file);
			fprintf(to, ",\"into_line\":%u", p->at->caller_line);
		}
		fputs(",\"evidence\":", to);
		json_string(to, p->a.evidence);
		fprintf(to, ",\"%s\":%.0f,\"share\":%.6f,", p->a.unmeasured ? "spent_cycles" : "gain_cycles",
			p->wins, p->wins / a->program.cycles);
		fprintf(to, "\"low\":%.6f,\"high\":%.6f,\"sure\":", p->low / a->program.cycles,
			p->high / a->program.cycles);
		json_string(to, p->sure);
		fputs(",\"basis\":", to);
		json_string(to, basis(a, p, text));
		advice_check(p->a.change, check, sizeof check);
		fputs(",\"check\":", to);
		json_string(to, check);
		fputs(",\"do\":", to);
		json_string(to, p->a.rule->advice);
		fputs("}\n", to);
	}
}

void tune_advice_print(const struct tune_advice *a, FILE *to, size_t rows, bool json)
{
	char text[FIELDS_BYTES + 64], check[160];
	if (json) {
		print_json(a, to, rows);
		return;
	}
	fprintf(to, "%.0f cycles on %s\n", a->program.cycles, a->program.core->name);
	if (a->windows)
		fprintf(to, "Estimated; the evidence is from %zu windows, which have %.1f %% of the instructions "
			"(--detail times all of them)\n", a->windows, 100 * a->measured);
	if (!a->pieces)
		fputs("no advice: no rule found anything that costs enough\n", to);
	for (size_t i = 0; i < a->pieces && i < rows; i++) {
		const struct piece *p = &a->piece[i];
		fprintf(to, "\n%zu. %s: %s\n   at        %s", i + 1, p->a.rule->name, p->a.rule->title,
			p->at->function);
		if (p->at->line)
			fprintf(to, " (%s:%u)", p->at->file, p->at->line);
		if (*p->at->caller)
			fprintf(to, ", inlined into %s (%s:%u)", p->at->caller, p->at->caller_file,
				p->at->caller_line);
		fprintf(to, " [%s]\n   evidence  %s\n", p->at->dso, p->a.evidence);
		fprintf(to, "   %s  %.1f %%", p->a.unmeasured ? "spent   " : "wins    ",
			100 * p->wins / a->program.cycles);
		if (p->high - p->low >= 0.001 * a->program.cycles)
			fprintf(to, ", range %.1f to %.1f %%", 100 * p->low / a->program.cycles,
				100 * p->high / a->program.cycles);
		advice_check(p->a.change, check, sizeof check);
		fprintf(to, " (%s)\n   sure      %s\n", basis(a, p, text), p->sure);
		fprintf(to, "   do        %s\n   check     %s\n", p->a.rule->advice, check);
	}
	if (a->pieces > rows)
		fprintf(to, "\n%zu more (--rows)\n", a->pieces - rows);
}
