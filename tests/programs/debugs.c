/* SPDX-License-Identifier: GPL-2.0-or-later
 * Debugs another program as gdb does: the child asks for it, executes, stops there, and runs to its end. */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)0);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("exec %s", WIFSTOPPED(status) ? "stopped" : "did not stop");
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	printf(", exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
