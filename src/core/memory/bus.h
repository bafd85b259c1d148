/* SPDX-License-Identifier: GPL-2.0-or-later
 * The front-side bus of NetBurst, between the cores of a machine and the chipset that has the memory (fields fsb.*).
 *
 * A request waits for a free entry of the in-order queue, takes two bus clocks on the address bus, reaches memory
 * through the chipset, and gets its data when the data bus is free: 64 bits, four transfers a bus clock, so a line of
 * 64 bytes takes two bus clocks.  A read can be used after the first of these, which carries the bytes that were asked
 * for.  Data come in the order of the requests; a request that the model makes later, but for an earlier cycle, is
 * taken as it comes (dram.h says why).  A write drives its data as soon as the buses are free.  Stores that filled a
 * write-combining buffer in part leave as chunks of eight bytes, each a transaction; so does a locked access across
 * the end of a line.
 *
 * Sources: SDM vol. 3B, Table 19-28, events IOQ_allocation, BSQ_allocation and FSB_data_activity (queues, lengths,
 * clocks of DRDY and DBSY); Optimization Manual 248966-013, B "Bus metrics" (chunks count one by one in the queue, and
 * once in the bus unit).  The queue's 12 entries: datasheets of the processor ("in-order queue depth", unverified).
 * Left out: edges of the bus clock (a request goes at any core clock), retries, deferred replies, other bus agents than
 * the cores of the machine, snoops as transactions.
 */
#ifndef CORE_BUS_H
#define CORE_BUS_H
#include "core/memory/dram.h"

enum { BUS_QUEUE_MAX = 16, BUS_REQUEST_CLOCKS = 2 };
struct bus {
	uint32_t clock;			/* core clocks in a bus clock; 0: no such bus */
	uint32_t chipset;		/* core clocks from the request to the memory */
	uint32_t count;
	uint64_t entry[BUS_QUEUE_MAX];	/* cycle at which each entry of the queue is free again */
	uint64_t begun, data;		/* the latest request, and the end of the data before it */
	struct rate rate;		/* two bus clocks for each transaction: address bus and data bus */
};
void bus_init(struct bus *b, const struct core_config *c);
#endif
