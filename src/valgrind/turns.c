/* SPDX-License-Identifier: GPL-2.0-or-later
 * Decides which thread of this process runs, in place of the core's big lock: the stream must tell what the program
 * does, not how busy the host was.  One guest thread runs at a time; which one follows from the program alone.
 *
 * Each thread has a clock that counts the blocks it executed.  PAUSE, sched_yield and lines that come from another
 * thread advance the clock, too, by about as many blocks as others execute meanwhile.  The thread with the least
 * clock runs, at most TURN blocks past the next thread's clock; for NEAR blocks if threads have just met at a spin
 * lock or a locked access (on a machine of several processors, threads of about equal speed come to it in such an
 * order).  A created thread begins at its creator's clock.  A thread that slept in a system call continues at the
 * clock of the thread that ran when it was woken, plus the time that waking takes.
 *
 * A thread in a system call that may block has given up its turn.  No other thread runs before that one has come
 * back or sleeps (/proc/self/task tells), nor before those that it woke, or that the end of a thread woke, are
 * back; otherwise the order would depend on how soon the host runs them.  Futex calls that wake keep the turn.
 * They look for woken threads among those in futex calls; other calls that may block look among threads in other calls.
 *
 * An ignored signal (SIGCHLD, where the program did not set a handler) interrupts no system call: the kernel drops it
 * unless it is blocked.  Under Valgrind's core all signals are blocked while a thread runs, so the kernel keeps it,
 * and it takes a waiting thread out of its futex call until a busy host gives that thread a processor; a waker
 * finds nobody there meanwhile.  So such signals stay blocked in system calls, too.
 *
 * Left out: what does depend on the host: time, other processes, slow files; a thread that these wake comes back at
 * a moment that the host decides.  Without /proc a thread in a system call counts as asleep at once.  After
 * SETTLE_TRIES looks the others no longer wait for a thread.
 */
#include "tracer.h"
#include "core_private.h"

enum {
	TURN = 400, NEAR = 8, NEAR_FOR = 64,
	/* In blocks of some 4 cycles: PAUSE is 140 cycles on Skylake, and a line comes from another core in 60 to
	 * 100.  A thread that a futex call wakes runs 1.2 us later at the soonest (run/threads/order.h); by then its
	 * waker may have taken the lock again many times. */
	PAUSED = 32, MET = 16, WOKEN = 1000,
	SETTLE_YIELDS = 64, SETTLE_TRIES = 20000, SETTLE_NS = 50000,
};
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1 };

enum state {
	NOBODY, READY, RUNS,
	CALLS,		/* in a system call; may come back at any moment */
	SLEEPS,		/* sleeps in the system call: /proc showed it */
	LEAVES,		/* is exiting */
};

struct turn {			/* one thread */
	Int lwp;
	enum state state;
	Bool slept, leaves;
	Bool in_futex;		/* the system call is futex: other calls do not wake it */
	Bool gave;		/* gave up its turn for the system call */
	UInt word;		/* futex: 1 when its turn has come */
	UInt pauses;		/* number of PAUSEs in a row */
	ULong clock, came;	/* its clock now; and when its turn began */
	ULong near;		/* until this clock, other threads are followed closely */
};

static struct turn *turn;	/* MOST of them: exiting threads stay here until they are gone */
#define MOST (2 * (Int)VG_N_THREADS)
static Int used;		/* entries that have ever been in use */
static Int holder = -1;		/* thread whose turn it is; -1: none */
static UInt guard;		/* spin lock over all of this */
static ULong now;		/* clock of the thread that runs, or ran last */
static ThreadId starting;	/* was created and has not started yet */
static Bool calls, quick;	/* why the turn is being given up */
static vki_sigset_t nothing;	/* signals without a handler whose default is to be ignored */

/* Not with a futex: a thread that waits here must not look asleep. */
static void enter(void)
{
	while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))
		VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void leave(void)
{
	__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
}

static void rest(UInt tries)
{
	struct vki_timespec step = { 0, SETTLE_NS };

	if (tries < SETTLE_YIELDS)
		VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
	else
		VG_(do_syscall)(__NR_nanosleep, (RegWord)&step, 0, 0, 0, 0, 0, 0, 0);
}

static void hand_to(Int next)
{
	holder = next;
	if (next < 0)
		return;
	__atomic_store_n(&turn[next].word, 1, __ATOMIC_RELEASE);
	VG_(do_syscall)(__NR_futex, (RegWord)&turn[next].word, FUTEX_WAKE, 1, 0, 0, 0, 0, 0);
}

static Int find(Int lwp)
{
	Int i = 0, free = -1;

	for (; i < used; i++) {
		if (turn[i].state != NOBODY && turn[i].lwp == lwp)
			return i;
		if (free < 0 && turn[i].state == NOBODY)
			free = i;
	}
	if (free < 0)
		free = used++;
	tl_assert(free < MOST);
	VG_(memset)(&turn[free], 0, sizeof turn[free]);
	turn[free].lwp = lwp;
	turn[free].clock = now;
	starting = VG_INVALID_THREADID;
	return free;
}

/* The ready thread with the least clock, except `without`; -1: there is none. */
static Int least(Int without)
{
	Int best = -1;

	for (Int i = 0; i < used; i++)
		if (i != without && (turn[i].state == READY || turn[i].state == RUNS) &&
		    (best < 0 || turn[i].clock < turn[best].clock))
			best = i;
	return best;
}

/* ---- who is in a system call ---- */

/* The kernel's state letter: R, S, ...; 0: the thread is gone, or there is no /proc. */
static HChar kernel_state(Int lwp)
{
	HChar text[256];

	VG_(sprintf)(text, "/proc/self/task/%d/stat", lwp);
	SysRes res = VG_(open)(text, VKI_O_RDONLY | O_CLOEXEC_, 0);
	if (sr_isError(res))
		return 0;
	Int fd = (Int)sr_Res(res), n = VG_(read)(fd, text, sizeof text - 1);
	VG_(close)(fd);
	text[n > 0 ? n : 0] = 0;
	const HChar *at = VG_(strrchr)(text, ')');
	return at && at[1] == ' ' ? at[2] : 0;
}

static Bool is_away(HChar state)
{
	return state == 0 || state == 'S' || state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

static void set_state(Int i, enum state from, enum state to)
{
	enter();
	if (turn[i].state == from)
		turn[i].state = to;
	leave();
}

/* Finds threads that slept, in futex calls or in others, and were woken: at most `most` of them are coming back. */
static void look_for_woken(UInt most, Bool in_futex)
{
	for (Int i = 0; i < used && most; i++)
		if (turn[i].state == SLEEPS && turn[i].in_futex == in_futex && !is_away(kernel_state(turn[i].lwp))) {
			set_state(i, SLEEPS, CALLS);
			most--;
		}
}

/* Waits until no thread is between running and sleeping.  Called by the thread whose turn it is. */
static void settle(void)
{
	for (Int i = 0; i < used; i++)
		for (UInt tries = 0;; tries++) {
			enum state state = __atomic_load_n(&turn[i].state, __ATOMIC_ACQUIRE);
			if (state != CALLS && state != LEAVES)
				break;
			HChar seen = kernel_state(turn[i].lwp);
			Bool over = tries == SETTLE_TRIES;
			if (state == CALLS && (over || is_away(seen))) {
				/* It may have come back since, and sleep because it waits for its turn. */
				enter();
				if (turn[i].state == CALLS) {
					turn[i].state = SLEEPS;
					turn[i].slept = True;
				}
				leave();
			} else if (state == LEAVES && (over || seen == 0 || seen == 'Z' || seen == 'X')) {
				set_state(i, LEAVES, NOBODY);
				look_for_woken(~0u, True);
				i = -1;		/* its end may have woken threads that this loop has passed */
				break;
			} else {
				rest(tries);
			}
		}
}

/* ---- replaces the core's lock ---- */

struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	if (!turn)
		turn = VG_(calloc)("softpmu.turns", (SizeT)MOST, sizeof *turn);
	for (Int i = 0; i < used; i++)		/* a forked child has only one thread */
		turn[i].state = NOBODY;
	used = 0;
	holder = -1;
	guard = 0;
	calls = quick = False;
	starting = VG_INVALID_THREADID;
	return (struct sched_lock *)turn;
}

void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
	(void)lock;
}

Int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
	(void)lock;
	return holder < 0 ? 0 : turn[holder].lwp;
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	(void)lock;
	enter();
	Int i = find(VG_(gettid)());
	struct turn *me = &turn[i];
	if (me->state == RUNS) {	/* it kept its turn */
		leave();
		return;
	}
	if (me->slept && me->clock < now + WOKEN)
		me->clock = now + WOKEN;
	me->slept = False;
	me->state = READY;
	if (holder < 0) {
		me->word = 1;
		holder = i;
	}
	for (;;) {
		leave();
		while (!__atomic_load_n(&me->word, __ATOMIC_ACQUIRE))
			VG_(do_syscall)(__NR_futex, (RegWord)&me->word, FUTEX_WAIT, 0, 0, 0, 0, 0, 0);
		settle();
		enter();
		Int next = least(-1);
		me->word = 0;
		if (next == i)
			break;
		hand_to(next);
	}
	me->state = RUNS;
	now = me->clock;
	leave();
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	(void)lock;
	enter();
	Int i = holder, next;
	struct turn *me = &turn[i];
	now = me->clock;
	if (quick) {
		calls = quick = False;
		leave();
		return;
	}
	me->state = me->leaves ? LEAVES : calls ? CALLS : READY;
	me->gave |= calls;
	calls = False;
	next = least(-1);
	if (next == i && me->clock == me->came && least(i) >= 0) {	/* it executed nothing: let another run */
		next = least(i);
		me->clock = turn[next].clock + 1;
	}
	if (next == i)
		me->state = RUNS;
	else
		hand_to(next);
	me->came = me->clock;
	leave();
}

/* The scheduler does not use this function; it is called around system calls that may block. */
void __wrap_vgPlain_release_BigLock(ThreadId tid, Int state, const HChar *who)
{
	calls = True;
	__real_vgPlain_release_BigLock(tid, state, who);
}

/* ---- what the rest of the tracer reports ---- */

UInt turns_blocks(void)
{
	const struct turn *me = &turn[holder];
	Int next = least(holder);

	if (next < 0)
		return TURN;
	const struct turn *other = &turn[next];
	ULong until = other->clock + (me->near > me->clock || other->near > other->clock ? NEAR : TURN);
	return until <= me->clock ? 0 : until - me->clock < TURN ? (UInt)(until - me->clock) : TURN;
}

void turns_ran(UInt blocks)
{
	struct turn *me = &turn[holder];

	me->clock += blocks;
	if (me->near <= me->clock)
		me->pauses = 0;
}

static void follow_closely(struct turn *me)
{
	me->near = me->clock + NEAR_FOR;
}

void turns_meet(void)
{
	turn[holder].clock += MET;
	follow_closely(&turn[holder]);
}

void turns_pause(void)
{
	struct turn *me = &turn[holder];

	/* A thread that has waited long looks more rarely: each look costs the tracer two switches. */
	me->clock += (ULong)PAUSED << (me->pauses / 4 < 6 ? me->pauses / 4 : 6);
	me->pauses++;
	follow_closely(me);
}

static Bool is_futex(UInt number)
{
	/* futex_time64: Linux, syscall_32.tbl */
	return number == __NR_futex || (sizeof(HWord) == 4 && number == 422);
}

/* True for futex calls that wake and do not wait. */
static Bool wakes_only(UInt number, const UWord *args)
{
	/* Linux, include/uapi/linux/futex.h: FUTEX_WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAKE_BITSET */
	const UInt wake = 1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 10, command = args[1] & 127;

	return is_futex(number) && command < 32 && (wake >> command & 1);
}

static void look_for_ignored(void)
{
	static const Int signo[] = { VKI_SIGCHLD, VKI_SIGURG, VKI_SIGWINCH };	/* signal(7): "Ign" */
	vki_sigaction_fromK_t action;

	for (UInt i = 0; i < sizeof signo / sizeof *signo; i++) {
		if (!sr_isError(VG_(do_sys_sigaction)(signo[i], NULL, &action)) && action.ksa_handler == VKI_SIG_DFL)
			VG_(sigaddset)(&nothing, signo[i]);
		else
			VG_(sigdelset)(&nothing, signo[i]);
	}
}

/* The core asks for signals that stay blocked between two turns. */
UWord __wrap_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *state, const vki_sigset_t *during,
	vki_sigset_t *after, Word bytes)
{
	vki_sigset_t blocked = *during;

	VG_(sigaddset_from_set)(&blocked, &nothing);
	return __real_vgModuleLocal_do_syscall_for_client_WRK(number, state, &blocked, after, bytes);
}

void turns_before_syscall(UInt number, const UWord *args)
{
	look_for_ignored();
	if (number == __NR_sched_yield)
		turns_pause();
	quick = wakes_only(number, args);
	turn[holder].gave = False;
	turn[holder].in_futex = is_futex(number);
}

void turns_after_syscall(UInt number, const UWord *args, SysRes res)
{
	calls = quick = False;		/* the call may not have given up the turn at all */
	if (starting != VG_INVALID_THREADID)
		for (UInt tries = 0;
		    tries < SETTLE_TRIES && __atomic_load_n(&starting, __ATOMIC_ACQUIRE) != VG_INVALID_THREADID;
		    tries++)
			rest(tries);
	starting = VG_INVALID_THREADID;
	now = turn[holder].clock;
	if (wakes_only(number, args)) {
		if (!sr_isError(res) && sr_Res(res))
			look_for_woken((UInt)sr_Res(res), True);
	} else if (number == __NR_kill || number == __NR_tkill || number == __NR_tgkill) {
		look_for_woken(~0u, True);
		look_for_woken(~0u, False);
	} else if (turn[holder].gave || number == __NR_close) {
		/* A call that cannot block wakes nobody, except that closing a pipe wakes its other end. */
		look_for_woken(~0u, False);
	}
	settle();
}

void turns_created(ThreadId child)
{
	starting = child;
	now = turn[holder].clock;
}

void turns_exit(ThreadId tid)
{
	if (tid == starting)
		starting = VG_INVALID_THREADID;		/* could not be created */
	else
		turn[holder].leaves = True;
}
