/* SPDX-License-Identifier: GPL-2.0-or-later
 * Containers and regular expressions of the C++ library, for tests/accuracy/held-out.sh.
 * containers NAME N: the work grows with N. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>

static uint64_t seed = 88172645463325252u;
static uint32_t random32()
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return uint32_t(seed >> 16);
}

template <class M> static unsigned long words(unsigned n)
{
	M count;
	unsigned long sum = 0;
	char word[24];
	for (unsigned i = 0; i < 2 * n; i++) {
		snprintf(word, sizeof word, "w%u", random32() % (n + random32() % (3 * n)));
		count[word]++;
	}
	for (auto &e : count)
		sum += e.first.size() * e.second;
	return sum;
}

static unsigned long tree(unsigned n)
{
	std::map<uint32_t, uint32_t> m;
	unsigned long sum = 0;
	for (unsigned i = 0; i < 3 * n; i++) {
		uint32_t k = random32() % (4 * n);
		if (i % 4 == 3)
			m.erase(k);
		else
			m[k] += i;
	}
	for (auto &e : m)
		sum += e.first ^ e.second;
	return sum;
}

static unsigned long expressions(unsigned n)
{
	std::regex r("([a-z]+)-([0-9]+)(x|yz)*");
	std::smatch found;
	unsigned long sum = 0;
	for (unsigned i = 0; i < n / 4; i++) {
		std::string s = "some text " + std::to_string(random32() % 1000) + " key-"
			+ std::to_string(random32() % 100000) + (i % 3 ? "xyz" : " end");
		if (std::regex_search(s, found, r))
			sum += found.position(0) + found.length(2);
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc == 3 ? unsigned(atoi(argv[2])) : 0;
	if (n && !strcmp(argv[1], "words"))
		printf("%lu\n", words<std::unordered_map<std::string, unsigned>>(n));
	else if (n && !strcmp(argv[1], "tree"))
		printf("%lu\n", tree(n));
	else if (n && !strcmp(argv[1], "regex"))
		printf("%lu\n", expressions(n));
	else
		return 2;
	return 0;
}
