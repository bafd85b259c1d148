/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads a kernel's names (kallsyms.h) as hostile input: a line that is not one of a symbol is passed over. */
#include "symbols/kallsyms.h"
#include "symbols/symbols_private.h"
#include "util/grow.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 << 20, NAME_LIMIT = 1024, PAGE = 4096 };

struct line {
	uint64_t addr;
	const char *name;	/* ends with a NUL */
	size_t added;
	uint32_t owner;
	char type;
};
struct reading {
	struct kallsyms *k;
	struct line *line;
	size_t lines, room, owner_room, hidden;
};

/* The whole file, which may be one of /proc, and a NUL behind it.  NULL: *err says why. */
static char *read_file(const char *path, size_t *size, struct err *err)
{
	struct stat st;
	size_t have = 0, room = 1 << 20;
	char *text = malloc(room);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int code = fd < 0 || fstat(fd, &st) ? err_system(err, "cannot open %s", path) : 0;
	if (!code && !S_ISREG(st.st_mode))
		code = err_set(err, ERR_INPUT, "%s is not a regular file", path);
	while (!code && text) {
		if (have + 1 == room) {
			char *grown = room < FILE_LIMIT ? realloc(text, room *= 2) : NULL;
			if (!grown) {
				code = err_set(err, room < FILE_LIMIT ? ERR_NOMEM : ERR_INPUT, "%s: too large for a "
					"kernel's symbols", path);
				break;
			}
			text = grown;
		}
		const ssize_t n = read(fd, text + have, room - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			code = err_system(err, "cannot read %s", path);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (!code && text) {
		text[have] = 0;
		*size = have;
		return text;
	}
	if (!code)
		err_set(err, ERR_NOMEM, "out of memory");
	free(text);
	return NULL;
}

/* The number of an owner, who is added if he is new; UINT32_MAX: there is no memory. */
static uint32_t get_owner(struct reading *r, const char *name)
{
	struct kallsyms *k = r->k;
	for (size_t i = k->owners; i-- > 0;)	/* a module's symbols follow each other */
		if (!strcmp(k->owner[i].name, name))
			return (uint32_t)i;
	struct kallsyms_owner *grown = grow_array(k->owner, k->owners, &r->owner_room, 16, sizeof *grown);
	if (!grown)
		return UINT32_MAX;
	k->owner = grown;
	struct kallsyms_owner *o = &k->owner[k->owners];
	*o = (struct kallsyms_owner){ .start = UINT64_MAX };
	memcpy(o->name, name, strlen(name) + 1);
	o->file = calloc(1, sizeof *o->file);
	if (!o->file)
		return UINT32_MAX;
	k->owners++;
	o->file->fd = -1;
	o->file->jit = true;	/* its addresses are those of the run */
	o->file->word_bytes = 8;
	o->file->path = strdup(name);
	return o->file->path ? (uint32_t)(k->owners - 1) : UINT32_MAX;
}

static bool is_word(const char *s, size_t most)
{
	size_t n = 0;
	while (s[n] > ' ' && s[n] < 127)
		n++;
	return n && n < most && !s[n];
}

/* Reads a line, which ends with a NUL.  0, also if it is none of a symbol, or ERR_NOMEM. */
static int add_line(struct reading *r, char *text)
{
	char *end, *module = NULL;
	uint32_t owner = 0;
	errno = 0;
	const uint64_t addr = strtoull(text, &end, 16);
	if (end == text || errno || end[0] != ' ' || end[1] <= ' ' || end[2] != ' ')
		return 0;
	const char type = end[1];
	char *name = end + 3, *gap = strpbrk(name, " \t\r");
	if (gap) {
		module = gap + strspn(gap, " \t\r");
		*gap = 0;
		module[strcspn(module, " \t\r")] = 0;
	}
	if (!is_word(name, NAME_LIMIT))
		return 0;
	if (!addr) {
		r->hidden++;
		return 0;
	}
	/* numbers and offsets of each processor; and so that no end wraps around */
	if (!(addr >> 63) || addr > UINT64_MAX - 4 * PAGE)
		return 0;
	if (module && *module) {
		if (*module != '[' || !is_word(module, KALLSYMS_NAME) || r->k->owners >= KALLSYMS_OWNERS)
			return 0;
		owner = get_owner(r, module);
	}
	struct line *grown = owner == UINT32_MAX ? NULL
		: grow_array(r->line, r->lines, &r->room, 4096, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	r->line = grown;
	r->line[r->lines] = (struct line){ addr, name, r->lines, owner, type };
	r->lines++;
	if (!owner && (!strcmp(name, "_text") || (!r->k->text && !strcmp(name, "_stext"))))
		r->k->text = addr;
	return 0;
}

static int by_owner(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->added < y->added ? -1 : 1;
}
static int by_start(const void *a, const void *b)
{
	const struct kallsyms_range *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Gives each function its end, and each owner his functions. */
static int add_functions(struct reading *r)
{
	struct kallsyms *k = r->k;
	qsort(r->line, r->lines, sizeof *r->line, by_owner);
	for (size_t i = 0, next = 0; i < r->lines; i++) {
		const struct line *l = &r->line[i];
		while (next < r->lines && (next <= i || (r->line[next].owner == l->owner &&
			r->line[next].addr == l->addr)))
			next++;
		if (!strchr("tTwW", l->type))
			continue;
		struct kallsyms_owner *o = &k->owner[l->owner];
		/* the last one as perf has it: to the end of the next page */
		const uint64_t end = next < r->lines && r->line[next].owner == l->owner ? r->line[next].addr
			: (l->addr | (PAGE - 1)) + 1 + PAGE;
		if (symfile_add(o->file, l->addr, end, l->name,
			l->type == 'T' ? STB_GLOBAL : l->type == 't' ? STB_LOCAL : STB_WEAK, true))
			return ERR_NOMEM;
		o->start = o->start < l->addr ? o->start : l->addr;
		o->end = o->end > end ? o->end : end;
	}
	for (size_t i = 0; i < k->owners; i++)
		if (symfile_index(k->owner[i].file, true, false))
			return ERR_NOMEM;
	return 0;
}

/* Stretches with functions of one owner, cut where another's begins. */
static int add_ranges(struct kallsyms *k)
{
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < k->owners; i++)
		count += symfile_count(k->owner[i].file);
	struct kallsyms_range *all = malloc((count + 1) * sizeof *all);
	if (!all)
		return ERR_NOMEM;
	count = 0;
	for (size_t i = 0; i < k->owners; i++)
		for (size_t n = 0; n < symfile_count(k->owner[i].file); n++) {
			const struct symbol *s = symfile_symbol(k->owner[i].file, n);
			all[count++] = (struct kallsyms_range){ s->start, s->end, i };
		}
	qsort(all, count, sizeof *all, by_start);
	for (size_t i = 0; i < count; i++) {
		struct kallsyms_range *last = kept ? &all[kept - 1] : NULL;
		if (last && last->owner == all[i].owner) {
			last->end = last->end > all[i].end ? last->end : all[i].end;
			continue;
		}
		if (last && last->end > all[i].start)
			last->end = all[i].start;
		if (last && last->end == last->start)
			kept--;
		all[kept++] = all[i];
	}
	k->range = all;
	k->ranges = kept;
	return 0;
}

static int parse(struct reading *r, char *text, size_t size)
{
	if (get_owner(r, KALLSYMS_KERNEL) == UINT32_MAX)
		return ERR_NOMEM;
	for (char *line = text, *end = text + size; line < end;) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		*stop = 0;
		if (strlen(line) == (size_t)(stop - line) && add_line(r, line))
			return ERR_NOMEM;
		line = stop + 1;
	}
	return add_functions(r) || add_ranges(r->k) ? ERR_NOMEM : 0;
}

int kallsyms_open(struct kallsyms **out, const char *path, struct err *err)
{
	struct reading r = { 0 };
	size_t size;
	char *text = read_file(path, &size, err);
	if (!text)
		return err && err->code ? err->code : ERR_INPUT;
	r.k = calloc(1, sizeof *r.k);
	int code = !r.k || parse(&r, text, size) ? err_set(err, ERR_NOMEM, "out of memory") : 0;
	if (!code && !r.k->ranges)
		code = err_set(err, ERR_INPUT, r.hidden ? "%s: all addresses are 0, since it was read without the "
			"right to see them: read it as root" : "%s holds no symbols of a kernel, as /proc/kallsyms "
			"does", path);
	free(r.line);
	free(text);
	if (code)
		kallsyms_close(r.k);
	else
		*out = r.k;
	return code;
}

struct symfile *kallsyms_take(struct kallsyms *k, size_t owner)
{
	struct symfile *f = k->owner[owner].file;
	k->owner[owner].file = NULL;
	return f;
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->owners; i++)
		symfile_close(k->owner[i].file);
	free(k->owner);
	free(k->range);
	free(k);
}
