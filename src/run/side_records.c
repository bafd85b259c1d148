/* SPDX-License-Identifier: GPL-2.0-or-later
 * Records of the stream that are not blocks (stream/format.h): processes, threads, mappings, signals, system calls,
 * requests of the program, definitions of blocks.  Each brings the model up to date with the blocks before it and
 * then goes to the sink, as far as the sink gets such records.
 */
#include "run/runner.h"
#include "run/points/points.h"
#include "run/sample.h"
#include "run/threads/machine_events.h"
#include "core/wrongpath/walker.h"
#include "run/watch/history.h"
#include "softpmu/client.h"
#include <stdio.h>
#include <string.h>

/* Before the first image of a process: when it is sampled. */
static void plan_sampling(const struct run_sample *s, struct process *p)
{
	p->sampled = s->measured && !s->after;
	p->detail_left = s->measured && s->after && s->after < INT64_MAX ? (int64_t)s->after : INT64_MAX;
}

static int image_start(struct runner *r, struct process *p, const struct st_process *s, struct err *err)
{
	if (s->magic != ST_MAGIC || s->version < ST_VERSION_OLDEST || s->version > ST_VERSION)
		return err_set(err, ERR_INPUT,
			"the stream has version %u, this softpmu reads %u", s->version, ST_VERSION);
	if (s->word_bytes != 8 && s->word_bytes != 4)
		return err_set(err, ERR_INPUT, "the stream's process %u has an impossible word size of %u bytes",
			       s->pid, s->word_bytes);
	if (!s->has_assists && runner_wants_assists(r->o))
		return err_set(err, ERR_INPUT, "the stream does not say which operations meet denormal numbers: "
			"record it with softpmu trace --assists");
	if (!p->machine)
		plan_sampling(&r->o->sample, p);
	int rc = whole_image(p, s, r->o, err);
	if (rc < 0)
		return rc;
	runner_end_threads(r, p);	/* exec: the new image starts when the old one has ended */
	heap_forget(&r->heap, p->index);
	rc = process_image(p, s, r->o->core, err);
	if (!rc && p->sampled)
		rc = machine_create(&p->leader, r->o->core, err);
	if (!rc && p->leader)
		machine_leads(p->leader);
	if (rc < 0 || !r->o->core->wrong_path)
		return rc;
	if (s->has_regs)
		return walk_space_create(&p->space, r->isa, s->word_bytes, err);
	if (!r->result->note[0] && !s->is_machine)	/* of a machine nobody expects them */
		snprintf(r->result->note, sizeof r->result->note,
			 "the stream holds no registers: it runs without the wrong path");
	return 0;
}

static int define_block(struct runner *r, struct process *p, const uint64_t *words, size_t length, struct err *err)
{
	struct iblock *b = NULL;
	const struct st_block_def *def = (const struct st_block_def *)words;
	int rc = __builtin_expect(p->is_machine, 0) ? whole_word_bytes(p, def, err) : p->word_bytes;
	if (rc > 0)
		rc = isa_decode(r->isa, rc, def, length * 8, &b, err);
	if (rc < 0)
		return rc;
	if (__builtin_expect(p->is_machine, 0) && r->sink->defined)
		r->sink->defined(r->sink->context, def);
	unsigned flags = window_flags(&r->window, p->index, b) | switches_flags(&r->switches, p->index, b);
	if (r->o->heap && heap_enters(&r->heap, p->index, b))
		flags |= BLOCK_HEAP;
	for (unsigned i = 0; i < b->insns; i++)
		if (b->insn[i].flags & (INSN_UNKNOWN | INSN_SUBSTITUTE))
			flags |= BLOCK_ODD;
	rc = process_add_block(p, b, flags, err);
	if (rc < 0)
		isa_block_free(b);
	else if (p->space)
		rc = walk_space_block(p->space, b, err);
	return rc;
}

/* Notes a SIGILL that may come from an instruction that the tracer cannot run. */
static void explain_sigill(struct runner *r, const struct process *p, const struct st_signal *s)
{
	char text[128] = "an instruction";
	if (s->code[0] == 0x0f && s->code[1] == 0x0b)
		return;		/* UD2: compilers end a program with it */
	isa_disassemble(s->code, sizeof s->code, s->ip, p->word_bytes, false, text, sizeof text);
	bool evex = s->code[0] == 0x62 && (p->word_bytes == 8 || (s->code[1] & 0xc0) == 0xc0);
	if (evex)
		snprintf(r->result->note, sizeof r->result->note,
			"the program used AVX-512 (`%s` at %#llx), which the tracer cannot run; build it without "
			"-mavx512* or -march=native, or let it choose at run time by CPUID, which shows no AVX-512 "
			"here",
			text, (unsigned long long)s->ip);
	else
		snprintf(r->result->note, sizeof r->result->note,
		         "the program got SIGILL at %#llx (`%s`): if it runs without softpmu, the tracer lacks this "
			 "instruction",
		         (unsigned long long)s->ip, text);
}

static int on_fork(struct runner *r, struct process *p, struct rthread *t, const struct st_fork *f)
{
	if (f->followed) {
		runner_drain(p);
		r->followed = true;
		if (p->leader)
			sample_several(r, p);
		process_forked(&r->procs, p, f->child_pid, t ? rthread_now(t) : p->start_cycle);
	}
	return 0;
}

/* True if wait4 or a similar call reaped a traced child: the process continues when that child's stream is consumed. */
static bool reaps_child(struct runner *r, struct process *p, const struct st_syscall *s)
{
	bool wait4 = p->word_bytes == 8 ? s->number == 61 : s->number == 114 || s->number == 7;
	if (!wait4 || s->is_error || s->result == 0)
		return false;
	return process_wait_for(&r->procs, p, (uint32_t)s->result);
}

/* The program asks the sink something, or marks a region: all is modelled up to the instruction that does so. */
static int on_client(struct runner *r, struct process *p, struct rthread *t, const struct st_client *c, size_t bytes,
		     struct err *err)
{
	const char *name = (const char *)(c + 1);
	struct st_answer answer = { .number = c->number, .status = SPMU_CLIENT_ABSENT,
		.budget = ST_NO_STEP };

	if (c->bytes > bytes - sizeof *c || (c->bytes && !c->memory && name[c->bytes - 1]))
		return err_set(err, ERR_INPUT,
			"the stream of process %u holds a request without a proper name", p->pid);
	if (!c->bytes || c->memory)
		name = "";
	const bool step = c->code == ST_CLIENT_STEP;	/* of the tracer: the program does not see it */
	if (t)
		runner_run_all(r, t, step ? c->index : 0);
	const bool features = !step && switches_asked(p, c);
	if (t && !r->stopped && (features || r->sink->client)) {
		runner_drain(p);
		if (t->on && step)
			core_flush(t->on, false);
		else if (r->window.open && c->code != ST_CLIENT_MORE && t->on)	/* otherwise no time passes */
			core_serialize(t->on);
		if (features && c->code == SPMU_CLIENT_WRMSR && p->leader)
			return err_set(err, ERR_UNSUPPORTED, "process %u writes a feature register, which a sampled "
				"run does not follow", p->pid);
		int rc = features ? switches_client(t, c, r->isa, &answer, err) : 0;
		if (rc < 0)
			return rc;
		if (!features && r->sink->client(r->sink->context, &t->pub, c, name, &answer) && !step) {
			t->wants_everything = true;
			rthread_want(t, &runner_everything);
		}
		r->warms |= t->pub.warms;
		if (answer.take && t->on)	/* an interrupt empties the pipeline */
			core_serialize(t->on);
		if (t->pub.wants_registers)	/* the sink reads them while workers run */
			r->engine.jobs = 1;
		if (t->pub.wants_registers && !t->pub.registers &&
			(rc = history_create(&t->pub.registers, p->word_bytes, err)) < 0)
			return rc;
	}
	if (c->number)
		stream_answer(r->stream, p->index, &answer);
	return 0;
}

/* A system call in which the thread was blocked has returned: it waits for its waker, or else for who ran last. */
static void wait_for_waker(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	struct depend_need by;
	if (p->leader)	/* threads have clocks of their own */
		return;
	if (p->depend && depend_woken(p->depend, t->index, p->word_bytes == 8, s, &by))
		engine_wait(&r->engine, t, p->thread[by.thread], by.number);
	else if (p->ran_before && p->ran_before != t)
		engine_wait(&r->engine, t, p->ran_before, p->ran_before->depend.issued);
}

void runner_take_note(struct run_result *result, const uint64_t *w, size_t length)
{
	const struct st_note *n = (const struct st_note *)w;
	if (length * 8 < sizeof *n)
		return;
	size_t room = length * 8 - sizeof *n, text = n->text_bytes < room ? n->text_bytes : room;
	if (n->severity && !result->note[0])
		snprintf(result->note, sizeof result->note, "%.*s", (int)(text < 900 ? text : 900),
			(const char *)(n + 1));
}

static int on_switch(struct process *p, const struct st_thread *s, struct err *err)
{
	struct rthread *t = p->current, *next = process_find_thread(p, s->tid);
	int rc = 0;
	if (!next)
		return err_set(err, ERR_INPUT,
			"the stream of process %u switches to unknown thread %u", p->pid, s->tid);
	if (t && t != next) {
		rc = runner_keep_pending(t, err);
		p->ran_before = t;
	}
	p->current = next;
	return rc;
}

static int on_code(struct process *p, const struct st_code *c, size_t bytes, struct err *err)
{
	if (c->bytes > bytes - sizeof *c)
		return err_set(err, ERR_INPUT, "the stream of process %u holds code beyond its record", p->pid);
	return p->space ? walk_space_code(p->space, c->addr, c + 1, c->bytes, err) : 0;
}

static int on_map(struct runner *r, struct process *p, const struct st_map *m, size_t bytes, struct err *err)
{
	const char *path = m->path_bytes ? (const char *)(m + 1) : "";
	int rc = 0;
	if (sizeof *m + (size_t)m->path_bytes > bytes || (m->path_bytes && path[m->path_bytes - 1]))
		return err_set(err, ERR_INPUT,
			"the stream of process %u holds a mapping without a proper path", p->pid);
	if (p->space)
		walk_space_cut(p->space, m->addr, m->bytes);
	if (p->leader)
		machine_map(p->leader, m->addr, m->bytes, m->is_huge);
	if (r->window.active)
		window_map(&r->window, p->index, m, path);
	if (r->switches.writes)
		rc = switches_map(&r->switches, p->index, m, path, err);
	if (r->o->heap && heap_map(&r->heap, p->index, m, path))
		return err_set(err, ERR_NOMEM, "out of memory for the allocator's functions");
	return rc;
}

static void on_unmap(struct process *p, const struct st_range *range)
{
	if (p->space)
		walk_space_cut(p->space, range->addr, range->bytes);
	if (p->leader)
		machine_map(p->leader, range->addr, range->bytes, false);
}

static void on_signal(struct runner *r, struct process *p, struct rthread *t, const struct st_signal *s)
{
	if (t)
		runner_run_all(r, t, s->ip);
	if (s->signo == 4)
		explain_sigill(r, p, s);
}

static void on_syscall(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	if (t)
		runner_run_all(r, t, 0);
	if (t && p->depend)
		depend_syscall(p->depend, &t->depend, t->index, p->word_bytes == 8, s);
}

/* Returns true if the process must wait for another's stream. */
static bool on_syscall_return(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	if (t && s->blocked && depend_blocks(p->word_bytes == 8, s))
		wait_for_waker(r, p, t, s);
	return reaps_child(r, p, s);
}

static void on_regs(struct runner *r, struct process *p, struct rthread *t, const struct st_regs *s)
{
	if (t)
		runner_run_all(r, t, s->ip);
	if (t && t->heap)
		heap_file(t->heap, s->gpr, p->word_bytes);
	if (t && t->walker)
		walker_regs(t->walker, s);
}

static void on_exit_record(struct runner *r, struct process *p)
{
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			runner_run_all(r, p->thread[i], 0);
	p->ended = true;
}

/* Threads end only after the sink has got the record that says so. */
static void end_after_record(struct runner *r, struct process *p, unsigned kind, const uint64_t *w)
{
	if (kind == ST_THREAD_EXIT) {
		struct rthread *gone = process_find_thread(p, ((const struct st_thread *)w)->tid);
		if (gone && gone->process->ordered && r->o->smt) {
			gone->leaving = true;
			engine_leave(&r->engine, gone);
		} else if (gone) {
			runner_end_thread(r, gone);
		}
	} else if (kind == ST_EXIT) {
		if (p->end_cycle < p->start_cycle)
			p->end_cycle = p->start_cycle;
		runner_end_threads(r, p);
	}
}

static int check_record(const struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	static const uint16_t least[ST_KINDS] = {
		[ST_BLOCK_DEF] = sizeof(struct st_block_def), [ST_DISCARD] = sizeof(struct st_range),
		[ST_PROCESS] = sizeof(struct st_process), [ST_SWITCH] = sizeof(struct st_thread),
		[ST_THREAD_START] = sizeof(struct st_thread), [ST_THREAD_EXIT] = sizeof(struct st_thread),
		[ST_MAP] = sizeof(struct st_map), [ST_UNMAP] = sizeof(struct st_range),
		[ST_SIGNAL] = sizeof(struct st_signal), [ST_SYSCALL] = sizeof(struct st_syscall),
		[ST_SYSCALL_RET] = sizeof(struct st_syscall), [ST_COMM] = sizeof(struct st_name),
		[ST_REGS] = sizeof(struct st_regs), [ST_FORK] = sizeof(struct st_fork),
		[ST_EXIT] = sizeof(struct st_exit), [ST_NOTE] = sizeof(struct st_note),
		[ST_CLIENT] = sizeof(struct st_client), [ST_CODE] = sizeof(struct st_code),
		[ST_POINTS] = sizeof(struct st_points), [ST_SKIP] = sizeof(struct st_skip), [ST_TOUCH] = 8,
		[ST_PATH] = 8, [ST_PLACE] = sizeof(struct st_place), [ST_TIMES] = 8,
		[ST_PART] = sizeof(struct st_part), [ST_WAY] = sizeof(struct st_way), [ST_LINES] = 8,
		[ST_LEVEL] = sizeof(struct st_level), [ST_TRAP] = sizeof(struct st_trap),
		[ST_HALT] = sizeof(struct st_halt), [ST_SERIALIZE] = sizeof(struct st_serialize),
		[ST_SPACE] = sizeof(struct st_space), [ST_PAGE] = sizeof(struct st_page),
		[ST_DROP] = sizeof(struct st_drop), [ST_DELIVERY] = sizeof(struct st_delivery),
		[ST_SYMBOLS] = sizeof(struct st_symbols), [ST_NEXT] = sizeof(struct st_next),
	};
	unsigned kind = ST_HEADER_KIND(w[0]);
	if (kind < ST_KINDS && least[kind] && length * 8 >= least[kind])
		return 0;
	return err_set(err, ERR_INPUT, "the stream of process %u holds a malformed record (kind %u, %zu bytes)", p->pid,
		       kind, length * 8);
}

int runner_side_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, bool *stop,
	struct err *err)
{
	const unsigned kind = ST_HEADER_KIND(w[0]);
	const void *record = w;
	struct rthread *t = p->current, *gone;
	int rc = check_record(p, w, length, err);
	if (rc < 0)
		return rc;
	if (kind >= ST_LEVEL)
		return whole_record(r, p, w, length, err);
	if (__builtin_expect(p->is_machine, 0) && !whole_has(kind))
		return err_set(err, ERR_INPUT, "the machine's stream holds a record of kind %u, which only that of a "
			"program has", kind);
	if (kind >= ST_POINTS)
		return points_record(r, p, w, length, err);
	if (kind != ST_BLOCK_DEF && t)
		runner_run_ahead(r, t);
	switch (kind) {
	/* The sink does not get these. */
	case ST_BLOCK_DEF:
		return define_block(r, p, w, length, err);
	case ST_DISCARD:
		process_discard(p, ((const struct st_range *)record)->addr, ((const struct st_range *)record)->bytes);
		return 0;
	case ST_SWITCH:
		return on_switch(p, record, err);
	case ST_CODE:
		return on_code(p, record, length * 8, err);
	case ST_CLIENT:
		return on_client(r, p, t, record, length * 8, err);
	/* The sink gets these. */
	case ST_PROCESS:
		rc = image_start(r, p, record, err);
		t = NULL;
		break;
	case ST_THREAD_START:
		rc = runner_start_thread(r, p, record, err);
		break;
	case ST_THREAD_EXIT:
		gone = process_find_thread(p, ((const struct st_thread *)record)->tid);
		if (gone)
			runner_run_all(r, gone, 0);
		break;
	case ST_SIGNAL:
		on_signal(r, p, t, record);
		break;
	case ST_SYSCALL:
		on_syscall(r, p, t, record);
		break;
	case ST_SYSCALL_RET:
		*stop = on_syscall_return(r, p, t, record);
		break;
	case ST_REGS:
		on_regs(r, p, t, record);
		break;
	case ST_MAP:
		rc = on_map(r, p, record, length * 8, err);
		break;
	case ST_UNMAP:
		on_unmap(p, record);
		break;
	case ST_COMM:
		memcpy(p->comm, ((const struct st_name *)record)->name, sizeof p->comm);
		p->comm[sizeof p->comm - 1] = 0;
		break;
	case ST_FORK:
		rc = on_fork(r, p, t, record);
		break;
	case ST_EXIT:
		on_exit_record(r, p);
		break;
	case ST_NOTE:
		runner_take_note(r->result, w, length);
		break;
	}
	if (rc < 0)
		return rc;
	if ((r->sink->side || kind == ST_MAP || kind == ST_UNMAP) && !r->stopped)
		engine_side(&r->engine, t, p->pid, w, length, p->start_cycle);
	end_after_record(r, p, kind, w);
	return 0;
}
