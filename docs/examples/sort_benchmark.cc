// SPDX-License-Identifier: GPL-2.0-or-later
// A benchmark of Google Benchmark whose loop is a region, for docs/howto/ci.md.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <softpmu/client.h>
#include <vector>

static std::vector<unsigned> numbers()
{
	std::vector<unsigned> v(500);
	unsigned random = 1;
	for (unsigned &x : v)
		x = (random = random * 1103515245 + 12345) >> 16;
	return v;
}

static void sort_small(benchmark::State &state)
{
	for (auto _ : state) {
		auto v = numbers();
		SOFTPMU_REGION_BEGIN("sort_small");
		std::sort(v.begin(), v.end());
		SOFTPMU_REGION_END("sort_small");
	}
}
BENCHMARK(sort_small)->Iterations(100);
BENCHMARK_MAIN();
