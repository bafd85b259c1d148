/* SPDX-License-Identifier: GPL-2.0-or-later
 * Translates templates of skylake-throughput to assembly, as they were measured (PMEvo, PLDI 2020, and its public
 * artifact): instances of the sequence, 50 instructions in all, in a loop that SUB and JNZ close. The measured cycles
 * are divided by the number of instances.
 *
 * Operands: written registers rotate through eight general or sixteen vector registers. Registers that are only read
 * are those after the next one to be written, so a uop reads the register that was written longest ago. There is one
 * base register (r14) with displacements that rotate from 64 to 4032 in steps of 64 bytes, and one index register
 * (r13). Immediates are 44.
 */
#include "accuracy.h"
#include <stdlib.h>
#include <string.h>

enum { LOOP_INSNS = 50 };
static const char *const general[] = { "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12" };
enum { GENERALS = sizeof general / sizeof *general, VECTORS = 16 };

struct allocator { unsigned written[2], read[2], displacement; };	/* [0] general, [1] vector */

static void register_name(FILE *to, unsigned kind, unsigned i)
{
	if (kind)
		fprintf(to, "ymm%u", i);
	else
		fputs(general[i], to);
}

static unsigned next(unsigned *index, unsigned kind)
{
	unsigned i = *index;
	*index = (i + 1) % (kind ? VECTORS : GENERALS);
	return i;
}

/* Parses REG:access:class:width in [p, end). */
static bool parse_register(const char *p, const char *end, bool *writes, unsigned *kind)
{
	const char *access = p + 4, *colon = memchr(access, ':', (size_t)(end - access));
	if (!colon || colon + 2 >= end || (colon[1] != 'G' && colon[1] != 'V'))
		return false;
	*writes = memchr(access, 'W', (size_t)(colon - access)) != NULL;
	*kind = colon[1] == 'V';
	const char *width = *kind ? "256" : "64";	/* the data have no other width */
	return (size_t)(end - colon - 3) == strlen(width) && !strncmp(colon + 3, width, strlen(width));
}

static bool render_one(FILE *to, const char *t, size_t n, struct allocator *a)
{
	const char *stop = t + n;
	unsigned written[8], count = 0, taken = 0;
	bool writes;
	unsigned kind;
	for (const char *p = t; (p = memmem(p, (size_t)(stop - p), "((", 2)); p += 2) {	/* writers first */
		const char *end = memmem(p, (size_t)(stop - p), "))", 2);
		if (!end)
			return false;
		if (!strncmp(p + 2, "REG:", 4)) {
			if (!parse_register(p + 2, end, &writes, &kind) || count == 8)
				return false;
			if (writes)
				written[count++] = next(&a->written[kind], kind);
		}
	}
	a->read[0] = a->written[0];
	a->read[1] = a->written[1];
	for (const char *p = t; p < stop;) {
		const char *open = memmem(p, (size_t)(stop - p), "((", 2), *close;
		if (!open) {
			fwrite(p, 1, (size_t)(stop - p), to);
			break;
		}
		fwrite(p, 1, (size_t)(open - p), to);
		close = memmem(open, (size_t)(stop - open), "))", 2);
		const char *what = open + 2;
		if (!strncmp(what, "REG:", 4)) {
			parse_register(what, close, &writes, &kind);
			register_name(to, kind, writes ? written[taken++] : next(&a->read[kind], kind));
		} else if (!strncmp(what, "IMM:", 4)) {
			fputs("44", to);
		} else if (!strncmp(what, "MIMM:", 5)) {
			fprintf(to, "%u", 64 + 64 * a->displacement);
			a->displacement = (a->displacement + 1) % 63;
		} else if (!strncmp(what, "MEM:64", 6)) {
			fputs("r14", to);
		} else if (!strncmp(what, "DIV:64", 6)) {
			fputs("r13", to);
		} else {
			return false;
		}
		p = close + 2;
	}
	fputc('\n', to);
	return true;
}

unsigned template_render(FILE *to, const char *sequence, unsigned insns)
{
	struct allocator a = { .displacement = 0 };
	unsigned length = 1;
	for (const char *p = sequence; *p; p++)
		length += *p == '|';
	unsigned instances = (insns + length - 1) / length;
	for (unsigned i = 0; i < instances; i++)
		for (const char *p = sequence;;) {
			size_t n = strcspn(p, "|");
			if (!render_one(to, p, n, &a))
				return 0;
			if (!p[n])
				break;
			p += n + 1;
		}
	return instances;
}

int template_read(struct rows *r, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t n;
	int rc = 0;
	if (!f)
		return err_system(err, "%s", path);
	while (!rc && (n = getline(&line, &room, f)) > 0) {
		number++;
		line[strcspn(line, "\r\n")] = 0;
		char *end;
		if (*line == '#' || !*line)
			continue;
		double measured = strtod(line, &end);
		size_t bytes;
		struct row *w = end != line && *end == ';' && measured > 0 ? rows_add(r) : NULL;
		FILE *text = w ? open_memstream(&w->text, &bytes) : NULL;
		if (!text) {
			rc = err_set(err, ERR_INPUT, "%s: line %zu: not 'cycles;templates'", path, number);
			break;
		}
		w->measured = measured;
		w->name = strdup(end + 1);
		fputs("start:\n", text);
		unsigned instances = template_render(text, end + 1, LOOP_INSNS);
		fputs("sub r15, 1\njnz start\n", text);
		w->unit = instances;
		if (fclose(text) || !w->name || !instances)
			rc = err_set(err, ERR_INPUT, "%s: line %zu: a placeholder that is not known", path, number);
	}
	free(line);
	fclose(f);
	return rc;
}
