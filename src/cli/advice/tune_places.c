/* SPDX-License-Identifier: GPL-2.0-or-later
 * The places of a run's evidence (tune_places.h). */
#include "cli/advice/tune_places.h"
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

struct named {
	const struct evidence_site *site;
	const char *dso, *symbol, *function, *file;
	unsigned line;
	uint64_t allocations;	/* calls of the allocator, or of a function that does little else */
	/* Of code that is inlined from a library's header: the line of the program's own that it is in; "": none */
	const char *caller, *caller_file;
	unsigned caller_line;
	const char *called;	/* of a call: its function's `symbol`, the same pointer; NULL: none */
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

static void name_site(struct tune_places *t, const struct evidence_site *s, struct named *n)
{
	struct symbols_place at;
	symbols_resolve(t->symbols, s->pid, s->ip, UINT64_MAX, &at);
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

static void find_call(struct tune_places *t, struct named *n)
{
	struct symbols_place at;
	if (!n->site->target || !n->site->n[EVIDENCE_CALLS])
		return;
	symbols_resolve(t->symbols, n->site->pid, n->site->target, UINT64_MAX, &at);
	n->called = at.symbol ? at.symbol->name : NULL;
	n->calls = n->site->n[EVIDENCE_CALLS];
	/* what is allocated once is freed once */
	if (n->called && !allocates(n->symbol) && allocates(n->called) && !strstr(n->called, "free") &&
		!strstr(n->called, "delete") && strncmp(n->called, "_Zd", 3))
		n->allocations = n->calls;
}

/* Moves a function's allocations to its callers if it allocates once per call, to within 10 %.  n: all sites, by
 * symbol; [first, behind): the function's. */
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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The dynamic loader. */
static bool loads_program(const char *dso)
{
	const char *base = base_name(dso);
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2.", 5) || !strncmp(base, "ld.so", 5);
}

/* A header of the system or the compiler: who looks for a place to change wants the line that calls it. */
static bool of_system(const char *file)
{
	return !strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/gcc", 12) ||
		!strncmp(file, "/usr/lib/llvm", 13);
}

static void find_line(struct tune_places *t, struct named *n)
{
	enum { FRAMES = 32 };
	struct symbols_place at;
	struct symbols_line line[FRAMES];
	symbols_resolve(t->symbols, n->site->pid, n->site->ip, UINT64_MAX, &at);
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
static bool restores(const struct tune_places *t, const struct evidence_site *s)
{
	struct symbols_place at;
	uint8_t code[2] = { 0 };
	symbols_resolve(t->symbols, s->pid, s->ip, UINT64_MAX, &at);
	struct symfile *f = symbols_place_file(&at);
	if (!f || !symfile_read(f, at.address, code, sizeof code))
		return false;
	const uint8_t op = (code[0] & 0xf0) == 0x40 ? code[1] : code[0];	/* behind REX */
	return (op & 0xf8) == 0x58 || op == 0xc9 || (op & 0xfe) == 0xc2;
}

static void add_places(struct tune_places *t, const struct named *n, size_t sites, bool whole)
{
	for (size_t i = 0; i < sites; i++) {
		struct advice_place *p = t->places ? &t->place[t->places - 1] : NULL;
		const char *function = whole ? n[i].symbol : n[i].function, *file = whole ? "" : n[i].file;
		const char *caller = whole ? "" : n[i].caller;
		const unsigned line = whole ? 0 : n[i].line, caller_line = whole ? 0 : n[i].caller_line;
		if (!p || p->whole != whole || strcmp(p->dso, n[i].dso) || strcmp(p->function, function) ||
			strcmp(p->file, file) || p->line != line || strcmp(p->caller, caller) ||
			p->caller_line != caller_line) {
			p = &t->place[t->places++];
			*p = (struct advice_place){ .function = function, .file = file, .dso = n[i].dso,
				.line = line, .whole = whole, .caller = caller,
				.caller_file = whole ? "" : n[i].caller_file, .caller_line = caller_line };
		}
		advice_place_add(p, n[i].site, t->program->core);
		p->allocations += n[i].allocations;
		const uint64_t kept = whole ? advice_kept(n[i].site) : 0;
		p->kept += kept && !restores(t, n[i].site) ? kept : 0;
	}
}

int tune_places_find(struct tune_places *t, const struct evidence *e)
{
	size_t sites;
	const struct evidence_site *s = evidence_sites(e, &sites);
	struct named *n = calloc(sites + 1, sizeof *n);
	t->place = calloc(2 * sites + 1, sizeof *t->place);
	if (!n || !t->place) {
		free(n);
		cli_error("out of memory");
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < sites; i++) {
		name_site(t, &s[i], &n[i]);
		for (unsigned k = 0; k < EVIDENCE_COUNT; k++)
			t->program->n[k] += s[i].n[k];
		t->program->merged += s[i].merged;
		t->program->queued += s[i].queued;
		t->program->beside += s[i].beside;
		for (unsigned k = 0; k < EXACT_CAUSES; k++) {
			const double part = (double)s[i].part[k] / EXACT_CYCLE;
			t->program->charged += part;
			t->program->part[k] += part;
			t->program->allocator += allocates(n[i].symbol) ? part : 0;
			if (loads_program(n[i].dso))
				t->loader += part;
		}
		find_call(t, &n[i]);
		t->program->allocations += n[i].allocations;
	}
	t->program->lcp = evidence_lcp(e);
	qsort(n, sites, sizeof *n, by_symbol);
	pass_allocations_up(n, sites);
	add_places(t, n, sites, true);
	size_t next = 0;
	/* the names are in the same order as these functions */
	for (size_t k = 0; k < t->places; k++) {
		const struct advice_place *p = &t->place[k];
		const bool lines = advice_of_lines(&p->sum);
		for (; next < sites && !strcmp(n[next].dso, p->dso) && !strcmp(n[next].symbol, p->function); next++)
			if (lines)
				find_line(t, &n[next]);
	}
	qsort(n, sites, sizeof *n, by_line);
	add_places(t, n, sites, false);
	free(n);
	return 0;
}

bool tune_places_only_start(const struct tune_places *t, const struct advice_place *p)
{
	return loads_program(p->dso) && t->loader * 2 < t->program->charged;
}

void tune_places_release(struct tune_places *t)
{
	free(t->place);
	t->place = NULL;
	t->places = 0;
}
