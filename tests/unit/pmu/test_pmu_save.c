/* SPDX-License-Identifier: GPL-2.0-or-later
 * Saved states that are damaged: every flipped bit and every cut is refused, for a PMU of each family, and changes
 * nothing.  What a block means is tested beside each family's registers (test_pmu_p5p6, test_pmu_netburst_tags,
 * test_pmu_ds_property, test_pmu_pushout).
 */
#include "netburst_fixture.h"

static int refuse(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address, (void)to, (void)bytes;
	return -1;
}

static int refuse_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return -1;
}

static const struct { const char *name; uint32_t control; uint64_t on; uint8_t siblings; } family[] = {
	{ "p5", MSR_P5_CESR, 0x16 | 3 << 6, 0 },
	{ "p6", MSR_P6_PERFEVTSEL0, 0x4300c0, 0 },
	{ "core2", MSR_IA32_PERFEVTSEL0, 0x4300c0, 0 },
	{ "golden-cove", MSR_IA32_PERFEVTSEL0, 0x4300c0, 0 },
	{ "netburst", MSR_CRU_ESCR0, 2 << 25 | 1 << 9 | 12, 0 },
	{ "netburst-prescott", MSR_CRU_ESCR0, 2 << 25 | 1 << 9 | 12, 0 },
	{ "netburst-prescott", MSR_CRU_ESCR0, 2 << 25 | 1 << 9 | 12, 2 },
};

/* A PMU that counts instructions, with some of them counted. */
static struct spmu *busy(const struct spmu_model *m, unsigned which)
{
	const struct spmu_host host = { .read_memory = refuse, .write_memory = refuse_write,
		.pushout_width = { 6, 6, 0, 0, 0, 0 }, .siblings = family[which].siblings };
	struct spmu *p = NULL;
	struct stream s = { 0 };
	assert_int_equal(spmu_create(&p, m, &host), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, family[which].control, family[which].on), SPMU_OK);
	if (spmu_model_family(m) == SPMU_FAMILY_NETBURST)
		nb_write(p, NB_CCCR(12), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(4) | SPMU_CCCR_ACTIVE(3));
	for (unsigned i = 0; i < 50; i++)
		stream_inst(&s, i, 0, 0, 20 + i);
	stream_send_all(&s, p);
	stream_free(&s);
	return p;
}

static void test_every_flipped_bit_is_refused(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof family / sizeof *family; k++) {
		struct spmu_model *m = fixture_model(family[k].name);
		struct spmu *p = busy(m, k), *q = busy(m, k);
		const size_t bytes = spmu_state_bytes(p);
		uint8_t *block = malloc(bytes), *before = malloc(bytes), *after = malloc(bytes);
		spmu_save(p, block);
		assert_int_equal(spmu_wrmsr(q, family[k].control, 0), SPMU_OK);	/* another state than the block's */
		spmu_save(q, before);
		for (size_t bit = 0; bit < 8 * bytes; bit++) {
			block[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (spmu_restore(q, block) != SPMU_EINPUT)
				fail_msg("%s: bit %zu of byte %zu", family[k].name, bit % 8, bit / 8);
			block[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		spmu_save(q, after);
		assert_memory_equal(before, after, bytes);
		assert_int_equal(spmu_restore(q, block), SPMU_OK);
		spmu_save(q, after);
		assert_memory_equal(block, after, bytes);
		free(block);
		free(before);
		free(after);
		spmu_destroy(p);
		spmu_destroy(q);
		spmu_model_free(m);
	}
}

/* A block that ends early, with zeros or with other bytes behind it; and one that is too long. */
static void test_every_cut_is_refused(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof family / sizeof *family; k++) {
		struct spmu_model *m = fixture_model(family[k].name);
		struct spmu *p = busy(m, k), *q = busy(m, k);
		const size_t bytes = spmu_state_bytes(p);
		uint8_t *block = malloc(bytes + 8), *cut = malloc(bytes + 8);
		spmu_save(p, block);
		memset(block + bytes, 0, 8);
		for (size_t n = 0; n < bytes; n++) {
			uint8_t *shorter = malloc(n ? n : 1);	/* the sanitizer sees a read behind it */
			memcpy(shorter, block, n);
			assert_int_equal(spmu_restore_bytes(q, shorter, n), SPMU_EINPUT);
			free(shorter);
			for (unsigned fill = 0; fill < 256; fill += 255) {
				memset(cut, (int)fill, bytes);
				memcpy(cut, block, n);
				assert_int_equal(spmu_restore(q, cut), SPMU_EINPUT);
			}
		}
		for (size_t n = bytes + 1; n < bytes + 8; n++)
			assert_int_equal(spmu_restore_bytes(q, block, n), SPMU_EINPUT);
		assert_int_equal(spmu_restore_bytes(q, block, bytes), SPMU_OK);
		free(block);
		free(cut);
		spmu_destroy(p);
		spmu_destroy(q);
		spmu_model_free(m);
	}
}

static void test_a_block_of_another_model_is_refused(void **state)
{
	(void)state;
	enum { N = sizeof family / sizeof *family };
	struct spmu_model *m[N];
	struct spmu *p[N];
	for (unsigned k = 0; k < N; k++)
		p[k] = busy(m[k] = fixture_model(family[k].name), k);
	for (unsigned from = 0; from < N; from++)
		for (unsigned to = 0; to < N; to++) {
			uint8_t *block = malloc(spmu_state_bytes(p[from]));
			spmu_save(p[from], block);
			assert_int_equal(spmu_restore_bytes(p[to], block, spmu_state_bytes(p[from])),
				from == to ? SPMU_OK : SPMU_EINPUT);
			free(block);
		}
	for (unsigned k = 0; k < N; k++) {
		spmu_destroy(p[k]);
		spmu_model_free(m[k]);
	}
}

/* The same registers and counts give the same block, in whatever process: it holds no address. */
static void test_two_equal_pmus_save_equal_blocks(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof family / sizeof *family; k++) {
		struct spmu_model *m = fixture_model(family[k].name), *n = fixture_model(family[k].name);
		struct spmu *p = busy(m, k), *q = busy(n, k);
		uint8_t *a = malloc(spmu_state_bytes(p)), *b = malloc(spmu_state_bytes(p));
		spmu_save(p, a);
		spmu_save(q, b);
		assert_memory_equal(a, b, spmu_state_bytes(p));
		free(a);
		free(b);
		spmu_destroy(p);
		spmu_destroy(q);
		spmu_model_free(m);
		spmu_model_free(n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_flipped_bit_is_refused),
		cmocka_unit_test(test_every_cut_is_refused),
		cmocka_unit_test(test_a_block_of_another_model_is_refused),
		cmocka_unit_test(test_two_equal_pmus_save_equal_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
