/* SPDX-License-Identifier: GPL-2.0-or-later
 * A reader of the tracer's rings for its tests and for the benchmarks: runs a program under the tracer, counts the
 * records of the stream, checks the stream's rules, prints "name value" lines.  Shares only stream/format.h with
 * softpmu.
 *
 *   trace_count [-r] [-f] [-d] [-x] [-s] [-L DIR] [-o FILE] program [argument...]
 *   -r registers   -f follow children   -d dump the side records   -s print MIPS   -L the tracer's directory
 *   -x check: replay register writes and compare with every ST_REGS   -o write the figures there, not to stderr
 *   -a BEGIN:END:DATA (hex)  print the accesses of each instruction executed in [BEGIN, END): kind (L load, S store,
 *         M both, P prefetch), size, flags (c conditional, a atomic, h helper), address - DATA or "undone"; with -r
 *           also
 *         its register writes: R, register number, offset, size, value
 *   -k N  stop reading after N records (the program must run on)   -w  read slowly (the tracer must wait)
 *
 * A violated rule prints a line that begins with BAD and makes the exit status 3; otherwise it is the program's own.
 */
#include "stream/format.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#undef si_addr		/* signal.h makes a macro of it; it is a field of st_signal here */

#define X64 PRIx64
#define U64 PRIu64
#define RING_BYTES (ST_CONTROL_BYTES + (size_t)ST_CHUNKS * ST_CHUNK_BYTES)
#define MAX_RINGS 4096
#define MAX_TIDS 512

struct exit_count { uint32_t words, insns; uint8_t repeat; uint64_t taken; };
struct block {
	struct st_block_def *def;	/* NULL: unknown id */
	struct exit_count *exits;
};
struct registers { bool known; uint64_t gpr[16]; };

struct process {
	struct st_control *c;
	uint32_t pid, serial;
	uint64_t pos;
	bool ended, begun, exited, gone;
	struct block *blocks;
	uint32_t n_blocks, tid, os_tid[MAX_TIDS];
	struct registers regs[MAX_TIDS];
	uint8_t word_bytes;
	bool in_syscall[MAX_TIDS];
};

static struct process ring[MAX_RINGS];
static int n_rings;
static char dir[64];
static bool want_regs, follow, dump, check, speed, slow;
static uint64_t stop_after, probe_begin, probe_end, probe_data;
static FILE *out;

static struct {
	uint64_t records, blocks, defs, cuts, cut_insns, begun, repeats, load, store, loadstore, prefetch, reg,
		undone, atomic, helper, side[ST_KINDS], bytes, regs_checked;
} total;
static int bad_lines;

static void bad(const char *format, ...)
{
	va_list args;

	if (bad_lines++ > 20)
		return;
	va_start(args, format);
	fputs("BAD ", out);
	vfprintf(out, format, args);
	fputc('\n', out);
	va_end(args);
}

static struct st_insn_def *insns_of(const struct st_block_def *d) { return (struct st_insn_def *)(d + 1); }
static struct st_slot *slots_of(const struct st_block_def *d) { return (struct st_slot *)(insns_of(d) + d->insns); }
static struct st_exit_def *exits_of(const struct st_block_def *d)
{
	return (struct st_exit_def *)(slots_of(d) + d->slots);
}

static void define(struct process *p, const struct st_block_def *d, uint32_t bytes)
{
	size_t want = sizeof *d + d->insns * sizeof(struct st_insn_def) + d->slots * sizeof(struct st_slot) +
		      d->exits * sizeof(struct st_exit_def);

	if (bytes != want || !d->insns) {
		bad("block %u: %u bytes, its counts say %zu; %u instructions", d->id, bytes, want, d->insns);
		return;
	}
	if (d->id >= p->n_blocks) {
		uint32_t n = d->id + 4096;
		p->blocks = realloc(p->blocks, n * sizeof *p->blocks);
		memset(p->blocks + p->n_blocks, 0, (n - p->n_blocks) * sizeof *p->blocks);
		p->n_blocks = n;
	}
	struct block *b = &p->blocks[d->id];
	if (b->def) {
		bad("block %u defined twice", d->id);
		return;
	}
	b->def = malloc(bytes);
	memcpy(b->def, d, bytes);
	b->exits = calloc(d->exits + 1u, sizeof *b->exits);
	for (unsigned i = 0; i < d->exits; i++) {
		const struct st_exit_def *e = &exits_of(d)[i];
		b->exits[i] = (struct exit_count){ 1u + e->slots, e->insns, e->jump == ST_JUMP_REPEAT, 0 };
		if (e->insns > d->insns || e->slots > d->slots || !e->insns)
			bad("block %u exit %u: %u instructions, %u slots of %u, %u", d->id, i, e->insns, e->slots,
			    d->insns, d->slots);
		if (e->slots < d->slots && slots_of(d)[e->slots].insn + 1u < e->insns)
			bad("block %u exit %u: leaves slots out", d->id, i);
	}
	for (unsigned i = 0; i < d->slots; i++)
		if (slots_of(d)[i].insn >= d->insns || (i && slots_of(d)[i].insn < slots_of(d)[i - 1].insn))
			bad("block %u slot %u: instruction %u", d->id, i, slots_of(d)[i].insn);
	for (unsigned i = 0; i < d->insns; i++)
		if (insns_of(d)[i].len < 1 || insns_of(d)[i].len > 15)
			bad("block %u instruction %u: %u bytes long", d->id, i, insns_of(d)[i].len);
	total.defs++;
}

static void print_access(const struct st_slot *s, uint64_t value)
{
	if (s->kind == ST_SLOT_REG) {
		if (s->reg < 16)	/* the flags thunk belongs to the translator */
			fprintf(out, "R %u %u %u %" X64 "\n", s->reg, s->offset, s->size, value);
		return;
	}
	fprintf(out, "%c %u %s%s%s ", s->kind == ST_SLOT_LOAD ? 'L' : s->kind == ST_SLOT_STORE ? 'S' :
		s->kind == ST_SLOT_PREFETCH ? 'P' : 'M', s->size, s->flags & ST_SLOT_COND ? "c" : "",
		s->flags & ST_SLOT_ATOMIC ? "a" : "", s->flags & ST_SLOT_HELPER ? "h" : "");
	if ((s->flags & ST_SLOT_COND) && value == ST_NOT_DONE)
		fprintf(out, "undone\n");
	else
		fprintf(out, "%" PRId64 "\n", (int64_t)(value - probe_data));
}

static void count_slots(struct process *p, const struct st_block_def *d, const uint64_t *value, unsigned n)
{
	const struct st_slot *s = slots_of(d);
	struct registers *r = &p->regs[p->tid % MAX_TIDS];

	for (unsigned i = 0; i < n; i++) {
		uint64_t at = insns_of(d)[s[i].insn].addr;
		if (at >= probe_begin && at < probe_end)
			print_access(&s[i], value[i]);
		if ((s[i].flags & ST_SLOT_COND) && value[i] == ST_NOT_DONE) {
			total.undone++;
			continue;
		}
		total.load += s[i].kind == ST_SLOT_LOAD;
		total.store += s[i].kind == ST_SLOT_STORE;
		total.loadstore += s[i].kind == ST_SLOT_LOADSTORE;
		total.prefetch += s[i].kind == ST_SLOT_PREFETCH;
		total.reg += s[i].kind == ST_SLOT_REG;
		total.atomic += !!(s[i].flags & ST_SLOT_ATOMIC);
		total.helper += !!(s[i].flags & ST_SLOT_HELPER);
		if (s[i].kind == ST_SLOT_REG && s[i].reg < 16) {
			uint64_t mask = s[i].size == 8 ? ~0ull : (1ull << (8 * s[i].size)) - 1;
			if (value[i] & ~mask)
				bad("block %u slot %u: %#" X64 " in %u bytes", d->id, i, value[i], s[i].size);
			mask <<= 8 * s[i].offset;
			uint64_t *g = &r->gpr[s[i].reg];
			*g = (*g & ~mask) | (value[i] << (8 * s[i].offset));
		} else if (s[i].kind != ST_SLOT_REG && p->c && value[i] < 4096) {
			bad("block %u slot %u at instruction %#" X64 ": address %#" X64, d->id, i,
			    insns_of(d)[s[i].insn].addr, value[i]);
		}
	}
}

static void print_text(const char *what, const char *s, size_t n)
{
	fprintf(out, " %s=", what);
	for (size_t i = 0; i < n; i++)
		fputc(s[i] ? s[i] : i + 1 < n ? ' ' : 0, out);
}

static void dump_side(struct process *p, unsigned kind, const uint64_t *w)
{
	const void *v = w;

	fprintf(out, "%u.%u ", p->pid, p->serial);
	switch (kind) {
	case ST_PROCESS: {
		const struct st_process *s = v;
		fprintf(out, "PROCESS parent=%u word=%u regs=%u exec=%u entry=%#" X64, s->parent_pid, s->word_bytes,
			s->has_regs, s->is_exec, s->entry);
		print_text("path", (const char *)(s + 1), s->path_bytes - 1);
		print_text("argv", (const char *)(s + 1) + s->path_bytes, s->argv_bytes - 1);
		break;
	}
	case ST_SWITCH: case ST_THREAD_START: case ST_THREAD_EXIT: {
		const struct st_thread *s = v;
		fprintf(out, "%s tid=%u os=%u parent=%u",
			kind == ST_SWITCH	  ? "SWITCH"
			: kind == ST_THREAD_START ? "THREAD_START"
						  : "THREAD_EXIT",
			s->tid, s->os_tid, s->parent_tid);
		break;
	}
	case ST_MAP: {
		const struct st_map *s = v;
		fprintf(out,
			"MAP %#" X64 "+%#" X64 " %c%c%c off=%#" X64 " dev=%x:%x ino=%" U64 "%s%s%s id=", s->addr,
			s->bytes, s->prot & 1 ? 'r' : '-', s->prot & 2 ? 'w' : '-', s->prot & 4 ? 'x' : '-',
			s->offset, s->dev_major, s->dev_minor, s->inode, s->is_stack ? " stack" : "",
			s->is_heap ? " heap" : "", s->is_huge ? " huge" : "");
		for (int i = 0; i < s->build_id_bytes; i++)
			fprintf(out, "%02x", s->build_id[i]);
		print_text("path", (const char *)(s + 1), s->path_bytes - 1);
		break;
	}
	case ST_UNMAP: case ST_DISCARD: {
		const struct st_range *s = v;
		fprintf(out, "%s %#" X64 "+%#" X64, kind == ST_UNMAP ? "UNMAP" : "DISCARD", s->addr, s->bytes);
		break;
	}
	case ST_SIGNAL: {
		const struct st_signal *s = v;
		fprintf(out, "SIGNAL %d code=%d ip=%#" X64 " handler=%#" X64 " addr=%#" X64 " bytes=", s->signo,
			s->si_code, s->ip, s->handler, s->si_addr);
		for (int i = 0; i < 16; i++)
			fprintf(out, "%02x", s->code[i]);
		break;
	}
	case ST_SYSCALL: case ST_SYSCALL_RET: {
		const struct st_syscall *s = v;
		fprintf(out, "%s %" PRIu64, kind == ST_SYSCALL ? "SYSCALL" : "RET", s->number);
		if (kind == ST_SYSCALL)
			fprintf(out, " (%#" X64 ", %#" X64 ", %#" X64 ")", s->arg[0], s->arg[1], s->arg[2]);
		else
			fprintf(out, " = %#" X64 "%s%s", s->result, s->is_error ? " error" : "",
				s->blocked ? " blocked" : "");
		break;
	}
	case ST_COMM: fprintf(out, "COMM %.16s", ((const struct st_name *)v)->name); break;
	case ST_REGS: {
		const struct st_regs *s = v;
		fprintf(out, "REGS ip=%#" X64 " sp=%#" X64 " flags=%#" X64, s->ip, s->gpr[4], s->flags);
		break;
	}
	case ST_FORK:
		fprintf(out, "FORK child=%u followed=%u", ((const struct st_fork *)v)->child_pid,
			((const struct st_fork *)v)->followed);
		break;
	case ST_EXIT:
		fprintf(out, "EXIT code=%d signo=%d", ((const struct st_exit *)v)->code,
			((const struct st_exit *)v)->signo);
		break;
	case ST_NOTE: fprintf(out, "NOTE %u", ((const struct st_note *)v)->severity);
		print_text("text", (const char *)((const struct st_note *)v + 1),
			   ((const struct st_note *)v)->text_bytes - 1);
		break;
	case ST_BLOCK_DEF: {
		const struct st_block_def *s = v;
		fprintf(out, "BLOCK_DEF %u at %#" X64 ": %u instructions, %u slots, %u exits", s->id,
			insns_of(s)->addr, s->insns, s->slots, s->exits);
		break;
	}
	default: fprintf(out, "kind %u", kind);
	}
	fputc('\n', out);
}

static void regs_record(struct process *p, const struct st_regs *s)
{
	struct registers *r = &p->regs[p->tid % MAX_TIDS];

	if (check && r->known) {
		for (int i = 0; i < 16; i++) {
			/* A system call itself writes RAX (the result), RCX and R11; there is no slot for that. */
			if (p->in_syscall[p->tid % MAX_TIDS] && (i == 0 || i == 1 || i == 11))
				continue;
			if (r->gpr[i] != s->gpr[i])
				bad("process %u thread %u at %#" X64 ": register %d is %#" X64
				    ", its writes say %#" X64,
				    p->pid, p->tid, s->ip, i, s->gpr[i], r->gpr[i]);
		}
		total.regs_checked++;
	}
	p->in_syscall[p->tid % MAX_TIDS] = false;
	memcpy(r->gpr, s->gpr, sizeof r->gpr);
	r->known = true;
}

/* There is no model here: -100, SPMU_CLIENT_ABSENT. */
static void answer(struct process *p, const struct st_client *request)
{
	if (!request->number)
		return;
	p->c->answer = (struct st_answer){ .number = request->number, .status = -100 };
	__atomic_store_n(&p->c->answered, request->number, __ATOMIC_RELEASE);
	syscall(SYS_futex, &p->c->answered, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void side_record(struct process *p, unsigned kind, const uint64_t *w, uint32_t bytes)
{
	total.side[kind]++;
	if (dump)
		dump_side(p, kind, w);
	if (!p->begun && kind != ST_PROCESS)
		bad("process %u begins with kind %u", p->pid, kind);
	switch (kind) {
	case ST_BLOCK_DEF: define(p, (const void *)w, bytes); total.side[kind]--; break;
	case ST_PROCESS:
		if (p->begun)
			bad("process %u has two beginnings in one ring", p->pid);
		p->begun = true;
		p->word_bytes = ((const struct st_process *)w)->word_bytes;
		break;
	case ST_SWITCH: p->tid = ((const struct st_thread *)w)->tid; break;
	case ST_THREAD_START: p->regs[((const struct st_thread *)w)->tid % MAX_TIDS].known = false; break;
	case ST_REGS: regs_record(p, (const void *)w); break;
	case ST_SYSCALL: {	/* rt_sigreturn, or i386's two of them, restore every register */
		uint64_t n = ((const struct st_syscall *)w)->number;
		if (p->word_bytes == 8 ? n == 15 : n == 119 || n == 173)
			p->regs[p->tid % MAX_TIDS].known = false;
		break;
	}
	case ST_SYSCALL_RET: p->in_syscall[p->tid % MAX_TIDS] = true; break;
	case ST_SIGNAL: p->regs[p->tid % MAX_TIDS].known = false; break; /* the frame moves RSP and the arguments */
	case ST_EXIT: p->exited = true; break;
	case ST_CLIENT: answer(p, (const void *)w); break;
	}
}

/* Reads the records in the `n` words at `w`: all of a published chunk. */
static void walk(struct process *p, const uint64_t *w, size_t n)
{
	size_t at = 0;

	while (at < n) {
		uint64_t h = w[at];
		unsigned kind = ST_HEADER_KIND(h);
		uint32_t id = ST_HEADER_LOW(h);
		total.records++;
		if (kind == ST_BLOCK) {
			struct block *b = id < p->n_blocks ? &p->blocks[id] : NULL;
			if (!b || !b->def || ST_HEADER_EXIT(h) >= b->def->exits) {
				bad("process %u position %" U64 ": block %u exit %u", p->pid, p->pos + at * 8, id,
				    ST_HEADER_EXIT(h));
				return;
			}
			struct exit_count *e = &b->exits[ST_HEADER_EXIT(h)];
			e->taken++;
			if (!speed)
				count_slots(p, b->def, w + at + 1, e->words - 1);
			at += e->words;
		} else if (kind == ST_BLOCK_CUT) {
			struct block *b = id < p->n_blocks ? &p->blocks[id] : NULL;
			unsigned done = ST_HEADER_EXIT(h), slots = 0;
			if (!b || !b->def || done > b->def->insns) {
				bad("process %u: block %u cut after %u", p->pid, id, done);
				return;
			}
			while (slots < b->def->slots && slots_of(b->def)[slots].insn < done)
				slots++;
			total.cuts++;
			total.cut_insns += done;
			count_slots(p, b->def, w + at + 1, slots);
			at += 1 + slots;
		} else if (kind == ST_CHUNK_END) {
			return;
		} else {
			uint32_t bytes = id;
			if (kind <= ST_BLOCK_OPEN || kind >= ST_KINDS || bytes < 8 || bytes % 8 ||
			    bytes / 8 > n - at) {
				bad("process %u position %" U64 ": header %#" X64, p->pid, p->pos + at * 8, h);
				return;
			}
			side_record(p, kind, w + at, bytes);
			at += bytes / 8;
		}
	}
	if (at != n)
		bad("process %u: a record crosses the end of what is published", p->pid);
}

static bool drain(struct process *p)
{
	struct st_control *c = p->c;
	uint64_t written = __atomic_load_n(&c->written, __ATOMIC_ACQUIRE);

	if (p->ended || written == p->pos)
		return false;
	uint64_t chunk_end = (p->pos / ST_CHUNK_BYTES + 1) * ST_CHUNK_BYTES;
	uint64_t to = written < chunk_end ? written : chunk_end;
	const uint8_t *ring_bytes = (const uint8_t *)c + ST_CONTROL_BYTES;
	walk(p, (const uint64_t *)(ring_bytes + p->pos % (ST_CHUNKS * (uint64_t)ST_CHUNK_BYTES)), (to - p->pos) / 8);
	total.bytes += to - p->pos;
	p->pos = to;
	if (slow)
		usleep(20000);
	__atomic_store_n(&c->read, to, __ATOMIC_RELEASE);
	__sync_synchronize();
	if (__atomic_load_n(&c->tracer_waits, __ATOMIC_RELAXED)) {
		__atomic_add_fetch(&c->read_futex, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &c->read_futex, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return true;
}

static void announced(const struct st_announce *a)
{
	char path[128];
	struct process *p = &ring[n_rings];

	if (a->magic != ST_MAGIC || n_rings == MAX_RINGS) {
		bad("announce of pid %u", a->pid);
		return;
	}
	snprintf(path, sizeof path, "%s/ring.%u.%u", dir, a->pid, a->serial);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	p->c = fd < 0 ? MAP_FAILED : mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p->c == MAP_FAILED) {
		bad("%s: %s", path, strerror(errno));
		return;
	}
	close(fd);
	unlink(path);
	if (p->c->magic != ST_MAGIC || p->c->version != ST_VERSION || p->c->pid != a->pid ||
	    p->c->chunks != ST_CHUNKS)
		bad("%s: control page", path);
	p->pid = a->pid;
	p->serial = a->serial;
	n_rings++;
}

static void wait_for_more(struct process *p)
{
	struct timespec t = { 0, 2000000 };

	if (!p) {
		nanosleep(&t, NULL);
		return;
	}
	uint32_t seen = __atomic_load_n(&p->c->written_futex, __ATOMIC_ACQUIRE);
	__atomic_store_n(&p->c->reader_waits, 1, __ATOMIC_SEQ_CST);
	__sync_synchronize();
	if (__atomic_load_n(&p->c->written, __ATOMIC_ACQUIRE) == p->pos)
		syscall(SYS_futex, &p->c->written_futex, FUTEX_WAIT, seen, &t, NULL, 0);
	__atomic_store_n(&p->c->reader_waits, 0, __ATOMIC_SEQ_CST);
}

static void finish(struct process *p)
{
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct block *b = &p->blocks[i];
		for (unsigned e = 0; b->def && e < b->def->exits; e++) {
			total.blocks += b->exits[e].taken;
			total.begun += b->exits[e].taken * b->exits[e].insns;
			total.repeats += b->exits[e].repeat ? b->exits[e].taken : 0;
		}
	}
}

static int launch(char **argv, const char *tracer_dir, int word, pid_t *pid)
{
	char tracer[4200], ring_dir[128], log[128];
	char *args[256];
	int n = 0;

	snprintf(tracer, sizeof tracer, "%s/softpmu-tracer-%s-linux", tracer_dir, word == 4 ? "x86" : "amd64");
	snprintf(ring_dir, sizeof ring_dir, "--ring-dir=%s", dir);
	snprintf(log, sizeof log, "--log-file=%s/log.%%p", dir);
	args[n++] = tracer;
	args[n++] = "--command-line-only=yes";
	args[n++] = ring_dir;
	args[n++] = want_regs ? "--regs=yes" : "--regs=no";
	args[n++] = follow ? "--trace-children=yes" : "--trace-children=no";
	args[n++] = "-q";
	args[n++] = log;
	for (char *extra = getenv("TRACE_OPTIONS"); extra && (extra = strtok(n == 8 ? extra : NULL, " ")) && n < 30;)
		args[n++] = extra;
	for (int i = 0; argv[i] && n < 255; i++)
		args[n++] = argv[i];
	args[n] = NULL;
	*pid = fork();
	if (*pid == 0) {
		char launcher[4200];
		snprintf(launcher, sizeof launcher, "%s/softpmu-exec", tracer_dir);
		unsetenv("TRACE_OPTIONS");
		setenv("VALGRIND_LAUNCHER", launcher, 1);
		setenv("VALGRIND_LIB", "/usr/libexec/valgrind", 1);
		execv(tracer, args);
		_exit(127);
	}
	return *pid > 0 ? 0 : -1;
}

static int elf_word(const char *path)
{
	unsigned char head[20] = { 0 };
	FILE *f = fopen(path, "r");

	if (f) {
		if (fread(head, 1, sizeof head, f) < 5)
			head[4] = 0;
		fclose(f);
	}
	return head[0] == 0x7f && head[4] == 1 ? 4 : 8;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_log(void)
{
	char command[128];

	snprintf(command, sizeof command, "cat %s/log.* 2>/dev/null", dir);
	FILE *f = popen(command, "r");
	char line[1024];
	while (f && fgets(line, sizeof line, f))
		fprintf(out, "LOG %s", line);
	if (f)
		pclose(f);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command))
		fprintf(out, "cannot remove %s\n", dir);
}

int main(int argc, char **argv)
{
	char tracer_dir[4096] = "", fifo[128];
	int opt, status = 0;
	bool reaped = false, gone = false;
	pid_t pid;

	out = stderr;
	while ((opt = getopt(argc, argv, "+rfdxswL:o:k:a:")) != -1) {
		switch (opt) {
		case 'r': want_regs = true; break;
		case 'f': follow = true; break;
		case 'd': dump = true; break;
		case 'x': check = want_regs = true; break;
		case 's': speed = true; break;
		case 'w': slow = true; break;
		case 'k': stop_after = strtoull(optarg, NULL, 0); break;
		case 'a':
			if (sscanf(optarg, "%" SCNx64 ":%" SCNx64 ":%" SCNx64, &probe_begin, &probe_end,
				   &probe_data) != 3)
				return 2;
			break;
		case 'L': snprintf(tracer_dir, sizeof tracer_dir, "%s", optarg); break;
		case 'o': out = fopen(optarg, "w"); if (!out) return 2; break;
		default: return 2;
		}
	}
	if (optind >= argc)
		return 2;
	if (!tracer_dir[0]) {	/* build/tests/programs/trace_count -> build/libexec */
		ssize_t n = readlink("/proc/self/exe", tracer_dir, sizeof tracer_dir - 32);
		tracer_dir[n > 0 ? n : 0] = 0;
		char *tests = strstr(tracer_dir, "/tests/programs/");
		strcpy(tests ? tests : tracer_dir, "/libexec");
	}
	strcpy(dir, access("/dev/shm", W_OK) ? "/tmp/trace_count.XXXXXX" : "/dev/shm/trace_count.XXXXXX");
	if (!mkdtemp(dir))
		return 2;
	snprintf(fifo, sizeof fifo, "%s/announce", dir);
	if (mkfifo(fifo, 0600))
		return 2;
	int announce = open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	double start = now();
	if (launch(argv + optind, tracer_dir, elf_word(argv[optind]), &pid))
		return 2;
	signal(SIGINT, SIG_IGN);	/* Ctrl-C is for the program */
	for (int quiet = 0;;) {
		struct st_announce a;
		bool moved = false;
		while (read(announce, &a, sizeof a) == sizeof a)
			announced(&a), moved = true;
		for (int i = 0; i < n_rings && !gone; i++)
			while (drain(&ring[i])) {
				moved = true;
				if (stop_after && total.records >= stop_after) {
					for (int j = 0; j < n_rings; j++)
						ring[j].c->reader_gone = 1;
					gone = true;
					break;
				}
			}
		if (gone)
			for (int i = 0; i < n_rings; i++)
				ring[i].c->reader_gone = 1;
		if (moved && !gone) {
			quiet = 0;
			continue;
		}
		bool alive = !reaped;
		for (int i = 0; i < n_rings && follow; i++)
			alive |= !ring[i].exited && ring[i].c->tracer_state != 2 && kill((pid_t)ring[i].pid, 0) == 0;
		if (!alive && quiet++ > 1)
			break;
		wait_for_more(n_rings == 1 && !reaped ? &ring[0] : NULL);
		if (!reaped && waitpid(pid, &status, WNOHANG) == pid)
			reaped = true;
	}
	double took = now() - start;
	int exits = 0;
	for (int i = 0; i < n_rings; i++) {
		finish(&ring[i]);
		exits += ring[i].exited;
		if (!ring[i].exited && ring[i].c->tracer_state != 2 && !gone)
			bad("process %u.%u: no end", ring[i].pid, ring[i].serial);
	}
	fprintf(out, "begun %" U64 "\nrepeats %" U64 "\nretired %" U64 "\n", total.begun + total.cut_insns,
		total.repeats, total.begun + total.cut_insns - total.repeats);
	fprintf(out, "blocks %" U64 "\ndefs %" U64 "\ncuts %" U64 "\n", total.blocks, total.defs, total.cuts);
	if (!speed)
		fprintf(out,
			"loads %" U64 "\nstores %" U64 "\nloadstores %" U64 "\nprefetches %" U64 "\nundone %" U64
			"\natomic %" U64 "\nhelper %" U64 "\nregs %" U64 "\n",
			total.load, total.store, total.loadstore, total.prefetch, total.undone, total.atomic,
			total.helper, total.reg);
	fprintf(out,
		"rings %d\nexits %d\nthreads %" U64 "\nswitches %" U64 "\nmaps %" U64 "\nunmaps %" U64
		"\ndiscards %" U64 "\nsignals %" U64 "\nsyscalls %" U64 "\nforks %" U64 "\nnotes %" U64
		"\nregs_checked %" U64 "\nbytes %" U64 "\n",
		n_rings, exits, total.side[ST_THREAD_START], total.side[ST_SWITCH], total.side[ST_MAP],
		total.side[ST_UNMAP], total.side[ST_DISCARD], total.side[ST_SIGNAL], total.side[ST_SYSCALL],
		total.side[ST_FORK], total.side[ST_NOTE], total.regs_checked, total.bytes);
	if (speed) {
		/* The tracer's own CPU time, which does not depend on the machine's load. */
		struct rusage u;
		getrusage(RUSAGE_CHILDREN, &u);
		double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			     1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
		double insns = (double)(total.begun - total.repeats) / 1e6;
		fprintf(out, "seconds %.3f\nmips %.1f\ntracer_cpu_seconds %.3f\ntracer_cpu_mips %.1f\n", took,
			insns / took, cpu, insns / cpu);
	}
	fprintf(out, "status %d\nsignal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (!n_rings)
		bad("no process announced itself");
	print_log();
	if (bad_lines)
		return 3;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
