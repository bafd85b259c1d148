/* SPDX-License-Identifier: GPL-2.0-or-later
 * Requests of programs that look at themselves (softpmu/client.h), for the PMU of the calling thread.  Private to
 * src/session.
 *
 * The PMU is made at the thread's first request, of the session's model.  It is not one of the PMUs that count
 * the session's events, so the program may program it at will.  A PMI goes into a queue from which the program
 * takes it; no handler runs in the program.
 */
#ifndef SESSION_CLIENT_REQUESTS_H
#define SESSION_CLIENT_REQUESTS_H
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
	struct client_memory memory;	/* the memory in which its DS area lies */
};

void client_release(struct client *c);
/* Answers a request for the PMU. */
void client_request(struct client *c, const struct spmu_model *m, uint32_t pmi_latency, const struct st_client *request,
	struct st_answer *answer);
#endif
