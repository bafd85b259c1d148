// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the sound, pictures and films that the codecs of tests/accuracy/more.sh compress; the same on every host.
//   signals wav FRAMES		a WAV file: chords with a decay, and some noise
//   signals ppm WIDTH HEIGHT	a PPM file: a gradient, discs, a grid of lines, and some noise
//   signals y4m WIDTH HEIGHT N	a YUV4MPEG film of N pictures, in which discs move
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 42;

// Integers only: the result of sin() may differ between C libraries.
static int noise(int range)
{
	seed = seed * 1103515245 + 12345;
	return (int)(seed >> 16) % range - range / 2;
}

// A sine of amplitude 16384 by a parabola; the period is 65536.
static int wave(uint32_t phase)
{
	int x = (int)(phase & 0x7fff) - 0x4000;
	int y = 16384 - (int)((int64_t)x * x >> 14);

	return phase & 0x8000 ? -y : y;
}

static void put(uint32_t value, int bytes)
{
	for (; bytes--; value >>= 8)
		putchar(value & 255);
}

static void wav(uint32_t frames)
{
	fwrite("RIFF", 1, 4, stdout);
	put(36 + 4 * frames, 4);
	fwrite("WAVEfmt ", 1, 8, stdout);
	put(16, 4);
	put(1, 2);		// PCM
	put(2, 2);		// channels
	put(44100, 4);
	put(4 * 44100, 4);
	put(4, 2);
	put(16, 2);
	fwrite("data", 1, 4, stdout);
	put(4 * frames, 4);
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t beat = i / 11025, decay = 11025 - i % 11025;
		uint32_t base = 300 + 50 * (beat * 5 % 7);
		int left = wave(i * base) + wave(i * base * 5 / 4) / 2;
		int right = wave(i * base * 3 / 2) + wave(i * base * 3) / 4;

		put((uint32_t)(left * (int)decay / 16384 + noise(200)), 2);
		put((uint32_t)(right * (int)decay / 16384 + noise(200)), 2);
	}
}

// The brightness of a point of picture `time`.
static int shade(int x, int y, int width, int height, int time)
{
	int value = 40 + 120 * x / width + 60 * y / height;

	for (int i = 0; i < 5; i++) {
		int dx = x - (i * 97 + time * (3 + i)) % width, dy = y - (i * 61 + time * (5 - i)) % height;

		if (dx * dx + dy * dy < height * height / (20 + 10 * i))
			value += 25 * i - 60;
	}
	if (x % 40 == 0 || y % 32 == 0)
		value = 220;
	value += noise(7);
	return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void ppm(int width, int height)
{
	printf("P6\n%d %d\n255\n", width, height);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			int value = shade(x, y, width, height, 0);

			putchar(value);
			putchar((value + x / 4) & 255);
			putchar(255 - value / 2);
		}
}

static void y4m(int width, int height, int pictures)
{
	printf("YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n", width, height);
	for (int time = 0; time < pictures; time++) {
		printf("FRAME\n");
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++)
				putchar(shade(x, y, width, height, time));
		for (int i = 0; i < width * height / 2; i++)
			putchar(128 + (i / 64 + time) % 16);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";

	if (!strcmp(kind, "wav") && argc == 3)
		wav((uint32_t)atoi(argv[2]));
	else if (!strcmp(kind, "ppm") && argc == 4)
		ppm(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(kind, "y4m") && argc == 5)
		y4m(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	else
		return 2;
	return 0;
}
