/* SPDX-License-Identifier: GPL-2.0-or-later
 * The emulator as a child (machine_run.h).
 */
#include "cli/machine/machine_run.h"
#include "cli/cli.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The emulator's last words: the line of its log that begins with what it could not do, or the kernel's panic. */
static void last_words(const struct machine_files *f, const char *console)
{
	char line[1024], why[1024] = "", panic[1024] = "";
	FILE *log = fopen(f->log, "r"), *serial = fopen(console, "r");
	while (log && fgets(line, sizeof line, log)) {
		const char *stop = strstr(line, ">>PANIC<<"), *ours = strstr(line, "softpmu-machine: ");
		if (stop || ours)
			snprintf(why, sizeof why, "%s", stop ? stop + 9 : ours + 17);
	}
	while (serial && fgets(line, sizeof line, serial)) {
		const char *at = strstr(line, "Kernel panic");
		if (at && !strstr(line, "end Kernel panic"))
			snprintf(panic, sizeof panic, "%s", at);
	}
	if (log)
		fclose(log);
	if (serial)
		fclose(serial);
	char *text = panic[0] ? panic : why;
	text[strcspn(text, "\r\n")] = 0;
	cli_error("the machine stopped: %s", text[0] ? text + strspn(text, " ") : "it gave no reason");
}

static void __attribute__((noreturn)) child(const char *program, const struct machine_files *f, const char *restore,
	bool interrupts)
{
	/* The options name these by their numbers. */
	const int out = fcntl(1, F_DUPFD, 10), err = fcntl(2, F_DUPFD, 10);
	const int log = open(f->log, O_WRONLY | O_CREAT | O_TRUNC, 0644), in = open("/dev/null", O_RDONLY);
	if (out < 0 || err < 0 || log < 0 || in < 0)
		_exit(126);
	const int high = fcntl(log, F_DUPFD, 10);
	if (dup2(in, 0) < 0 || dup2(high, 1) < 0 || dup2(high, 2) < 0 || dup2(out, MACHINE_STDOUT) < 0 ||
		dup2(err, MACHINE_STDERR) < 0 || setenv("SOFTPMU_MACHINE", f->options, 1))
		_exit(126);
	close(out);
	close(err);
	close(high);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (interrupts)
		signal(SIGINT, SIG_DFL);
	if (restore)
		execl(program, program, "-q", "-r", restore, (char *)NULL);
	else
		execl(program, program, "-q", "-f", f->config, (char *)NULL);
	_exit(127);
}

static int start(const char *program, const struct machine_files *f, const char *restore)
{
	/* of a terminal, for both at once: it ends the emulator, and this process removes the files */
	void (*const before)(int) = signal(SIGINT, SIG_IGN);
	const pid_t pid = fork();
	if (!pid)
		child(program, f, restore, before != SIG_IGN);
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
	const int saved = errno;
	signal(SIGINT, before);
	errno = saved;
	return status;
}

int machine_run(const char *program, const struct machine_files *f, const char *restore, const char *console)
{
	char line[1024], failure[1024] = "";
	int status = -1;
	bool saved = false;
	unlink(f->report);
	fflush(NULL);
	const int wait_status = start(program, f, restore);
	if (wait_status < 0) {
		cli_error("the machine could not be started: %s", strerror(errno));
		return MACHINE_FAILED;
	}
	FILE *r = fopen(f->report, "r");
	while (r && fgets(line, sizeof line, r)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "status=", 7))
			status = atoi(line + 7) & 255;
		if (!strncmp(line, "saved=", 6))
			saved = true;
		if (!strncmp(line, "failure=", 8))
			snprintf(failure, sizeof failure, "%s", line + 8);
	}
	if (r)
		fclose(r);
	if (failure[0]) {
		cli_error("the machine's core stopped timing: %s", failure);
		return MACHINE_FAILED;
	}
	if (saved && WIFEXITED(wait_status))	/* Bochs ends with 1 when it was told to stop */
		return MACHINE_SAVED;
	if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) == 127 || status < 0) {
		if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 127)
			cli_error("the machine could not be started");
		else
			last_words(f, console);
		return MACHINE_FAILED;
	}
	return status;
}
