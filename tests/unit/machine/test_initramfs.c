/* SPDX-License-Identifier: GPL-2.0-or-later
 * The archive of a guest's files (cli/machine/initramfs.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cli/machine/initramfs.c"	/* the commands are not in the library */

static char folder[] = "/tmp/softpmu-test-XXXXXX", archive[64], tree_at[64];

/* One entry of an archive, as it is read back. */
struct seen { unsigned mode, inode, links, bytes, major, minor; char name[256], data[256]; };

static unsigned hex(const char *at)
{
	char text[9] = "";
	memcpy(text, at, 8);
	return (unsigned)strtoul(text, NULL, 16);
}

/* Reads all entries but the last one, which must be the end.  Returns how many. */
static unsigned read_archive(struct seen *seen, unsigned room)
{
	static char data[1 << 20];
	FILE *f = fopen(archive, "r");
	assert_non_null(f);
	const size_t bytes = fread(data, 1, sizeof data, f);
	fclose(f);
	unsigned n = 0;
	for (size_t at = 0; at + 110 <= bytes; n++) {
		const char *h = data + at;
		assert_memory_equal(h, "070701", 6);
		const unsigned name = hex(h + 94);
		assert_int_equal(h[110 + name - 1], 0);
		if (!strcmp(h + 110, "TRAILER!!!"))
			return n;
		assert_true(n < room && name < 256);
		seen[n] = (struct seen){ hex(h + 14), hex(h + 6), hex(h + 38), hex(h + 54), hex(h + 78), hex(h + 86),
			"", "" };
		strcpy(seen[n].name, h + 110);
		at = (at + 110 + name + 3) & ~(size_t)3;
		memcpy(seen[n].data, data + at, seen[n].bytes < 255 ? seen[n].bytes : 255);
		at = (at + seen[n].bytes + 3) & ~(size_t)3;
	}
	fail_msg("the archive has no end");
	return 0;
}

static const struct seen *named(const struct seen *seen, unsigned n, const char *name)
{
	const struct seen *found = NULL;
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(seen[i].name, name)) {
			assert_null(found);	/* twice */
			found = seen + i;
		}
	return found;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_folders_above_a_file_are_made_once(void **state)
{
	(void)state;
	struct seen seen[16];
	struct initramfs *a;
	struct err err = { 0 };
	assert_int_equal(initramfs_open(&a, archive, &err), 0);
	assert_int_equal(initramfs_text(a, "/etc/x/one", 0640, "1", &err), 0);
	assert_int_equal(initramfs_text(a, "etc/x/two", 0644, "22", &err), 0);
	assert_int_equal(initramfs_text(a, "etc//x/./two", 0644, "another", &err), 0);
	assert_int_equal(initramfs_device(a, "dev/console", S_IFCHR | 0600, 5, 1, &err), 0);
	assert_int_equal(initramfs_close(a, &err), 0);
	const unsigned n = read_archive(seen, 16);
	assert_int_equal(n, 6);
	assert_int_equal(named(seen, n, "etc")->mode, S_IFDIR | 0755);
	assert_int_equal(named(seen, n, "etc/x/one")->mode, S_IFREG | 0640);
	assert_string_equal(named(seen, n, "etc/x/two")->data, "22");
	assert_int_equal(named(seen, n, "dev/console")->major, 5);
	assert_int_equal(named(seen, n, "dev/console")->minor, 1);
}

static void test_names_go_through_links_of_the_archive(void **state)
{
	(void)state;
	struct seen seen[16];
	struct initramfs *a;
	struct err err = { 0 };
	assert_int_equal(initramfs_open(&a, archive, &err), 0);
	assert_int_equal(initramfs_link(a, "lib", "usr/lib", &err), 0);
	assert_int_equal(initramfs_text(a, "/lib/x", 0644, "x", &err), 0);
	assert_int_equal(initramfs_text(a, "/lib/../y", 0644, "y", &err), 0);
	assert_int_equal(initramfs_link(a, "loop", "loop", &err), 0);
	assert_int_equal(initramfs_text(a, "loop/x", 0644, "x", &err), ERR_INPUT);
	assert_int_equal(initramfs_text(a, "../../out", 0644, "x", &err), 0);
	assert_int_equal(initramfs_close(a, &err), 0);
	const unsigned n = read_archive(seen, 16);
	assert_non_null(named(seen, n, "usr/lib/x"));
	assert_non_null(named(seen, n, "usr/y"));
	assert_non_null(named(seen, n, "out"));
	assert_string_equal(named(seen, n, "lib")->data, "usr/lib");
}

static void test_a_tree_keeps_its_links(void **state)
{
	(void)state;
	struct seen seen[16];
	struct initramfs *a;
	struct err err = { 0 };
	char path[128], second[128];
	snprintf(path, sizeof path, "%s/file", tree_at);
	write_text(path, "contents");
	chmod(path, 0750);
	snprintf(second, sizeof second, "%s/second", tree_at);
	assert_int_equal(link(path, second), 0);
	snprintf(second, sizeof second, "%s/soft", tree_at);
	assert_int_equal(symlink("/nowhere", second), 0);
	assert_int_equal(initramfs_open(&a, archive, &err), 0);
	assert_int_equal(initramfs_tree(a, "/", tree_at, &err), 0);
	assert_int_equal(initramfs_tree(a, "/", path, &err), ERR_INPUT);
	assert_int_equal(initramfs_file(a, "/none", 0644, "/nowhere", &err), ERR_SYSTEM);
	assert_int_equal(initramfs_close(a, &err), 0);
	const unsigned n = read_archive(seen, 16);
	const struct seen *file = named(seen, n, "file"), *again = named(seen, n, "second");
	assert_int_equal(n, 3);
	assert_int_equal(file->mode, S_IFREG | 0750);
	assert_string_equal(file->data, "contents");
	assert_int_equal(again->inode, file->inode);
	assert_int_equal(again->bytes, 0);
	assert_int_equal(again->links, 2);
	assert_string_equal(named(seen, n, "soft")->data, "/nowhere");
}

static void test_long_names_are_refused(void **state)
{
	(void)state;
	struct initramfs *a;
	struct err err = { 0 };
	char name[PATH_MAX + 100];
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = 0;
	assert_int_equal(initramfs_open(&a, archive, &err), 0);
	assert_int_equal(initramfs_text(a, name, 0644, "x", &err), ERR_INPUT);
	name[300] = 0;
	assert_int_equal(initramfs_text(a, name, 0644, "x", &err), ERR_INPUT);
	assert_int_equal(initramfs_close(a, &err), 0);
}

static int make_folders(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(archive, sizeof archive, "%s/archive", folder);
	snprintf(tree_at, sizeof tree_at, "%s/tree", folder);
	return mkdir(tree_at, 0755);
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
		cmocka_unit_test(test_folders_above_a_file_are_made_once),
		cmocka_unit_test(test_names_go_through_links_of_the_archive),
		cmocka_unit_test(test_a_tree_keeps_its_links),
		cmocka_unit_test(test_long_names_are_refused),
	};
	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
