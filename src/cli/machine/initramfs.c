/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the archive (initramfs.h).
 */
#include "cli/machine/initramfs.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LINKS = 40, DEPTH = 100 };	/* symbolic links in a name; nested folders */

struct packed {
	char *name;		/* relative to /, without links */
	char *target;		/* of a symbolic link, or NULL */
};
struct hard_link { dev_t device; ino_t file; unsigned inode; };

struct initramfs {
	FILE *out;
	char *file;
	void *entries;		/* tsearch's tree of struct packed */
	void *hard_links;	/* of struct hard_link */
	unsigned inode;		/* of the last entry */
	FILE *list;		/* NULL: nobody wants it */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct packed *)a)->name, ((const struct packed *)b)->name);
}

static int by_file(const void *a, const void *b)
{
	const struct hard_link *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static void free_entry(void *p)
{
	struct packed *e = p;
	free(e->name);
	free(e->target);
	free(e);
}

static const struct packed *find(const struct initramfs *a, const char *name)
{
	const struct packed key = { (char *)name, NULL };
	void *const *e = tfind(&key, &a->entries, by_name);
	return e ? *e : NULL;
}

static int remember(struct initramfs *a, const char *name, const char *target, struct err *err)
{
	struct packed *e = calloc(1, sizeof *e);
	if (!e || !(e->name = strdup(name)) || (target && !(e->target = strdup(target))) ||
		!tsearch(e, &a->entries, by_name)) {
		if (e)
			free_entry(e);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	return 0;
}

int initramfs_open(struct initramfs **out, const char *file, struct err *err)
{
	struct initramfs *a = calloc(1, sizeof *a);
	if (!a || !(a->file = strdup(file))) {
		free(a);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	a->out = fopen(file, "w");
	if (!a->out) {
		const int rc = err_system(err, "%s", file);
		free(a->file);
		free(a);
		return rc;
	}
	*out = a;
	return 0;
}

/* ---- records ---- */

struct record { mode_t mode; unsigned inode, links, bytes, time, major, minor; };

static void pad(struct initramfs *a)
{
	while (ftello(a->out) % 4)
		putc(0, a->out);
}

static int write_header(struct initramfs *a, const char *name, const struct record *r, struct err *err)
{
	fprintf(a->out, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s", r->inode,
		(unsigned)r->mode, 0, 0,
		r->links, r->time, r->bytes, 0, 0, r->major, r->minor, (unsigned)strlen(name) + 1, 0, name);
	putc(0, a->out);
	pad(a);
	return ferror(a->out) ? err_system(err, "%s", a->file) : 0;
}

static int write_whole(struct initramfs *a, const char *name, mode_t mode, const char *data, unsigned bytes,
	struct err *err)
{
	const struct record r = { mode, ++a->inode, 1, bytes, 0, 0, 0 };
	int rc = remember(a, name, S_ISLNK(mode) ? data : NULL, err);
	if (!rc)
		rc = write_header(a, name, &r, err);
	if (!rc && bytes && fwrite(data, 1, bytes, a->out) != bytes)
		rc = err_system(err, "%s", a->file);
	pad(a);
	return rc;
}

/* ---- names ---- */

/* Takes the first word between slashes off *rest; false: there is none. */
static bool next_word(const char **rest, char word[NAME_MAX + 1])
{
	while (**rest == '/')
		++*rest;
	const size_t n = strcspn(*rest, "/");
	if (!n || n > NAME_MAX)
		return false;
	memcpy(word, *rest, n);
	word[n] = 0;
	*rest += n;
	return true;
}

/* Where the name leads in the archive: through its symbolic links, except for the last word; folders that are not there
 * are made.  to: PATH_MAX bytes, without a slash at the start. */
static int resolve(struct initramfs *a, const char *name, char *to, struct err *err)
{
	char left[PATH_MAX], word[NAME_MAX + 1], joined[PATH_MAX];
	unsigned links = 0;
	if (strlen(name) >= sizeof left)
		return err_set(err, ERR_INPUT, "%.60s...: a name that is too long", name);
	strcpy(left, name);
	const char *rest = left;
	to[0] = 0;
	while (next_word(&rest, word)) {
		const size_t at = strlen(to);
		const bool last = !rest[strspn(rest, "/")];
		if (!strcmp(word, "."))
			continue;
		if (!strcmp(word, "..")) {
			*(strrchr(to, '/') ? strrchr(to, '/') : to) = 0;
			continue;
		}
		if (at + strlen(word) + 2 > PATH_MAX)
			return err_set(err, ERR_INPUT, "%.60s...: a name that is too long", name);
		sprintf(to + at, "%s%s", at ? "/" : "", word);
		const struct packed *e = last ? NULL : find(a, to);
		if (e && e->target) {
			const int n = snprintf(joined, sizeof joined, "%s/%s", e->target, rest);
			if (++links > LINKS || n >= (int)sizeof joined)
				return err_set(err, ERR_INPUT, "%s: its symbolic links lead nowhere", name);
			to[e->target[0] == '/' ? 0 : at] = 0;
			strcpy(left, joined);
			rest = left;
		} else if (!e && !last) {
			const int rc = write_whole(a, to, S_IFDIR | 0755, NULL, 0, err);
			if (rc)
				return rc;
		}
	}
	if (rest[strspn(rest, "/")])
		return err_set(err, ERR_INPUT, "%.60s...: a name that is too long", name);
	return 0;
}

/* 1: the name is new, and stands in `to`; 0: there is such a file already. */
static int new_name(struct initramfs *a, const char *name, char to[PATH_MAX], struct err *err)
{
	const int rc = resolve(a, name, to, err);
	return rc ? rc : to[0] && !find(a, to);
}

static int put(struct initramfs *a, const char *name, mode_t mode, const char *data, struct err *err)
{
	char to[PATH_MAX];
	const int rc = new_name(a, name, to, err);
	return rc <= 0 ? rc : write_whole(a, to, mode, data, data ? (unsigned)strlen(data) : 0, err);
}

int initramfs_folder(struct initramfs *a, const char *name, mode_t mode, struct err *err)
{
	return put(a, name, S_IFDIR | (mode & 07777), NULL, err);
}

int initramfs_link(struct initramfs *a, const char *name, const char *target, struct err *err)
{
	return put(a, name, S_IFLNK | 0777, target, err);
}

int initramfs_text(struct initramfs *a, const char *name, mode_t mode, const char *text, struct err *err)
{
	return put(a, name, S_IFREG | (mode & 07777), text, err);
}

int initramfs_device(struct initramfs *a, const char *name, mode_t mode, unsigned major, unsigned minor,
	struct err *err)
{
	char to[PATH_MAX];
	int rc = new_name(a, name, to, err);
	if (rc <= 0)
		return rc;
	const struct record r = { mode, ++a->inode, 1, 0, 0, major, minor };
	rc = remember(a, to, NULL, err);
	return rc ? rc : write_header(a, to, &r, err);
}

/* ---- files of the host ---- */

/* The inode number of a file with several names; *again: it has been written. */
static unsigned hard_link(struct initramfs *a, const struct stat *s, bool *again)
{
	struct hard_link *l = malloc(sizeof *l);
	*again = false;
	if (s->st_nlink < 2 || !l) {
		free(l);
		return ++a->inode;
	}
	*l = (struct hard_link){ s->st_dev, s->st_ino, a->inode + 1 };
	struct hard_link *const *known = tsearch(l, &a->hard_links, by_file);
	if (!known || *known == l)
		return ++a->inode;
	free(l);
	*again = true;
	return (*known)->inode;
}

static int copy_data(struct initramfs *a, int fd, const char *from, uint64_t bytes, struct err *err)
{
	char data[1 << 16];
	while (bytes) {
		const ssize_t n = read(fd, data, bytes < sizeof data ? bytes : sizeof data);
		if (n < 0)
			return err_system(err, "%s", from);
		if (!n)
			return err_set(err, ERR_INPUT, "%s became shorter while it was read", from);
		if (fwrite(data, 1, (size_t)n, a->out) != (size_t)n)
			return err_system(err, "%s", a->file);
		bytes -= (uint64_t)n;
	}
	pad(a);
	return 0;
}

void initramfs_list(struct initramfs *a, FILE *list)
{
	a->list = list;
}

/* `to` is new. */
static int write_file(struct initramfs *a, const char *to, mode_t mode, const char *from, struct err *err)
{
	struct stat s;
	bool again;
	char host[PATH_MAX];
	const int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = fd < 0 || fstat(fd, &s) ? err_system(err, "%s", from) : 0;
	if (!rc && !S_ISREG(s.st_mode))
		rc = err_set(err, ERR_INPUT, "%s is no regular file", from);
	if (!rc && s.st_size > INT_MAX)
		rc = err_set(err, ERR_INPUT, "%s is too large for the guest's memory", from);
	if (!rc)
		rc = remember(a, to, NULL, err);
	if (!rc) {
		const unsigned inode = hard_link(a, &s, &again);
		/* Two links always: how many names the host has for it may change, and nothing of the guest with it. */
		const struct record r = { S_IFREG | (mode & 07777), inode, 2,
			again ? 0 : (unsigned)s.st_size, (unsigned)s.st_mtime, 0, 0 };
		rc = write_header(a, to, &r, err);
		if (!rc && a->list && !strpbrk(from, "\t\n"))
			fprintf(a->list, "%s\t/%s\n", realpath(from, host) ? host : from, to);
		if (!rc && !again)
			rc = copy_data(a, fd, from, (uint64_t)s.st_size, err);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

int initramfs_file(struct initramfs *a, const char *name, mode_t mode, const char *from, struct err *err)
{
	char to[PATH_MAX];
	const int rc = new_name(a, name, to, err);
	return rc <= 0 ? rc : write_file(a, to, mode, from, err);
}

static int tree(struct initramfs *a, const char *name, const char *from, dev_t device, unsigned depth,
	struct err *err);

static int tree_entry(struct initramfs *a, const char *name, const char *from, dev_t device, unsigned depth,
	struct err *err)
{
	struct stat s;
	char target[PATH_MAX];
	if (lstat(from, &s))
		return err_system(err, "%s", from);
	switch (s.st_mode & S_IFMT) {
	case S_IFDIR: {
		const int rc = initramfs_folder(a, name, s.st_mode, err);
		return rc || s.st_dev != device ? rc : tree(a, name, from, device, depth + 1, err);
	}
	case S_IFREG:
		return initramfs_file(a, name, s.st_mode, from, err);
	case S_IFLNK: {
		const ssize_t n = readlink(from, target, sizeof target - 1);
		if (n < 0)
			return err_system(err, "%s", from);
		target[n] = 0;
		return initramfs_link(a, name, target, err);
	}
	case S_IFSOCK:
		return 0;
	default:
		return initramfs_device(a, name, s.st_mode, major(s.st_rdev), minor(s.st_rdev), err);
	}
}

static int tree(struct initramfs *a, const char *name, const char *from, dev_t device, unsigned depth,
	struct err *err)
{
	struct dirent **list;
	char below[PATH_MAX], host[PATH_MAX];
	if (depth > DEPTH)
		return err_set(err, ERR_INPUT, "%s: folders are nested too deeply", from);
	const int n = scandir(from, &list, NULL, alphasort);
	if (n < 0)
		return err_system(err, "%s", from);
	int rc = 0;
	for (int i = 0; i < n; i++) {
		const char *word = list[i]->d_name;
		if (!rc && strcmp(word, ".") && strcmp(word, "..")) {
			if ((size_t)snprintf(below, sizeof below, "%s/%s", name, word) >= sizeof below ||
				(size_t)snprintf(host, sizeof host, "%s/%s", from, word) >= sizeof host)
				rc = err_set(err, ERR_INPUT, "%s: a name that is too long", from);
			else
				rc = tree_entry(a, below, host, device, depth, err);
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

int initramfs_tree(struct initramfs *a, const char *name, const char *from, struct err *err)
{
	struct stat s;
	if (stat(from, &s))
		return err_system(err, "%s", from);
	if (!S_ISDIR(s.st_mode))
		return err_set(err, ERR_INPUT, "%s is no folder", from);
	const int rc = name[strspn(name, "/")] ? initramfs_folder(a, name, s.st_mode, err) : 0;
	return rc ? rc : tree(a, name, from, s.st_dev, 0, err);
}

int initramfs_close(struct initramfs *a, struct err *err)
{
	static const struct record end = { .links = 1 };
	if (!a)
		return 0;
	int rc = write_header(a, "TRAILER!!!", &end, err);
	if (fclose(a->out) && !rc)
		rc = err_system(err, "%s", a->file);
	tdestroy(a->entries, free_entry);
	tdestroy(a->hard_links, free);
	free(a->file);
	free(a);
	return rc;
}
