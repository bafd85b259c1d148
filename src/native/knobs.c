/* SPDX-License-Identifier: GPL-2.0-or-later
 * Detection, one function for each kind of knob.
 */
#include "native/knobs.h"
#include "native/native_machine.h"
#include "native/start.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPUS_TRIED = 4, SCRIPTS = 4, LOADER_MOST = 256 << 20 };

static void absent(struct native_knobs *k, const char *knob, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void absent(struct native_knobs *k, const char *knob, const char *format, ...)
{
	if (k->absents == NATIVE_ABSENT)
		return;
	struct native_absent *a = &k->absent[k->absents++];
	va_list ap;
	va_start(ap, format);
	snprintf(a->knob, sizeof a->knob, "%s", knob);
	vsnprintf(a->why, sizeof a->why, format, ap);
	va_end(ap);
}

/* Offers settings separated by blanks; settings of a process are first tried in a child. */
static void offer(struct native_knobs *k, const char *settings, const char *what)
{
	struct native_choice c = { .set.n = 0 };
	char text[NATIVE_TEXT], *rest = text;
	struct err err = { 0 };
	int rc = 0;
	snprintf(text, sizeof text, "%s", settings);
	for (char *word; !rc && (word = strsep(&rest, " "));)
		rc = native_set_add(&c.set, word, &err);
	for (unsigned i = 0; !rc && i < c.set.n; i++)
		rc = native_try(&c.set.at[i], &err);
	snprintf(c.what, sizeof c.what, "%s", what);
	if (rc || k->choices == TRIAL_ARMS)
		absent(k, settings, "%.180s", rc ? err.text : "more settings than are tried at once");
	else
		k->choice[k->choices++] = c;
}

static void find_processor(struct native_knobs *k, const char *root, char vendor[16])
{
	char path[NATIVE_PATH], line[4096];
	unsigned family = 0, model = 0;
	FILE *f = native_path(path, root, "/proc/cpuinfo", NULL) ? NULL : fopen(path, "re");
	strcpy(vendor, "unknown");
	while (f && fgets(line, sizeof line, f) && line[0] != '\n') {	/* the first processor */
		sscanf(line, "vendor_id : %15s", vendor);
		sscanf(line, "cpu family : %u", &family);
		sscanf(line, "model : %u", &model);
	}
	if (f)
		fclose(f);
	snprintf(k->processor, sizeof k->processor, "%s family %u model %u", vendor, family, model);
}

static void find_prefetchers(struct native_knobs *k, const char *root, const char *vendor)
{
	unsigned cpu[NATIVE_CPUS], cpus = native_msr_cpus(root, cpu);
	const struct native_bit *bit;
	unsigned bits = native_bits(vendor, &bit), on = 0;
	struct err err = { 0 };
	uint64_t first = 0;
	char all[NATIVE_TEXT] = "", text[NATIVE_WORD + 8];
	if (!bits || !cpus) {
		if (!bits)
			absent(k, "prefetch.*", "no register of %s processors that switches them is known", vendor);
		else
			absent(k, "prefetch.*", "%s/dev/cpu has no processors: the kernel's module msr is not loaded",
				root);
		return;
	}
	for (unsigned c = 0; c < cpus; c++) {
		uint64_t value;
		if (native_msr_read(root, cpu[c], bit->msr, &value, &err)) {
			absent(k, "prefetch.*", "%.180s", err.text);
			return;
		}
		if (!c)
			first = value;
		if (value != first) {
			absent(k, "prefetch.*",
				"register %XH differs between processors: another program sets it", bit->msr);
			return;
		}
	}
	for (unsigned i = 0; i < bits; i++) {
		bool off = first >> bit[i].bit & 1;
		snprintf(text, sizeof text, "%s=%s", bit[i].knob, off ? "on" : "off");
		offer(k, text, bit[i].what);
		on += !off;
		if (!off)
			snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? " " : "", text);
	}
	if (on > 1)
		offer(k, all, "all of them");
}

static void find_cache(struct native_knobs *k, const char *root)
{
	char line[NATIVE_SCHEMA], half[NATIVE_SCHEMA], path[NATIVE_PATH];
	struct err err = { 0 };
	if (native_cache_schema(line, root, &err)) {
		absent(k, "l3.ways", "%.180s", err.text);
		return;
	}
	if (!native_cache_half(half, line, true)) {
		absent(k, "l3.ways", "'%.80s' cannot be halved", line);
		return;
	}
	DIR *d = native_path(path, root, "/sys/fs/resctrl", NULL) ? NULL : opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_type == DT_DIR && e->d_name[0] != '.' && strcmp(e->d_name, "info") &&
		    strncmp(e->d_name, "mon_", 4)) {
			absent(k, "l3.ways", "the cache is divided already: group %.60s", e->d_name);
			closedir(d);
			return;
		}
	if (d)
		closedir(d);
	if (native_path(path, root, "/sys/fs/resctrl/schemata", &err) || access(path, W_OK)) {
		absent(k, "l3.ways", "%.150s: %s", path, strerror(errno));
		return;
	}
	offer(k, "l3.ways=half", "half of the L3 for the program alone");
}

/* The selected word of a sysfs choice: "always [madvise] never". */
static void chosen(char *word, size_t bytes, const char *text)
{
	const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
	snprintf(word, bytes, "%.*s", to ? (int)(to - from - 1) : 0, to ? from + 1 : "");
}

/* mode: "always", "madvise", "never", or "" if it is not known. */
static void find_thp(struct native_knobs *k, const char *root, char *mode, size_t bytes)
{
	char text[128];
	struct err err = { 0 };
	if (native_read(text, sizeof text, root, "/sys/kernel/mm/transparent_hugepage/enabled", &err)) {
		absent(k, "thp", "%.180s", err.text);
		*mode = 0;
		return;
	}
	chosen(mode, bytes, text);
	if (!strcmp(mode, "never"))
		absent(k, "thp", "transparent huge pages are switched off for all (enabled: never)");
	else if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1)
		absent(k, "thp", "switched off for this process already");
	else
		offer(k, "thp=off", "no transparent huge pages");
}

static void find_speculation(struct native_knobs *k)
{
	static const struct { const char *name; unsigned long which; const char *what; } control[] = {
		{ "spec.store_bypass", PR_SPEC_STORE_BYPASS, "loads ahead of stores of unknown address" },
		{ "spec.indirect_branch", PR_SPEC_INDIRECT_BRANCH, "prediction of indirect branches" },
		{ "spec.l1d_flush", PR_SPEC_L1D_FLUSH, "L1D flushed at a switch of tasks" },
	};
	for (size_t i = 0; i < sizeof control / sizeof *control; i++) {
		int state = prctl(PR_GET_SPECULATION_CTRL, control[i].which, 0, 0, 0);
		char text[NATIVE_WORD + 8];
		if (state < 0)
			absent(k, control[i].name, "PR_GET_SPECULATION_CTRL: %s", strerror(errno));
		else if (!((unsigned)state & PR_SPEC_PRCTL))
			absent(k, control[i].name, "the kernel lets no process change it (%s)",
				!state                                     ? "the processor is not affected"
					: (unsigned)state & PR_SPEC_ENABLE ? "always on"
									   : "always off");
		else if ((unsigned)state & PR_SPEC_FORCE_DISABLE)
			absent(k, control[i].name, "switched off for this process for good");
		else {
			snprintf(text, sizeof text, "%s=%s", control[i].name,
				(unsigned)state & PR_SPEC_ENABLE ? "off" : "on");
			offer(k, text, control[i].what);
		}
	}
}

static void find_processors(struct native_knobs *k)
{
	enum { MOST = 8192 };
	cpu_set_t *allowed = CPU_ALLOC(MOST);
	size_t bytes = CPU_ALLOC_SIZE(MOST);
	if (!allowed || sched_getaffinity(0, bytes, allowed)) {
		absent(k, "cpu", "sched_getaffinity: %s", strerror(allowed ? errno : ENOMEM));
	} else if (CPU_COUNT_S(bytes, allowed) < 2) {
		absent(k, "cpu", "this process may use one processor only");
	} else {
		unsigned n = (unsigned)CPU_COUNT_S(bytes, allowed), nth = 0, tried = n < CPUS_TRIED ? n : CPUS_TRIED;
		for (unsigned c = 0; c < MOST; c++) {
			char text[32];
			if (!CPU_ISSET_S(c, bytes, allowed))
				continue;
			for (unsigned t = 0; t < tried; t++)
				/* the first, the last, and some between */
				if (nth == (tried > 1 ? t * (n - 1) / (tried - 1) : 0)) {
					snprintf(text, sizeof text, "cpu=%u", c);
					offer(k, text, "all its threads on this processor");
				}
			nth++;
		}
	}
	CPU_FREE(allowed);
}

static void find_numa(struct native_knobs *k, const char *root)
{
	char text[256];
	struct err err = { 0 };
	if (native_read(text, sizeof text, root, "/sys/devices/system/node/has_memory", &err))
		absent(k, "numa", "%.180s", err.text);
	else if (!strpbrk(text, ",-"))
		absent(k, "numa", "memory is all in one node (%s)", text);
	else
		offer(k, "numa=interleave", "pages from all nodes in turn");
}

static void find_aslr(struct native_knobs *k, const char *root)
{
	char text[16] = "";
	if (!native_read(text, sizeof text, root, "/proc/sys/kernel/randomize_va_space", NULL) && !strcmp(text, "0"))
		absent(k, "aslr", "addresses are not randomised here (randomize_va_space: 0)");
	else
		offer(k, "aslr=off", "the same addresses in every run");
}

/* Replaces a script's path by that of its interpreter: "#!/bin/sh -e". */
static bool script_of(char *path, const char *program)
{
	char line[256] = "";
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	char *word = line + 2 + strspn(line + 2, " \t");
	word[strcspn(word, " \t\r\n")] = 0;
	snprintf(path, NATIVE_PATH, "%s", word);
	return *word == '/';
}

/* Finds the file that contains the C library's tunables: the loader that an ELF program asks for, or the program
 * itself if it has none.  False: it is not an ELF file. */
static bool loader_of(char *path, const char *program)
{
	bool found = false;
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t n = 0, bytes = 0;
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &n)) {
		const char *raw = elf_rawfile(elf, &bytes);
		found = true;
		snprintf(path, NATIVE_PATH, "%s", program);
		for (size_t i = 0; raw && i < n; i++) {
			GElf_Phdr h;
			if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_INTERP && h.p_offset < bytes &&
			    h.p_filesz <= bytes - h.p_offset && h.p_filesz > 1 && h.p_filesz < NATIVE_PATH &&
			    !raw[h.p_offset + h.p_filesz - 1])
				snprintf(path, NATIVE_PATH, "%s", raw + h.p_offset);
		}
	}
	elf_end(elf);
	close(fd);
	return found;
}

static bool holds(const char *path, const char *name)
{
	struct stat st;
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size < LOADER_MOST) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED) {
			found = memmem(p, (size_t)st.st_size, name, strlen(name)) != NULL;
			munmap(p, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Why malloc's huge pages would have no effect; NULL if they can.  1 asks for transparent ones, which helps where
 * the kernel gives them only on request; 2 takes reserved ones. */
static const char *no_huge(const char *root, const char *thp, bool reserved)
{
	char text[32] = "0", more[32] = "0";
	if (!reserved)
		return !strcmp(thp, "madvise")   ? NULL
			: !strcmp(thp, "always") ? "every process has them already (enabled: always)"
						 : "there are no transparent huge pages here";
	native_read(text, sizeof text, root, "/proc/sys/vm/nr_hugepages", NULL);
	native_read(more, sizeof more, root, "/proc/sys/vm/nr_overcommit_hugepages", NULL);
	return strcmp(text, "0") || strcmp(more, "0") ? NULL : "no huge pages are reserved (vm.nr_hugepages: 0)";
}

static void find_malloc(struct native_knobs *k, const char *root, const char *program, const char *thp)
{
	static const struct { const char *settings, *what;
	} level[] = {
		{ "glibc.malloc.arena_max=1", "one arena for all threads" },
		{ "glibc.malloc.tcache_count=127", "127 freed blocks of a size kept by each thread, instead of 7" },
		{ "glibc.malloc.tcache_count=0", "freed blocks not kept by threads" },
		{ "glibc.malloc.top_pad=16777216", "16 MiB more at each growth of the heap" },
		{ "glibc.malloc.mmap_threshold=1073741824 glibc.malloc.trim_threshold=4294967296",
			"freed memory kept, whatever its size" },
		{ "glibc.malloc.mmap_threshold=65536", "blocks from 64 KiB on in pages of their own" },
		{ "glibc.malloc.hugetlb=1", "transparent huge pages asked for by malloc" },
		{ "glibc.malloc.hugetlb=2", "reserved huge pages for malloc" },
	};
	char path[NATIVE_PATH], loader[NATIVE_PATH];
	struct stat st;
	snprintf(path, sizeof path, "%s", program);
	for (int i = 0; i < SCRIPTS && script_of(loader, path); i++)
		memcpy(path, loader, sizeof path);
	if (!stat(program, &st) && st.st_mode & (S_ISUID | S_ISGID)) {
		absent(k, "glibc.malloc.*", "the program is set-user-ID or set-group-ID: its loader ignores tunables");
		return;
	}
	if (!loader_of(loader, path)) {
		absent(k, "glibc.malloc.*", "%.150s is not an ELF file", path);
		return;
	}
	if (!holds(loader, "glibc.malloc.")) {
		absent(k, "glibc.malloc.*", "%.150s has no tunables: not the GNU C library's", loader);
		return;
	}
	for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
		char knob[NATIVE_WORD];
		const char *huge = strstr(level[i].settings, "hugetlb="),
			   *why = huge ? no_huge(root, thp, huge[8] == '2') : NULL;
		snprintf(knob, sizeof knob, "%.*s", (int)strcspn(level[i].settings, "="), level[i].settings);
		if (!holds(loader, knob))
			absent(k, level[i].settings, "%.120s does not know it", loader);
		else if (why)
			absent(k, level[i].settings, "%s", why);
		else
			offer(k, level[i].settings, level[i].what);
	}
}

int native_knobs(struct native_knobs *k, const char *root, const char *program, struct err *err)
{
	char vendor[16], thp[32];
	struct stat st;
	memset(k, 0, sizeof *k);
	if (stat(program, &st))
		return err_system(err, "%s", program);
	find_processor(k, root, vendor);
	find_prefetchers(k, root, vendor);
	find_cache(k, root);
	find_thp(k, root, thp, sizeof thp);
	find_malloc(k, root, program, thp);
	find_speculation(k);
	find_processors(k);
	offer(k, "sched=batch", "longer time slices (SCHED_BATCH)");
	offer(k, "nice=-5", "before others in the queue of a busy processor");
	find_numa(k, root);
	find_aslr(k, root);
	return 0;
}
