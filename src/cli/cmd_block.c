/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu block: runs a few instructions in a steady state and prints cycles per iteration, ports, and the
 * bottleneck. */
#include "cli/cli.h"
#include "analysis/block/assemble.h"
#include "analysis/block/block.h"
#include "cli/trace/trace_pipeline.h"
#include "util/json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1000000, TEXT_MAX = 256 << 20, COLUMNS = 100 };

extern const struct cli_command cmd_block;

struct options {
	struct cli_run run;
	const char *text, *hex, *elf, *range, *lines, *file;
	const char *pipeline;	/* --timeline=FILE; NULL: none */
	enum trace_format format;
	bool loop, timeline, json, legacy;
	unsigned copies;
};

static int set_timeline(void *target, const struct option *option, const char *value, struct err *err)
{
	struct options *o = target;
	(void)option;
	if (value && (!*value || !strcmp(value, "-")))
		return err_set(err, ERR_INPUT, "--timeline=%s: the name of a file, or --timeline alone", value);
	o->timeline = !value;
	o->pipeline = value;
	return 0;
}

static const struct option options[] = {
	OPT_GROUP("The code"),
	OPT_TEXT(0, "asm", "TEXT", struct options, text, "Assembly in Intel syntax, with ; between instructions. The "
		"system assembler (as) translates it."),
	OPT_TEXT(0, "hex", "BYTES", struct options, hex, "Code bytes, as in '48 01 d8 48 0f af c8'."),
	OPT_TEXT(0, "elf", "FILE", struct options, elf, "The code of an executable, from address A up to B (--range)."),
	OPT_TEXT(0, "range", "A-B", struct options, range, "Addresses for --elf: hexadecimal, as objdump prints them."),
	OPT_TEXT(0, "lines", "FILE", struct options, lines, "Read one block of assembly from each line of FILE (-: "
		"standard input). Prints a CSV row for each: cycles per iteration, instructions, fused uops, uops, "
		"bottleneck, error."),
	OPT_FLAG(0, "32", struct options, legacy, "The code is 32-bit code."),
	OPT_GROUP("How it runs"),
	OPT_FLAG(0, "loop", struct options, loop, "Run the block as a loop: it ends in a branch to its start, or a "
		"dec/jnz pair is added. Without this option, copies of the block follow one another without a branch."),
	OPT_WHOLE(0, "copies", "N", struct options, copies, 1, 10000, "Make N copies. Default: up to 256 instructions "
		"and 2048 bytes."),
	CLI_OPTION_CORE(struct options, run.),
	CLI_OPTION_SET(struct options, run.),
	OPT_GROUP("What is printed"),
	OPT_CALL(0, "timeline", "FILE", set_timeline, "Also draw when each uop was fetched, allocated, ready, "
		"dispatched, complete and retired. With =FILE, write it to FILE instead, for a viewer of pipelines.",
		.optional = true),
	OPT_CHOICE(0, "format", TRACE_FORMATS, struct options, format, TRACE_KANATA, "Of --timeline=FILE: kanata, for "
		"Konata; o3pipeview, for gem5's o3-pipeview.py; json, for softpmu report --html --add. By default the "
		"end of FILE's name chooses: .o3, .o3pipeview and .out are o3pipeview, .json is json, and all others "
		"are kanata."),
	OPT_FLAG('j', "json", struct options, json, "Print JSON."),
	OPT_END
};

static int take_file(void *target, const char *word, struct err *err)
{
	struct options *o = target;
	if (o->file)
		return err_set(err, ERR_INPUT, "one file at a time: '%s' or '%s'", o->file, word);
	o->file = word;
	return 0;
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct options *o, int argc, char **argv)
{
	const int go = cli_options_and_words(&cmd_block, o, argc, argv, take_file);
	if (go <= 0)
		return go;
	const int sources = !!o->text + !!o->hex + !!o->elf + !!o->lines + !!o->file;
	if (sources > 1)
		cli_error("one block at a time: --asm, --hex, --elf, --lines or a file");
	else if (!o->elf != !o->range)
		cli_error(o->elf ? "--elf needs --range A-B" : "--range needs --elf FILE");
	else if (o->lines && (o->timeline || o->pipeline || o->json))
		cli_error("--lines prints CSV: it goes without %s", o->json ? "--json" : "--timeline");
	else if (o->format != TRACE_BY_NAME && !o->pipeline)
		cli_error("--format goes with --timeline=FILE");
	else if (o->loop && o->copies)
		cli_error("--loop runs one copy: it goes without --copies");
	else
		return 1;
	return -1;
}

/* Reads the whole file, and ends it with a NUL; NULL after one printed line. */
static char *read_text(const char *name, size_t *bytes)
{
	bool standard = !name || !strcmp(name, "-");
	FILE *f = standard ? stdin : fopen(name, "re");
	char *text = NULL;
	size_t room = 0, n = 0;
	if (!f) {
		cli_error("%s: %s", name, strerror(errno));
		return NULL;
	}
	for (;;) {
		if (room - n < 2) {
			char *more = room < TEXT_MAX ? realloc(text, room = room * 2 + 65536) : NULL;
			if (!more) {
				cli_error("%s: too long", standard ? "standard input" : name);
				goto bad;
			}
			text = more;
		}
		errno = 0;
		size_t got = fread(text + n, 1, room - n - 1, f);
		n += got;
		if (!got)
			break;
	}
	if (ferror(f)) {
		cli_error("%s: %s", standard ? "standard input" : name, errno ? strerror(errno) : "read error");
		goto bad;
	}
	if (!standard)
		fclose(f);
	text[n] = 0;
	*bytes = n;
	return text;
bad:
	if (!standard)
		fclose(f);
	free(text);
	return NULL;
}

/* ---- one block: text for people ---- */

static void print_port_row(const double *port, unsigned ports)
{
	for (unsigned p = 0; p < ports; p++) {
		if (port[p] < 0.005)
			printf("    - ");
		else
			printf(" %5.2f", port[p]);
	}
}

static void print_table(const struct block_result *r, unsigned ports)
{
	double sum[BLOCK_PORTS] = { 0 };
	fputs("fused uops", stdout);
	for (unsigned p = 0; p < ports; p++)
		printf(p < 10 ? "    p%u" : "   p%u", p);
	fputs("   instruction\n", stdout);
	for (unsigned i = 0; i < r->insns; i++) {
		const struct block_insn *in = &r->insn[i];
		printf("%5u %4u", in->slots, in->uops);
		print_port_row(in->port, ports);
		printf("   %s%s%s%s%s\n", in->text, in->fused ? "   # fused with the one before" : "",
			in->unknown ? "   # not in the uop table" : "",
			in->substitute ? "   # newer than the core" : "", in->appended ? "   # added" : "");
		for (unsigned p = 0; p < ports; p++)
			sum[p] += in->port[p];
	}
	printf("%5u %4u", r->slots, r->uops);
	print_port_row(sum, ports);
	fputs("   an iteration\n", stdout);
}

static void print_bounds(const struct block_result *r)
{
	fputs("\nbounds (cycles an iteration):\n", stdout);
	for (unsigned i = 0; i < r->bounds; i++) {
		const struct block_bound *b = &r->bound[i];
		if (b->limit == LIMIT_FRONT_END)
			printf("  %c %-10s %8s  %s\n", b->binds ? '*' : ' ', block_limit_name(b->limit), "", b->text);
		else
			printf("  %c %-10s %8.2f  %s\n", b->binds ? '*' : ' ', block_limit_name(b->limit), b->cycles,
				b->text);
	}
	if (!r->links)
		return;
	printf("\nlongest dependency chain%s:\n", r->chain_iterations > 1 ? ", over several iterations" : "");
	for (unsigned i = 0; i < r->links && i < 64; i++)
		printf("  %3u cycle%s  %s\n", r->chain[i].latency, r->chain[i].latency == 1 ? " " : "s",
			r->insn[r->chain[i].insn].text);
	if (r->links > 64)
		printf("  and %u more\n", r->links - 64);
}

/* 0, or 1 after one printed line. */
static int write_timeline(const struct options *o, const struct block_result *r)
{
	struct pipeline *p;
	struct err err = { 0 };
	if (pipeline_of_block(&p, r, &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	const int rc = trace_pipeline_write(p, o->pipeline, o->format);
	pipeline_destroy(p);
	return rc != 0;
}

static int print_text(const struct options *o, const struct block_result *r)
{
	double cycles = (double)r->cycles / r->iterations;
	printf("%s, ", o->run.core.title);
	if (o->loop)
		puts("loop");
	else
		printf("%u cop%s in a row\n", r->copies, r->copies == 1 ? "y" : "ies");
	for (unsigned i = 0; i < r->notes; i++)
		printf("note: %s\n", r->note[i]);
	if (r->unknown || r->substitute)
		printf("note: %u instruction%s without a row in the uop table, %u newer than the core: their timing is "
		       "a substitute\n",
			r->unknown, r->unknown == 1 ? "" : "s", r->substitute);
	printf("\ncycles per iteration  %10.4f", cycles);
	if (!r->periodic)
		fputs("  (an average: no period found)", stdout);
	else if (r->iterations > 1)
		printf("  (%llu cycles in %llu iterations, again and again)", (unsigned long long)r->cycles,
			(unsigned long long)r->iterations);
	printf("\ninstructions          %10u  (%.2f a cycle)\n", r->insns, cycles > 0 ? r->insns / cycles : 0);
	printf("uops                  %10u  (%u fused)\n", r->uops, r->slots);
	printf("bottleneck            %10s\n\n", r->bottleneck);
	print_table(r, o->run.core.ports_count);
	print_bounds(r);
	if (!o->timeline)
		return 0;
	char *picture = block_timeline(r, COLUMNS);
	if (!picture) {
		cli_error("out of memory");
		return 1;
	}
	printf("\n%s", picture);
	free(picture);
	return 0;
}

/* ---- JSON ---- */

static void print_json(const struct options *o, const struct block_result *r)
{
	double cycles = (double)r->cycles / r->iterations;
	printf("{\n\"core\": ");
	json_string(stdout, o->run.core.name);
	printf(",\n\"mode\": \"%s\", \"copies\": %u,\n\"cycles_per_iteration\": %.6g,\n\"cycles\": %llu, "
	       "\"iterations\": %llu, \"periodic\": %s,\n",
		o->loop ? "loop" : "unrolled", r->copies, cycles, (unsigned long long)r->cycles,
		(unsigned long long)r->iterations, r->periodic ? "true" : "false");
	printf("\"instructions\": %u, \"uops\": %u, \"uops_fused\": %u,\n\"unknown\": %u, \"substitute\": "
	       "%u,\n\"bottleneck\": ",
		r->insns, r->uops, r->slots, r->unknown, r->substitute);
	json_string(stdout, r->bottleneck);
	printf(",\n\"notes\": [");
	for (unsigned i = 0; i < r->notes; i++) {
		fputs(i ? ", " : "", stdout);
		json_string(stdout, r->note[i]);
	}
	printf("],\n\"instruction\": [");
	for (unsigned i = 0; i < r->insns; i++) {
		const struct block_insn *in = &r->insn[i];
		printf("%s\n  {\"offset\": %u, \"bytes\": \"", i ? "," : "", in->offset);
		for (unsigned k = 0; k < in->len; k++)
			printf("%02x", in->bytes[k]);
		printf("\", \"text\": ");
		json_string(stdout, in->text);
		printf(", \"uops\": %u, \"uops_fused\": %u, \"macro_fused\": %s, \"added\": %s, \"unknown\": %s, "
		       "\"substitute\": %s, \"ports\": [",
			in->uops, in->slots, in->fused ? "true" : "false", in->appended ? "true" : "false",
			in->unknown ? "true" : "false", in->substitute ? "true" : "false");
		for (unsigned p = 0; p < o->run.core.ports_count; p++)
			printf("%s%.4g", p ? ", " : "", in->port[p]);
		printf("]}");
	}
	printf("\n],\n\"bounds\": [");
	for (unsigned i = 0; i < r->bounds; i++) {
		printf("%s\n  {\"limit\": \"%s\", \"cycles\": %.6g, \"binds\": %s, \"text\": ", i ? "," : "",
			block_limit_name(r->bound[i].limit), r->bound[i].cycles, r->bound[i].binds ? "true" : "false");
		json_string(stdout, r->bound[i].text);
		putchar('}');
	}
	printf("\n],\n\"chain\": [");
	for (unsigned i = 0; i < r->links; i++)
		printf("%s{\"instruction\": %u, \"latency\": %u}", i ? ", " : "", r->chain[i].insn,
			r->chain[i].latency);
	putchar(']');
	for (unsigned i = 0; o->timeline && i < r->timeline_uops; i++) {
		const struct block_uop *u = &r->uop[i];
		printf("%s\n  {\"iteration\": %u, \"instruction\": %u, \"port\": %d, \"fetch\": %lld, \"alloc\": %lld, "
		       "\"ready\": %lld, \"dispatch\": %lld, "
		       "\"complete\": %lld, \"retire\": %lld}",
			i ? "," : ",\n\"timeline\": [", u->iteration, u->insn, u->port == 255 ? -1 : u->port,
			(long long)u->fetch, (long long)u->alloc, (long long)u->ready, (long long)u->dispatch,
			(long long)u->complete, (long long)u->retire);
	}
	puts(o->timeline && r->timeline_uops ? "\n]\n}" : "\n}");
}

/* ---- one block ---- */

static int take_code(const struct options *o, struct block_spec *spec, uint8_t **code, struct err *err)
{
	int rc;
	if (o->hex) {
		rc = asm_hex(o->hex, code, &spec->bytes, err);
	} else if (o->elf) {
		char *end, *end2;
		errno = 0;
		unsigned long long from = strtoull(o->range, &end, 16),
				   to = *end == '-' ? strtoull(end + 1, &end2, 16) : 0;
		if (end == o->range || *end != '-' || end2 == end + 1 || *end2 || errno || to <= from)
			return err_set(err, ERR_INPUT,
				"--range %s: two hexadecimal addresses A-B, B behind the last instruction", o->range);
		if (to - from > 15u * BLOCK_INSNS)
			return err_set(err, ERR_INPUT, "--range %s: more than %d instructions", o->range, BLOCK_INSNS);
		rc = asm_elf(o->elf, from, to, code, &spec->bytes, &spec->word_bytes, err);
	} else {
		size_t bytes = o->text ? strlen(o->text) : 0;
		char *text = o->text ? NULL : read_text(o->file, &bytes);
		if (!o->text && !text)
			return ERR_SYSTEM;
		const struct asm_source source = { o->text ? o->text : text, bytes };
		struct asm_block block = { 0 };
		rc = asm_blocks(&source, 1, spec->word_bytes, &block, err);
		if (!rc && block.error && block.line > 1)
			rc = err_set(err, ERR_INPUT, "line %u: %s", block.line, block.error);
		else if (!rc && block.error)
			rc = err_set(err, ERR_INPUT, "%s", block.error);
		if (!rc) {
			*code = block.code;
			spec->bytes = block.bytes;
			block.code = NULL;
		}
		asm_release(&block, 1);
		free(text);
	}
	spec->code = *code;
	return rc;
}

static int run_one(const struct options *o, struct block_engine *engine)
{
	struct block_spec spec = {
		.word_bytes = o->legacy ? 4 : 8, .loop = o->loop, .copies = o->copies, .detail = true
	};
	struct block_result r = { 0 };
	struct err err = { 0 };
	uint8_t *code = NULL;
	int status = 0, rc = take_code(o, &spec, &code, &err);
	if (!rc)
		rc = block_run(engine, &spec, &r, &err);
	if (rc) {
		if (*err.text)
			cli_error("%s", err.text);
		status = 1;
	} else if (o->json) {
		print_json(o, &r);
	} else {
		status = print_text(o, &r);
	}
	if (!rc && o->pipeline && !status)
		status = write_timeline(o, &r);
	block_release(&r);
	free(code);
	return status;
}

/* ---- a block a line ---- */

/* Prints a CSV field in quotes. */
static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	}
	putchar('"');
}

/* Prints the row of one block; true if it holds figures, false if an error. */
static bool print_row(const struct options *o, struct block_engine *engine, const struct asm_block *b)
{
	const struct block_spec spec = { .code = b->code,
		.bytes = b->bytes,
		.word_bytes = o->legacy ? 4 : 8,
		.loop = o->loop,
		.copies = o->copies,
		.detail = true };
	struct block_result r = { 0 };
	struct err err = { 0 };
	const char *error = b->error;
	if (!error && block_run(engine, &spec, &r, &err))
		error = err.text;
	if (error) {
		fputs(",,,,,", stdout);
		print_quoted(error);
		putchar('\n');
	} else {
		printf("%.4f,%u,%u,%u,%s,\n", (double)r.cycles / r.iterations, r.insns, r.slots, r.uops, r.bottleneck);
	}
	block_release(&r);
	return !error;
}

static int run_lines(const struct options *o, struct block_engine *engine)
{
	size_t bytes, n = 0, bad = 0;
	char *text = read_text(o->lines, &bytes);
	if (!text)
		return 1;
	for (size_t i = 0; i < bytes; i++)
		n += text[i] == '\n';
	n += bytes && text[bytes - 1] != '\n';
	if (n > MOST_LINES) {
		cli_error("%s: more than %d lines", o->lines, MOST_LINES);
		free(text);
		return 1;
	}
	struct asm_source *source = calloc(n + 1, sizeof *source);
	struct asm_block *block = calloc(n + 1, sizeof *block);
	struct err err = { 0 };
	int status = 1;
	if (!source || !block) {
		cli_error("out of memory");
		goto out;
	}
	for (size_t i = 0, at = 0; i < n; i++) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - text) - at : bytes - at;
		source[i] = (struct asm_source){ text + at, length };
		at += length + 1;
	}
	if (n && asm_blocks(source, n, o->legacy ? 4 : 8, block, &err)) {
		cli_error("%s", err.text);
		asm_release(block, n);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		bad += !print_row(o, engine, &block[i]);
		if (ferror(stdout))
			break;
	}
	asm_release(block, n);
	if (bad)
		cli_error("%s: %zu of %zu lines have an error (last column)", o->lines, bad, n);
	status = bad != 0;
out:
	free(source);
	free(block);
	free(text);
	return status;
}

static int run(int argc, char **argv)
{
	struct options o = { .format = TRACE_BY_NAME };
	struct err err = { 0 };
	struct block_engine *engine;
	cli_run_init(&o.run);
	int go = parse(&o, argc, argv);
	if (go <= 0)
		return go ? 2 : 0;
	if (cli_core(&o.run))
		return 2;
	if (block_engine_create(&engine, &o.run.core, cli_data_dir(), &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	int status = o.lines ? run_lines(&o, engine) : run_one(&o, engine);
	block_engine_destroy(engine);
	return status;
}

const struct cli_command cmd_block = {
	.name = "block", .summary = "print cycles, ports and bottleneck of a few instructions in a steady state",
	.options = options, .run = run,
	.usage = "[options] --asm TEXT | --hex BYTES | --elf FILE --range A-B\n[options] --lines FILE\n[options] "
		"[FILE]",
	.about = "Runs a few instructions in a steady state on the modelled core, and prints cycles per iteration, "
		"uops, the pressure on each port and the bottleneck. Code, data and branches are warm: every access "
		"hits L1. Without --asm, --hex, --elf or --lines the assembly is read from FILE, or from standard "
		"input.",
	.notes = "Conditional branches within the block are not taken; jumps and calls within it are followed. "
		"Registers hold no values: accesses with different base registers never overlap or conflict, and "
		"addresses are the same in every iteration.",
};
