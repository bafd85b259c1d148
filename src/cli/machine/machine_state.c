/* SPDX-License-Identifier: GPL-2.0-or-later
 * Knows a saved state again (machine_state.h).
 */
#include "cli/machine/machine_state.h"
#include "util/fnv.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MAX = 300 };	/* characters; Bochs takes file names of up to 511 */

static int file_hash(const char *path, char hex[FNV_CHARS], struct err *err)
{
	struct fnv h;
	fnv_init(&h);
	const int rc = fnv_file(&h, path, err);
	if (!rc)
		fnv_hex(&h, hex);
	return rc;
}

/* What the machine is, without names of files, which may differ. */
static int identify(struct machine_state *s, const struct machine_linux *l, const struct machine_config *c,
	const struct machine_files *f, const char *emulator, struct err *err)
{
	const struct { const char *name, *path; } file[] = {
		{ "emulator", emulator }, { "kernel", l->kernel }, { "files", f->archive }, { "rom", l->rom },
	};
	char hex[FNV_CHARS], *text = NULL;
	size_t bytes = 0, at = 0;
	for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
		const int rc = file_hash(file[i].path, hex, err);
		if (rc)
			return rc;
		at += (size_t)snprintf(s->identity + at, sizeof s->identity - at, "%s %s\n", file[i].name, hex);
	}
	FILE *o = open_memstream(&text, &bytes);
	if (!o)
		return err_set(err, ERR_NOMEM, "out of memory");
	machine_config_print(o, c, l->rom, "");
	machine_options_print(o, c, "", "");
	fprintf(o, "%s\n", l->line);
	if (fclose(o))
		return err_set(err, ERR_NOMEM, "out of memory");
	struct fnv h;
	fnv_init(&h);
	/* The line with the ROM's name is left out: it may lie elsewhere. */
	for (char *p = text; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0))
		if (strncmp(p, "romimage:", 9))
			fnv_bytes(&h, p, strcspn(p, "\n") + 1);
	free(text);
	fnv_hex(&h, hex);
	snprintf(s->identity + at, sizeof s->identity - at, "options %s\n", hex);
	return 0;
}

/* In what the other machine differs: the first line that does. */
static const char *difference(const char *mine, const char *other)
{
	static const struct { const char *name, *text; } known[] = {
		{ "emulator ", "another emulator" }, { "kernel ", "another kernel" }, { "files ", "other files" },
		{ "rom ", "another ROM" }, { "options ", "other options" },
	};
	while (*mine && !strncmp(mine, other, strcspn(mine, "\n") + 1)) {
		const size_t n = strcspn(mine, "\n") + 1;
		mine += n;
		other += n;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(mine, known[i].name, strlen(known[i].name)))
			return known[i].text;
	return "another identity";
}

static bool empty(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned n = 0;
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n <= 2;
}

static int write_text(const char *folder, const char *name, const char *text, struct err *err)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *o = fopen(path, "w");
	if (o)
		fputs(text, o);
	return !o || fclose(o) ? err_system(err, "%s", path) : 0;
}

int machine_state_open(struct machine_state *s, const struct machine_linux *l, const struct machine_config *c,
	const struct machine_files *f, const char *emulator, struct err *err)
{
	char path[PATH_MAX + 32], other[STATE_TEXT] = "";
	struct stat st;
	memset(s, 0, sizeof *s);
	const int rc = identify(s, l, c, f, emulator, err);
	if (rc)
		return rc;
	if (mkdir(l->state, 0777) && errno != EEXIST)
		return err_system(err, "%s", l->state);
	if (!realpath(l->state, s->folder))
		return err_system(err, "%s", l->state);
	if (strlen(s->folder) > FOLDER_MAX || strpbrk(s->folder, "\",\n "))
		return err_set(err, ERR_INPUT, "%s: the emulator takes no folder with a blank, a comma or a quotation "
			"mark in its name, or one of more than %d characters", l->state, FOLDER_MAX);
	snprintf(s->rom, sizeof s->rom, "%.400s/boot.rom", s->folder);
	snprintf(s->vga, sizeof s->vga, "%.400s/vga.rom", s->folder);
	snprintf(s->config, sizeof s->config, "%.400s/config", s->folder);
	snprintf(path, sizeof path, "%s/identity", s->folder);
	FILE *i = fopen(path, "r");
	if (i) {
		other[fread(other, 1, sizeof other - 1, i)] = 0;
		fclose(i);
		s->there = !strcmp(s->identity, other);
		return s->there ? 0 : err_set(err, ERR_INPUT, "%s holds the state of a machine with %s: "
			"give another folder, or remove this one", l->state, difference(s->identity, other));
	}
	snprintf(path, sizeof path, "%s/unfinished", s->folder);
	if (stat(path, &st) && !empty(s->folder))
		return err_set(err, ERR_INPUT, "%s holds no state of a machine, and is not empty", l->state);
	return 0;
}

int machine_state_begin(const struct machine_state *s, const struct machine_linux *l, struct err *err)
{
	int rc = write_text(s->folder, "unfinished", "", err);
	if (!rc)
		rc = machine_copy_file(l->rom, s->rom, err);
	if (!rc && machine_config_write_vga(s->vga))
		rc = err_system(err, "%s", s->vga);
	return rc;
}

int machine_state_end(struct machine_state *s, struct err *err)
{
	char path[PATH_MAX + 32];
	const int rc = write_text(s->folder, "identity", s->identity, err);
	if (rc)
		return rc;
	snprintf(path, sizeof path, "%s/unfinished", s->folder);
	unlink(path);
	s->there = true;
	return 0;
}

int machine_state_config(const struct machine_state *s, const struct machine_config *c, struct err *err)
{
	char path[PATH_MAX + 32];
	/* Another machine may be reading the old one. */
	snprintf(path, sizeof path, "%s.%d", s->config, (int)getpid());
	FILE *o = fopen(path, "w");
	if (o)
		machine_config_print(o, c, s->rom, s->vga);
	if (!o || fclose(o) || rename(path, s->config))
		return err_system(err, "%s", path);
	return 0;
}
