/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's own requests (include/softpmu/client.h).
 *
 * The core calls this between two blocks: the one that ended with the request is in the ring, the next has not begun.  A request is
 * written as ST_CLIENT, published, and waited for with the big lock held: the model needs nothing from the program's other
 * threads to answer.  Region markers are not waited for.  Where nobody reads, or a forked child is not followed, the answer is the
 * processor's: none.
 *
 * All words come from the program: addresses are checked before they are used.
 */
#include "tracer.h"
#include "softpmu/client.h"

static Bool readable(Addr at, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(at, bytes, VKI_PROT_READ);
}

/* Bytes of the name with its NUL, at most ST_CLIENT_TEXT; 0: there is none. */
static UInt name_bytes(Addr name)
{
	UInt n = 0;

	while (n < ST_CLIENT_TEXT - 1 && readable(name + n, 1) && *(const HChar *)(name + n))
		n++;
	return n ? n + 1 : 0;
}

static void ask(ThreadId tid, const struct spmu_client_request *request, UInt number)
{
	Bool region = request->code == SPMU_CLIENT_REGION_BEGIN || request->code == SPMU_CLIENT_REGION_END;
	UInt bytes = region ? name_bytes(request->index) : 0;

	ring_thread(tid);
	struct st_client *c = ring_record(ST_CLIENT, sizeof *c + bytes);
	c->number = number;
	c->code = (UInt)request->code;
	c->index = region ? 0 : request->index;
	c->value = (ULong)(UInt)request->low | (ULong)(UInt)request->high << 32;
	c->text_bytes = bytes;
	if (bytes)
		VG_(memcpy)(c + 1, (const void *)request->index, bytes - 1);
}

static Bool answer(ThreadId tid, UWord *words, UWord *result)
{
	static UInt numbers;
	const struct spmu_client_request *request = (const struct spmu_client_request *)words;
	struct st_answer a = { 0, SPMU_CLIENT_ABSENT, { 0, 0, 0, 0 } };

	if (words[0] < SPMU_CLIENT_BASE || words[0] >= SPMU_CLIENT_CODES)
		return False;
	*result = 0;
	if (!readable((Addr)words, sizeof *request))
		return True;
	if (request->code == SPMU_CLIENT_REGION_BEGIN || request->code == SPMU_CLIENT_REGION_END) {
		ask(tid, request, 0);
		return True;
	}
	if (!ring.control)
		return True;
	if (++numbers == 0)
		numbers = 1;
	ask(tid, request, numbers);
	ring_publish();
	if (!ring_answer(numbers, &a) || a.status == SPMU_CLIENT_ABSENT)
		return True;
	if (request->answer && VG_(am_is_valid_for_client)(request->answer, sizeof a.value, VKI_PROT_READ | VKI_PROT_WRITE))
		VG_(memcpy)((void *)request->answer, a.value, sizeof a.value);
	else if (request->answer)
		a.status = SPMU_CLIENT_BAD;
	*result = (UWord)(1 - a.status);
	return True;
}

void client_needs(void)
{
	VG_(needs_client_requests)(answer);
}
