/* SPDX-License-Identifier: GPL-2.0-or-later
 * Files by the contents of their pages (code_files.h).  ELF is read by hand: Bochs is not linked with libelf.
 */
#include "machine/code_files.h"
#include "util/grow.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = CODE_FILES_PAGE, SEGMENTS = 8, HEADERS = 256, DYNAMIC = 4096,
	FILES_MOST = 1 << 16, PAGES_MOST = 1 << 22, SPACES_MOST = 1 << 16,
};

struct segment { uint64_t offset, bytes; };	/* of whole pages */
struct file {
	char *host;
	char *guest;
	const char *name;	/* last part of the guest's path */
	bool program;		/* it is executed, rather than mapped by a loader */
	struct segment segment[SEGMENTS];
	unsigned segments;
	uint64_t hash;		/* of all its pages of code */
};
struct page { uint64_t hash, offset; uint32_t file; };
struct mapped { uint64_t addr, bytes, offset; uint32_t file; };
struct space {
	uint64_t tag;
	struct mapped *mapped;
	size_t count, room;
	uint32_t program;	/* 1 + its file; 0: unknown */
};
struct code_files {
	struct file *file;
	size_t files, file_room;
	struct page *page;	/* in order of hash, then as added */
	size_t pages, page_room;
	struct space *space;	/* in order of tag */
	size_t spaces, space_room;
};

static uint64_t hash_page(const uint8_t *p)
{
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15), word;
	for (size_t i = 0; i < PAGE; i += sizeof word) {
		memcpy(&word, p + i, sizeof word);
		h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 29;
	}
	return h;
}

/* ---- files ---- */

struct header { uint32_t type, flags; uint64_t offset, vaddr, file_bytes; };

static bool read_at(FILE *f, uint64_t offset, void *to, size_t bytes)
{
	return offset < INT64_MAX && !fseeko(f, (off_t)offset, SEEK_SET) && fread(to, 1, bytes, f) == bytes;
}

/* Reads the program headers; returns their number, 0 if it is no such file.  *type: ET_. */
static unsigned read_headers(FILE *f, struct header out[HEADERS], unsigned *type, bool *wide)
{
	union { unsigned char ident[EI_NIDENT]; Elf64_Ehdr h64; Elf32_Ehdr h32; } e;
	unsigned n = 0;
	memset(&e, 0, sizeof e);
	if (!read_at(f, 0, &e.h32, sizeof e.h32) || memcmp(e.ident, ELFMAG, SELFMAG) || e.ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	*wide = e.ident[EI_CLASS] == ELFCLASS64;
	if (*wide && (!read_at(f, 0, &e.h64, sizeof e.h64) || e.h64.e_phentsize != sizeof(Elf64_Phdr)))
		return 0;
	if (!*wide && (e.ident[EI_CLASS] != ELFCLASS32 || e.h32.e_phentsize != sizeof(Elf32_Phdr)))
		return 0;
	*type = *wide ? e.h64.e_type : e.h32.e_type;
	const unsigned count = *wide ? e.h64.e_phnum : e.h32.e_phnum;
	const uint64_t at = *wide ? e.h64.e_phoff : e.h32.e_phoff;
	for (; n < count && n < HEADERS; n++) {
		Elf64_Phdr p;
		Elf32_Phdr q;
		if (*wide && read_at(f, at + n * sizeof p, &p, sizeof p))
			out[n] = (struct header){ p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_filesz };
		else if (!*wide && read_at(f, at + n * sizeof q, &q, sizeof q))
			out[n] = (struct header){ q.p_type, q.p_flags, q.p_offset, q.p_vaddr, q.p_filesz };
		else
			break;
	}
	return n;
}

/* Position-independent programs say so; before they did, they had an interpreter and no name as a library has. */
static bool is_program(FILE *f, const struct header *h, unsigned count, unsigned type, bool wide)
{
	bool pie = false, named = false, interpreter = false;
	if (type == ET_EXEC)
		return true;
	for (unsigned i = 0; i < count; i++) {
		interpreter |= h[i].type == PT_INTERP;
		const size_t bytes = wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
		for (size_t k = 0; h[i].type == PT_DYNAMIC && k < DYNAMIC && (k + 1) * bytes <= h[i].file_bytes; k++) {
			Elf64_Dyn d = { 0 };
			Elf32_Dyn e = { 0 };
			if (!read_at(f, h[i].offset + k * bytes, wide ? (void *)&d : (void *)&e, bytes))
				break;
			const int64_t tag = wide ? d.d_tag : e.d_tag;
			if (tag == DT_NULL)
				break;
			pie |= tag == DT_FLAGS_1 && ((wide ? d.d_un.d_val : e.d_un.d_val) & DF_1_PIE);
			named |= tag == DT_SONAME;
		}
	}
	return pie || (interpreter && !named);
}

static int add_pages(struct code_files *c, FILE *f, const struct segment *s, uint64_t *all)
{
	uint8_t bytes[PAGE];
	for (uint64_t at = s->offset; at < s->offset + s->bytes; at += PAGE) {
		if (fseeko(f, (off_t)at, SEEK_SET))
			return 0;
		const size_t n = fread(bytes, 1, PAGE, f);
		if (!n)
			return 0;
		memset(bytes + n, 0, PAGE - n);
		struct page *grown = c->pages < PAGES_MOST
			? grow_array(c->page, c->pages, &c->page_room, 1024, sizeof *grown) : NULL;
		if (!grown)
			return ERR_NOMEM;
		c->page = grown;
		c->page[c->pages] = (struct page){ hash_page(bytes), at, (uint32_t)c->files };
		*all = (*all ^ c->page[c->pages++].hash ^ at) * UINT64_C(0x100000001b3);
	}
	return 0;
}

static bool is_known(const struct code_files *c, const struct file *f)
{
	for (size_t i = 0; i < c->files; i++)
		if (c->file[i].hash == f->hash && c->file[i].segments == f->segments)
			return true;
	return false;
}

/* Adds a file with its code; one without is passed over, and so is one that has the code of an earlier one. */
static int add_file(struct code_files *c, const char *host, const char *guest)
{
	struct header h[HEADERS];
	unsigned type = 0;
	bool wide = false;
	FILE *f = fopen(host, "rbe");
	const unsigned count = f ? read_headers(f, h, &type, &wide) : 0;
	const size_t pages = c->pages;
	struct file *grown = c->files < FILES_MOST
		? grow_array(c->file, c->files, &c->file_room, 64, sizeof *grown) : NULL;
	int rc = grown ? 0 : ERR_NOMEM;
	if (grown) {
		c->file = grown;
		struct file *one = &c->file[c->files];
		*one = (struct file){ .program = count && is_program(f, h, count, type, wide) };
		for (unsigned i = 0; i < count && one->segments < SEGMENTS && !rc; i++) {
			if (h[i].type != PT_LOAD || !(h[i].flags & PF_X) || !h[i].file_bytes ||
				h[i].offset > INT64_MAX / 2 || h[i].file_bytes > INT64_MAX / 2)
				continue;
			const uint64_t from = h[i].offset & ~(uint64_t)(PAGE - 1);
			const uint64_t to = (h[i].offset + h[i].file_bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
			one->segment[one->segments] = (struct segment){ from, to - from };
			rc = add_pages(c, f, &one->segment[one->segments++], &one->hash);
		}
		if (!rc && one->segments && is_known(c, one)) {
			c->pages = pages;
		} else if (!rc && one->segments) {
			one->host = strdup(host);
			one->guest = strdup(guest);
			c->files++;
			const char *slash = one->guest ? strrchr(one->guest, '/') : NULL;
			one->name = slash ? slash + 1 : one->guest;
			rc = one->host && one->guest ? 0 : ERR_NOMEM;
		}
	}
	if (f)
		fclose(f);
	return rc;
}

static int by_hash(const void *a, const void *b)
{
	const struct page *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int code_files_open(struct code_files **out, const char *list, struct err *err)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(list, "re");
	if (!f)
		return err_system(err, "cannot open %s", list);
	struct code_files *c = calloc(1, sizeof *c);
	int rc = c ? 0 : ERR_NOMEM;
	while (!rc && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		char *tab = strchr(line, '\t');
		if (tab)
			*tab++ = 0;
		if (*line)
			rc = add_file(c, line, tab && *tab ? tab : line);
	}
	free(line);
	fclose(f);
	if (rc) {
		code_files_close(c);
		return err_set(err, ERR_NOMEM, "out of memory for the guest's files");
	}
	if (c->pages)
		qsort(c->page, c->pages, sizeof *c->page, by_hash);
	*out = c;
	return 0;
}

void code_files_close(struct code_files *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files; i++) {
		free(c->file[i].host);
		free(c->file[i].guest);
	}
	for (size_t i = 0; i < c->spaces; i++)
		free(c->space[i].mapped);
	free(c->file);
	free(c->page);
	free(c->space);
	free(c);
}

size_t code_files_count(const struct code_files *c)
{
	return c->files;
}

/* ---- spaces ---- */

static struct space *get_space(struct code_files *c, uint64_t tag)
{
	size_t low = 0, high = c->spaces;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (c->space[middle].tag < tag)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < c->spaces && c->space[low].tag == tag)
		return &c->space[low];
	struct space *grown = c->spaces < SPACES_MOST
		? grow_array(c->space, c->spaces, &c->space_room, 16, sizeof *grown) : NULL;
	if (!grown)
		return NULL;
	c->space = grown;
	memmove(&c->space[low + 1], &c->space[low], (c->spaces++ - low) * sizeof *c->space);
	c->space[low] = (struct space){ .tag = tag };
	return &c->space[low];
}

/* The pages with this content: returns the first, *count of them. */
static const struct page *find_pages(const struct code_files *c, uint64_t hash, size_t *count)
{
	size_t low = 0, high = c->pages;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (c->page[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < c->pages && c->page[low + *count].hash == hash;)
		++*count;
	return c->page + low;
}

static const struct mapped *covering(const struct space *s, uint64_t addr)
{
	for (size_t i = s->count; i-- > 0;)
		if (addr - s->mapped[i].addr < s->mapped[i].bytes)
			return &s->mapped[i];
	return NULL;
}

/* Where a file begins, as far as this mapping says. */
static uint64_t bias(uint64_t addr, uint64_t offset) { return addr - offset; }

/* Of the page's places in files, the one that lies at addr: NULL: it cannot be told. */
static const struct page *choose(const struct space *s, uint64_t addr, const struct page *p, size_t count)
{
	for (size_t i = 0; i < count; i++)	/* another segment of a file that is known here */
		for (size_t k = 0; k < s->count; k++)
			if (s->mapped[k].file == p[i].file &&
				bias(addr, p[i].offset) == bias(s->mapped[k].addr, s->mapped[k].offset))
				return &p[i];
	return count == 1 ? p : NULL;
}

struct telling { code_files_tell *tell; void *context; uint64_t tag; };

static void tell(const struct telling *to, unsigned what, uint64_t addr, uint64_t bytes, uint64_t offset,
	const char *path)
{
	struct { struct st_symbols head; char path[4096]; } r = { .head = { .what = what, .addr = addr, .bytes = bytes,
		.offset = offset, .tag = to->tag } };
	const size_t length = strnlen(path, sizeof r.path - 1), whole = sizeof r.head + (length + 8) / 8 * 8;
	memcpy(r.path, path, length);
	r.head.path_bytes = (uint32_t)length + 1;
	r.head.header = ST_HEADER(ST_SYMBOLS, whole);
	to->tell(to->context, &r, whole);
}

static bool new_image(const struct code_files *c, const struct space *s, const struct page *p, uint64_t addr)
{
	if (c->file[p->file].program && s->program && s->program != p->file + 1)
		return true;
	for (size_t i = 0; i < s->count; i++)
		if (s->mapped[i].file == p->file &&
			bias(addr, p->offset) != bias(s->mapped[i].addr, s->mapped[i].offset) &&
			p->offset - s->mapped[i].offset < s->mapped[i].bytes)
			return true;
	return false;
}

static void add_mapping(struct code_files *c, struct space *s, const struct page *p, uint64_t addr,
	const struct telling *to)
{
	const struct file *f = &c->file[p->file];
	unsigned k = 0;
	while (k + 1 < f->segments && p->offset - f->segment[k].offset >= f->segment[k].bytes)
		k++;
	const struct segment *g = &f->segment[k];
	struct mapped *grown = grow_array(s->mapped, s->count, &s->room, 8, sizeof *grown);
	if (!grown || p->offset - g->offset >= g->bytes || addr < p->offset - g->offset)
		return;
	s->mapped = grown;
	const struct mapped m = { addr - (p->offset - g->offset), g->bytes, g->offset, p->file };
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++)	/* what lay there was unmapped */
		if (s->mapped[i].addr + s->mapped[i].bytes <= m.addr || m.addr + m.bytes <= s->mapped[i].addr)
			s->mapped[kept++] = s->mapped[i];
	s->count = kept;
	s->mapped[s->count++] = m;
	tell(to, ST_SYMBOLS_CODE, m.addr, m.bytes, m.offset, f->host);
	if (f->program && s->program != p->file + 1) {
		s->program = p->file + 1;
		tell(to, ST_SYMBOLS_PROGRAM, 0, 0, 0, f->name);
	}
}

bool code_files_page(struct code_files *c, uint64_t tag, uint64_t addr, const uint8_t *page, code_files_tell *tell_it,
	void *context)
{
	const struct telling to = { tell_it, context, tag };
	struct space *s = c && c->pages ? get_space(c, tag) : NULL;
	size_t count;
	if (!s)
		return false;
	addr &= ~(uint64_t)(PAGE - 1);
	const struct page *p = find_pages(c, hash_page(page), &count);
	const struct mapped *now = covering(s, addr);
	for (size_t i = 0; now && i < count; i++)
		if (p[i].file == now->file && bias(addr, p[i].offset) == bias(now->addr, now->offset))
			return false;	/* as known */
	const struct page *is = choose(s, addr, p, count);
	if (!is)
		return false;
	const bool fresh = new_image(c, s, is, addr);
	if (fresh) {
		s->count = 0;
		s->program = 0;
		tell(&to, ST_SYMBOLS_PROGRAM, 0, 0, 0, "");
	}
	add_mapping(c, s, is, addr, &to);
	return fresh;
}
