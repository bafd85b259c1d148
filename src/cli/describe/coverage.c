/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cores --coverage FILE: instruction forms that only the row of their class serves, by count.
 *
 * An ELF file is swept linearly, section by section, as objdump does.  So data between functions is seen, too,
 * and counts if it decodes; a byte that does not decode is skipped.  In a saved stream, each instruction counts
 * as often as it executed. Leaves out: whether a preset can run the program's word size (the forms are looked
 * up anyway).
 */
#include "cli/cli.h"
#include "cli/describe/coverage.h"
#include "isa/isa.h"
#include "stream/stream.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 1 << 15, NAME = 48 };	/* PLACES: more than there are forms (some 12,000) */

struct form {
	char name[NAME];
	uint64_t count;
	uint64_t covered;	/* one bit per core */
};

struct block {			/* of a stream: what is counted when the block runs to one of its exits */
	uint16_t insns, exits;
	uint32_t *form;		/* of each instruction: place of its form, or PLACES if it does not decode */
	uint16_t *slots;	/* memory and register words of each instruction */
	struct st_exit_def *exit;
};

struct process {
	struct block *block;
	uint32_t blocks, capacity;
	int word_bytes;
};

struct coverage {
	struct isa *isa[COVERAGE_CORES];
	unsigned cores;
	struct form *form;	/* PLACES of them */
	uint64_t insns, bad;
};

/* Looks up the form of the instruction at `code`. Returns its length, 0 if it does not decode. *place: the
 * form's place, or PLACES. */
static unsigned look_up(struct coverage *c, int word_bytes, const uint8_t *code, size_t bytes, uint32_t *place)
{
	char name[NAME];
	bool covered;
	unsigned len = isa_form(c->isa[0], word_bytes, code, bytes, name, &covered);
	*place = PLACES;
	if (!len)
		return 0;
	uint32_t h = 5381;
	for (const char *s = name; *s; s++)
		h = h * 33 + (uint8_t)*s;
	unsigned tries = 0;
	for (h %= PLACES; c->form[h].name[0] && strcmp(c->form[h].name, name); h = (h + 1) % PLACES)
		if (++tries == PLACES)
			return len;
	struct form *f = &c->form[h];
	if (!f->name[0]) {
		strcpy(f->name, name);
		for (unsigned k = 0; k < c->cores; k++) {
			isa_form(c->isa[k], word_bytes, code, bytes, name, &covered);
			f->covered |= (uint64_t)covered << k;
		}
	}
	*place = h;
	return len;
}

/* ---- ELF ---- */

static void sweep(struct coverage *c, int word_bytes, const uint8_t *code, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		uint32_t place;
		unsigned len = look_up(c, word_bytes, code + at, bytes - at, &place);
		if (place < PLACES) {
			c->form[place].count++;
			c->insns++;
		} else {
			c->bad++;
		}
		at += len ? len : 1;
	}
}

static int sweep_elf(struct coverage *c, const char *path, const uint8_t *image, size_t bytes)
{
	bool wide = image[EI_CLASS] == ELFCLASS64;
	size_t least = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
	       entry = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	const Elf64_Ehdr *h64 = (const void *)image;
	const Elf32_Ehdr *h32 = (const void *)image;
	if (bytes < least || (wide ? h64->e_machine != EM_X86_64 : h32->e_machine != EM_386)) {
		cli_error("%s: not x86 code", path);
		return 1;
	}
	uint64_t at = wide ? h64->e_shoff : h32->e_shoff;
	unsigned n = wide ? h64->e_shnum : h32->e_shnum;
	if (!n || at % 4 || at > bytes || n > (bytes - at) / entry) {
		cli_error("%s: no table of sections", path);
		return 1;
	}
	for (unsigned i = 0; i < n; i++) {
		Elf64_Shdr s64;
		Elf32_Shdr s32;
		memcpy(wide ? (void *)&s64 : (void *)&s32, image + at + i * entry, entry);
		uint64_t flags = wide ? s64.sh_flags : s32.sh_flags, offset = wide ? s64.sh_offset : s32.sh_offset;
		uint64_t size = wide ? s64.sh_size : s32.sh_size;
		uint32_t type = wide ? s64.sh_type : s32.sh_type;
		if ((flags & SHF_EXECINSTR) && type != SHT_NOBITS && offset <= bytes && size <= bytes - offset)
			sweep(c, wide ? 8 : 4, image + offset, size);
	}
	return 0;
}

/* ---- saved streams ---- */

static void free_blocks(struct process *p)
{
	for (uint32_t i = 0; i < p->blocks; i++) {
		free(p->block[i].form);
		free(p->block[i].slots);
		free(p->block[i].exit);
	}
	free(p->block);
	*p = (struct process){ .word_bytes = p->word_bytes };
}

static int define(struct coverage *c, struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	const struct st_block_def *d = (const void *)w;
	if (length * 8 < sizeof *d || length * 8 < sizeof *d + d->insns * sizeof(struct st_insn_def) +
	    d->slots * sizeof(struct st_slot) + d->exits * sizeof(struct st_exit_def) || d->id != p->blocks)
		return err_set(err, ERR_INPUT, "the stream holds a malformed block description");
	if (p->blocks == p->capacity) {
		uint32_t capacity = p->capacity * 2 + 256;
		struct block *more = realloc(p->block, capacity * sizeof *more);
		if (!more)
			return err_set(err, ERR_NOMEM, "out of memory for the stream's blocks");
		p->block = more;
		p->capacity = capacity;
	}
	struct block *b = &p->block[p->blocks];
	const struct st_insn_def *in = (const void *)(d + 1);
	const struct st_slot *slot = (const void *)(in + d->insns);
	*b = (struct block){ .insns = d->insns,
		.exits = d->exits, .form = malloc(d->insns * sizeof *b->form + 1),
		.slots = calloc(d->insns + 1u, sizeof *b->slots), .exit = malloc(d->exits * sizeof *b->exit + 1) };
	p->blocks++;
	if (!b->form || !b->slots || !b->exit)
		return err_set(err, ERR_NOMEM, "out of memory for the stream's blocks");
	memcpy(b->exit, slot + d->slots, d->exits * sizeof *b->exit);
	for (unsigned i = 0; i < d->insns; i++) {
		unsigned len = in[i].len < sizeof in[i].bytes ? in[i].len : sizeof in[i].bytes;
		look_up(c, p->word_bytes, in[i].bytes, len, &b->form[i]);
	}
	for (unsigned i = 0; i < d->slots; i++)
		if (slot[i].insn < d->insns)
			b->slots[slot[i].insn]++;
	return 0;
}

static void count(struct coverage *c, const struct block *b, unsigned insns)
{
	for (unsigned i = 0; i < insns && i < b->insns; i++) {
		c->insns++;
		if (b->form[i] < PLACES)
			c->form[b->form[i]].count++;
		else
			c->bad++;
	}
}

static int span(struct coverage *c, struct process *p, const uint64_t *w, size_t n, struct err *err)
{
	for (size_t at = 0; at < n;) {
		unsigned kind = ST_HEADER_KIND(w[at]), exit = ST_HEADER_EXIT(w[at]), slots = 0;
		uint32_t low = ST_HEADER_LOW(w[at]);
		if (kind == ST_CHUNK_END)
			return 0;
		if (kind == ST_BLOCK || kind == ST_BLOCK_CUT) {
			const struct block *b = low < p->blocks ? &p->block[low] : NULL;
			if (!b || (kind == ST_BLOCK ? exit >= b->exits : exit > b->insns))
				return err_set(
					err, ERR_INPUT, "the stream runs block %u, which it did not define", low);
			if (kind == ST_BLOCK) {
				slots = b->exit[exit].slots;
				count(c, b, b->exit[exit].insns);
			} else {
				for (unsigned i = 0; i < exit; i++)
					slots += b->slots[i];
				count(c, b, exit);
			}
			if (slots > n - at - 1)
				return err_set(err, ERR_INPUT, "the stream ends within block %u", low);
			at += 1 + slots;
			continue;
		}
		if (low < 8 || low % 8 || low / 8 > n - at)
			return err_set(err, ERR_INPUT, "the stream holds a record of kind %u with a bad length", kind);
		if (kind == ST_PROCESS && low >= sizeof(struct st_process)) {
			free_blocks(p);
			p->word_bytes = ((const struct st_process *)(w + at))->word_bytes;
		} else if (kind == ST_BLOCK_DEF) {
			int rc = define(c, p, w + at, low / 8, err);
			if (rc)
				return rc;
		}
		at += low / 8;
	}
	return 0;
}

static int read_stream(struct coverage *c, const char *path)
{
	struct stream *s;
	struct stream_span sp;
	struct err err = { 0 };
	struct process *p = NULL;
	uint32_t processes = 0;
	if (stream_open(&s, path, &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	int rc;
	while ((rc = stream_next(s, &sp, &err)) == STREAM_SPAN) {
		if (sp.process >= processes) {
			struct process *more = realloc(p, (sp.process + 1) * sizeof *more);
			if (!more) {
				rc = err_set(&err, ERR_NOMEM, "out of memory for %u processes", sp.process);
				break;
			}
			p = more;
			memset(p + processes, 0, (sp.process + 1 - processes) * sizeof *p);
			processes = sp.process + 1;
		}
		if ((rc = span(c, &p[sp.process], sp.words, sp.count, &err)))
			break;
	}
	if (rc < 0)
		cli_error("%s%s%s", strstr(err.text, path) ? "" : path, strstr(err.text, path) ? "" : ": ", err.text);
	for (uint32_t i = 0; i < processes; i++)
		free_blocks(&p[i]);
	free(p);
	stream_close(s);
	return rc < 0;
}

/* ---- printing ---- */

static int by_count(const void *a, const void *b)
{
	const struct form *x = *(const struct form *const *)a, *y = *(const struct form *const *)b;
	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->name, y->name);
}

static void print(
	const struct coverage *c, const char *core, unsigned k, const struct form **list, unsigned forms, bool json)
{
	unsigned n = 0, met = 0;
	uint64_t without = 0;
	for (unsigned i = 0; i < forms; i++)
		met += list[i]->count > 0;
	for (unsigned i = 0; i < forms; i++)
		if (list[i]->count && !(list[i]->covered >> k & 1)) {
			n++;
			without += list[i]->count;
		}
	if (json)
		printf("%s{\"core\": \"%s\", \"instructions\": %llu, \"undecoded\": %llu, \"forms\": %u, "
			"\"forms_without_row\": %u, \"instructions_without_row\": %llu, \"without_row\": [",
			k ? ",\n" : "", core, (unsigned long long)c->insns, (unsigned long long)c->bad, met, n,
			(unsigned long long)without);
	else
		printf("%s: %llu instructions of %u forms; without a row of their own: %u forms, %llu instructions\n",
			core, (unsigned long long)c->insns, met, n, (unsigned long long)without);
	bool first = true;
	for (unsigned i = 0; i < forms; i++) {
		const struct form *f = list[i];
		if (!f->count || (f->covered >> k & 1))
			continue;
		if (json)
			printf("%s{\"form\": \"%s\", \"count\": %llu}", first ? "" : ", ", f->name,
				(unsigned long long)f->count);
		else
			printf("  %12llu  %s\n", (unsigned long long)f->count, f->name);
		first = false;
	}
	if (json)
		fputs("]}", stdout);
}

static int scan(struct coverage *c, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	if (fd < 0 || fstat(fd, &st)) {
		cli_error("cannot open %s: %m", path);
		if (fd >= 0)
			close(fd);
		return 1;
	}
	void *image = S_ISREG(st.st_mode) && st.st_size >= EI_NIDENT
		? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
		: MAP_FAILED;
	close(fd);
	if (image != MAP_FAILED && !memcmp(image, ELFMAG, SELFMAG))
		rc = sweep_elf(c, path, image, (size_t)st.st_size);
	else
		rc = read_stream(c, path);
	if (image != MAP_FAILED)
		munmap(image, (size_t)st.st_size);
	return rc;
}

int coverage(const char *path, const struct core_config *core, unsigned cores, bool json)
{
	struct coverage c = { .form = calloc(PLACES, sizeof *c.form) };
	const struct form **list = malloc(PLACES * sizeof *list);
	struct err err = { 0 };
	int rc = 0;
	if (!c.form || !list) {
		cli_error("out of memory");
		rc = 1;
	}
	for (; !rc && c.cores < cores && c.cores < COVERAGE_CORES; c.cores++) {
		char table[4096];
		snprintf(table, sizeof table, "%s/uops/%s.tsv", cli_data_dir(), core[c.cores].uops);
		if (isa_create(&c.isa[c.cores], table, &err)) {
			cli_error("%s", err.text);
			rc = 1;
			break;
		}
	}
	if (!rc)
		rc = scan(&c, path);
	if (!rc) {
		unsigned n = 0;
		for (unsigned i = 0; i < PLACES; i++)
			if (c.form[i].name[0])
				list[n++] = &c.form[i];
		qsort(list, n, sizeof *list, by_count);
		if (json)
			puts("[");
		for (unsigned k = 0; k < c.cores; k++)
			print(&c, core[k].name, k, list, n, json);
		if (json)
			puts("\n]");
	}
	for (unsigned k = 0; k < c.cores; k++)
		isa_destroy(c.isa[k]);
	free(c.form);
	free(list);
	return rc;
}
