/* SPDX-License-Identifier: GPL-2.0-or-later
 * What comes out of a guest (cli/machine/machine_out.c), whatever it sends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cli/machine/machine_out.c"	/* the commands are not in the library */

static char folder[] = "/tmp/softpmu-test-XXXXXX", archive[64], out_at[64];
static FILE *stream;

static void put(unsigned mode, const char *name, const char *data)
{
	const struct guest_file f = { mode, (uint32_t)strlen(name), strlen(data) };
	fwrite(&f, 1, sizeof f, stream);
	fputs(name, stream);
	fputs(data, stream);
}

static int unpack(struct err *err)
{
	fclose(stream);
	const int rc = machine_out(archive, out_at, err);
	stream = fopen(archive, "w");
	return rc;
}

static void test_files_of_a_guest_come_out(void **state)
{
	(void)state;
	struct err err = { 0 };
	char path[128], text[16] = "";
	stream = fopen(archive, "w");
	put(S_IFDIR | 0755, "d", "");
	put(S_IFREG | 0644, "d/f", "text");
	put(S_IFLNK | 0777, "l", "d/f");
	put(S_IFREG | 0644, "l", "in its place");
	assert_int_equal(unpack(&err), 0);
	snprintf(path, sizeof path, "%s/d/f", out_at);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof text, f), 4);
	assert_string_equal(text, "text");
	fclose(f);
	fclose(stream);
}

static void test_a_guest_cannot_write_elsewhere(void **state)
{
	(void)state;
	static const char *const bad[] = { "../x", "/x", "d/../../x", "", "d//x", ".", "link/x", "no/x" };
	struct err err = { 0 };
	char path[128];
	snprintf(path, sizeof path, "%s/link", out_at);
	assert_int_equal(symlink(folder, path), 0);
	stream = fopen(archive, "w");
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		put(S_IFREG | 0644, bad[i], "x");
		assert_int_equal(unpack(&err), ERR_INPUT);
	}
	put(S_IFBLK | 0644, "x", "");
	assert_int_equal(unpack(&err), ERR_INPUT);
	snprintf(path, sizeof path, "%s/x", folder);
	assert_int_not_equal(access(path, F_OK), 0);
	struct guest_file f = { S_IFREG | 0644, 1, UINT64_MAX };
	fwrite(&f, 1, sizeof f, stream);
	fputs("ysome", stream);
	assert_int_equal(unpack(&err), ERR_TRUNCATED);
	f = (struct guest_file){ S_IFREG | 0644, UINT32_MAX, 0 };
	fwrite(&f, 1, sizeof f, stream);
	assert_int_equal(unpack(&err), ERR_INPUT);
	put(S_IFREG | 0644, "whole", "x");
	fwrite(&f, 1, sizeof f - 1, stream);
	assert_int_equal(unpack(&err), ERR_INPUT);
	fclose(stream);
}

static int make_folders(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(archive, sizeof archive, "%s/archive", folder);
	snprintf(out_at, sizeof out_at, "%s/out", folder);
	return mkdir(out_at, 0755);
}

static int remove_folders(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_of_a_guest_come_out),
		cmocka_unit_test(test_a_guest_cannot_write_elsewhere),
	};
	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
