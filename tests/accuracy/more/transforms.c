// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of numerical libraries, for tests/accuracy/more.sh: blas N multiplies matrices and solves systems with OpenBLAS
// (built with -DBLAS), fftw N transforms with FFTW, with a plan that needs no measurement.
#include <stdio.h>
#include <stdlib.h>

static unsigned seed = 42;

static double next(void)
{
	seed = seed * 1664525 + 1013904223;
	return (double)(seed >> 8) / (1 << 24) - 0.5;
}

#ifdef BLAS
#include <cblas.h>
enum { SIDE = 160 };
static double a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];

static double run(int n)
{
	double sum = 0;

	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = next();
		b[i] = next();
	}
	for (int i = 0; i < SIDE; i++)
		a[i * SIDE + i] += SIDE;	// the triangular solve must not grow
	for (int round = 0; round < n / 140; round++) {
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, SIDE, SIDE, SIDE, 0.5, a, SIDE, b, SIDE, 0.1, c,
			SIDE);
		cblas_dgemv(CblasRowMajor, CblasNoTrans, SIDE, SIDE, 1, c, SIDE, b, 1, 0, b + SIDE, 1);
		cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, SIDE, a, SIDE, b + SIDE, 1);
		sum += cblas_ddot(SIDE * SIDE, c, 1, b, 1) + cblas_dnrm2(SIDE * SIDE, c, 1);
	}
	return sum;
}
#else
#include <fftw3.h>

static double run(int n)
{
	static const int sizes[] = { 4096, 3000, 1155, 2310, 8192 };
	double sum = 0;

	for (int which = 0; which < 5; which++) {
		int size = sizes[which];
		fftw_complex *in = fftw_malloc(sizeof(*in) * (size_t)size);
		fftw_complex *out = fftw_malloc(sizeof(*out) * (size_t)size);
		fftw_plan plan = fftw_plan_dft_1d(size, in, out, FFTW_FORWARD, FFTW_ESTIMATE);

		for (int i = 0; i < size; i++)
			in[i][0] = next();
		for (int round = 0; round < n / 120; round++) {
			fftw_execute(plan);
			in[round % size][1] += 0.001 * out[round % size][0];
		}
		sum += out[1][0] + out[size / 2][1];
		fftw_destroy_plan(plan);
		fftw_free(in);
		fftw_free(out);
	}
	return sum;
}
#endif

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	printf("%.6g\n", run(atoi(argv[1])));
	return 0;
}
