/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds the file that a command name stands for, as execvp(3) would, and checks that it can run under the tracer.
 *
 * Checked: existence, permission, file type, setuid and setgid bits and file capabilities (the tracer runs in user mode
 * without them, so the program would behave differently), ELF class and machine, and the presence of the dynamic
 * loader; for #! scripts the same of the interpreter.  Left out: whether the shared libraries are there (the loader
 * reports that itself), binfmt_misc handlers, and execvp's habit of passing files of unknown format to /bin/sh.
 * Sources: execve(2), execvp(3), path_resolution(7), elf(5).
 */
#include "stream/stream_internal.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MAX_SCRIPTS = 5, HEAD_BYTES = 4096, MAX_PHDRS = 512 };

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_ARM: return "32-bit ARM";
	case EM_AARCH64: return "64-bit ARM";
	case EM_RISCV: return "RISC-V";
	case EM_PPC: return "32-bit PowerPC";
	case EM_PPC64: return "64-bit PowerPC";
	case EM_S390: return "s390";
	case EM_MIPS: return "MIPS";
	case EM_SPARCV9: return "SPARC";
	case EM_IA_64: return "Itanium";
	case EM_LOONGARCH: return "LoongArch";
	default: return NULL;
	}
}

/* 0, or the errno with which execve would refuse this file: EACCES, ENOENT, ... */
static int try_file(const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return EACCES;
	return 0;
}

static int say_why_not(const char *path, int why, struct err *err)
{
	switch (why) {
	case ENOENT: case ENOTDIR:
		return err_set(err, ERR_INPUT, "%s: no such program", path);
	case EISDIR:
		return err_set(err, ERR_INPUT, "%s: is a directory, not a program", path);
	case EACCES:
		return err_set(err, ERR_INPUT, "%s: not executable (permission denied)", path);
	default:
		errno = why;
		return err_system(err, "%s: cannot be run", path);
	}
}

static int search_path(struct program *p, const char *name, struct err *err)
{
	const char *path = getenv("PATH");
	int worst = ENOENT;
	char denied[PATH_MAX] = "";
	if (!path)
		path = "/bin:/usr/bin";		/* the default of glibc's execvp */
	for (const char *at = path;; at++) {
		const char *end = strchrnul(at, ':');
		int n = snprintf(p->path, sizeof p->path, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "./", name);
		if (n > 0 && (size_t)n < sizeof p->path) {
			int why = try_file(p->path);
			if (!why)
				return 0;
			if (why == EACCES || (why == EISDIR && worst == ENOENT)) {
				worst = why;
				strcpy(denied, p->path);
			}
		}
		if (!*end)
			break;
		at = end;
	}
	if (worst == ENOENT)
		return err_set(err, ERR_INPUT, "%s: program not found in PATH", name);
	return say_why_not(denied, worst, err);
}

static int check_privileges(const char *path, const struct stat *st, struct err *err)
{
	if (st->st_mode & (S_ISUID | S_ISGID))
		return err_set(err, ERR_UNSUPPORTED,
			"%s: is a %s program; it cannot be traced, because the tracer runs "
			"it without the rights it would gain (copy it without that bit to trace it)",
			path, st->st_mode & S_ISUID ? "setuid" : "setgid");
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return err_set(err, ERR_UNSUPPORTED,
			"%s: has file capabilities; it cannot be traced, because the tracer "
			"runs it without the rights it would gain (copy it to trace it)",
			path);
	return 0;
}

/* If the program has a PT_INTERP, checks that the loader it names exists.  The tracer itself refuses a damaged
 * table. */
static int check_loader(const char *path, int fd, unsigned word_bytes, uint64_t phoff, unsigned phentsize,
	unsigned phnum, struct err *err)
{
	size_t want = word_bytes == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (phentsize < want || phoff > INT_MAX)
		return 0;
	for (unsigned i = 0; i < phnum && i < MAX_PHDRS; i++) {
		union { Elf64_Phdr h64; Elf32_Phdr h32; } u;
		char loader[PATH_MAX];
		if (pread(fd, &u, want, (off_t)(phoff + (uint64_t)i * phentsize)) != (ssize_t)want)
			return 0;
		if ((word_bytes == 8 ? u.h64.p_type : u.h32.p_type) != PT_INTERP)
			continue;
		uint64_t at = word_bytes == 8 ? u.h64.p_offset : u.h32.p_offset;
		uint64_t bytes = word_bytes == 8 ? u.h64.p_filesz : u.h32.p_filesz;
		if (at > INT_MAX || bytes < 2 || bytes > sizeof loader ||
		    pread(fd, loader, bytes, (off_t)at) != (ssize_t)bytes || loader[bytes - 1])
			return 0;
		if (access(loader, F_OK))
			return err_set(err, ERR_INPUT, "%s: needs the loader %s, which is not installed%s", path,
				loader,
				word_bytes == 4 ? " (32-bit programs need the package libc6:i386 or libc6-i386)" : "");
		return 0;
	}
	return 0;
}

static int check_elf(struct program *p, const char *path, int fd, const uint8_t *head, size_t bytes, struct err *err)
{
	/* head is aligned; the first fields are the same in both classes */
	const Elf64_Ehdr *h64 = (const void *)head;
	const Elf32_Ehdr *h32 = (const void *)head;
	if (bytes < sizeof *h32 || (head[EI_CLASS] == ELFCLASS64 && bytes < sizeof *h64))
		return err_set(err, ERR_INPUT, "%s: ELF file is cut short", path);
	if (head[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_UNSUPPORTED,
			"%s: is a big-endian program; only x86 programs can be traced", path);
	if (h64->e_machine != EM_X86_64 && h64->e_machine != EM_386) {
		const char *name = machine_name(h64->e_machine);
		if (name)
			return err_set(err, ERR_UNSUPPORTED, "%s: is a program for %s; only x86 programs can be traced",
				path, name);
		return err_set(err, ERR_UNSUPPORTED,
			"%s: is a program for another processor (ELF machine %u); only x86 "
			"programs can be traced",
			path, h64->e_machine);
	}
	if (h64->e_machine == EM_X86_64 && head[EI_CLASS] == ELFCLASS32)
		return err_set(err, ERR_UNSUPPORTED, "%s: uses the x32 ABI, which the tracer cannot run", path);
	if (head[EI_CLASS] != (h64->e_machine == EM_X86_64 ? ELFCLASS64 : ELFCLASS32))
		return err_set(err, ERR_INPUT, "%s: ELF class and machine do not fit together", path);
	if (h64->e_type != ET_EXEC && h64->e_type != ET_DYN)
		return err_set(err, ERR_INPUT, "%s: is an ELF %s, not a program", path,
			h64->e_type == ET_REL            ? "object file"
				: h64->e_type == ET_CORE ? "core dump"
							 : "file of another kind");
	p->word_bytes = head[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	return p->word_bytes == 8 ? check_loader(path, fd, 8, h64->e_phoff, h64->e_phentsize, h64->e_phnum, err)
				  : check_loader(path, fd, 4, h32->e_phoff, h32->e_phentsize, h32->e_phnum, err);
}

/* Checks one file.  *script: it is a #! script, whose interpreter is then in next. */
static int check_file(struct program *p, const char *path, char next[PATH_MAX], bool *script, struct err *err)
{
	_Alignas(8) uint8_t head[HEAD_BYTES + 1];
	struct stat st;
	*script = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == EACCES
			? err_set(err, ERR_INPUT, "%s: may be executed but not read; the tracer has to read it", path)
			: err_system(err, "%s: cannot be opened", path);
	ssize_t n = fstat(fd, &st) ? -1 : pread(fd, head, HEAD_BYTES, 0);
	int r;
	if (n < 0) {
		r = err_system(err, "%s: cannot be read", path);
	} else if ((r = check_privileges(path, &st, err))) {
		/* reported */
	} else if (n == 0) {
		r = err_set(err, ERR_INPUT, "%s: is empty, not a program", path);
	} else if (n >= 4 && !memcmp(head, ELFMAG, SELFMAG)) {
		r = check_elf(p, path, fd, head, (size_t)n, err);
	} else if (n >= 2 && head[0] == '#' && head[1] == '!') {
		head[n] = 0;
		char *at = (char *)head + 2 + strspn((char *)head + 2, " \t");
		size_t len = strcspn(at, " \t\n");
		if (!len || len >= PATH_MAX) {
			r = err_set(err, ERR_INPUT, "%s: its #! line names no interpreter", path);
		} else {
			memcpy(next, at, len);
			next[len] = 0;
			*script = true;
		}
	} else {
		r = err_set(err, ERR_INPUT, "%s: is neither an ELF program nor a script with a #! line (a shell script "
			    "without one runs as: sh %s)", path, path);
	}
	close(fd);
	return r;
}

int program_find(struct program *p, const char *name, struct err *err)
{
	char file[PATH_MAX], next[PATH_MAX];
	bool script;
	memset(p, 0, sizeof *p);
	if (!name || !*name)
		return err_set(err, ERR_INPUT, "no program named");
	if (strlen(name) >= sizeof p->path)
		return err_set(err, ERR_INPUT, "%.60s...: name too long", name);
	if (strchr(name, '/')) {
		strcpy(p->path, name);
		int why = try_file(name);
		if (why)
			return say_why_not(name, why, err);
	} else {
		int r = search_path(p, name, err);
		if (r)
			return r;
	}
	strcpy(file, p->path);
	for (int depth = 0;; depth++) {
		int r = check_file(p, file, next, &script, err);
		if (r || !script)
			return r;
		if (depth == MAX_SCRIPTS)
			return err_set(err, ERR_INPUT,
				"%s: its #! lines lead from script to script without end", p->path);
		int why = try_file(next);
		if (why == ENOENT || why == ENOTDIR)
			return err_set(err, ERR_INPUT, "%s: its #! line names %s, which does not exist", file, next);
		if (why)
			return err_set(err, ERR_INPUT,
				"%s: its #! line names %s, which cannot be executed", file, next);
		strcpy(file, next);
	}
}

int stream_find_program(const char *name, char *path, size_t bytes, struct err *err)
{
	struct program p;
	int code = program_find(&p, name, err);
	if (!code && (size_t)snprintf(path, bytes, "%s", p.path) >= bytes)
		code = err_set(err, ERR_INPUT, "%.60s...: name too long", name);
	return code;
}
