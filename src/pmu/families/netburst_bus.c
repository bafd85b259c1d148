/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst's bus events: what the mask of their ESCR selects.  Their mask bits are fields that are looked at together,
 * so the mask is not a sum of its bits as with other events.
 *
 * IOQ_allocation, IOQ_active_entries.  Fields: bits 4:0 request type, bits 6:5 read and write, bits 11:7 memory types,
 * bits 14:13 own and other, bit 15 prefetches.
 *   From model 2 on: type AND (read OR write) AND memory type AND own or other.  A field without a bit selects nothing.
 *   Models 0 and 1: (type OR read OR write OR memory type) AND own or other; with read or write, memory types are
 *   ignored (unverified: the last half from memory of the manual's note).
 *   Type 00001 is "default or invalid" in the manual: from model 2 on any type, before it none, which is how the
 *   manual's metrics use it.  Another value is the request's type on the bus, REQa[4:0].  GUESS: as on the P6 bus (data
 *   read 00110, code read 00100, read for ownership 00010, write 00111, write-back 00101); loops of one kind each, with
 *   one type after the other, settle it.
 *   Without the bit for prefetches, prefetched lines are left out.
 * BSQ_allocation, BSQ_active_entries.  The mask is a pattern: type (1:0), length (3:2), memory type (13:11) and single
 * bits, of which each must be as in the mask.  GUESS for the single bits 5 to 8 and 10, of which the manual only says
 * what they are when set; the same loops with and without them settle it.
 *
 * Source: SDM vol. 3B (June 2016), Table 19-28; Optimization Manual 248966-013, Table B-1 ("ReqA0" in every metric; all
 * memory types named from model 2 on, none before).
 */
#include "netburst_pmu.h"
#include <string.h>

enum { IOQ_TYPE = 0x1f, IOQ_DEFAULT = 1, IOQ_READ = 0x20, IOQ_WRITE = 0x40, IOQ_WC = 0x100, IOQ_WB = 0x800,
	IOQ_MEMORY = 0xf80, IOQ_OWN = 0x2000, IOQ_OTHER = 0x4000, IOQ_PREFETCH = 0x8000 };
enum { BSQ_TYPE = 3, BSQ_LENGTH = 3 << 2, BSQ_CHUNK = 1 << 2, BSQ_LINE = 3 << 2, BSQ_IO = 1 << 5, BSQ_LOCK = 1 << 6,
	BSQ_CACHED = 1 << 7, BSQ_SPLIT = 1 << 8, BSQ_DEMAND = 1 << 9, BSQ_ORDERED = 1 << 10, BSQ_MEMORY = 7 << 11,
	BSQ_WC = 1 << 11, BSQ_WB = 6 << 11 };

#define READS (SPMU_ATTR(BUS_READ) | SPMU_ATTR(BUS_CODE) | SPMU_ATTR(BUS_RFO))
#define WRITES (SPMU_ATTR(BUS_WRITE) | SPMU_ATTR(BUS_WRITE_BACK))

enum netburst_bus netburst_bus(uint32_t msr, unsigned event)
{
	if ((msr == MSR_FSB_ESCR0 || msr == MSR_FSB_ESCR1) && (event == 0x03 || event == 0x1a))
		return NETBURST_IOQ;
	if ((msr == MSR_BSU_ESCR0 && event == 0x05) || (msr == MSR_BSU_ESCR1 && event == 0x06))
		return NETBURST_BSQ;
	return NETBURST_NO_BUS;
}

static void require(struct pmu_source *s, uint64_t attribute, bool set)
{
	s->is_mask |= attribute;
	s->is_want |= set ? attribute : 0;
}

static uint64_t of_type(unsigned type)
{
	switch (type) {
	case 0x06: return SPMU_ATTR(BUS_READ);
	case 0x04: return SPMU_ATTR(BUS_CODE);
	case 0x02: return SPMU_ATTR(BUS_RFO);
	case 0x07: return SPMU_ATTR(BUS_WRITE);
	case 0x05: return SPMU_ATTR(BUS_WRITE_BACK);
	default: return 0;
	}
}

static bool queue_selects(unsigned model, uint32_t mask, struct pmu_source *s)
{
	const uint64_t ways = (mask & IOQ_READ ? READS : 0) | (mask & IOQ_WRITE ? WRITES : 0);
	const unsigned type = mask & IOQ_TYPE;
	const bool combined = mask & IOQ_WC, back = mask & IOQ_WB;
	if (!(mask & (IOQ_OWN | IOQ_OTHER)))
		return false;
	if ((mask & (IOQ_OWN | IOQ_OTHER)) != (IOQ_OWN | IOQ_OTHER))
		require(s, SPMU_ATTR(BUS_OTHER), mask & IOQ_OTHER);
	if (!(mask & IOQ_PREFETCH))
		require(s, SPMU_ATTR(BUS_PREFETCH), false);
	if (model >= 2) {
		s->any_is = ways & (type == IOQ_DEFAULT ? READS | WRITES : of_type(type));
		if (combined != back)
			require(s, SPMU_ATTR(BUS_COMBINED), combined);
		return s->any_is && (combined || back);
	}
	s->any_is = ways | of_type(type);
	if (!ways && back) {	/* any transaction is write-back or combined */
		s->any_is = combined ? READS | WRITES : s->any_is;
		if (!combined && !s->any_is) {
			require(s, SPMU_ATTR(BUS_COMBINED), false);
			s->any_is = READS | WRITES;
		} else if (!combined) {	/* every type but writes of combined memory is write-back */
			s->any_is |= READS | SPMU_ATTR(BUS_WRITE_BACK);
		}
	} else if (!ways && combined) {
		s->any_is |= SPMU_ATTR(BUS_COMBINED);
	}
	return s->any_is;
}

static bool unit_selects(uint32_t mask, struct pmu_source *s)
{
	static const uint64_t types[] = { SPMU_ATTR(BUS_READ) | SPMU_ATTR(BUS_CODE), SPMU_ATTR(BUS_RFO),
		SPMU_ATTR(BUS_WRITE), SPMU_ATTR(BUS_WRITE_BACK) };
	const unsigned type = mask & BSQ_TYPE, length = mask & BSQ_LENGTH, memory = mask & BSQ_MEMORY;
	const bool lock = mask & BSQ_LOCK, combined = memory == BSQ_WC;
	/* what follows from the rest: locked chunks are not cached, and they and reads for ownership are ordered */
	if (mask & BSQ_IO || (length != BSQ_CHUNK && length != BSQ_LINE) || (memory != BSQ_WC && memory != BSQ_WB) ||
		!(mask & BSQ_CACHED) != (combined || lock) || !(mask & BSQ_ORDERED) != !(lock || type == 1))
		return false;
	s->any_is = types[type];
	require(s, SPMU_ATTR(BUS_CHUNK), length == BSQ_CHUNK);
	require(s, SPMU_ATTR(BUS_COMBINED), combined);
	require(s, SPMU_ATTR(BUS_LOCK), lock);
	require(s, SPMU_ATTR(BUS_SPLIT), mask & BSQ_SPLIT);
	require(s, SPMU_ATTR(BUS_PREFETCH), !(mask & BSQ_DEMAND));
	return true;
}

bool netburst_bus_selects(const struct spmu_model *m, enum netburst_bus of, uint32_t mask, struct pmu_source *s)
{
	return of == NETBURST_IOQ ? queue_selects(m->model, mask, s) : unit_selects(mask, s);
}

static uint32_t complete_queue(unsigned model, uint32_t mask)
{
	const bool typed = mask & IOQ_TYPE;
	mask |= typed ? 0 : IOQ_DEFAULT;
	mask |= mask & (IOQ_OWN | IOQ_OTHER) ? 0 : IOQ_OWN;
	if (model < 2)
		return mask & (IOQ_READ | IOQ_WRITE | IOQ_MEMORY) || (mask & IOQ_TYPE) != IOQ_DEFAULT ? mask
			: mask | IOQ_READ | IOQ_WRITE;
	mask |= mask & (IOQ_READ | IOQ_WRITE) ? 0 : IOQ_READ | IOQ_WRITE;
	return mask & IOQ_MEMORY ? mask : mask | IOQ_WC | IOQ_WB;	/* the memory types that occur */
}

/* For one bit alone: the pattern of the most usual request that has it. */
static uint32_t complete_unit(uint32_t mask)
{
	const uint32_t line = BSQ_LINE | BSQ_WB | BSQ_CACHED | BSQ_DEMAND;
	switch (mask) {
	case 1: case BSQ_ORDERED: return 1 | line | BSQ_ORDERED;		/* reads for ownership */
	case 2: case BSQ_WC: return 2 | BSQ_LINE | BSQ_WC | BSQ_DEMAND;		/* full writes of combined stores */
	case BSQ_CHUNK: return 2 | BSQ_CHUNK | BSQ_WC | BSQ_DEMAND;		/* the same in part */
	case BSQ_LOCK: case BSQ_SPLIT:						/* locked reads across lines */
		return BSQ_CHUNK | BSQ_WB | BSQ_LOCK | BSQ_SPLIT | BSQ_DEMAND | BSQ_ORDERED;
	case BSQ_CACHED: case BSQ_DEMAND: case 1 << 3: case 1 << 12: case 1 << 13: return line;
	default: return mask;
	}
}

uint32_t spmu_netburst_mask(const struct spmu_model *m, const struct spmu_event *e, uint32_t mask)
{
	switch (m->family == &pmu_netburst && mask ? netburst_bus(e->escr[0], e->event) : NETBURST_NO_BUS) {
	case NETBURST_IOQ: return complete_queue(m->model, mask);
	case NETBURST_BSQ: return complete_unit(mask);
	default: return mask;
	}
}
