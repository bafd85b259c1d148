/* SPDX-License-Identifier: GPL-2.0-or-later
 * The file of what a search has measured (tune_state.h). */
#include "cli/tune/tune_state.h"
#include "store/profile_store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct known { char *settings; struct energy_activity activity; };
struct tune_state {
	int fd;
	uint64_t key;
	char path[4096];
	void *tree;		/* of struct known */
};

uint64_t tune_hash(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *p = bytes; n--; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->settings, ((const struct known *)b)->settings);
}

static void release(void *node)
{
	struct known *k = node;
	free(k->settings);
	free(k);
}

static bool keep(struct tune_state *s, const char *settings, const struct energy_activity *a)
{
	struct known *k = malloc(sizeof *k), **at = NULL;
	char *text = strdup(settings);
	if (k && text) {
		*k = (struct known){ text, *a };
		at = tsearch(k, &s->tree, compare);
	}
	if (!at || *at != k) {	/* out of memory, or the settings are already there */
		if (at)
			(*at)->activity = *a;
		free(k);
		free(text);
	}
	return at;
}

/* Reads a complete line with this key: key, settings, all counts, and a full stop. */
static void line(struct tune_state *s, char *text)
{
	struct energy_activity a;
	char *save = NULL, *end, *key = strtok_r(text, "\t", &save), *settings = strtok_r(NULL, "\t", &save);
	if (!key || !settings || strtoull(key, &end, 16) != s->key || *end)
		return;
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++) {
		const char *n = strtok_r(NULL, "\t", &save);
		if (!n || *n < '0' || *n > '9')
			return;
		errno = 0;
		a.n[i] = strtoull(n, &end, 10);
		if (errno || *end)
			return;
	}
	const char *stop = strtok_r(NULL, "\t", &save);
	if (stop && !strcmp(stop, "."))
		keep(s, !strcmp(settings, "-") ? "" : settings, &a);
}

/* The path of the file beside the store; opening the store makes its folder. */
static int beside_store(char path[4096], uint64_t key, struct err *err)
{
	struct profile_store *store = NULL;
	int rc = profile_store_path(path, 4000, err);
	if (!rc)
		rc = profile_store_open(&store, path, true, err);
	profile_store_close(store);
	char *slash = strrchr(path, '/');
	if (!rc)
		snprintf(slash ? slash + 1 : path, 64, "tune-%016" PRIx64 ".tsv", key);
	return rc;
}

static bool is_state_file(const char *name)
{
	return !strncmp(name, "tune-", 5) && strspn(name + 5, "0123456789abcdef") == 16 &&
		!strcmp(name + 5 + 16, ".tsv");
}

/* Whether a file belongs to a program and core, by its first line. */
static bool belongs_to(int folder, const char *name, const char *program, const char *core)
{
	char text[512] = "", *save = NULL;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (f && !fgets(text, sizeof text, f))
		text[0] = 0;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	const char *what = strtok_r(text, "\t\n", &save), *of = strtok_r(NULL, "\t\n", &save),
		   *on = strtok_r(NULL, "\t\n", &save);
	if (!what || strcmp(what, "program") || !of || !on)
		return false;
	return (!program || !strcmp(of, program)) && (!core || !strcmp(on, core));
}

int tune_state_forget(const char *program, const char *core, struct err *err)
{
	char path[4096];
	int gone = 0, rc = profile_store_path(path, sizeof path, err);
	char *slash = strrchr(path, '/');
	if (rc)
		return rc;
	if (slash)
		*slash = 0;
	DIR *folder = opendir(slash ? path : ".");
	if (!folder)
		return errno == ENOENT ? 0 : err_system(err, "cannot read %s", path);
	for (const struct dirent *e; !rc && (e = readdir(folder));) {
		if (!is_state_file(e->d_name) ||
			((program || core) && !belongs_to(dirfd(folder), e->d_name, program, core)))
			continue;
		if (unlinkat(dirfd(folder), e->d_name, 0))
			rc = err_system(err, "cannot remove %s/%s", path, e->d_name);
		gone++;
	}
	closedir(folder);
	return rc ? rc : gone;
}

/* Writes the first line of a new file, which says whose it is. */
static int begin(const struct tune_state *s, const char *program, const char *core, struct err *err)
{
	char text[512];
	int n = snprintf(text, sizeof text, "program\t%s\t%s\n", *program ? program : "-", core);
	if (lseek(s->fd, 0, SEEK_END) > 0 || n >= (int)sizeof text)
		return 0;
	return write(s->fd, text, (size_t)n) == n ? 0 : err_system(err, "cannot write %s", s->path);
}

int tune_state_open(struct tune_state **out, const char *path, uint64_t key, const char *program, const char *core,
	bool fresh, struct err *err)
{
	struct tune_state *s = calloc(1, sizeof *s);
	char *text = NULL;
	size_t room = 0;
	int rc = 0;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory");
	s->key = key;
	s->fd = -1;
	if (path)
		snprintf(s->path, sizeof s->path, "%s", path);
	else
		rc = beside_store(s->path, key, err);
	if (!rc && (s->fd = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (fresh ? O_TRUNC : 0), 0600)) < 0)
		rc = err_system(err, "cannot write %s", s->path);
	if (!rc && !path)
		rc = begin(s, program, core, err);
	FILE *f = rc ? NULL : fopen(s->path, "re");
	if (!rc && !f)
		rc = err_system(err, "cannot read %s", s->path);
	bool whole = true;
	for (ssize_t n; f && (n = getline(&text, &room, f)) > 0; ) {
		whole = text[n - 1] == '\n';
		text[strcspn(text, "\n")] = 0;
		if (whole)
			line(s, text);
	}
	if (f)
		fclose(f);
	free(text);
	/* so that the next line is not joined to an incomplete one */
	if (!rc && !whole && write(s->fd, "\n", 1) != 1)
		rc = err_system(err, "cannot write %s", s->path);
	if (rc) {
		tune_state_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void tune_state_close(struct tune_state *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	tdestroy(s->tree, release);
	free(s);
}

const char *tune_state_path(const struct tune_state *s)
{
	return s->path;
}

const struct energy_activity *tune_state_find(const struct tune_state *s, const char *settings)
{
	const struct known want = { (char *)settings, { { 0 } } };
	struct known *const *at = tfind(&want, &s->tree, compare);
	return at ? &(*at)->activity : NULL;
}

int tune_state_add(struct tune_state *s, const char *settings, const struct energy_activity *a, struct err *err)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	if (f) {
		fprintf(f, "%016" PRIx64 "\t%s", s->key, *settings ? settings : "-");
		for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
			fprintf(f, "\t%" PRIu64, a->n[i]);
		fputs("\t.\n", f);
	}
	if (!f || fclose(f) || !keep(s, settings, a)) {
		free(text);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	/* one appending write: lines stay whole, whoever else writes */
	const ssize_t n = write(s->fd, text, bytes);
	free(text);
	return n == (ssize_t)bytes ? 0 : err_system(err, "cannot write %s", s->path);
}
