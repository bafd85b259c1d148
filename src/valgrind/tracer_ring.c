/* SPDX-License-Identifier: GPL-2.0-or-later
 * The ring file of this process: room for records, publishing, waiting for the reader, the announce pipe.
 *
 * When the ring is full, the tracer waits in steps, and keeps the lock (no other thread could write either).  Between
 * steps it looks whether there is still a reader: if nobody has the announce pipe open, or reader_gone is set, there is
 * none.  Then, as for a forked child that is not followed, records go to one chunk of private memory, again and again,
 * and the program runs on.
 */
#include "tracer.h"
#include "core_private.h"

#define RING_BYTES ((ULong)ST_CHUNKS * ST_CHUNK_BYTES)
#define PUBLISH_BYTES (ST_CHUNK_BYTES / 2)	/* publish at least this often */
#define WAIT_NS 50000000			/* one step of waiting */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

struct ring ring;
struct settings settings;
UInt live_threads;
SizeT largest_block_bytes = 512;

#if defined(VGA_amd64)
#define EVC_COUNTER offsetof(VexGuestAMD64State, host_EvC_COUNTER)
#else
#define EVC_COUNTER offsetof(VexGuestX86State, host_EvC_COUNTER)
#endif

static SysRes futex(UInt *word, Int op, UInt value, struct vki_timespec *timeout)
{
	return VG_(do_syscall)(__NR_futex, (RegWord)word, (RegWord)op, value, (RegWord)timeout, 0, 0, 0, 0);
}

void ring_make_scratch(void)
{
	static UChar *scratch;	/* kept for the life of the process; its content is never read */

	if (!scratch) {
		SysRes res = VG_(am_mmap_anon_float_valgrind)(ST_CHUNK_BYTES);
		if (sr_isError(res))
			VG_(tool_panic)("no memory for a scratch chunk");
		scratch = (UChar *)(Addr)sr_Res(res);
	}
	if (ring.control)
		VG_(am_munmap_valgrind)((Addr)ring.control, ST_CONTROL_BYTES + RING_BYTES);
	ring.control = NULL;
	ring.chunk = ring.ptr = scratch;
	ring.end = scratch + ST_CHUNK_BYTES;
}

static void path_in_dir(HChar *out, SizeT size, const HChar *name)
{
	VG_(snprintf)(out, (Int)size, "%s/%s", settings.dir, name);
}

static Int announce_open(void)
{
	HChar path[VKI_PATH_MAX];

	path_in_dir(path, sizeof path, "announce");
	SysRes res = VG_(open)(path, VKI_O_WRONLY | VKI_O_NONBLOCK | O_CLOEXEC_, 0);
	return sr_isError(res) ? -1 : VG_(safe_fd)((Int)sr_Res(res));
}

Bool ring_reader_lives(void)
{
	if (!ring.control || ring.control->reader_gone)
		return False;
	Int fd = announce_open();	/* ENXIO: nobody has it open for reading; ENOENT: the directory is gone */
	if (fd < 0)
		return False;
	VG_(close)(fd);
	return True;
}

static Bool announce(UInt serial)
{
	struct st_announce a = { ST_MAGIC, (UInt)VG_(getpid)(), (UInt)VG_(getppid)(), serial };

	for (UInt tries = 0; tries < 1000; tries++) {
		Int fd = announce_open();
		if (fd < 0)
			return False;
		Int n = VG_(write)(fd, &a, sizeof a);
		VG_(close)(fd);
		if (n == (Int)sizeof a)
			return True;
		/* The pipe is full: thousands of processes were announced that the reader has not seen yet. */
		VG_(poll)(NULL, 0, 10);
	}
	return False;
}

Bool ring_create(void)
{
	HChar path[VKI_PATH_MAX], name[64];
	SysRes res;

	VG_(sprintf)(name, "ring.%d.%d", VG_(getpid)(), settings.serial);
	path_in_dir(path, sizeof path, name);
	if (ring.control)
		ring_make_scratch();	/* a forked child releases its parent's ring */
	res = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL | O_CLOEXEC_, 0600);
	if (sr_isError(res)) {
		VG_(umsg)("cannot create %s: error %lu\n", path, sr_Err(res));
		announce(ST_UNTRACED);
		ring_make_scratch();
		return False;
	}
	Int fd = VG_(safe_fd)((Int)sr_Res(res));
	ULong size = ST_CONTROL_BYTES + RING_BYTES;
	/* Reserve blocks now: a full disk must be an error here, not a SIGBUS later. */
#if defined(VGA_x86)
	res = VG_(do_syscall)(__NR_fallocate, (RegWord)fd, 0, 0, 0, (RegWord)size, 0, 0, 0);
#else
	res = VG_(do_syscall)(__NR_fallocate, (RegWord)fd, 0, 0, size, 0, 0, 0, 0);
#endif
	if (sr_isError(res) && sr_Err(res) == EOPNOTSUPP_)
		res = VG_(do_syscall)(__NR_ftruncate, (RegWord)fd, (RegWord)size, 0, 0, 0, 0, 0, 0);
	if (!sr_isError(res))
		res = VG_(am_shared_mmap_file_float_valgrind)((SizeT)size, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
	VG_(close)(fd);
	if (sr_isError(res)) {
		VG_(umsg)("cannot map %s: error %lu\n", path, sr_Err(res));
		announce(ST_UNTRACED);
		VG_(unlink)(path);
		ring_make_scratch();
		return False;
	}
	struct st_control *c = (struct st_control *)(Addr)sr_Res(res);
	c->magic = ST_MAGIC;
	c->version = ST_VERSION;
	c->pid = (UInt)VG_(getpid)();
	c->parent_pid = (UInt)VG_(getppid)();
	c->chunk_bytes = ST_CHUNK_BYTES;
	c->chunks = ST_CHUNKS;
	c->tracer_state = 0;
	ring.control = c;
	ring.chunk = ring.ptr = (UChar *)c + ST_CONTROL_BYTES;
	ring.end = ring.chunk + ST_CHUNK_BYTES;
	ring.chunk_pos = ring.published = 0;
	ring.stream_tid = VG_INVALID_THREADID;
	if (!announce((UInt)settings.serial)) {
		VG_(umsg)("%s/announce has no reader; the softpmu that started this tracer is gone\n", settings.dir);
		VG_(unlink)(path);
		ring_make_scratch();
		return False;
	}
	c->tracer_state = 1;
	return True;
}

void ring_forks(Bool more)
{
	if (ring.control)
		__atomic_add_fetch(&ring.control->forks, more ? 1 : (UInt)-1, __ATOMIC_SEQ_CST);
}

void ring_executes(Bool does)
{
	if (ring.control)
		__atomic_store_n(&ring.control->executes, does, __ATOMIC_SEQ_CST);
}

static void publish(ULong pos)
{
	struct st_control *c = ring.control;

	if (!c || pos == ring.published)
		return;
	ring.published = pos;
	__atomic_store_n(&c->written, pos, __ATOMIC_RELEASE);
	__sync_synchronize();	/* the store above comes before the load below; the reader does the reverse */
	if (__atomic_load_n(&c->reader_waits, __ATOMIC_RELAXED)) {
		__atomic_add_fetch(&c->written_futex, 1, __ATOMIC_RELEASE);
		futex(&c->written_futex, FUTEX_WAKE, 1, NULL);
	}
}

void ring_publish(void)
{
	publish(ring.chunk_pos + (ULong)(ring.ptr - ring.chunk));
}

static Bool wait_for_room(ULong until)
{
	struct st_control *c = ring.control;
	UInt steps = 0;

	while (until > __atomic_load_n(&c->read, __ATOMIC_ACQUIRE) + RING_BYTES) {
		if (c->reader_gone)
			return False;
		if (steps >= 4 && !ring_reader_lives())	/* only after 200 ms: this opens a file */
			return False;
		UInt seen = __atomic_load_n(&c->read_futex, __ATOMIC_ACQUIRE);
		__atomic_store_n(&c->tracer_waits, 1, __ATOMIC_SEQ_CST);
		__sync_synchronize();
		if (until > __atomic_load_n(&c->read, __ATOMIC_ACQUIRE) + RING_BYTES) {
			struct vki_timespec step = { 0, WAIT_NS };
			SysRes res = futex(&c->read_futex, FUTEX_WAIT, seen, &step);
			steps = sr_isError(res) && sr_Err(res) == ETIMEDOUT_ ? steps + 1 : 0;
		}
		__atomic_store_n(&c->tracer_waits, 0, __ATOMIC_SEQ_CST);
	}
	return !c->reader_gone;
}

const struct st_answer *ring_answer(UInt number)
{
	struct st_control *c = ring.control;
	UInt steps = 0, seen;

	while (c && (seen = __atomic_load_n(&c->answered, __ATOMIC_ACQUIRE)) != number) {
		if (c->reader_gone)
			return NULL;
		if (steps >= 4 && !ring_reader_lives())
			return NULL;
		struct vki_timespec step = { 0, WAIT_NS };
		SysRes res = futex(&c->answered, FUTEX_WAIT, seen, &step);
		steps = sr_isError(res) && sr_Err(res) == ETIMEDOUT_ ? steps + 1 : 0;
	}
	return c ? &c->answer : NULL;
}

static void next_chunk(void)
{
	if (!ring.control) {
		ring.ptr = ring.chunk;
		return;
	}
	if (ring.ptr < ring.end)
		*(ULong *)ring.ptr = ST_HEADER(ST_CHUNK_END, 0);
	ring.chunk_pos += ST_CHUNK_BYTES;
	ring.ptr = ring.end;	/* so that publishing finds it right */
	publish(ring.chunk_pos);
	if (!wait_for_room(ring.chunk_pos + ST_CHUNK_BYTES)) {
		ring_make_scratch();
		return;
	}
	UInt n = (UInt)(ring.chunk_pos / ST_CHUNK_BYTES % ST_CHUNKS);
	ring.chunk = ring.ptr = (UChar *)ring.control + ST_CONTROL_BYTES + (SizeT)n * ST_CHUNK_BYTES;
	ring.end = ring.chunk + ST_CHUNK_BYTES;
	maps_check_stack();
}

void *ring_record(enum st_kind kind, SizeT bytes)
{
	bytes = ROUND8(bytes);
	tl_assert(ring.running == VG_INVALID_THREADID && bytes <= ST_CHUNK_BYTES);
	while ((SizeT)(ring.end - ring.ptr) < bytes)	/* next_chunk may write a record into the new chunk itself */
		next_chunk();
	void *at = ring.ptr;
	VG_(memset)(at, 0, bytes);
	*(ULong *)at = ST_HEADER(kind, bytes);
	ring.ptr += bytes;
	return at;
}

void ring_thread(ThreadId tid)
{
	if (ring.stream_tid == tid)
		return;
	struct st_thread *t = ring_record(ST_SWITCH, sizeof *t);
	t->tid = tid;
	ring.stream_tid = tid;
}

void ring_end(void)
{
	if (!ring.control)
		return;
	ring_publish();
	ring.control->tracer_state = 2;
	__atomic_add_fetch(&ring.control->written_futex, 1, __ATOMIC_RELEASE);
	futex(&ring.control->written_futex, FUTEX_WAKE, 1, NULL);
	ring_make_scratch();
}

void ring_enter(ThreadId tid)
{
	tl_assert(ring.running == VG_INVALID_THREADID);
	if (ring.control && ring.control->reader_gone)
		ring_make_scratch();
	ring_thread(tid);
	events_before_run(tid);
	while ((SizeT)(ring.end - ring.ptr) < largest_block_bytes)
		next_chunk();
	struct live l = { (HWord)ring.ptr, (HWord)ring.end, 0, AFTER_NOTHING, settings.steps ? pmi_budget(tid) : 0, 0 };
	if (ring.chunk_pos + (ULong)(ring.ptr - ring.chunk) - ring.published >= PUBLISH_BYTES / 2)
		ring_publish();
	if ((SizeT)(ring.end - ring.ptr) >= PUBLISH_BYTES + largest_block_bytes)
		l.end = (HWord)(ring.end - PUBLISH_BYTES);	/* leave generated code half-way, to publish */
	VG_(set_shadow_regs_area)(tid, 1, 0, offsetof(struct live, mxcsr), (const UChar *)&l);
	ring.given = 0;
	if (live_threads > 1) {
		/* With Valgrind's own slice of 100,000 blocks, a spin loop or a hand-off between threads would take
		 * minutes.  The scheduler has just set the count in the guest state; lowering it only ends the slice
		 * earlier. */
		UInt limit = turns_blocks();
		VG_(get_shadow_regs_area)(tid, (UChar *)&ring.given, 0, EVC_COUNTER, sizeof ring.given);
		if (ring.given > limit) {
			ring.given = limit;
			VG_(set_shadow_regs_area)(tid, 0, EVC_COUNTER, sizeof limit, (const UChar *)&limit);
		}
	}
	ring.running = tid;
}

/* If another thread made the last locked access to the line, the running thread's turn ends after the current block. */
void ring_meet(HWord addr)
{
	static struct { HWord line; ThreadId tid; } last[1024];
	const HWord line = addr >> 6, at = (line ^ line >> 10) % (sizeof last / sizeof *last);
	const ThreadId tid = ring.running;
	UInt left, none = 0;

	if (live_threads < 2 || (last[at].line == line && last[at].tid == tid))
		return;
	Bool met = last[at].line == line && last[at].tid != VG_INVALID_THREADID;
	last[at].line = line;
	last[at].tid = tid;
	if (!met || !ring.given)
		return;
	VG_(get_shadow_regs_area)(tid, (UChar *)&left, 0, EVC_COUNTER, sizeof left);
	VG_(set_shadow_regs_area)(tid, 0, EVC_COUNTER, sizeof none, (const UChar *)&none);
	ring.given -= left < ring.given ? left : ring.given;
	ring.met = True;
}

static void leave(ThreadId tid, Bool fault)
{
	struct live l;

	if (ring.running != tid)
		return;		/* a callback from generated code has done this already */
	VG_(get_shadow_regs_area)(tid, (UChar *)&l, 1, 0, sizeof l);
	ring.running = VG_INVALID_THREADID;
	ring.ptr = (UChar *)l.ptr;
	if (ring.given) {
		Int left;
		VG_(get_shadow_regs_area)(tid, (UChar *)&left, 0, EVC_COUNTER, sizeof left);
		turns_ran(ring.given - (left > 0 ? (UInt)left : 0));
	}
	if (ring.met)
		turns_meet();
	ring.met = False;
	if (l.after == AFTER_PAUSE)
		turns_pause();
	else if (l.after == AFTER_REQUEST)
		events_request_regs(tid);
	tl_assert(ring.ptr >= ring.chunk && ring.ptr <= ring.end);
	if (l.open == l.ptr || fault)
		blocks_cut(tid, (UInt)*(ULong *)ring.ptr, ring.ptr);
	if (settings.steps)
		pmi_set_budget(tid, l.budget);
	if (l.after == AFTER_STEP || l.after == AFTER_IRET)
		pmi_left(tid, (enum live_after)l.after);
}

void ring_leave(ThreadId tid)
{
	leave(tid, False);
}

void ring_fault(ThreadId tid)
{
	leave(tid, True);
}
