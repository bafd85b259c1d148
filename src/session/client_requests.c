/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's own PMU (client_requests.h).  Left out: XMM registers in PEBS records, which the stream does not
 * hold.
 */
#include "session/client_requests.h"
#include "softpmu/client.h"
#include <stddef.h>
#include <string.h>

_Static_assert(SPMU_CLIENT_OK == (int)SPMU_OK && SPMU_CLIENT_GP == (int)SPMU_GP &&
		SPMU_CLIENT_NO_MSR == (int)SPMU_ENOMSR && SPMU_CLIENT_NO_MEMORY == (int)SPMU_ENOMEM &&
		SPMU_CLIENT_UD == (int)SPMU_UD,
	"the PMU's results are passed on");

void client_release(struct client *c)
{
	spmu_destroy(c->pmu);
	client_memory_release(&c->memory);
	*c = (struct client){ .moment = c->moment, .thread = c->thread };
}

static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	struct client *c = context;
	(void)pmu, (void)batch;
	c->due |= c->handler;
	if (c->pmis == CLIENT_PMIS)
		return;
	c->pmi[(c->first + c->pmis++) % CLIENT_PMIS] = (struct client_pmi){ pmi->ip, pmi->status, pmi->cycle };
}

static int read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	return client_memory_read(&((struct client *)context)->memory, address, to, bytes);
}

static int write_memory(void *context, uint64_t address, const void *from, size_t bytes)
{
	return client_memory_write(&((struct client *)context)->memory, address, from, bytes);
}

static int registers(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out)
{
	const struct client *c = context;
	struct history_moment m;
	if (!c->moment || !c->moment(c->thread, batch, record, before, &m))
		return -1;
	memset(out, 0, sizeof *out);
	memcpy(out->gpr, m.gpr, sizeof out->gpr);
	out->rip = m.rip;
	out->rflags = m.rflags;
	return 0;
}

/* Writes the fields of this PMI and how many wait, this one included. */
static void take_pmi(struct client *c, uint64_t value[4])
{
	const struct client_pmi *p = &c->pmi[c->first];
	if (!c->pmis)
		return;
	value[0] = p->ip;
	value[1] = p->status;
	value[2] = p->cycle;
	value[3] = c->pmis--;
	c->first = (c->first + 1) % CLIENT_PMIS;
}

/* What the tracer does next. */
static void go_on(struct client *c, struct st_answer *answer)
{
	answer->take = c->due && !c->inside;
	if (answer->take) {
		c->inside = true;
		c->due = false;
	}
	const uint64_t distance = c->handler && !c->inside ? spmu_pmi_distance(c->pmu) : ST_NO_STEP;
	answer->budget = distance < ST_NO_STEP ? (uint32_t)distance : ST_NO_STEP;
}

/* The tracer asks whether the thread enters its handler; no memory is passed. */
static void step(struct client *c, const struct st_client *request, struct st_answer *answer)
{
	answer->status = SPMU_CLIENT_OK;
	answer->budget = ST_NO_STEP;
	if (!c->pmu)
		return;
	if (request->value)
		c->inside = false;
	go_on(c, answer);
}

/* Some register of the PMU asks for AnyThread. */
static bool any_thread(const struct client *c, const struct spmu_model *m)
{
	uint64_t v = 0, any = 0;
	for (unsigned i = 0; spmu_model_version(m) >= 3 && i < spmu_model_gp_counters(m); i++)
		if (spmu_rdmsr(c->pmu, MSR_IA32_PERFEVTSEL0 + i, &v) == SPMU_OK)
			any |= v & SPMU_EVTSEL_ANY;
	for (unsigned i = 0; i < spmu_model_fixed_counters(m); i++)
		if (spmu_rdmsr(c->pmu, MSR_IA32_FIXED_CTR_CTRL, &v) == SPMU_OK)
			any |= v & UINT64_C(4) << 4 * i;
	return any;
}

void client_request(struct client *c, const struct spmu_model *m, const struct spmu_host *host,
	const struct st_client *request, struct st_answer *answer)
{
	uint32_t index = (uint32_t)request->index, regs[4] = { 0 };
	if (request->code == SPMU_CLIENT_INNER && (c->pmu || spmu_model_family(m) != SPMU_FAMILY_ARCH ||
			(spmu_model_capabilities(m) >> 8 & 15) < 4)) {
		answer->status = c->pmu ? SPMU_CLIENT_BAD : SPMU_CLIENT_NO_MSR;
		return;
	}
	if (request->code == ST_CLIENT_STEP) {
		step(c, request, answer);
		return;
	}
	if (!c->pmu) {
		struct spmu_host own = *host;
		own.context = c;
		own.pmi = on_pmi;
		own.hw_thread = c->hw_thread;
		own.read_memory = read_memory;
		own.write_memory = write_memory;
		own.registers = registers;
		own.mode64 = request->word_bytes == 8;
		own.pebs_reload_msrs = request->code == SPMU_CLIENT_INNER;
		answer->status = spmu_create(&c->pmu, m, &own);
		if (answer->status)
			return;
	}
	if (request->memory)
		client_memory_known(&c->memory, request->memory, request + 1, request->bytes);
	answer->status = SPMU_CLIENT_OK;
	switch (request->code) {
	case ST_CLIENT_MORE:
	case SPMU_CLIENT_PRESENT:
	case SPMU_CLIENT_INNER:
		break;
	case SPMU_CLIENT_RDMSR:
		answer->status = spmu_rdmsr(c->pmu, index, &answer->value[0]);
		break;
	case SPMU_CLIENT_WRMSR:
		answer->status = spmu_wrmsr(c->pmu, index, request->value);
		c->any_thread = any_thread(c, m);
		break;
	case SPMU_CLIENT_RDPMC:
		answer->status = spmu_rdpmc(c->pmu, index, 0, &answer->value[0]);
		break;
	case SPMU_CLIENT_CPUID_0A:
		spmu_cpuid_0a(c->pmu, regs);
		for (unsigned i = 0; i < 4; i++)
			answer->value[i] = regs[i];
		break;
	case SPMU_CLIENT_APIC_READ:
		answer->status = spmu_apic_read(c->pmu, index, regs);
		answer->value[0] = regs[0];
		break;
	case SPMU_CLIENT_APIC_WRITE:
		answer->status = spmu_apic_write(c->pmu, index, (uint32_t)request->value);
		break;
	case SPMU_CLIENT_HANDLER:
		c->handler = request->index;
		c->due = c->inside = false;
		break;
	case SPMU_CLIENT_PMI:
		take_pmi(c, answer->value);
		break;
	default:
		answer->status = SPMU_CLIENT_BAD;
	}
	client_memory_take(&c->memory, answer);
	go_on(c, answer);
}
