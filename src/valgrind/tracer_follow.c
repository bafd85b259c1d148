/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which of the processes that the program starts can be traced.
 *
 * A process that cannot be traced runs as it would without softpmu, and a note in the stream of the process that
 * started it says why.  These cannot be traced:
 *   - all processes, once the reader is gone, or where a process cannot reach the directory of the rings any more;
 *   - what is forked into a new PID namespace: the reader would look for the process under a pid that means another;
 *   - setuid and setgid programs: the kernel would start the tracer without the rights that the program needs;
 *   - a program that is being debugged (ptrace): its debugger would see the tracer's signals, exec and memory;
 *   - Valgrind tools, which must be loaded at the address where this tracer lies;
 *   - the reader's own program, whose threads wait for each other in loops: traced, it would take minutes.
 */
#include "tracer.h"
#include "core_private.h"
#include <elf.h>

Bool follow_new_pids, follow_untraced;

static Bool wanted;
static Int debugger_before;	/* when the process began */

/* The process that debugs this one; 0: none, or it is not known. */
static Int debugger(void)
{
	HChar text[1024];
	SysRes fd = VG_(open)("/proc/self/status", VKI_O_RDONLY | O_CLOEXEC_, 0);

	if (sr_isError(fd))
		return 0;
	Int got = VG_(read)((Int)sr_Res(fd), text, sizeof text - 1);
	VG_(close)((Int)sr_Res(fd));
	text[got > 0 ? got : 0] = 0;
	const HChar *at = VG_(strstr)(text, "\nTracerPid:\t");
	return at ? (Int)VG_(strtoll10)(at + 12, NULL) : 0;
}

static void read_link(const HChar *path, HChar *out, SizeT size)
{
	SSizeT got = VG_(readlink)(path, out, (UInt)size - 1);
	out[got > 0 ? got : 0] = 0;
}

/* True if what this process forks gets another pid in its own eyes than in the reader's. */
static Bool pids_differ(void)
{
	HChar own[64], children[64];

	read_link("/proc/self/ns/pid", own, sizeof own);
	read_link("/proc/self/ns/pid_for_children", children, sizeof children);
	return follow_new_pids || VG_(strcmp)(own, children) != 0;
}

static void untraced(const HChar *why)
{
	static Bool told;

	if (!told)
		events_note(1, why);
	told = True;
}

Bool follow_can(void)
{
	if (!wanted)
		return False;
	if (!ring_reader_lives()) {
		if (ring.control && !ring.control->reader_gone)
			untraced("a process changed its root or user and cannot reach the tracer's files: programs "
				 "that it starts run untraced");
		return False;
	}
	if (!pids_differ())
		return True;
	untraced("a process made a PID namespace: programs that it starts run untraced");
	return False;
}

/* True if a file must be loaded where this tracer lies. */
static Bool is_valgrind_tool(const HChar *path)
{
	ULong words[128];
	const UChar *head = (const UChar *)words;
	SysRes fd = VG_(open)(path, VKI_O_RDONLY | O_CLOEXEC_, 0);

	if (sr_isError(fd))
		return False;
	Int got = VG_(read)((Int)sr_Res(fd), words, sizeof words);
	VG_(close)((Int)sr_Res(fd));
	const Elf64_Ehdr *e64 = (const Elf64_Ehdr *)head;
	const Elf32_Ehdr *e32 = (const Elf32_Ehdr *)head;
	if (got < (Int)sizeof *e64 || VG_(memcmp)(head, ELFMAG, SELFMAG) != 0 || e64->e_type != ET_EXEC)
		return False;		/* both classes agree up to e_type */
	const Bool wide = head[EI_CLASS] == ELFCLASS64;
	const UInt size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	ULong at = wide ? e64->e_phoff : e32->e_phoff;
	for (UInt n = wide ? e64->e_phnum : e32->e_phnum; n && at < (ULong)got && at + size <= (ULong)got; n--) {
		const Elf64_Phdr *p64 = (const Elf64_Phdr *)(head + at);
		const Elf32_Phdr *p32 = (const Elf32_Phdr *)(head + at);
		if (wide ? p64->p_type == PT_LOAD && p64->p_vaddr >> 24 == TRACER_TEXT >> 24
			 : p32->p_type == PT_LOAD && p32->p_vaddr >> 24 == TRACER_TEXT >> 24)
			return True;
		at += size;
	}
	return False;
}

static Bool is_reader(const struct vg_stat *program)
{
	HChar path[VKI_PATH_MAX];
	struct vg_stat own;

	VG_(snprintf)(path, sizeof path, "%s/reader", settings.dir);
	return !sr_isError(VG_(stat)(path, &own)) && own.dev == program->dev && own.ino == program->ino;
}

Bool follow_can_exec(const HChar *path)
{
	const HChar *why = NULL;
	struct vg_stat st;

	follow_untraced = False;

	const Bool is = !sr_isError(VG_(stat)(path, &st));
	if (is && (st.mode & (VKI_S_ISUID | VKI_S_ISGID)))
		why = "a setuid or setgid program runs untraced";
	else if (is && is_reader(&st))
		why = "softpmu itself runs untraced, and so does its program";
	else if (debugger() != debugger_before)
		why = "a program that another one debugs (ptrace) runs untraced";
	else if ((follow_untraced = is_valgrind_tool(path)))
		events_note(1, "a Valgrind tool runs untraced, and so does its program");
	if (why)
		events_note(1, why);
	return !why;
}

void follow_begin(void)
{
	debugger_before = wanted ? debugger() : 0;
}

void follow_init(void)
{
	wanted = VG_(clo_trace_children);
}
