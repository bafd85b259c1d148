/* SPDX-License-Identifier: GPL-2.0-or-later
 * The reader's side of one ring (layout in format.h).
 *
 * The control page is written by a process that may be wrong or hostile.  So we keep our own position elsewhere, and
 * use `written` only if it is aligned, has not gone back, and is at most one ring ahead.  The file's size is checked
 * once, when it is mapped; the directory is private to the user.  Records are not parsed here: the length of a
 * block's record follows from the block's definition, which the consumer keeps.
 */
#include "stream/stream_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_DATA ((uint64_t)ST_CHUNKS * ST_CHUNK_BYTES)
#define RING_FILE (ST_CONTROL_BYTES + RING_DATA)

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	/* Shared between processes: no FUTEX_PRIVATE_FLAG. */
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

int ring_map(struct ring **out, int dir_fd, uint32_t pid, uint32_t serial, struct err *err)
{
	char name[64];
	struct stat st;
	snprintf(name, sizeof name, "ring.%u.%u", pid, serial);
	int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, ERR_TRACER, "the tracer of process %u announced a ring that is not there (%s): %s",
			pid, name, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < RING_FILE) {
		close(fd);
		return err_set(err, ERR_TRACER, "the ring of process %u is too short (%s)", pid, name);
	}
	void *page = mmap(NULL, RING_FILE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int saved = errno;
	close(fd);
	if (page == MAP_FAILED) {
		errno = saved;
		return err_system(err, "the ring of process %u cannot be mapped", pid);
	}
	struct st_control *c = page;
	if (c->magic != ST_MAGIC || c->version != ST_VERSION || c->chunk_bytes != ST_CHUNK_BYTES ||
		c->chunks != ST_CHUNKS || c->pid != pid) {
		int r = c->magic == ST_MAGIC && c->version != ST_VERSION
			? err_set(err, ERR_TRACER,
				  "the tracer writes version %u of the stream, this softpmu reads version %u",
				  c->version, ST_VERSION)
			: err_set(err, ERR_TRACER, "the ring of process %u is not one of ours (%s)", pid, name);
		munmap(page, RING_FILE);
		return r;
	}
	struct ring *r = calloc(1, sizeof *r);
	if (!r) {
		munmap(page, RING_FILE);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	/* Our own bugs must not change the stream. */
	mprotect((char *)page + ST_CONTROL_BYTES, RING_DATA, PROT_READ);
	r->control = c;
	r->data = (const uint8_t *)page + ST_CONTROL_BYTES;
	r->serial = serial;
	*out = r;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r) {
		munmap(r->control, RING_FILE);
		free(r);
	}
}

int ring_take(struct ring *r, const uint64_t **words, size_t *count, struct err *err)
{
	uint64_t written = __atomic_load_n(&r->control->written, __ATOMIC_ACQUIRE);
	if (written % 8 || written < r->written || written - r->read > RING_DATA)
		return err_set(err, ERR_TRACER, "the ring of process %u is corrupt: written to %llu, read to %llu",
			       r->control->pid, (unsigned long long)written, (unsigned long long)r->read);
	r->written = written;
	if (written == r->read)
		return 0;
	uint64_t end = (r->read / ST_CHUNK_BYTES + 1) * ST_CHUNK_BYTES;
	if (end > written)
		end = written;
	*words = (const uint64_t *)(const void *)(r->data + r->read % RING_DATA);
	*count = (size_t)(end - r->read) / 8;
	r->taken = end;
	return 1;
}

/* A tracer that waits for room is woken when half of the ring is free, and not for each chunk. */
static void wake_tracer(struct ring *r)
{
	if (__atomic_load_n(&r->control->written, __ATOMIC_RELAXED) - r->read > RING_DATA / 2)
		return;
	/* Our store must come before the look at tracer_waits; the tracer does the reverse. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->control->tracer_waits, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&r->control->read_futex, 1, __ATOMIC_SEQ_CST);
		futex(&r->control->read_futex, FUTEX_WAKE, INT_MAX, NULL);
	}
}

uint32_t ring_forks(const struct ring *r)
{
	return __atomic_load_n(&r->control->forks, __ATOMIC_SEQ_CST);
}

bool ring_executes(const struct ring *r)
{
	return __atomic_load_n(&r->control->executes, __ATOMIC_SEQ_CST);
}

void ring_release(struct ring *r)
{
	if (r->taken == r->read)
		return;
	r->read = r->taken;
	__atomic_store_n(&r->control->read, r->read, __ATOMIC_RELEASE);
	wake_tracer(r);
}

void ring_set_reader_gone(struct ring *r)
{
	__atomic_store_n(&r->control->reader_gone, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->control->read_futex, 1, __ATOMIC_SEQ_CST);
	futex(&r->control->read_futex, FUTEX_WAKE, INT_MAX, NULL);
}

void ring_answer(struct ring *r, const struct st_answer *answer)
{
	r->control->answer = *answer;
	__atomic_store_n(&r->control->answered, answer->number, __ATOMIC_RELEASE);
	/* The tracer always waits for an answer. */
	futex(&r->control->answered, FUTEX_WAKE, INT_MAX, NULL);
}

bool ring_ended(const struct ring *r)
{
	return __atomic_load_n(&r->control->tracer_state, __ATOMIC_ACQUIRE) == 2;
}

int ring_wait(struct ring *r, long ns)
{
	struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
	uint32_t before = __atomic_load_n(&r->control->written_futex, __ATOMIC_SEQ_CST);
	int result = 0;
	__atomic_store_n(&r->control->reader_waits, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->control->written, __ATOMIC_ACQUIRE) == r->written && !ring_ended(r) &&
	    futex(&r->control->written_futex, FUTEX_WAIT, before, &timeout) && errno == EINTR)
		result = EINTR;
	__atomic_store_n(&r->control->reader_waits, 0, __ATOMIC_SEQ_CST);
	return result;
}
