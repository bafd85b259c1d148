/* SPDX-License-Identifier: BSD-2-Clause
 * The uncore PMU's registers.
 *
 * Client.  Sources: SDM vol. 3B, "Uncore Performance Monitoring Facility" of the 2nd generation Core (fields of
 * event selects and of the global control; 44-bit counters; EN is cleared when FREEZE is set and an enabled
 * counter overflows); vol. 4, tables of uncore MSRs: four counters and a unit status in each C-Box of the 2nd
 * and 3rd generation, two counters and no status from the 4th on.  Linux (uncore_snb.c) uses two of the four,
 * and four on Skylake; here the event tables follow the SDM.  Free-running counters: Linux, the same file, and
 * Intel's article "Monitoring Integrated Memory Controller Requests in the 2nd, 3rd, 4th, 5th, 6th generation
 * Intel Core processors".  GUESS: writing 1 clears bits of the status registers, as on servers; the SDM does
 * not say.  Writing them on a machine settles it.
 *
 * Server.  Sources: Uncore Performance Monitoring Reference Manual of the 3rd and 4th generation Xeon Scalable
 * (unit control and status, counter control, filter; an overflow sets the box's status bit and freezes all
 * boxes); Linux, uncore_discovery.h, uncore_snbep.c.
 * Left out: the global status registers (their bits are not documented), the filter's fields other than the thread.
 * GUESS: reserved bits of server MSRs raise #GP; the manual calls writing them undefined.
 */
#include "uncore_internal.h"
#include <string.h>

enum { STATUS_FIXED = 1, STATUS_ARB = 2, STATUS_CBO = 8 };
#define CLIENT_CONTROL \
	(UINT64_C(0xffff) | SPMU_UNC_EDGE | SPMU_UNC_OVF_EN | SPMU_UNC_EN | SPMU_UNC_INV | UINT64_C(0x1f) << 24)
#define IMC_CONTROL \
	(UINT64_C(0xffff) | SPMU_UNC_RST | SPMU_UNC_EDGE | SPMU_UNC_OVF_EN | SPMU_UNC_EN | SPMU_UNC_INV | \
		UINT64_C(0xff) << 24)
#define CHA_CONTROL (IMC_CONTROL | SPMU_UNC_TID_EN | UINT64_C(0x3ffffff) << 32)
#define FIXED_CONTROL (SPMU_UNC_OVF_EN | SPMU_UNC_EN)
#define IMC_FIXED_RST (UINT64_C(1) << 19)
#define BOX_CONTROL (SPMU_UNC_BOX_FRZ | SPMU_UNC_BOX_RST_CTRL | SPMU_UNC_BOX_RST_CTRS)
#define FILTER_TID UINT64_C(0x3ff)

static bool client_clock(const struct spmu_uncore *u, const struct box *b)
{
	return !u->model->server && unit_of(u, b)->boxes == SPMU_BOX_PACKAGE && !unit_of(u, b)->programmable &&
		b->counter[0].accept[WHAT_CLOCK];
}

bool uncore_enabled(const struct spmu_uncore *u, const struct box *b, unsigned n)
{
	const struct counter *c = &b->counter[n];
	if (!unit_of(u, b)->programmable && !client_clock(u, b))
		return true;
	if (!(c->control & SPMU_UNC_EN))
		return false;
	return u->model->server ? !(u->global & 1) && !(b->control & SPMU_UNC_BOX_FRZ)
		: (u->global & SPMU_UNC_GLOBAL_EN) != 0;
}

void uncore_overflowed(struct spmu_uncore *u, struct box *b, unsigned n)
{
	if (!(b->counter[n].control & SPMU_UNC_OVF_EN))
		return;
	bool freeze = u->model->server || u->global & SPMU_UNC_GLOBAL_FREEZE;
	uint64_t cores = ~UINT64_C(0);
	b->status |= UINT64_C(1) << (n == FIXED_COUNTER ? b->counters : n);
	if (u->model->server) {
		u->global |= 1;
	} else {
		u->status |= client_clock(u, b) ? STATUS_FIXED
			: unit_of(u, b)->boxes == SPMU_BOX_SLICE ? STATUS_CBO
			: STATUS_ARB;
		cores = u->global & ((UINT64_C(1) << u->model->cores) - 1);
		if (freeze)
			u->global &= ~SPMU_UNC_GLOBAL_EN;
	}
	if (freeze)
		uncore_plan(u);
	if (cores && u->host.pmi)
		u->host.pmi(u->host.context, u, cores);
}

/* ---- what both have ------------------------------------------------------------------------------------- */

static void write_control(struct spmu_uncore *u, struct box *b, unsigned n, uint64_t value)
{
	struct counter *c = &b->counter[n];
	uint32_t unmodelled;
	uncore_settle(u);
	if (value & SPMU_UNC_RST && u->model->server)
		c->value = 0;
	value &= u->model->server ? ~SPMU_UNC_RST : ~UINT64_C(0);
	c->control = value;
	c->counts = false;	/* a shaped counter starts again */
	uncore_select(u->model, b->unit, value & 0xff, (uint32_t)(value >> 8 & 0xff) | (uint32_t)(value >> 32) << 8,
		c->accept, &unmodelled);
	uncore_plan(u);
}

static void write_fixed(struct spmu_uncore *u, struct box *b, unsigned n, uint64_t value)
{
	uncore_settle(u);
	b->counter[n].control = value;
	uncore_plan(u);
}

static void write_value(struct spmu_uncore *u, struct counter *c, uint64_t value)
{
	uncore_settle(u);
	c->value = value & c->mask;
}

static void write_global(struct spmu_uncore *u, uint64_t value)
{
	uncore_settle(u);
	u->global = value;
	uncore_plan(u);
}

static int write_box(struct spmu_uncore *u, struct box *b, uint64_t value)
{
	uncore_settle(u);
	b->control = value & SPMU_UNC_BOX_FRZ;
	for (unsigned n = 0; n <= FIXED_COUNTER; n++) {
		struct counter *c = &b->counter[n];
		if (value & SPMU_UNC_BOX_RST_CTRL) {
			c->control = 0;
			c->counts = false;
			if (n < b->counters)
				memset(c->accept, 0, sizeof c->accept);
		}
		if (value & SPMU_UNC_BOX_RST_CTRS)
			c->value = 0;
	}
	uncore_plan(u);
	return SPMU_OK;
}

/* ---- client --------------------------------------------------------------------------------------------- */

enum client_kind {
	CLIENT_NONE, CLIENT_GLOBAL, CLIENT_STATUS, CLIENT_FIXED_CTRL, CLIENT_CONFIG, CLIENT_SELECT,
	CLIENT_COUNTER, CLIENT_UNIT_STATUS
};
struct place { enum client_kind kind; struct box *box; unsigned n; };

static struct box *package_box(const struct spmu_uncore *u, bool programmable)
{
	for (unsigned i = 0; i < u->boxes; i++)
		if (unit_of(u, &u->box[i])->boxes == SPMU_BOX_PACKAGE &&
			(programmable ? unit_of(u, &u->box[i])->programmable : client_clock(u, &u->box[i])))
			return &u->box[i];
	return NULL;
}

static struct place client_place(const struct spmu_uncore *u, uint32_t msr)
{
	struct box *arb = package_box(u, true), *clock = package_box(u, false);
	if (msr == u->model->global)
		return (struct place){ CLIENT_GLOBAL, NULL, 0 };
	if (msr == u->model->global + 1)
		return (struct place){ CLIENT_STATUS, NULL, 0 };
	if (msr == MSR_UNC_CBO_CONFIG)
		return (struct place){ CLIENT_CONFIG, NULL, 0 };
	if (clock && (msr == MSR_UNC_PERF_FIXED_CTRL || msr == MSR_UNC_PERF_FIXED_CTR))
		return (struct place){ msr == MSR_UNC_PERF_FIXED_CTR ? CLIENT_COUNTER : CLIENT_FIXED_CTRL, clock, 0 };
	if (arb && msr - MSR_UNC_ARB_PERFCTR0 < arb->counters)
		return (struct place){ CLIENT_COUNTER, arb, msr - MSR_UNC_ARB_PERFCTR0 };
	if (arb && msr - MSR_UNC_ARB_PERFEVTSEL0 < arb->counters)
		return (struct place){ CLIENT_SELECT, arb, msr - MSR_UNC_ARB_PERFEVTSEL0 };
	uint32_t at = msr - MSR_UNC_CBO_0_PERFEVTSEL0;
	if (u->slice_unit < 0 || at >= 16u * (u->first[u->slice_unit + 1] - u->first[u->slice_unit]))
		return (struct place){ CLIENT_NONE, NULL, 0 };
	struct box *cbo = &u->box[u->first[u->slice_unit] + at / 16];
	at %= 16;
	if (at < cbo->counters)
		return (struct place){ CLIENT_SELECT, cbo, at };
	if (at == MSR_UNC_CBO_0_UNIT_STATUS % 16 && cbo->counters == 4)
		return (struct place){ CLIENT_UNIT_STATUS, cbo, 0 };
	if (at - MSR_UNC_CBO_0_PERFCTR0 % 16 < cbo->counters)
		return (struct place){ CLIENT_COUNTER, cbo, at - MSR_UNC_CBO_0_PERFCTR0 % 16 };
	return (struct place){ CLIENT_NONE, NULL, 0 };
}

static uint64_t global_bits(const struct spmu_uncore_model *m)
{
	return SPMU_UNC_GLOBAL_EN | SPMU_UNC_GLOBAL_WAKE | SPMU_UNC_GLOBAL_FREEZE | ((UINT64_C(1) << m->cores) - 1);
}

static int client_write(struct spmu_uncore *u, uint32_t msr, uint64_t value)
{
	struct place p = client_place(u, msr);
	switch (p.kind) {
	case CLIENT_GLOBAL:
		if (value & ~global_bits(u->model))
			return SPMU_GP;
		write_global(u, value);
		return SPMU_OK;
	case CLIENT_STATUS:
		if (value & ~(uint64_t)(STATUS_FIXED | STATUS_ARB | STATUS_CBO))
			return SPMU_GP;
		u->status &= ~value;
		return SPMU_OK;
	case CLIENT_FIXED_CTRL:
		if (value & ~FIXED_CONTROL)
			return SPMU_GP;
		write_fixed(u, p.box, 0, value);
		return SPMU_OK;
	case CLIENT_SELECT:
		if (value & ~CLIENT_CONTROL)
			return SPMU_GP;
		write_control(u, p.box, p.n, value);
		return SPMU_OK;
	case CLIENT_COUNTER:
		if (value & ~p.box->counter[p.n].mask)
			return SPMU_GP;
		write_value(u, &p.box->counter[p.n], value);
		return SPMU_OK;
	case CLIENT_UNIT_STATUS:
		if (value & ~UINT64_C(15))
			return SPMU_GP;
		p.box->status &= ~value;
		return SPMU_OK;
	case CLIENT_CONFIG:
		return SPMU_GP;		/* read only */
	default:
		return SPMU_ENOMSR;
	}
}

static int client_read(const struct spmu_uncore *u, uint32_t msr, uint64_t *value)
{
	struct place p = client_place(u, msr);
	switch (p.kind) {
	case CLIENT_GLOBAL: *value = u->global; break;
	case CLIENT_STATUS: *value = u->status; break;
	case CLIENT_CONFIG: *value = u->host.slices & 15; break;
	case CLIENT_SELECT:
	case CLIENT_FIXED_CTRL: *value = p.box->counter[p.n].control; break;
	case CLIENT_COUNTER: *value = p.box->counter[p.n].value; break;
	case CLIENT_UNIT_STATUS: *value = p.box->status; break;
	default: return SPMU_ENOMSR;
	}
	return SPMU_OK;
}

/* ---- server's MSRs -------------------------------------------------------------------------------------- */

static struct box *cha_of(const struct spmu_uncore *u, uint32_t msr)
{
	uint32_t at = msr - MSR_UNC_CHA_0_BOX_CTL;
	if (u->slice_unit < 0 || at >= 16u * (u->first[u->slice_unit + 1] - u->first[u->slice_unit]))
		return NULL;
	return &u->box[u->first[u->slice_unit] + at / 16];
}

static int server_write(struct spmu_uncore *u, uint32_t msr, uint64_t value)
{
	struct box *b = cha_of(u, msr);
	if (msr == MSR_UNC_PMON_GLOBAL_CTL) {
		if (value & ~UINT64_C(1))
			return SPMU_GP;
		write_global(u, value);
		return SPMU_OK;
	}
	if (!b)
		return SPMU_ENOMSR;
	uint32_t at = msr % 16;
	if (at == 0)
		return value & ~BOX_CONTROL ? SPMU_GP : write_box(u, b, value);
	if (at == MSR_UNC_CHA_0_BOX_STATUS % 16) {
		if (value >> b->counters)
			return SPMU_GP;
		b->status &= ~value;
	} else if (at - MSR_UNC_CHA_0_CTL0 % 16 < b->counters) {
		if (value & ~CHA_CONTROL)
			return SPMU_GP;
		write_control(u, b, at - MSR_UNC_CHA_0_CTL0 % 16, value);
	} else if (at - MSR_UNC_CHA_0_CTR0 % 16 < b->counters) {
		struct counter *c = &b->counter[at - MSR_UNC_CHA_0_CTR0 % 16];
		if (value & ~c->mask)
			return SPMU_GP;
		write_value(u, c, value);
	} else if (at == MSR_UNC_CHA_0_FILTER0 % 16) {
		if (value & ~FILTER_TID)
			return SPMU_GP;
		uncore_settle(u);
		b->filter = value;
	} else {
		return SPMU_ENOMSR;
	}
	return SPMU_OK;
}

static int server_read(const struct spmu_uncore *u, uint32_t msr, uint64_t *value)
{
	const struct box *b = cha_of(u, msr);
	uint32_t at = msr % 16;
	if (msr == MSR_UNC_PMON_GLOBAL_CTL)
		*value = u->global;
	else if (!b)
		return SPMU_ENOMSR;
	else if (at == 0)
		*value = b->control;
	else if (at == MSR_UNC_CHA_0_BOX_STATUS % 16)
		*value = b->status;
	else if (at - MSR_UNC_CHA_0_CTL0 % 16 < b->counters)
		*value = b->counter[at - MSR_UNC_CHA_0_CTL0 % 16].control;
	else if (at - MSR_UNC_CHA_0_CTR0 % 16 < b->counters)
		*value = b->counter[at - MSR_UNC_CHA_0_CTR0 % 16].value;
	else if (at == MSR_UNC_CHA_0_FILTER0 % 16)
		*value = b->filter;
	else
		return SPMU_ENOMSR;
	return SPMU_OK;
}

int spmu_uncore_wrmsr(struct spmu_uncore *u, uint32_t msr, uint64_t value)
{
	return u->model->server ? server_write(u, msr, value) : client_write(u, msr, value);
}

int spmu_uncore_rdmsr(const struct spmu_uncore *u, uint32_t msr, uint64_t *value)
{
	return u->model->server ? server_read(u, msr, value) : client_read(u, msr, value);
}

/* ---- memory-mapped registers ---------------------------------------------------------------------------- */

/* Finds a free-running counter by its offset. */
static const struct counter *free_counter(const struct spmu_uncore *u, unsigned controller, uint32_t offset,
	unsigned *width)
{
	static const struct { uint32_t offset; uint8_t server, counter;
	} at[] = { { MMIO_UNC_DATA_READS, 0, 0 }, { MMIO_UNC_DATA_WRITES, 0, 1 }, { MMIO_UNC_GT_REQUESTS, 0, 2 },
		{ MMIO_UNC_IA_REQUESTS, 0, 3 }, { MMIO_UNC_IO_REQUESTS, 0, 4 }, { MMIO_UNC_IMC_FREE_READ, 1, 0 },
		{ MMIO_UNC_IMC_FREE_WRITE, 1, 1 }, { MMIO_UNC_IMC_FREE_DCLK, 1, 2 } };
	for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
		if (at[i].server != u->model->server || at[i].offset != offset)
			continue;
		for (unsigned k = 0; k < u->boxes; k++) {
			const struct box *b = &u->box[k];
			if (unit_of(u, b)->programmable || client_clock(u, b) || b->number != controller ||
				at[i].counter >= b->counters)
				continue;
			*width = u->model->server ? 8 : 4;
			return &b->counter[at[i].counter];
		}
	}
	return NULL;
}

static struct box *channel_of(const struct spmu_uncore *u, unsigned controller, uint32_t offset, uint32_t *at)
{
	if (!u->model->server || u->channel_unit < 0 || offset < MMIO_UNC_IMC_0_BOX_CTL)
		return NULL;
	uint32_t channel = (offset - MMIO_UNC_IMC_0_BOX_CTL) / MMIO_UNC_IMC_STRIDE;
	*at = (offset - MMIO_UNC_IMC_0_BOX_CTL) % MMIO_UNC_IMC_STRIDE;
	if (channel > 1 || controller > SPMU_UNCORE_CHANNELS || 2 * controller + channel >= u->host.channels)
		return NULL;
	return &u->box[u->first[u->channel_unit] + 2 * controller + channel];
}

enum {
	IMC_CTR0 = MMIO_UNC_IMC_0_CTR0 - MMIO_UNC_IMC_0_BOX_CTL,
	IMC_FIXED_CTR = MMIO_UNC_IMC_0_FIXED_CTR - MMIO_UNC_IMC_0_BOX_CTL,
	IMC_CTL0 = MMIO_UNC_IMC_0_CTL0 - MMIO_UNC_IMC_0_BOX_CTL,
	IMC_FIXED_CTL = MMIO_UNC_IMC_0_FIXED_CTL - MMIO_UNC_IMC_0_BOX_CTL,
	IMC_STATUS = MMIO_UNC_IMC_0_BOX_STATUS - MMIO_UNC_IMC_0_BOX_CTL
};

/* The counter whose value lies at `at`; *half: at its upper 32 bits.  NULL: none. */
static struct counter *channel_counter(struct box *b, uint32_t at, bool *half)
{
	*half = at & 4;
	if (at - IMC_CTR0 < 8u * b->counters)
		return &b->counter[(at - IMC_CTR0) / 8];
	return (at & ~4u) == IMC_FIXED_CTR ? &b->counter[FIXED_COUNTER] : NULL;
}

int spmu_uncore_mmio_write(struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes, uint64_t value)
{
	uint32_t at = 0;
	unsigned width;
	bool half;
	struct counter *c;
	struct box *b = channel_of(u, controller, offset, &at);
	if (free_counter(u, controller, offset & ~4u, &width) || free_counter(u, controller, offset, &width))
		return SPMU_OK;		/* read only: ignored */
	if (!b)
		return SPMU_ENOMSR;
	if ((bytes != 4 && bytes != 8) || offset % bytes)
		return SPMU_GP;
	if ((c = channel_counter(b, at, &half))) {
		if (bytes == 4)
			value = half ? (c->value & UINT32_MAX) | value << 32
				: (c->value & ~(uint64_t)UINT32_MAX) | (value & UINT32_MAX);
		write_value(u, c, value);
		return SPMU_OK;
	}
	if (at != 0 && at != IMC_FIXED_CTL && at != IMC_STATUS && !(at - IMC_CTL0 < 4u * b->counters && at % 4 == 0))
		return SPMU_ENOMSR;
	if (bytes != 4)
		return SPMU_GP;
	if (at == 0)
		return write_box(u, b, value & BOX_CONTROL);
	if (at == IMC_STATUS) {
		b->status &= ~value;
	} else if (at == IMC_FIXED_CTL) {
		if (value & IMC_FIXED_RST)
			b->counter[FIXED_COUNTER].value = 0;
		write_fixed(u, b, FIXED_COUNTER, value & FIXED_CONTROL);
	} else {
		write_control(u, b, (at - IMC_CTL0) / 4, value & IMC_CONTROL);
	}
	return SPMU_OK;
}

int spmu_uncore_mmio_read(const struct spmu_uncore *u, unsigned controller, uint32_t offset, unsigned bytes,
	uint64_t *value)
{
	uint32_t at = 0;
	unsigned width;
	bool half;
	const struct counter *c = free_counter(u, controller, offset, &width);
	struct box *b = channel_of(u, controller, offset, &at);
	if (!c && u->model->server && (c = free_counter(u, controller, offset & ~4u, &width)) && bytes == 4) {
		*value = c->value >> 32;
		return SPMU_OK;
	}
	if (c) {
		if ((bytes != 4 && bytes != 8) || bytes > width || offset % bytes)
			return SPMU_GP;
		*value = bytes == 4 ? c->value & UINT32_MAX : c->value;
		return SPMU_OK;
	}
	if (!b)
		return SPMU_ENOMSR;
	if ((bytes != 4 && bytes != 8) || offset % bytes)
		return SPMU_GP;
	if ((c = channel_counter(b, at, &half))) {
		*value = bytes == 8 ? c->value : half ? c->value >> 32 : c->value & UINT32_MAX;
		return SPMU_OK;
	}
	if (at != 0 && at != IMC_FIXED_CTL && at != IMC_STATUS && !(at - IMC_CTL0 < 4u * b->counters && at % 4 == 0))
		return SPMU_ENOMSR;
	if (bytes != 4)
		return SPMU_GP;
	*value = at == 0 ? b->control
		: at == IMC_STATUS ? b->status
		: at == IMC_FIXED_CTL ? b->counter[FIXED_COUNTER].control
		: b->counter[(at - IMC_CTL0) / 4].control;
	return SPMU_OK;
}
