/* SPDX-License-Identifier: GPL-2.0-or-later
 * The uop table of one microarchitecture, data/uops/<uarch>.tsv.
 *
 *   # comment
 *   @key <tab> value            uarch NAME; ports HEX-DIGITS; unlaminate none | nondestructive | all;
 *                               microfusion yes | no; macrofusion all | none | cmp-test-32 (CMP and TEST, 32-bit code
 *                               only); slow_address index (or a far displacement) | scaled (index, or index and
 *                               displacement): which addresses use the classes load_index, ..;
 *                               idioms all | none | integer | narrow (all, also with 8 and 16 bits): XOR r,r and
 * the like
 *   row <tab> uops <tab> flags <tab> source
 *   form <tab> uops <tab> flags <tab> fused/unfused <tab> throughput <tab> source
 *
 * form:  the name of an instruction form, as forms.c makes it.  Its row takes precedence over those of its class.  The
 *        class still decides how loads and stores are attached; the uops of LOCK are in the row.  fused/unfused: issue
 *        slots and uops, loads and stores included; throughput: clocks for each instruction according to the source,
 *        `-` if it gives none.  Both are for information: nothing is computed from them.
 * row:   CLASS[.WIDTH][.FORM]; width 8 16 32 64 80 128 256 512 (of the operands, or of the vector register), form m (a
 *        memory source), s (a memory destination), rmw (both).  CLASS.WIDTH.FORM takes precedence over CLASS.FORM, this
 *        over CLASS.WIDTH, this over CLASS, which must be there.
 * uops:  those beyond loads and stores, `-` for none, else UOP {+ UOP} [| UOP {+ UOP}]
 *        (`|`, REP strings only: what runs once | what runs in each iteration)
 * UOP:   [N*] TARGET[/LATENCY] {:ATTRIBUTE}
 * TARGET: p and the ports it may go to, a hexadecimal digit each (pa is port 10); `nop`: takes a slot but no port;
 *        `elim`: done at rename
 * ATTRIBUTE: busy=N and unit=intdiv|fpdiv|fpdivs|other (blocks the unit for N cycles; fpdivs: the floating-point
 * divider
 *        of the port, of which there are four, selected by the last two bits of the port's number);
 *        kind=lfence|sfence|mfence|serialize; and the data flow (enum spec_attr).  Without attributes, each uop
 * waits for
 *        those before it, the first reads the sources and the last writes all results.
 *          par    reads the instruction's sources and not the uops before it
 *          in1 .. in4  reads this visible operand (1: the first) and the uops before it; the first uop reads
 * operands that
 *                 no `in` of the row names, and hidden ones
 *          side   neither reads nor writes
 *          joined shares the issue slot of the uop before it, in this row; one at a time
 *          out1, out2, flags   writes only the first, the second destination register, the flags
 *          ptr    string instructions: moves pointers and count
 * flags: comma-separated or `-`: ms (microcode sequencer), elim (register copies are eliminated), falsedep (waits for
 *        its destination), substitute (the core lacks the instruction), nofuse (the load has a slot of its own),
 *        rotates (class shld: SHLD and SHRD of one register twice have the row of class rotate),
 *        nomerge (does not wait for flags that it may leave unchanged: an instruction that reads them stalls),
 *        chunk=N (REP strings: bytes that a set of uops moves)
 */
#include "isa/isa_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct isa *isa;
	const char *file;
	unsigned line;
	struct err *err;
};

#define FAIL(p, ...) fail(p, __VA_ARGS__)
static int __attribute__((format(printf, 2, 3))) fail(struct parser *p, const char *format, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return err_set(p->err, ERR_INPUT, "%s:%u: %s", p->file, p->line, text);
}

/* Reads a decimal number of 0 to max and moves *s behind it; -1, with *s unchanged, if there is none. */
static long number(const char **s, long max)
{
	long v = 0;
	const char *c = *s;
	if (*c < '0' || *c > '9')
		return -1;
	for (; *c >= '0' && *c <= '9'; c++) {
		v = v * 10 + (*c - '0');
		if (v > max)
			return -1;
	}
	*s = c;
	return v;
}

static bool take(const char **s, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(*s, word, n))
		return false;
	*s += n;
	return true;
}

static int parse_attribute(struct parser *p, const char **s, struct spec *u)
{
	long v;
	static const struct { const char *word; uint16_t attr;
	} plain[] = {
		{ "par", SPEC_PAR }, { "side", SPEC_SIDE }, { "joined", SPEC_JOINED }, { "out1", SPEC_OUT1 },
		{ "out2", SPEC_OUT2 }, { "flags", SPEC_FLAGS }, { "ptr", SPEC_PTR }, { "in1", SPEC_IN1 },
		{ "in2", SPEC_IN2 }, { "in3", SPEC_IN3 }, { "in4", SPEC_IN4 },
	};
	static const struct { const char *word; uint8_t unit;
	} units[] = {
		{ "unit=intdiv", UNIT_INTDIV }, { "unit=fpdivs", UNIT_FPDIVS }, { "unit=fpdiv", UNIT_FPDIV },
		{ "unit=other", UNIT_OTHER },
	};
	static const struct { const char *word; uint8_t kind;
	} kinds[] = {
		{ "kind=lfence", UOP_FENCE_LOAD }, { "kind=sfence", UOP_FENCE_STORE },
		{ "kind=mfence", UOP_FENCE_FULL },
		{ "kind=serialize", UOP_SERIALIZE },
	};
	if (take(s, "busy=")) {
		if ((v = number(s, 255)) < 1)
			return FAIL(p, "busy= takes 1 to 255");
		u->busy = (uint8_t)v;
		return 0;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (take(s, units[i].word)) {
			u->unit = units[i].unit;
			return 0;
		}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (take(s, kinds[i].word)) {
			u->kind = kinds[i].kind;
			return 0;
		}
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (take(s, plain[i].word)) {
			u->attr |= plain[i].attr;
			return 0;
		}
	return FAIL(p, "unknown attribute at \"%.20s\"", *s);
}

static int parse_ports(struct parser *p, const char **s, uint16_t *ports)
{
	*ports = 0;
	for (; **s; (*s)++) {
		char c = **s;
		int port = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
		if (port < 0)
			break;
		if (*ports & 1u << port)
			return FAIL(p, "port %d twice", port);
		*ports |= (uint16_t)(1u << port);
	}
	return *ports ? 0 : FAIL(p, "no port at \"%.20s\"", *s);
}

/* Parses one UOP; *times is its repeat count. */
static int parse_uop(struct parser *p, const char **s, struct spec *u, long *times)
{
	long v;
	int rc;
	*u = (struct spec){ .kind = UOP_COMPUTE };
	*times = 1;
	if (**s >= '0' && **s <= '9') {
		if ((*times = number(s, ROW_UOPS_MAX)) < 1 || !take(s, "*"))
			return FAIL(p, "a repeat count is 1 to %d and ends with *", ROW_UOPS_MAX);
	}
	if (take(s, "nop")) {
		u->kind = UOP_NOP;
		u->attr = SPEC_SIDE;
	} else if (take(s, "elim")) {
		u->kind = UOP_ELIMINATED;
	} else if (take(s, "p")) {
		if ((rc = parse_ports(p, s, &u->ports)))
			return rc;
		if (u->ports & ~p->isa->ports)
			return FAIL(p, "a port that @ports does not name");
		if (!take(s, "/") || (v = number(s, 255)) < 0)
			return FAIL(p, "ports want a latency of 0 to 255: p01/4");
		u->latency = (uint8_t)v;
	} else {
		return FAIL(p, "a uop starts with p, nop or elim, not \"%.20s\"", *s);
	}
	while (take(s, ":"))
		if ((rc = parse_attribute(p, s, u)))
			return rc;
	if (u->busy && !u->unit)
		return FAIL(p, "busy= without unit=");
	for (unsigned k = 0; u->unit == UNIT_FPDIVS && k < 4; k++)
		if (__builtin_popcount(u->ports >> k & 0x1111) > 1)
			return FAIL(p, "unit=fpdivs: ports whose numbers differ by 4, 8 or 12 have one divider");
	return 0;
}

static int parse_uops(struct parser *p, const char *s, struct row *r)
{
	struct isa *isa = p->isa;
	bool wrote = false, split = false;
	unsigned sides = 0;
	r->first = (uint16_t)isa->n_specs;
	if (!strcmp(s, "-"))
		return 0;
	for (;;) {
		struct spec u;
		long times;
		int rc = parse_uop(p, &s, &u, &times);
		if (rc)
			return rc;
		/* A uop that reads the sources after a result was written would read the new value (renaming is in
		 * order). */
		if ((u.attr & SPEC_PAR) && wrote)
			return FAIL(p, "par after a uop that writes a result");
		if ((u.attr & SPEC_IN) && wrote)
			return FAIL(p, "in after a uop that writes a result");
		if ((u.attr & SPEC_IN) && r->count > sides && !r->in)
			return FAIL(p, "in, but the first uop names no operand");
		if ((u.attr & SPEC_JOINED) && (!r->count || times > 1 || r->count == r->startup))
			return FAIL(p, "joined, but no uop before it to share a slot with, or several");
		sides += u.attr & SPEC_SIDE ? (unsigned)times : 0;
		r->in |= u.attr & SPEC_IN;
		wrote |= (u.attr & (SPEC_OUT1 | SPEC_OUT2)) != 0 && !(u.attr & SPEC_PAR);
		if (r->count + times > ROW_UOPS_MAX)
			return FAIL(p, "more than %d uops", ROW_UOPS_MAX);
		if (isa->n_specs + (unsigned)times > SPECS_MAX)
			return FAIL(p, "more than %d uops in all rows", SPECS_MAX);
		for (long i = 0; i < times; i++)
			isa->specs[isa->n_specs++] = u;
		isa->computing |= u.kind == UOP_COMPUTE ? u.ports : 0;
		r->count = (uint16_t)(r->count + times);
		if (take(&s, "|")) {
			if (split || !((isa_classes[r->cls].is & SPMU_IS(STRING_REP)) || !strncmp(r->name, "REP", 3)))
				return FAIL(p, "| is for REP strings, once");
			split = true;
			r->startup = r->count;
			if (!strcmp(s, "-"))
				return 0;
			continue;
		}
		if (!*s)
			return 0;
		if (!take(&s, "+"))
			return FAIL(p, "expected + at \"%.20s\"", s);
	}
}

static int parse_flags(struct parser *p, const char *s, struct row *r)
{
	if (!strcmp(s, "-"))
		return 0;
	for (;;) {
		long v;
		if (take(&s, "ms"))
			r->flags |= ROW_MS;
		else if (take(&s, "elim"))
			r->flags |= ROW_ELIM;
		else if (take(&s, "falsedep"))
			r->flags |= ROW_FALSE_DEP;
		else if (take(&s, "substitute"))
			r->flags |= ROW_SUBSTITUTE;
		else if (take(&s, "nofuse"))
			r->flags |= ROW_NO_FUSE;
		else if (take(&s, "nomerge"))
			r->flags |= ROW_NO_MERGE;
		else if (take(&s, "rotates"))
			r->flags |= ROW_ROTATES;
		else if (take(&s, "chunk=") && (v = number(&s, 4096)) > 0)
			r->chunk = (uint16_t)v;
		else
			return FAIL(p, "unknown flag at \"%.20s\"", s);
		if (!*s)
			return 0;
		if (!take(&s, ","))
			return FAIL(p, "expected , at \"%.20s\"", s);
	}
}

static const char *const width_name[WIDTHS] = { "8", "16", "32", "64", "80", "128", "256", "512", NULL };
static const char *const form_name[FORMS] = { NULL, "m", "s", "rmw" };

/* "CLASS.WIDTH.FORM"; *width is WIDTH_NONE and *form is FORM_REG where left out. */
static int parse_key(struct parser *p, char *key, unsigned *cls, unsigned *width, unsigned *form)
{
	char *save = NULL, *part = strtok_r(key, ".", &save);
	*width = WIDTH_NONE;
	*form = FORM_REG;
	for (*cls = 0; *cls < CLASS_COUNT && strcmp(part ? part : "", isa_classes[*cls].name); ++*cls)
		;
	if (*cls == CLASS_COUNT)
		return FAIL(p, "no class is called \"%.40s\"", part ? part : "");
	while ((part = strtok_r(NULL, ".", &save))) {
		unsigned w = 0, f = 1;
		while (w < WIDTH_NONE && strcmp(part, width_name[w]))
			w++;
		while (f < FORMS && strcmp(part, form_name[f]))
			f++;
		if (w < WIDTH_NONE && *width == WIDTH_NONE && *form == FORM_REG)
			*width = w;
		else if (f < FORMS && *form == FORM_REG)
			*form = f;
		else
			return FAIL(p, "\"%.20s\" is neither a width nor a form in its place", part);
	}
	return 0;
}

/* Sets *out to the index of `value` among the names; `list` names them for the message. */
static int choose(struct parser *p, const char *key, const char *value, const char *const *names, uint8_t count,
		  const char *list, uint8_t *out)
{
	for (uint8_t i = 0; i < count; i++)
		if (!strcmp(value, names[i])) {
			*out = i;
			return 0;
		}
	return FAIL(p, "%s is %s", key, list);
}

static int parse_setting(struct parser *p, const char *key, const char *value)
{
	struct isa *isa = p->isa;
	if (!strcmp(key, "@uarch")) {
		if (strlen(value) >= sizeof isa->uarch)
			return FAIL(p, "a name of at most %zu characters", sizeof isa->uarch - 1);
		strcpy(isa->uarch, value);
		return 0;
	}
	if (!strcmp(key, "@ports")) {
		int rc = parse_ports(p, &value, &isa->ports);
		return rc ? rc : *value ? FAIL(p, "no port at \"%.20s\"", value) : 0;
	}
	if (!strcmp(key, "@unlaminate")) {
		static const char *const names[] = { "none", "nondestructive", "all" };
		return choose(p, key, value, names, 3, "none, nondestructive or all", &isa->unlaminate);
	}
	if (!strcmp(key, "@microfusion")) {
		isa->no_microfusion = !strcmp(value, "no");
		return isa->no_microfusion || !strcmp(value, "yes") ? 0 : FAIL(p, "@microfusion is yes or no");
	}
	if (!strcmp(key, "@slow_address")) {
		isa->slow_scaled = !strcmp(value, "scaled");
		return isa->slow_scaled || !strcmp(value, "index") ? 0 : FAIL(p, "@slow_address is index or scaled");
	}
	if (!strcmp(key, "@idioms")) {
		static const char *const names[] = { "all", "none", "integer", "narrow" };
		return choose(p, key, value, names, 4, "all, none, integer or narrow", &isa->idioms);
	}
	if (!strcmp(key, "@macrofusion")) {
		static const char *const names[] = { "all", "none", "cmp-test-32" };
		return choose(p, key, value, names, 3, "all, none or cmp-test-32", &isa->macrofusion);
	}
	return FAIL(p, "unknown setting \"%.40s\"", key);
}

/* Starts the row that field 0 names; the caller counts it when it is complete. */
static int new_row(struct parser *p, const char *name, struct row **r)
{
	struct isa *isa = p->isa;
	if (isa->n_rows == ROWS_MAX)
		return FAIL(p, "more than %d rows", ROWS_MAX);
	*r = &isa->rows[isa->n_rows];
	**r = (struct row){ .line = p->line };
	if (strlen(name) >= sizeof (*r)->name)
		return FAIL(p, "\"%.40s\" is too long", name);
	strcpy((*r)->name, name);
	return 0;
}

/* Parses "0.25" into thousandths; "-" gives 0. */
static int parse_throughput(struct parser *p, const char *s, uint32_t *out)
{
	long whole, part = 0, scale = 1000;
	*out = 0;
	if (!strcmp(s, "-"))
		return 0;
	if ((whole = number(&s, 100000)) < 0)
		return FAIL(p, "a throughput is clocks an instruction, or -");
	if (take(&s, "."))
		while (*s >= '0' && *s <= '9' && scale > 1)
			part += (*s++ - '0') * (scale /= 10);
	*out = (uint32_t)(whole * 1000 + part);
	return *s || !*out ? FAIL(p, "a throughput is clocks an instruction, or -") : 0;
}

static int parse_form(struct parser *p, char **field, unsigned n)
{
	struct row *r;
	const char *counts = field[3];
	long fused, unfused;
	int rc;
	if (n < 6 || !*field[5])
		return FAIL(p, "a form has six fields: form, uops, flags, fused/unfused, throughput, source");
	if ((rc = new_row(p, field[0], &r)) || (rc = parse_uops(p, field[1], r)) ||
	    (rc = parse_flags(p, field[2], r)) || (rc = parse_throughput(p, field[4], &r->throughput)))
		return rc;
	if ((fused = number(&counts, 255)) < 1 || !take(&counts, "/") || (unfused = number(&counts, 255)) < fused ||
	    *counts)
		return FAIL(p, "issue slots and uops are two numbers of 1 to 255: 1/2");
	r->fused = (uint8_t)fused;
	r->unfused = (uint8_t)unfused;
	r->flags |= ROW_FORM;
	const struct row *first = isa_form_add(p->isa, p->isa->n_rows);
	if (first)
		return FAIL(p, "form %s again, first in line %u", r->name, first->line);
	p->isa->n_rows++;
	return 0;
}

/* exact[class][width][form]: index of its row + 1, or 0. */
static int parse_line(struct parser *p, char *line, uint16_t exact[CLASS_COUNT][WIDTHS][FORMS])
{
	struct isa *isa = p->isa;
	char *field[6], *s = line;
	unsigned n = 0, cls, width, form;
	int rc;
	if (!*line || *line == '#')
		return 0;
	unsigned fields = *line >= 'A' && *line <= 'Z' ? 6 : 4;
	while (n < fields) {
		field[n++] = s;
		s = n < fields ? strchr(s, '\t') : NULL;
		if (!s)
			break;
		*s++ = 0;
	}
	if (fields == 6)
		return parse_form(p, field, n);
	if (*line == '@')
		return n >= 2 ? parse_setting(p, field[0], field[1]) : FAIL(p, "a setting wants a value");
	if (n < 4 || !*field[3])
		return FAIL(p, "a row has four fields: class, uops, flags, source");
	struct row *r;
	if ((rc = new_row(p, field[0], &r)) || (rc = parse_key(p, field[0], &cls, &width, &form)))
		return rc;
	r->cls = (uint16_t)cls;
	if (exact[cls][width][form])
		return FAIL(p, "row %s again, first in line %u", r->name, isa->rows[exact[cls][width][form] - 1].line);
	if ((rc = parse_uops(p, field[1], r)) || (rc = parse_flags(p, field[2], r)))
		return rc;
	exact[cls][width][form] = (uint16_t)++isa->n_rows;
	return 0;
}

/* Finds the row that serves each (class, width, form). */
static int resolve(struct parser *p, uint16_t exact[CLASS_COUNT][WIDTHS][FORMS])
{
	struct isa *isa = p->isa;
	for (unsigned c = 0; c < CLASS_COUNT; c++) {
		if (!exact[c][WIDTH_NONE][FORM_REG])
			return err_set(p->err, ERR_INPUT, "%s: class %s has no row", p->file, isa_classes[c].name);
		for (unsigned w = 0; w < WIDTHS; w++)
			for (unsigned f = 0; f < FORMS; f++) {
				uint16_t r = exact[c][w][f];
				if (!r && f != FORM_REG)
					r = exact[c][WIDTH_NONE][f];
				if (!r)
					r = exact[c][w][FORM_REG];
				if (!r)
					r = exact[c][WIDTH_NONE][FORM_REG];
				isa->lookup[c][w][f] = (uint16_t)(r - 1);
			}
	}
	return 0;
}

int isa_table_parse(struct isa *isa, const char *name, const char *text, struct err *err)
{
	struct parser p = { .isa = isa, .file = name, .err = err };
	uint16_t (*exact)[WIDTHS][FORMS] = calloc(CLASS_COUNT, sizeof *exact);
	char *copy = strdup(text), *line = copy;
	int rc = 0;
	isa->rows = calloc(ROWS_MAX, sizeof *isa->rows);
	isa->specs = calloc(SPECS_MAX, sizeof *isa->specs);
	isa->forms = calloc(FORM_PLACES, sizeof *isa->forms);
	if (!copy || !exact || !isa->rows || !isa->specs || !isa->forms)
		rc = err_set(err, ERR_NOMEM, "out of memory while reading %s", name);
	while (!rc && line) {
		char *next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		p.line++;
		rc = parse_line(&p, line, exact);
		line = next;
	}
	if (!rc && !isa->ports)
		rc = err_set(err, ERR_INPUT, "%s: no @ports", name);
	if (!rc)
		rc = resolve(&p, exact);
	free(copy);
	free(exact);
	return rc;
}

int isa_table_load(struct isa *isa, const char *path, struct err *err)
{
	enum { MAX_BYTES = TABLE_BYTES_MAX };
	FILE *f = fopen(path, "re");
	if (!f)
		return err_system(err, "cannot open the uop table %s", path);
	char *text = malloc(MAX_BYTES + 1);
	if (!text) {
		fclose(f);
		return err_set(err, ERR_NOMEM, "out of memory while reading %s", path);
	}
	size_t n = fread(text, 1, MAX_BYTES + 1, f);
	int rc = 0;
	if (ferror(f))
		rc = err_system(err, "cannot read the uop table %s", path);
	else if (n > MAX_BYTES)
		rc = err_set(err, ERR_INPUT, "%s: longer than 4 MB", path);
	fclose(f);
	if (!rc) {
		text[n] = 0;
		rc = strlen(text) == n ? isa_table_parse(isa, path, text, err)
		                       : err_set(err, ERR_INPUT, "%s: holds a zero byte", path);
	}
	free(text);
	return rc;
}

const struct row *isa_row(const struct isa *isa, enum isa_class cls, unsigned width, unsigned form)
{
	return &isa->rows[isa->lookup[cls][width][form]];
}
