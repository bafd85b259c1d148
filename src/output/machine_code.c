/* SPDX-License-Identifier: GPL-2.0-or-later
 * Gathers a kernel's code (machine_code.h).
 */
#include "output/machine_code.h"
#include "symbols/symbols.h"
#include "util/bytes.h"
#include "util/grow.h"
#include <stdlib.h>
#include <string.h>

enum { INSNS_MOST = 1 << 23 };	/* 200 MB; what comes behind them is not kept */

struct machine_code {
	struct st_insn_def *insn;
	size_t insns, room, sorted;	/* those up to `sorted` are in order of address, each once */
	bool failed;
};

struct machine_code *machine_code_create(void)
{
	return calloc(1, sizeof(struct machine_code));
}

void machine_code_destroy(struct machine_code *m)
{
	if (m)
		free(m->insn);
	free(m);
}

static int by_address(const void *a, const void *b, void *context)
{
	const struct st_insn_def *const *x = a, *const *y = b;
	(void)context;
	if ((*x)->addr != (*y)->addr)
		return (*x)->addr < (*y)->addr ? -1 : 1;
	return *x < *y ? -1 : 1;	/* as they came */
}

/* Keeps the last one of each address.  False: out of memory. */
static bool sort(struct machine_code *m)
{
	const struct st_insn_def **order = malloc((m->insns + 1) * sizeof *order);
	struct st_insn_def *kept = malloc((m->insns + 1) * sizeof *kept);
	size_t n = 0;
	if (!order || !kept) {
		free(order);
		free(kept);
		return false;
	}
	for (size_t i = 0; i < m->insns; i++)
		order[i] = &m->insn[i];
	qsort_r(order, m->insns, sizeof *order, by_address, NULL);
	for (size_t i = 0; i < m->insns; i++) {
		if (n && kept[n - 1].addr == order[i]->addr)
			n--;
		kept[n++] = *order[i];
	}
	free(order);
	free(m->insn);
	m->insn = kept;
	m->room = m->insns + 1;
	m->insns = m->sorted = n;
	return true;
}

void machine_code_add(struct machine_code *m, const struct st_block_def *def)
{
	const struct st_insn_def *insn = (const struct st_insn_def *)(def + 1);
	for (unsigned i = 0; i < def->insns && !m->failed; i++) {
		if (!symbols_is_kernel(insn[i].addr) || !insn[i].len || insn[i].len > sizeof insn->bytes ||
			insn[i].addr > UINT64_MAX - sizeof insn->bytes)
			continue;
		/* many blocks have the same instructions */
		if (m->insns == m->room && m->insns > 2 * m->sorted && m->insns > 4096)
			m->failed = !sort(m);
		struct st_insn_def *grown = m->failed || m->insns >= INSNS_MOST ? NULL
			: grow_array(m->insn, m->insns, &m->room, 4096, sizeof *grown);
		if (!grown) {
			m->failed = true;
			return;
		}
		m->insn = grown;
		m->insn[m->insns++] = insn[i];
	}
}

int machine_code_keep(struct machine_code *m, struct perfdata_writer *w)
{
	struct bytes all = { 0 };
	if (m->insns && !sort(m))
		return ERR_NOMEM;
	for (size_t i = 0; i < m->insns;) {
		struct symbols_stretch s = { m->insn[i].addr, 0 };
		static const uint8_t zero[8];
		size_t end = i;
		/* what begins within another instruction is left out: the other one was there first */
		while (end < m->insns && m->insn[end].addr <= s.addr + s.bytes) {
			if (m->insn[end].addr == s.addr + s.bytes)
				s.bytes += m->insn[end].len;
			end++;
		}
		bytes_put(&all, &s, sizeof s);
		uint64_t at = s.addr;
		for (; i < end; i++)
			if (m->insn[i].addr == at) {
				bytes_put(&all, m->insn[i].bytes, m->insn[i].len);
				at += m->insn[i].len;
			}
		bytes_put(&all, zero, -s.bytes & 7);
	}
	const int code = all.failed ? ERR_NOMEM : all.size
		? perfdata_own(w, PERFDATA_KERNEL_CODE, all.data, all.size) : 0;
	bytes_free(&all);
	return code;
}
