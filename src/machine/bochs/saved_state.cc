/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's memory in a saved state: its file has holes where memory is zero, and is mapped when the state is
 * restored, so that pages come as the guest touches them.  Bochs itself writes and reads the whole of it.
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/apic.h"
#include "machine/bochs/linux_guest.h"
#include "machine/bochs/processors.h"
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

enum { PAGE = 4096, LARGE = 1 << 20 };	/* bytes; what is smaller than LARGE is left to Bochs */

[[noreturn]] static void cannot_write(const char *file)
{
	fprintf(stderr, "softpmu-machine: %s could not be written\n", file);
	exit(1);
}

/* True: done, or nothing that Bochs could do better. */
bool softpmu_restore_data(const char *file, void *to, unsigned long long bytes)
{
	if (bytes < LARGE || (size_t)to % PAGE)
		return false;
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	const bool mapped = fd >= 0 && lseek(fd, 0, SEEK_END) == (off_t)bytes &&
		mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == to;
	if (fd >= 0)
		close(fd);
	return mapped;
}

bool softpmu_save_data(const char *file, const void *from, unsigned long long bytes)
{
	static const char zero[PAGE] = { 0 };
	if (bytes < LARGE || bytes % PAGE)
		return false;
	const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && !ftruncate(fd, (off_t)bytes);
	for (unsigned long long at = 0; good && at < bytes; at += PAGE) {
		const char *page = (const char *)from + at;
		if (memcmp(page, zero, PAGE))
			good = pwrite(fd, page, PAGE, (off_t)at) == PAGE;
	}
	if (fd >= 0 && close(fd))
		good = false;
	if (!good)
		cannot_write(file);
	return true;
}

/* ---- what the models know ---- */

namespace {

/* registers of the PMU, in the order of the first write of each */
std::vector<std::pair<unsigned, Bit64u>> written[PROCESSORS_MAX];

}

void state_note(unsigned cpu, unsigned msr, Bit64u value)
{
	for (auto &w : written[cpu])
		if (w.first == msr) {
			w.second = value;
			return;
		}
	written[cpu].push_back({ msr, value });
}

void state_write(const std::string &folder)
{
	const std::string name = folder + "/models";
	FILE *f = fopen(name.c_str(), "w");
	for (unsigned cpu = 0; f && cpu < BX_SMP_PROCESSORS; cpu++) {
		BX_CPU_C *c = BX_CPU(cpu);
		for (const auto &w : written[cpu]) {
			uint64_t value = w.second, now;
			if (guest_rdmsr(processors_model(cpu), w.first, &now) == GUEST_DONE)
				value = now;
			fprintf(f, "%u msr %u %llu\n", cpu, w.first, (unsigned long long)value);
		}
		fprintf(f, "%u lvt 0 %u\n%u pce 0 %u\n", cpu, c->lapic->read_aligned(BX_LAPIC_LVT_PERFMON), cpu,
			(unsigned)(c->cr4.get32() >> 8 & 1));
		fprintf(f, "%u paging 0 %u\n%u space 0 %llu\n%u halted 0 %u\n", cpu, processors_paging(cpu), cpu,
			(unsigned long long)c->cr3, cpu, c->activity_state != BX_CPU_C::BX_ACTIVITY_STATE_ACTIVE);
	}
	const bool good = f && !ferror(f);
	if (!f || fclose(f) || !good)
		cannot_write(name.c_str());
}

void state_read(const std::string &folder, unsigned cpu)
{
	FILE *f = fopen((folder + "/models").c_str(), "r");
	guest *model = processors_model(cpu);
	char what[8];
	unsigned whose, msr;
	unsigned long long value;
	while (f && fscanf(f, "%u %7s %u %llu", &whose, what, &msr, &value) == 4) {
		if (whose != cpu)
			continue;
		if (!strcmp(what, "msr")) {
			guest_wrmsr(model, msr, value);
			state_note(cpu, msr, value);
		} else if (!strcmp(what, "lvt")) {
			guest_lvt(model, (uint32_t)value);
		} else if (!strcmp(what, "pce")) {
			guest_pce(model, value != 0);
		} else if (!strcmp(what, "paging")) {
			guest_paging(model, (unsigned)value);
		} else if (!strcmp(what, "space")) {
			guest_space(model, value);
		} else if (!strcmp(what, "halted") && value) {
			processors_halted(cpu);
		}
	}
	if (f)
		fclose(f);
}
