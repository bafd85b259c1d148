/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory latency by size and stride: compares the model with a MemLat file of InstLatx64.
 *
 * usage: accuracy memlat SOFTPMU_DATA [core=PRESET] [FIELD=VALUE ...] FILE ... The program computes the tables of the
 * file with the model. A cell is a chain of loads (MOV r, [r]; 64 of them unrolled, as the tool says in its output)
 * through `size` bytes, with an element every `stride` bytes. It runs on the core of the preset that is nearest to the
 * file's processor, with the frequency, the cache sizes and the TLB sizes that the head of the file states. CELLS=1 in
 * the environment prints every cell to standard error: table;size;stride;measured;model.
 *
 * How the tables are read. Linear and Backward: elements in rising and falling order. Random, Random_Full: a random
 * cycle through all elements. Page_Random: random within blocks of as many 4 KB pages as the head's "4K DTLB" says,
 * block after block (the second access to a line of a block costs as much as the level that holds the block: 15 cycles
 * on Core 2, 33 on Ivy Bridge, and a page walk never shows). BlockRandom: random within blocks of so many lines (its
 * smallest size holds 8 lines), block after block. CacheLine and the 1CL/2CL tables, which load each element twice,
 * are left out.
 *
 * Page frames are allocated in order of first touch, elements in rising order, anew for each cell, as for a process
 * that allocates anew. The file itself shows which pages were touched: if the largest stride leaves L2 at L2's size,
 * all pages had frames, side by side; if it stays in L2 for as many pages as fit, only the pages with an element had
 * frames (contiguous() below). A chain that is longer than the timed part is timed in WINDOWS stretches all over it:
 * otherwise, with a cache that keeps a part of the chain, a single stretch could lie inside or outside that part.
 */
#include "accuracy.h"
#include "core/core.h"
#include "core/machine/config.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNROLLED = 64, COLUMNS = 24, CODE = 0x400000, RUN_IN = 4096, TIMED = 16384, WINDOWS = 16, BETWEEN = 1 << 15,
	DRAWN = 4 << 20, SMALLEST = 4096, LARGEST = 256 << 20 };
#define DATA_BASE UINT64_C(0x40000000)

enum order { LINEAR, BACKWARD, RANDOM, PAGE_RANDOM, BLOCK_RANDOM, ORDERS };
static const struct { const char *title, *name; enum order order; } tables[] = {
	{ "Linear Read", "linear", LINEAR }, { "Linear_Forward", "linear", LINEAR },
	{ "Backward Read", "backward", BACKWARD }, { "Linear_Backward", "backward", BACKWARD },
	{ "Random Read", "random", RANDOM }, { "Random_Full", "random", RANDOM },
	{ "Page_Random Tests", "random within pages", PAGE_RANDOM }, { "BlockRandom", "random within blocks",
	BLOCK_RANDOM },
};
/* Facts about a file's machine that its head does not state. */
static const struct { const char *file, *set, *why; } known[] = {
	{ "0000525_P54C_MemLatX86.txt", "l2.size=2M",
	"the cache on the board, as the linear curve stays at 9 cycles up to 2 MB" },
};

struct cell { enum order order; uint32_t size, stride; double measured, model; };
struct file {
	const char *name;
	struct cell *cell;
	size_t cells, room;
	uint32_t family, model, line, page_block;
	double ghz;
	int word_bytes;
	char set[512];			/* assignments, each followed by a blank */
	unsigned data_tlbs;
	bool all_pages;			/* all pages had frames, not only those with an element */
	uint32_t tlb[2], tlb_ways[2];
};

/* --- the file --- */

/* Parses "16.0K", "48 KB", "1K", "64", "1M" as bytes; 0: there is no size. */
static uint32_t size_of(char **s)
{
	char *end;
	double v = strtod(*s, &end);
	if (end == *s || !(v > 0))
		return 0;
	while (*end == ' ' && (end[1] == 'K' || end[1] == 'M'))
		end++;
	double scale = *end == 'K' ? 1024 : *end == 'M' ? 1 << 20 : 1;
	while (isalpha((unsigned char)*end))
		end++;
	*s = end;
	return v * scale <= 1u << 30 ? (uint32_t)(v * scale) : 0;
}

static unsigned row_of(char *s, uint32_t *value, bool sizes)
{
	unsigned n = 0;
	for (;;) {
		while (*s == ' ' || *s == ',' || *s == '\t')
			s++;
		char *end;
		if (!isdigit((unsigned char)*s) || n == COLUMNS)
			return n;
		value[n++] = sizes ? size_of(&s) : (uint32_t)strtoul(s, &end, 10);
		if (!sizes)
			s = end;
	}
}

static void note(struct file *f, const char *field, uint32_t value)
{
	size_t n = strlen(f->set);
	snprintf(f->set + n, sizeof f->set - n, "%s=%u ", field, value);
}

/* Reads "CPU#00 L1D cache:     8KB,   32 byte cache line,  2 way, ..." of the first processor, and its TLBs. */
static void head_line(struct file *f, char *line)
{
	static const struct { const char *what, *field; } cache[] = { { " L1D cache:", "l1d" }, { " L2  cache:", "l2" },
		{ " L3  cache:", "l3" } };
	char *s, *w;
	if ((s = strstr(line, "CoreType:0x"))) {
		unsigned long t = strtoul(s + 11, NULL, 16);
		f->family = t >> 8 & 15;
		f->model = (t >> 4 & 15) | (f->family == 6 || f->family == 15 ? (t >> 12 & 0xf0) : 0);
	}
	if ((s = strstr(line, "Frequency:")) || (s = strstr(line, "Freq:")))
		f->ghz = strtod(strchr(s, ':') + 1, NULL) / 1000;
	if ((s = strstr(line, "4K DTLB:")))
		f->page_block = (uint32_t)strtoul(s + 8, NULL, 10) * 4096;
	if (strstr(line, "Arch:X64"))
		f->word_bytes = 8;
	if (strncmp(line, "CPU#00 ", 7) && strncmp(line, "CPU#000 ", 8))
		return;
	for (size_t i = 0; i < sizeof cache / sizeof *cache; i++) {
		char field[16];
		if (!(s = strstr(line, cache[i].what)) || strstr(f->set, (snprintf(field, sizeof field, "%s.size",
			cache[i].field), field)))
			continue;
		s += strlen(cache[i].what);
		uint32_t size = size_of(&s);
		note(f, field, size);
		if (*s == ',') {
			uint32_t bytes = (uint32_t)strtoul(s + 1, NULL, 10);
			if (!i)
				f->line = bytes;
		}
		if ((w = strstr(s, " way")) && size) {
			while (w > s && isdigit((unsigned char)w[-1]))
				w--;
			snprintf(field, sizeof field, "%s.ways", cache[i].field);
			if (strtoul(w, NULL, 10))
				note(f, field, (uint32_t)strtoul(w, NULL, 10));
		}
	}
	if (strstr(line, " 4K TLB:") && !strstr(line, " L1I 4K") && f->data_tlbs < 2) {
		s = strstr(line, " 4K TLB:") + 8;
		f->tlb[f->data_tlbs] = (uint32_t)strtoul(s, &s, 10);
		if ((w = strstr(s, "entries,")))
			f->tlb_ways[f->data_tlbs] = (uint32_t)strtoul(w + 8, NULL, 10);
		f->data_tlbs++;
	}
}

static int add(struct file *f, enum order order, uint32_t size, uint32_t stride, uint32_t measured)
{
	if (f->cells == f->room) {
		size_t room = f->room * 2 + 256;
		struct cell *more = realloc(f->cell, room * sizeof *more);
		if (!more)
			return -1;
		f->cell = more;
		f->room = room;
	}
	f->cell[f->cells++] = (struct cell){ order, size, stride, measured, 0 };
	return 0;
}

static int read_file(struct file *f, const char *path, struct err *err)
{
	char line[512];
	int table = -1;
	uint32_t stride[COLUMNS];
	unsigned columns = 0;
	FILE *in = fopen(path, "r");
	if (!in)
		return err_set(err, ERR_INPUT, "%s: cannot be opened", path);
	f->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	f->word_bytes = 4;
	f->line = 64;
	while (fgets(line, sizeof line, in)) {
		head_line(f, line);
		if (strstr(line, "Latency ***") || strstr(line, " Tests")) {
			table = -1;
			columns = 0;
			for (size_t i = 0; i < sizeof tables / sizeof *tables && !strstr(line, "Best "); i++)
				if (strstr(line, tables[i].title))
					table = (int)tables[i].order;
			continue;
		}
		if (table < 0)
			continue;
		if (!strncmp(line, "Stride", 6) || !strncmp(line, "Block,", 6)) {
			columns = row_of(line + strcspn(line, ",:") + 1, stride, true);
			continue;
		}
		char *s = line + strspn(line, " ");
		uint32_t value[COLUMNS], size = isdigit((unsigned char)*s) ? size_of(&s) : 0;
		unsigned n = size ? row_of(s, value, false) : 0;
		for (unsigned i = 0; i < n && i < columns; i++)
			if (size >= SMALLEST && size <= LARGEST && value[i] && stride[i] >= (uint32_t)f->word_bytes &&
				add(f, (enum order)table, size, stride[i], value[i])) {
				fclose(in);
				return err_set(err, ERR_NOMEM, "out of memory");
			}
	}
	fclose(in);
	if (!f->cells || !f->ghz)
		return err_set(err, ERR_INPUT, "%s: no latency table of InstLatx64, or no frequency in its head", path);
	return 0;
}

/* --- the machine --- */

/* Finds the preset of the nearest processor: the same family, then the nearest model number (they rise over time). */
static int nearest(const struct file *f, const char *data, char *name, size_t bytes, struct err *err)
{
	char *names[CONFIG_PRESETS];
	unsigned best = ~0u;
	int count = core_config_presets(names, data, err);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		struct core_config c;
		if (!core_config_load(&c, data, names[i], NULL)) {
			unsigned long s = strtoul(c.cpuid_signature, NULL, 16);
			unsigned family = s >> 8 & 15, model = (s >> 4 & 15) | (s >> 12 & 0xf0);
			unsigned apart = (unsigned)abs((int)family - (int)f->family) * 1000 +
				(unsigned)abs((int)model - (int)f->model);
			if (apart < best) {
				best = apart;
				snprintf(name, bytes, "%s", names[i]);
			}
		}
		free(names[i]);
	}
	return best == ~0u ? err_set(err, ERR_INPUT, "%s: no presets", data) : 0;
}

static int set(struct core_config *c, const char *assignment, struct err *err)
{
	char one[128];
	snprintf(one, sizeof one, "%s", assignment);
	one[strcspn(one, " ")] = 0;
	return core_config_set(c, one, err);
}

static const struct cell *find(const struct file *f, enum order order, uint32_t size, uint32_t stride)
{
	for (size_t i = 0; i < f->cells; i++)
		if (f->cell[i].order == order && f->cell[i].size == size && f->cell[i].stride == stride)
			return &f->cell[i];
	return NULL;
}

/* Whether the array's page frames lie side by side: at the first size above L2's, a chain of the largest stride misses
 * L2 as often as a chain with a stride of 4 KB. */
static bool contiguous(const struct file *f, uint32_t l2_size)
{
	const struct cell *above = NULL;
	for (size_t i = 0; i < f->cells; i++) {
		const struct cell *c = &f->cell[i];
		if (c->order == LINEAR && c->stride > 4096 && c->size > l2_size &&
		    (!above || c->size < above->size || (c->size == above->size && c->stride > above->stride)))
			above = c;
	}
	const struct cell *pages = above ? find(f, LINEAR, above->size, 4096) : NULL;
	return pages && above->measured > 0.7 * pages->measured;
}

static int configure(struct core_config *c, struct file *f, struct err *err)
{
	char value[64];
	int rc = 0;
	snprintf(value, sizeof value, "core.frequency_ghz=%.5f", f->ghz);
	rc = core_config_set(c, value, err);
	/* if the head states one level of 4 KB entries and the preset has two, it is the larger level */
	unsigned first = f->data_tlbs == 1 && c->stlb_entries > 1 ? 1 : 0;
	for (unsigned i = 0; i < f->data_tlbs; i++) {
		note(f, first + i ? "stlb.entries" : "dtlb.entries", f->tlb[i]);
		note(f, first + i ? "stlb.ways" : "dtlb.ways", f->tlb_ways[i] ? f->tlb_ways[i] : f->tlb[i]);
	}
	if (!strstr(f->set, "l3.size") && strstr(f->set, "l2.size"))
		note(f, "l3.size", 0);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].file, f->name))
			snprintf(f->set + strlen(f->set), sizeof f->set - strlen(f->set), "%s ", known[i].set);
	for (const char *s = f->set; *s && !rc; s += strcspn(s, " "), s += *s == ' ')
		rc = set(c, s, err);
	f->all_pages = contiguous(f, c->l2_size);
	return rc;
}

/* --- the experiment --- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 32);
}

/* The order of elements: a permutation within a block, and block after block. drawn: there are so many elements that
 * the run does not reach its start again, so each element is drawn at random. */
struct walk { enum order order; uint32_t elements, block; bool drawn; uint32_t *permutation; };

static int walk_init(struct walk *w, const struct file *f, const struct cell *c)
{
	w->order = c->order;
	w->elements = c->order == BLOCK_RANDOM ? c->size / f->line : c->size / c->stride;
	w->block = c->order == RANDOM ? w->elements : c->order == PAGE_RANDOM ? f->page_block / c->stride
		: c->order == BLOCK_RANDOM ? c->stride : 0;
	w->permutation = NULL;
	if (w->block > w->elements)
		w->block = w->elements;
	w->drawn = w->block > DRAWN;
	if (!w->block || w->drawn)
		return 0;
	w->permutation = malloc(w->block * sizeof *w->permutation);
	if (!w->permutation)
		return -1;
	uint64_t state = 1;
	for (uint32_t i = 0; i < w->block; i++) {
		uint32_t j = (uint32_t)((uint64_t)next_random(&state) * (i + 1) >> 32);
		w->permutation[i] = w->permutation[j];
		w->permutation[j] = i;
	}
	return 0;
}

static uint64_t walk_at(const struct walk *w, uint64_t i)
{
	i %= w->elements;
	if (w->order == BACKWARD)
		return w->elements - 1 - i;
	if (!w->block)
		return i;
	if (w->drawn) {
		uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
		return ((x ^ x >> 32) & UINT32_MAX) * w->elements >> 32;
	}
	uint64_t block = i / w->block * w->block;
	return w->elements - block < w->block ? i : block + w->permutation[i - block];
}

static struct spmu_record *nothing(void *context, const struct spmu_batch *b)
{
	(void)context;
	(void)b;
	return NULL;
}

static struct iblock *chain_block(const struct isa *isa, int word_bytes, struct err *err)
{
	struct {
		struct st_block_def def;
		struct st_insn_def insn[UNROLLED];
		struct st_slot slot[UNROLLED];
		struct st_exit_def exit;
	} d = { .def = { .insns = UNROLLED, .slots = UNROLLED, .exits = 1 }, .exit = { .insns = UNROLLED,
		.slots = UNROLLED, .jump = ST_JUMP_BORING } };
	unsigned len = word_bytes == 8 ? 3 : 2;
	for (unsigned i = 0; i < UNROLLED; i++) {
		d.insn[i] = (struct st_insn_def){ .addr = CODE + i * len, .len = (uint8_t)len };
		memcpy(d.insn[i].bytes, word_bytes == 8 ? "\x48\x8b\x00" : "\x8b\x00", len);
		d.slot[i] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = (uint8_t)i, .size = (uint8_t)word_bytes };
	}
	struct iblock *b = NULL;
	return isa_decode(isa, word_bytes, &d.def, sizeof d, &b, err) ? NULL : b;
}

struct lab { const struct core_config *config; struct isa *isa; struct iblock *block; const struct file *file; };

/* Runs `n` loads of the chain from the i-th on. cold: warms the caches without time. */
static void follow(struct core *core, const struct lab *lab, const struct walk *w, uint32_t step, uint64_t i,
	uint64_t n, bool cold)
{
	uint64_t slots[UNROLLED];
	for (uint64_t end = i + n; i < end; i += UNROLLED) {
		for (unsigned k = 0; k < UNROLLED; k++)
			slots[k] = DATA_BASE + walk_at(w, i + k) * step;
		if (cold)
			core_warm_memory(core, lab->block, 0, UNROLLED, slots);
		else
			core_run_block(core, lab->block, 0, UNROLLED, slots, CODE);
	}
}

static int run_cell(const struct lab *lab, struct cell *c, struct err *err)
{
	static const struct core_wanted none;
	struct machine *machine = NULL;
	struct core *core = NULL;
	struct walk w;
	if (walk_init(&w, lab->file, c))
		return err_set(err, ERR_NOMEM, "out of memory");
	uint32_t step = c->order == BLOCK_RANDOM ? lab->file->line : c->stride;
	int rc = machine_create(&machine, lab->config, err);
	if (!rc)
		rc = core_create(&core, machine, nothing, NULL, err);
	if (!rc) {
		core_want(core, &none);
		/* writing the chain touches every page, or every page with an element, in rising order */
		struct walk pages = { .order = LINEAR, .elements = lab->file->all_pages || step < 4096
			? (c->size + 4095) / 4096 : w.elements };
		follow(core, lab, &pages, lab->file->all_pages || step < 4096 ? 4096 : step, 0, pages.elements, true);
		/* then it is followed, untimed, until the caches hold what they hold in the long run */
		const bool in_order = w.order == LINEAR || w.order == BACKWARD;
		uint64_t lines = (lab->config->l1d_size + lab->config->l2_size +
			lab->config->l3_size) / (64 >> lab->config->cache_line);
		uint64_t warm = 3 * lines * (in_order ? (step < 64 ? 64 / step : 1) : 1) + RUN_IN;
		if (warm > 2ull * w.elements)
			warm = 2ull * w.elements;
		follow(core, lab, &w, step, 0, warm, true);
		/* then it is timed: whole rounds, or stretches of a round */
		const bool whole = w.elements <= TIMED;
		const unsigned windows = whole ? 1 : WINDOWS;
		uint64_t run_in = whole ? RUN_IN : RUN_IN / WINDOWS, timed = whole
			? (TIMED / w.elements + 1) * w.elements : TIMED / WINDOWS;
		uint64_t between = whole ? 0 : w.elements / WINDOWS, cycles = 0, i = warm, stretch = run_in + timed;
		if (!whole && w.block < w.elements)
			between += w.block / WINDOWS;	/* so that stretches begin at all places in a block */
		between = between > stretch ? between - stretch : 0;
		uint64_t jump = between > BETWEEN ? between - BETWEEN : 0;	/* skipped in very long chains */
		for (unsigned n = 0; n < windows; n++) {
			follow(core, lab, &w, step, i, run_in, false);
			uint64_t from = core_now(core);
			follow(core, lab, &w, step, i + run_in, timed, false);
			cycles += core_now(core) - from;
			i += stretch + jump;
			follow(core, lab, &w, step, i, between - jump, true);
			i += between - jump;
		}
		c->model = (double)cycles / (double)(((timed + UNROLLED - 1) & ~(uint64_t)(UNROLLED - 1)) * windows);
	}
	core_destroy(core);
	machine_destroy(machine);
	free(w.permutation);
	return rc;
}

/* --- the report --- */

/* Returns the model's error; the files state whole cycles, so the model's cycles are rounded, too. */
static double error_of(const struct cell *c)
{
	return fabs(floor(c->model + 0.5) / c->measured - 1);
}

static const char *size_text(uint32_t bytes, char text[16])
{
	snprintf(text, 16, bytes >= 1 << 20 && !(bytes & 0xfffff) ? "%u MB" : "%u KB", bytes >= 1 << 20 &&
		!(bytes & 0xfffff) ? bytes >> 20 : bytes >> 10);
	return text;
}

static void print_errors(const struct file *f)
{
	static const char *const name[ORDERS] = { "linear", "backward", "random",
		"random within 4 KB pages of the DTLB's reach", "random within blocks" };
	double all = 0;
	puts("\n| table | cells | mean abs. error | worst |\n|---|---:|---:|---|");
	for (unsigned o = 0; o <= ORDERS; o++) {
		double sum = 0;
		size_t n = 0;
		const struct cell *worst = NULL;
		for (size_t i = 0; i < f->cells; i++) {
			if (o < ORDERS && f->cell[i].order != (enum order)o)
				continue;
			sum += error_of(&f->cell[i]);
			n++;
			if (!worst || error_of(&f->cell[i]) > error_of(worst))
				worst = &f->cell[i];
		}
		if (!n)
			continue;
		char size[16];
		all = 100 * sum / (double)n;
		printf("| %s | %zu | %.1f %% | %s, %s %u: %.0f measured, %.0f model |\n", o < ORDERS ? name[o]
			: "**all**", n, all, size_text(worst->size, size),
		       worst->order == BLOCK_RANDOM ? "lines" : "stride", worst->stride, worst->measured, worst->model);
	}
}

static void print_curves(const struct file *f)
{
	static const struct { enum order order; uint32_t stride; } curve[] = {
		{ RANDOM, 64 }, { RANDOM, 512 }, { PAGE_RANDOM, 128 }, { LINEAR, 64 }, { LINEAR, 256 },
			{ LINEAR, 1024 }, { LINEAR, 4096 } };
	static const char *const name[ORDERS] = { "linear", "backward", "random", "pages", "blocks" };
	enum { CURVES = sizeof curve / sizeof *curve };
	double sum[CURVES] = { 0 };
	unsigned n[CURVES] = { 0 };
	bool has[CURVES];
	printf("\nCycles a load, measured / model:\n\n| size |");
	for (unsigned k = 0; k < CURVES; k++) {
		has[k] = false;
		for (size_t i = 0; i < f->cells; i++)
			has[k] |= f->cell[i].order == curve[k].order && f->cell[i].stride == curve[k].stride;
		if (has[k])
			printf(" %s, %u |", name[curve[k].order], curve[k].stride);
	}
	printf("\n|---:|");
	for (unsigned k = 0; k < CURVES; k++)
		if (has[k])
			printf("---:|");
	putchar('\n');
	for (size_t i = 0; i < f->cells; i++) {
		bool first = true;
		for (size_t j = 0; j < i; j++)
			first &= f->cell[j].size != f->cell[i].size;
		char size[16];
		if (!first)
			continue;
		printf("| %s |", size_text(f->cell[i].size, size));
		for (unsigned k = 0; k < CURVES; k++) {
			const struct cell *c = has[k] ? find(f, curve[k].order, f->cell[i].size, curve[k].stride)
				: NULL;
			if (c) {
				printf(" %.0f / %.0f |", c->measured, c->model);
				sum[k] += error_of(c);
				n[k]++;
			} else if (has[k]) {
				printf(" |");
			}
		}
		putchar('\n');
	}
	printf("| mean abs. error |");
	for (unsigned k = 0; k < CURVES; k++)
		if (has[k])
			printf(" %.1f %% |", 100 * sum[k] / n[k]);
	putchar('\n');
}

static int one_file(const char *path, const char *data, const char *preset, char **sets, int n, struct err *err)
{
	struct file f = { 0 };
	struct core_config config;
	struct lab lab = { .config = &config, .file = &f };
	char name[64], table[4096];
	int rc = read_file(&f, path, err);
	if (!rc && preset)
		snprintf(name, sizeof name, "%s", preset);
	else if (!rc)
		rc = nearest(&f, data, name, sizeof name, err);
	if (!rc)
		rc = core_config_load(&config, data, name, err);
	if (!rc)
		rc = configure(&config, &f, err);
	for (int i = 0; i < n && !rc; i++) {
		rc = core_config_set(&config, sets[i], err);
		snprintf(f.set + strlen(f.set), sizeof f.set - strlen(f.set), "%s ", sets[i]);
	}
	if (!rc)
		rc = core_config_check(&config, err);
	if (!rc) {
		snprintf(table, sizeof table, "%s/uops/%s.tsv", data, config.uops);
		rc = isa_create(&lab.isa, table, err);
	}
	if (!rc) {
		struct isa_options o;
		core_isa_options(&config, &o);
		isa_configure(lab.isa, &o);
		lab.block = chain_block(lab.isa, f.word_bytes, err);
		rc = lab.block ? 0 : ERR_INPUT;
	}
	for (size_t i = 0; i < f.cells && !rc; i++) {
		rc = run_cell(&lab, &f.cell[i], err);
		if (getenv("CELLS") && !rc)
			fprintf(stderr, "%u;%u;%u;%.0f;%.2f\n", f.cell[i].order, f.cell[i].size, f.cell[i].stride,
				f.cell[i].measured, f.cell[i].model);
	}
	if (!rc) {
		printf("\n### %s: %s at %.2f GHz\n\nFields set from the file's head:\n\n    %s\n", f.name, name, f.ghz,
			f.set);
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (!strcmp(known[i].file, f.name))
				printf("\n%s is %s.\n", known[i].set, known[i].why);
		print_errors(&f);
		print_curves(&f);
	}
	if (lab.block)
		isa_block_free(lab.block);
	isa_destroy(lab.isa);
	free(f.cell);
	return rc;
}

int memlat_main(int argc, char **argv)
{
	struct err err = { 0 };
	int at = 1, sets, done = 0;
	const char *preset = NULL;
	if (argc > 2 && !strncmp(argv[2], "core=", 5)) {
		preset = argv[2] + 5;
		at = 2;
	}
	for (sets = at + 1; sets < argc && strchr(argv[sets], '=') && !strchr(argv[sets], '/'); sets++)
		;
	if (argc < 2 || sets >= argc) {
		fputs("usage: accuracy memlat SOFTPMU_DATA [core=PRESET] [FIELD=VALUE ...] FILE ...\n", stderr);
		return 2;
	}
	puts("\n## Memory latency by size and stride\n\n"
	     "Chains of loads as InstLatx64 measured them (its MemLat files): from 4 KB to 256 MB, in order and at "
	     	"random. The model\n"
	     "is the nearest preset with the frequency, cache and TLB sizes of the measured part "
	     	"(`tests/accuracy/memlat.c` says\n"
	     "how). The files have whole cycles, so the model's cycles are rounded for the error. Other files:\n"
	     "`build/accuracy memlat data FILE`.");
	for (int i = sets; i < argc; i++, done++)
		if (one_file(argv[i], argv[1], preset, argv + at + 1, sets - at - 1, &err)) {
			fprintf(stderr, "accuracy: %s\n", err.text);
			return 1;
		}
	return !done || fflush(stdout) || ferror(stdout);
}
