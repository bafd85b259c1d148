/* SPDX-License-Identifier: GPL-2.0-or-later
 * perf.data, version 2: writes the samples of a run so that perf and compatible tools can read them, and reads such
 * files.
 *
 * Layout: header (104 bytes), the ids of each event, the attributes, the data section (records), a section for each
 * feature.
 * Source: Linux tools/perf/Documentation/perf.data-file-format.txt; records as in perf_event_open(2), section "MMAP
 * layout"; attributes from <linux/perf_event.h>.
 *
 * Left out: AUX area, compressed records; the reader skips the registers and stacks of samples, and the build-ids of
 * pipe mode.
 */
#ifndef OUTPUT_PERFDATA_H
#define OUTPUT_PERFDATA_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PERFDATA_ATTR_BYTES = 112,	/* PERF_ATTR_SIZE_VER5, known to perf since 4.1; perf 6.1 knows up to 128 */
	PERFDATA_HEADER_BYTES = 104,
	PERFDATA_CHAIN_MAX = 127,	/* frames of a call chain: perf's default of --max-stack and of the kernel */
	PERFDATA_BUILD_ID_BYTES = 20,
};
enum perfdata_feature { /* bit numbers of the header's feature map that are written or read */
	PERFDATA_BUILD_ID = 2, PERFDATA_HOSTNAME, PERFDATA_OSRELEASE, PERFDATA_VERSION, PERFDATA_ARCH,
	PERFDATA_NRCPUS, PERFDATA_CPUDESC, PERFDATA_CPUID, PERFDATA_TOTAL_MEM, PERFDATA_CMDLINE,
	PERFDATA_EVENT_DESC, PERFDATA_NUMA_TOPOLOGY = 14, PERFDATA_BRANCH_STACK, PERFDATA_STAT = 19, PERFDATA_CACHE,
	PERFDATA_SAMPLE_TIME, PERFDATA_MEM_TOPOLOGY, PERFDATA_COMPRESSED = 27,
	/* softpmu's own, which perf skips as it skips all that it does not know */
	PERFDATA_OWN = 240, PERFDATA_TIMELINE = PERFDATA_OWN, PERFDATA_KALLSYMS /* path of the kernel's names */,
	PERFDATA_KERNEL_CODE,	/* what was executed of it (machine_code.h) */
	PERFDATA_FEATURES = 256,
};

struct perfdata_section { uint64_t offset, size; };
struct perfdata_header {
	char     magic[8];		/* "PERFILE2" */
	uint64_t size;			/* PERFDATA_HEADER_BYTES */
	uint64_t attr_size;		/* bytes of an attribute and its id section */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4];
};
_Static_assert(sizeof(struct perfdata_header) == PERFDATA_HEADER_BYTES, "header of perf.data");

/* ---- writing ---- */

struct perfdata_event {
	const char *name;		/* shown by perf */
	uint32_t type;			/* PERF_TYPE_*; PERF_TYPE_RAW for PERFEVTSEL images */
	uint64_t config;
	uint64_t config1;		/* value of the event's second MSR */
	uint64_t period, frequency;	/* one of them: samples every `period` events, or `frequency` a second */
	unsigned precise;		/* precise_ip: 0 to 3 */
	bool exclude_user, exclude_kernel;
};
enum perfdata_field {		/* set: what samples have in addition to address, time and period */
	PERFDATA_ADDR = 1, PERFDATA_WEIGHT = 2, PERFDATA_DATA_SRC = 4, PERFDATA_REGS = 8, PERFDATA_BRANCHES = 16,
};
/* Registers are numbered as in <asm/perf_regs.h>: AX, BX, CX, DX, SI, DI, BP, SP, IP, FLAGS, CS, SS, DS, ES, FS, GS,
 * R8 to R15. */
enum { PERFDATA_REG_COUNT = 24 };
struct perfdata_branch { uint64_t from, to, flags; };	/* flags: as in struct perf_branch_entry */

struct perfdata_cache { unsigned level, line, sets, ways; const char *type; /* "Data", "Instruction", "Unified" */ };

struct perfdata_options {
	const char *path;		/* an existing file is renamed to PATH.old, as perf does */
	/* Above 0: write to this descriptor in pipe mode, and close it at the end.  `path` only names it. */
	int pipe;
	const struct perfdata_event *events;
	size_t event_count;
	/* The file has counts instead of samples, as perf stat record writes: perfdata_tool_record writes them. */
	bool counts;
	bool call_chains;
	unsigned fields;		/* set of enum perfdata_field */
	uint64_t regs;			/* PERFDATA_REGS: set of registers by number */
	uint64_t branch_type;		/* PERFDATA_BRANCHES: set of PERF_SAMPLE_BRANCH_ */
	bool build_ids;			/* write the BUILD_ID feature */
	bool map_build_ids;		/* the build-ids are in the mappings instead */
	bool thread_counts;		/* perfdata_read will be called */
	int  argc;			/* command line to store */
	char *const *argv;
	const char *version;		/* of this program */
	const char *cpu_title;		/* of the modelled machine */
	const char *cpuid;		/* "GenuineIntel,6,94,3" */
	const struct perfdata_cache *cache;	/* of the modelled machine */
	size_t caches;
};
struct perfdata_map {			/* a mapping of a process */
	uint32_t pid, tid;
	uint64_t addr, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	uint32_t prot;			/* PROT_* of mmap(2) */
	const char *path;		/* "//anon" for anonymous memory */
	const uint8_t *build_id;	/* NULL: unknown */
	unsigned build_id_bytes;	/* at most PERFDATA_BUILD_ID_BYTES are kept */
};
struct perfdata_sample {
	size_t event;
	uint64_t ip, time, period;
	uint32_t pid, tid, cpu;
	const uint64_t *chain;		/* innermost first, the ip included; NULL if none */
	size_t chain_length;
	bool exact;			/* ip is the instruction that caused the event */
	/* Of the kernel of a whole machine: ip is, and so are those entries of the chain that are in the upper half, up
	 * to the first that is not. */
	bool kernel;
	/* By options.fields: */
	uint64_t addr, data_src;	/* data_src: union perf_mem_data_src */
	uint32_t weight;
	uint16_t instruction_latency, retire_latency;
	const uint64_t *reg;		/* [PERFDATA_REG_COUNT]; NULL: none */
	bool reg_32;			/* of 32-bit code */
	const struct perfdata_branch *branch;
	size_t branches;
};
struct perfdata_writer;

/* Creates the file with its header, ids, attributes and an empty data section. */
int perfdata_create(struct perfdata_writer **out, const struct perfdata_options *o, struct err *err);
/* Write records.  time: modelled nanoseconds, in any order, since readers sort (see perfdata_write.c).
 * Return a negative error once the file could not be written; later calls do nothing and return the same. */
int perfdata_comm(struct perfdata_writer *w, uint32_t pid, uint32_t tid, const char *comm, bool exec, uint64_t time);
int perfdata_mmap(struct perfdata_writer *w, const struct perfdata_map *m, uint64_t time);
/* Code of the kernel: all of its own, or a module's.  path: "[kernel.kallsyms]_text", "[ext4]".  offset: of the former
 * the address of _text. */
int perfdata_mmap_kernel(struct perfdata_writer *w, const char *path, uint64_t addr, uint64_t bytes, uint64_t offset,
	uint64_t time);
/* A build-id of the kernel, of PERFDATA_BUILD_ID_BYTES: without one perf takes the names of the host's kernel. */
int perfdata_kernel_build_id(struct perfdata_writer *w, const uint8_t *build_id);
int perfdata_fork(struct perfdata_writer *w, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint32_t parent_tid,
	uint64_t time);
int perfdata_exit(struct perfdata_writer *w, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint32_t parent_tid,
	uint64_t time);
/* A thread's count of an event. */
int perfdata_read(struct perfdata_writer *w, size_t event, uint32_t pid, uint32_t tid, uint64_t count,
	uint64_t enabled_ns, uint64_t running_ns);
int perfdata_sample(struct perfdata_writer *w, const struct perfdata_sample *s);
/* Writes a record of the perf tool, whose type is 64 or more.  body: `bytes` bytes, a multiple of 8.  Source:
 * perf.data-file-format.txt; Linux, tools/lib/perf/include/perf/event.h. */
int perfdata_tool_record(struct perfdata_writer *w, uint32_t type, const void *body, size_t bytes);
/* Copies the bytes of a feature of softpmu's own, which perfdata_finish writes, but not in pipe mode.  Returns 0 or
 * ERR_NOMEM. */
int perfdata_own(struct perfdata_writer *w, enum perfdata_feature feature, const void *bytes, size_t n);
/* Writes the features, completes the header, closes the file and frees w.  After a write error (a full disk) it drops
 * as much of the end as the features need, so that the file stays readable, and returns the first error.  *bytes,
 * *samples: size and number of samples of the file. */
int perfdata_finish(struct perfdata_writer *w, uint64_t *bytes, uint64_t *samples, struct err *err);
/* Instead of perfdata_finish, if the run failed: removes the file, renames PATH.old back and frees w. */
void perfdata_discard(struct perfdata_writer *w);

/* ---- reading ---- */

struct perfdata_file;

/* Records of the perf tool. */
enum perfdata_tool {
	PERFDATA_TOOL_THREAD_MAP = 73, PERFDATA_TOOL_CPU_MAP, PERFDATA_TOOL_STAT_CONFIG, PERFDATA_TOOL_STAT,
	PERFDATA_TOOL_STAT_ROUND, PERFDATA_TOOL_EVENT_UPDATE,
};
struct perfdata_event_info {
	const char *name;
	uint32_t type;
	uint64_t config, sample_type;
	uint64_t period, frequency;
	bool has_chain, has_branches;
};
enum perfdata_kind { PERFDATA_SAMPLE, PERFDATA_COMM, PERFDATA_MMAP, PERFDATA_FORK, PERFDATA_EXIT, PERFDATA_LOST,
	PERFDATA_READ };
struct perfdata_record {		/* pointers point into the file and are valid until it is closed */
	enum perfdata_kind kind;
	uint16_t misc;			/* PERF_RECORD_MISC_* */
	uint32_t pid, tid, parent_pid, parent_tid, cpu;
	uint64_t time;
	size_t   event;			/* SAMPLE */
	uint64_t ip, period, data_addr;
	uint64_t data_src;		/* SAMPLE: union perf_mem_data_src; 0: unknown */
	uint64_t weight;		/* SAMPLE: latency of the access in cycles; 0: unknown */
	uint16_t instruction_latency, retire_latency;	/* SAMPLE: with PERF_SAMPLE_WEIGHT_STRUCT */
	const void *chain;		/* SAMPLE: chain_length 64-bit words, unaligned, with context markers */
	size_t   chain_length;
	/* SAMPLE: `branches` entries, newest first, unaligned: use perfdata_branch_at */
	const void *branch;
	size_t   branches;
	const char *text;		/* COMM: name; MMAP: path; NUL-terminated */
	uint64_t addr, bytes, offset, inode;	/* MMAP */
	uint32_t prot;			/* MMAP; if the record has no protection, PROT_EXEC follows from misc */
	const uint8_t *build_id;	/* MMAP: NULL if none */
	unsigned build_id_bytes;
	uint64_t lost;			/* LOST */
	uint64_t count;			/* READ: of `event` in thread `tid` */
};

/* Opens a file; "-" is standard input, in pipe mode or not.  ERR_INPUT: it is damaged or not perf.data;
 * ERR_UNSUPPORTED: a format that this reader does not know. */
int perfdata_open(struct perfdata_file **out, const char *path, struct err *err);
/* Opens a file in memory, which is copied. */
int perfdata_open_memory(struct perfdata_file **out, const void *bytes, size_t size, struct err *err);
void perfdata_close(struct perfdata_file *f);
size_t perfdata_event_count(const struct perfdata_file *f);
const struct perfdata_event_info *perfdata_event_info(const struct perfdata_file *f, size_t event);
/* Gets the next record in order of time: those without time first, equal times in file order.  Returns 1, or 0 at the
 * end. */
int perfdata_next(struct perfdata_file *f, struct perfdata_record *r);
void perfdata_rewind(struct perfdata_file *f);
/* Gets the next record of the perf tool, in file order.  *at: 0 for the first; it is moved on.  body: *bytes bytes that
 * are not aligned.  Returns its type, or 0 at the end. */
uint32_t perfdata_next_tool(const struct perfdata_file *f, uint64_t *at, const void **body, size_t *bytes);
/* The event of an id; SIZE_MAX if there is none. */
size_t perfdata_event_of_id(const struct perfdata_file *f, uint64_t id);
/* The command line: word i of the CMDLINE feature; NULL behind the last. */
const char *perfdata_word(const struct perfdata_file *f, size_t i);
/* Returns a word of a record's chain. */
uint64_t perfdata_chain_ip(const struct perfdata_record *r, size_t i);
/* Returns an entry of a record's branch stack. */
struct perfdata_branch perfdata_branch_at(const struct perfdata_record *r, size_t i);
/* Returns the string of a feature (HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID), or NULL if the file
 * has none. */
const char *perfdata_feature_text(const struct perfdata_file *f, enum perfdata_feature feature);
/* Returns the bytes of a feature of softpmu's own, or NULL if the file has none. */
const void *perfdata_own_bytes(const struct perfdata_file *f, enum perfdata_feature feature, size_t *bytes);
/* A copy of the kernel's /proc/kallsyms: the one of perfdata_use_kallsyms (borrowed; NULL: none), then *asked is true,
 * or the one that the file names; NULL: neither. */
void perfdata_use_kallsyms(struct perfdata_file *f, const char *path);
const char *perfdata_kallsyms(const struct perfdata_file *f, bool *asked);
/* Gets the data or unified cache of a level from the CACHE feature, without its type.  Returns false if the file has
 * none. */
bool perfdata_data_cache(const struct perfdata_file *f, unsigned level, struct perfdata_cache *out);
/* Gets the build-id of a path from the BUILD_ID feature.  Returns its length, 0 if there is none. */
unsigned perfdata_build_id(const struct perfdata_file *f, const char *path, uint8_t id[PERFDATA_BUILD_ID_BYTES]);
/* Returns a note for the user ("the data section was never closed"), or "". */
const char *perfdata_note(const struct perfdata_file *f);
#endif
