/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads a bzImage (kernel_image.h).
 */
#include "cli/machine/kernel_image.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	START = KERNEL_HEADER + KERNEL_HEADER_MAX,	/* bytes of the file that hold the header */
	UNPACKED_MAX = 512 << 20, SECONDS = 60,	/* of the child that unpacks */
	LOWEST = 1 << 20,			/* below are boot_params and tables of ours */
};
static const uint64_t highest = 1ull << 31;

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;
	memcpy(&v, at, bytes);
	return v;
}

int kernel_image_header(struct kernel_image *k, const uint8_t *start, uint64_t bytes, uint64_t file_bytes,
	uint64_t payload[2], const char *name, struct err *err)
{
	if (bytes < START || get(start + 0x1fe, 2) != 0xaa55 || memcmp(start + 0x202, "HdrS", 4))
		return err_set(err, ERR_INPUT, "%s is no kernel: a bzImage of Linux for x86 is wanted", name);
	const unsigned version = (unsigned)get(start + 0x206, 2);
	if (version < 0x208 || !(start[0x211] & 1))
		return err_set(err, ERR_UNSUPPORTED, "%s is a kernel of boot protocol %u.%02u; 2.08 is the oldest "
			"that is read", name, version >> 8, version & 255);
	const uint64_t setup = (start[0x1f1] ? start[0x1f1] + 1ull : 5) * 512;
	payload[0] = setup + get(start + 0x248, 4);
	payload[1] = get(start + 0x24c, 4);
	if (payload[1] < 16 || payload[0] > file_bytes || payload[1] > file_bytes - payload[0])
		return err_set(err, ERR_INPUT, "%s is cut short: its kernel ends at byte %llu, the file at %llu", name,
			(unsigned long long)(payload[0] + payload[1]), (unsigned long long)file_bytes);
	k->header_bytes = 0x202 + start[0x201] - KERNEL_HEADER;
	if (k->header_bytes > KERNEL_HEADER_MAX)
		k->header_bytes = KERNEL_HEADER_MAX;
	memcpy(k->header, start + KERNEL_HEADER, KERNEL_HEADER_MAX);
	k->initrd_max = get(start + 0x22c, 4);
	k->command_max = (unsigned)get(start + 0x238, 4);
	k->bits = version < 0x20c ? 0 : start[0x236] & 1 ? 64 : 32;
	k->end = version >= 0x20a ? get(start + 0x260, 4) : 0;
	return 0;
}

/* How the payload is packed; NULL: not known.  *tail: bytes behind what the program takes. */
static const char *packer(const uint8_t magic[6], unsigned *tail)
{
	static const struct { const char *program; uint8_t magic[6]; unsigned bytes, tail; } known[] = {
		{ "gzip", { 0x1f, 0x8b }, 2, 0 }, { "xz", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, 4 },
		{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4, 4 }, { "lz4", { 0x02, 0x21, 0x4c, 0x18 }, 4, 4 },
	};
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		if (!memcmp(magic, known[i].magic, known[i].bytes)) {
			*tail = known[i].tail;
			return known[i].program;
		}
	return NULL;
}

/* PROGRAM -dc <packed >unpacked.  Its exit status, 127 if it cannot be run. */
static int run_packer(const char *program, int packed, int unpacked)
{
	const pid_t child = fork();
	if (child < 0)
		return 126;
	if (!child) {
		const struct rlimit size = { UNPACKED_MAX, UNPACKED_MAX }, time = { SECONDS, SECONDS };
		const int null = open("/dev/null", O_WRONLY);
		setrlimit(RLIMIT_FSIZE, &size);
		setrlimit(RLIMIT_CPU, &time);
		if (dup2(packed, 0) < 0 || dup2(unpacked, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		execlp(program, program, "-dc", (char *)NULL);
		_exit(127);
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int unpack(int fd, const uint64_t payload[2], const char *name, const char *unpacked, struct err *err)
{
	uint8_t magic[6];
	unsigned tail = 0;
	if (pread(fd, magic, sizeof magic, (off_t)payload[0]) != sizeof magic)
		return err_set(err, ERR_INPUT, "%s is cut short", name);
	const char *program = packer(magic, &tail);
	if (!program)
		return err_set(err, ERR_UNSUPPORTED, "%s: its kernel is packed in a way that is not known (xz, zstd, "
			"gzip and lz4 are)", name);
	const int out = open(unpacked, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	const int in = memfd_create("kernel", MFD_CLOEXEC);
	off_t at = (off_t)payload[0];
	uint64_t left = payload[1] - tail;
	bool good = out >= 0 && in >= 0;
	while (good && left) {
		const ssize_t n = sendfile(in, fd, &at, left);
		good = n > 0;
		left -= good ? (uint64_t)n : 0;
	}
	int rc = 0;
	if (!good || lseek(in, 0, SEEK_SET)) {
		rc = err_system(err, "%s: its kernel cannot be unpacked to %s", name, unpacked);
	} else {
		const int status = run_packer(program, in, out);
		if (status == 127)
			rc = err_set(err, ERR_SYSTEM, "%s: its kernel is packed by %s, which cannot be "
				"run", name, program);
		else if (status)
			rc = err_set(err, ERR_INPUT, "%s: %s cannot unpack its kernel", name, program);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}

/* A program header, of either class. */
struct header { uint64_t type, offset, paddr, filesz, memsz; };

static struct header program_header(const uint8_t *p, bool is64)
{
	if (is64) {
		Elf64_Phdr h;
		memcpy(&h, p, sizeof h);
		return (struct header){ h.p_type, h.p_offset, h.p_paddr, h.p_filesz, h.p_memsz };
	}
	Elf32_Phdr h;
	memcpy(&h, p, sizeof h);
	return (struct header){ h.p_type, h.p_offset, h.p_paddr, h.p_filesz, h.p_memsz };
}

/* ERR_INPUT without a text: the segment does not lie where a kernel may. */
static int add_segment(struct kernel_image *k, const struct header *h, uint64_t file_bytes)
{
	if (!h->memsz)
		return 0;
	if (k->segments == KERNEL_SEGMENTS || h->filesz > h->memsz || h->offset > file_bytes ||
		h->filesz > file_bytes - h->offset || h->paddr < LOWEST || h->paddr > highest ||
		h->memsz > highest - h->paddr)
		return ERR_INPUT;
	k->segment[k->segments++] = (struct kernel_segment){ h->paddr, h->offset, h->filesz, h->memsz };
	return 0;
}

int kernel_image_elf(struct kernel_image *k, const char *unpacked, const char *name, struct err *err)
{
	uint8_t start[4096] = { 0 };
	struct stat s;
	const int fd = open(unpacked, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : pread(fd, start, sizeof start, 0);
	const bool known = n >= 0 && !fstat(fd, &s);
	if (fd >= 0)
		close(fd);
	if (!known)
		return err_system(err, "%s", unpacked);
	const bool is64 = start[EI_CLASS] == ELFCLASS64;
	const uint64_t machine = get(start + 18, 2);
	if (n < 64 || memcmp(start, ELFMAG, SELFMAG) || start[EI_DATA] != ELFDATA2LSB ||
		machine != (is64 ? EM_X86_64 : EM_386))
		return err_set(err, ERR_INPUT, "%s: what it holds is no ELF file for x86", name);
	k->bits = is64 ? 64 : 32;
	k->entry = get(start + 24, is64 ? 8 : 4);
	k->segments = 0;
	const uint64_t table = get(start + (is64 ? 32 : 28), is64 ? 8 : 4);
	const uint64_t size = get(start + (is64 ? 54 : 42), 2), count = get(start + (is64 ? 56 : 44), 2);
	if (size != (is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || table > (uint64_t)n ||
		count * size > (uint64_t)n - table)
		return err_set(err, ERR_INPUT, "%s: the program headers of its kernel cannot be read", name);
	uint64_t lowest = highest, end = 0;
	bool entered = false;
	for (uint64_t i = 0; i < count; i++) {
		const struct header h = program_header(start + table + i * size, is64);
		if (h.type != PT_LOAD)
			continue;
		if (add_segment(k, &h, (uint64_t)s.st_size))
			return err_set(err, ERR_INPUT, "%s: a segment of its kernel lies outside of the file, or not "
				"between 1 MB and 2 GB of memory", name);
		entered |= k->entry - h.paddr < h.filesz;
		lowest = h.paddr < lowest ? h.paddr : lowest;
		end = h.paddr + h.memsz > end ? h.paddr + h.memsz : end;
	}
	if (!entered)
		return err_set(err, ERR_INPUT, "%s: the entry of its kernel lies in no segment", name);
	/* init_size is counted from where it is loaded. */
	k->end = k->end && k->end < highest - lowest && lowest + k->end > end ? lowest + k->end : end;
	return 0;
}

int kernel_image_read(struct kernel_image *k, const char *bzimage, const char *unpacked, struct err *err)
{
	uint8_t start[START];
	uint64_t payload[2];
	struct stat s;
	memset(k, 0, sizeof *k);
	const int fd = open(bzimage, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &s)) {
		const int rc = err_system(err, "%s", bzimage);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	const ssize_t n = S_ISREG(s.st_mode) ? pread(fd, start, sizeof start, 0) : 0;
	int rc = kernel_image_header(k, start, n > 0 ? (uint64_t)n : 0, (uint64_t)s.st_size, payload, bzimage, err);
	if (!rc && unpacked)
		rc = unpack(fd, payload, bzimage, unpacked, err);
	if (!rc && unpacked)
		rc = kernel_image_elf(k, unpacked, bzimage, err);
	close(fd);
	return rc;
}
