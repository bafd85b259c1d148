/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the files of softpmu machine (machine_config.h).
 *
 * The processor that Bochs emulates has the instruction set of the core's generation.  Its clock (`ips`) is the core's:
 * a tick is a cycle.  Nothing of the host's time reaches the guest: it begins on 1 January 2000.
 */
#include "cli/machine/machine_config.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bochs's name for a processor of the preset's generation. */
static const char *processor(const char *core)
{
	static const struct { const char *core, *bochs; } known[] = {
		{ "pentium", "pentium" }, { "pentium3", "p3_katmai" }, { "willamette", "p4_willamette" },
		{ "prescott", "p4_prescott_celeron_336" }, { "core2", "core2_penryn_t9600" },
		{ "ivy-bridge", "corei7_ivy_bridge_3770k" }, { "skylake", "corei7_skylake_x" },
		{ "golden-cove", "sapphire_rapids" }, { "golden-cove-client", "sapphire_rapids" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(core, known[i].core))
			return known[i].bochs;
	return NULL;
}

int machine_config_check(const struct machine_config *c, struct err *err)
{
	struct stat s;
	if (!c->rom)
		return err_set(err, ERR_INPUT, "nothing to start: give the machine an image by --rom");
	if (strchr(c->rom, '"') || strchr(c->rom, ','))
		return err_set(err, ERR_INPUT, "%s: the emulator takes no file name with a comma or a quotation mark",
			c->rom);
	if (stat(c->rom, &s))
		return err_system(err, "%s", c->rom);
	if (!S_ISREG(s.st_mode) || !s.st_size || s.st_size % 512 || s.st_size > 128 << 10)
		return err_set(err, ERR_INPUT, "%s is no ROM image: its size is to be a multiple of 512 bytes, "
			"and 128 KB at most", c->rom);
	if (!processor(c->core->name))
		return err_set(err, ERR_UNSUPPORTED, "there is no machine with the core %s: the emulator and the "
			"registers of the PMU are Intel's", c->core->name);
	return 0;
}

void machine_config_print(FILE *out, const struct machine_config *c, const struct machine_files *f)
{
	struct stat s = { 0 };
	if (stat(c->rom, &s))
		s.st_size = 0;
	fprintf(out, "config_interface: textconfig\ndisplay_library: nogui\n");
	fprintf(out, "memory: guest=%u, host=%u\n", c->memory, c->memory);
	fprintf(out, "romimage: file=\"%s\", address=0x%llx\n", c->rom,
		0x100000000ull - (unsigned long long)s.st_size);
	fprintf(out, "vgaromimage: file=\"%s\"\n", f->vga);
	fprintf(out, "cpu: model=%s, count=1, ips=%.0f, ignore_bad_msrs=0, reset_on_triple_fault=0\n",
		processor(c->core->name), 1e9 * c->core->frequency_ghz);
	fprintf(out, "clock: sync=none, time0=946684800, rtc_sync=0\n");
	fprintf(out, "pci: enabled=1, chipset=i440fx\nata0: enabled=0\nata1: enabled=0\nmouse: enabled=0\n");
	fprintf(out, "log: \"%s\"\npanic: action=fatal\nerror: action=ignore\ninfo: action=ignore\n", f->log);
}

/* The display adapter must have a ROM; this one holds nothing, and nobody looks for it. */
static int write_vga(const struct machine_files *f)
{
	static const char nothing[2048];
	FILE *out = fopen(f->vga, "w");
	if (!out)
		return -1;
	const size_t n = fwrite(nothing, 1, sizeof nothing, out);
	return fclose(out) || n != sizeof nothing ? -1 : 0;
}

/* The options of src/machine/bochs/instrument.cc. */
static int write_options(const struct machine_files *f, const struct machine_config *c, const char *data_dir)
{
	static const char *const timing[] = { "counting", "marked", "always" };
	FILE *out = fopen(f->options, "w");
	if (!out)
		return -1;
	fprintf(out, "data=%s\ncore=%s\ntiming=%s\nreport=%s\nconsole=/proc/self/fd/%d\n", data_dir, c->core_name,
		timing[c->timing], f->report, MACHINE_CONSOLE);
	if (c->reload_msrs)
		fprintf(out, "reload_msrs=1\n");
	for (unsigned i = 0; i < c->sets; i++)
		fprintf(out, "set=%s\n", c->set[i]);
	return fclose(out);
}

int machine_files_create(struct machine_files *f, const struct machine_config *c, const char *data_dir,
	struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(f->folder, sizeof f->folder, "%s/softpmu-machine-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(f->folder))
		return err_system(err, "%s", f->folder);
	snprintf(f->config, sizeof f->config, "%s/bochsrc", f->folder);
	snprintf(f->options, sizeof f->options, "%s/options", f->folder);
	snprintf(f->report, sizeof f->report, "%s/report", f->folder);
	snprintf(f->vga, sizeof f->vga, "%s/vga.rom", f->folder);
	snprintf(f->log, sizeof f->log, "%s/log", f->folder);
	FILE *out = fopen(f->config, "w");
	if (out)
		machine_config_print(out, c, f);
	if (!out || fclose(out) || write_options(f, c, data_dir) || write_vga(f)) {
		const int rc = err_system(err, "%s", f->folder);
		machine_files_remove(f);
		return rc;
	}
	return 0;
}

void machine_files_remove(const struct machine_files *f)
{
	unlink(f->config);
	unlink(f->options);
	unlink(f->report);
	unlink(f->log);
	unlink(f->vga);
	rmdir(f->folder);
}
