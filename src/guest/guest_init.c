/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first program of a Linux guest: mounts what programs expect, asks the machine for the command, runs it by
 * /bin/sh -c, and brings out what it wrote (guest_ports.h).  Without a C library, as 64-bit and as 32-bit program.
 *
 * The machine looks at the address space of processor 0: this program stays on it, its children do not.
 */
#include "guest/guest_ports.h"
#include "guest/guest_system.h"
#include <fcntl.h>
#include <linux/if.h>
#include <linux/stat.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { PORTS = 16, BLOCK = 64 << 10, PATH = 4096 };

static char block[BLOCK];
static struct guest_request request;
static volatile struct guest_call call;

static int64_t ask(unsigned what, unsigned channel, void *at, uint64_t size)
{
	call.what = what;
	call.channel = channel;
	call.addr = (uintptr_t)at;
	call.size = size;
	call.result = -1;
	__asm__ volatile("outl %0, %1" : : "a"((uint32_t)(uintptr_t)&call), "d"((uint16_t)GUEST_CALL_PORT) : "memory");
	return call.result;
}

static void bring(unsigned channel, void *from, uint64_t size)
{
	ask(GUEST_CALL_WRITE, channel, from, size);
}

static void __attribute__((noreturn)) leave(unsigned status)
{
	for (;;)
		__asm__ volatile("outb %0, %1" : : "a"((uint8_t)status), "d"((uint16_t)GUEST_EXIT_PORT));
}

static void put(const char *path, const char *text)
{
	const long fd = sys3(__NR_open, (long)path, O_WRONLY, 0);
	if (fd < 0)
		return;
	sys3(__NR_write, fd, (long)text, (long)text_length(text));
	sys1(__NR_close, fd);
}

static void mount_all(void)
{
	/* No tmpfs: / is in memory itself, and /tmp may have files of the host. */
	static const struct { const char *what, *type, *where; } all[] = {
		{ "proc", "proc", "/proc" }, { "sysfs", "sysfs", "/sys" }, { "dev", "devtmpfs", "/dev" },
		{ "pts", "devpts", "/dev/pts" }, { "debugfs", "debugfs", "/sys/kernel/debug" },
		{ "tracefs", "tracefs", "/sys/kernel/tracing" },
	};
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		sys2(__NR_mkdir, (long)all[i].where, 0755);
		sys5(__NR_mount, (long)all[i].what, (long)all[i].where, (long)all[i].type, 0, 0);
	}
	sys2(__NR_mkdir, (long)"/dev/shm", 0777);
	sys2(__NR_chmod, (long)"/dev/shm", 01777);
	sys2(__NR_chmod, (long)"/tmp", 01777);
	sys2(__NR_symlink, (long)"/proc/self/fd", (long)"/dev/fd");
	sys2(__NR_symlink, (long)"/proc/self/fd/0", (long)"/dev/stdin");
	sys2(__NR_symlink, (long)"/proc/self/fd/1", (long)"/dev/stdout");
	sys2(__NR_symlink, (long)"/proc/self/fd/2", (long)"/dev/stderr");
}

static void settle(void)
{
	static const char name[] = "guest";
	struct ifreq lo = { .ifr_name = "lo" };
	put("/proc/sys/kernel/perf_event_paranoid", "-1");
	put("/proc/sys/kernel/kptr_restrict", "0");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "1000000");
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	sys2(__NR_sethostname, (long)name, sizeof name - 1);
	const long s = sys3(__NR_socket, AF_INET, SOCK_DGRAM, 0);
	if (s < 0)
		return;
	lo.ifr_flags = IFF_UP;
	sys3(__NR_ioctl, s, 0x8914 /* SIOCSIFFLAGS */, (long)&lo);
	sys1(__NR_close, s);
}

static void stay_on_first(bool stay)
{
	static unsigned long set[16];
	memset(set, stay ? 0 : 0xff, sizeof set);
	set[0] |= 1;
	sys3(__NR_sched_setaffinity, 0, sizeof set, (long)set);
}

static void bring_file(unsigned channel, const char *path)
{
	const long fd = sys3(__NR_open, (long)path, O_RDONLY, 0);
	long n;
	while (fd >= 0 && (n = sys3(__NR_read, fd, (long)block, BLOCK)) > 0)
		bring(channel, block, (uint64_t)n);
	sys1(__NR_close, fd);
}

/* ---- /out ---- */

static char path[PATH];

/* One file whose name begins at path + 5; the bytes are those that its header says. */
static void bring_entry(const struct statx *s)
{
	struct guest_file f = { s->stx_mode, (uint32_t)text_length(path + 5), 0 };
	const unsigned type = s->stx_mode & S_IFMT;
	long fd = -1, n = 0;
	if (type == S_IFREG) {
		fd = sys3(__NR_open, (long)path, O_RDONLY, 0);
		if (fd < 0)
			return;
		f.data_bytes = s->stx_size;
	} else if (type == S_IFLNK) {
		n = sys3(__NR_readlink, (long)path, (long)block, PATH);
		if (n < 0)
			return;
		f.data_bytes = (uint64_t)n;
	} else if (type != S_IFDIR) {
		return;
	}
	bring(GUEST_FILES, &f, sizeof f);
	bring(GUEST_FILES, path + 5, f.name_bytes);
	if (type == S_IFLNK)
		bring(GUEST_FILES, block, (uint64_t)n);
	for (uint64_t left = fd >= 0 ? f.data_bytes : 0; left;) {
		const uint64_t most = left < BLOCK ? left : BLOCK;
		n = sys3(__NR_read, fd, (long)block, (long)most);
		if (n <= 0) {			/* it became shorter */
			n = (long)most;
			memset(block, 0, (unsigned long)n);
		}
		bring(GUEST_FILES, block, (uint64_t)n);
		left -= (uint64_t)n;
	}
	if (fd >= 0)
		sys1(__NR_close, fd);
}

struct entry {				/* struct linux_dirent64 */
	uint64_t ino, off;
	unsigned short bytes;
	unsigned char type;
	char name[];
};

/* The folder whose name path has, `at` bytes; its entries, then theirs. */
static void bring_folder(unsigned at, unsigned depth)
{
	char list[2048];
	const long fd = sys3(__NR_open, (long)path, O_RDONLY | O_DIRECTORY, 0);
	long n;
	while (fd >= 0 && (n = sys3(__NR_getdents64, fd, (long)list, sizeof list)) > 0)
		for (long i = 0; i < n;) {
			const struct entry *e = (const struct entry *)(list + i);
			const unsigned long size = text_length(e->name);
			struct statx s;
			i += e->bytes;
			if ((e->name[0] == '.' && (!e->name[1] || (e->name[1] == '.' && !e->name[2]))) ||
				at + size + 2 > PATH)
				continue;
			path[at] = '/';
			memcpy(path + at + 1, e->name, size + 1);
			if (!sys5(__NR_statx, -100, (long)path, 0x100 /* AT_SYMLINK_NOFOLLOW */,
				STATX_BASIC_STATS, (long)&s)) {
				bring_entry(&s);
				if ((s.stx_mode & S_IFMT) == S_IFDIR && depth < 64)
					bring_folder(at + 1 + (unsigned)size, depth + 1);
			}
			path[at] = 0;
		}
	if (fd >= 0)
		sys1(__NR_close, fd);
}

/* ---- the command ---- */

/* A guest that has no shell can run a program with plain words. */
static void without_shell(const char *const *environment)
{
	static char *word[256];
	unsigned n = 0;
	for (char *at = request.command; *at && n < 255;) {
		while (*at == ' ')
			*at++ = 0;
		if (*at)
			word[n++] = at;
		while (*at && *at != ' ')
			at++;
	}
	if (n)
		sys3(__NR_execve, (long)word[0], (long)word, (long)environment);
}

static void __attribute__((noreturn)) child(const int out[2], const int err[2], const uint64_t *mask)
{
	static const char *const shell[] = { "sh", "-c", request.command, NULL };
	static const char *const environment[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb",
		"SHELL=/bin/sh", "USER=root", "PWD=/", NULL };
	const long null = sys3(__NR_open, (long)"/dev/null", O_RDWR, 0);
	sys2(__NR_dup2, null, 0);
	sys2(__NR_dup2, out[1], 1);
	sys2(__NR_dup2, err[1], 2);
	for (int i = 3; i < 32; i++)
		sys1(__NR_close, i);
	sys3(__NR_ioperm, GUEST_MARK_PORT + 1, PORTS - 1, 0);	/* marks are for everybody */
	stay_on_first(false);
	sys4(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)mask, 0, 8);
	sys0(__NR_setsid);
	sys3(__NR_execve, (long)"/bin/sh", (long)shell, (long)environment);
	without_shell(environment);
	static const char why[] = "softpmu machine: the guest has no /bin/sh, and no program of this name\n";
	sys3(__NR_write, 2, (long)why, sizeof why - 1);
	sys1(__NR_exit, 127);
	__builtin_unreachable();
}

/* Moves what there is from a pipe; false at its end. */
static bool drain(int fd, unsigned channel)
{
	long n;
	while ((n = sys3(__NR_read, fd, (long)block, BLOCK)) > 0)
		bring(channel, block, (uint64_t)n);
	return n != 0;
}

static unsigned run(void)
{
	static const uint64_t mask = 1ull << (SIGCHLD - 1);
	int out[2], err[2], status = 0;
	if (sys2(__NR_pipe2, (long)out, O_NONBLOCK) || sys2(__NR_pipe2, (long)err, O_NONBLOCK))
		return 1;
	/* The command's ends wait. */
	sys3(__NR_fcntl, out[1], F_SETFL, 0);
	sys3(__NR_fcntl, err[1], F_SETFL, 0);
	sys4(__NR_rt_sigprocmask, SIG_BLOCK, (long)&mask, 0, 8);
	const long ended = sys4(__NR_signalfd4, -1, (long)&mask, 8, O_NONBLOCK);
	const long pid = sys0(__NR_fork);
	if (pid < 0)
		return 1;
	if (!pid)
		child(out, err, &mask);
	sys1(__NR_close, out[1]);
	sys1(__NR_close, err[1]);
	struct pollfd p[3] = { { out[0], POLLIN, 0 }, { err[0], POLLIN, 0 }, { (int)ended, POLLIN, 0 } };
	for (;;) {
		sys3(__NR_poll, (long)p, 3, -1);
		if (p[0].fd >= 0 && p[0].revents && !drain(out[0], GUEST_STDOUT))
			p[0].fd = -1;
		if (p[1].fd >= 0 && p[1].revents && !drain(err[0], GUEST_STDERR))
			p[1].fd = -1;
		if (!p[2].revents)
			continue;
		while (sys3(__NR_read, ended, (long)block, 128) > 0) {}
		long one;
		int s;
		while ((one = sys4(__NR_wait4, -1, (long)&s, 1 /* WNOHANG */, 0)) > 0)
			if (one == pid) {
				drain(out[0], GUEST_STDOUT);
				drain(err[0], GUEST_STDERR);
				status = s;
				return status & 0x7f ? 128u + ((unsigned)status & 0x7f) :
					(unsigned)status >> 8 & 255;
			}
	}
}

void __attribute__((noreturn, used)) guest_init(void)
{
	if (sys3(__NR_ioperm, GUEST_MARK_PORT, PORTS, 1))
		for (;;)
			sys1(__NR_exit, 1);	/* the kernel panics, and says so on its console */
	mount_all();
	stay_on_first(true);
	settle();
	memset(&request, 0, sizeof request);	/* so that its pages are there */
	memset(block, 1, sizeof block);
	if (ask(GUEST_CALL_REQUEST, 0, &request, sizeof request) >= 0 && request.wants & GUEST_WANTS_SAVE) {
		ask(GUEST_CALL_SAVE, 0, NULL, 0);
		memset(&request, 0, sizeof request);
		ask(GUEST_CALL_REQUEST, 0, &request, sizeof request);
	}
	request.command[GUEST_COMMAND_MAX - 1] = 0;
	if (request.wants & GUEST_WANTS_KALLSYMS)
		bring_file(GUEST_KALLSYMS, "/proc/kallsyms");
	sys1(__NR_chdir, (long)"/");
	const unsigned status = run();
	if (request.wants & GUEST_WANTS_FILES) {
		memcpy(path, "/out", 5);
		bring_folder(4, 0);
	}
	leave(status);
}
