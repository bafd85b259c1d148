// SPDX-License-Identifier: GPL-2.0-or-later
// Nearly all of the time is in functions that the compiler inlines: into main, into each other, and into a function
// that is called.  inlined N makes N rounds.
#include <cstdlib>

namespace deep {
static unsigned seed = 1;

__attribute__((noinline)) static unsigned leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		seed = seed * 1103515245 + 12345;
	return seed;
}

template <typename T> inline __attribute__((always_inline)) T spin(T x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
	return x;
}

static inline __attribute__((always_inline)) unsigned calls_leaf(unsigned n)
{
	return leaf(n) + 1;
}
} // namespace deep

static inline __attribute__((always_inline)) unsigned outer(unsigned x)
{
	x = deep::spin(x, 40);
	return x + deep::calls_leaf(30);
}

__attribute__((noinline)) static unsigned middle(unsigned x)
{
	return deep::spin(x, 20) * 3;
}

int main(int argc, char **argv)
{
	unsigned x = 7, rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	for (unsigned i = 0; i < rounds; i++)
		x = outer(x) + middle(x);
	return x == 1;
}
