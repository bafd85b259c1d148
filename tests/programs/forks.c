/* SPDX-License-Identifier: GPL-2.0-or-later
 * fork without exec, then fork and exec of /bin/echo; waits for both. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned work;

int main(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 300000; i++)
			work += i;
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		return 1;
	pid = fork();
	if (pid == 0) {
		execl("/bin/echo", "echo", "child", (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 1;
	for (int i = 0; i < 100000; i++)
		work += i;
	puts("parent");
	return 0;
}
