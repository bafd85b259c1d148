/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the tracer needs from Valgrind's core beyond the tool interface.  No headers are installed for these functions,
 * so each is declared by hand, with the reason why the public interface is not enough.  The declarations are those of
 * Valgrind 3.19 and 3.24, whose sources agree; tools/check-valgrind.sh reads this file.
 */
#ifndef TRACER_CORE_PRIVATE_H
#define TRACER_CORE_PRIVATE_H
#include "tracer.h"

/* The ring is a shared mapping that belongs to Valgrind; the tool interface only maps private memory. */
SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd, Off64T offset);
/* A forked child unmaps its parent's ring. */
SysRes VG_(am_munmap_valgrind)(Addr start, SizeT length);
/* Memory that counts as the program's. */
SysRes VG_(am_mmap_anon_float_client)(SizeT length, Int prot);
SysRes VG_(am_munmap_client)(Bool *need_discard, Addr start, SizeT length);
/* Memory for a scratch ring: pages, not a heap block. */
SysRes VG_(am_mmap_anon_float_valgrind)(SizeT length);
/* futex and fallocate have no wrapper at all. */
SysRes VG_(do_syscall)(UWord sysno, RegWord a1, RegWord a2, RegWord a3, RegWord a4, RegWord a5, RegWord a6,
		       RegWord a7, RegWord a8);
/* Moves our files out of the range of descriptors that the program sees. */
Int VG_(safe_fd)(Int oldfd);
/* Where messages go.  The core's structure begins with the descriptor; the rest is not declared here. */
extern struct { Int fd; } VG_(log_output_sink);
/* --log-file, NULL without it. */
extern const HChar *VG_(clo_log_fname_unexpanded);
/* The handler of a signal, which tells whether the signal ends the process or is ignored. */
SysRes VG_(do_sys_sigaction)(Int signo, const vki_sigaction_toK_t *new_act, vki_sigaction_fromK_t *old_act);
/* The tool interface can only remove signals from a set. */
Int  VG_(sigaddset)(vki_sigset_t *set, Int signo);
void VG_(sigaddset_from_set)(vki_sigset_t *to, vki_sigset_t *from);
/* Dies by a signal, as the program would have. */
void VG_(kill_self)(Int signo);
/* The program's file, open: the core does not keep its full name. */
extern Int VG_(cl_exec_fd);
/* Where the heap begins; the segment list does not distinguish it from other anonymous memory. */
extern Addr VG_(brk_base);
/* Defaults that users of the tracer need not spell out. */
extern Int VG_(clo_vgdb);		/* enum VgVgdb, 0: no gdb server, no pipes in /tmp */
extern Bool VG_(clo_trace_children);
/* A child that is not followed must not open a log file: it would exit if it could not. */
extern Bool VG_(clo_child_silent_after_fork);
extern VexControl VG_(clo_vex_control);
/* --smc-check: which code checks itself before it runs.  Used when a block is translated; maps.c changes it. */
enum { SMC_ALL = 2, SMC_ALL_NON_FILE = 3 };
extern Int VG_(clo_smc_check);
void VG_(discard_translations)(Addr start, ULong range, const HChar *who);

/* Names the library that is preloaded into the program; the core's default would be Memcheck's. */
extern const HChar *VG_(clo_toolname);

/* Functions of the core whose calls the linker redirects to us (--wrap, see tracer.mk). */
Addr __real_vgPlain_am_startup(Addr sp);
Addr __wrap_vgPlain_am_startup(Addr sp);
ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd);
Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
struct vki_ucontext;
void __real_vgPlain_sigframe_create(ThreadId tid, Bool on_altstack, Addr sp, const vki_siginfo_t *info,
	const struct vki_ucontext *uc, void *handler, UInt flags, const vki_sigset_t *mask, void *restorer);
void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool on_altstack, Addr sp, const vki_siginfo_t *info,
	const struct vki_ucontext *uc, void *handler, UInt flags, const vki_sigset_t *mask, void *restorer);
void __real_vgPlain_kill_self(Int signo);
void __wrap_vgPlain_kill_self(Int signo);
void __real_vgPlain_client_exit(Int status);
void __wrap_vgPlain_client_exit(Int status);
void __real_vgPlain_discard_translations(Addr start, ULong range, const HChar *who);
void __wrap_vgPlain_discard_translations(Addr start, ULong range, const HChar *who);
void __real_vgPlain_nuke_all_threads_except(ThreadId me, Int src);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, Int src);
/* The CPUID that programs see says that there is RDTSCP, wherever they run; so there is (tracer_cpu.c). */
void __real_vgPlain_machine_get_VexArchInfo(VexArch *architecture, VexArchInfo *info);
void __wrap_vgPlain_machine_get_VexArchInfo(VexArch *architecture, VexArchInfo *info);
/* Handlers of system calls (events.c).  The arguments begin with the call's number.  A call whose status is complete is
 * not made; it has that result. */
struct syscall_args { Word number; UWord arg[8]; };
struct syscall_status { Int what; SysRes result; };
enum { SYSCALL_COMPLETE = 1 };

typedef void (*exec_handler)(ThreadId tid, void *layout, struct syscall_args *args, struct syscall_status *status,
			     UWord *flags);
void __real_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
void __real_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
void __wrap_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
void __real_vgSysWrap_linux_sys_clone_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
void __wrap_vgSysWrap_linux_sys_clone_before(ThreadId tid, void *layout, struct syscall_args *args,
	struct syscall_status *status, UWord *flags);
SysRes VG_(mk_SysRes_Error)(UWord err);
/* The big lock (turns.c): the core uses whatever lock these make. */
struct sched_lock;
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);
void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock);
Int  __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock);
void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
void __real_vgPlain_release_BigLock(ThreadId tid, Int state, const HChar *who);
void __wrap_vgPlain_release_BigLock(ThreadId tid, Int state, const HChar *who);
/* Makes a system call that may block, with the signals `during` blocked meanwhile (turns.c). */
UWord __real_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *state, const vki_sigset_t *during,
	vki_sigset_t *after, Word bytes);
UWord __wrap_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *state, const vki_sigset_t *during,
	vki_sigset_t *after, Word bytes);
#endif
