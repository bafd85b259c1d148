/* SPDX-License-Identifier: GPL-2.0-or-later
 * Feature registers in a run (switches.h).
 */
#include "run/watch/switches.h"
#include "symbols/symbols.h"
#include "softpmu/client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int switches_init(struct switches *s, const struct run_options *o, struct err *err)
{
	struct core_features f;
	memset(s, 0, sizeof *s);
	if (o->features)
		f = *o->features;
	else
		core_features_init(&f, o->core);
	for (size_t i = 0; i < o->writes; i++) {
		const struct run_write *w = &o->write[i];
		if (!w->function && !w->object)
			return err_set(err, ERR_INPUT, "a write of register %XH in mid-run without a place", w->msr);
		if (core_features_write(&f, w->msr, w->value) != FEATURE_OK)
			return err_set(err, ERR_INPUT, "WRMSR %XH, %llXH at %s: #GP(0) on core '%s'", w->msr,
				(unsigned long long)w->value, w->function ? w->function : w->object, o->core->name);
	}
	s->write = o->write;
	s->writes = o->writes;
	return 0;
}

void switches_release(struct switches *s)
{
	free(s->at);
}

/* True if the path is the object's, or ends in '/' and the object. */
static bool is_object(const char *path, const char *object)
{
	size_t n = strlen(path), k = strlen(object);
	return n >= k && !strcmp(path + n - k, object) && (n == k || object[0] == '/' || path[n - k - 1] == '/');
}

int switches_map(struct switches *s, uint32_t process, const struct st_map *m, const char *path, struct err *err)
{
	if (!(m->prot & ST_PROT_X) || path[0] != '/')
		return 0;
	for (size_t i = 0; i < s->writes; i++) {
		const struct run_write *w = &s->write[i];
		uint64_t offset = w->offset;
		if (w->object && !is_object(path, w->object))
			continue;
		if (w->function && !symbols_find_function(path, w->function, &offset))
			continue;
		if (offset < m->offset || offset - m->offset >= m->bytes)
			continue;
		if (s->found == s->room) {
			size_t room = s->room ? 2 * s->room : 16;
			void *more = realloc(s->at, room * sizeof *s->at);
			if (!more)
				return err_set(err, ERR_NOMEM, "out of memory for writes in mid-run");
			s->at = more;
			s->room = room;
		}
		s->at[s->found].process = process;
		s->at[s->found].write = (uint32_t)i;
		s->at[s->found].times = 0;
		s->at[s->found++].addr = m->addr + (offset - m->offset);
	}
	return 0;
}

static bool holds(const struct iblock *b, uint64_t addr)
{
	for (unsigned i = 0; i < b->insns; i++)
		if (b->insn[i].addr == addr)
			return true;
	return false;
}

unsigned switches_flags(const struct switches *s, uint32_t process, const struct iblock *b)
{
	for (size_t i = 0; i < s->found; i++)
		if (s->at[i].process == process && holds(b, s->at[i].addr))
			return BLOCK_WRITE;
	return 0;
}

/* Changes the machine to what the registers say. */
static int change(struct process *p, struct isa *isa, struct err *err)
{
	struct core_config to;
	struct core **core = calloc(p->threads + p->order.cpus + 1, sizeof *core);
	size_t n = 0;
	if (!core)
		return err_set(err, ERR_NOMEM, "out of memory for a change of features");
	core_features_config(&p->registers, &to);
	p->changed = true;
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			core[n++] = p->thread[i]->core;
	for (uint32_t i = 0; i < p->order.cpus; i++)
		core[n++] = p->order.cpu[i].core;
	int rc = machine_resize(p->machine, core, n, &to, err);
	if (!rc)
		rc = process_decodes(p, isa, &to, err);
	free(core);
	return rc;
}

/* Makes several writes, then the change; the engine is drained. */
static int written(struct rthread *t, const struct core_features *to, const struct run_write *write, size_t writes,
	struct isa *isa, struct err *err)
{
	struct process *p = t->process;
	const bool same = !memcmp(p->registers.value, to->value, sizeof to->value);
	p->registers = *to;
	int rc = same ? 0 : change(p, isa, err);
	for (size_t i = 0; i < writes && !rc && t->on; i++)
		core_note_write(t->on, write[i].msr, write[i].value);
	return rc;
}

int switches_block(struct switches *s, struct rthread *t, const struct iblock *b, struct isa *isa, struct err *err)
{
	struct core_features to = t->process->registers;
	struct run_write now[16];
	size_t n = 0;
	for (size_t i = 0; i < s->found; i++) {
		const struct run_write *w = &s->write[s->at[i].write];
		if (s->at[i].process != t->process->index || !holds(b, s->at[i].addr))
			continue;
		s->at[i].times++;
		if (w->nth && s->at[i].times != w->nth)
			continue;
		if (core_features_write(&to, w->msr, w->value) == FEATURE_OK && n < sizeof now / sizeof *now)
			now[n++] = *w;
	}
	if (!n)
		return 0;
	runner_drain(t->process);
	return written(t, &to, now, n, isa, err);
}

bool switches_asked(const struct process *p, const struct st_client *c)
{
	uint64_t value;
	return (c->code == SPMU_CLIENT_RDMSR || c->code == SPMU_CLIENT_WRMSR) && !(c->index >> 32) &&
	       core_features_read(&p->registers, (uint32_t)c->index, &value) == FEATURE_OK;
}

int switches_client(struct rthread *t, const struct st_client *c, struct isa *isa, struct st_answer *answer,
	struct err *err)
{
	struct core_features to = t->process->registers;
	const uint32_t msr = (uint32_t)c->index;
	answer->status = SPMU_CLIENT_OK;
	if (c->code == SPMU_CLIENT_RDMSR) {
		core_features_read(&to, msr, &answer->value[0]);
		return 0;
	}
	if (core_features_write(&to, msr, c->value) != FEATURE_OK) {
		answer->status = SPMU_CLIENT_GP;
		return 0;
	}
	return written(t, &to, &(struct run_write){ .msr = msr, .value = c->value }, 1, isa, err);
}

void switches_note(const struct switches *s, char *text, size_t bytes)
{
	for (size_t i = 0; i < s->writes; i++) {
		const struct run_write *w = &s->write[i];
		bool found = false, came = false;
		for (size_t k = 0; k < s->found; k++)
			if (s->at[k].write == i) {
				found = true;
				came |= s->at[k].times && s->at[k].times >= w->nth;
			}
		if (came || w->may_miss)
			continue;
		snprintf(text, bytes,
			found ? "register %XH was never written: the program did not come to %s so often"
			      : "register %XH was never written: no file that the program mapped has %s",
			w->msr, w->function ? w->function : w->object);
		return;
	}
}
