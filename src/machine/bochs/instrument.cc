/* SPDX-License-Identifier: GPL-2.0-or-later
 * Bochs as the emulator of machine.h: turns what Bochs calls (instrument.h) into calls of the model, and gives the
 * model the local APIC, linear memory and registers.
 *
 * Options come from the file that SOFTPMU_MACHINE names, which `softpmu machine` writes: lines "name=value" with data,
 * core, set (any number of times), reload_msrs and warm (1: yes), timing (counting, marked, always, none), console
 * (a file for what the guest writes to GUEST_CONSOLE_PORT), report (a file to be written at the end), and those of a
 * Linux guest (linux_guest.h).
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/apic.h"
#include "memory/memory-bochs.h"
#include "pc_system.h"
#include "guest/guest_ports.h"
#include "machine/bochs/linux_guest.h"
#include "machine/bochs/processors.h"
#include "machine/machine.h"
#include <string>
#include <vector>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct settings {
	std::string data, core = "skylake", report, console, stream, code_files, names;
	std::vector<std::string> set;
	guest_timing timing = GUEST_COUNTING;
	bool reload_msrs = false, warm = false;
	bool untimed = false;		/* nothing is ever timed */
};

struct processor_side {
	unsigned number;
	guest *model = NULL;
	bool halted = false;
	Bit64u halted_from = 0;
	Bit64u cr3 = 0;			/* what MOV CR3 is about to load */

	BX_CPU_C *cpu() const { return BX_CPU(number); }
} side[PROCESSORS_MAX];

struct machine_side {
	guest *model = NULL;		/* of the first processor */
	settings options;
	FILE *console = NULL;
	int status = -1;		/* what the guest wrote to GUEST_EXIT_PORT */
	bool saved = false;		/* the machine ended to save its state */
	bool devices = false;		/* linux_devices was called */
} here;

processor_side *side_of(void *context) { return (processor_side *)context; }

/* The linear address of an offset in the code segment. */
Bit64u code_address(BX_CPU_C *c, Bit64u offset)
{
	return c->long64_mode() ? offset : (Bit32u)(c->get_segment_base(BX_SEG_REG_CS) + offset);
}

void watch(unsigned cpu)
{
	const bool watches = !here.options.untimed && guest_watches(side[cpu].model);
	if (watches && !BX_CPU(cpu)->softpmu_watched && BX_SMP_PROCESSORS > 1)
		guest_time(side[cpu].model, processors_time(cpu));
	BX_CPU(cpu)->softpmu_watched = watches;
}

void on_interrupt(void *context, uint32_t sent, uint32_t lvt)
{
	bx_local_apic_c *apic = side_of(context)->cpu()->lapic;
	const bool masked = apic->read_aligned(BX_LAPIC_LVT_PERFMON) & 0x10000;
	apic->set_lvt_entry(BX_LAPIC_LVT_PERFMON, lvt);
	if (!masked)
		apic->deliver(sent & 0xff, sent >> 8 & 7, 0);
}

/* Copies page by page; false for a page that is not there. */
template <class copy> int pieces(BX_CPU_C *c, uint64_t addr, size_t bytes, copy one)
{
	for (size_t done = 0; done < bytes;) {
		const Bit64u at = addr + done;
		size_t n = 4096 - (at & 4095);
		n = n > bytes - done ? bytes - done : n;
		bx_phy_address phy;
		if (!c->dbg_xlate_linear2phy(at, &phy))
			return -1;
		one(phy, done, (unsigned)n);
		done += n;
	}
	return 0;
}

int on_read(void *context, uint64_t addr, void *to, size_t bytes)
{
	BX_CPU_C *c = side_of(context)->cpu();
	return pieces(c, addr, bytes, [&](bx_phy_address phy, size_t at, unsigned n) {
		for (unsigned i = 0; i < n; i++)
			BX_MEM(0)->readPhysicalPage(c, phy + i, 1, (Bit8u *)to + at + i);
	});
}

int on_write(void *context, uint64_t addr, const void *from, size_t bytes)
{
	BX_CPU_C *c = side_of(context)->cpu();
	Bit8u byte;		/* all pages first: a record is written whole or not at all */
	if (on_read(context, addr, &byte, 1) || on_read(context, addr + bytes - 1, &byte, 1))
		return -1;
	return pieces(c, addr, bytes, [&](bx_phy_address phy, size_t at, unsigned n) {
		for (unsigned i = 0; i < n; i++) {
			byte = ((const Bit8u *)from)[at + i];
			BX_MEM(0)->writePhysicalPage(c, phy + i, 1, &byte);
		}
	});
}

void on_registers(void *context, spmu_registers *out)
{
	BX_CPU_C *c = side_of(context)->cpu();
	for (unsigned i = 0; i < 16; i++)
		out->gpr[i] = c->get_reg64(i);
	out->rip = code_address(c, c->prev_rip);
	out->rflags = c->read_eflags();
}

/* Reads a table entry and says where it lies. */
Bit64u table_entry(BX_CPU_C *c, bx_phy_address at, unsigned bytes, unsigned level, guest_page *out)
{
	Bit64u entry = 0;
	BX_MEM(0)->readPhysicalPage(c, at, bytes, &entry);
	if (level <= 4)
		out->entry[level - 1] = at;
	return entry;
}

/* As BX_CPU_C::dbg_xlate_linear2phy, with the entries.  PAE: those of the highest level are in registers. */
bool on_walk(void *context, uint64_t linear, guest_page *out)
{
	const Bit64u address = 0xffffffffff000;
	BX_CPU_C *c = side_of(context)->cpu();
	*out = guest_page();
	out->shift = 12;
	if (!c->cr0.get_PG()) {
		out->frame = linear & ~(uint64_t)4095;
		return true;
	}
	const bool wide = c->cr4.get_PAE(), lengthy = c->long_mode();
	const unsigned bits = wide ? 9 : 10, top = !lengthy ? 2 : c->cr4.get_LA57() ? 5 : 4;
	Bit64u table = c->cr3, entry = 0;
	out->entry_bytes = wide ? 8 : 4;
	if (!lengthy)
		linear &= 0xffffffff;
	if (!lengthy && wide) {
		table = c->PDPTR_CACHE.entry[linear >> 30 & 3];
		if (!(table & 1))
			return false;
	}
	unsigned level = top;
	for (;; level--) {
		const Bit64u index = linear >> (12 + bits * (level - 1)) & ((1u << bits) - 1);
		entry = table_entry(c, (table & address) + index * out->entry_bytes, out->entry_bytes, level, out);
		if (!(entry & 1))
			return false;
		if (level == 1 || (entry & 0x80 && level <= 3 && (wide || c->cr4.get_PSE())))
			break;
		table = entry;
	}
	out->shift = (uint8_t)(12 + bits * (level - 1));
	out->frame = (entry & address) >> out->shift << out->shift;
	if (!wide && level == 2)	/* PSE-36 */
		out->frame |= (entry & 0x1fe000) << 19;
	out->global = entry & 0x100;
	out->levels = (uint8_t)((top > 4 ? 4 : top) - level + 1);
	memmove(out->entry, out->entry + level - 1, out->levels * sizeof *out->entry);
	return true;
}

void set_paging(unsigned cpu)
{
	guest_paging(side[cpu].model, processors_paging(cpu));
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
		else if (name == "warm")
			s->warm = true;
		else if (name == "report")
			s->report = value;
		else if (name == "console")
			s->console = value;
		else if (name == "stream")
			s->stream = value;
		else if (name == "code_files")
			s->code_files = value;
		else if (name == "names")
			s->names = value;
		else if (name == "timing")
			s->untimed = !strcmp(value, "none"), s->timing = !strcmp(value, "always") ? GUEST_ALWAYS :
				!strcmp(value, "marked") ? GUEST_MARKED : GUEST_COUNTING;
		else
			linux_setting(name, value);
	}
	fclose(f);
	return true;
}

void write_report()
{
	struct guest_report r, one;
	::guest_report(here.model, &r);
	Bit64u executed = BX_CPU(0)->get_icount();
	for (unsigned i = 1; i < BX_SMP_PROCESSORS && side[i].model; i++) {
		::guest_report(side[i].model, &one);
		executed += BX_CPU(i)->get_icount();
		for (unsigned k = 0; k < 2; k++) {
			r.instructions[k] += one.instructions[k];
			r.cycles[k] += one.cycles[k];
		}
		r.untimed += one.untimed;
		r.pmis += one.pmis;
		r.events += one.events;
		r.stepped += one.stepped;
		if (!r.failure)
			r.failure = one.failure;
	}
	FILE *f = here.options.report.empty() ? NULL : fopen(here.options.report.c_str(), "w");
	if (!f)
		return;
	fprintf(f, "executed=%llu\nticks=%llu\n", (unsigned long long)executed,
		(unsigned long long)bx_pc_system.time_ticks());
	fprintf(f, "instructions_kernel=%llu\ninstructions_user=%llu\ncycles_kernel=%llu\ncycles_user=%llu\n",
		(unsigned long long)r.instructions[0], (unsigned long long)r.instructions[1],
		(unsigned long long)r.cycles[0], (unsigned long long)r.cycles[1]);
	fprintf(f, "untimed=%llu\npmis=%llu\nevents=%llu\nblocks=%llu\nstepped=%llu\n", (unsigned long long)r.untimed,
		(unsigned long long)r.pmis, (unsigned long long)r.events, (unsigned long long)r.blocks,
		(unsigned long long)r.stepped);
	fprintf(f, "warmed=%llu\nahead=%llu\nlate=%llu\n", (unsigned long long)r.warmed,
		(unsigned long long)r.ahead, (unsigned long long)r.late);
	if (here.status >= 0)
		fprintf(f, "status=%d\n", here.status);
	if (here.saved)
		fprintf(f, "saved=1\n");
	if (r.failure)
		fprintf(f, "failure=%s\n", r.failure);
	fclose(f);
}

}

/* Another processor than the first. */
static void start_other(unsigned cpu, const guest_emulator *e)
{
	struct err err;
	if (guest_create_processor(&side[cpu].model, here.model, e, &err) < 0) {
		fprintf(stderr, "softpmu-machine: %s\n", err.text);
		exit(1);
	}
}

void softpmu_start(unsigned cpu)
{
	if (cpu >= PROCESSORS_MAX) {
		fprintf(stderr, "softpmu-machine: at most %d processors\n", (int)PROCESSORS_MAX);
		exit(1);
	}
	side[cpu].number = cpu;
	const guest_emulator e = { &side[cpu], on_interrupt, on_read, on_write, on_registers, on_walk };
	if (cpu && here.model) {
		start_other(cpu, &e);
		watch(cpu);
	}
	if (here.model || !read_settings(&here.options)) {
		if (!here.model)
			fprintf(stderr, "softpmu-machine: start it by `softpmu machine`\n"), exit(2);
		return;
	}
	std::vector<const char *> set;
	for (const std::string &s : here.options.set)
		set.push_back(s.c_str());
	const auto given = [](const std::string &s) { return s.empty() ? NULL : s.c_str(); };
	guest_options o = {};
	o.data_dir = here.options.data.c_str();
	o.core = here.options.core.c_str();
	o.setting = set.data();
	o.settings = set.size();
	o.timing = here.options.timing;
	o.stream = given(here.options.stream);
	o.files = given(here.options.code_files);
	o.kallsyms = given(here.options.names);
	o.pebs_reload_msrs = here.options.reload_msrs;
	o.warm = here.options.warm && !linux_saves();
	o.ahead = BX_SMP_PROCESSORS == 1;
	struct err err;
	if (guest_create(&here.model, &o, &e, &err) < 0) {
		fprintf(stderr, "softpmu-machine: %s\n", err.text);
		exit(1);
	}
	side[0].model = here.model;
	if (!here.options.console.empty())
		here.console = linux_output(here.options.console.c_str());
	watch(0);
	atexit(softpmu_end);
}

void softpmu_end(void)
{
	if (!here.model)
		return;
	here.saved = linux_end();
	struct err err;
	if (guest_end_stream(here.model, &err) < 0)
		fprintf(stderr, "softpmu-machine: %s\n", err.text);
	write_report();
	if (here.console)
		fclose(here.console);
	here.console = NULL;
	for (unsigned i = PROCESSORS_MAX; i-- > 0;) {
		guest_destroy(side[i].model);
		side[i].model = NULL;
		if (i < BX_SMP_PROCESSORS)
			BX_CPU(i)->softpmu_watched = false;
	}
	here.model = NULL;
}

void softpmu_reset(unsigned cpu, unsigned type)
{
	if (type == BX_RESET_HARDWARE && !here.devices) {
		here.devices = true;
		linux_devices();
	}
	if (!side[cpu].model)
		return;
	side[cpu].halted = false;
	set_paging(cpu);
	guest_space(side[cpu].model, BX_CPU(cpu)->cr3);
	if (type == BX_RESET_HARDWARE && linux_restored()) {	/* Bochs restores its own state behind this */
		state_read(linux_restored(), cpu);
		watch(cpu);
	}
}

/* The processor goes on after a halt: the time in between has passed already. */
static void wake(unsigned cpu)
{
	processor_side *s = &side[cpu];
	if (!s->halted)
		return;
	s->halted = false;
	if (BX_SMP_PROCESSORS > 1)
		guest_time(s->model, processors_time(cpu));
	else
		guest_halted(s->model, bx_pc_system.time_ticks() - s->halted_from);
}

/* The machine's clock, of one processor, comes up to date within a trace. */
static void pass(BX_CPU_C *c)
{
	const Bit32u executed = (Bit32u)(c->icount - c->icount_last_sync);
	c->sync_icount();
	BX_TICKN(softpmu_ticks(executed));
}

extern "C" {

__attribute__((used)) void softpmu_before(BX_CPU_C *c, bxInstruction_c *i)
{
	const unsigned cpu = c->bx_cpuid;
	if (!i->ilen())		/* none of the guest's: Bochs's own mark behind a trace */
		return;
	if (side[cpu].halted)
		wake(cpu);
	guest_insn in;
	in.ip = code_address(c, c->prev_rip);
	const Bit8u *code = i->get_opcode_bytes();	/* 16 of them */
	memcpy(in.code, code, sizeof in.code);
	in.len = (uint8_t)i->ilen();
	in.cpl = (uint8_t)c->sregs[BX_SEG_REG_CS].selector.rpl;
	in.bits = c->long64_mode() ? 64 : c->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? 32 : 16;
	/* a string instruction: A4 to A7, AA to AF, 6C to 6F behind its prefixes */
	in.rep = false;
	if (i->repUsedL() || i->lockRepUsedValue() >= 2) {
		unsigned n = 0;
		while (n + 1u < in.len && (code[n] == 0xf2 || code[n] == 0xf3 || code[n] == 0x66 ||
			code[n] == 0x67 || code[n] == 0x2e || code[n] == 0x3e || code[n] == 0x26 ||
			code[n] == 0x36 || code[n] == 0x64 || code[n] == 0x65 ||
			(in.bits == 64 && code[n] >> 4 == 4)))
			n++;
		const uint8_t op = code[n];
		in.rep = n > 0 && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
			(op >= 0x6c && op <= 0x6f));
	}
	if (in.len >= 2 && code[0] == 0x0f && BX_SMP_PROCESSORS == 1 && (code[1] == 0x31 ||
		(in.len == 3 && code[1] == 0x01 && code[2] == 0xf9))) {	/* RDTSC, RDTSCP */
		guest_look(side[cpu].model, in.ip);
		pass(c);
	}
	guest_begin(side[cpu].model, &in);
}

__attribute__((used)) void softpmu_after(BX_CPU_C *c)
{
	/* softpmu_watched was true before, so this is all that watch would do */
	c->softpmu_watched = guest_end(side[c->bx_cpuid].model, code_address(c, c->prev_rip));
}

__attribute__((used)) void softpmu_access(const BX_CPU_C *c, bx_address lin, unsigned len_rw)
{
	const unsigned rw = len_rw >> 16;
	guest_access(side[c->bx_cpuid].model,
		rw == BX_RW ? GUEST_UPDATE : rw & BX_WRITE ? GUEST_STORE : GUEST_LOAD, lin, len_rw & 0xffff);
}

}

/* What SOFTPMU_CALL calls: aligns the stack, calls the C++ function, and restores the registers that are kept. */
#define KEPT(function) \
	__asm__(".text\n.p2align 4\n" #function "_kept:\n" \
		"push %rbp\nmov %rsp, %rbp\npush %rdi\npush %rsi\npush %rdx\npush %rax\nand $-16, %rsp\n" \
		"call " #function "\n" \
		"mov -8(%rbp), %rdi\nmov -16(%rbp), %rsi\nmov -24(%rbp), %rdx\nmov -32(%rbp), %rax\nleave\nret\n" \
		".globl " #function "_kept\n")
KEPT(softpmu_before);
KEPT(softpmu_after);
KEPT(softpmu_access);

/* The common case of BX_CPU_C::linkTrace.  That one calls the next trace, so each branch needs more of the stack; this
 * one jumps to it.  The stack's depth is checked because some handlers still call what follows them. */
void softpmu_link(BX_CPU_C *c, bxInstruction_c *i)
{
	enum { STACK = 0x10000 };
	if (c->async_event)
		return;
	if (c->softpmu_watched || BX_SMP_PROCESSORS > 1)
		return c->linkTrace(i);
	if (c->cpuloop_stack_anchor - (Bit8u *)__builtin_frame_address(0) > STACK)
		return;
	const Bit32u passed = (Bit32u)(c->icount - c->icount_last_sync);
	if (passed >= bx_pc_system.getNumCpuTicksLeftNextEvent())
		return;
	bxInstruction_c *next = i->getNextTrace(c->iCache.traceLinkTimeStamp);
	if (!next)
		return c->linkTrace(i);
	c->sync_icount();
	BX_TICKN(passed);
	c->gen_reg[BX_64BIT_REG_RIP].rrx += next->ilen();
	return softpmu_method(c, (BxExecutePtr_tR)next->execute1)(next);
}

void softpmu_rounds(unsigned rounds)
{
	BX_CPU_C *c = BX_CPU(0);	/* there are batches with one processor only */
	c->icount += rounds;
	c->icount_last_sync += rounds;
	BX_TICKN(rounds);
}

void softpmu_iteration(unsigned cpu)
{
	guest_iteration(side[cpu].model);
	watch(cpu);
}

static void event(unsigned cpu, const guest_trap *t)
{
	wake(cpu);
	guest_event(side[cpu].model, t);
	watch(cpu);
}

void softpmu_exception(unsigned cpu, unsigned vector, unsigned code)
{
	BX_CPU_C *c = BX_CPU(cpu);
	guest_trap t = { code_address(c, c->prev_rip), vector == BX_PF_EXCEPTION ? c->cr2 : 0, vector, code, false };
	if (BX_CPU(cpu)->softpmu_watched)
		event(cpu, &t);
}

void softpmu_interrupt(unsigned cpu, unsigned vector)
{
	BX_CPU_C *c = BX_CPU(cpu);
	guest_trap t = { code_address(c, c->gen_reg[BX_64BIT_REG_RIP].rrx), 0, vector, 0, true };
	if (BX_CPU(cpu)->softpmu_watched)
		event(cpu, &t);
}

void softpmu_halt(unsigned cpu)
{
	BX_CPU_C *c = BX_CPU(cpu);
	side[cpu].halted = c->softpmu_watched;
	if (c->softpmu_watched && BX_SMP_PROCESSORS == 1) {	/* the halt begins behind what was executed */
		guest_look(side[cpu].model, code_address(c, c->prev_rip));
		pass(c);
	}
	side[cpu].halted_from = bx_pc_system.time_ticks();
}

void softpmu_cr3(unsigned cpu, Bit64u value)
{
	side[cpu].cr3 = value;
}

void softpmu_control(unsigned cpu, unsigned what, Bit64u value)
{
	guest *g = side[cpu].model;
	switch (what) {
	case BX_INSTR_MOV_CR3:
		/* Bochs has taken bit 63 away */
		guest_space(g, (side[cpu].cr3 ^ value) << 1 ? value : side[cpu].cr3);
		break;
	case BX_INSTR_TASK_SWITCH:
		guest_space(g, value);
		break;
	case BX_INSTR_INVLPG:
		guest_invlpg(g, value);
		break;
	case BX_INSTR_INVPCID:		/* softpmu_invpcid has said which */
		break;
	case BX_INSTR_MOV_CR4:
		guest_pce(g, value & 0x100);
		set_paging(cpu);
		break;
	default:
		set_paging(cpu);
	}
}

void softpmu_invpcid(unsigned cpu, unsigned type, unsigned pcid, Bit64u addr)
{
	guest_invpcid(side[cpu].model, type, pcid, addr);
}

void softpmu_out(Bit16u port, unsigned value)
{
	switch (port) {
	case GUEST_MARK_PORT:
		for (unsigned i = 0; i < BX_SMP_PROCESSORS; i++) {
			guest_mark(side[i].model, value & 1);
			watch(i);
		}
		break;
	case GUEST_CONSOLE_PORT:
		if (here.console)
			fputc((int)value & 255, here.console);
		break;
	case GUEST_CALL_PORT:
		linux_call(value);
		break;
	case GUEST_EXIT_PORT:
		here.status = (int)value & 255;
		exit(0);
	default:
		break;
	}
}

int softpmu_rdmsr(unsigned cpu, unsigned msr, Bit64u *value)
{
	uint64_t v = 0;
	const int done = guest_rdmsr(side[cpu].model, msr, &v);
	if (done == GUEST_DONE)
		*value = v;
	return done;
}

int softpmu_wrmsr(unsigned cpu, unsigned msr, Bit64u value)
{
	BX_CPU_C *c = BX_CPU(cpu);
	if (c->softpmu_watched && BX_SMP_PROCESSORS == 1) {	/* what was timed passes, also if the timing ends */
		guest_look(side[cpu].model, code_address(c, c->prev_rip));
		pass(c);
	}
	const int done = guest_wrmsr(side[cpu].model, msr, value);
	if (done == GUEST_DONE)
		state_note(cpu, msr, value);
	watch(cpu);
	return done;
}

int softpmu_rdpmc(unsigned cpu, unsigned index, unsigned cpl, Bit64u *value)
{
	uint64_t v = 0;
	const int done = guest_rdpmc(side[cpu].model, index, cpl, &v);
	*value = v;
	return done;
}

void softpmu_cpuid(unsigned cpu, unsigned leaf, unsigned subleaf, Bit32u *a, Bit32u *b, Bit32u *c, Bit32u *d)
{
	uint32_t regs[4] = { *a, *b, *c, *d };
	guest_cpuid(side[cpu].model, leaf, subleaf, regs);
	*a = regs[0], *b = regs[1], *c = regs[2], *d = regs[3];
}

void softpmu_lvt(unsigned cpu, unsigned entry, Bit32u value)
{
	if (entry == APIC_LVT_PERFMON && cpu < PROCESSORS_MAX && side[cpu].model)
		guest_lvt(side[cpu].model, value);
}

Bit32u softpmu_ticks(Bit32u instructions)
{
	return BX_CPU(0)->softpmu_watched ? (Bit32u)guest_ticks(side[0].model, instructions) : instructions;
}

unsigned processors_paging(unsigned cpu)
{
	BX_CPU_C *c = BX_CPU(cpu);
	return (c->cr0.get_PG() ? GUEST_PAGED : 0) | (c->cr4.get_PAE() ? GUEST_PAE : 0) |
		(c->cr4.get_PSE() ? GUEST_PSE : 0) | (c->cr4.get_PGE() ? GUEST_GLOBAL_PAGES : 0) |
		(c->cr4.get_PCIDE() ? GUEST_PCIDS : 0) | (c->long_mode() ? GUEST_LONG : 0);
}

void processors_halted(unsigned cpu)
{
	side[cpu].halted = true;
	side[cpu].halted_from = bx_pc_system.time_ticks();
}

guest *processors_model(unsigned cpu)
{
	return side[cpu].model;
}

void processors_yield(unsigned cpu)
{
	BX_CPU_C *c = BX_CPU(cpu);
	guest_yield(side[cpu].model, code_address(c, c->prev_rip));
	watch(cpu);
}
