/* SPDX-License-Identifier: GPL-2.0-or-later
 * Programs of the host for the archive (initramfs.h), with what they need to run.
 *
 * Which libraries those are says the program's own interpreter (ld.so --list): it knows about its cache, RUNPATH and
 * $ORIGIN.  Only glibc's and musl's interpreters are run, never one that just the program names.
 */
#include "cli/machine/initramfs.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINKS = 40, SCRIPTS = 4, START = 4096 };

static int add(struct initramfs *a, const char *path, unsigned scripts, struct err *err);

/* The symbolic links on the way to the file are put in, and its own name in the end: real (PATH_MAX bytes). */
static int add_way(struct initramfs *a, const char *path, char *real, struct err *err)
{
	char left[PATH_MAX], at[PATH_MAX] = "", target[PATH_MAX], joined[PATH_MAX];
	unsigned links = 0;
	if ((size_t)snprintf(left, sizeof left, "%s", path) >= sizeof left)
		return err_set(err, ERR_INPUT, "%.60s...: a name that is too long", path);
	for (char *rest = left; rest[strspn(rest, "/")];) {
		rest += strspn(rest, "/");
		const size_t n = strcspn(rest, "/"), was = strlen(at);
		if (n == 2 && !strncmp(rest, "..", 2)) {
			*(strrchr(at, '/') ? strrchr(at, '/') : at) = 0;
			rest += n;
			continue;
		}
		if (n == 1 && *rest == '.') {
			rest += n;
			continue;
		}
		struct stat s;
		if (was + n + 2 > sizeof at)
			return err_set(err, ERR_INPUT, "%.60s...: a name that is too long", path);
		sprintf(at + was, "/%.*s", (int)n, rest);
		if (lstat(at, &s))
			return err_system(err, "%s", path);
		rest += n;
		if (!S_ISLNK(s.st_mode))
			continue;
		const ssize_t bytes = readlink(at, target, sizeof target - 1);
		if (bytes < 0 || ++links > LINKS)
			return err_set(err, ERR_INPUT, "%s: its symbolic links lead nowhere", path);
		target[bytes] = 0;
		const int rc = initramfs_link(a, at, target, err);
		if (rc)
			return rc;
		if ((size_t)snprintf(joined, sizeof joined, "%s%s", target, rest) >= sizeof joined)
			return err_set(err, ERR_INPUT, "%s: a name that is too long", path);
		at[target[0] == '/' ? 0 : was] = 0;
		strcpy(left, joined);
		rest = left;
	}
	strcpy(real, at);
	return 0;
}

/* The interpreter of an ELF program: 1, in `to`; 0: it is none, or has none. */
static int interpreter(const uint8_t *start, size_t n, const char *path, char *to, struct err *err)
{
	Elf64_Ehdr h;
	Elf32_Ehdr h32;
	if (n < sizeof h || memcmp(start, ELFMAG, SELFMAG) || start[EI_DATA] != ELFDATA2LSB)
		return 0;
	const bool is64 = start[EI_CLASS] == ELFCLASS64;
	memcpy(&h, start, sizeof h);
	memcpy(&h32, start, sizeof h32);
	const uint64_t table = is64 ? h.e_phoff : h32.e_phoff;
	const unsigned count = is64 ? h.e_phnum : h32.e_phnum, size = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (table > n || count * (uint64_t)size > n - table)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		Elf64_Phdr p;
		Elf32_Phdr p32;
		memcpy(&p32, start + table + i * size, sizeof p32);
		if (is64)
			memcpy(&p, start + table + i * size, sizeof p);
		else
			p = (Elf64_Phdr){ .p_type = p32.p_type, .p_offset = p32.p_offset, .p_filesz = p32.p_filesz };
		if (p.p_type != PT_INTERP)
			continue;
		if (p.p_offset > n || p.p_filesz > n - p.p_offset || p.p_filesz < 2 || p.p_filesz > PATH_MAX ||
			start[p.p_offset + p.p_filesz - 1])
			return err_set(err, ERR_INPUT, "%s: its interpreter's name cannot be read", path);
		strcpy(to, (const char *)start + p.p_offset);
		return 1;
	}
	return 0;
}

/* Adds what ld.so --list prints: "NAME => FILE (ADDRESS)", or "FILE (ADDRESS)". */
static int add_listed(struct initramfs *a, const char *path, char *line, struct err *err)
{
	char *arrow = strstr(line, " => "), *name = arrow ? arrow + 4 : line + strspn(line, " \t");
	if (arrow && !strncmp(name, "not found", 9)) {
		*arrow = 0;
		return err_set(err, ERR_INPUT, "%s needs %s, which the host does not have", path,
			line + strspn(line, " \t"));
	}
	char *end = strstr(name, " (0x");
	if (!end || name[0] != '/')
		return 0;
	*end = 0;
	char real[PATH_MAX];
	struct stat s;
	const int rc = add_way(a, name, real, err);
	if (rc)
		return rc;
	return stat(real, &s) ? err_system(err, "%s", name) : initramfs_file(a, real, s.st_mode, real, err);
}

static int add_libraries(struct initramfs *a, const char *path, const char *ld, struct err *err)
{
	int ends[2];
	char line[PATH_MAX + 64];
	if (pipe2(ends, O_CLOEXEC))
		return err_system(err, "%s", path);
	const pid_t child = fork();
	if (!child) {
		const int null = open("/dev/null", O_RDWR);
		if (dup2(null, 0) < 0 || dup2(ends[1], 1) < 0 || dup2(null, 2) < 0)
			_exit(127);
		unsetenv("LD_PRELOAD");
		execl(ld, ld, "--list", path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *f = child < 0 ? NULL : fdopen(ends[0], "r");
	int rc = 0, status = 0;
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (!rc)
			rc = add_listed(a, path, line, err);
	}
	if (f)
		fclose(f);
	else
		close(ends[0]);
	if (child < 0)
		return err_system(err, "%s", path);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
	if (!rc && status)
		rc = err_set(err, ERR_INPUT, "%s: %s cannot list its libraries", path, ld);
	return rc;
}

static int add_program(struct initramfs *a, const char *path, unsigned scripts, struct err *err)
{
	static const char *const known[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux.so.2",
		"/lib/ld-musl-*.so.1" };
	static uint8_t start[START + 1];
	char ld[PATH_MAX] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : pread(fd, start, START, 0);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return err_system(err, "%s", path);
	start[n] = 0;
	if (n > 2 && !memcmp(start, "#!", 2)) {
		char *name = (char *)start + 2 + strspn((char *)start + 2, " \t");
		name[strcspn(name, " \t\n")] = 0;
		if (name[0] != '/' || scripts >= SCRIPTS)
			return err_set(err, ERR_INPUT, "%s: its interpreter cannot be found", path);
		char copy[PATH_MAX];
		snprintf(copy, sizeof copy, "%s", name);
		return add(a, copy, scripts + 1, err);
	}
	int rc = interpreter(start, (size_t)n, path, ld, err);
	if (rc <= 0)
		return rc;
	bool runs = false;
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		runs |= !fnmatch(known[i], ld, FNM_PATHNAME);
	if (!runs)
		return err_set(err, ERR_UNSUPPORTED, "%s: its interpreter %s is not known; put the program and its "
			"libraries into a folder, for --root", path, ld);
	char real[PATH_MAX];
	struct stat s;
	rc = add_way(a, ld, real, err);
	if (!rc)
		rc = stat(real, &s) ? err_system(err, "%s", ld) : initramfs_file(a, real, s.st_mode, real, err);
	return rc ? rc : add_libraries(a, path, ld, err);
}

static int add(struct initramfs *a, const char *path, unsigned scripts, struct err *err)
{
	char absolute[PATH_MAX * 2], here[PATH_MAX] = "", real[PATH_MAX];
	struct stat s;
	if (stat(path, &s))
		return err_system(err, "%s", path);
	if (path[0] != '/' && !getcwd(here, sizeof here))
		return err_system(err, "%s", path);
	snprintf(absolute, sizeof absolute, "%s%s%s", here, path[0] == '/' ? "" : "/", path);
	int rc = add_way(a, absolute, real, err);
	if (rc)
		return rc;
	if (S_ISDIR(s.st_mode))
		return initramfs_tree(a, real, real, err);
	if (!S_ISREG(s.st_mode))
		return err_set(err, ERR_INPUT, "%s is neither a file nor a folder", path);
	rc = initramfs_file(a, real, s.st_mode, real, err);
	return rc ? rc : add_program(a, real, scripts, err);
}

int initramfs_add(struct initramfs *a, const char *path, struct err *err)
{
	return add(a, path, 0, err);
}

int initramfs_basics(struct initramfs *a, struct err *err)
{
	static const char *const folder[] = { "/bin", "/usr/bin" };
	static const char *const name[] = { "sh", "cat", "chmod", "cp", "cut", "date", "dd", "dmesg", "env", "false",
		"grep", "head", "kill", "ln", "ls", "mkdir", "mv", "nproc", "rm", "sed", "seq", "sleep", "sort", "tail",
		"taskset", "tee", "touch", "tr", "true", "uname", "wc" };
	/* What libc looks for: libraries that are in ld.so's cache only, and the locale C.UTF-8. */
	static const char *const data[] = { "/etc/ld.so.cache", "/usr/lib/locale/C.utf8",
		"/usr/share/locale/locale.alias", "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache" };
	char path[64];
	int rc = 0;
	for (unsigned i = 0; !rc && i < sizeof name / sizeof *name; i++)
		for (unsigned f = 0; !rc && f < 2; f++) {
			snprintf(path, sizeof path, "%s/%s", folder[f], name[i]);
			if (!access(path, X_OK))
				rc = add(a, path, 0, err);
		}
	for (unsigned i = 0; !rc && i < sizeof data / sizeof *data; i++)
		if (!access(data[i], R_OK))
			rc = add(a, data[i], 0, err);
	return rc;
}
