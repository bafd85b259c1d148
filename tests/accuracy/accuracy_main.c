/* SPDX-License-Identifier: GPL-2.0-or-later
 * make accuracy: compares every preset with the published measurements of its machine; Markdown on standard output.
 *
 * usage: accuracy DATA SOFTPMU_DATA [PRESET] DATA holds instlat/ and skylake-throughput/. Environment: MCA=0
 * leaves llvm-mca out; MISSED=1 names on standard error every row of instlat/ that was not understood or is not
 * good, ROWS=1 prints every row of skylake-throughput/ there: set;measured;model;bottleneck;templates.
 * SET="FIELD=VALUE ..." changes fields of the core's file, as --set does; SHORT=1 prints one line, the mean
 * errors of single, pairs and fives, and Kendall's tau of fives, and no more (experiments/ablation.sh).
 * FOLD=K/N: of instlat/ only every Nth of the rows that are not held out, from the Kth: what FOLDS=N
 * tools/uops/generate_uops.sh left out.
 */
#include "accuracy.h"
#include "analysis/block/assemble.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORST = 10, CAUSES = 32, INSTLAT_INSNS = 3000,
	INSTLAT_FEW_INSNS =
	/* a trace cache holds so many at four uops each; POP r32 (0.50 a clock on the Pentium) stays within 8 KB */
	1000 };

/* The machines of the data. */
static const struct source { const char *preset, *file; int word_bytes; bool wide; unsigned general; } instlat_of[] = {
	{ "golden-cove", "0090672_AlderLake_01_BC_InstLatX64.txt", 8, true, 0 },
	{ "skylake", "00506E3_Skylake_InstLatX64.txt", 8, false, 0 },
	{ "ivy-bridge", "00306A9_IvyBridge_InstLatX64.txt", 8, false, 0 },
	{ "core2", "00006F6_Conroe_InstLatX64.txt", 8, false, 0 },
	{ "pentium3", "0000683_P3_Coppermine_InstLatX86.txt", 4, false, 0 },
	{ "willamette", "0000F13_P4_Willamette_InstLatX86.txt", 4, false, 0 },
	{ "prescott", "0000F43_P4_Prescott_InstLatX64.txt", 8, false, 14 },
	{ "pentium", "0000525_P54C_InstLatX86.txt", 4, false, 0 },
};

static int fail(const struct err *err)
{
	fprintf(stderr, "accuracy: %s\n", err->text);
	return 1;
}

static unsigned copies(const char *text, size_t size, unsigned insns, unsigned bytes)
{
	unsigned n = 0;
	for (; *text; text++)
		n += *text == '\n';
	if (!insns || !n || !size)
		return 0;
	unsigned by_insns = insns / n, by_bytes = bytes / (unsigned)size, least = by_insns < by_bytes ? by_insns
		: by_bytes;
	return least ? least : 1;
}

int rows_run(struct rows *r, struct block_engine *engine, int word_bytes, bool loop, unsigned insns, unsigned bytes,
	struct err *err)
{
	struct asm_source *source = calloc(r->n + 1, sizeof *source);
	struct asm_block *block = calloc(r->n + 1, sizeof *block);
	int rc = source && block ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < r->n && !rc; i++)
		source[i] = (struct asm_source){ r->row[i].text, strlen(r->row[i].text) };
	if (!rc)
		rc = asm_blocks(source, r->n, word_bytes, block, err);
	for (size_t i = 0; i < r->n && !rc; i++) {
		struct row *w = &r->row[i];
		const struct block_spec spec = { .code = block[i].code, .bytes = block[i].bytes,
			.word_bytes = word_bytes, .loop = loop,
			.copies = copies(w->text, block[i].bytes, insns, bytes), .detail = true };
		struct block_result result = { 0 };
		struct err why = { 0 };
		w->failed = block[i].error || block_run(engine, &spec, &result, &why);
		if (w->failed) {
			snprintf(w->why, sizeof w->why, "%.60s", block[i].error ? block[i].error : why.text);
		} else {
			w->model = (double)result.cycles / (double)result.iterations / w->unit;
			snprintf(w->why, sizeof w->why, "%s%s", result.bottleneck, result.unknown ? " (no row)"
				: result.substitute ? " (substitute)" : "");
		}
		block_release(&result);
	}
	if (block)
		asm_release(block, r->n);
	free(source);
	free(block);
	return rc;
}

/* ---- tables ---- */

/* '|' would end the cell. */
static void print_cell(const char *text)
{
	for (; *text; text++)
		fputs(*text == '|' ? "; " : (char[]){ *text, 0 }, stdout);
}

static void print_worst(const struct rows *r, row_chosen *chosen)
{
	size_t index[WORST], n = worst_rows(r, chosen, index, WORST);
	printf("\n    %8s %8s %9s  %-24s  %s\n", "measured", "model", "error", "limited by (model)", "row");
	for (size_t i = 0; i < n; i++) {
		const struct row *w = &r->row[index[i]];
		printf("    %8.2f %8.2f %+7.0f %%  %-24s  ", w->measured, w->model, 100 * row_error(w), w->why);
		print_cell(w->name);
		putchar('\n');
	}
}

static void print_failed(const struct rows *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].failed && n++ < 5) {
			fputs(n == 1 ? "\nRows without a figure:\n\n- `" : "- `", stdout);
			print_cell(r->row[i].name);
			printf("`: %s\n", r->row[i].why);
		}
	if (n > 5)
		puts("- and more");
}

/* Prints the mean error by the bottleneck that the model names: shows where to look first. */
static void print_causes(const struct rows *r)
{
	struct { const char *why; size_t n; double error, bias; } cause[CAUSES] = { 0 };
	size_t causes = 0;
	for (size_t i = 0; i < r->n; i++) {
		size_t k = 0;
		while (k < causes && strcmp(cause[k].why, r->row[i].why))
			k++;
		if (r->row[i].failed || k == CAUSES)
			continue;
		if (k == causes)
			cause[causes++].why = r->row[i].why;
		cause[k].n++;
		cause[k].error += 100 * fabs(row_error(&r->row[i]));
		cause[k].bias += 100 * row_error(&r->row[i]);
	}
	puts("\n| limited by (model) | rows | mean error | mean signed | share of all error "
		"|\n|---|---:|---:|---:|---:|");
	double all = 0;
	for (size_t k = 0; k < causes; k++)
		all += cause[k].error;
	for (size_t done = 0; done < causes; done++) {
		size_t best = 0;
		for (size_t k = 1; k < causes; k++)
			if (cause[k].n && (!cause[best].n || cause[k].error > cause[best].error))
				best = k;
		if (!cause[best].n)
			break;
		printf("| %s | %zu | %.1f %% | %+.1f %% | %.0f %% |\n", cause[best].why, cause[best].n,
			cause[best].error / (double)cause[best].n,
		       cause[best].bias / (double)cause[best].n, all > 0 ? 100 * cause[best].error / all : 0);
		cause[best].n = 0;
		cause[best].error = -1;
	}
}

/* ---- skylake-throughput ---- */

static int throughput(const char *data, struct block_engine *engine, struct err *err)
{
	static const char *const set[] = { "single", "pairs", "fives" };
	struct rows rows[3] = { 0 };
	const char *mca = getenv("MCA");
	bool with_mca = !mca || strcmp(mca, "0");
	int rc = 0;
	puts("\n### Throughput of independent instructions\n\n"
	     "Others measured these on a Skylake (skylake-throughput). The model runs the same loop: 50 instructions, "
	     	"with\n"
	     "registers and displacements taken in turn, closed by SUB and JNZ. llvm-mca gets four copies of the "
	     	"sequence.\n\n"
	     "| set | by | rows | mean abs. error | median | 90th percentile | mean signed | Kendall's tau | no figure "
	     	"|\n"
	     "|---|---|---:|---:|---:|---:|---:|---:|---:|");
	for (unsigned i = 0; i < 3 && !rc; i++) {
		char path[4096];
		struct summary s;
		snprintf(path, sizeof path, "%s/skylake-throughput/%s.csv", data, set[i]);
		rc = template_read(&rows[i], path, err);
		if (!rc)
			rc = rows_run(&rows[i], engine, 8, true, 0, 0, err);
		if (!rc)
			rc = summarize(&rows[i], row_model, NULL, NULL, &s);
		for (size_t k = 0; !rc && getenv("ROWS") && k < rows[i].n; k++)
			fprintf(stderr, "%s;%.4f;%.4f;%s;%s\n", set[i], rows[i].row[k].measured, rows[i].row[k].model,
				rows[i].row[k].why, rows[i].row[k].name);
		if (rc)
			break;
		printf("| %s | softpmu | %zu | %.2f %% | %.2f %% | %.2f %% | %+.2f %% | %.3f | %zu |\n", set[i], s.rows,
			s.mape, s.median, s.p90, s.bias, s.tau, s.failed);
		fflush(stdout);
		struct err why = { 0 };
		if (with_mca && mca_run(&rows[i], "skylake", &why)) {
			fprintf(stderr, "accuracy: %s\n", why.text);
			with_mca = false;
		} else if (with_mca && !(rc = summarize(&rows[i], row_other, NULL, NULL, &s))) {
			printf("| %s | llvm-mca 19 | %zu | %.2f %% | %.2f %% | %.2f %% | %+.2f %% | %.3f | %zu |\n",
				set[i], s.rows, s.mape, s.median, s.p90, s.bias, s.tau, s.failed);
		}
	}
	for (unsigned i = 0; i < 3 && !rc; i++) {
		printf("\n#### %s: the worst, and by cause\n", set[i]);
		print_worst(&rows[i], NULL);
		print_failed(&rows[i]);
		print_causes(&rows[i]);
	}
	for (unsigned i = 0; i < 3; i++)
		rows_free(&rows[i]);
	return rc;
}

/* ---- instlat ---- */

static bool good_latency(const struct row *r)
{
	double off = fabs(r->model - r->measured);
	return off <= 1 || off <= 0.1 * r->measured;
}
static bool good_throughput(const struct row *r) { return fabs(row_error(r)) <= 0.15; }
static bool held_out(const struct row *r) { return r->held_out; }
static bool built_from(const struct row *r) { return !r->held_out; }

static int print_instlat(const char *what, const struct rows *r, row_good *good, row_chosen *chosen, const char *of)
{
	struct summary s;
	int rc = summarize(r, row_model, chosen, good, &s);
	if (!rc)
		printf("| %s | %s | %zu | %.1f %% | %.2f %% | %.2f %% | %.2f %% | %.3f | %zu |\n", what, of, s.rows,
			s.within, s.mape, s.median, s.p90, s.tau, s.failed);
	return rc;
}

/* Prints every row that is not good, and why, to standard error. */
static void explain_rows(const struct rows *r, const char *what, row_good *good)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->row[i];
		if (w->failed)
			fprintf(stderr, "%s, no figure: %s: %s\n", what, w->name, w->why);
		else if (!good(w))
			fprintf(stderr, "%s, not good: %.2f measured, %.2f model: %s: %s\n", what, w->measured,
				w->model, w->name, w->why);
	}
}

static void explain(const struct instlat *in)
{
	for (size_t i = 0; i < in->missed.n; i++)
		fprintf(stderr, "not understood: %s\n", in->missed.row[i].name);
	explain_rows(&in->latency, "latency", good_latency);
	explain_rows(&in->throughput, "throughput", good_throughput);
}

static int instlat(const char *path, const struct source *of, struct block_engine *engine,
	const struct core_config *core, struct err *err)
{
	struct instlat in = { .word_bytes = of->word_bytes, .wide = of->wide, .general = of->general };
	const char *fold = getenv("FOLD");
	if (fold && (sscanf(fold, "%u/%u", &in.fold, &in.folds) != 2 || in.fold >= in.folds))
		return err_set(err, ERR_INPUT, "FOLD=%s: not K/N with K below N", fold);
	int rc = instlat_read(&in, path, err);
	if (!rc)
		rc = rows_run(&in.latency, engine, of->word_bytes, false, 0, 0, err);
	if (!rc)
		rc = rows_run(&in.throughput, engine, of->word_bytes, false, core->dsb_sets ? INSTLAT_INSNS
			: INSTLAT_FEW_INSNS, core->l1i_size / 4 * 3, err);
	if (!rc) {
		printf("\n### Latency and throughput of single instructions\n\nMeasured by InstLatx64 (%s): %zu lines "
			"with a measurement; %zu of their\n"
		       "measurements could not be translated to assembly. Good: latency within 1 cycle or 10 %%, "
		       	"throughput within 15 %%.\n\n"
		       "| what | rows | compared | good | mean abs. error | median | 90th percentile | Kendall's tau | "
		       	"no figure |\n"
		       "|---|---|---:|---:|---:|---:|---:|---:|---:|\n", of->file, in.lines, in.not_understood);
		rc = print_instlat("latency", &in.latency, good_latency, built_from, in.folds ? "left out"
			: "four of five");
		if (!rc && !in.folds)
			rc = print_instlat("latency", &in.latency, good_latency, held_out, "every fifth, held out");
		if (!rc)
			rc = print_instlat("throughput", &in.throughput, good_throughput, built_from, in.folds
				? "left out" : "four of five");
		if (!rc && !in.folds)
			rc = print_instlat("throughput", &in.throughput, good_throughput, held_out,
				"every fifth, held out");
		puts("\n#### latency: the worst");
		print_worst(&in.latency, NULL);
		print_failed(&in.latency);
		puts("\n#### throughput: the worst");
		print_worst(&in.throughput, NULL);
		print_failed(&in.throughput);
		if (getenv("MISSED"))
			explain(&in);
	}
	instlat_free(&in);
	return rc;
}

/* Sets the fields that SET in the environment names. */
static int set_fields(struct core_config *core, struct err *err)
{
	char *copy = getenv("SET") ? strdup(getenv("SET")) : NULL, *save = NULL;
	int rc = 0;
	for (char *s = copy ? strtok_r(copy, " ", &save) : NULL; s && !rc; s = strtok_r(NULL, " ", &save))
		rc = core_config_set(core, s, err);
	free(copy);
	return rc;
}

/* Prints the one line that experiments/ablation.sh reads. */
static int throughput_short(const char *data, struct block_engine *engine, struct err *err)
{
	static const char *const set[] = { "single", "pairs", "fives" };
	int rc = 0;
	for (unsigned i = 0; i < 3 && !rc; i++) {
		struct rows rows = { 0 };
		struct summary s;
		char path[4096];
		snprintf(path, sizeof path, "%s/skylake-throughput/%s.csv", data, set[i]);
		rc = template_read(&rows, path, err);
		if (!rc)
			rc = rows_run(&rows, engine, 8, true, 0, 0, err);
		if (!rc)
			rc = summarize(&rows, row_model, NULL, NULL, &s);
		if (!rc)
			printf(i < 2 ? "%.2f %% | " : "%.2f %% | %.3f\n", s.mape, s.tau);
		rows_free(&rows);
	}
	return rc;
}

static int preset(const char *name, const char *data, const char *own, struct err *err)
{
	struct core_config core;
	struct block_engine *engine = NULL;
	char path[4096];
	bool any = false;
	int rc = core_config_load(&core, own, name, err);
	if (!rc)
		rc = set_fields(&core, err);
	if (!rc)
		rc = block_engine_create(&engine, &core, own, err);
	if (rc)
		return rc;
	if (getenv("SHORT")) {
		rc = throughput_short(data, engine, err);
		block_engine_destroy(engine);
		return rc;
	}
	printf("\n## %s\n", name);
	snprintf(path, sizeof path, "%s/skylake-throughput/single.csv", data);
	if (!strcmp(name, "skylake") && access(path, R_OK) == 0) {
		rc = throughput(data, engine, err);
		any = true;
	}
	for (size_t i = 0; i < sizeof instlat_of / sizeof *instlat_of && !rc; i++) {
		snprintf(path, sizeof path, "%s/instlat/%s", data, instlat_of[i].file);
		if (strcmp(name, instlat_of[i].preset) || access(path, R_OK))
			continue;
		rc = instlat(path, &instlat_of[i], engine, &core, err);
		any = true;
	}
	if (!any)
		puts("\nNo measurements of this machine among the data.");
	block_engine_destroy(engine);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	unsigned done = 0;
	if (argc > 1 && !strcmp(argv[1], "memlat"))
		return memlat_main(argc - 1, argv + 1);
	if (argc < 3 || argc > 4) {
		fputs("usage: accuracy DATA SOFTPMU_DATA [PRESET] | accuracy memlat SOFTPMU_DATA FILE ...\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof instlat_of / sizeof *instlat_of; i++) {
		char path[4096];
		const char *name = instlat_of[i].preset;
		snprintf(path, sizeof path, "%s/cores/%s.conf", argv[2], name);
		if ((argc == 4 && strcmp(argv[3], name)) || access(path, R_OK))
			continue;
		if (preset(name, argv[1], argv[2], &err))
			return fail(&err);
		done++;
	}
	if (!done) {
		fprintf(stderr, "accuracy: %s: no such preset\n", argc == 4 ? argv[3] : argv[2]);
		return 1;
	}
	return fflush(stdout) || ferror(stdout);
}
