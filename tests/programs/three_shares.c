/* SPDX-License-Identifier: GPL-2.0-or-later
 * three_shares N: three functions with 10, 30 and 60 % of the loops' rounds take turns, N times.  Their branches depend
 * on data.  For profiles of sampled runs: the shares are the same throughout.
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned little(unsigned s, int n)
{
	for (int i = 0; i < n; i++)
		s = s & 1 ? s * 3 + 1 : s / 2 + 77;
	return s;
}

__attribute__((noinline)) static unsigned more(unsigned s, int n)
{
	for (int i = 0; i < n; i++)
		s = s & 2 ? s * 5 + 1 : s ^ 0x1234567;
	return s;
}

__attribute__((noinline)) static unsigned most(unsigned s, int n)
{
	for (int i = 0; i < n; i++)
		s = s & 4 ? s * 7 + 1 : s + 0x7654321;
	return s;
}

int main(int argc, char **argv)
{
	unsigned s = 1;
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		s = little(s, 10);
		s = more(s, 30);
		s = most(s, 60);
	}
	printf("%u\n", s);
	return 0;
}
