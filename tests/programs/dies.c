/* SPDX-License-Identifier: GPL-2.0-or-later
 * Works a little, then dies: `dies segv`, `dies abort`, `dies exit7`, `dies loop` (until a signal ends it). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned work;

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "segv";
	for (int i = 0; i < 1000000; i++)
		work += i;
	puts("working");
	fflush(stdout);
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "abort"))
		abort();
	while (!strcmp(how, "loop"))
		work++;
	return 7;
}
