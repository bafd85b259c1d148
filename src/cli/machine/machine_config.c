/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the emulator's configuration (machine_config.h).
 *
 * The processor that Bochs emulates has the instruction set of the core's generation; where it is the server of that
 * generation and the core a client, AVX-512 is taken from it.  Its clock (`ips`) is the core's: a tick is a cycle.
 * Nothing of the host's time reaches the guest: it begins on 1 January 2000.
 */
#include "cli/machine/machine_config.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct processor {
	const char *core, *bochs;
	unsigned bits;
	bool many;		/* several are cores of one package: CPUID has leaf 0BH, which says so */
	const char *without;	/* features that Bochs's processor has and the core has not, or NULL */
};

/* Bochs's processor of the preset's generation. */
static const struct processor *processor(const char *core)
{
	static const char skylake[] = "avx512,avx512dq,avx512cd,avx512bw";
	static const char sapphire[] = "avx512,avx512dq,avx512cd,avx512bw,avx512ifma52,avx512vbmi,avx512vbmi2,"
		"avx512vnni,avx512bitalg,avx512vpopcnt,avx512bf16,avx512fp16";
	static const struct processor known[] = {
		{ "pentium", "pentium", 32, false, NULL }, { "pentium3", "p3_katmai", 32, false, NULL },
		{ "willamette", "p4_willamette", 32, false, NULL },
		{ "prescott", "p4_prescott_celeron_336", 64, false, NULL },
		{ "core2", "core2_penryn_t9600", 64, false, NULL },
		{ "ivy-bridge", "corei7_ivy_bridge_3770k", 64, true, NULL },
		{ "skylake", "corei7_skylake_x", 64, true, skylake },
		{ "golden-cove", "sapphire_rapids", 64, true, NULL },
		{ "golden-cove-client", "sapphire_rapids", 64, true, sapphire },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(core, known[i].core))
			return &known[i];
	return NULL;
}

int machine_config_check(const struct machine_config *c, struct err *err)
{
	struct stat s;
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
	if (c->cpus != 1 && c->cpus != 2 && c->cpus != 4)
		return err_set(err, ERR_INPUT, "a machine has 1, 2 or 4 processors, not %u", c->cpus);
	return 0;
}

int machine_config_check_bits(const struct machine_config *c, unsigned bits, struct err *err)
{
	if (bits <= processor(c->core->name)->bits)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "the core %s has no 64-bit mode, which this kernel needs", c->core->name);
}

void machine_config_print(FILE *out, const struct machine_config *c, const char *rom, const char *vga)
{
	struct stat s = { 0 };
	if (stat(rom, &s))
		s.st_size = 0;
	fprintf(out, "config_interface: textconfig\ndisplay_library: nogui\n");
	fprintf(out, "plugin_ctrl: serial=0, parallel=0, speaker=0\n");
	fprintf(out, "memory: guest=%u, host=%u\n", c->memory, c->memory);
	fprintf(out, "romimage: file=\"%s\", address=0x%llx\n", rom, 0x100000000ull - (unsigned long long)s.st_size);
	fprintf(out, "vgaromimage: file=\"%s\"\nvga: extension=none, realtime=0, update_freq=1\n", vga);
	/* A kernel that finds the processors in one package measures its delay loop on the first one only. */
	const struct processor *p = processor(c->core->name);
	fprintf(out, "cpu: model=%s, count=%u:%u:1, ips=%.0f, ignore_bad_msrs=0, reset_on_triple_fault=0\n",
		p->bochs, p->many ? 1 : c->cpus, p->many ? c->cpus : 1, 1e9 * c->core->frequency_ghz);
	if (p->without)
		fprintf(out, "cpu: exclude_features=\"%s\"\n", p->without);
	fprintf(out, "clock: sync=none, time0=946684800, rtc_sync=0\n");
	fprintf(out, "pci: enabled=1, chipset=i440fx\nata0: enabled=0\nata1: enabled=0\nmouse: enabled=0\n");
	fprintf(out, "log: \"-\"\npanic: action=fatal\nerror: action=ignore\ninfo: action=ignore\n");
}

/* The display adapter must have a ROM; this one holds nothing, and nobody looks for it. */
int machine_config_write_vga(const char *vga)
{
	static const char nothing[2048];
	FILE *out = fopen(vga, "w");
	if (!out)
		return -1;
	const size_t n = fwrite(nothing, 1, sizeof nothing, out);
	return fclose(out) || n != sizeof nothing ? -1 : 0;
}

void machine_options_print(FILE *out, const struct machine_config *c, const char *data_dir, const char *report)
{
	static const char *const timing[] = { "counting", "marked", "always" };
	fprintf(out, "data=%s\ncore=%s\ntiming=%s\nreport=%s\nconsole=fd:%d\n", data_dir, c->core_name,
		c->functional ? "none" : timing[c->timing], report, MACHINE_STDOUT);
	if (c->warm)
		fprintf(out, "warm=1\n");
	if (c->reload_msrs)
		fprintf(out, "reload_msrs=1\n");
	for (unsigned i = 0; i < c->sets; i++)
		fprintf(out, "set=%s\n", c->set[i]);
}

/* The names; what is not there is left alone by machine_files_remove. */
static const struct { const char *name; size_t at; } names[] = {
#define NAME(member, name) { name, offsetof(struct machine_files, member) }
	NAME(config, "bochsrc"), NAME(options, "options"), NAME(report, "report"), NAME(log, "log"),
	NAME(vga, "vga.rom"), NAME(kernel, "kernel"), NAME(archive, "archive"), NAME(low, "low"),
	NAME(request, "request"), NAME(serial, "serial"), NAME(out, "out"),
	NAME(list, "list"),
};

int machine_files_create(struct machine_files *f, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(f->folder, sizeof f->folder, "%s/softpmu-machine-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(f->folder))
		return err_system(err, "%s", f->folder);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		strcpy(stpcpy(stpcpy((char *)f + names[i].at, f->folder), "/"), names[i].name);
	return 0;
}

void machine_files_remove(const struct machine_files *f)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink((const char *)f + names[i].at);
	rmdir(f->folder);
}

int machine_copy_file(const char *from, const char *to, struct err *err)
{
	char data[4096];
	size_t n;
	FILE *in = fopen(from, "r");
	if (!in)
		return err_system(err, "%s", from);
	FILE *out = fopen(to, "w");
	bool good = out != NULL;
	while (good && (n = fread(data, 1, sizeof data, in)))
		good = fwrite(data, 1, n, out) == n;
	int rc = good && ferror(in) ? err_system(err, "%s", from) : 0;
	if ((out && fclose(out)) || !good)
		rc = err_system(err, "%s", to);
	fclose(in);
	return rc;
}
