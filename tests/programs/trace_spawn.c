/* SPDX-License-Identifier: GPL-2.0-or-later
 * Every way to start another program that shares memory with its parent at first: posix_spawn, system, popen, vfork. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
	char *args[] = { "echo", "spawned", NULL }, line[64] = "";
	int status;
	pid_t pid;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (posix_spawn(&pid, "/bin/echo", NULL, NULL, args, environ) || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("posix_spawn %d\n", WEXITSTATUS(status));
	status = system("exit 5");
	printf("system %d\n", WEXITSTATUS(status));
	FILE *pipe = popen("echo piped", "r");
	if (!pipe || !fgets(line, sizeof line, pipe))
		return 1;
	status = pclose(pipe);
	printf("popen %d %s", status, line);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	printf("vfork %d\n", WEXITSTATUS(status));
	return 0;
}
