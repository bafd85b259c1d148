/* SPDX-License-Identifier: GPL-2.0-or-later
 * A bzImage made here, and bad ones (cli/machine/kernel_image.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cli/machine/kernel_image.c"	/* the commands are not in the library */

enum { SETUP = 5 * 512, SEGMENT = 0x1000, BYTES = 0x300 };

static char folder[] = "/tmp/softpmu-test-XXXXXX", image[64], unpacked[64];

static void set(uint8_t *at, unsigned bytes, uint64_t value)
{
	memcpy(at, &value, bytes);
}

/* An ELF file with one segment of BYTES bytes at 16 MB, entered in its middle. */
static size_t make_elf(uint8_t *e, unsigned bits)
{
	memset(e, 0, SEGMENT + BYTES);
	memcpy(e, ELFMAG, SELFMAG);
	e[EI_CLASS] = bits == 64 ? ELFCLASS64 : ELFCLASS32;
	e[EI_DATA] = ELFDATA2LSB;
	set(e + 18, 2, bits == 64 ? EM_X86_64 : EM_386);
	if (bits == 64) {
		const Elf64_Phdr p = { .p_type = PT_LOAD, .p_offset = SEGMENT, .p_paddr = 16 << 20, .p_filesz = BYTES,
			.p_memsz = 2 * BYTES };
		set(e + 24, 8, (16 << 20) + BYTES / 2);
		set(e + 32, 8, 64);
		set(e + 54, 2, sizeof p);
		set(e + 56, 2, 1);
		memcpy(e + 64, &p, sizeof p);
	} else {
		const Elf32_Phdr p = { .p_type = PT_LOAD, .p_offset = SEGMENT, .p_paddr = 16 << 20, .p_filesz = BYTES,
			.p_memsz = 2 * BYTES };
		set(e + 24, 4, (16 << 20) + BYTES / 2);
		set(e + 28, 4, 64);
		set(e + 42, 2, sizeof p);
		set(e + 44, 2, 1);
		memcpy(e + 64, &p, sizeof p);
	}
	return SEGMENT + BYTES;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	fclose(f);
}

/* A bzImage whose payload is the ELF file, packed by gzip; returns its size. */
static size_t make_image(uint8_t *b, const uint8_t *elf, size_t bytes)
{
	char command[256];
	write_file(unpacked, elf, bytes);
	snprintf(command, sizeof command, "gzip -nc %s >%s/packed", unpacked, folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof command, "%s/packed", folder);
	FILE *f = fopen(command, "r");
	memset(b, 0, SETUP);
	const size_t packed = fread(b + SETUP + 16, 1, 16384, f);
	fclose(f);
	b[0x1f1] = 4;
	set(b + 0x1fe, 2, 0xaa55);
	memcpy(b + 0x202, "HdrS", 4);
	b[0x201] = 0x6a;
	set(b + 0x206, 2, 0x20f);
	b[0x211] = 1;
	set(b + 0x22c, 4, 0x7fffffff);
	set(b + 0x236, 2, elf[EI_CLASS] == ELFCLASS64);
	set(b + 0x238, 4, 2047);
	set(b + 0x248, 4, 16);
	set(b + 0x24c, 4, packed);
	set(b + 0x260, 4, 1 << 20);
	return SETUP + 16 + packed;
}

static uint8_t elf[SEGMENT + BYTES], file[65536];

static int read_image(size_t bytes, struct kernel_image *k, struct err *err)
{
	write_file(image, file, bytes);
	return kernel_image_read(k, image, unpacked, err);
}

static void test_both_kinds_of_kernels_are_read(void **state)
{
	(void)state;
	for (unsigned bits = 32; bits <= 64; bits += 32) {
		struct kernel_image k;
		struct err err = { 0 };
		const size_t n = make_image(file, elf, make_elf(elf, bits));
		assert_int_equal(read_image(n, &k, &err), 0);
		assert_int_equal(k.bits, bits);
		assert_int_equal(k.segments, 1);
		assert_int_equal(k.entry, (16 << 20) + BYTES / 2);
		assert_int_equal(k.segment[0].addr, 16 << 20);
		assert_int_equal(k.segment[0].bytes, BYTES);
		assert_int_equal(k.end, 17 << 20);	/* init_size */
		assert_int_equal(k.command_max, 2047);
		assert_int_equal(k.header_bytes, 0x202 + 0x6a - 0x1f1);
	}
}

static void test_the_header_alone_tells_the_mode(void **state)
{
	(void)state;
	struct kernel_image k;
	struct err err = { 0 };
	write_file(image, file, make_image(file, elf, make_elf(elf, 64)));
	assert_int_equal(kernel_image_read(&k, image, NULL, &err), 0);
	assert_int_equal(k.bits, 64);
	assert_int_equal(k.segments, 0);
}

static void test_what_is_no_kernel_is_refused(void **state)
{
	(void)state;
	struct kernel_image k;
	struct err err = { 0 };
	const size_t n = make_image(file, elf, make_elf(elf, 64));
	assert_int_equal(read_image(0, &k, &err), ERR_INPUT);
	assert_int_equal(read_image(600, &k, &err), ERR_INPUT);
	assert_int_equal(read_image(n - 1, &k, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "cut short"));
	assert_int_equal(kernel_image_read(&k, "/nowhere", unpacked, &err), ERR_SYSTEM);
	file[0x203] = 'x';
	assert_int_equal(read_image(n, &k, &err), ERR_INPUT);
	file[0x203] = 'd';
	file[0x206] = 7;
	file[0x207] = 2;
	assert_int_equal(read_image(n, &k, &err), ERR_UNSUPPORTED);
}

static void test_a_payload_that_lies_elsewhere_is_refused(void **state)
{
	(void)state;
	static const uint32_t bad[][2] = { { 16, 0xffffffff }, { 0xffffffff, 32 }, { 0xffffff00, 0xffffff00 },
		{ 16, 0 } };
	struct kernel_image k;
	struct err err = { 0 };
	const size_t n = make_image(file, elf, make_elf(elf, 64));
	for (unsigned i = 0; i < 4; i++) {
		set(file + 0x248, 4, bad[i][0]);
		set(file + 0x24c, 4, bad[i][1]);
		assert_int_equal(read_image(n, &k, &err), ERR_INPUT);
	}
}

static void test_a_payload_that_cannot_be_unpacked_is_refused(void **state)
{
	(void)state;
	struct kernel_image k;
	struct err err = { 0 };
	const size_t n = make_image(file, elf, make_elf(elf, 64));
	for (size_t i = SETUP + 40; i < n; i++)
		file[i] = 0xff;
	assert_int_equal(read_image(n, &k, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "gzip cannot unpack"));
	memset(file + SETUP + 16, 'x', 8);
	assert_int_equal(read_image(n, &k, &err), ERR_UNSUPPORTED);
}

/* Each changes one field of a good ELF file. */
static void test_a_bad_elf_file_is_refused(void **state)
{
	(void)state;
	static const struct { unsigned at, bytes; uint64_t value; } bad[] = {
		{ 0, 1, 'x' }, { EI_DATA, 1, ELFDATA2MSB }, { EI_CLASS, 1, 9 }, { 18, 2, EM_ARM },
		{ 24, 8, 1 },						/* entry outside */
		{ 24, 8, (16 << 20) + BYTES },
		{ 32, 8, UINT64_MAX - 8 }, { 32, 8, SEGMENT + BYTES },	/* program headers outside */
		{ 54, 2, 8 }, { 56, 2, 0xffff }, { 56, 2, 0 },
		{ 64 + offsetof(Elf64_Phdr, p_offset), 8, UINT64_MAX },
		{ 64 + offsetof(Elf64_Phdr, p_offset), 8, SEGMENT + 1 },
		{ 64 + offsetof(Elf64_Phdr, p_filesz), 8, UINT64_MAX }, { 64 + offsetof(Elf64_Phdr, p_memsz), 8, 1 },
		{ 64 + offsetof(Elf64_Phdr, p_memsz), 8, UINT64_MAX }, { 64 + offsetof(Elf64_Phdr, p_paddr), 8, 0 },
		{ 64 + offsetof(Elf64_Phdr, p_paddr), 8, UINT64_MAX - 16 },
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kernel_image k = { 0 };
		struct err err = { 0 };
		const size_t n = make_elf(elf, 64);
		set(elf + bad[i].at, bad[i].bytes, bad[i].value);
		write_file(unpacked, elf, n);
		assert_int_equal(kernel_image_elf(&k, unpacked, "k", &err), ERR_INPUT);
		assert_string_not_equal(err.text, "");
	}
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(image, sizeof image, "%s/image", folder);
	snprintf(unpacked, sizeof unpacked, "%s/unpacked", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	char packed[64];
	snprintf(packed, sizeof packed, "%s/packed", folder);
	unlink(packed);
	unlink(image);
	unlink(unpacked);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_kinds_of_kernels_are_read),
		cmocka_unit_test(test_the_header_alone_tells_the_mode),
		cmocka_unit_test(test_what_is_no_kernel_is_refused),
		cmocka_unit_test(test_a_payload_that_lies_elsewhere_is_refused),
		cmocka_unit_test(test_a_payload_that_cannot_be_unpacked_is_refused),
		cmocka_unit_test(test_a_bad_elf_file_is_refused),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
