/* SPDX-License-Identifier: GPL-2.0-or-later
 * Requests of programs that look at themselves (softpmu/client.h), for the PMU of the calling thread.  Private to
 * src/session.
 *
 * The PMU is made at the thread's first request, of the session's model and with the core's width.  It is not one
 * of the PMUs that count the session's events, so the program may program it at will.  A PMI goes into a queue from
 * which the program takes it.  If the thread has a handler, it also enters the handler: at the end of the request in
 * which the PMI was taken, or when the tracer next asks (ST_CLIENT_STEP).  Each answer says how many instructions the
 * tracer may run before that (spmu_pmi_distance).
 */
#ifndef SESSION_CLIENT_REQUESTS_H
#define SESSION_CLIENT_REQUESTS_H
#include "run/watch/history.h"
#include "session/client_memory.h"
#include "softpmu/pmu.h"
#include "stream/format.h"
#include <stdbool.h>

enum { CLIENT_PMIS = 64 };

struct client_pmi { uint64_t ip, status, cycle; };

/* One thread's state; all zero at first.  It must not move after the first request for the PMU. */
struct client {
	struct spmu *pmu;	/* NULL until the first request */
	struct client_pmi pmi[CLIENT_PMIS];
	unsigned first, pmis;
	uint8_t hw_thread;	/* that it runs on */
	/* Gives the thread's registers before or after the instruction of uop `record`; false: not known.  NULL: never
	 * known. */
	bool (*moment)(void *thread, const struct spmu_batch *batch, uint32_t record, bool before,
		struct history_moment *out);
	void *thread;		/* passed to `moment` */
	bool handler;		/* the thread has a handler for its PMIs */
	bool inside;		/* it runs: PMIs wait until it returns */
	bool due;		/* a PMI was taken and has not entered the handler yet */
	bool any_thread;	/* some register asks for AnyThread: its PMU is to see the core's other threads */
	struct client_memory memory;	/* the memory in which its DS area lies */
};

void client_release(struct client *c);
/* Answers a request for the PMU.  host: pmi_latency, siblings and pushout_width of a PMU that the request
 * makes. */
void client_request(struct client *c, const struct spmu_model *m, const struct spmu_host *host,
	const struct st_client *request, struct st_answer *answer);
#endif
