/* SPDX-License-Identifier: GPL-2.0-or-later
 * The stream as it lies in shared memory and in trace files: what the tracer writes and the reader reads.
 * Included by the tracer (no C library there) and by the model; fixed-size types only, little-endian.
 *
 * One ring a guest process.  Valgrind runs one guest thread at a time, so the ring holds the threads' records
 * in the order in which they ran; ST_SWITCH says which thread the following records belong to.
 * (One ring for each thread was rejected: it would need a sequence number for each slice to restore this very order.)
 *
 * The ring file:  struct st_control (one page), then ST_CHUNKS chunks of ST_CHUNK_BYTES.
 * Records never cross a chunk's end; ST_CHUNK_END (a bare header word) or the end itself closes a chunk.
 * `written` and `read` are absolute byte positions: chunk = pos / ST_CHUNK_BYTES % ST_CHUNKS.  The tracer may
 * write only where pos < read + ring size; the reader may read only below `written`.
 *
 * Every record starts with a 64-bit header word, kind in bits 63:56, and is a multiple of 8 bytes long.
 *   ST_BLOCK      31:0 block id, 47:32 exit index; then one 64-bit slot for each value that the block's
 *                 description promises up to that exit
 *   ST_BLOCK_CUT  31:0 block id, 47:32 number of instructions completed; the slots of those instructions.
 *                 The block was left by a fault or a signal.
 *   ST_BLOCK_OPEN never published: a block that is being executed
 *   all others    31:0 length of the whole record in bytes; the struct of that kind follows
 */
#ifndef STREAM_FORMAT_H
#define STREAM_FORMAT_H
#ifdef ST_NO_LIBC		/* the tracer defines the fixed-size types itself */
#else
#include <stdint.h>
#endif

#define ST_MAGIC        0x554d5053u	/* "SPMU" */
#define ST_VERSION      2u
#define ST_VERSION_OLDEST 1u		/* oldest version that can be read: it has no ST_CODE */
#define ST_CHUNK_BYTES  (128u * 1024)
#define ST_CHUNKS       16u
#define ST_CONTROL_BYTES 4096u

enum st_kind {
	ST_BLOCK = 1, ST_BLOCK_CUT, ST_BLOCK_OPEN, ST_CHUNK_END,
	ST_BLOCK_DEF,		/* struct st_block_def: ahead of the block's first execution */
	ST_DISCARD,		/* struct st_range: code in it was discarded; its block ids will not come again */
	ST_PROCESS,		/* struct st_process: first record of a process, and again after exec */
	ST_SWITCH,		/* struct st_thread: the records that follow are this thread's */
	ST_THREAD_START,	/* struct st_thread */
	ST_THREAD_EXIT,		/* struct st_thread */
	ST_MAP,			/* struct st_map */
	ST_UNMAP,		/* struct st_range */
	ST_SIGNAL,		/* struct st_signal: about to be delivered to the current thread */
	ST_SYSCALL,		/* struct st_syscall: before a system call */
	ST_SYSCALL_RET,		/* struct st_syscall: after it */
	ST_COMM,		/* struct st_name: the new name of the current thread (or process) */
	ST_REGS,		/* struct st_regs: whole general-purpose register file of the current thread */
	ST_FORK,		/* struct st_fork: a child process was made */
	ST_EXIT,		/* struct st_exit: the process ends */
	ST_NOTE,		/* struct st_note: something the tracer has to tell the user */
	ST_CLIENT,		/* struct st_client: a request of the program (softpmu/client.h), behind its block */
	ST_CODE,		/* struct st_code: bytes of an executable mapping, behind its ST_MAP; only in streams
				 * with register writes */
	/* Only in files of live points (docs/reference/live-points.md), which leave out the blocks between windows: */
	ST_POINTS,		/* struct st_points: how windows are laid out; behind the first ST_PROCESS */
	ST_SKIP,		/* struct st_skip: the current thread has executed blocks that are not here */
	ST_TOUCH,		/* a header, then a word for each line that was touched (enum st_touch), oldest first */
	ST_PATH,		/* a header, then headers of ST_BLOCK: branches went this way, at the end of what was
				 * skipped.  The last block of the last record is only where it leads to; a first word
				 * of 0 says that it is the way of all that was skipped */
	ST_PLACE,		/* struct st_place: a window's measured part begins or ends, or totals */
	ST_TIMES,		/* a header, then pairs of words: a header of ST_BLOCK or ST_BLOCK_CUT, and how often
				 * the current thread has executed that in what was skipped */
	ST_PART,		/* struct st_part: first record of each section but the first, and last of a part */
	ST_WAY,			/* struct st_way: before the first ST_PATH behind an ST_SKIP; then those have no first
				 * word of 0 */
	ST_LINES,		/* a header, then bytes that hold lines as ST_TOUCH does (run/points/lines.h) */
	/* Only in streams of a whole machine (st_process.is_machine), whose processor is the one thread.  Linear
	 * addresses below 2^47 have the number of their address space in bits 47 and up.  What such a record says
	 * happens after all blocks before it; core/paging/told.h says what it does to a core. */
	ST_LEVEL,		/* struct st_level: the blocks that follow have this privilege and mode */
	ST_TRAP,		/* struct st_trap: an exception or an interrupt is taken */
	ST_HALT,		/* struct st_halt: the processor halted */
	ST_SERIALIZE,		/* struct st_serialize: the pipeline drains, as for a write of a PMU register */
	ST_SPACE,		/* struct st_space: the address space of the blocks that follow */
	ST_PAGE,		/* struct st_page: where a page lies, ahead of its first use */
	ST_DROP,		/* struct st_drop: TLB entries are dropped */
	ST_DELIVERY,		/* struct st_delivery: accesses that the delivery of a trap or IRET makes */
	ST_SYMBOLS,		/* struct st_symbols: a file of the host that names addresses of this machine */
	ST_NEXT,		/* struct st_next: where the block before it led to.  It is left out in front of what
				 * says that by itself: a block by its first address, ST_TRAP, ST_HALT and ST_SERIALIZE
				 * by `next`; and in front of an ST_SYMBOLS */
	ST_KINDS
};

#define ST_HEADER(kind, low) (((uint64_t)(kind) << 56) | (uint64_t)(low))
#define ST_HEADER_KIND(h)    ((unsigned)((uint64_t)(h) >> 56))
#define ST_HEADER_LOW(h)     ((uint32_t)(h))
#define ST_HEADER_EXIT(h)    ((unsigned)((uint64_t)(h) >> 32) & 0xffffu)

/* One 64-bit word of a block's record. */
enum st_slot_kind {
	ST_SLOT_LOAD = 1, ST_SLOT_STORE = 2, ST_SLOT_LOADSTORE = 3,	/* value: linear address */
	ST_SLOT_PREFETCH = 4,	/* value: linear address of a software prefetch */
	ST_SLOT_FLUSH = 5,	/* value: linear address of CLFLUSH, CLFLUSHOPT, CLWB or CLDEMOTE */
	ST_SLOT_REG = 8		/* value: what was written, zero-extended; `what` says where */
};
enum st_slot_flags {
	ST_SLOT_COND   = 1,	/* value ST_NOT_DONE: the access was not made */
	ST_SLOT_ATOMIC = 2,	/* compare-and-swap or other locked access */
	ST_SLOT_HELPER = 4	/* made by a helper of the tracer, e.g.  FXSAVE, x87 80-bit */
};
/* A register number that names no register: the slot describes what DIV or IDIV did, whether or not the blocks have
 * register slots.  Its value is the quotient without its sign and without its lowest bit; the topmost bit is set if the
 * dividend takes more than 64 bits. */
#define ST_SLOT_DIVIDED 20
#define ST_DIVIDED_WIDE ((uint64_t)1 << 63)
/* Another one, only in streams with st_process.has_assists: what in this instruction's operands and results makes the
 * microcode of some processors assist; a set of enum st_assist.  An instruction may have several such slots. */
#define ST_SLOT_ASSIST 21
enum st_assist {
	/* SSE and AVX: an input is denormal and DAZ is off; the result is denormal and FTZ is off.  By operation: add
	 * and subtract; multiply; divide and square root; fused multiply-add; conversion between single and double;
	 * compare, minimum, maximum. */
	ST_ASSIST_ADD_IN = 1, ST_ASSIST_ADD_OUT = 2, ST_ASSIST_MULTIPLY_IN = 4, ST_ASSIST_MULTIPLY_OUT = 8,
	ST_ASSIST_DIVIDE_IN = 16, ST_ASSIST_DIVIDE_OUT = 32, ST_ASSIST_FMA_IN = 64, ST_ASSIST_FMA_OUT = 128,
	ST_ASSIST_CONVERT_IN = 256, ST_ASSIST_CONVERT_OUT = 512, ST_ASSIST_COMPARE_IN = 1024,
	/* x87: a memory operand of 32 or 64 bits is denormal; what is stored in 32 or 64 bits is denormal; a finite
	 * number stored in 32 bits became infinite; an empty register was read; a full one was pushed onto */
	ST_ASSIST_X87_IN = 2048, ST_ASSIST_X87_OUT = 4096, ST_ASSIST_X87_OVERFLOW = 8192,
	ST_ASSIST_STACK_UNDERFLOW = 16384, ST_ASSIST_STACK_OVERFLOW = 32768,
	ST_ASSIST_SIMD_IN = ST_ASSIST_ADD_IN | ST_ASSIST_MULTIPLY_IN | ST_ASSIST_DIVIDE_IN | ST_ASSIST_FMA_IN |
		ST_ASSIST_CONVERT_IN | ST_ASSIST_COMPARE_IN,
	ST_ASSIST_SIMD_OUT = ST_ASSIST_ADD_OUT | ST_ASSIST_MULTIPLY_OUT | ST_ASSIST_DIVIDE_OUT | ST_ASSIST_FMA_OUT |
		ST_ASSIST_CONVERT_OUT
};
#define ST_NOT_DONE (~(uint64_t)0)

struct st_slot {
	uint8_t  kind;		/* enum st_slot_kind */
	uint8_t  insn;		/* index of the instruction it belongs to */
	uint8_t  flags;		/* enum st_slot_flags */
	uint8_t  reg;		/* ST_SLOT_REG: register number as encoded (0 RAX .. 15 R15); 16 to 19 the flags thunk's
				 * CC_OP, CC_DEP1, CC_DEP2, CC_NDEP; ST_SLOT_DIVIDED; ST_SLOT_ASSIST */
	uint16_t size;		/* bytes accessed; of a register write: bytes written (1, 2, 4, 8) */
	uint16_t offset;	/* of a register write: byte offset in the register (1 for AH..DH) */
};

enum st_jump {			/* how a block is left, as far as the tracer knows it */
	ST_JUMP_BORING, ST_JUMP_CALL, ST_JUMP_RET, ST_JUMP_SYSCALL, ST_JUMP_YIELD,
	ST_JUMP_REPEAT,		/* to the same instruction, without a jump: it continues or is tried again */
	ST_JUMP_OTHER
};

struct st_exit_def {
	uint16_t insns;		/* instructions begun when this exit is taken, the one that leaves included */
	uint16_t slots;		/* slots written when this exit is taken */
	uint8_t  jump;		/* enum st_jump */
	uint8_t  pad[3];
	uint64_t target;	/* guest address, 0 if not constant */
};

struct st_insn_def {
	uint64_t addr;
	uint8_t  len;		/* 1 to 15 */
	uint8_t  bytes[15];
};

/* Followed by insns × st_insn_def, slots × st_slot, exits × st_exit_def (each a multiple of 8 bytes). */
struct st_block_def {
	uint64_t header;
	uint32_t id;		/* dense, from 0, per process; after 2^32 - 1 the tracer ends with a note */
	uint16_t insns, slots, exits;
	uint16_t pad[3];	/* pad[0], of a whole machine: 8 or 4, word_bytes of this code; 0: the process's */
};

struct st_range  { uint64_t header, addr, bytes; };
struct st_thread { uint64_t header; uint32_t tid, os_tid, parent_tid, pad; };
struct st_process {
	uint64_t header;
	uint32_t magic, version;
	uint32_t pid, parent_pid;
	uint8_t  word_bytes;	/* 8 or 4 */
	uint8_t  has_regs;	/* register slots are in the blocks */
	uint8_t  is_exec;	/* 1: this process image replaces the previous one */
	uint8_t  has_assists;	/* the floating-point instructions have slots ST_SLOT_ASSIST */
	uint8_t  is_machine;	/* a whole machine: see ST_LEVEL */
	uint8_t  has_pages;	/* of a machine: ST_PAGE says where each page lies (core_told), before its first use */
	uint8_t  pad[2];
	uint64_t entry;		/* first instruction of the guest */
	/* lengths of the NUL-terminated strings that follow: the program's path, then argv joined by NUL; padded
	 * to 8 */
	uint32_t path_bytes, argv_bytes;
};
enum { ST_PROT_R = 1, ST_PROT_W = 2, ST_PROT_X = 4 };
struct st_map {
	uint64_t header, addr, bytes, offset;	/* offset into the file */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint8_t  prot;		/* ST_PROT_* */
	uint8_t  is_stack, is_heap, is_huge;
	uint8_t  build_id_bytes, pad[3];	/* 0 if it has none */
	uint8_t  build_id[24];
	uint32_t path_bytes, pad2;		/* path follows, NUL-terminated, padded to 8; "" for anonymous */
};
struct st_code    { uint64_t header, addr, bytes; /* which follow, padded to 8 */ };
struct st_signal  {
	uint64_t header, ip, handler;
	int32_t signo, si_code;
	uint64_t si_addr;
	uint8_t code[16];	/* bytes at ip, zero if unreadable */
};
struct st_syscall {
	uint64_t header;
	uint64_t number;
	uint64_t arg[6];
	uint64_t result;
	uint32_t is_error, blocked;	/* blocked: other threads may have run meanwhile */
};
struct st_name    { uint64_t header; char name[16]; };
struct st_regs    { uint64_t header; uint64_t gpr[16]; uint64_t ip, flags; };
struct st_fork    { uint64_t header; uint32_t child_pid, followed; };
struct st_exit    { uint64_t header; int32_t code; int32_t signo; /* 0: exit(code) */ };
struct st_note {
	uint64_t header;
	uint32_t severity;	/* 0 info, 1 warning, 2 fatal */
	uint32_t text_bytes;	/* text follows */
};
struct st_client {
	uint64_t header;
	uint32_t number;	/* the tracer waits for an answer with this number; 0: it waits for none */
	uint32_t code;		/* enum spmu_client_code; ST_CLIENT_MORE: asks for the rest of the previous answer */
	uint64_t index, value;
	uint64_t memory;	/* guest address of the payload; 0: the payload is a region's name, NUL-terminated */
	uint32_t bytes;		/* of the payload, which follows, padded to 8 */
	uint32_t word_bytes;	/* of the program: 8 or 4 */
};
struct st_points { uint64_t header, lead, measured; };	/* instructions, as in run_sample */
struct st_skip {
	uint64_t header;
	uint64_t steps;		/* of the thread: instructions, and rounds of REP instructions */
	uint64_t rounds;	/* of these, those that complete no instruction */
	uint64_t until;		/* the lead of its next window begins when it has done so many steps; ST_NO_WINDOW */
	uint64_t interval;	/* steps that this window stands for */
	uint64_t from;		/* address of the first block that is skipped */
};
#define ST_NO_WINDOW (~(uint64_t)0)
/* A word of ST_TOUCH: the address / ST_TOUCH_LINE, shifted left by ST_TOUCH_BITS, and these. */
enum st_touch { ST_TOUCH_CODE = 1, ST_TOUCH_WRITTEN = 2, ST_TOUCH_BITS = 2, ST_TOUCH_LINE = 64 };
/* A file of live points is divided into parts, which depend on nothing but the common sections and the digests of the
 * parts before them (trace_file.h). */
struct st_part {
	uint64_t header;
	uint64_t what;		/* enum st_part_what */
	uint64_t part;		/* its number, from 0 */
	uint64_t turn;		/* number of its section, without digests */
	/* Where it begins: what the thread has done so far, steps and rounds as in st_skip, and how many windows. */
	uint64_t steps, rounds, windows;
	uint64_t from;		/* ST_PART_END: address of the block behind the last one */
};
enum st_part_what { ST_PART_BEGIN, ST_PART_END, ST_PART_DIGEST, ST_PART_COMMON };
struct st_way {
	uint64_t header;
	uint64_t blocks;	/* how many are listed */
	uint64_t unseen;	/* the first so many only teach the predictors: mispredicts are not counted there */
};
struct st_level {
	uint64_t header;
	uint8_t  cpl;		/* 0 or 3 */
	uint8_t  word_bytes;	/* 8 or 4: of the blocks' code */
	uint8_t  drains;	/* 1: the privilege changed, and the pipeline drains first */
	uint8_t  pad[5];
};
struct st_trap {
	uint64_t header;
	uint64_t from;		/* linear address: of the instruction that faulted, or of the one not yet executed */
	uint64_t address;	/* CR2 of a page fault, else 0 */
	uint32_t vector, error;	/* error: the error code, 0 if it has none */
	uint8_t  interrupt;	/* 1: of the local APIC, an NMI or a PMI; 0: an exception or INT n */
	uint8_t  pad[7];
	uint64_t next;		/* what decides where the block before it went (core_run_block's next_ip) */
};
struct st_halt { uint64_t header, cycles, next; };
struct st_serialize { uint64_t header, next; };
struct st_space {
	uint64_t header;
	uint64_t tag;		/* number of the address space, which linear addresses have in bits 47 and up */
	uint64_t tables;	/* CR3: physical address of the tables */
};
#define ST_SPACE_SHIFT 47
enum { ST_PAGE_LEVELS = 4 };
struct st_page {
	uint64_t header;
	uint64_t addr;		/* of the page's first byte, linear */
	uint64_t frame;		/* of its first byte, physical */
	uint8_t  shift;		/* 12, 21, 22 or 30 */
	uint8_t  levels;	/* how many entries a walk reads at most; entry[0] is the leaf's */
	uint8_t  global;	/* 1: it is the same in all address spaces */
	uint8_t  entry_bytes;	/* 8; 4: 32-bit paging, whose tables have 1024 entries */
	uint8_t  pad[4];
	uint64_t entry[ST_PAGE_LEVELS];	/* physical addresses of the entries */
};
/* SPACE: what is not global of the space with the tag `addr`; addresses of 2^47 and above are no space's */
enum st_drop_what { ST_DROP_ALL, ST_DROP_NOT_GLOBAL, ST_DROP_PAGE, ST_DROP_SPACE };
struct st_drop { uint64_t header, what /* enum st_drop_what */, addr; };
struct st_next { uint64_t header, next; };
struct st_delivery {
	uint64_t header;
	uint64_t accesses;	/* pairs of words follow: linear address; bytes, and 1 << 32 for a store */
};
struct st_symbols {
	uint64_t header;
	uint64_t what;		/* enum st_symbols_what */
	uint64_t addr, bytes, offset;	/* CODE: this range of the space `tag` is the file's, from this offset */
	uint64_t tag;
	uint32_t path_bytes, pad;	/* the path follows, NUL-terminated, padded to 8 */
};
/* KALLSYMS: a copy of the kernel's /proc/kallsyms.  PROGRAM: what the space's process executes; "": another image than
 * so far, of which nothing is known yet.  CODE may come before its PROGRAM, since a loader runs first. */
enum st_symbols_what { ST_SYMBOLS_KALLSYMS, ST_SYMBOLS_CODE, ST_SYMBOLS_PROGRAM };
struct st_place {
	uint64_t header;
	uint64_t what;		/* enum st_place_what */
	/* What a reference machine, the same for all, has missed so far: loads and all accesses that missed its L1,
	 * accesses that missed its L2 and L3, pages that missed its TLB. */
	uint64_t loads, l1, l2, l3, walks;
};
/* FROM, TOTAL: a part of the file begins, ends.  Before TRACE_VERSION_LINES: TOTAL when the thread ends, no FROM. */
enum st_place_what { ST_PLACE_BEGIN, ST_PLACE_END, ST_PLACE_TOTAL, ST_PLACE_FROM };
enum {
	ST_CLIENT_MORE = 0,
	/* The thread has executed as many instructions as the last answer's `budget`.  index: address of the next one;
	 * value 1: it has just returned from its PMI handler. */
	ST_CLIENT_STEP = 2,
	/* Callgrind's requests (tracer_client.c): what was counted in the region "callgrind" since the last of these is
	 * a region of its own, whose name is the payload, and the answer says that it was; and: nothing was counted so
	 * far, for which no answer is waited for. */
	ST_CLIENT_DUMP = 3, ST_CLIENT_ZERO = 4,
	ST_MARK_TOGGLE = 1,	/* value of a region's marker that TOGGLE_COLLECT made */
	ST_CLIENT_NAME = 256,	/* most bytes of a name */
	ST_CLIENT_DS = 1024,	/* how much of the thread's DS area is sent */
};

/* What the reader answers.  A saved stream holds the requests but not the answers: a replay makes answers for which
 * nobody waits, and the program's course is the one it took with the answers it got when it was recorded. */
enum { ST_ANSWER_WRITES = 3072 };
#define ST_NO_STEP 0x7fffffff	/* the budget of a thread that need not ask */
struct st_answer {
	uint32_t number;
	int32_t  status;	/* enum spmu_client_status */
	uint64_t value[4];
	uint32_t bytes;		/* of writes */
	uint32_t more;		/* nonzero: there are more writes; the tracer asks for them with ST_CLIENT_MORE */
	/* For threads with a PMI handler: how many instructions the thread may execute before the tracer asks with
	 * ST_CLIENT_STEP; and nonzero: first it enters its handler. */
	uint32_t budget, take;
	uint8_t  writes[ST_ANSWER_WRITES];	/* to guest memory: struct st_write, then the bytes, padded to 8 */
};
struct st_write { uint64_t addr, bytes; };

/* First page of the ring file.  Each position is written by one side only. */
struct st_control {
	uint32_t magic, version;
	uint32_t pid, parent_pid;
	uint32_t chunk_bytes, chunks;
	uint32_t tracer_state;	/* 0 starting, 1 running, 2 ended in order */
	uint32_t
		reader_gone; /* set by the reader when it stops: the tracer drops records and lets the program run on */
	uint32_t forks;		/* tracer: processes that this one was to fork, to be traced, also if it could not */
	uint32_t executes;	/* tracer: 1 while the process may be about to execute a program that will be traced */
	uint8_t  pad0[24];
	uint64_t written;	/* tracer: published up to here */
	uint32_t written_futex;	/* tracer: incremented and woken when the reader may be waiting */
	uint32_t tracer_waits;	/* tracer: 1 while it waits for `read` to move */
	uint8_t  pad1[48];
	uint64_t read;		/* reader: free up to here */
	uint32_t read_futex;	/* reader: incremented and woken when tracer_waits */
	uint32_t reader_waits;	/* reader: 1 while it waits for `written` to move */
	uint8_t  pad2[48];
	uint32_t answered;	/* reader: number of the request that `answer` belongs to; a futex for the tracer */
	uint32_t pad3;
	struct st_answer answer;/* reader */
};
_Static_assert(sizeof(struct st_control) <= ST_CONTROL_BYTES, "one page");

/* The announce pipe: every traced process writes one of these (atomic: below PIPE_BUF) after its ring file
 * `<dir>/ring.<pid>.<serial>` exists; serial counts execs of that pid from 0, or is ST_UNTRACED if the process has no
 * ring and runs untraced. */
#define ST_UNTRACED UINT32_MAX
struct st_announce { uint32_t magic, pid, parent_pid, serial; };
#endif
