/* SPDX-License-Identifier: GPL-2.0-or-later
 * The prefetchers: when they ask, for which lines, and that each can be switched off. */
#include "mem_fixture.h"
#include "core/memory/prefetchers.h"
#include "core/memory/tlb.h"

static void test_a_line_prefetched_in_time_is_an_l1d_hit_marked_so(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l1d_next_line = 1;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 0), 1000, MEMORY, BITS_MEMORY);
	/* ascending, while the line is on its way: asks for the next */
	assert_load(f, LINE_AT(0, 0) + 8, 1050, MEMORY - 50, BITS_LFB);
	assert_load(f, LINE_AT(1, 0), 3000, L1, BITS_L1 | DID(PF_L1_USED));
	assert_load(f, LINE_AT(1, 0), 4000, L1, BITS_L1);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_PF_MISS), 1);
}

static void test_a_late_prefetch_is_a_fill_buffer_hit(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l1d_next_line = 1;
	mf_start(f);
	mf_map(f);
	mf_load(f, LINE_AT(0, 0), 1000);
	mf_load(f, LINE_AT(0, 0) + 8, 1010);
	assert_load(f, LINE_AT(1, 0), 1110, MEMORY - 100, BITS_LFB | DID(LFB_HW_PF) | DID(PF_L1_USED));
}

static void test_a_line_that_has_arrived_asks_for_no_next_line(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l1d_next_line = 1;
	mf_start(f);
	mf_map(f);
	uint64_t cycle = 1000;
	for (unsigned i = 0; i < 8; i++)	/* a chain: each load waits for the one before */
		cycle = mf_load(f, LINE_AT(0, 0) + 8 * i, cycle).ready;
	assert_load(f, LINE_AT(1, 0), 3000, MEMORY, BITS_MEMORY);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_PF_MISS), 0);
}

static void test_switched_off_the_next_line_is_not_fetched(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	for (unsigned i = 0; i < 3; i++) {
		assert_load(f, LINE_AT(i, 0), 1000 * (i + 1), MEMORY, BITS_MEMORY);
		assert_load(f, LINE_AT(i, 0) + 8, 1000 * (i + 1) + 50, MEMORY - 50, BITS_LFB);
	}
	assert_int_equal(mf_count(f, SPMU_SIG_L2_PF_MISS) + f->count[SPMU_SIG_L2_PF_HIT], 0);
}

static void test_the_next_line_prefetcher_stays_in_the_page(void **state)
{
	(void)state;
	struct next_line p;
	next_line_init(&p);
	assert_false(next_line_train(&p, 62 * 64, 6));
	assert_false(next_line_train(&p, 63 * 64, 6));
	assert_false(next_line_train(&p, 63 * 64 + 8, 6));	/* the next one is in another page */
	assert_true(next_line_train(&p, 62 * 64 + 8, 6));
	assert_false(next_line_train(&p, 62 * 64, 6));		/* descending */
	assert_true(next_line_train(&p, 62 * 64 + 1, 6));
}

static void test_a_constant_stride_is_followed_from_the_third_access_on(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l1d_ip = 1;
	mf_start(f);
	mf_map(f);
	struct mem_result r;
	for (unsigned i = 0; i < 8; i++) {
		memsys_load(f->m, 0x400123, BASE + 320 * i, 8, 1000 * (i + 1), false, &r);
		assert_int_equal(!!(r.did & DID(PF_L1_USED)), i >= 3);
		assert_int_equal(r.ready - 1000 * (i + 1), i >= 3 ? L1 : MEMORY);
	}
}

/* Runs nine loads 1 KB apart from `first` on; bit i of the result: load i found its line prefetched. */
static unsigned prefetched_of(struct machine_fixture *f, uint64_t first)
{
	unsigned bits = 0;
	struct mem_result r;
	f->config.prefetch_l1d_ip = 1;
	mf_start(f);
	mf_map(f);
	for (unsigned i = 0; i < 9; i++) {
		memsys_load(f->m, 0x400123, first + 1024 * i, 8, 1000 * (i + 1), false, &r);
		bits |= (unsigned)!!(r.did & DID(PF_L1_USED)) << i;
	}
	return bits;
}

static void test_a_page_ends_what_is_prefetched(void **state)
{
	assert_int_equal(prefetched_of(*state, BASE), 0xe8); /* the fifth and the ninth are the first of their pages */
}

static void test_or_it_goes_on_where_the_program_has_been(void **state)
{
	((struct machine_fixture *)*state)->config.prefetch_l1d_ip_pages = 1;
	assert_int_equal(prefetched_of(*state, BASE), 0x1f8);	/* frames have 2 MB here */
}

static void test_and_not_where_it_has_not(void **state)
{
	((struct machine_fixture *)*state)->config.prefetch_l1d_ip_pages = 1;
	assert_int_equal(prefetched_of(*state, BASE + (2 << 20) - 4096), 0x1e8); /* the fifth is the first of a frame */
}

static void test_strides_below_a_line_are_followed_by_lines(void **state)
{
	(void)state;
	struct ip_stride p;
	uint64_t target, at = 0x10000;
	int64_t step;
	assert_int_equal(ip_stride_init(&p, 16, 2048, 1, NULL), 0);
	/* of a stride of 24 bytes the prefetcher sees only the first access to each line: 0 72 144 192 264 */
	assert_false(ip_stride_train(&p, 1, at, &target, &step));
	assert_false(ip_stride_train(&p, 1, at + 72, &target, &step));
	assert_true(ip_stride_train(&p, 1, at + 144, &target, &step));
	assert_int_equal(target, at + 216);
	assert_true(ip_stride_train(&p, 1, at + 192, &target, &step));
	assert_int_equal(target >> 6, (at + 256) >> 6);
	ip_stride_release(&p);
}

static void test_a_stride_prefetch_never_leaves_the_page(void **state)
{
	(void)state;
	struct ip_stride p;
	uint64_t target;
	int64_t step;
	unsigned asked = 0;
	assert_int_equal(ip_stride_init(&p, 16, 2048, 1, NULL), 0);
	for (uint64_t a = 0x10000; a < 0x14000; a += 1024)
		if (ip_stride_train(&p, 1, a, &target, &step)) {
			asked++;
			assert_int_equal(target >> 12, a >> 12);
		}
	assert_int_equal(asked, 10);	/* of 16 accesses the first two train, and 4 are the last of their page */
	ip_stride_release(&p);
}

static void test_a_stride_prefetcher_that_may_leaves_the_page(void **state)
{
	(void)state;
	struct ip_stride p;
	uint64_t target;
	int64_t step;
	unsigned asked[64] = { 0 };
	assert_int_equal(ip_stride_init(&p, 16, 2048, 5, NULL), 0);
	p.pages = true;
	/* two pages of 16 accesses: the second continues with the stride of the first */
	for (unsigned i = 0; i < 32; i++) {
		unsigned n = ip_stride_train(&p, 1, 0x10000 + 256 * i, &target, &step);
		assert_int_equal(n, i < 2 ? 0 : i == 2 ? 5 : 1);
		for (unsigned k = 0; k < n; k++)
			asked[(target - 0x10000 + k * (uint64_t)step) / 256]++;
	}
	for (unsigned i = 0; i < 37; i++)
		assert_int_equal(asked[i], i > 2);
	ip_stride_release(&p);
}

static void test_a_stride_prefetcher_asks_so_far_ahead_and_nothing_twice(void **state)
{
	(void)state;
	struct ip_stride p;
	uint64_t target;
	int64_t step;
	unsigned asked[64] = { 0 };
	assert_int_equal(ip_stride_init(&p, 16, 2048, 5, NULL), 0);
	for (unsigned i = 0; i < 32; i++) {	/* two pages of 16 accesses */
		unsigned n = ip_stride_train(&p, 1, 0x10000 + 256 * i, &target, &step);
		assert_int_equal(n, i < 2 ? 0 : i == 2 || i == 16 ? 5 : i % 16 > 10 ? 0 : 1);
		for (unsigned k = 0; k < n; k++)
			asked[(target - 0x10000 + k * (uint64_t)step) / 256]++;
	}
	for (unsigned i = 0; i < 64; i++)	/* 0 to 2: it trains; 16: the first of a page */
		assert_int_equal(asked[i], i > 2 && i < 32 && i != 16);
	ip_stride_release(&p);
}

static void test_scattered_frames_are_each_given_once(void **state)
{
	(void)state;
	enum { PAGES = 1000 };	/* half of the frames */
	struct frames f;
	bool seen[PAGES] = { false };
	unsigned next = 0;
	assert_int_equal(frames_init(&f, 2 * PAGES, 1 << 20, 100, NULL), 0);
	for (uint64_t page = 0; page < PAGES; page++) {
		uint32_t frame = frames_get(&f, 0, 77 * page);
		assert_true(frame < PAGES && !seen[frame]);
		seen[frame] = true;
		assert_int_equal(frames_get(&f, 0, 77 * page), frame);
		next += page && frame == frames_get(&f, 0, 77 * (page - 1)) + 1;
	}
	assert_true(next < PAGES / 50);
	frames_release(&f);
}

static void test_the_spatial_prefetcher_completes_the_pair_of_lines(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l2_adjacent = 1;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(1, 0), 1000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 0), 2000, L2, BITS_L2 | DID(PF_L2_USED));	/* line ^ 1 */
	assert_load(f, LINE_AT(2, 0), 3000, MEMORY, BITS_MEMORY);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_PF_MISS), 2);
	assert_int_equal(f->count[SPMU_SIG_DRAM_READ], 4);
}

/* Does what L2 does when it has none of the lines: asks for `degree` lines and refuses the rest. */
static unsigned take(struct streamer *s, uint32_t line, uint32_t out[STREAM_OUT_MAX])
{
	unsigned n = streamer_train(s, line, out);
	if (n > s->degree)
		streamer_refused(s, out[n = s->degree]);
	return n;
}

static void test_the_streamer_runs_ahead_by_degree_up_to_its_distance(void **state)
{
	(void)state;
	struct streamer s;
	uint32_t out[STREAM_OUT_MAX];
	streamer_init(&s, 4, 2, 4);
	assert_int_equal(take(&s, 640, out), 0);
	assert_int_equal(take(&s, 641, out), 0);
	assert_int_equal(take(&s, 642, out), 2);	/* third in one direction */
	assert_int_equal(out[0], 643);
	assert_int_equal(out[1], 644);
	assert_int_equal(take(&s, 643, out), 2);
	assert_int_equal(out[0], 645);
	assert_int_equal(out[1], 646);
	assert_int_equal(take(&s, 644, out), 2);
	assert_int_equal(out[1], 648);				/* four ahead: the limit */
	assert_int_equal(take(&s, 645, out), 1);
	assert_int_equal(out[0], 649);
}

static void test_in_any_order_the_streamer_needs_two_neighbours_on_one_side(void **state)
{
	(void)state;
	static const uint32_t pairs[] = { 641, 640, 643, 642, 645 }, second[] = { 0, 2, 4, 6, 8, 7 };
	struct streamer s;
	uint32_t out[STREAM_OUT_MAX];
	streamer_init(&s, 4, 2, 4);
	s.any_order = true;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(take(&s, pairs[i], out), 0);
	assert_int_equal(take(&s, pairs[3], out), 2);	/* 642: from 641 and 640 */
	assert_int_equal(out[0], 644);			/* 643 has been asked for */
	assert_int_equal(out[1], 645);
	assert_int_equal(take(&s, pairs[4], out), 0);	/* 644 was only prefetched */
	assert_int_equal(take(&s, 644, out), 2);
	assert_int_equal(out[0], 646);
	for (unsigned i = 0; i < 6; i++)		/* of every second line none */
		assert_int_equal(take(&s, second[i], out), 0);
	assert_int_equal(take(&s, 130, out), 0);
	assert_int_equal(take(&s, 129, out), 0);
	assert_int_equal(take(&s, 128, out), 0);	/* down, at the page's end */
	assert_int_equal(take(&s, 131, out), 2);	/* both sides of 130 */
	assert_int_equal(out[0], 132);
}

static void test_the_streamer_gives_up_the_page_asked_for_longest_ago(void **state)
{
	static struct streamer s;
	uint32_t out[STREAM_OUT_MAX], page[5], seed = 1;	/* page: newest first */
	unsigned pages = 0;
	(void)state;
	streamer_init(&s, 5, 2, 8);
	for (unsigned i = 0; i < 4000; i++) {
		seed = seed * 1664525 + 1013904223;
		const uint32_t p = seed >> 24 & 7;
		streamer_train(&s, p * 64 + (seed >> 16 & 63), out);
		unsigned at = 0;
		while (at < pages && page[at] != p)
			at++;
		if (at == pages && pages < 5)
			pages++;
		else if (at == pages)
			at = pages - 1;
		memmove(page + 1, page, at * sizeof *page);
		page[0] = p;
		for (unsigned k = 0; k < 8; k++) {
			bool has = false, should = false;
			for (unsigned j = 0; j < 5; j++) {
				has |= s.page[j] == k;
				should |= j < pages && page[j] == k;
			}
			assert_int_equal(has, should);
		}
	}
}

static void test_the_streamer_follows_descending_accesses_within_the_page(void **state)
{
	(void)state;
	struct streamer s;
	uint32_t out[STREAM_OUT_MAX];
	streamer_init(&s, 4, 2, 20);
	take(&s, 646, out);
	take(&s, 645, out);
	assert_int_equal(take(&s, 644, out), 2);
	assert_int_equal(out[0], 643);
	assert_int_equal(out[1], 642);
	assert_int_equal(take(&s, 643, out), 2);
	assert_int_equal(out[1], 640);
	assert_int_equal(take(&s, 642, out), 0);	/* 639 is in another page */
}

static void test_the_streamer_loses_a_stream_whose_requests_lie_too_far_apart(void **state)
{
	(void)state;
	struct streamer s;
	uint32_t out[STREAM_OUT_MAX];
	streamer_init(&s, 4, 2, 20);
	s.window = 1;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(take(&s, 640 + 2 * i, out), 0);
	take(&s, 655, out);
	assert_int_equal(take(&s, 656, out), 2);
	s.window = 2;
	take(&s, 704, out);
	take(&s, 706, out);
	assert_int_equal(take(&s, 708, out), 2);
}

static void test_a_stream_of_every_second_line_is_kept_ahead_of(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l2_streamer = 1;
	mf_start(f);
	mf_map(f);
	/* with time for the prefetches to arrive: all lines are there from the fourth on */
	for (unsigned i = 0; i < 24; i += 2)
		assert_load(f, BASE + 64 * i, 1000 * (i + 1), i < 6 ? MEMORY : L2, i < 6 ? BITS_MEMORY
			: BITS_L2 | DID(PF_L2_USED));
	/* the lines between were fetched, too */
	assert_in_range(mf_count(f, SPMU_SIG_DRAM_READ), 22, 44);
}

static void test_the_spatial_prefetcher_completes_the_streamer_s_pairs(void **state)
{
	struct machine_fixture *f = *state;
	for (unsigned adjacent = 0; adjacent < 2; adjacent++) {
		f->config.prefetch_l2_streamer = 1;
		f->config.prefetch_l2_degree = 1;
		f->config.prefetch_l2_adjacent = adjacent;
		mf_start(f);
		mf_map(f);
		for (unsigned i = 0; i < 3; i++)
			mf_load(f, BASE + 64 * (4 * i), 1000 * (i + 1));	/* the third asks for line 9 */
		/* asks for line 10, which has 11 as its pair */
		mf_load(f, BASE + 64 * 9, 9000);
		assert_load(f, BASE + 64 * 11, 10000, adjacent ? L2 : MEMORY, adjacent ? BITS_L2 | DID(PF_L2_USED)
			: BITS_MEMORY);
		mf_end(f);
	}
	f->m = NULL;
}

static void test_the_streamer_hides_memory_s_latency(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t took[2];
	for (unsigned on = 0; on < 2; on++) {
		f->config.prefetch_l2_streamer = on;
		mf_start(f);
		mf_map(f);
		uint64_t cycle = 1000;
		for (unsigned i = 0; i < 40; i++)
			cycle = mf_load(f, BASE + 64 * i, cycle).ready;
		took[on] = cycle - 1000;
		if (!on) {
			assert_int_equal(took[0], 40 * MEMORY);
			mf_end(f);
		}
	}
	assert_true(took[1] < took[0] / 3);
}

static void test_a_linear_stream_begins_late_and_runs_ahead_over_pages(void **state)
{
	(void)state;
	for (int64_t up = -1; up <= 1; up += 2) {
		struct linear l;
		uint64_t next, line = 1000;
		int64_t step;
		linear_init(&l, 2, 4, 5, 2);
		for (unsigned i = 0; i < 4; i++, line += (uint64_t)up)
			assert_int_equal(linear_train(&l, line, &next, &step), 0);
		/* two more pages */
		for (unsigned ahead = 1, n; line != 1000 + 100 * (uint64_t)up; line += (uint64_t)up, ahead += n - 1) {
			n = ahead < 5 ? 2 : 1;		/* gains one line each time, up to five ahead */
			assert_int_equal(linear_train(&l, line, &next, &step), n);
			assert_int_equal(step, up);
			assert_int_equal(next, line + (uint64_t)up * ahead);
			assert_int_equal(linear_train(&l, line, &next, &step), 0);	/* the same line */
		}
	}
}

static void test_a_linear_stream_goes_on_with_what_was_not_asked_for(void **state)
{
	(void)state;
	struct linear l;
	uint64_t next;
	int64_t step;
	linear_init(&l, 1, 2, 8, 2);
	linear_train(&l, 10, &next, &step);
	linear_train(&l, 11, &next, &step);
	assert_int_equal(linear_train(&l, 12, &next, &step), 2);
	assert_int_equal(next, 13);
	linear_refused(&l, 1);				/* 14 */
	assert_int_equal(linear_train(&l, 13, &next, &step), 2);
	assert_int_equal(next, 14);
}

static void test_linear_streams_are_followed_in_turn_as_many_as_there_are(void **state)
{
	(void)state;
	for (unsigned streams = 2; streams <= 3; streams++) {
		struct linear l;
		uint64_t next;
		int64_t step;
		unsigned asked = 0;
		linear_init(&l, 2, 2, 8, 2);
		for (unsigned i = 0; i < 8; i++)
			for (unsigned k = 0; k < streams; k++)
				asked += linear_train(&l, 1000 * (k + 1) + i, &next, &step);
		assert_int_equal(asked > 0, streams == 2);
	}
}

static void test_every_second_line_is_no_linear_stream(void **state)
{
	(void)state;
	struct linear l;
	uint64_t next;
	int64_t step;
	linear_init(&l, 4, 2, 8, 2);
	for (unsigned i = 0; i < 32; i += 2)
		assert_int_equal(linear_train(&l, i, &next, &step), 0);
}

static void test_a_linear_stream_may_swap_neighbours_and_turn_once(void **state)
{
	(void)state;
	static const struct { int64_t direction; uint64_t lines[10]; } orders[] = {
		{ 1, { 101, 100, 103, 102, 105, 104, 107, 106, 109, 108 } },
		{ -1, { 100, 101, 98, 99, 96, 97, 94, 95, 92, 93 } },
		{ 1, { 100, 103, 102, 101, 104, 107, 106, 105, 108, 111 } },
	};
	for (unsigned k = 0; k < sizeof orders / sizeof *orders; k++) {
		struct linear l;
		uint64_t next, furthest = 0;
		int64_t step;
		unsigned asked = 0;
		linear_init(&l, 4, 4, 8, 2);
		for (unsigned i = 0; i < 10; i++) {
			unsigned n = linear_train(&l, orders[k].lines[i], &next, &step);
			asked += n;
			if (n) {
				assert_int_equal(step, orders[k].direction);
				furthest = next + (n - 1) * (uint64_t)step;
			}
		}
		assert_true(asked >= 8);
		assert_in_range((int64_t)(furthest - orders[k].lines[9]) * orders[k].direction, 4, 9);
	}
}

static void test_two_lines_in_turn_are_no_linear_stream(void **state)
{
	(void)state;
	struct linear l;
	uint64_t next;
	int64_t step;
	linear_init(&l, 4, 8, 8, 2);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(linear_train(&l, 100 + (i & 1), &next, &step), 0);
}

/* Accesses lines in order across the end of a frame; returns how many of the first 16 beyond it hit L2. */
static unsigned beyond_the_frame(struct machine_fixture *f, bool been_there, bool stores)
{
	const uint64_t end = BASE + (2 << 20);
	unsigned hits = 0;
	f->config.prefetch_linear_streams = 4;
	f->config.prefetch_linear_start = 8;
	f->config.prefetch_linear_degree = 2;
	f->config.prefetch_linear_distance = 16;
	mf_start(f);
	mf_map(f);
	if (been_there)
		mf_load(f, end + 64 * 40, 100);
	uint64_t cycle = 1000;
	for (uint64_t at = end - 64 * 40; at < end; at += 64, cycle += 1000)
		if (stores)
			mf_store(f, at, cycle);
		else
			mf_load(f, at, cycle);
	for (unsigned i = 0; i < 16; i++)
		hits += !!(mf_load(f, end + 64 * i, cycle + 1000 * i).did & DID(PF_L2_USED));
	return hits;
}

static void test_a_linear_stream_leaves_a_page_for_one_where_the_program_has_been(void **state)
{
	assert_int_equal(beyond_the_frame(*state, true, false), 16);
}

static void test_and_stores_are_one_too(void **state)
{
	assert_int_equal(beyond_the_frame(*state, true, true), 16);
}

static void test_but_not_for_one_where_it_has_not(void **state)
{
	/* the program itself misses the first line there */
	assert_true(beyond_the_frame(*state, false, false) < 16);
}

static void test_prefetches_leave_room_in_the_super_queue(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l2_adjacent = 1;
	f->config.l2_queue = 4;
	f->config.prefetch_l2_reserve = 3;
	mf_start(f);
	mf_map(f);
	mf_load(f, LINE_AT(0, 0), 1000);	/* one entry taken, three free: no prefetch */
	assert_int_equal(mf_count(f, SPMU_SIG_L2_PF_MISS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_a_line_prefetched_in_time_is_an_l1d_hit_marked_so),
		MF_TEST(test_a_late_prefetch_is_a_fill_buffer_hit),
		MF_TEST(test_a_line_that_has_arrived_asks_for_no_next_line),
		MF_TEST(test_switched_off_the_next_line_is_not_fetched),
		MF_TEST(test_a_page_ends_what_is_prefetched), MF_TEST(test_or_it_goes_on_where_the_program_has_been),
		MF_TEST(test_and_not_where_it_has_not),
		MF_TEST(test_a_constant_stride_is_followed_from_the_third_access_on),
		MF_TEST(test_the_spatial_prefetcher_completes_the_pair_of_lines),
		MF_TEST(test_the_streamer_hides_memory_s_latency),
		MF_TEST(test_prefetches_leave_room_in_the_super_queue),
		cmocka_unit_test(test_a_linear_stream_begins_late_and_runs_ahead_over_pages),
		cmocka_unit_test(test_a_linear_stream_goes_on_with_what_was_not_asked_for),
		cmocka_unit_test(test_linear_streams_are_followed_in_turn_as_many_as_there_are),
		cmocka_unit_test(test_every_second_line_is_no_linear_stream),
		MF_TEST(test_a_linear_stream_leaves_a_page_for_one_where_the_program_has_been),
		MF_TEST(test_and_stores_are_one_too), MF_TEST(test_but_not_for_one_where_it_has_not),
		cmocka_unit_test(test_the_next_line_prefetcher_stays_in_the_page),
		cmocka_unit_test(test_strides_below_a_line_are_followed_by_lines),
		cmocka_unit_test(test_a_stride_prefetch_never_leaves_the_page),
		MF_TEST(test_a_stream_of_every_second_line_is_kept_ahead_of),
		MF_TEST(test_the_spatial_prefetcher_completes_the_streamer_s_pairs),
		cmocka_unit_test(test_a_stride_prefetcher_asks_so_far_ahead_and_nothing_twice),
		cmocka_unit_test(test_a_stride_prefetcher_that_may_leaves_the_page),
		cmocka_unit_test(test_scattered_frames_are_each_given_once),
		cmocka_unit_test(test_the_streamer_runs_ahead_by_degree_up_to_its_distance),
		cmocka_unit_test(test_the_streamer_loses_a_stream_whose_requests_lie_too_far_apart),
		cmocka_unit_test(test_the_streamer_follows_descending_accesses_within_the_page),
		cmocka_unit_test(test_in_any_order_the_streamer_needs_two_neighbours_on_one_side),
		cmocka_unit_test(test_a_linear_stream_may_swap_neighbours_and_turn_once),
		cmocka_unit_test(test_two_lines_in_turn_are_no_linear_stream),
		cmocka_unit_test(test_the_streamer_gives_up_the_page_asked_for_longest_ago),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
