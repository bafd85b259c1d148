/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes the files of a Linux guest (machine_linux.h).
 */
#include "cli/machine/machine_linux.h"
#include "cli/machine/guest_setup.h"
#include "cli/machine/initramfs.h"
#include "cli/machine/kernel_image.h"
#include "guest/guest_ports.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel has no BIOS to ask: no ACPI, no PCI.  The clocks' frequency is told, so that it need not be measured.  A
 * panic ends the machine: the emulator stops at the triple fault.  The watchdog would keep a counter running; Bochs
 * has no machine check registers. */
static const char line[] = "console=ttyS0 earlyprintk=ttyS0 acpi=off pci=off mce=off nokaslr panic=-1 reboot=t "
	"nmi_watchdog=0 no_timer_check tsc=reliable random.trust_cpu=on cryptomgr.notests rdinit=/init%s%s%s";

static int readable(const char *path, mode_t type, const char *what, struct err *err)
{
	struct stat s;
	if (strchr(path, '\n'))
		return err_set(err, ERR_INPUT, "a file name with a line feed in it cannot be used");
	if (stat(path, &s) || access(path, R_OK))
		return err_system(err, "%s", path);
	return (s.st_mode & S_IFMT) == type ? 0 : err_set(err, ERR_INPUT, "%s is no %s", path, what);
}

static int plain(const char *path, struct err *err)
{
	return path && (strchr(path, '\n') || strlen(path) > 3000) ?
		err_set(err, ERR_INPUT, "a file name that is too long or has a line feed in it cannot be used") : 0;
}

int machine_linux_check(struct machine_linux *l, struct machine_config *c, struct err *err)
{
	struct kernel_image k;
	struct stat s;
	if (!l->command)
		return err_set(err, ERR_INPUT, "nothing to run: give the command by --run");
	if (strlen(l->command) >= GUEST_COMMAND_MAX)
		return err_set(err, ERR_INPUT, "the command has more than %d characters", GUEST_COMMAND_MAX - 1);
	int rc = readable(l->kernel, S_IFREG, "file", err);
	if (!rc)
		rc = kernel_image_read(&k, l->kernel, NULL, err);
	if (!rc && l->root)
		rc = readable(l->root, S_IFDIR, "folder", err);
	for (unsigned i = 0; !rc && i < l->adds; i++)
		if (stat(l->add[i], &s) || access(l->add[i], R_OK))
			rc = err_system(err, "%s", l->add[i]);
	if (!rc)
		rc = plain(l->kallsyms, err);
	if (!rc)
		rc = plain(l->console, err);
	if (!rc)
		rc = plain(l->stream, err);
	if (rc)
		return rc;
	l->bits = k.bits;
	snprintf(l->rom, sizeof l->rom, "%s/softpmu-boot.rom", l->libexec);
	if (access(l->rom, R_OK))
		return err_set(err, ERR_SYSTEM, "%s is not there: `make machine` in softpmu's source builds "
			"it", l->rom);
	c->rom = l->rom;
	/* From Skylake on, CPUID tells the frequencies, the local APIC's, too; a kernel that is told one here asks no
	 * more. */
	char more[80] = "";
	if (strtoul(c->core->cpuid_signature, NULL, 16) < 0x406e3)
		snprintf(more, sizeof more, " tsc_early_khz=%.0f", 1e6 * c->core->frequency_ghz);
	if (snprintf(l->line, sizeof l->line, line, more, l->append ? " " : "",
		l->append ? l->append : "") >= (int)sizeof l->line)
		return err_set(err, ERR_INPUT, "the text for --append is too long");
	return 0;
}

static int pack(struct machine_linux *l, struct initramfs *a, struct err *err)
{
	static const char *const folder[] = { "dev", "proc", "sys", "tmp", "run", "root", "out" };
	char init[PATH_MAX];
	snprintf(init, sizeof init, "%s/softpmu-init-%u", l->libexec, l->bits);
	/* The first program and its devices win over what --root has. */
	int rc = initramfs_file(a, "init", 0755, init, err);
	if (!rc && l->root)
		rc = initramfs_tree(a, "/", l->root, err);
	for (unsigned i = 0; !rc && i < sizeof folder / sizeof *folder; i++)
		rc = initramfs_folder(a, folder[i], 0755, err);
	if (!rc)
		rc = initramfs_device(a, "dev/console", S_IFCHR | 0600, 5, 1, err);
	if (!rc)
		rc = initramfs_device(a, "dev/null", S_IFCHR | 0666, 1, 3, err);
	for (unsigned i = 0; !rc && i < l->adds; i++)
		rc = initramfs_add(a, l->add[i], err);
	if (!rc && !l->root && l->bits == 64)		/* the host's programs are 64-bit ones */
		rc = initramfs_basics(a, err);
	if (!rc)
		rc = initramfs_text(a, "etc/passwd", 0644, "root:x:0:0:root:/root:/bin/sh\n", err);
	return rc ? rc : initramfs_text(a, "etc/group", 0644, "root:x:0:\n", err);
}

int machine_linux_pack(struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	struct err *err)
{
	struct initramfs *a = NULL;
	struct err ignored;
	int rc = machine_config_check_bits(c, l->bits, err);
	if (!rc)
		rc = initramfs_open(&a, f->archive, err);
	FILE *list = !rc && l->stream ? fopen(f->list, "w") : NULL;
	if (!rc && l->stream && !list)
		rc = err_system(err, "%s", f->list);
	if (!rc) {
		initramfs_list(a, list);
		rc = pack(l, a, err);
	}
	const int closed = initramfs_close(a, rc ? &ignored : err);
	if (list && fclose(list) && !rc)
		rc = err_system(err, "%s", f->list);
	return rc ? rc : closed;
}

static int print_loads(FILE *o, const struct kernel_image *k, const struct machine_files *f, uint64_t initrd,
	uint64_t initrd_bytes)
{
	for (unsigned i = 0; i < k->segments; i++)
		fprintf(o, "load=%llu %llu %llu %s\n", (unsigned long long)k->segment[i].addr,
			(unsigned long long)k->segment[i].offset, (unsigned long long)k->segment[i].bytes, f->kernel);
	fprintf(o, "load=%u 0 %u %s\n", GUEST_LOW, GUEST_LOW_END - GUEST_LOW, f->low);
	fprintf(o, "load=%llu 0 %llu %s\n", (unsigned long long)initrd, (unsigned long long)initrd_bytes, f->archive);
	return ferror(o) ? -1 : 0;
}

int machine_linux_unpack(struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	struct err *err)
{
	static uint8_t low[GUEST_LOW_END - GUEST_LOW];
	struct kernel_image k;
	struct stat s;
	uint64_t initrd = 0;
	int rc = kernel_image_read(&k, l->kernel, f->kernel, err);
	if (rc)
		return rc;
	if (!l->bits || l->bits != k.bits) {		/* an old header, or one that is wrong */
		l->bits = k.bits;
		rc = machine_linux_pack(l, c, f, err);
	}
	if (!rc && stat(f->archive, &s))
		rc = err_system(err, "%s", f->archive);
	if (rc)
		return rc;
	const struct guest_setup setup = { &k, l->line, (uint64_t)c->memory << 20, (uint64_t)s.st_size, c->cpus,
		(uint32_t)strtoul(c->core->cpuid_signature, NULL, 16) };
	rc = guest_setup_low(&setup, low, err);
	if (!rc)
		rc = guest_setup_initrd(&setup, &initrd, err);
	if (rc)
		return rc;
	FILE *o = fopen(f->low, "w");
	const bool good = o && fwrite(low, 1, sizeof low, o) == sizeof low;
	if (!o || fclose(o) || !good)
		return err_system(err, "%s", f->low);
	o = fopen(f->options, "w");
	const bool printed = o && !print_loads(o, &k, f, initrd, (uint64_t)s.st_size);
	if (!o || fclose(o) || !printed)
		return err_system(err, "%s", f->options);
	return 0;
}

/* The stream, and what names its addresses.  Who replays it may do so in another folder. */
static void print_stream(FILE *o, const struct machine_linux *l, const struct machine_files *f)
{
	char here[PATH_MAX];
	fprintf(o, "stream=%s\ncode_files=%s\n", l->stream, f->list);
	if (l->kallsyms && *l->kallsyms == '/')
		fprintf(o, "names=%s\n", l->kallsyms);
	else if (l->kallsyms && getcwd(here, sizeof here))
		fprintf(o, "names=%s/%s\n", here, l->kallsyms);
}

int machine_linux_options(const struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	const char *data_dir, const char *save, const char *restore, struct err *err)
{
	static struct guest_request request;
	memset(&request, 0, sizeof request);
	request.wants = (save ? GUEST_WANTS_SAVE : 0) | (l->kallsyms ? GUEST_WANTS_KALLSYMS : 0) |
		(l->out ? GUEST_WANTS_FILES : 0);
	strcpy(request.command, l->command);
	FILE *o = fopen(f->request, "w");
	const size_t bytes = offsetof(struct guest_request, command) + strlen(l->command) + 1;
	bool good = o && fwrite(&request, 1, bytes, o) == bytes;
	if (!o || fclose(o) || !good)
		return err_system(err, "%s", f->request);
	o = fopen(f->options, "a");		/* behind the images */
	if (o) {
		machine_options_print(o, c, data_dir, f->report);
		fprintf(o, "request=%s\nserial=%s\n", f->request, l->console && !save ? l->console : f->serial);
		fprintf(o, "stdout=fd:%d\nstderr=fd:%d\n", MACHINE_STDOUT, MACHINE_STDERR);
		if (l->kallsyms)
			fprintf(o, "kallsyms=%s\n", l->kallsyms);
		if (l->out)
			fprintf(o, "files=%s\n", f->out);
		if (l->stream && !save)
			print_stream(o, l, f);
		if (save)
			fprintf(o, "save=%s\n", save);
		if (restore)
			fprintf(o, "restore=%s\n", restore);
		good = !ferror(o);
	}
	return !o || fclose(o) || !good ? err_system(err, "%s", f->options) : 0;
}
