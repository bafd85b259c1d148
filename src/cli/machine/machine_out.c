/* SPDX-License-Identifier: GPL-2.0-or-later
 * Unpacks /out of a guest (machine_linux.h): the stream of src/guest/guest_init.c.  The guest may have sent anything:
 * each folder on the way is opened by its own, and no symbolic link is followed.
 */
#include "cli/machine/machine_linux.h"
#include "guest/guest_ports.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 128 };

/* Opens the folder that holds the last word of the name, from `top` on.  -1: the name is not one that may be. */
static int open_parent(int top, char *name, const char **last)
{
	int at = dup(top);
	char *word = name;
	for (unsigned depth = 0; at >= 0; depth++) {
		char *slash = strchr(word, '/');
		if (slash)
			*slash = 0;
		if (!word[0] || !strcmp(word, ".") || !strcmp(word, "..") || depth > DEPTH)
			break;
		if (!slash) {
			*last = word;
			return at;
		}
		const int below = openat(at, word, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = below;
		word = slash + 1;
	}
	if (at >= 0)
		close(at);
	errno = EINVAL;
	return -1;
}

/* Copies `bytes` from the stream; fd -1: skips them.  ERR_TRUNCATED, ERR_SYSTEM. */
static int copy(FILE *in, int fd, uint64_t bytes)
{
	static char data[1 << 16];
	while (bytes) {
		const size_t n = bytes < sizeof data ? bytes : sizeof data;
		if (fread(data, 1, n, in) != n)
			return ERR_TRUNCATED;
		if (fd >= 0 && write(fd, data, n) != (ssize_t)n)
			return ERR_SYSTEM;
		bytes -= n;
	}
	return 0;
}

static int one(FILE *in, int top, const struct guest_file *f, char *name)
{
	char target[PATH_MAX];
	const char *last = NULL;
	int rc = 0;
	const int at = open_parent(top, name, &last);
	if (at < 0)
		return ERR_INPUT;
	switch (f->mode & S_IFMT) {
	case S_IFDIR:
		rc = mkdirat(at, last, 0700 | (f->mode & 0777)) && errno != EEXIST ? ERR_SYSTEM :
			copy(in, -1, f->data_bytes);
		break;
	case S_IFLNK:
		if (f->data_bytes >= sizeof target || fread(target, 1, f->data_bytes, in) != f->data_bytes) {
			rc = ERR_TRUNCATED;
			break;
		}
		target[f->data_bytes] = 0;
		unlinkat(at, last, 0);
		rc = symlinkat(target, at, last) ? ERR_SYSTEM : 0;
		break;
	case S_IFREG: {
		unlinkat(at, last, 0);
		const int fd = openat(at, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0200 | (f->mode & 0777));
		rc = fd < 0 ? ERR_SYSTEM : copy(in, fd, f->data_bytes);
		if (fd >= 0)
			close(fd);
		break;
	}
	default:
		rc = ERR_INPUT;
	}
	close(at);
	return rc;
}

int machine_out(const char *stream, const char *folder, struct err *err)
{
	struct guest_file f;
	char name[PATH_MAX], shown[PATH_MAX];
	if (mkdir(folder, 0777) && errno != EEXIST)
		return err_system(err, "%s", folder);
	const int top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FILE *in = top < 0 ? NULL : fopen(stream, "r");
	if (top < 0)
		return err_system(err, "%s", folder);
	size_t n;
	int rc = 0;
	while (in && !rc && (n = fread(&f, 1, sizeof f, in))) {
		if (n < sizeof f || !f.name_bytes || f.name_bytes >= sizeof name ||
			fread(name, 1, f.name_bytes, in) != f.name_bytes) {
			rc = err_set(err, ERR_INPUT, "%s: the guest's /out did not come whole", folder);
			break;
		}
		name[f.name_bytes] = 0;
		strcpy(shown, name);
		rc = one(in, top, &f, name);
		if (rc == ERR_SYSTEM)
			err_system(err, "%s/%s", folder, shown);
		else if (rc)
			err_set(err, rc, rc == ERR_TRUNCATED ? "%s: the guest's /out did not come whole" :
				"%s: a file of the guest's /out has a name or a kind that is not taken", folder);
	}
	if (in)				/* no stream: the machine stopped before */
		fclose(in);
	close(top);
	return rc;
}
