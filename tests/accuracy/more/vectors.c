// SPDX-License-Identifier: GPL-2.0-or-later
// Numerical kernels whose loops the compiler turns into SSE or AVX instructions, for tests/accuracy/more.sh:
// vectors KERNEL N. The script builds it twice, with -mavx2 -mfma and with SSE2 alone.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 42;

static float next(void)
{
	seed = seed * 1664525 + 1013904223;
	return (float)(seed >> 8) / (1 << 24);
}

// Heat on a plate: five points, single precision, 256 KB.
static double stencil(int n)
{
	enum { SIDE = 258 };
	static float now[SIDE][SIDE], then[SIDE][SIDE];
	double sum = 0;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			now[y][x] = then[y][x] = next();
	for (int step = 0; step < n / 16; step++) {
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++)
				then[y][x] = 0.5f * now[y][x] + 0.125f * (now[y - 1][x] + now[y + 1][x] +
					now[y][x - 1] + now[y][x + 1]);
		memcpy(now, then, sizeof(now));
	}
	for (int y = 0; y < SIDE; y++)
		sum += now[y][y];
	return sum;
}

// A filter of 32 taps over a signal in L1D: chains of multiply and add.
static double filter(int n)
{
	static float signal[2048 + 32], out[2048], taps[32];

	for (int i = 0; i < 2048 + 32; i++)
		signal[i] = next();
	for (int i = 0; i < 32; i++)
		taps[i] = next() / 32;
	for (int round = 0; round < n / 8; round++) {
		for (int i = 0; i < 2048; i++) {
			float sum = 0;

			for (int k = 0; k < 32; k++)
				sum += taps[k] * signal[i + k];
			out[i] = sum;
		}
		signal[round % 2048] = out[(round * 7) % 2048];
	}
	return out[5] + out[2000];
}

// Planets: square roots and divisions in double precision.
static double planets(int n)
{
	enum { COUNT = 64 };
	static double x[COUNT], y[COUNT], z[COUNT], vx[COUNT], vy[COUNT], vz[COUNT], mass[COUNT];

	for (int i = 0; i < COUNT; i++) {
		x[i] = next();
		y[i] = next();
		z[i] = next();
		mass[i] = next();
	}
	for (int step = 0; step < n / 8; step++) {
		for (int i = 0; i < COUNT; i++) {
			double ax = 0, ay = 0, az = 0;

			for (int j = 0; j < COUNT; j++) {
				double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
				double square = dx * dx + dy * dy + dz * dz + 0.01;
				double pull = mass[j] / (square * __builtin_sqrt(square));

				ax += dx * pull;
				ay += dy * pull;
				az += dz * pull;
			}
			vx[i] += 0.001 * ax;
			vy[i] += 0.001 * ay;
			vz[i] += 0.001 * az;
		}
		for (int i = 0; i < COUNT; i++) {
			x[i] += 0.001 * vx[i];
			y[i] += 0.001 * vy[i];
			z[i] += 0.001 * vz[i];
		}
	}
	return x[3] + vy[7];
}

// A picture of bytes: a blur of 3 x 3, a threshold and a sum of absolute differences.
static double blur(int n)
{
	enum { WIDTH = 512, HEIGHT = 128 };
	static uint8_t in[HEIGHT][WIDTH], out[HEIGHT][WIDTH];
	uint32_t differences = 0;

	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			in[y][x] = (uint8_t)(255 * next());
	for (int round = 0; round < n / 24; round++) {
		for (int y = 1; y < HEIGHT - 1; y++)
			for (int x = 1; x < WIDTH - 1; x++) {
				uint16_t sum = (uint16_t)(in[y - 1][x] + 2 * in[y][x] + in[y + 1][x] + in[y][x - 1] +
					in[y][x + 1]);
				uint8_t mean = (uint8_t)(sum / 6);

				out[y][x] = mean > 128 ? (uint8_t)(mean - 3) : mean;
			}
		for (int y = 0; y < HEIGHT; y++)
			for (int x = 0; x < WIDTH; x++)
				differences += (uint32_t)abs(in[y][x] - out[y][x]);
		in[round % HEIGHT][round % WIDTH] ^= 255;
	}
	return differences;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(int n);
	} kernels[] = { { "stencil", stencil }, { "filter", filter }, { "planets", planets }, { "blur", blur } };

	for (size_t i = 0; argc == 3 && i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(argv[1], kernels[i].name)) {
			printf("%s: %.6g\n", argv[1], kernels[i].run(atoi(argv[2])));
			return 0;
		}
	return 2;
}
