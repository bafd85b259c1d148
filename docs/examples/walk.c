#include <stdio.h>

enum { N = 512 };
static double a[N][N], b[N][N];

__attribute__((noinline)) static void fill(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i ^ j;
}

__attribute__((noinline)) static void transpose(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			b[i][j] = a[j][i];
}

int main(void)
{
	fill();
	for (int k = 0; k < 4; k++)
		transpose();
	printf("%g\n", b[3][5]);
	return 0;
}
