/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's own requests (include/softpmu/client.h).
 *
 * The core calls this between two blocks: the one that ended with the request is in the ring, the next has not
 * begun.  A request is written as ST_CLIENT and published; then the tracer waits for the answer with the big lock
 * held: the model does not need the program's other threads to answer.  Region markers need no answer.  If nobody
 * reads, or this is a forked child that is not followed, the answer is that of a processor: none.
 *
 * The PMU's debug store is in the program's memory, which the model cannot see.  So each request carries the current
 * management area at IA32_DS_AREA, and each answer brings back what the PMU has written since the last one.  The PMU's
 * records hold registers, so all are traced from the first write of IA32_DS_AREA on.
 *
 * Programs that are marked for Callgrind or Cachegrind need no other marks: START_INSTRUMENTATION and STOP_, and every
 * other TOGGLE_COLLECT, begin and end a region called "callgrind" or "cachegrind" for the thread that asks.  DUMP_STATS
 * makes what was counted since the last dump a region "callgrind.N", DUMP_STATS_AT one with the given name, and
 * ZERO_STATS forgets what was counted.  The program waits for a dump: it may read the file at once, as QTestLib does.
 * Sources: <valgrind/callgrind.h> of Valgrind 3.19, whose enum gives the numbers;
 * cachegrind.h of Valgrind 3.22 ("CG", start and stop), which Debian 12 does not have.  Not done: to begin for the
 * process's other threads as well, as Callgrind does; and its options --instr-atstart and --collect-atstart, which only
 * `softpmu callgrind` knows.
 *
 * All words come from the program: addresses are checked before they are used.
 */
#include "tracer.h"
#include "softpmu/client.h"
#include "valgrind/callgrind.h"

#define MSR_DS_AREA 0x600

/* By thread; 0: none.  VG_N_THREADS is set by an option; threads beyond this array have no DS area. */
static Addr ds_area[1000];
#define HAS_AREA(tid) ((tid) < sizeof ds_area / sizeof ds_area[0])

static Bool readable(Addr at, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(at, bytes, VKI_PROT_READ);
}

/* Length of the name with its NUL, at most ST_CLIENT_NAME; 0: there is none. */
static UInt name_bytes(Addr name)
{
	UInt n = 0;

	while (n < ST_CLIENT_NAME - 1 && readable(name + n, 1) && *(const HChar *)(name + n))
		n++;
	return n ? n + 1 : 0;
}

static UInt ds_bytes(Addr area)
{
	UInt n = area ? ST_CLIENT_DS : 0;

	while (n && !readable(area, n))
		n -= 16;
	return n;
}

static Bool is_region(UWord code)
{
	return code == SPMU_CLIENT_REGION_BEGIN || code == SPMU_CLIENT_REGION_END;
}

static UInt next_number(void)
{
	static UInt numbers;

	if (++numbers == 0)	/* which is a marker's */
		numbers = 1;
	return numbers;
}

/* Writes the request into the stream.  Returns the number that its answer will have; 0 for markers, which have none. */
static UInt ask(ThreadId tid, const struct spmu_client_request *request)
{
	Bool region = is_region(request->code);
	Bool step = request->code == ST_CLIENT_STEP;
	Addr payload = region ? request->index : HAS_AREA(tid) && !step ? ds_area[tid] : 0;
	UInt bytes = region ? name_bytes(payload) : ds_bytes(payload);

	ring_thread(tid);
	struct st_client *c = ring_record(ST_CLIENT, sizeof *c + bytes);
	c->number = region ? 0 : next_number();
	c->code = (UInt)request->code;
	c->index = region ? 0 : request->index;
	c->value = (ULong)(UInt)request->low | (ULong)(UInt)request->high << 32;
	c->memory = region ? 0 : payload;
	c->bytes = bytes;
	c->word_bytes = sizeof(HWord);
	VG_(memcpy)(c + 1, (const void *)payload, region && bytes ? bytes - 1 : bytes);
	return c->number;
}

/* Copies what the PMU has written.  If the program's memory is not writable the record is lost, as after a fault. */
static void write_memory(const struct st_answer *a)
{
	UInt at = 0;
	struct st_write w;

	while (a->bytes <= sizeof a->writes && at + sizeof w <= a->bytes) {
		VG_(memcpy)(&w, a->writes + at, sizeof w);
		at += sizeof w;
		if (w.bytes > a->bytes - at)
			return;
		if (VG_(am_is_valid_for_client)((Addr)w.addr, (SizeT)w.bytes, VKI_PROT_READ | VKI_PROT_WRITE))
			VG_(memcpy)((void *)(Addr)w.addr, a->writes + at, (SizeT)w.bytes);
		at += (UInt)ROUND8(w.bytes);
	}
}

/* Takes the rest of an answer's writes to memory.  False: nobody reads any more. */
static Bool take_rest(ThreadId tid)
{
	const struct spmu_client_request more = { .code = ST_CLIENT_MORE };
	const struct st_answer *a;

	do {
		UInt number = ask(tid, &more);
		ring_publish();
		if (!(a = ring_answer(number)))
			return False;
		write_memory(a);
	} while (a->more);
	return True;
}

Bool client_step(ThreadId tid, ULong value, UInt *budget, Bool *take)
{
	const struct spmu_client_request request = {
		.code = ST_CLIENT_STEP, .index = VG_(get_IP)(tid), .low = (UWord)value
	};
	const struct st_answer *a;

	UInt number = ask(tid, &request);
	if (!ring.control)
		return False;
	ring_publish();
	a = ring_answer(number);
	if (!a || a->status == SPMU_CLIENT_ABSENT)
		return False;
	*budget = a->budget;
	*take = a->take != 0;
	return !*take || take_rest(tid);	/* the handler finds in memory what the PMU has written */
}

/* ---- requests of other tools ---- */

#define CACHEGRIND_START VG_USERREQ_TOOL_BASE('C', 'G')
#define CACHEGRIND_STOP  (CACHEGRIND_START + 1)

/* Writes a marker, for which nobody waits unless it is a dump.  name: of ours, or of the program and checked. */
static void mark(ThreadId tid, UInt code, UInt value, const HChar *name, UInt bytes)
{
	ring_thread(tid);
	struct st_client *c = ring_record(ST_CLIENT, sizeof *c + bytes);
	const UInt number = code == ST_CLIENT_DUMP ? next_number() : 0;
	c->number = number;
	c->code = code;
	c->value = value;
	c->index = c->memory = 0;
	c->bytes = bytes;
	c->word_bytes = sizeof(HWord);
	if (bytes)
		VG_(memcpy)(c + 1, name, bytes - 1);
	if (number && ring.control) {
		ring_publish();
		ring_answer(number);
	}
}

enum { INSTRUMENTED = 1, COLLECTED = 2, CACHE = 4 };

/* Begins or ends the thread's region; twice the same has no effect. */
static void set_region(ThreadId tid, UChar *state, UChar bit, Bool on, const HChar *name)
{
	if (tid >= sizeof ds_area / sizeof ds_area[0] || !!(state[tid] & bit) == on)
		return;
	state[tid] ^= bit;
	mark(tid, on ? SPMU_CLIENT_REGION_BEGIN : SPMU_CLIENT_REGION_END, bit == COLLECTED ? ST_MARK_TOGGLE : 0, name,
		VG_(strlen)(name) + 1);
}

static UChar started[sizeof ds_area / sizeof ds_area[0]];	/* by thread: what it began and has not ended */

/* False: it is none of these. */
static Bool of_other_tools(ThreadId tid, const UWord *words)
{
	static const HChar callgrind[] = "callgrind";
	static UInt dumps;
	HChar number[32];
	UInt bytes;

	switch (words[0]) {
	case VG_USERREQ__START_INSTRUMENTATION:
	case VG_USERREQ__STOP_INSTRUMENTATION:
		set_region(tid, started, INSTRUMENTED, words[0] == VG_USERREQ__START_INSTRUMENTATION, callgrind);
		return True;
	case VG_USERREQ__TOGGLE_COLLECT:
		if (HAS_AREA(tid))
			set_region(tid, started, COLLECTED, !(started[tid] & COLLECTED), callgrind);
		return True;
	case CACHEGRIND_START:
	case CACHEGRIND_STOP:
		set_region(tid, started, CACHE, words[0] == CACHEGRIND_START, "cachegrind");
		return True;
	case VG_USERREQ__ZERO_STATS:
		mark(tid, ST_CLIENT_ZERO, 0, NULL, 0);
		return True;
	case VG_USERREQ__DUMP_STATS:
	case VG_USERREQ__DUMP_STATS_AT:
		bytes = words[0] == VG_USERREQ__DUMP_STATS_AT && readable((Addr)words, 2 * sizeof *words)
			? name_bytes((Addr)words[1]) : 0;
		dumps++;
		if (!bytes)
			VG_(sprintf)(number, "callgrind.%u", dumps);
		mark(tid, ST_CLIENT_DUMP, 0, bytes ? (const HChar *)words[1] : number,
			bytes ? bytes : VG_(strlen)(number) + 1);
		return True;
	default:
		return False;
	}
}

static Bool answer(ThreadId tid, UWord *words, UWord *result)
{
	const struct spmu_client_request *request = (const struct spmu_client_request *)words;

	if (of_other_tools(tid, words)) {
		*result = 0;
		return True;
	}
	if (words[0] < SPMU_CLIENT_BASE || words[0] >= SPMU_CLIENT_CODES)
		return False;
	*result = 0;
	if (!readable((Addr)words, sizeof *request))
		return True;
	if (request->code == SPMU_CLIENT_WRMSR && request->index == MSR_DS_AREA && HAS_AREA(tid))
		ds_area[tid] = sizeof(Addr) == 8 ? (Addr)((ULong)(UInt)request->low | (ULong)(UInt)request->high << 32)
						 : (Addr)request->low;
	if (request->code == SPMU_CLIENT_WRMSR && request->index == MSR_DS_AREA && !settings.regs) {
		settings.regs = True;
		blocks_translate_again();
	}
	if (request->code == SPMU_CLIENT_HANDLER && !pmi_set_handler(tid, request->index,
			(Addr)((ULong)(UInt)request->low | (ULong)(UInt)request->high << 32))) {
		*result = (UWord)(1 - SPMU_CLIENT_BAD);
		return True;
	}
	UInt number = ask(tid, request);
	if (!number || !ring.control)
		return True;
	ring_publish();
	const struct st_answer *a = ring_answer(number);
	if (!a || a->status == SPMU_CLIENT_ABSENT)
		return True;
	Int status = a->status;
	ULong value[4];
	VG_(memcpy)(value, a->value, sizeof value);
	UInt budget = a->budget;
	Bool take = a->take != 0;
	write_memory(a);
	if ((a->more || take) && !take_rest(tid))
		return True;
	if (request->answer &&
	    VG_(am_is_valid_for_client)(request->answer, sizeof value, VKI_PROT_READ | VKI_PROT_WRITE))
		VG_(memcpy)((void *)request->answer, value, sizeof value);
	else if (request->answer)
		status = SPMU_CLIENT_BAD;
	*result = (UWord)(1 - status);
	pmi_set_budget(tid, (Word)budget);
	if (take)
		pmi_enter(tid);
	return True;
}

void client_thread_exit(ThreadId tid)
{
	pmi_thread_exit(tid);
	if (HAS_AREA(tid)) {
		ds_area[tid] = 0;
		started[tid] = 0;
	}
}

void client_needs(void)
{
	VG_(needs_client_requests)(answer);
}
