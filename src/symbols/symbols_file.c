/* SPDX-License-Identifier: GPL-2.0-or-later
 * The symbols of one ELF file, in the form that perf gives them, so that both tools' reports agree: which of
 * several names of an address is shown, where a symbol of size zero ends, PLT entries as NAME@plt (symbols_plt.c).
 *
 * Names are demangled with libiberty's cplus_demangle, the function that perf itself uses: it has a C interface and
 * gives the same text for C++ (without parameters), Rust and D.  (libstdc++'s __cxa_demangle knows only C++ and
 * always prints parameters and return types.)
 *
 * Left out: prelinked files whose separate debug file has other addresses.
 */
#include "symbols/symbols_private.h"
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <fcntl.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LIMIT = 64 * 1024, PAGE = 4096 };

char *symbols_demangle(const char *name)
{
	if (name[0] != '_' || strlen(name) > NAME_LIMIT)
		return NULL;
	return cplus_demangle(name, DMGL_NO_OPTS);
}

int symfile_add(struct symfile *f, uint64_t start, uint64_t end, const char *name, unsigned binding, bool is_code)
{
	if (f->symbols == f->room) {
		size_t room = f->room ? f->room * 2 : 256;
		struct symbol *symbol = realloc(f->symbol, room * sizeof *symbol);
		if (!symbol)
			return ERR_NOMEM;
		f->symbol = symbol;
		f->room = room;
	}
	struct symbol *s = &f->symbol[f->symbols];
	*s = (struct symbol){ .start = start, .end = end, .binding = (uint8_t)binding, .is_code = is_code };
	s->name = symbols_demangle(name);
	if (s->name)
		s->linkage = strdup(name);
	else
		s->name = strdup(name);
	if (!s->name)
		return ERR_NOMEM;
	f->symbols++;
	return 0;
}

/* ---- order ---- */

struct ordered { struct symbol symbol; size_t added; };

static int by_start(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	return x->added < y->added ? -1 : 1;
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* True if perf shows the first of two names of one address. */
static bool better(const struct symbol *a, const struct symbol *b)
{
	bool a_empty = a->end == a->start, b_empty = b->end == b->start;
	if (a_empty != b_empty)
		return b_empty;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return b->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return a->binding == STB_GLOBAL;
	size_t x = underscores(a->name), y = underscores(b->name);
	if (x != y)
		return x < y;
	return strlen(a->name) >= strlen(b->name);
}

static void drop(struct symbol *s)
{
	free(s->name);
	free(s->linkage);
}

static void fix(struct symfile *f, bool keep_last)
{
	for (size_t i = 0; i + 1 < f->symbols; i++)
		if (f->symbol[i].end == f->symbol[i].start) {
			f->symbol[i].end = f->symbol[i + 1].start;
			f->symbol[i].stretched = true;
		}
	if (f->symbols) {
		struct symbol *last = &f->symbol[f->symbols - 1];
		if (last->end == last->start)
			last->end = (last->start + PAGE - 1) / PAGE * PAGE + PAGE;
	}
	size_t kept = 0;
	for (size_t i = 0; i < f->symbols; i++) {
		struct symbol *s = &f->symbol[i], *best = kept ? &f->symbol[kept - 1] : NULL;
		if (!best || best->start != s->start) {
			f->symbol[kept++] = *s;
		} else if (!keep_last && better(best, s)) {
			drop(s);
		} else {
			drop(best);
			*best = *s;
		}
	}
	f->symbols = kept;
}

int symfile_index(struct symfile *f, bool with_fix, bool keep_last)
{
	struct ordered *sorted = malloc((f->symbols + 1) * sizeof *sorted);
	size_t *stack = malloc((f->symbols + 1) * sizeof *stack);
	free(f->outer);
	f->outer = malloc((f->symbols + 1) * sizeof *f->outer);
	if (!sorted || !stack || !f->outer) {
		free(sorted);
		free(stack);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < f->symbols; i++)
		sorted[i] = (struct ordered){ f->symbol[i], i };
	qsort(sorted, f->symbols, sizeof *sorted, by_start);
	for (size_t i = 0; i < f->symbols; i++)
		f->symbol[i] = sorted[i].symbol;
	if (with_fix)
		fix(f, keep_last);
	/* A symbol without a size (_init) must not reach over PLT entries, which are added last. */
	for (size_t i = 0; i < f->symbols; i++) {
		struct symbol *s = &f->symbol[i];
		if (s->shown_end < s->end)
			s->shown_end = s->end;
		if (s->stretched && i + 1 < f->symbols && s->end > s[1].start)
			s->end = s[1].start;
	}
	size_t depth = 0;
	for (size_t i = 0; i < f->symbols; i++) {
		while (depth && f->symbol[stack[depth - 1]].end <= f->symbol[i].start)
			depth--;
		f->outer[i] = depth ? stack[depth - 1] + 1 : 0;
		stack[depth++] = i;
	}
	free(sorted);
	free(stack);
	return 0;
}

const struct symbol *symfile_last_before(const struct symfile *f, uint64_t address)
{
	size_t low = 0, high = f->symbols;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (f->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &f->symbol[low - 1] : NULL;
}

const struct symbol *symfile_find(const struct symfile *f, uint64_t address)
{
	const struct symbol *last = symfile_last_before(f, address);
	size_t at = last ? (size_t)(last - f->symbol) + 1 : 0;
	while (at && address >= f->symbol[at - 1].end)
		at = f->outer[at - 1];
	return at ? &f->symbol[at - 1] : NULL;
}

/* ---- ELF ---- */

static Elf_Scn *section(Elf *elf, const char *name, uint32_t type, GElf_Shdr *header)
{
	size_t names;
	Elf_Scn *scn = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s = gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
		if (s && !strcmp(s, name) && (!type || header->sh_type == type))
			return scn;
	}
	return NULL;
}

bool symfile_address(const struct symfile *f, uint64_t vaddr, uint64_t *address)
{
	for (size_t i = 0; i < f->segments; i++) {
		const struct segment *s = &f->segment[i];
		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->bytes) {
			*address = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool symfile_vaddr(const struct symfile *f, uint64_t address, uint64_t *vaddr)
{
	if (f->jit) {
		*vaddr = address;
		return true;
	}
	for (size_t i = 0; i < f->segments; i++) {
		const struct segment *s = &f->segment[i];
		if (address >= s->offset && address - s->offset < s->file_bytes) {
			*vaddr = address - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

static int read_segments(struct symfile *f, Elf *elf)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) || count > 4096)
		return 0;
	f->segment = calloc(count + 1, sizeof *f->segment);
	if (!f->segment)
		return ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			f->segment[f->segments++] = (struct segment){ p.p_offset, p.p_filesz, p.p_vaddr, p.p_memsz };
	}
	return 0;
}

static unsigned elf_build_id(Elf *elf, uint8_t id[SYMBOLS_BUILD_ID_BYTES])
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Nhdr note;
		size_t offset = 0, name, bytes;
		while (data && (offset = gelf_getnote(data, offset, &note, &name, &bytes)) > 0) {
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((char *)data->d_buf + name, "GNU", 4))
				continue;
			unsigned n = note.n_descsz < SYMBOLS_BUILD_ID_BYTES ? note.n_descsz : SYMBOLS_BUILD_ID_BYTES;
			memcpy(id, (char *)data->d_buf + bytes, n);
			return n;
		}
	}
	return 0;
}

unsigned symbols_build_id(const char *path, uint8_t id[SYMBOLS_BUILD_ID_BYTES])
{
	struct stat st;
	unsigned n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		n = elf_build_id(elf, id);
	elf_end(elf);
	close(fd);
	return n;
}

/* True if a symbol without a type (an assembler label) names code or data; as perf, by the section's name. */
static bool label_section(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	const char *s = elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, header->sh_name);
	return s && (strstr(s, "text") || strstr(s, "data"));
}

static int read_table(struct symfile *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	if (!data || !header->sh_entsize)
		return 0;
	size_t count = header->sh_size / header->sh_entsize;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym sym;
		GElf_Shdr in;
		if (!gelf_getsym(data, (int)i, &sym))
			break;
		unsigned type = GELF_ST_TYPE(sym.st_info), visibility = GELF_ST_VISIBILITY(sym.st_other);
		bool code = type == STT_FUNC || type == STT_GNU_IFUNC;
		bool label = type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL;
		if (!sym.st_name || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
		    (!code && !label && type != STT_OBJECT))
			continue;
		Elf_Scn *home = elf_getscn(elf, sym.st_shndx);
		if (!home || !gelf_getshdr(home, &in) || !(in.sh_flags & SHF_ALLOC) ||
		    (label && !label_section(elf, &in)))
			continue;
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
		uint64_t offset;
		if (!name || !*name || !symfile_address(f, sym.st_value, &offset) || offset + sym.st_size < offset)
			continue;
		if (symfile_add(f, offset, offset + sym.st_size, name, GELF_ST_BIND(sym.st_info),
				code || (label && in.sh_flags & SHF_EXECINSTR)))
			return ERR_NOMEM;
	}
	return 0;
}

/* .gnu_debugdata: an xz-compressed ELF file with symbols that a distribution stripped; libdwfl unpacks it. */
static int no_debuginfo(Dwfl_Module *m, void **u, const char *n, Dwarf_Addr b, const char *f, const char *l,
	GElf_Word c, char **o)
{
	(void)m, (void)u, (void)n, (void)b, (void)f, (void)l, (void)c, (void)o;
	return -1;
}
static int read_minidebug(struct symfile *f)
{
	static const Dwfl_Callbacks calls = { .find_elf = dwfl_build_id_find_elf, .find_debuginfo = no_debuginfo,
					      .section_address = dwfl_offline_section_address };
	int code = 0;
	Dwfl *dwfl = dwfl_begin(&calls);
	Dwfl_Module *module = dwfl ? dwfl_report_offline(dwfl, f->path, f->path, -1) : NULL;
	GElf_Addr bias = 0;
	int count = module && dwfl_module_getelf(module, &bias) ? dwfl_module_getsymtab(module) : 0;
	for (int i = 1; i < count && !code; i++) {
		GElf_Sym sym;
		GElf_Addr addr;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &addr, NULL, NULL, NULL);
		uint64_t offset;
		if (name && *name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx != SHN_UNDEF &&
		    symfile_address(f, sym.st_value - bias, &offset) && offset + sym.st_size >= offset)
			code = symfile_add(f, offset, offset + sym.st_size, name, GELF_ST_BIND(sym.st_info), true);
	}
	dwfl_end(dwfl);
	return code;
}

/* ---- separate debug files ---- */

static bool has_symtab_or_lines(const char *path, const struct symfile *f)
{
	uint8_t id[SYMBOLS_BUILD_ID_BYTES];
	unsigned n = symbols_build_id(path, id);
	return f->build_id_bytes ? n == f->build_id_bytes && !memcmp(id, f->build_id, n) : access(path, R_OK) == 0;
}

static char *find_debug(const struct symfile *f, Elf *elf)
{
	char *path = NULL;
	if (f->build_id_bytes > 1) {
		char hex[2 * SYMBOLS_BUILD_ID_BYTES + 1];
		for (unsigned i = 0; i < f->build_id_bytes; i++)
			sprintf(hex + 2 * i, "%02x", f->build_id[i]);
		if (asprintf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) < 0)
			return NULL;
		if (has_symtab_or_lines(path, f))
			return path;
		free(path);
	}
	GElf_Shdr header;
	Elf_Scn *scn = section(elf, ".gnu_debuglink", 0, &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data || !data->d_buf || !memchr(data->d_buf, 0, data->d_size) || strchr(data->d_buf, '/'))
		return NULL;
	const char *slash = strrchr(f->path, '/'), *name = data->d_buf;
	int dir = slash ? (int)(slash - f->path) : 1;
	const char *in = slash ? f->path : ".";
	static const char *const places[] = { "%s%.*s/%s", "%s%.*s/.debug/%s", "%s%.*s/%s" };
	for (int i = 0; i < 3; i++) {
		/* GDB manual, "Debugging Information in Separate Files": beside the file, in .debug, under the
		 * global directory */
		int n = i == 1 ? asprintf(&path, places[1], "", dir, in, name) :
			asprintf(&path, places[0], i == 2 ? "/usr/lib/debug" : "", dir, in, name);
		if (n < 0)
			return NULL;
		if (strcmp(path, f->path) && has_symtab_or_lines(path, f))
			return path;
		free(path);
	}
	return NULL;
}

static int read_symtab_of(struct symfile *f, const char *path, bool *found)
{
	int code = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	GElf_Shdr header;
	Elf_Scn *scn = elf && elf_kind(elf) == ELF_K_ELF ? section(elf, ".symtab", SHT_SYMTAB, &header) : NULL;
	if (scn) {
		*found = true;
		code = read_table(f, elf, scn, &header);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return code;
}

static int read_symbols(struct symfile *f, Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *scn = section(elf, ".symtab", SHT_SYMTAB, &header);
	bool found = scn;
	int code = 0;
	f->debug_path = find_debug(f, elf);
	if (scn)
		code = read_table(f, elf, scn, &header);
	else if (f->debug_path)
		code = read_symtab_of(f, f->debug_path, &found);
	if (!code && !found && section(elf, ".gnu_debugdata", 0, &header))
		code = read_minidebug(f);
	if (!code && (scn = section(elf, ".dynsym", SHT_DYNSYM, &header)))
		code = read_table(f, elf, scn, &header);
	if (!code)
		code = symfile_index(f, true, false);
	if (!code)
		code = symfile_read_plt(f, elf);	/* after the fixing: perf adds them last, too */
	return code ? code : symfile_index(f, false, false);
}

int symfile_open(struct symfile **out, const char *path, const uint8_t *want, unsigned want_bytes, struct err *err)
{
	struct stat st;
	Elf *elf = NULL;
	int code = 0;
	struct symfile *f = calloc(1, sizeof *f);
	if (!f || !(f->path = strdup(path))) {
		free(f);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	elf_version(EV_CURRENT);
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);	/* NONBLOCK: the path may name a FIFO */
	if (f->fd < 0)
		code = err_system(err, "cannot open %s", path);
	else if (fstat(f->fd, &st) || !S_ISREG(st.st_mode))
		code = err_set(err, ERR_INPUT, "%s is not a regular file", path);
	else if (!(elf = elf_begin(f->fd, ELF_C_READ, NULL)) || elf_kind(elf) != ELF_K_ELF)
		code = err_set(err, ERR_INPUT, "%s is not an ELF file", path);
	if (!code) {
		f->word_bytes = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
		f->build_id_bytes = elf_build_id(elf, f->build_id);
		if (want_bytes && (want_bytes != f->build_id_bytes || memcmp(want, f->build_id, want_bytes)))
			code = err_set(err, ERR_INPUT, "%s has another build-id than the file that ran", path);
	}
	if (!code && (read_segments(f, elf) || read_symbols(f, elf)))
		code = err_set(err, ERR_NOMEM, "out of memory");
	elf_end(elf);
	if (code)
		symfile_close(f);
	else
		*out = f;
	return code;
}

int symfile_open_jit(struct symfile **out, const char *map_path, const char *jitdump_path, struct err *err)
{
	struct symfile *f = calloc(1, sizeof *f);
	if (!f)
		return err_set(err, ERR_NOMEM, "out of memory");
	f->fd = -1;
	f->jit = true;
	f->word_bytes = 8;
	f->path = strdup(map_path ? map_path : "");
	int code = f->path ? 0 : ERR_NOMEM;
	if (!code && map_path)
		code = jit_read_map(f, map_path);
	if (!code && jitdump_path)
		code = jit_read_dump(f, jitdump_path);
	if (!code)
		code = symfile_index(f, true, true);
	if (code) {
		symfile_close(f);
		return err_set(err, code, "out of memory");
	}
	*out = f;
	return 0;
}

void symfile_close(struct symfile *f)
{
	if (!f)
		return;
	lines_close(f->lines);
	inlined_free(f->inlined);
	for (size_t i = 0; i < f->symbols; i++)
		drop(&f->symbol[i]);
	if (f->fd >= 0)
		close(f->fd);
	free(f->symbol);
	free(f->outer);
	free(f->segment);
	free(f->jit_line);
	free(f->jit_files);
	free(f->debug_path);
	free(f->path);
	free(f);
}

size_t symfile_count(const struct symfile *f) { return f->symbols; }
const struct symbol *symfile_symbol(const struct symfile *f, size_t index) { return &f->symbol[index]; }
int symfile_word_bytes(const struct symfile *f) { return f->word_bytes; }

size_t symfile_code(const struct symfile *f, uint64_t *address, uint64_t end)
{
	uint64_t first = end, stop = end;
	bool sections = false;
	if (f->known)
		return known_code_next(f, address, end);
	Elf *elf = f->fd >= 0 ? elf_begin(f->fd, ELF_C_READ_MMAP, NULL) : NULL;
	for (Elf_Scn *scn = elf ? elf_nextscn(elf, NULL) : NULL; scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		sections = true;
		uint64_t begin = sh.sh_offset > *address ? sh.sh_offset : *address;
		if (begin - sh.sh_offset >= sh.sh_size || begin >= first)
			continue;
		first = begin;
		stop = sh.sh_offset + sh.sh_size < end ? sh.sh_offset + sh.sh_size : end;
	}
	elf_end(elf);
	if (sections)
		*address = first;
	return stop > *address ? stop - *address : 0;
}

size_t symfile_read(const struct symfile *f, uint64_t address, uint8_t *into, size_t bytes)
{
	if (f->known)
		return known_code_read(f, address, into, bytes);
	if (f->fd < 0 || (int64_t)address < 0)
		return 0;
	ssize_t n = pread(f->fd, into, bytes, (off_t)address);
	return n > 0 ? (size_t)n : 0;
}

size_t symfile_lines(struct symfile *f, uint64_t address, struct symbols_line *lines, size_t max)
{
	uint64_t vaddr;
	if (!max)
		return 0;
	if (f->jit) {
		size_t low = 0, high = f->jit_lines;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (f->jit_line[middle].address <= address)
				low = middle + 1;
			else
				high = middle;
		}
		const struct symbol *s = symfile_find(f, address);
		if (!low || !s || f->jit_line[low - 1].address < s->start)
			return 0;
		const struct jit_line *l = &f->jit_line[low - 1];
		lines[0] = (struct symbols_line){ f->jit_files + l->file, l->line, s->name, "", false };
		return 1;
	}
	if (!f->lines && !f->lines_tried) {
		f->lines_tried = true;
		if (lines_open(&f->lines, f->path) && f->debug_path)
			lines_open(&f->lines, f->debug_path);
	}
	return f->lines && symfile_vaddr(f, address, &vaddr) ? lines_find(f->lines, vaddr, lines, max) : 0;
}

/* Is the symbol a copy of the function, which the compiler or linker made for some of its callers?  Not what they split
 * off (.cold, .part), which is no beginning.  Names: GCC, clone_function_name; LLVM, ThinLTO's promoted symbols. */
static bool is_copy(const char *symbol, const char *name)
{
	static const char *const suffix[] = { "constprop.", "isra.", "lto_priv.", "llvm." };
	static const char demangled[] = " [clone ";
	const size_t n = strlen(name);
	if (strncmp(symbol, name, n))
		return false;
	const char *behind = symbol + n;
	if (!strncmp(behind, demangled, sizeof demangled - 1))
		behind += sizeof demangled - 1;
	for (size_t i = 0; *behind == '.' && i < sizeof suffix / sizeof *suffix; i++)
		if (!strncmp(behind + 1, suffix[i], strlen(suffix[i])))
			return !strstr(behind, ".cold") && !strstr(behind, ".part.");
	return false;
}

static const struct symbol *find_function(const struct symfile *f, const char *name)
{
	const struct symbol *found = NULL, *copy = NULL;
	for (size_t i = 0; i < f->symbols; i++) {
		const struct symbol *s = &f->symbol[i];
		if (!s->is_code)
			continue;
		bool matches = !strcmp(s->name, name) || (s->linkage && !strcmp(s->linkage, name));
		/* Of several (static functions of one name) take a global one, else the first. */
		if (matches && (!found || (found->binding == STB_LOCAL && s->binding != STB_LOCAL)))
			found = s;
		if (!copy && (is_copy(s->name, name) || (s->linkage && is_copy(s->linkage, name))))
			copy = s;
	}
	return found ? found : copy;
}

size_t symbols_find_functions(const char *path, const char *const *name, uint64_t *file_offset, size_t count)
{
	struct symfile *f;
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		file_offset[i] = UINT64_MAX;
	if (symfile_open(&f, path, NULL, 0, NULL))
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct symbol *s = find_function(f, name[i]);
		if (s)
			file_offset[i] = s->start;
		found += s != NULL;
	}
	symfile_close(f);
	return found;
}

bool symbols_find_function(const char *path, const char *name, uint64_t *file_offset)
{
	uint64_t offset;
	if (!symbols_find_functions(path, &name, &offset, 1))
		return false;
	*file_offset = offset;
	return true;
}

/* The last segment that is larger in memory than in the file: linkers make only one. */
static bool bss_of(Elf *elf, uint64_t addr, uint64_t offset, struct symbols_bss *out)
{
	size_t count;
	bool placed = false, found = false;
	uint64_t bias = 0;
	GElf_Phdr p, last = { 0 };
	if (elf_getphdrnum(elf, &count) || count > 4096)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		if (p.p_flags & PF_X && offset + PAGE > p.p_offset && offset < p.p_offset + p.p_filesz) {
			placed = true;
			bias = addr - offset + p.p_offset - p.p_vaddr;
		}
		if (p.p_memsz > p.p_filesz && p.p_vaddr + p.p_memsz > p.p_vaddr &&
		    p.p_offset + p.p_memsz > p.p_offset) {
			found = true;
			last = p;
		}
	}
	const uint64_t start = bias + last.p_vaddr;
	*out = (struct symbols_bss){ start + last.p_filesz, start + last.p_memsz, last.p_offset + last.p_filesz };
	return placed && found && out->end > out->start;
}

bool symbols_find_bss(const char *path, uint64_t addr, uint64_t offset, struct symbols_bss *out)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool found = elf && elf_kind(elf) == ELF_K_ELF && bss_of(elf, addr, offset, out);
	elf_end(elf);
	close(fd);
	return found;
}
