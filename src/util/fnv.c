/* SPDX-License-Identifier: GPL-2.0-or-later
 * FNV-1a, 128 bits (fnv.h). */
#include "util/fnv.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Source: draft-eastlake-fnv, "FNV Constants": prime 2^88 + 2^8 + 0x3b, offset basis
 * 144066263297769815596495629667062367629. */
void fnv_init(struct fnv *f)
{
	f->hash = (unsigned __int128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;
}

void fnv_bytes(struct fnv *f, const void *bytes, size_t n)
{
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
	const uint8_t *at = bytes;
	unsigned __int128 hash = f->hash;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * prime;
	f->hash = hash;
}

void fnv_text(struct fnv *f, const char *text)
{
	fnv_bytes(f, text, strlen(text) + 1);
}

void fnv_hex(const struct fnv *f, char hex[FNV_CHARS])
{
	snprintf(hex, FNV_CHARS, "%016llx%016llx", (unsigned long long)(f->hash >> 64), (unsigned long long)f->hash);
}

int fnv_file(struct fnv *f, const char *path, struct err *err)
{
	uint8_t buffer[65536];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_system(err, "%s: cannot be opened", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_INPUT, "%s: is not a file", path);
	}
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		fnv_bytes(f, buffer, (size_t)n);
	const int rc = n < 0 ? err_system(err, "%s: cannot be read", path) : 0;
	close(fd);
	return rc;
}
