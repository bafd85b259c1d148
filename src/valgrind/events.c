/* SPDX-License-Identifier: GPL-2.0-or-later
 * What happens besides the code: process, threads, system calls, signals, names, exit.
 *
 * Fork (also vfork and clone(CLONE_VM | CLONE_VFORK), which Valgrind turns into forks): the child gets a ring of
 * its own if children are traced, with the definitions of all blocks that it inherits.  Otherwise it writes into
 * scratch memory until it execs, and then runs natively.  It never touches its parent's ring.
 *
 * Signals: what the program's handler gets passes through VG_(sigframe_create), with all of its siginfo.  A signal that
 * ends the process is recognised before the core acts on it (the core would write a report and a core file), and the
 * process then dies by that signal.
 */
#include "tracer.h"
#include "core_private.h"

struct thread {
	Bool started, wants_regs;
	ThreadId parent;
	ULong turns_before;	/* `turns` when its system call began */
	HChar comm[16];
};

static struct thread *threads;		/* VG_N_THREADS of them */
static ThreadId last_ran;
static ULong turns;			/* how often the running thread changed */
static ULong entry;			/* first instruction of the guest */
static Bool forked, in_exec, trace_children, process_begun;

void events_note(UInt severity, const HChar *text)
{
	UInt bytes = (UInt)VG_(strlen)(text) + 1;
	struct st_note *n = ring_record(ST_NOTE, sizeof *n + bytes);

	n->severity = severity;
	n->text_bytes = bytes;
	VG_(memcpy)(n + 1, text, bytes);
}

void events_regs(ThreadId tid)
{
	struct st_regs *r;

	if (!settings.regs)
		return;
	ring_thread(tid);
	r = ring_record(ST_REGS, sizeof *r);
	r->ip = VG_(get_IP)(tid);
#if defined(VGA_amd64)
	VexGuestAMD64State s;
	VG_(get_shadow_regs_area)(tid, (UChar *)&s, 0, 0, sizeof s);
	VG_(memcpy)(r->gpr, &s.guest_RAX, sizeof r->gpr);
	r->flags = LibVEX_GuestAMD64_get_rflags(&s);
#else
	VexGuestX86State s;
	VG_(get_shadow_regs_area)(tid, (UChar *)&s, 0, 0, sizeof s);
	for (UInt i = 0; i < 8; i++)
		r->gpr[i] = (&s.guest_EAX)[i];
	r->flags = LibVEX_GuestX86_get_eflags(&s);
#endif
}

void events_request_regs(ThreadId tid)
{
	threads[tid].wants_regs = True;
}

void events_before_run(ThreadId tid)
{
	if (tid != last_ran) {
		last_ran = tid;
		turns++;
	}
	if (threads[tid].wants_regs) {
		threads[tid].wants_regs = False;
		events_regs(tid);
	}
}

static void comm(ThreadId tid)
{
	ring_thread(tid);
	struct st_name *n = ring_record(ST_COMM, sizeof *n);

	VG_(memcpy)(n->name, threads[tid].comm, sizeof n->name);
}

static void set_comm(ThreadId tid, const HChar *name)
{
	VG_(memset)(threads[tid].comm, 0, sizeof threads[tid].comm);
	VG_(strncpy)(threads[tid].comm, name, sizeof threads[tid].comm - 1);
}

/* The core gives an exec'ed program its path as argv[0], which programs print in their messages.  This corrects argv[0]
 * on the new stack to the intended name: to the path's tail, or by overwriting the path if the name is not longer.  A
 * longer name stays wrong, and a script's is lost, as it is in the kernel. */
static void correct_argv0(ThreadId tid)
{
	Addr *argv = (Addr *)VG_(get_SP)(tid) + 1;
	HChar *path = (HChar *)argv[0];
	SizeT have, want;

	if (!settings.argv0 || !path || VG_(strcmp)(path, VG_(args_the_exename)) != 0) {
		settings.argv0 = NULL;
		return;
	}
	have = VG_(strlen)(path);
	want = VG_(strlen)(settings.argv0);
	if (want <= have && VG_(strcmp)(path + have - want, settings.argv0) == 0)
		argv[0] = (Addr)(path + have - want);
	else if (want <= have)
		VG_(strcpy)(path, settings.argv0);
	else
		settings.argv0 = NULL;
}

/* The kernel gives each program 16 random bytes (getauxval(3), AT_RANDOM).  Here they are always the same: they lie on
 * the stack behind strings, and glibc's strcspn, which reads four bytes at a time, indexes a table with what follows
 * a string.  So they decide which lines a program touches. */
static void fix_random(ThreadId tid)
{
	const UChar fixed[16] = "softpmu\xb1\x5a\xe3\x27\x9c\x64\xd8\x3f\x86";
	const UWord *at = (UWord *)VG_(get_SP)(tid);

	at += 1 + at[0] + 1;		/* argc, argv, NULL */
	while (*at++)			/* the environment */
		;
	for (; at[0]; at += 2)
		if (at[0] == AT_RANDOM_)
			VG_(memcpy)((void *)at[1], fixed, sizeof fixed);
}

static void process(Bool is_exec)
{
	const HChar *argv0 = settings.argv0 ? settings.argv0 : VG_(args_the_exename);
	/* A script's path is kept: forked children must not look again (exe_is_interpreter). */
	static HChar path[VKI_PATH_MAX];
	HChar link[64];

	VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
	SSizeT got = path[0] ? (SSizeT)VG_(strlen)(path) : VG_(readlink)(link, path, sizeof path - 1);
	if (got > 0)
		path[got] = 0;
	else
		VG_(strncpy)(path, VG_(args_the_exename), sizeof path - 1)[sizeof path - 1] = 0;
	UInt path_bytes = (UInt)VG_(strlen)(path) + 1;
	UInt argv_bytes = (UInt)VG_(strlen)(argv0) + 1;
	Word n = VG_(sizeXA)(VG_(args_for_client));

	for (Word i = 0; i < n; i++)
		argv_bytes += (UInt)VG_(strlen)(*(HChar **)VG_(indexXA)(VG_(args_for_client), i)) + 1;
	/* A command line of megabytes, which the kernel allows, is cut: no record is longer than a chunk. */
	UInt room = ST_CHUNK_BYTES / 2;
	struct st_process *p =
		ring_record(ST_PROCESS, sizeof *p + path_bytes + (argv_bytes < room ? argv_bytes : room));
	p->magic = ST_MAGIC;
	p->version = ST_VERSION;
	p->pid = (UInt)VG_(getpid)();
	p->parent_pid = (UInt)VG_(getppid)();
	p->word_bytes = sizeof(HWord);
	p->has_regs = settings.regs;
	p->is_exec = is_exec;
	p->has_assists = settings.assists;
	p->entry = entry;
	p->path_bytes = path_bytes;
	HChar *at = (HChar *)(p + 1);
	VG_(memcpy)(at, path, path_bytes);
	at += path_bytes;
	HChar *argv = at;
	for (Word i = -1; i < n; i++) {
		const HChar *arg = i < 0 ? argv0 : *(HChar **)VG_(indexXA)(VG_(args_for_client), i);
		UInt bytes = (UInt)VG_(strlen)(arg) + 1;
		if ((UInt)(at - argv) + bytes > room)
			break;
		VG_(memcpy)(at, arg, bytes);
		at += bytes;
	}
	p->argv_bytes = (UInt)(at - argv);
}

static void thread_start(ThreadId tid)
{
	struct st_thread *t = ring_record(ST_THREAD_START, sizeof *t);

	t->tid = tid;
	t->os_tid = (UInt)VG_(gettid)();
	t->parent_tid = threads[tid].parent;
	threads[tid].started = True;
}

/* For a script, the core's /proc/self/exe leads to the script (VG_(cl_exec_fd)); in the kernel it leads to the
 * interpreter, which programs use to start themselves again: perl's $^X, node's process.execPath.  Corrects that. */
static void exe_is_interpreter(void)
{
	HChar line[VKI_PATH_MAX + 2];

	for (UInt depth = 0; depth < 5; depth++) {	/* the kernel's own limit of interpreters that are scripts */
		if (VG_(lseek)(VG_(cl_exec_fd), 0, VKI_SEEK_SET) != 0)
			return;
		Int got = VG_(read)(VG_(cl_exec_fd), line, sizeof line - 1);
		if (got < 3 || line[0] != '#' || line[1] != '!')
			return;
		line[got] = 0;
		HChar *name = line + 2;
		while (*name == ' ' || *name == '\t')
			name++;
		HChar *end = name;
		while (*end && *end != ' ' && *end != '\t' && *end != '\r' && *end != '\n')
			end++;
		*end = 0;
		SysRes fd = VG_(open)(name, VKI_O_RDONLY | O_CLOEXEC_, 0);
		if (sr_isError(fd))
			return;
		VG_(close)(VG_(cl_exec_fd));
		VG_(cl_exec_fd) = VG_(safe_fd)((Int)sr_Res(fd));
	}
}

static void process_begin(ThreadId tid, Bool is_exec)
{
	process_begun = True;
	follow_begin();
	process(is_exec);
	thread_start(tid);
	comm(tid);
	maps_all();
	events_regs(tid);
	ring_publish();
}

static void thread_created(ThreadId parent, ThreadId child)
{
	live_threads++;
	if (parent != VG_INVALID_THREADID)
		turns_created(child);
	VG_(memset)(&threads[child], 0, sizeof threads[child]);
	threads[child].parent = parent;
	if (parent != VG_INVALID_THREADID)
		VG_(memcpy)(threads[child].comm, threads[parent].comm, sizeof threads[child].comm);
}

static void thread_first_insn(ThreadId tid)
{
	if (process_begun) {
		thread_start(tid);
		comm(tid);
		events_request_regs(tid);
		return;
	}
	entry = VG_(get_IP)(tid);
	set_comm(tid, VG_(basename)(VG_(args_the_exename)));
	/* The name that ps and the program itself see. */
	VG_(do_syscall)(__NR_prctl, VKI_PR_SET_NAME, (RegWord)threads[tid].comm, 0, 0, 0, 0, 0, 0);
	correct_argv0(tid);
	fix_random(tid);
	process_begin(tid, settings.serial > 0);
	exe_is_interpreter();
}

static void thread_exit(ThreadId tid)
{
	live_threads--;
	turns_exit(tid);
	if (!threads[tid].started)
		return;		/* could not be created */
	threads[tid].started = False;
	client_thread_exit(tid);
	struct st_thread *t = ring_record(ST_THREAD_EXIT, sizeof *t);
	t->tid = tid;
	t->os_tid = (UInt)VG_(gettid)();
	t->parent_tid = threads[tid].parent;
	ring.stream_tid = VG_INVALID_THREADID;	/* another thread may get the number */
	ring_publish();
}

static void fork_before(ThreadId tid)
{
	(void)tid;
	ring_forks(True);	/* before follow_can looks whether there is a reader, which looks at this */
	VG_(clo_child_silent_after_fork) = !follow_can();
	if (VG_(clo_child_silent_after_fork))
		ring_forks(False);
}

static void fork_parent(ThreadId tid)
{
	(void)tid;
	forked = True;
}

static void fork_child(ThreadId tid)
{
	live_threads = 1;
	settings.serial = 0;
	pmi_forget();
	if (!VG_(clo_child_silent_after_fork))
		close_first_log();
	if (VG_(clo_child_silent_after_fork) || !ring_create()) {
		ring_make_scratch();
		return;
	}
	process_begin(tid, False);
	blocks_define_all();
	ring_publish();
}

/* Replaces the option that begins like this among those that the next tracer gets; value NULL removes it. */
static void pass_on(const HChar *option, const HChar *value)
{
	SizeT n = VG_(strlen)(option);
	HChar *text = NULL;
	Word i = 0, count = VG_(sizeXA)(VG_(args_for_valgrind));

	while (i < count && VG_(strncmp)(*(HChar **)VG_(indexXA)(VG_(args_for_valgrind), i), option, n) != 0)
		i++;
	if (i < count)
		VG_(removeIndexXA)(VG_(args_for_valgrind), i);
	if (!value)
		return;
	text = VG_(malloc)("softpmu.option", n + VG_(strlen)(value) + 1);
	VG_(strcpy)(text, option);
	VG_(strcpy)(text + n, value);
	VG_(addToXA)(VG_(args_for_valgrind), &text);
}

static const HChar *guest_string(Addr a)
{
	for (Addr at = a; VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ); at++)
		if (!*(const HChar *)at)
			return (const HChar *)a;
	return NULL;
}

/* The value of a variable in the environment that an exec passes on, or NULL.  variable ends with '='. */
static const HChar *guest_variable(Addr envp, const HChar *variable)
{
	const SizeT n = VG_(strlen)(variable);

	for (; VG_(am_is_valid_for_client)(envp, sizeof(Addr), VKI_PROT_READ) && *(Addr *)envp; envp += sizeof(Addr)) {
		const HChar *text = guest_string(*(Addr *)envp);
		if (text && VG_(strncmp)(text, variable, n) == 0)
			return text + n;
	}
	return NULL;
}

/* The file that an exec should execute, if its own arguments would name another program: /proc/self/exe is the tracer,
 * both for the core and for softpmu-exec; a file that only a descriptor leads to (memfd_create) has no path.
 * Empty: the arguments are right. */
static HChar exec_path[VKI_PATH_MAX];

static void link_path(Int fd)
{
	VG_(sprintf)(exec_path, "/proc/self/fd/%d", fd);
}

static Bool find_exec_path(const HChar *path, Bool by_fd, Int fd)
{
	HChar of_pid[32];
	struct vg_stat st;

	exec_path[0] = 0;
	if (by_fd && path && !*path) {
		link_path(fd);
	} else if (path) {
		VG_(sprintf)(of_pid, "/proc/%d/exe", VG_(getpid)());
		if (VG_(strcmp)(path, "/proc/self/exe") != 0 && VG_(strcmp)(path, of_pid) != 0)
			return False;
		link_path(VG_(cl_exec_fd));
	} else {
		return False;
	}
	HChar file[VKI_PATH_MAX];
	SSizeT got = VG_(readlink)(exec_path, file, sizeof file - 1);
	if (got <= 0)
		return False;
	file[got] = 0;
	if (sr_isError(VG_(stat)(file, &st)))
		return True;		/* deleted, or never had a path: use its descriptor */
	VG_(strcpy)(exec_path, file);
	return False;
}

/* The core execs softpmu-exec with our own options, and refuses programs that it must not trace.  We let those run
 * natively, and so all programs once the reader is gone. */
static void before_exec(Addr path_at, Addr argv, Addr envp, Bool by_fd, Int fd)
{
	const HChar *path = guest_string(path_at), *argv0 = NULL;
	HChar serial[16];

	in_exec = True;
	ring_executes(True);
	VG_(clo_trace_children) = follow_can();
	Bool nameless = find_exec_path(path, by_fd, fd);
	if (exec_path[0])
		path = exec_path;
	if (!VG_(clo_trace_children) || !path) {
		ring_executes(False);
		return;
	}
	if (nameless) {			/* the descriptor may be closed by the time softpmu-exec opens it */
		VG_(clo_trace_children) = False;
		ring_executes(False);
		events_note(1, "a program without a path (memfd_create, or deleted) runs untraced");
		return;
	}
	if (!follow_can_exec(path)) {
		VG_(clo_trace_children) = False;
		ring_executes(False);
		return;
	}
	if (VG_(am_is_valid_for_client)(argv, sizeof(Addr), VKI_PROT_READ))
		argv0 = guest_string(*(Addr *)argv);
	VG_(sprintf)(serial, "%d", settings.serial + 1);
	pass_on("--serial=", serial);
	pass_on("--untraced", follow_untraced ? "" : NULL);
	pass_on("--lib=", follow_untraced ? guest_variable(envp, "VALGRIND_LIB=") : NULL);
	pass_on("--launcher=", follow_untraced ? guest_variable(envp, "VALGRIND_LAUNCHER=") : NULL);
	pass_on("--argv0=", argv0 && VG_(strcmp)(argv0, path) != 0 ? argv0 : NULL);
}

/* Calls the core's handler of execve or execveat with exec_path.  The path must be in memory of the program, and
 * execveat (`at`) also gets the arguments that mean a path. */
static void exec_by_path(exec_handler real, Bool at, ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags)
{
	const struct syscall_args own = *args;
	SysRes page = { 0 };

	if (exec_path[0])
		page = VG_(am_mmap_anon_float_client)(VKI_PATH_MAX, VKI_PROT_READ | VKI_PROT_WRITE);
	if (exec_path[0] && !sr_isError(page)) {
		VG_(strcpy)((HChar *)sr_Res(page), exec_path);
		args->arg[at] = sr_Res(page);
		if (at) {
			args->arg[0] = (UWord)AT_FDCWD_;
			args->arg[4] &= ~(UWord)AT_EMPTY_PATH_;
		}
	}
	real(tid, layout, args, status, flags);
	*args = own;
	Bool had_code;
	if (exec_path[0] && !sr_isError(page))		/* the exec failed */
		VG_(am_munmap_client)(&had_code, sr_Res(page), VKI_PATH_MAX);
}

void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags)
{
	exec_by_path(__real_vgSysWrap_generic_sys_execve_before, False, tid, layout, args, status, flags);
}

void __wrap_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags)
{
	exec_by_path(__real_vgSysWrap_linux_sys_execveat_before, True, tid, layout, args, status, flags);
}

/* Handles what the core cannot do.  A process that shares memory, files or directory with its parent, and is no thread,
 * becomes a fork, as with vfork.  If there is no room for another thread, the program gets the kernel's error for
 * that. */
void __wrap_vgSysWrap_linux_sys_clone_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags)
{
	static Bool told, told_fork;
	HChar text[96];
	const struct syscall_args own = *args;
	const UWord share = VKI_CLONE_VM | VKI_CLONE_FS | VKI_CLONE_FILES;
	const UWord shared = args->arg[0] & (share | VKI_CLONE_VFORK);

	follow_new_pids = (args->arg[0] & CLONE_NEWPID_) != 0;
	if (shared && shared != share && shared != (VKI_CLONE_VM | VKI_CLONE_VFORK)) {
		args->arg[0] &= ~(share | VKI_CLONE_VFORK);
		if (!told_fork)
			events_note(1,
				"clone without CLONE_THREAD runs as a fork: parent and child do not see each other's "
				"writes");
		told_fork = True;
	}
	if (!(args->arg[0] & VKI_CLONE_THREAD) || live_threads + 1 < VG_N_THREADS) {
		__real_vgSysWrap_linux_sys_clone_before(tid, layout, args, status, flags);
		*args = own;	/* the core checks that they are unchanged */
		follow_new_pids = False;
		return;
	}
	status->what = SYSCALL_COMPLETE;
	status->result = VG_(mk_SysRes_Error)(VKI_EAGAIN);
	if (told)
		return;
	told = True;
	VG_(sprintf)(text, "the tracer can run at most %u threads at once: clone fails (EAGAIN)", VG_N_THREADS - 1);
	events_note(1, text);
}

static struct st_syscall *syscall_record(enum st_kind kind, UInt number, const UWord *args, UInt n_args)
{
	struct st_syscall *s = ring_record(kind, sizeof *s);

	s->number = number;
	for (UInt i = 0; i < 6 && i < n_args; i++)
		s->arg[i] = args[i];
	return s;
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args)
{
	ring_thread(tid);
	syscall_record(ST_SYSCALL, number, args, n_args);
	threads[tid].turns_before = turns;
	if (number == __NR_execve)
		before_exec(args[0], args[1], args[2], False, 0);
	else if (number == __NR_execveat)
		before_exec(args[1], args[2], args[3], (args[4] & AT_EMPTY_PATH_) != 0, (Int)args[0]);
	maps_before_syscall(number, args);
	ring_publish();
	turns_before_syscall(number, args);
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args, SysRes res)
{
	ring_thread(tid);
	struct st_syscall *s = syscall_record(ST_SYSCALL_RET, number, args, n_args);
	s->is_error = sr_isError(res);
	s->result = sr_isError(res) ? (ULong)-(Long)sr_Err(res) : sr_Res(res);
	s->blocked = turns != threads[tid].turns_before;
	threads[tid].wants_regs = True;
	if (in_exec)
		ring_executes(False);
	in_exec = False;
	VG_(clo_trace_children) = trace_children;

	if (forked && !sr_isError(res)) {
		struct st_fork *f = ring_record(ST_FORK, sizeof *f);
		f->child_pid = (UInt)sr_Res(res);
		f->followed = !VG_(clo_child_silent_after_fork);
	}
	forked = False;
	if (number == __NR_prctl && args[0] == VKI_PR_SET_NAME && !sr_isError(res)) {
		set_comm(tid, (const HChar *)args[1]);
		comm(tid);
	}
	maps_after_syscall(number, args, res);
	turns_after_syscall(number, args, res);
}

/* ---- signals and exit ---- */

static void signal_record(ThreadId tid, const vki_siginfo_t *info, Addr handler)
{
	Addr ip = VG_(get_IP)(tid);

	ring_thread(tid);
	struct st_signal *s = ring_record(ST_SIGNAL, sizeof *s);
	s->ip = ip;
	s->handler = handler;
	s->signo = info->si_signo;
	s->si_code = info->si_code;
	if (info->si_signo == VKI_SIGSEGV || info->si_signo == VKI_SIGBUS)
		s->si_addr = (Addr)info->_sifields._sigfault._addr;
	else if (info->si_signo == VKI_SIGILL || info->si_signo == VKI_SIGFPE)
		s->si_addr = ip;	/* the core has the address in its translation there */
	for (UInt i = 0; i < sizeof s->code && VG_(am_is_valid_for_client)(ip + i, 1, VKI_PROT_READ); i++)
		s->code[i] = *(const UChar *)(ip + i);
}

static void end_of_process(Int code, Int signo)
{
	struct st_exit *e = ring_record(ST_EXIT, sizeof *e);

	e->code = code;
	e->signo = signo;
	ring_end();
}

void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool on_altstack, Addr sp, const vki_siginfo_t *info,
	const struct vki_ucontext *uc, void *handler, UInt flags, const vki_sigset_t *mask, void *restorer)
{
	ring_fault(tid);
	signal_record(tid, info, (Addr)handler);
	events_request_regs(tid);
	ring_publish();
	__real_vgPlain_sigframe_create(tid, on_altstack, sp, info, uc, handler, flags, mask, restorer);
}

static Bool ends_process(Int signo)
{
	vki_sigaction_fromK_t action;

	switch (signo) {
	case VKI_SIGCHLD: case VKI_SIGCONT: case VKI_SIGURG: case VKI_SIGWINCH:
	case VKI_SIGSTOP: case VKI_SIGTSTP: case VKI_SIGTTIN: case VKI_SIGTTOU:
		return False;
	}
	/* An error means a signal that the core uses for itself. */
	return !sr_isError(VG_(do_sys_sigaction)(signo, NULL, &action)) && action.ksa_handler == VKI_SIG_DFL;
}

/* The core calls this for every signal before it reaches the program. */
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid)
{
	struct vki_rlimit none = { 0, 0 };

	ring_fault(tid);
	if (!ends_process(info->si_signo))
		return __real_vgPlain_gdbserver_report_signal(info, tid);
	signal_record(tid, info, 0);
	end_of_process(0, info->si_signo);
	VG_(setrlimit)(VKI_RLIMIT_CORE, &none);	/* it would be the tracer's core, not the program's */
	__real_vgPlain_kill_self(info->si_signo);
	return True;
}

/* The core's other ways to die by a signal, e.g. when a program sends itself SIGKILL. */
void __wrap_vgPlain_kill_self(Int signo)
{
	end_of_process(0, signo);
	__real_vgPlain_kill_self(signo);
}

void __wrap_vgPlain_client_exit(Int status)
{
	end_of_process(status & 0xff, 0);
	__real_vgPlain_client_exit(status);
}

/* During an exec, this call means that there is no way back. */
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, Int src)
{
	if (in_exec)
		ring_end();
	__real_vgPlain_nuke_all_threads_except(me, src);
}

void events_init(void)
{
	threads = VG_(calloc)("softpmu.threads", VG_N_THREADS, sizeof *threads);
	trace_children = VG_(clo_trace_children);
	follow_init();
	VG_(atfork)(fork_before, fork_parent, fork_child);
	VG_(track_pre_thread_ll_create)(thread_created);
	VG_(track_pre_thread_first_insn)(thread_first_insn);
	VG_(track_pre_thread_ll_exit)(thread_exit);
}

void events_needs(void)
{
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
}
