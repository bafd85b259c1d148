/* SPDX-License-Identifier: GPL-2.0-or-later
 * The private directory of one run: <base>/softpmu-XXXXXX, mode 0700, with the rings, the announce pipe, the
 * tracer's logs, a lock file, and a link to our own program.
 *
 * The base is /dev/shm, else $TMPDIR, else /tmp: the first in which the directory can be made and the rings have room.
 * The lock is a flock(2), which the kernel drops however softpmu dies.  So a later run can tell a dead run's directory
 * from a living one's, in other PID namespaces too, and remove it.
 */
#include "stream/stream_internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "softpmu-"
enum { RING_BYTES = ST_CONTROL_BYTES + ST_CHUNKS * ST_CHUNK_BYTES, WANT_RINGS = 4 };

static void empty_directory(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(fd, e->d_name, 0);
	closedir(dir);
}

/* Removes one directory if it is ours, its owner is dead and it is old enough. */
static bool sweep_one(int base, const char *name, time_t now, int min_age_s)
{
	struct stat st;
	bool dead = false;
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_uid == geteuid()) {
		int lock = openat(fd, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (lock >= 0)
			dead = !flock(lock, LOCK_EX | LOCK_NB) && now - st.st_ctime >= min_age_s;
		else
			dead = errno == ENOENT && now - st.st_ctime >= min_age_s;
		if (dead)
			empty_directory(fd);
		if (lock >= 0)
			close(lock);
	}
	close(fd);
	return dead && !unlinkat(base, name, AT_REMOVEDIR);
}

int rundir_sweep(const char *base, int min_age_s)
{
	int gone = 0;
	struct timespec t;		/* time(2) may lag behind file time stamps; used only for the minimum age */
	DIR *dir = opendir(base);
	clock_gettime(CLOCK_REALTIME, &t);
	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));)
		if (!strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) && strlen(e->d_name) == sizeof PREFIX - 1 + 6)
			gone += sweep_one(dirfd(dir), e->d_name, t.tv_sec, min_age_s);
	closedir(dir);
	return gone;
}

/* Our own program, which tracers leave alone. */
static int link_reader(int dir)
{
	char self[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return 0;		/* no /proc */
	self[n] = 0;
	return symlinkat(self, dir, "reader");
}

static int make_in(struct rundir *d, const char *base, struct err *err)
{
	struct statvfs fs;
	d->fd = d->lock = d->announce = -1;
	if (snprintf(d->path, sizeof d->path, "%s/" PREFIX "XXXXXX", base) >= (int)sizeof d->path - 32) {
		d->path[0] = 0;
		return err_set(err, ERR_INPUT, "%.60s...: directory name too long", base);
	}
	if (statvfs(base, &fs)) {
		int r = err_system(err, "%s: no directory for the rings", base);
		d->path[0] = 0;
		return r;
	}
	if ((uint64_t)fs.f_bavail * fs.f_frsize < (uint64_t)RING_BYTES * WANT_RINGS) {
		d->path[0] = 0;
		return err_set(err, ERR_SYSTEM, "%s: no room for the rings (%u MB are needed)", base,
			       RING_BYTES * WANT_RINGS >> 20);
	}
	rundir_sweep(base, 60);
	if (!mkdtemp(d->path)) {		/* creates it with mode 0700 */
		int r = err_system(err, "%s: cannot make a directory for the rings", base);
		d->path[0] = 0;
		return r;
	}
	if ((d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    (d->lock = openat(d->fd, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ||
	    flock(d->lock, LOCK_EX | LOCK_NB) ||
	    mkfifoat(d->fd, "announce", 0600) || link_reader(d->fd) ||
	    (d->announce = openat(d->fd, "announce", O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) {
		int r = err_system(err, "%s: cannot prepare the directory for the rings", d->path);
		rundir_remove(d);
		return r;
	}
	return 0;
}

int rundir_create(struct rundir *d, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	if (!make_in(d, "/dev/shm", err))
		return 0;
	/* A % would be expanded by the tracer's --log-file. */
	if (tmp && tmp[0] == '/' && !strchr(tmp, '%') && !make_in(d, tmp, err))
		return 0;
	return make_in(d, "/tmp", err);
}

void rundir_remove(struct rundir *d)
{
	if (d->fd >= 0)
		empty_directory(d->fd);
	if (d->path[0])
		rmdir(d->path);
	if (d->announce >= 0)
		close(d->announce);
	if (d->fd >= 0)
		close(d->fd);
	if (d->lock >= 0)
		close(d->lock);
	d->fd = d->lock = d->announce = -1;
	d->path[0] = 0;
}

struct log_file {
	char name[64];
	struct timespec when;
	off_t size;
};

static int older_first(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	if (x->when.tv_sec != y->when.tv_sec)
		return x->when.tv_sec < y->when.tv_sec ? -1 : 1;
	if (x->when.tv_nsec != y->when.tv_nsec)
		return x->when.tv_nsec < y->when.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

void rundir_read_log(const struct rundir *d, char *text, size_t size)
{
	enum { MAX_LOGS = 64 };			/* the newest ones are kept: only they matter to a reader */
	struct log_file logs[MAX_LOGS];
	size_t count = 0, used = 0;
	text[0] = 0;
	int copy = d->fd < 0 ? -1 : openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		struct stat st;
		struct log_file f;
		if (strncmp(e->d_name, "log.", 4) || strlen(e->d_name) >= sizeof f.name ||
		    fstatat(d->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || !st.st_size)
			continue;
		strcpy(f.name, e->d_name);
		f.when = st.st_mtim;
		f.size = st.st_size;
		if (count == MAX_LOGS) {
			qsort(logs, count, sizeof *logs, older_first);
			if (older_first(&f, &logs[0]) < 0)
				continue;
			logs[0] = f;
		} else {
			logs[count++] = f;
		}
	}
	closedir(dir);
	qsort(logs, count, sizeof *logs, older_first);
	for (size_t i = 0; i < count; i++) {
		int fd = openat(d->fd, logs[i].name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		size_t want = (size_t)logs[i].size < size - 1 ? (size_t)logs[i].size : size - 1;
		if (fd < 0)
			continue;
		if (used + want > size - 1) {	/* the newest comes last: drop the oldest text */
			size_t drop = used + want - (size - 1);
			memmove(text, text + drop, used - drop);
			used -= drop;
		}
		ssize_t n = pread(fd, text + used, want, logs[i].size - (off_t)want);
		if (n > 0)
			used += (size_t)n;
		close(fd);
	}
	text[used] = 0;
}
