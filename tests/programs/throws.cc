// SPDX-License-Identifier: GPL-2.0-or-later
// Throws and catches through several frames.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

__attribute__((noinline)) static int deep(int n)
{
	if (n == 0)
		throw std::runtime_error("bottom");
	std::string s(static_cast<size_t>(n), 'x');
	return deep(n - 1) + static_cast<int>(s.size());
}

int main(int argc, char **argv)
{
	int caught = 0, n = argc > 1 ? std::atoi(argv[1]) : 200;
	for (int i = 0; i < n; i++)
		try {
			caught += deep(10);
		} catch (const std::exception &e) {
			caught += static_cast<int>(std::string(e.what()).size());
		}
	std::printf("%d\n", caught);
	return 0;
}
