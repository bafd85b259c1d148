/* SPDX-License-Identifier: GPL-2.0-or-later
 * Options and start of the tracer.
 *
 * How VEX is set up, and why:
 *  - registers are up to date at each instruction: then VEX drops no load as dead and no register write as overwritten,
 *    and a fault finds the instruction at which it happened;
 *  - no chasing: blocks end at jumps.  With chasing, VEX also fuses "a && b" into one block that executes b's
 *    instructions even if a was false: they would be counted but not retired;
 *  - no unrolling: a block that jumps to itself would contain copies of itself.
 * A user may override each with Valgrind's own options, to measure; the stream is exact only with these settings.
 * No debug information is read here (the model does that), so a start takes a fraction of a second.
 */
#include "tracer.h"
#include "core_private.h"

ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd)
{
	(void)a, (void)allow_SkFileV, (void)use_fd;
	return 0;
}

/* The first function that the core calls.  The program's image is made before pre_clo_init, so this is set here. */
Addr __wrap_vgPlain_am_startup(Addr sp)
{
	VG_(clo_toolname) = "softpmu";
	return __real_vgPlain_am_startup(sp);
}

static Bool option(const HChar *arg)
{
	return VG_STR_CLO(arg, "--ring-dir", settings.dir) || VG_BOOL_CLO(arg, "--regs", settings.regs) ||
		VG_BOOL_CLO(arg, "--assists", settings.assists) ||
		VG_STR_CLO(arg, "--argv0", settings.argv0) ||
		VG_BINT_CLO(arg, "--serial", settings.serial, 0, 0x7fffffff);
}

static void usage(void)
{
	VG_(printf)("    --ring-dir=DIR            the directory of the rings and the announce pipe\n"
		    "    --regs=no|yes             also write every change of a general-purpose register [no]\n"
		    "    --assists=no|yes          also write which floating-point operations meet denormal numbers "
		    "[no]\n");
}

static void debug_usage(void)
{
	VG_(printf)("    --serial=N                number of programs that this process ran before\n"
		    "    --argv0=NAME              the program's argv[0], if that is not its path\n");
}

static void start_client_code(ThreadId tid, ULong blocks)
{
	(void)blocks;
	ring_enter(tid);
}

static void stop_client_code(ThreadId tid, ULong blocks)
{
	(void)blocks;
	ring_leave(tid);
}

/* The core opens its log at the lowest free descriptor (again in a forked child), copies that out of the program's
 * range and leaves the first one open.  The program would find it as its descriptor 3, or as its standard input if
 * it was started without one; so this closes it. */
void close_first_log(void)
{
	struct vg_stat log, other;
	if (!VG_(clo_log_fname_unexpanded) || VG_(fstat)(VG_(log_output_sink).fd, &log))
		return;
	for (Int fd = 0; fd < VG_(log_output_sink).fd; fd++)
		if (!VG_(fstat)(fd, &other) && other.dev == log.dev && other.ino == log.ino) {
			VG_(close)(fd);
			return;
		}
}

static void post_clo_init(void)
{
	close_first_log();
	if (!settings.dir) {
		VG_(umsg)("--ring-dir is missing: this tracer is started by softpmu, not by hand\n");
		VG_(exit)(1);
	}
	blocks_init();
	events_init();
	/* An exec'ed program runs on even if its ring cannot be made. */
	if (!ring_create() && settings.serial == 0)
		VG_(exit)(1);
}

static void fini(Int exitcode)
{
	(void)exitcode;		/* the core passes 0; the real status comes later, see events.c */
}

static void pre_clo_init(void)
{
	VG_(details_name)("softpmu");
	VG_(details_version)(NULL);
	VG_(details_description)("the tracer of a software performance monitoring unit");
	VG_(details_copyright_author)("GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the softpmu project");
	VG_(details_avg_translation_sizeB)(600);
	VG_(basic_tool_funcs)(post_clo_init, tracer_instrument, fini);
	VG_(needs_command_line_options)(option, usage, debug_usage);
	VG_(needs_superblock_discards)(blocks_discarded);
	VG_(track_start_client_code)(start_client_code);
	VG_(track_stop_client_code)(stop_client_code);
	events_needs();
	client_needs();
	maps_init();

	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_vgdb) = 0;
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
