/* SPDX-License-Identifier: GPL-2.0-or-later
 * Assembly text to code bytes: one run of the system assembler for any number of blocks, each after its own label.
 *
 * A block must not affect the others.  So comments are removed, and only those directives are accepted that emit
 * bytes or choose the syntax.  The assembler runs in the C locale under limits of time, memory and file size, as
 * the text may come from anywhere (`.fill 1<<40`).  Leaves out: macros and conditional assembly (assemble those
 * separately and use --elf).
 */
#include "analysis/block/assemble.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 8, LOG_BYTES = 8 << 20 };
static const char label[] = "softpmu_block_";
static const char out_of_memory[] = "out of memory for the assembler's text";

struct job {
	const struct asm_source *source;
	struct asm_block *out;
	size_t n;
	int word_bytes;
	char dir[PATH_MAX - 16];
	char in[PATH_MAX], object[PATH_MAX], log[PATH_MAX];
	unsigned *first_line;	/* where each block's text begins in the file, from 1; n + 1 entries */
};

static void set_error(struct asm_block *b, unsigned line, const char *text)
{
	if (b->error)
		return;
	free(b->code);
	b->code = NULL;
	b->bytes = 0;
	b->error = strdup(text);
	b->line = line;
}

/* ---- what may stand in a block ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* Whether a directive only emits bytes or chooses the syntax. */
static bool harmless(const char *word, size_t n)
{
	static const char *const may[] = { ".byte", ".word", ".short", ".value", ".long", ".int", ".quad", ".nops",
		".align", ".p2align", ".balign", ".text", ".intel_syntax", ".att_syntax" };
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (strlen(may[i]) == n && !strncmp(may[i], word, n))
			return true;
	return false;
}

/* Checks one statement.  NULL: fine; else what is wrong. */
static const char *check_statement(const char *s, size_t n, char *text, size_t text_bytes)
{
	size_t i = 0;
	for (;;) {		/* labels in front of it */
		while (i < n && isspace((unsigned char)s[i]))
			i++;
		size_t k = i;
		while (k < n && is_word(s[k]))
			k++;
		if (k == i || k >= n || s[k] != ':')
			break;
		i = k + 1;
	}
	size_t k = i;
	while (k < n && is_word(s[k]))
		k++;
	if (k == i || s[i] != '.' || harmless(s + i, k - i))
		return NULL;
	snprintf(text, text_bytes, "the directive %.*s is not allowed in a block", (int)(k - i > 40 ? 40 : k - i),
		s + i);
	return text;
}

/* Whether the word is a label of this block. */
static bool is_label(const char *s, size_t n, const char *word, size_t length)
{
	if (isdigit((unsigned char)*word))	/* 1:, 1b: local labels, which may repeat anyway */
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t k = i;
		while (k < n && is_word(s[k]))
			k++;
		if (k - i == length && k < n && s[k] == ':' && !strncmp(s + i, word, length))
			return true;
		i = k;
	}
	return false;
}

/* Writes the text, a line for each statement, with the block's number added to its labels, so that blocks may use the
 * same names. */
static void write_text(FILE *to, const char *s, size_t n, size_t block)
{
	bool any = memchr(s, ':', n) != NULL;
	for (size_t i = 0; i < n;) {
		size_t k = i;
		while (k < n && is_word(s[k]))
			k++;
		if (k == i) {
			fputc(s[i] == ';' ? '\n' : s[i], to);
			i++;
			continue;
		}
		fwrite(s + i, 1, k - i, to);
		if (any && is_label(s, n, s + i, k - i))
			fprintf(to, "..%zu", block);
		i = k;
	}
}

/* The text without comments; the caller frees it.  *line: the line of an error.  *bad: NULL, or what is wrong. */
static char *clean_text(const struct asm_source *src, size_t *bytes, unsigned *line, const char **reason)
{
	char *clean = malloc(src->bytes + 1);
	size_t n = 0;
	bool comment = false;
	const char *bad = clean ? NULL : out_of_memory;
	*line = 1;
	for (size_t i = 0; i < src->bytes && !bad; i++) {
		unsigned char c = (unsigned char)src->text[i];
		char next = i + 1 < src->bytes ? src->text[i + 1] : 0;
		if (c == '\n') {
			++*line;
			comment = false;
		} else if (c == '#' || (c == '/' && next == '/')) {
			comment = true;
		} else if (!comment && c == '/' && next == '*') {
			bad = "a comment with /* is not allowed in a block: use #";
		} else if (!comment && (c == '"' || c == '\\')) {
			bad = "strings and backslashes are not allowed in a block";
		} else if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f) {
			bad = "a control character in the text";
		}
		if (!comment && !bad)
			clean[n++] = c == '\r' ? ' ' : (char)c;
	}
	*reason = bad;
	*bytes = n;
	return clean;
}

/* Writes the block without its comments.  *line: the line of an error.  Returns NULL, or what is wrong. */
static const char *write_block(FILE *to, const struct asm_source *src, size_t block, unsigned *line, char *text,
	size_t text_bytes)
{
	const char *bad;
	size_t n;
	char *clean = clean_text(src, &n, line, &bad);
	if (!bad)
		*line = 1;
	for (size_t from = 0; from < n && !bad;) {
		size_t to_here = from;
		while (to_here < n && clean[to_here] != ';' && clean[to_here] != '\n')
			to_here++;
		bad = check_statement(clean + from, to_here - from, text, text_bytes);
		if (!bad && to_here < n && clean[to_here] == '\n')
			++*line;
		from = to_here + 1;
	}
	if (!bad)
		write_text(to, clean, n, block);
	free(clean);
	return bad;
}

/* Writes the file for `as`, without the blocks that already have an error. */
static int write_file(struct job *j, struct err *err)
{
	FILE *to = fopen(j->in, "we");
	unsigned line = 1;
	if (!to)
		return err_system(err, "%s", j->in);
	for (size_t i = 0; i < j->n; i++) {
		char *copy = NULL, reason[128];
		size_t bytes = 0;
		unsigned at = 0;
		FILE *memory = open_memstream(&copy, &bytes);
		if (!memory) {
			fclose(to);
			return err_set(err, ERR_NOMEM, out_of_memory);
		}
		const char *bad =
			j->out[i].error ? NULL : write_block(memory, &j->source[i], i, &at, reason, sizeof reason);
		if (fclose(memory)) {
			free(copy);
			fclose(to);
			return err_set(err, ERR_NOMEM, out_of_memory);
		}
		if (bad)
			set_error(&j->out[i], at, bad);
		fprintf(to, ".text\n.intel_syntax noprefix\n%s%zu:\n", label, i);
		line += 3;
		j->first_line[i] = line;
		if (!j->out[i].error) {
			fwrite(copy, 1, bytes, to);
			for (size_t k = 0; k < bytes; k++)
				line += copy[k] == '\n';
		}
		fputc('\n', to);
		line++;
		free(copy);
	}
	fprintf(to, ".text\n%s%zu:\n", label, j->n);
	j->first_line[j->n] = line;
	bool failed = ferror(to) != 0;
	if (fclose(to) || failed)
		return err_system(err, "%s", j->in);
	return 0;
}

/* ---- the assembler ---- */

static void run_as(const struct job *j)
{
	int log = open(j->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct { int what; rlim_t limit; } limits[] = {
		{ RLIMIT_CPU, 120 }, { RLIMIT_FSIZE, 512 << 20 }, { RLIMIT_AS, (rlim_t)4 << 30 }, { RLIMIT_CORE, 0 },
	};
	if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log, 2) < 0)
		_exit(126);
	setenv("LC_ALL", "C", 1);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit r;
		if (getrlimit((__rlimit_resource_t)limits[i].what, &r) == 0 &&
			(r.rlim_max == RLIM_INFINITY || r.rlim_max > limits[i].limit)) {
			r.rlim_cur = r.rlim_max = limits[i].limit;
			setrlimit((__rlimit_resource_t)limits[i].what, &r);
		}
	}
	execlp("as", "as", j->word_bytes == 4 ? "--32" : "--64", "-msyntax=intel", "-mnaked-reg", "-o", j->object,
		j->in, (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Runs `as` and returns 0 with its exit status, or an error. */
static int assemble(const struct job *j, int *status, struct err *err)
{
	pid_t pid = fork();
	if (pid < 0)
		return err_system(err, "cannot start the assembler");
	if (pid == 0)
		run_as(j);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return err_system(err, "cannot wait for the assembler");
	if (WIFEXITED(*status) && WEXITSTATUS(*status) == 127)
		return err_set(err, ERR_SYSTEM,
			"the system assembler 'as' was not found (package binutils); --hex and --elf work without it");
	if (!WIFEXITED(*status) || WEXITSTATUS(*status) == 126)
		return err_set(err, ERR_SYSTEM,
			"the system assembler 'as' could not be run or was stopped at its limits of time and memory");
	return 0;
}

static size_t block_of_line(const struct job *j, unsigned line)
{
	size_t low = 0, high = j->n;	/* finds the last block that begins at or before the line */
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (j->first_line[middle] <= line)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The number, from 0, of the first statement that contains the word; 0: none does. */
static size_t statement_with(const struct asm_source *src, const char *word)
{
	const size_t bytes = strlen(word);
	unsigned line;
	const char *bad;
	size_t n, number = 0, found = 0;
	char *clean = clean_text(src, &n, &line, &bad);
	for (size_t i = 0; clean && !bad && bytes && i + bytes <= n; i++) {
		number += clean[i] == ';' || clean[i] == '\n';
		if (!memcmp(clean + i, word, bytes) && (!i || !is_word(clean[i - 1])) &&
			(i + bytes == n || !is_word(clean[i + bytes]))) {
			found = number;
			break;
		}
	}
	free(clean);
	return found;
}

/* Gives the block the assembler's error in its statement `number`, from 0, with the statement's text. */
static void statement_error(struct job *j, size_t block, size_t number, const char *error)
{
	enum { SHOWN = 60 };
	const char *bad;
	unsigned line;
	size_t n, from = 0, to = 0;
	char text[256], *clean = clean_text(&j->source[block], &n, &line, &bad);
	if (!clean || bad) {
		free(clean);
		set_error(&j->out[block], 0, error);
		return;
	}
	for (line = 1;; number--, from = to + 1) {
		for (to = from; to < n && clean[to] != ';' && clean[to] != '\n';)
			to++;
		if (!number || to >= n)
			break;
		line += clean[to] == '\n';
	}
	/* behind these words the assembler repeats the statement, without its spaces */
	const size_t told = strncmp(error, "no such instruction:", 20) ? strlen(error) : 19;
	while (from < to && isspace((unsigned char)clean[from]))
		from++;
	while (to > from && isspace((unsigned char)clean[to - 1]))
		to--;
	snprintf(text, sizeof text, "'%.*s': %.*s", (int)(to - from > SHOWN ? SHOWN : to - from), clean + from,
		(int)told, error);
	set_error(&j->out[block], line, text);
	free(clean);
}

/* Assigns each "FILE:LINE: Error: text" of the log to its block.  Returns how many blocks got one.  other: the
 * first error without a line. */
static size_t read_log(struct job *j, char *other, size_t other_bytes)
{
	FILE *f = fopen(j->log, "re");
	size_t hits = 0, room = 0, read = 0;
	char *text = NULL;
	ssize_t n;
	*other = 0;
	while (f && read < LOG_BYTES && (n = getline(&text, &room, f)) > 0) {
		read += (size_t)n;
		text[strcspn(text, "\n")] = 0;
		const char *rest = text;
		unsigned long line = 0;
		if (!strncmp(text, j->in, strlen(j->in)) && text[strlen(j->in)] == ':') {
			rest += strlen(j->in) + 1;
			if (isdigit((unsigned char)*rest))
				line = strtoul(rest, (char **)&rest, 10);
		}
		const char *error = strstr(rest, "Error: ");
		/* a value that does not fit is cut off: another instruction than was written */
		if (!error && (error = strstr(rest, "Warning: ")))
			error = strstr(error, " shortened to ") ? error + 2 : NULL;
		if (!error && (error = strstr(rest, "Fatal error: ")))
			error += 6;
		if (!error)
			continue;
		error += 7;
		if (line) {
			size_t i = block_of_line(j, (unsigned)line);
			hits += !j->out[i].error;
			statement_error(j, i, line - j->first_line[i], error);
		} else if (!*other) {
			snprintf(other, other_bytes, "%s", error);
		}
	}
	free(text);
	if (f)
		fclose(f);
	return hits;
}

/* ---- the object ---- */

struct object { int fd; Elf *elf; Elf_Data *text, *symbols, *names; size_t text_index, symbol_count, name_section; };

static Elf_Data *section_data(Elf_Scn *scn, GElf_Shdr *sh)
{
	return gelf_getshdr(scn, sh) ? elf_getdata(scn, NULL) : NULL;
}

/* A relocation is a place that the linker would have to fill: the block names something that does not exist. */
static void relocations(struct job *j, struct object *o, const uint64_t *begin)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL) ||
			sh.sh_info != o->text_index || !sh.sh_entsize)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < sh.sh_size / sh.sh_entsize; i++) {
			GElf_Rela rela;
			GElf_Rel rel;
			GElf_Sym sym;
			uint64_t offset, info;
			if (sh.sh_type == SHT_RELA ? !gelf_getrela(data, (int)i, &rela)
						   : !gelf_getrel(data, (int)i, &rel))
				continue;
			offset = sh.sh_type == SHT_RELA ? rela.r_offset : rel.r_offset;
			info = sh.sh_type == SHT_RELA ? rela.r_info : rel.r_info;
			const char *name = gelf_getsym(o->symbols, (int)GELF_R_SYM(info), &sym)
				? elf_strptr(o->elf, o->name_section, sym.st_name)
				: NULL;
			char text[256];
			size_t low = 0, high = j->n;
			while (high - low > 1) {
				size_t middle = (low + high) / 2;
				if (begin[middle] <= offset)
					low = middle;
				else
					high = middle;
			}
			snprintf(text, sizeof text, "undefined symbol '%.100s'", name && *name ? name : "an address");
			statement_error(j, low, name ? statement_with(&j->source[low], name) : 0, text);
		}
	}
}

static int take_object(struct job *j, struct object *o, struct err *err)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(o->elf, scn));) {
		GElf_Shdr sh;
		size_t names;
		if (!gelf_getshdr(scn, &sh) || elf_getshdrstrndx(o->elf, &names))
			continue;
		const char *name = elf_strptr(o->elf, names, sh.sh_name);
		if (name && !strcmp(name, ".text")) {
			o->text = section_data(scn, &sh);
			o->text_index = elf_ndxscn(scn);
		} else if (sh.sh_type == SHT_SYMTAB && sh.sh_entsize) {
			o->symbols = section_data(scn, &sh);
			o->symbol_count = sh.sh_size / sh.sh_entsize;
			o->name_section = sh.sh_link;
		}
	}
	uint64_t *begin = malloc((j->n + 1) * sizeof *begin);
	if (!begin)
		return err_set(err, ERR_NOMEM, out_of_memory);
	memset(begin, 0xff, (j->n + 1) * sizeof *begin);
	for (size_t i = 0; o->symbols && i < o->symbol_count; i++) {
		GElf_Sym sym;
		const char *name =
			gelf_getsym(o->symbols, (int)i, &sym) ? elf_strptr(o->elf, o->name_section, sym.st_name) : NULL;
		if (!name || strncmp(name, label, sizeof label - 1) || !isdigit((unsigned char)name[sizeof label - 1]))
			continue;
		size_t k = strtoull(name + sizeof label - 1, NULL, 10);
		if (k <= j->n)
			begin[k] = sym.st_value;
	}
	for (size_t i = 0; i < j->n; i++) {
		uint64_t end = begin[i + 1], size = o->text ? o->text->d_size : 0;
		if (begin[i] > end || end > size) {
			set_error(&j->out[i], 0, "the assembler lost this block");
			continue;
		}
		if (j->out[i].error)
			continue;
		j->out[i].bytes = end - begin[i];
		j->out[i].code = malloc(j->out[i].bytes + 1);
		if (!j->out[i].code) {
			free(begin);
			return err_set(err, ERR_NOMEM, out_of_memory);
		}
		if (j->out[i].bytes)
			memcpy(j->out[i].code, (const uint8_t *)o->text->d_buf + begin[i], j->out[i].bytes);
	}
	relocations(j, o, begin);
	free(begin);
	return 0;
}

static int read_object(struct job *j, struct err *err)
{
	struct object o = { .fd = open(j->object, O_RDONLY | O_CLOEXEC) };
	int rc;
	if (o.fd < 0)
		return err_system(err, "%s", j->object);
	elf_version(EV_CURRENT);
	o.elf = elf_begin(o.fd, ELF_C_READ_MMAP, NULL);
	if (o.elf && elf_kind(o.elf) == ELF_K_ELF)
		rc = take_object(j, &o, err);
	else
		rc = err_set(err, ERR_SYSTEM, "the assembler's object cannot be read: %s", elf_errmsg(-1));
	elf_end(o.elf);
	close(o.fd);
	return rc;
}

static int run_job(struct job *j, struct err *err)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		char other[512];
		int status, rc = write_file(j, err);
		if (!rc)
			rc = assemble(j, &status, err);
		if (rc)
			return rc;
		const size_t bad = read_log(j, other, sizeof other);
		if (WEXITSTATUS(status) == 0 && !bad)
			return read_object(j, err);
		if (!bad)
			return err_set(err, ERR_INPUT, "the assembler failed: %s",
				*other ? other : "it gave no reason");
	}
	return err_set(err, ERR_INPUT, "the assembler found new errors in each of %d runs", ROUNDS);
}

int asm_blocks(const struct asm_source *source, size_t n, int word_bytes, struct asm_block *out, struct err *err)
{
	struct job *j = calloc(1, sizeof *j);
	const char *tmp = getenv("TMPDIR");
	int rc;
	memset(out, 0, n * sizeof *out);
	if (j)
		j->first_line = calloc(n + 1, sizeof *j->first_line);
	if (!j || !j->first_line) {
		free(j);
		return err_set(err, ERR_NOMEM, out_of_memory);
	}
	j->source = source;
	j->out = out;
	j->n = n;
	j->word_bytes = word_bytes;
	snprintf(j->dir, sizeof j->dir, "%s/softpmu-asm-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(j->dir)) {
		rc = err_system(err, "%s", j->dir);
	} else {
		snprintf(j->in, sizeof j->in, "%s/in.s", j->dir);
		snprintf(j->object, sizeof j->object, "%s/out.o", j->dir);
		snprintf(j->log, sizeof j->log, "%s/log", j->dir);
		rc = run_job(j, err);
		unlink(j->in);
		unlink(j->object);
		unlink(j->log);
		rmdir(j->dir);
	}
	free(j->first_line);
	free(j);
	return rc;
}

void asm_release(struct asm_block *block, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(block[i].code);
		free(block[i].error);
		block[i] = (struct asm_block){ 0 };
	}
}

/* ---- bytes as digits, bytes of a file ---- */

int asm_hex(const char *text, uint8_t **code, size_t *bytes, struct err *err)
{
	uint8_t *out = malloc(strlen(text) / 2 + 1);
	size_t n = 0;
	if (!out)
		return err_set(err, ERR_NOMEM, out_of_memory);
	for (const char *p = text; *p;) {
		if (isspace((unsigned char)*p) || *p == ',') {
			p++;
			continue;
		}
		if ((p[0] == '0' || p[0] == '\\') && (p[1] == 'x' || p[1] == 'X'))
			p += 2;
		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1])) {
			free(out);
			return err_set(err, ERR_INPUT, "--hex: '%.8s' does not begin with two hexadecimal digits", p);
		}
		const char two[3] = { p[0], p[1], 0 };
		out[n++] = (uint8_t)strtoul(two, NULL, 16);
		p += 2;
	}
	*code = out;
	*bytes = n;
	return 0;
}

/* The bytes; NULL if no loaded segment (of an object: .text) covers them all. */
static uint8_t *elf_bytes(Elf *elf, uint64_t from, uint64_t to)
{
	GElf_Ehdr eh;
	size_t headers, size, names;
	const char *raw = elf_rawfile(elf, &size);
	if (!gelf_getehdr(elf, &eh) || !raw || elf_getphdrnum(elf, &headers))
		return NULL;
	uint64_t offset = UINT64_MAX;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr ph;
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && from >= ph.p_vaddr &&
			to - ph.p_vaddr <= ph.p_filesz && to > ph.p_vaddr)
			offset = ph.p_offset + (from - ph.p_vaddr);
	}
	for (Elf_Scn *scn = NULL;
		eh.e_type == ET_REL && !elf_getshdrstrndx(elf, &names) && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && !strcmp(name, ".text") && to <= sh.sh_size)
			offset = sh.sh_offset + from;
	}
	if (offset > size || to - from > size - offset)
		return NULL;
	uint8_t *code = malloc(to - from);
	if (code)
		memcpy(code, raw + offset, to - from);
	return code;
}

int asm_elf(const char *path, uint64_t from, uint64_t to, uint8_t **code, size_t *bytes, int *word_bytes,
	struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	GElf_Ehdr eh;
	if (fd < 0)
		return err_system(err, "%s", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
		rc = err_set(err, ERR_INPUT, "%s: not an ELF file", path);
	else if (eh.e_machine != EM_X86_64 && eh.e_machine != EM_386)
		rc = err_set(err, ERR_UNSUPPORTED, "%s: not code for x86", path);
	else if (!(*code = elf_bytes(elf, from, to)))
		rc = err_set(err, ERR_INPUT, "%s: the file has no code at %llx-%llx", path, (unsigned long long)from,
			(unsigned long long)to);
	if (!rc) {
		*bytes = to - from;
		*word_bytes = eh.e_machine == EM_386 ? 4 : 8;
	}
	elf_end(elf);
	close(fd);
	return rc;
}
