/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whose turn it is among the threads of this process, in place of the core's big lock: the stream is to tell what the program does, not how
 * busy the host was.  One guest thread runs at a time; who it is follows from the program alone.
 *
 * Each thread has a clock of the blocks that it executed, on which PAUSE, sched_yield and lines that come from another count, too, for about
 * as many as others execute meanwhile.  The least clock goes on, for at most TURN blocks past the next one's; where threads have met at a
 * spin lock or a locked access just now, for NEAR (threads of about equal speed come to it in such an order on a machine of several
 * processors).  A thread that is created begins at its creator's clock, one that slept in a system
 * call goes on at that of whoever ran when it was woken, and as much later as waking takes.
 *
 * A thread in a system call that may block has given its turn up.  Nobody runs before it has come back or sleeps (/proc/self/task says so),
 * nor before those it woke, or the end of a thread woke, are back: else the order depended on how soon the host lets them run.  Futex calls
 * that wake keep the turn; they look for threads in futex calls, other calls that may block for threads in others.
 *
 * A signal of which nothing comes (SIGCHLD, where the program left it alone) interrupts no system call: the kernel throws it away where it is not
 * blocked, but under the core all are while a thread runs, so it is kept, and gets a thread that waits out of its futex call for as long as
 * a busy host lets it wait for a processor; who would have woken it meanwhile finds nobody there.  It stays blocked in system calls, too.
 *
 * Left out: what does depend on the host, time, other processes, files that are slow: who is woken by them comes back when he does.
 * Without /proc a thread in a system call counts as asleep at once.  After SETTLE_TRIES nobody is waited for.
 */
#include "tracer.h"
#include "core_private.h"

enum {
	TURN = 400, NEAR = 8, NEAR_FOR = 64,
	/* In blocks of some 4 cycles: PAUSE is 140 cycles on Skylake, a line comes from another core in 60 to 100; a thread that a futex call
	 * wakes is there 1.2 us later at the soonest (run/order.h has the source): who woke it may have taken the lock again by then, many times. */
	PAUSED = 32, MET = 16, WOKEN = 1000,
	SETTLE_YIELDS = 64, SETTLE_TRIES = 20000, SETTLE_NS = 50000,
};
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1 };

enum state {
	NOBODY, READY, RUNS,
	CALLS,		/* in a system call; may come back at any moment */
	SLEEPS,		/* was seen to sleep there */
	LEAVES,		/* exits */
};

struct turn {			/* of a thread */
	Int lwp;
	enum state state;
	Bool slept, leaves;
	Bool in_futex;		/* the system call is futex: others wake nobody there */
	Bool gave;		/* the turn, for the system call */
	UInt word;		/* futex: its turn has come */
	UInt pauses;		/* one after the other */
	ULong clock, came;	/* now; when its turn began */
	ULong near;		/* until then others are followed closely */
};

static struct turn *turn;	/* MOST of them: threads that exit are kept until they are gone */
#define MOST (2 * (Int)VG_N_THREADS)
static Int used;		/* those that ever were somebody */
static Int holder = -1;		/* whose turn it is; -1: nobody's */
static UInt guard;		/* of all this */
static ULong now;		/* clock of who runs, or ran last */
static ThreadId starting;	/* was created and has not come yet */
static Bool calls, quick;	/* why the turn is being given up */
static vki_sigset_t nothing;	/* signals that the program has not asked for, and that are ignored then */

/* No futex here: who waits must not look asleep. */
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

/* Of the ready ones but `without`, the least clock; -1: there is none. */
static Int least(Int without)
{
	Int best = -1;

	for (Int i = 0; i < used; i++)
		if (i != without && (turn[i].state == READY || turn[i].state == RUNS) && (best < 0 || turn[i].clock < turn[best].clock))
			best = i;
	return best;
}

/* ---- who is in a system call ---- */

/* R, S, ...; 0: it is gone, or there is no /proc. */
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

/* Who slept, in futex calls or in others, and was woken: up to `most` of them are on their way. */
static void look_for_woken(UInt most, Bool in_futex)
{
	for (Int i = 0; i < used && most; i++)
		if (turn[i].state == SLEEPS && turn[i].in_futex == in_futex && !is_away(kernel_state(turn[i].lwp))) {
			set_state(i, SLEEPS, CALLS);
			most--;
		}
}

/* By whoever's turn it is. */
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
				/* it may have come back since, and be what looks asleep: waiting for its turn */
				enter();
				if (turn[i].state == CALLS) {
					turn[i].state = SLEEPS;
					turn[i].slept = True;
				}
				leave();
			} else if (state == LEAVES && (over || seen == 0 || seen == 'Z' || seen == 'X')) {
				set_state(i, LEAVES, NOBODY);
				look_for_woken(~0u, True);
				i = -1;		/* who was woken by its end may have been passed */
				break;
			} else {
				rest(tries);
			}
		}
}

/* ---- instead of the core's lock ---- */

struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	if (!turn)
		turn = VG_(calloc)("softpmu.turns", (SizeT)MOST, sizeof *turn);
	for (Int i = 0; i < used; i++)		/* a forked child has one thread */
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
	if (me->state == RUNS) {	/* its turn was kept */
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
	if (next == i && me->clock == me->came && least(i) >= 0) {	/* it had nothing to do: another's turn */
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

/* Called from elsewhere than the scheduler: around system calls that may block. */
void __wrap_vgPlain_release_BigLock(ThreadId tid, Int state, const HChar *who)
{
	calls = True;
	__real_vgPlain_release_BigLock(tid, state, who);
}

/* ---- what the tracer says of who runs ---- */

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

	/* who has waited for long looks again more rarely: each look costs the tracer two switches */
	me->clock += (ULong)PAUSED << (me->pauses / 4 < 6 ? me->pauses / 4 : 6);
	me->pauses++;
	follow_closely(me);
}

static Bool is_futex(UInt number)
{
	return number == __NR_futex || (sizeof(HWord) == 4 && number == 422);	/* with 64-bit times: Linux, syscall_32.tbl */
}

/* Futex calls that wake and do not wait. */
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

/* The core polls for what stays blocked between two turns. */
UWord __wrap_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *state, const vki_sigset_t *during, vki_sigset_t *after, Word bytes)
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
	calls = quick = False;		/* it may not have given its turn up at all */
	if (starting != VG_INVALID_THREADID)
		for (UInt tries = 0; tries < SETTLE_TRIES && __atomic_load_n(&starting, __ATOMIC_ACQUIRE) != VG_INVALID_THREADID; tries++)
			rest(tries);
	starting = VG_INVALID_THREADID;
	now = turn[holder].clock;
	if (wakes_only(number, args)) {
		if (!sr_isError(res) && sr_Res(res))
			look_for_woken((UInt)sr_Res(res), True);
	} else if (number == __NR_kill || number == __NR_tkill || number == __NR_tgkill) {
		look_for_woken(~0u, True);
		look_for_woken(~0u, False);
	} else if (turn[holder].gave || number == __NR_close) {	/* what cannot block wakes nobody, but the other end of a pipe that is closed */
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
