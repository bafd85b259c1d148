/* SPDX-License-Identifier: GPL-2.0-or-later
 * Bochs as the emulator of machine.h: turns what Bochs calls (instrument.h) into calls of the model, and gives the
 * model the local APIC, linear memory and registers.
 *
 * Options come from the file that SOFTPMU_MACHINE names, which `softpmu machine` writes: lines "name=value" with data,
 * core, set (any number of times), reload_msrs (1: the PMU has them), timing (counting, marked, always), console (a
 * file for what the guest writes to CONSOLE_PORT) and report (a file to be written at the end).
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/apic.h"
#include "memory/memory-bochs.h"
#include "pc_system.h"
#include "machine/machine.h"
#include <string>
#include <vector>
#include <cstdio>
#include <cstdlib>
#include <cstring>

bool softpmu_watches;

namespace {

/* What a guest can write by OUT, a byte each */
enum {
	MARK_PORT = 0x5350,	/* 1, 0: what is timed begins, ends (GUEST_MARKED) */
	CONSOLE_PORT = 0x5352,	/* a character of the file "console" */
	EXIT_PORT = 0x5354,	/* the machine ends with this status */
};

struct settings {
	std::string data, core = "skylake", report, console;
	std::vector<std::string> set;
	guest_timing timing = GUEST_COUNTING;
	bool reload_msrs = false;
};

struct side {			/* of the one processor */
	guest *model = NULL;
	settings options;
	FILE *console = NULL;
	int status = -1;		/* what the guest wrote to EXIT_PORT */
	bool halted = false;
	Bit64u halted_from = 0;
} here;

BX_CPU_C *processor() { return BX_CPU(0); }

/* The linear address of an offset in the code segment. */
Bit64u code_address(BX_CPU_C *c, Bit64u offset)
{
	return c->long64_mode() ? offset : (Bit32u)(c->get_segment_base(BX_SEG_REG_CS) + offset);
}

void watch() { softpmu_watches = guest_watches(here.model); }

void on_interrupt(void *, uint32_t sent, uint32_t lvt)
{
	bx_local_apic_c *apic = processor()->lapic;
	const bool masked = apic->read_aligned(BX_LAPIC_LVT_PERFMON) & 0x10000;
	apic->set_lvt_entry(BX_LAPIC_LVT_PERFMON, lvt);
	if (!masked)
		apic->deliver(sent & 0xff, sent >> 8 & 7, 0);
}

/* Copies page by page; false for a page that is not there. */
template <class copy> int pieces(uint64_t addr, size_t bytes, copy one)
{
	for (size_t done = 0; done < bytes;) {
		const Bit64u at = addr + done;
		size_t n = 4096 - (at & 4095);
		n = n > bytes - done ? bytes - done : n;
		bx_phy_address phy;
		if (!processor()->dbg_xlate_linear2phy(at, &phy))
			return -1;
		one(phy, done, (unsigned)n);
		done += n;
	}
	return 0;
}

int on_read(void *, uint64_t addr, void *to, size_t bytes)
{
	return pieces(addr, bytes, [&](bx_phy_address phy, size_t at, unsigned n) {
		for (unsigned i = 0; i < n; i++)
			BX_MEM(0)->readPhysicalPage(processor(), phy + i, 1, (Bit8u *)to + at + i);
	});
}

int on_write(void *, uint64_t addr, const void *from, size_t bytes)
{
	Bit8u byte;		/* all pages first: a record is written whole or not at all */
	if (on_read(NULL, addr, &byte, 1) || on_read(NULL, addr + bytes - 1, &byte, 1))
		return -1;
	return pieces(addr, bytes, [&](bx_phy_address phy, size_t at, unsigned n) {
		for (unsigned i = 0; i < n; i++) {
			byte = ((const Bit8u *)from)[at + i];
			BX_MEM(0)->writePhysicalPage(processor(), phy + i, 1, &byte);
		}
	});
}

void on_registers(void *, spmu_registers *out)
{
	BX_CPU_C *c = processor();
	for (unsigned i = 0; i < 16; i++)
		out->gpr[i] = c->get_reg64(i);
	out->rip = code_address(c, c->prev_rip);
	out->rflags = c->read_eflags();
}

bool read_settings(settings *s)
{
	const char *path = getenv("SOFTPMU_MACHINE");
	FILE *f = path ? fopen(path, "r") : NULL;
	char line[4096];
	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = 0;
		const std::string name = line;
		if (name == "data")
			s->data = value;
		else if (name == "core")
			s->core = value;
		else if (name == "set")
			s->set.push_back(value);
		else if (name == "reload_msrs")
			s->reload_msrs = true;
		else if (name == "report")
			s->report = value;
		else if (name == "console")
			s->console = value;
		else if (name == "timing")
			s->timing = !strcmp(value, "always") ? GUEST_ALWAYS :
				!strcmp(value, "marked") ? GUEST_MARKED : GUEST_COUNTING;
	}
	fclose(f);
	return true;
}

void write_report()
{
	struct guest_report r;
	::guest_report(here.model, &r);
	FILE *f = here.options.report.empty() ? NULL : fopen(here.options.report.c_str(), "w");
	if (!f)
		return;
	fprintf(f, "executed=%llu\nticks=%llu\n", (unsigned long long)processor()->get_icount(),
		(unsigned long long)bx_pc_system.time_ticks());
	fprintf(f, "instructions_kernel=%llu\ninstructions_user=%llu\ncycles_kernel=%llu\ncycles_user=%llu\n",
		(unsigned long long)r.instructions[0], (unsigned long long)r.instructions[1],
		(unsigned long long)r.cycles[0], (unsigned long long)r.cycles[1]);
	fprintf(f, "untimed=%llu\npmis=%llu\nevents=%llu\nblocks=%llu\nstepped=%llu\n", (unsigned long long)r.untimed,
		(unsigned long long)r.pmis, (unsigned long long)r.events, (unsigned long long)r.blocks,
		(unsigned long long)r.stepped);
	if (here.status >= 0)
		fprintf(f, "status=%d\n", here.status);
	if (r.failure)
		fprintf(f, "failure=%s\n", r.failure);
	fclose(f);
}

}

void softpmu_start(void)
{
	if (here.model || !read_settings(&here.options)) {
		if (!here.model)
			fprintf(stderr, "softpmu-machine: start it by `softpmu machine`\n"), exit(2);
		return;
	}
	std::vector<const char *> set;
	for (const std::string &s : here.options.set)
		set.push_back(s.c_str());
	const guest_options o = { here.options.data.c_str(), here.options.core.c_str(), set.data(), set.size(),
		here.options.timing, NULL, here.options.reload_msrs };
	const guest_emulator e = { NULL, on_interrupt, on_read, on_write, on_registers };
	struct err err;
	if (guest_create(&here.model, &o, &e, &err) < 0) {
		fprintf(stderr, "softpmu-machine: %s\n", err.text);
		exit(1);
	}
	watch();
	if (!here.options.console.empty())
		here.console = fopen(here.options.console.c_str(), "w");
	atexit(softpmu_end);
}

void softpmu_end(void)
{
	if (!here.model)
		return;
	write_report();
	if (here.console)
		fclose(here.console);
	here.console = NULL;
	guest_destroy(here.model);
	here.model = NULL;
	softpmu_watches = false;
}

void softpmu_reset(unsigned) {}

void softpmu_before(bxInstruction_c *i)
{
	BX_CPU_C *c = processor();
	if (here.halted) {	/* it goes on: the time in between has passed already */
		here.halted = false;
		guest_halted(here.model, bx_pc_system.time_ticks() - here.halted_from);
	}
	guest_insn in;
	in.ip = code_address(c, c->prev_rip);
	in.code = i->get_opcode_bytes();
	in.len = (uint8_t)i->ilen();
	in.cpl = (uint8_t)c->sregs[BX_SEG_REG_CS].selector.rpl;
	in.bits = c->long64_mode() ? 64 : c->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? 32 : 16;
	/* a string instruction: A4 to A7, AA to AF, 6C to 6F behind its prefixes */
	in.rep = false;
	if (i->repUsedL() || i->lockRepUsedValue() >= 2) {
		unsigned n = 0;
		while (n + 1u < in.len && (in.code[n] == 0xf2 || in.code[n] == 0xf3 || in.code[n] == 0x66 ||
			in.code[n] == 0x67 || in.code[n] == 0x2e || in.code[n] == 0x3e || in.code[n] == 0x26 ||
			in.code[n] == 0x36 || in.code[n] == 0x64 || in.code[n] == 0x65 ||
			(in.bits == 64 && in.code[n] >> 4 == 4)))
			n++;
		const uint8_t op = in.code[n];
		in.rep = n > 0 && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
			(op >= 0x6c && op <= 0x6f));
	}
	guest_begin(here.model, &in);
}

void softpmu_after(bxInstruction_c *)
{
	BX_CPU_C *c = processor();
	guest_end(here.model, code_address(c, c->prev_rip));
	watch();
}

void softpmu_iteration(bxInstruction_c *)
{
	guest_iteration(here.model);
	watch();
}

void softpmu_access(bx_address lin, unsigned len, unsigned rw)
{
	guest_access(here.model, rw == BX_RW ? GUEST_UPDATE : rw & BX_WRITE ? GUEST_STORE : GUEST_LOAD, lin, len);
}

void softpmu_event(bool fault)
{
	BX_CPU_C *c = processor();
	if (!softpmu_watches)
		return;
	if (here.halted) {
		here.halted = false;
		guest_halted(here.model, bx_pc_system.time_ticks() - here.halted_from);
	}
	guest_event(here.model, code_address(c, fault ? c->prev_rip : c->gen_reg[BX_64BIT_REG_RIP].rrx));
	watch();
}

void softpmu_halt(void)
{
	here.halted = softpmu_watches;
	here.halted_from = bx_pc_system.time_ticks();
}

void softpmu_control(unsigned what, Bit64u value)
{
	if (what == BX_INSTR_MOV_CR4)
		guest_pce(here.model, value & 0x100);
	else if (what == BX_INSTR_MOV_CR3 || what == BX_INSTR_TASK_SWITCH)
		guest_space(here.model, value);
}

void softpmu_out(Bit16u port, unsigned value)
{
	switch (port) {
	case MARK_PORT:
		guest_mark(here.model, value & 1);
		watch();
		break;
	case CONSOLE_PORT:
		if (here.console)
			fputc((int)value & 255, here.console);
		break;
	case EXIT_PORT:
		here.status = (int)value & 255;
		exit(0);
	default:
		break;
	}
}

int softpmu_rdmsr(unsigned msr, Bit64u *value)
{
	uint64_t v = 0;
	const int done = guest_rdmsr(here.model, msr, &v);
	if (done == GUEST_DONE)
		*value = v;
	return done;
}

int softpmu_wrmsr(unsigned msr, Bit64u value)
{
	const int done = guest_wrmsr(here.model, msr, value);
	watch();
	return done;
}

int softpmu_rdpmc(unsigned index, unsigned cpl, Bit64u *value)
{
	uint64_t v = 0;
	const int done = guest_rdpmc(here.model, index, cpl, &v);
	*value = v;
	return done;
}

void softpmu_cpuid(unsigned leaf, unsigned subleaf, Bit32u *a, Bit32u *b, Bit32u *c, Bit32u *d)
{
	uint32_t regs[4] = { *a, *b, *c, *d };
	guest_cpuid(here.model, leaf, subleaf, regs);
	*a = regs[0], *b = regs[1], *c = regs[2], *d = regs[3];
}

void softpmu_lvt(unsigned entry, Bit32u value)
{
	if (entry == APIC_LVT_PERFMON && here.model)
		guest_lvt(here.model, value);
}

Bit32u softpmu_ticks(Bit32u instructions)
{
	return softpmu_watches ? (Bit32u)guest_ticks(here.model, instructions) : instructions;
}
