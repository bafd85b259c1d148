/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machine's settings, their journal and the guard.
 *
 * The journal is text, one entry on each line:
 *  boot ID                     the boot it belongs to; the first line
 *  msr CPU MSR MASK OLD        all hexadecimal except CPU
 *  group NAME                  a resctrl group to remove
 *  schema LINE                 the root group's line, as it was
 */
#include "native/native_machine.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* PATIENCE: how many times 50 ms to wait for a guard at work */
enum { JOURNAL_MOST = 4 << 20, LINE = NATIVE_SCHEMA + 16, PATIENCE = 40 };
static const char journal_name[] = "/run/softpmu-native.journal", group_start[] = "softpmu.";

struct native_machine {
	char root[NATIVE_PATH], tasks[NATIVE_PATH];
	int journal, alive;		/* alive: our end of the guard's pipe */
	pid_t guard;
	unsigned changes;
	char boot[64];
};

int native_path(char path[NATIVE_PATH], const char *root, const char *below, struct err *err)
{
	int n = snprintf(path, NATIVE_PATH, "%s%s", root, below);
	return n < 0 || n >= NATIVE_PATH ? err_set(err, ERR_INPUT, "the path %.80s... is too long", root) : 0;
}

int native_read(char *text, size_t bytes, const char *root, const char *below, struct err *err)
{
	char path[NATIVE_PATH];
	int rc = native_path(path, root, below, err);
	if (rc)
		return rc;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_system(err, "%s", path);
	ssize_t n = read(fd, text, bytes - 1);
	if (n < 0)
		rc = err_system(err, "%s", path);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return rc;
}

static int write_text(const char *root, const char *below, const char *text, struct err *err)
{
	char path[NATIVE_PATH];
	int rc = native_path(path, root, below, err);
	if (rc)
		return rc;
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return err_system(err, "%s", path);
	size_t n = strlen(text);
	if (write(fd, text, n) != (ssize_t)n)
		rc = err_system(err, "%s", path);
	close(fd);
	return rc;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

unsigned native_msr_cpus(const char *root, unsigned cpu[NATIVE_CPUS])
{
	char path[NATIVE_PATH];
	unsigned n = 0;
	DIR *d = native_path(path, root, "/dev/cpu", NULL) ? NULL : opendir(path);
	for (struct dirent *e; d && (e = readdir(d)) && n < NATIVE_CPUS;)
		if (isdigit((unsigned char)e->d_name[0]) && strlen(e->d_name) < 6)
			cpu[n++] = (unsigned)strtoul(e->d_name, NULL, 10);
	if (d)
		closedir(d);
	qsort(cpu, n, sizeof *cpu, by_number);
	return n;
}

/* Opens the register's file for writing, too: without that right there is no knob. */
static int msr_open(const char *root, unsigned cpu, struct err *err)
{
	char path[NATIVE_PATH], below[32];
	snprintf(below, sizeof below, "/dev/cpu/%u/msr", cpu);
	if (native_path(path, root, below, err))
		return -1;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err_system(err, "%s", path);
	return fd;
}

static int msr_get(int fd, unsigned cpu, uint32_t msr, uint64_t *value, struct err *err)
{
	ssize_t n = pread(fd, value, sizeof *value, (off_t)msr);
	if (n == sizeof *value)
		return 0;
	return n < 0 ? err_system(err, "register %XH of processor %u", msr, cpu)
		     : err_set(err, ERR_SYSTEM, "register %XH of processor %u: nothing to read", msr, cpu);
}

int native_msr_read(const char *root, unsigned cpu, uint32_t msr, uint64_t *value, struct err *err)
{
	int fd = msr_open(root, cpu, err);
	if (fd < 0)
		return ERR_SYSTEM;
	int rc = msr_get(fd, cpu, msr, value, err);
	close(fd);
	return rc;
}

/* Sets the bits of mask to those of value; *old: what they were.  It is an error if the register does not keep
 * them (a hypervisor may drop the write). */
static int msr_write(const char *root, unsigned cpu, uint32_t msr, uint64_t mask, uint64_t value, struct err *err)
{
	uint64_t now = 0;
	int fd = msr_open(root, cpu, err);
	if (fd < 0)
		return ERR_SYSTEM;
	int rc = msr_get(fd, cpu, msr, &now, err);
	if (!rc && ((now ^ value) & mask)) {
		now = (now & ~mask) | (value & mask);
		if (pwrite(fd, &now, sizeof now, (off_t)msr) != sizeof now)
			rc = err_system(err, "register %XH of processor %u", msr, cpu);
		if (!rc)
			rc = msr_get(fd, cpu, msr, &now, err);
		if (!rc && ((now ^ value) & mask))
			rc = err_set(err, ERR_SYSTEM,
				"register %XH of processor %u does not keep what is written to it", msr, cpu);
	}
	close(fd);
	return rc;
}

int native_cache_schema(char line[NATIVE_SCHEMA], const char *root, struct err *err)
{
	char path[NATIVE_PATH], text[LINE];
	int rc = native_path(path, root, "/sys/fs/resctrl/schemata", err);
	if (rc)
		return rc;
	FILE *f = fopen(path, "re");
	if (!f)
		return err_system(err, "%s", path);
	rc = err_set(err, ERR_UNSUPPORTED, "%s has no line L3", path);
	while (rc && fgets(text, sizeof text, f)) {
		char *start = text + strspn(text, " ");
		size_t n = strcspn(start, "\n");
		if (strncmp(start, "L3:", 3) || n >= NATIVE_SCHEMA)
			continue;
		memcpy(line, start, n);
		line[n] = 0;
		rc = 0;
	}
	fclose(f);
	return rc;
}

bool native_cache_half(char half[NATIVE_SCHEMA], const char *line, bool upper)
{
	size_t used = (size_t)snprintf(half, NATIVE_SCHEMA, "L3:");
	const char *s = strncmp(line, "L3:", 3) ? "" : line + 3;
	do {
		char *end;
		unsigned long domain = strtoul(s, &end, 10);
		if (!isdigit((unsigned char)*s) || *end != '=' || !isxdigit((unsigned char)end[1]))
			return false;
		unsigned long mask = strtoul(end + 1, &end, 16);
		unsigned ways = (unsigned)__builtin_popcountl(mask), first = mask ? (unsigned)__builtin_ctzl(mask) : 0;
		if (ways < 2 || mask != ((ways < 64 ? 1ul << ways : 0) - 1) << first || (*end && *end != ';'))
			return false;	/* masks have no holes: SDM volume 3, "Cache Allocation Technology" */
		unsigned long low = ((1ul << ways / 2) - 1) << first;
		used += (size_t)snprintf(half + used, NATIVE_SCHEMA - used, "%s%lu=%lx",
			half[used - 1] == ':' ? "" : ";", domain, upper ? mask & ~low : low);
		s = *end ? end + 1 : end;
	} while (*s && used < NATIVE_SCHEMA);
	return used < NATIVE_SCHEMA;
}

/* True for "softpmu.NUMBER": we make only such groups, and remove no others. */
static bool own_group(const char *name)
{
	size_t n = strlen(name), start = strlen(group_start);
	return n > start && n < 32 && !strncmp(name, group_start, start) &&
		strspn(name + start, "0123456789") == n - start;
}

static int remove_group(const char *root, const char *name, struct err *err)
{
	char path[NATIVE_PATH], below[64];
	snprintf(below, sizeof below, "/sys/fs/resctrl/%.32s", name);
	int rc = native_path(path, root, below, err);
	/* in resctrl a group's files are removed with it; in a test directory we must remove them */
	if (!rc && *root) {
		char file[NATIVE_PATH + 16];
		snprintf(file, sizeof file, "%s/schemata", path);
		unlink(file);
		snprintf(file, sizeof file, "%s/tasks", path);
		unlink(file);
	}
	return rc ? rc : rmdir(path) && errno != ENOENT ? err_system(err, "%s", path) : 0;
}

static int put_back(const char *root, const char *line, struct err *err)
{
	unsigned cpu;
	uint32_t msr;
	uint64_t mask, old;
	char end;
	if (sscanf(line, "msr %u %" SCNx32 " %" SCNx64 " %" SCNx64 "%c", &cpu, &msr, &mask, &old, &end) == 4)
		return msr_write(root, cpu, msr, mask, old, err);
	if (!strncmp(line, "group ", 6) && own_group(line + 6))
		return remove_group(root, line + 6, err);
	if (!strncmp(line, "schema L3:", 10)) {
		char text[LINE];
		snprintf(text, sizeof text, "%.*s\n", NATIVE_SCHEMA, line + 7);
		return write_text(root, "/sys/fs/resctrl/schemata", text, err);
	}
	return err_set(err, ERR_INPUT, "%s%s: '%.60s' is not an entry", root, journal_name, line);
}

/* Restores all entries, last first, and empties the journal.  An entry that cannot be restored does not stop the
 * others; then the journal stays.  A line without a newline was never acted upon: its writer was killed before the
 * change. */
static int undo(int journal, const char *root, const char *boot, unsigned *count, struct err *err)
{
	struct stat st;
	int rc = 0;
	*count = 0;
	if (fstat(journal, &st))
		return err_system(err, "%s%s", root, journal_name);
	if (st.st_size > JOURNAL_MOST)
		return err_set(err, ERR_INPUT, "%s%s: too long for a journal", root, journal_name);
	size_t n = (size_t)st.st_size;
	char *text = malloc(n + 1);
	if (!text)
		return err_set(err, ERR_NOMEM, "out of memory");
	ssize_t got = pread(journal, text, n, 0);
	n = got > 0 ? (size_t)got : 0;
	while (n && text[n - 1] != '\n')
		n--;
	text[n] = 0;
	size_t first = strcspn(text, "\n");
	bool this_boot =
		!strncmp(text, "boot ", 5) && first == 5 + strlen(boot) && !strncmp(text + 5, boot, strlen(boot));
	while (this_boot && n > first + 1) {
		text[--n] = 0;
		while (n > first + 1 && text[n - 1] != '\n')
			n--;
		struct err e = { 0 };
		int one = put_back(root, text + n, &e);
		*count += !one;
		if (one && !rc) {
			rc = one;
			if (err)
				*err = e;
		}
	}
	free(text);
	if (!rc && ftruncate(journal, 0))
		rc = err_system(err, "%s%s", root, journal_name);
	return rc;
}

/* Waits until the pipe ends. */
static void guard(const struct native_machine *m, int pipe_end)
{
	char c;
	unsigned count;
	int null = open("/dev/null", O_RDWR);
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* so that a reader of our standard output does not wait for the guard */
	for (int fd = 0; fd <= 2; fd++)
		if (null >= 0)
			dup2(null, fd);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != pipe_end && fd != m->journal)
			close(fd);
	ssize_t n;
	do
		n = read(pipe_end, &c, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	_exit(undo(m->journal, m->root, m->boot, &count, NULL) ? 1 : 0);
}

static int start_guard(struct native_machine *m, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_system(err, "pipe");
	m->guard = fork();
	if (m->guard < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_system(err, "fork");
	}
	if (!m->guard) {
		close(ends[1]);
		guard(m, ends[0]);
	}
	close(ends[0]);
	m->alive = ends[1];
	return 0;
}

static int lock(int fd, const char *path, struct err *err)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_system(err, "%s", path);
		if (i == PATIENCE)
			return err_set(err, ERR_SYSTEM,
				"another softpmu has changed the machine's settings and is not done (%s is locked)",
				path);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return 0;
}

/* Opens and locks the journal, and empties it.  create: make the file. */
static int take(struct native_machine *m, const char *root, bool create, unsigned *left, struct err *err)
{
	char path[NATIVE_PATH];
	int rc = native_path(path, root, journal_name, err);
	m->journal = m->alive = -1;
	if (!rc && strlen(root) >= sizeof m->root)
		rc = err_set(err, ERR_INPUT, "the path %.80s... is too long", root);
	if (rc)
		return rc;
	strcpy(m->root, root);
	m->journal = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
	if (m->journal < 0)
		return err_system(err, "%s", path);
	if (native_read(m->boot, sizeof m->boot, root, "/proc/sys/kernel/random/boot_id", NULL))
		strcpy(m->boot, "unknown");
	rc = lock(m->journal, path, err);
	return rc ? rc : undo(m->journal, root, m->boot, left, err);
}

int native_machine_open(struct native_machine **out, const char *root, unsigned *left, struct err *err)
{
	unsigned count = 0;
	struct native_machine *m = calloc(1, sizeof *m);
	if (!m)
		return err_set(err, ERR_NOMEM, "out of memory");
	int rc = take(m, root, true, &count, err);
	if (!rc)
		rc = start_guard(m, err);
	if (rc) {
		if (m->journal >= 0)
			close(m->journal);
		free(m);
		return rc;
	}
	if (left)
		*left = count;
	*out = m;
	return 0;
}

int native_machine_restore(const char *root, unsigned *left, struct err *err)
{
	struct native_machine m = { .guard = 0 };
	struct err e = { 0 };
	*left = 0;
	int rc = take(&m, root, false, left, &e);
	if (m.journal < 0)
		return 0;	/* there is no journal, or we may not read it */
	close(m.journal);
	if (rc && err)
		*err = e;
	return rc;
}

/* Writes an entry before the change that it describes, so that other processes see it. */
static int note(struct native_machine *m, const char *line, struct err *err)
{
	char text[LINE + 80];
	int n = m->changes ? snprintf(text, sizeof text, "%s\n", line)
			   : snprintf(text, sizeof text, "boot %s\n%s\n", m->boot, line);
	if (n < 0 || (size_t)n >= sizeof text || write(m->journal, text, (size_t)n) != n)
		return err_system(err, "%s%s", m->root, journal_name);
	m->changes++;
	return 0;
}

static int vendor_of(const char *root, char vendor[16], struct err *err)
{
	char path[NATIVE_PATH], line[4096];
	int rc = native_path(path, root, "/proc/cpuinfo", err);
	FILE *f = rc ? NULL : fopen(path, "re");
	if (!f)
		return rc ? rc : err_system(err, "%s", path);
	rc = err_set(err, ERR_INPUT, "%s has no vendor_id", path);
	while (rc && fgets(line, sizeof line, f))
		if (sscanf(line, "vendor_id : %15s", vendor) == 1)
			rc = 0;
	fclose(f);
	return rc;
}

static int set_bit(struct native_machine *m, const struct native_setting *s, struct err *err)
{
	unsigned cpu[NATIVE_CPUS], cpus = native_msr_cpus(m->root, cpu);
	const struct native_bit *bit;
	char vendor[16], line[128];
	int rc = vendor_of(m->root, vendor, err);
	if (rc)
		return rc;
	unsigned bits = native_bits(vendor, &bit), i = 0;
	while (i < bits && strcmp(bit[i].knob, s->knob))
		i++;
	if (i == bits || !cpus)
		return err_set(err, ERR_UNSUPPORTED, "%s: this machine has no such knob", s->knob);
	uint64_t mask = 1ull << bit[i].bit;
	for (unsigned c = 0; c < cpus; c++) {
		uint64_t old;
		rc = native_msr_read(m->root, cpu[c], bit[i].msr, &old, err);
		snprintf(line, sizeof line, "msr %u %" PRIx32 " %" PRIx64 " %" PRIx64, cpu[c], bit[i].msr, mask,
			old & mask);
		if (!rc)
			rc = note(m, line, err);
		if (!rc)
			rc = msr_write(m->root, cpu[c], bit[i].msr, mask, s->number ? 0 : mask, err);	/* 1: off */
		if (rc)
			return rc;
	}
	return 0;
}

static int set_ways(struct native_machine *m, struct err *err)
{
	char line[NATIVE_SCHEMA], upper[NATIVE_SCHEMA], lower[NATIVE_SCHEMA], below[80], path[NATIVE_PATH], text[LINE];
	int rc = native_cache_schema(line, m->root, err);
	if (rc)
		return rc;
	if (!native_cache_half(upper, line, true) || !native_cache_half(lower, line, false))
		return err_set(err, ERR_UNSUPPORTED, "l3.ways: '%.80s' cannot be halved", line);
	snprintf(text, sizeof text, "group %s%d", group_start, (int)getpid());
	snprintf(below, sizeof below, "/sys/fs/resctrl/%s%d", group_start, (int)getpid());
	rc = native_path(path, m->root, below, err);
	if (!rc)
		rc = note(m, text, err);
	if (!rc && mkdir(path, 0755))
		rc = err_system(err, "%s", path);
	if (rc)
		return rc;
	if (*m->root) {		/* resctrl makes a group's files; a test directory does not */
		char file[NATIVE_PATH + 16];
		for (int i = 0; i < 2; i++) {
			snprintf(file, sizeof file, "%s/%s", path, i ? "tasks" : "schemata");
			int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			if (fd >= 0)
				close(fd);
		}
	}
	snprintf(text, sizeof text, "schema %.*s", NATIVE_SCHEMA, line);
	rc = note(m, text, err);
	snprintf(text, sizeof text, "%.*s\n", NATIVE_SCHEMA, lower);
	if (!rc)
		rc = write_text(m->root, "/sys/fs/resctrl/schemata", text, err);
	snprintf(below, sizeof below, "/sys/fs/resctrl/%s%d/schemata", group_start, (int)getpid());
	snprintf(text, sizeof text, "%.*s\n", NATIVE_SCHEMA, upper);
	if (!rc)
		rc = write_text(m->root, below, text, err);
	snprintf(below, sizeof below, "/sys/fs/resctrl/%s%d/tasks", group_start, (int)getpid());
	return rc ? rc : native_path(m->tasks, m->root, below, err);
}

int native_machine_set(struct native_machine *m, const struct native_set *set, struct err *err)
{
	int rc = 0;
	for (unsigned i = 0; !rc && i < set->n; i++)
		if (native_is_machine(&set->at[i]))
			rc = set->at[i].kind == NATIVE_MSR ? set_bit(m, &set->at[i], err) : set_ways(m, err);
	if (rc)
		native_machine_reset(m, NULL);
	return rc;
}

const char *native_machine_tasks(const struct native_machine *m)
{
	return m && m->tasks[0] ? m->tasks : NULL;
}

int native_machine_reset(struct native_machine *m, struct err *err)
{
	unsigned count;
	m->tasks[0] = 0;
	if (!m->changes)
		return 0;
	int rc = undo(m->journal, m->root, m->boot, &count, err);
	if (!rc)
		m->changes = 0;
	return rc;
}

int native_machine_close(struct native_machine *m, struct err *err)
{
	if (!m)
		return 0;
	int rc = native_machine_reset(m, err);
	pid_t pid = m->guard;
	close(m->alive);
	close(m->journal);
	free(m);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) ;
	return rc;
}
