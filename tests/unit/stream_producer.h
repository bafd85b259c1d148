/* SPDX-License-Identifier: GPL-2.0-or-later
 * A stand-in for the tracer, for the stream's tests: writes rings exactly as src/stream/format.h says.
 *
 * The test program is its own tracer: tracer_dir() makes a directory with a link to it under the tracer's name, and
 * main() calls act_as_tracer() when it is started with --ring-dir.  What the "guest" does is its arguments:
 * `true SCENARIO N`.  Records are ST_NOTE with a running number and filler derived from it; the reader walks them by
 * their length words and checks every one.
 */
#ifndef STREAM_PRODUCER_H
#define STREAM_PRODUCER_H
#include "stream/stream.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };	/* for the reader, on a host that may be busy */
#define RING_BYTES_ ((uint64_t)ST_CHUNKS * ST_CHUNK_BYTES)

struct producer {
	struct st_control *c;
	uint8_t *data;
	uint64_t at;		/* written, not yet published */
	uint64_t next;		/* running number of records */
	char dir[PATH_MAX];
};

/* Length in words of record number n, header included: 2 to 40. */
static inline unsigned record_words(uint64_t n) { return 2 + (unsigned)(n * 2654435761u % 39); }
static inline uint64_t filler(uint64_t n, unsigned i) { return (n << 20 ^ i) * 0x9e3779b97f4a7c15ull; }

static inline void producer_open(struct producer *p, const char *dir, uint32_t pid, uint32_t serial)
{
	char name[PATH_MAX + 64];
	memset(p, 0, sizeof *p);
	strcpy(p->dir, dir);
	snprintf(name, sizeof name, "%s/ring.%u.%u", dir, pid, serial);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, ST_CONTROL_BYTES + (off_t)RING_BYTES_))
		_exit(99);
	p->c = mmap(NULL, ST_CONTROL_BYTES + RING_BYTES_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	p->data = (uint8_t *)p->c + ST_CONTROL_BYTES;
	p->c->magic = ST_MAGIC;
	p->c->version = ST_VERSION;
	p->c->pid = pid;
	p->c->chunk_bytes = ST_CHUNK_BYTES;
	p->c->chunks = ST_CHUNKS;
	p->c->tracer_state = 1;
}

static inline void producer_announce(struct producer *p, uint32_t pid, uint32_t serial)
{
	char name[PATH_MAX + 64];
	struct st_announce a = { ST_MAGIC, pid, 0, serial };
	snprintf(name, sizeof name, "%s/announce", p->dir);
	int fd = open(name, O_WRONLY);
	if (fd < 0 || write(fd, &a, sizeof a) != sizeof a)
		_exit(98);
	close(fd);
}

static inline void producer_publish(struct producer *p)
{
	__atomic_store_n(&p->c->written, p->at, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&p->c->reader_waits, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&p->c->written_futex, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &p->c->written_futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
}

/* Waits until the ring has room up to `end`; publishes first.  0 if the reader is gone. */
static inline int producer_room(struct producer *p, uint64_t end)
{
	while (end > __atomic_load_n(&p->c->read, __ATOMIC_ACQUIRE) + RING_BYTES_) {
		struct timespec t = { PATIENCE_S, 0 };
		uint32_t before = __atomic_load_n(&p->c->read_futex, __ATOMIC_SEQ_CST);
		producer_publish(p);
		if (p->c->reader_gone)
			return 0;
		__atomic_store_n(&p->c->tracer_waits, 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (end > __atomic_load_n(&p->c->read, __ATOMIC_ACQUIRE) + RING_BYTES_ && !p->c->reader_gone &&
		    syscall(SYS_futex, &p->c->read_futex, FUTEX_WAIT, before, &t, NULL, 0) && errno == ETIMEDOUT)
			_exit(97);	/* the reader forgot to wake us */
		p->c->tracer_waits = 0;
	}
	return 1;
}

static inline int producer_record(struct producer *p)
{
	uint64_t words[64], left = ST_CHUNK_BYTES - p->at % ST_CHUNK_BYTES;
	unsigned n = record_words(p->next);
	words[0] = ST_HEADER(ST_NOTE, n * 8);
	words[1] = p->next;
	for (unsigned i = 2; i < n; i++)
		words[i] = filler(p->next, i);
	if (left < n * 8) {
		if (!producer_room(p, p->at + left))
			return 0;
		memset(p->data + p->at % RING_BYTES_, 0xee, left);	/* void words after ST_CHUNK_END */
		*(uint64_t *)(void *)(p->data + p->at % RING_BYTES_) = ST_HEADER(ST_CHUNK_END, 0);
		p->at += left;
	}
	if (!producer_room(p, p->at + n * 8))
		return 0;
	memcpy(p->data + p->at % RING_BYTES_, words, n * 8);
	p->at += n * 8;
	p->next++;
	return 1;
}

static inline void producer_records(struct producer *p, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (!producer_record(p))
			return;
		if (i % 50 == 0)
			producer_publish(p);
	}
	producer_publish(p);
}

static inline void producer_end(struct producer *p)
{
	__atomic_store_n(&p->c->tracer_state, 2, __ATOMIC_RELEASE);
	producer_publish(p);
}

/* Publishes request `number` and waits for its answer. */
static inline void producer_ask(struct producer *p, uint32_t number)
{
	struct timespec t = { PATIENCE_S, 0 };
	uint32_t seen;
	producer_record(p);
	producer_publish(p);
	while ((seen = __atomic_load_n(&p->c->answered, __ATOMIC_ACQUIRE)) != number)
		if (syscall(SYS_futex, &p->c->answered, FUTEX_WAIT, seen, &t, NULL, 0) && errno == ETIMEDOUT)
			_exit(93);
}

static inline void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&t, NULL);
}

/* What the pretended tracer does; never returns. */
static inline void act_as_tracer(int argc, char **argv)
{
	struct producer p, q;
	const char *dir = NULL;
	int at = 1;
	for (; at < argc && argv[at][0] == '-'; at++)
		if (!strncmp(argv[at], "--ring-dir=", 11))
			dir = argv[at] + 11;
	if (!dir || at + 2 >= argc)
		_exit(96);
	const char *what = argv[at + 1];
	uint64_t n = strtoull(argv[at + 2], NULL, 10);
	uint32_t pid = (uint32_t)getpid();
	if (!strcmp(what, "silent")) {		/* dies before the program starts */
		char name[PATH_MAX + 32];
		snprintf(name, sizeof name, "%s/log.%u", dir, pid);
		FILE *f = fopen(name, "w");
		fprintf(f, "==%u== \n==%u== some remark\nvalgrind: the sky is falling\nvalgrind: more\n", pid, pid);
		fclose(f);
		_exit(1);
	}
	if (!strcmp(what, "exec2")) {
		producer_open(&p, dir, pid, 1);
		p.next = n;
		producer_announce(&p, pid, 1);
		producer_records(&p, n);
		producer_end(&p);
		_exit(5);
	}
	producer_open(&p, dir, pid, 0);
	if (!strcmp(what, "short") && truncate((snprintf(p.dir, sizeof p.dir, "%s/ring.%u.0", dir, pid), p.dir), 8192))
		_exit(95);
	strcpy(p.dir, dir);
	if (!strcmp(what, "version"))
		p.c->version = 77;
	if (!strcmp(what, "pipe")) {
		snprintf(p.dir, sizeof p.dir, "%s/announce", dir);
		int fd = open(p.dir, O_WRONLY);
		if (write(fd, "garbagegarbage", 14) != 14)
			_exit(94);
		_exit(0);
	}
	producer_announce(&p, pid, 0);
	if (!strcmp(what, "count")) {
		producer_records(&p, n);
		producer_end(&p);
		_exit(7);
	} else if (!strcmp(what, "kill")) {
		producer_records(&p, n);
		producer_record(&p);	/* not published */
		kill(getpid(), SIGKILL);
	} else if (!strcmp(what, "segv")) {	/* the guest's own death: the tracer ends in order, then dies as it did */
		producer_records(&p, n);
		producer_end(&p);
		signal(SIGSEGV, SIG_DFL);
		kill(getpid(), SIGSEGV);
	} else if (!strcmp(what, "exec")) {
		producer_records(&p, n);
		argv[at + 1] = (char *)(uintptr_t)"exec2";
		execv("/proc/self/exe", argv);
	} else if (!strcmp(what, "fork") || !strcmp(what, "forkkill")) {
		pid_t child = fork();
		if (!child) {
			producer_open(&q, dir, (uint32_t)getpid(), 0);
			producer_announce(&q, (uint32_t)getpid(), 0);
			producer_records(&q, n);
			if (!strcmp(what, "forkkill"))
				kill(getpid(), SIGKILL);
			producer_end(&q);
			_exit(0);
		}
		producer_records(&p, n);
		waitpid(child, NULL, 0);
		producer_end(&p);
		_exit(0);
	} else if (!strcmp(what, "orphan")) {	/* a followed process that outlives the program */
		if (!fork()) {
			setsid();
			producer_open(&q, dir, (uint32_t)getpid(), 0);
			producer_announce(&q, (uint32_t)getpid(), 0);
			sleep_ms(250);
			producer_records(&q, n);
			producer_end(&q);
			_exit(0);
		}
		producer_records(&p, n);
		producer_end(&p);
		_exit(0);
	} else if (!strcmp(what, "ahead")) {
		producer_records(&p, n);
		p.at += 2 * RING_BYTES_;
		producer_publish(&p);
		sleep_ms(10000);
	} else if (!strcmp(what, "back")) {
		producer_records(&p, n);
		while (__atomic_load_n(&p.c->read, __ATOMIC_ACQUIRE) != p.at)
			sleep_ms(10);
		p.at -= 64;
		producer_publish(&p);
		sleep_ms(10000);
	} else if (!strcmp(what, "odd")) {
		producer_records(&p, n);
		p.at += 3;
		producer_publish(&p);
		sleep_ms(10000);
	} else if (!strcmp(what, "ask")) {	/* n requests, each waited for; exits with the number of wrong answers */
		uint64_t wrong = 0;
		for (uint64_t i = 1; i <= n; i++) {
			producer_ask(&p, (uint32_t)i);
			wrong += p.c->answer.status != -5 || p.c->answer.value[0] != i * i || p.c->answer.value[3] != ~i;
		}
		producer_end(&p);
		_exit(wrong > 90 ? 90 : (int)wrong);
	} else if (!strcmp(what, "endless")) {
		while (!p.c->reader_gone)
			producer_records(&p, 1000);
		producer_end(&p);
		_exit(3);
	} else if (!strcmp(what, "gate")) {	/* a record, and another when the first was answered */
		producer_ask(&p, 1);
		producer_records(&p, 1);
		producer_end(&p);
		_exit(0);
	} else if (!strcmp(what, "args")) {	/* a record with our arguments and what a guest could see of us */
		char *text = (char *)p.data + sizeof(struct st_note);
		size_t used = 0;
		for (int i = 1; i < argc; i++)
			used += (size_t)sprintf(text + used, "%s\n", argv[i]);
		used += (size_t)sprintf(text + used, "LAUNCHER=%s\nLIB=%s\n", getenv("VALGRIND_LAUNCHER"), getenv("VALGRIND_LIB"));
		used += (size_t)sprintf(text + used, "PGRP=%d\n", (int)getpgrp());
		*(uint64_t *)(void *)p.data = ST_HEADER(ST_NOTE, (sizeof(struct st_note) + used + 8) / 8 * 8);
		p.at = ST_HEADER_LOW(*(uint64_t *)(void *)p.data);
		producer_publish(&p);
		producer_end(&p);
		_exit(0);
	}
	_exit(93);
}

static char tracer_path[PATH_MAX];

/* A directory with this test program under the tracers' names. */
static inline const char *tracer_dir(void)
{
	static const char *const names[] = { "softpmu-tracer-amd64-linux", "softpmu-tracer-x86-linux" };
	char self[PATH_MAX], link[PATH_MAX + 64];
	if (tracer_path[0])
		return tracer_path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		abort();
	self[n] = 0;
	strcpy(tracer_path, "/tmp/test-stream-XXXXXX");
	if (!mkdtemp(tracer_path))
		abort();
	for (size_t i = 0; i < 2; i++) {
		snprintf(link, sizeof link, "%s/%s", tracer_path, names[i]);
		if (symlink(self, link))
			abort();
	}
	return tracer_path;
}

static inline void remove_tracer_dir(void)
{
	char command[PATH_MAX + 16];
	if (tracer_path[0]) {
		snprintf(command, sizeof command, "rm -rf '%s'", tracer_path);
		if (system(command))
			abort();
	}
	tracer_path[0] = 0;
}

static inline int launch(struct stream **s, const char *what, const char *n, bool follow, const char *save, struct err *err)
{
	char *argv[] = { (char *)(uintptr_t)"true", (char *)(uintptr_t)what, (char *)(uintptr_t)n, NULL };
	struct stream_launch how = { .argv = argv, .tracer_dir = tracer_dir(), .follow = follow, .regs = true, .save = save };
	return stream_launch(s, &how, err);
}

/* What a reader saw. */
struct seen {
	uint64_t records[8], first[8];	/* per process: how many, the first's number */
	uint32_t pid[8], processes;
	uint64_t spans, idles;
	uint64_t digest;		/* of all words but void ones, process by process */
	bool killed[8];			/* its last record: ST_EXIT by SIGKILL */
	const char *wrong;		/* a record that was not what was written */
};

/* Walks one span and checks each record. */
static inline void walk(struct seen *v, const struct stream_span *span)
{
	if (span->process >= 8 || (span->process > v->processes) || !span->count) {
		v->wrong = "process index";
		return;
	}
	if (span->process == v->processes) {
		v->processes++;
		v->pid[span->process] = span->pid;
	}
	if (v->pid[span->process] != span->pid)
		v->wrong = "pid changed";
	v->spans++;
	for (size_t at = 0; at < span->count && !v->wrong;) {
		uint64_t h = span->words[at];
		if (ST_HEADER_KIND(h) == ST_CHUNK_END)
			return;
		size_t n = ST_HEADER_LOW(h) / 8;
		if (ST_HEADER_KIND(h) == ST_EXIT && n == span->count && n * 8 == sizeof(struct st_exit) && !v->killed[span->process]) {
			const struct st_exit *e = (const struct st_exit *)(const void *)span->words;
			v->killed[span->process] = e->signo == SIGKILL && !e->code;
			return;
		}
		if (v->killed[span->process] || ST_HEADER_KIND(h) != ST_NOTE || n < 2 || n > span->count - at) {
			v->wrong = "framing";
			return;
		}
		uint64_t number = span->words[at + 1], expected = v->first[span->process] + v->records[span->process];
		if (!v->records[span->process])
			expected = v->first[span->process] = number;
		if (number != expected || n != record_words(number))
			v->wrong = "order or length";
		for (size_t i = 2; i < n && !v->wrong; i++)
			if (span->words[at + i] != filler(number, (unsigned)i))
				v->wrong = "content";
		for (size_t i = 0; i < n; i++)
			v->digest += (span->words[at + i] ^ span->process) * 0x9e3779b97f4a7c15ull * (2 * number + 1 + 2 * i);
		v->records[span->process]++;
		at += n;
	}
}

/* Reads to the end or the first error (returned). */
static inline int drain(struct stream *s, struct seen *v, struct err *err)
{
	struct stream_span span;
	for (;;) {
		int r = stream_next(s, &span, err);
		if (r == STREAM_IDLE) {
			if (++v->idles > 10 * PATIENCE_S)
				return -100;
			continue;
		}
		if (r != STREAM_SPAN)
			return r;
		walk(v, &span);
		if (v->wrong)
			return -101;
	}
}
#endif
