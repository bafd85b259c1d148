/* SPDX-License-Identifier: GPL-2.0-or-later
 * Mappings of the program: what is where, from which file, with which build-id.
 *
 * After each change (mmap, mprotect, mremap, brk, shmat, munmap) the core's own list of segments is read, so that file,
 * offset and protection are what is really mapped; Valgrind's own segments are never shown.  A build-id is read
 * from the file itself, once for each file, and put on every mapping of it.  Huge pages: only those that the
 * program asked for (MAP_HUGETLB, MADV_HUGEPAGE), which stay huge over mprotect and mremap.  If the program can
 * write a file's code through a mapping, the code is checked for changes as it runs; the core does that only for
 * anonymous memory.  With register writes, the bytes of executable file mappings follow (ST_CODE), read from the
 * file, up to CODE_BYTES for each program. Left out: shared-memory file names, growth of other stacks than the
 * first thread's (those are ordinary mappings).
 */
#include "tracer.h"
#include "core_private.h"
#include <elf.h>

#if defined(VGA_amd64)
typedef Elf64_Ehdr Ehdr;
typedef Elf64_Phdr Phdr;
#define ELF_CLASS ELFCLASS64
#else
typedef Elf32_Ehdr Ehdr;
typedef Elf32_Phdr Phdr;
#define ELF_CLASS ELFCLASS32
#endif

struct build_id {
	struct build_id *next;
	ULong dev, ino;
	Bool shared, written, code;	/* had a mapping that is shared; shared and writable; executable */
	UInt bytes;
	UChar id[24];
};
static struct build_id *known;
static Addr stack_at, stack_low;	/* an address in the main stack; the lowest one that was reported */
static Addr heap_end;			/* end of what brk gave out */
static struct huge { Addr start, last; } *huges;	/* where huge pages were asked for; disjoint, unordered */
static UInt n_huges, room_huges;
static Bool next_is_huge, next_is_shared, begun;	/* begun: ST_PROCESS is written, maps_all follows */

static Bool read_at(Int fd, ULong offset, void *buf, UInt bytes)
{
	return VG_(lseek)(fd, (Off64T)offset, VKI_SEEK_SET) == (Off64T)offset &&
	       VG_(read)(fd, buf, (Int)bytes) == (Int)bytes;
}

static void find_build_id(Int fd, struct build_id *out)
{
	Ehdr eh;
	Phdr ph;
	UChar note[1024];

	if (!read_at(fd, 0, &eh, sizeof eh) || VG_(memcmp)(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELF_CLASS || eh.e_phentsize != sizeof ph)
		return;
	for (UInt i = 0; i < eh.e_phnum; i++) {
		if (!read_at(fd, (ULong)eh.e_phoff + i * sizeof ph, &ph, sizeof ph))
			return;
		if (ph.p_type != PT_NOTE)
			continue;
		UInt size = ph.p_filesz < sizeof note ? (UInt)ph.p_filesz : (UInt)sizeof note;
		UInt align = ph.p_align == 8 ? 7 : 3;
		if (!read_at(fd, ph.p_offset, note, size))
			continue;
		for (UInt at = 0; at + 12 <= size;) {
			UInt name, desc, type;
			VG_(memcpy)(&name, note + at, 4);
			VG_(memcpy)(&desc, note + at + 4, 4);
			VG_(memcpy)(&type, note + at + 8, 4);
			if (name > size || desc > size)
				break;
			UInt body = (at + 12 + name + align) & ~align;
			if (body + desc > size)
				break;
			if (type == NT_GNU_BUILD_ID && name == 4 && VG_(memcmp)(note + at + 12, "GNU", 4) == 0 &&
			    desc) {
				out->bytes = desc < sizeof out->id ? desc : (UInt)sizeof out->id;
				VG_(memcpy)(out->id, note + body, out->bytes);
				return;
			}
			at = (body + desc + align) & ~align;
		}
	}
}

static struct build_id *build_id_of(const NSegment *seg, const HChar *name)
{
	struct build_id *b;
	struct vg_stat st;

	for (b = known; b; b = b->next)
		if (b->dev == seg->dev && b->ino == seg->ino)
			return b;
	b = VG_(calloc)("softpmu.build_id", 1, sizeof *b);
	b->dev = seg->dev;
	b->ino = seg->ino;
	b->next = known;
	known = b;
	if (name[0] != '/' || sr_isError(VG_(stat)(name, &st)) || !VKI_S_ISREG(st.mode))
		return b;	/* a device must not be opened just to look */
	SysRes res = VG_(open)(name, VKI_O_RDONLY | O_CLOEXEC_, 0);
	if (sr_isError(res))
		return b;
	if (VG_(fstat)((Int)sr_Res(res), &st) == 0 && st.dev == seg->dev && st.ino == seg->ino)
		find_build_id((Int)sr_Res(res), b);
	VG_(close)((Int)sr_Res(res));
	return b;
}

#define CODE_BYTES (64u << 20)	/* for all mappings together; a note says when there is more */
#define CODE_PIECE 65536u
static UInt code_sent;

/* Writes the file's bytes of [start, last], as far as it has them. */
static void code_part(const NSegment *seg, const HChar *name, Addr start, Addr last)
{
	static UChar piece[CODE_PIECE];
	ULong offset = (ULong)seg->offset + (start - seg->start), left = (ULong)(last - start) + 1;
	struct vg_stat st;

	if (name[0] != '/' || code_sent >= CODE_BYTES || sr_isError(VG_(stat)(name, &st)) || !VKI_S_ISREG(st.mode))
		return;
	SysRes res = VG_(open)(name, VKI_O_RDONLY | O_CLOEXEC_, 0);
	if (sr_isError(res))
		return;
	Int fd = (Int)sr_Res(res);
	if (VG_(fstat)(fd, &st) == 0 && st.dev == seg->dev && st.ino == seg->ino &&
	    VG_(lseek)(fd, (Off64T)offset, VKI_SEEK_SET) == (Off64T)offset)
		while (left) {
			UInt n = left < CODE_PIECE ? (UInt)left : CODE_PIECE;
			Int got = VG_(read)(fd, piece, (Int)n);
			if (got <= 0)
				break;
			struct st_code *c = ring_record(ST_CODE, sizeof *c + (UInt)got);
			c->addr = start;
			c->bytes = (UInt)got;
			VG_(memcpy)(c + 1, piece, (UInt)got);
			start += (UInt)got;
			left -= (UInt)got;
			code_sent += (UInt)got;
			if (code_sent >= CODE_BYTES) {
				events_note(0,
					"the program maps more than 64 MB of code: in the rest, wrong paths know "
					"only code that was executed");
				break;
			}
		}
	VG_(close)(fd);
}

/* Code may be written without the core's knowledge, through this mapping of its file or another one.  Then from now on
 * each block checks its bytes before it runs, as those in anonymous memory do.  This stays so: such code is a JIT's. */
static void check_code(const NSegment *seg, struct build_id *b)
{
	b->written |= b->shared && seg->hasW;
	b->code |= seg->hasX;
	if (VG_(clo_smc_check) == SMC_ALL_NON_FILE && ((b->code && b->written) || (seg->hasX && seg->hasW))) {
		VG_(clo_smc_check) = SMC_ALL;
		VG_(discard_translations)(0, ~(Addr)0, "softpmu.check_code");
	}
}

static void map_part(const NSegment *seg, Addr start, Addr last, Bool huge)
{
	const HChar *name = seg->kind == SkFileC ? VG_(am_get_filename)(seg) : NULL;

	if (!name)
		name = "";
	UInt path_bytes = (UInt)VG_(strlen)(name) + 1;
	struct build_id *b = seg->kind == SkFileC ? build_id_of(seg, name) : NULL;
	if (b) {
		b->shared |= next_is_shared;
		check_code(seg, b);
	}
	struct st_map *m = ring_record(ST_MAP, sizeof *m + path_bytes);
	m->addr = start;
	m->bytes = (ULong)(last - start) + 1;
	if (seg->kind == SkFileC) {
		m->offset = (ULong)seg->offset + (start - seg->start);
		m->inode = seg->ino;
		/* the split of the kernel's new_decode_dev */
		m->dev_major = (UInt)((seg->dev >> 8) & 0xfff) | (UInt)((seg->dev >> 32) & ~0xfffull);
		m->dev_minor = (UInt)(seg->dev & 0xff) | (UInt)((seg->dev >> 12) & ~0xffull);
		m->build_id_bytes = (UChar)b->bytes;
		VG_(memcpy)(m->build_id, b->id, sizeof m->build_id);
	}
	m->is_heap = start < heap_end && last >= VG_(brk_base);
	m->prot = (UChar)((seg->hasR ? ST_PROT_R : 0) | (seg->hasW ? ST_PROT_W : 0) | (seg->hasX ? ST_PROT_X : 0));
	if (m->is_heap)
		m->prot &= (UChar)~ST_PROT_X;	/* the core makes it executable; the kernel does not */
	m->is_stack = stack_at >= seg->start && stack_at <= seg->end;
	m->is_huge = huge;
	m->path_bytes = path_bytes;
	VG_(memcpy)(m + 1, name, path_bytes);
	if (m->is_stack)
		stack_low = seg->start;
	if (settings.regs && seg->kind == SkFileC && m->prot & ST_PROT_X)
		code_part(seg, name, start, last);
}

static void huge_add(Addr start, Addr last)
{
	if (n_huges == room_huges) {
		room_huges = 2 * room_huges + 8;
		huges = VG_(realloc)("softpmu.huge", huges, room_huges * sizeof *huges);
	}
	huges[n_huges++] = (struct huge){ start, last };
}

/* Marks the range as huge or not; earlier marks of it are removed. */
static void huge_mark(Addr start, Addr last, Bool huge)
{
	for (UInt i = 0, n = n_huges; i < n; i++) {
		struct huge h = huges[i];
		if (h.last < start || h.start > last)
			continue;
		huges[i] = huges[--n_huges];
		if (n_huges < n)	/* the entry moved here is looked at, too, unless it was just added */
			n = n_huges, i--;
		if (h.start < start)
			huge_add(h.start, start - 1);
		if (h.last > last)
			huge_add(last + 1, h.last);
	}
	if (huge)
		huge_add(start, last);
}

/* True if `at` is in a huge range.  Lowers *last to the end of the part for which the result holds. */
static Bool huge_at(Addr at, Addr *last)
{
	Bool huge = False;

	for (UInt i = 0; i < n_huges; i++)
		if (huges[i].start <= at && huges[i].last >= at) {
			huge = True;
			if (huges[i].last < *last)
				*last = huges[i].last;
		} else if (huges[i].start > at && huges[i].start <= *last) {
			*last = huges[i].start - 1;
		}
	return huge;
}

static void map_range(Addr a, SizeT len)
{
	Addr end = a + len;

	while (begun && len && a < end) {
		const NSegment *seg = VG_(am_find_nsegment)(a);
		if (!seg)
			return;
		Addr last = seg->end < end - 1 ? seg->end : end - 1;
		Bool huge = huge_at(a, &last);
		if (seg->kind == SkFileC || seg->kind == SkAnonC || seg->kind == SkShmC)
			map_part(seg, a, last, huge);
		if (last == ~(Addr)0)
			return;
		a = last + 1;
	}
}

static void unmap(Addr a, SizeT len)
{
	if (len)
		huge_mark(a, a + len - 1, False);
	if (!begun)
		return;
	struct st_range *r = ring_record(ST_UNMAP, sizeof *r);

	r->addr = a;
	r->bytes = len;
}

void maps_all(void)
{
	Int n = 512, got;
	Addr *starts = NULL;

	begun = True;
	code_sent = 0;		/* a forked child has a stream of its own */
	if (!stack_at)
		stack_at = VG_(get_SP)(1);
	if (!heap_end)
		heap_end = VG_(brk_base) + 1;	/* one page exists from the start */
	do {
		starts = VG_(realloc)("softpmu.starts", starts, (SizeT)n * sizeof *starts);
		got = VG_(am_get_segment_starts)(SkFileC | SkAnonC | SkShmC, starts, n);
		n = -got + 64;	/* negative: that many are needed */
	} while (got < 0);
	for (Int i = 0; i < got; i++) {
		const NSegment *seg = VG_(am_find_nsegment)(starts[i]);
		map_range(seg->start, seg->end - seg->start + 1);
	}
	VG_(free)(starts);
}

void maps_check_stack(void)
{
	if (!stack_low)
		return;
	const NSegment *seg = VG_(am_find_nsegment)(stack_at);
	if (seg && seg->kind == SkAnonC && seg->start < stack_low)
		map_part(seg, seg->start, seg->end, False);
}

static void mapped(Addr a, SizeT len, Bool rr, Bool ww, Bool xx, ULong di_handle)
{
	(void)rr, (void)ww, (void)xx, (void)di_handle;
	if (len)
		huge_mark(a, a + len - 1, next_is_huge);
	map_range(a, len);
}

static void protection_changed(Addr a, SizeT len, Bool rr, Bool ww, Bool xx)
{
	(void)rr, (void)ww, (void)xx;
	map_range(a, len);
}

static void moved(Addr from, Addr to, SizeT len)
{
	Addr last = from + len - 1;

	if (len)
		huge_mark(to, to + len - 1, huge_at(from, &last));
	map_range(to, len);
}

static void heap_grew(Addr a, SizeT len, ThreadId tid)
{
	(void)tid;
	heap_end = a + len;
	map_range(VG_(brk_base), heap_end - VG_(brk_base));
}

static void heap_shrank(Addr a, SizeT len)
{
	heap_end = a;
	unmap(a, len);
}

void maps_before_syscall(UInt number, const UWord *args)
{
	next_is_huge = next_is_shared = False;
#if defined(VGA_amd64)
	if (number == __NR_mmap)
#else
	if (number == __NR_mmap2)
#endif
	{
		next_is_huge = (args[3] & MAP_HUGETLB_) != 0;
		next_is_shared = (args[3] & VKI_MAP_SHARED) != 0;	/* MAP_SHARED_VALIDATE has the bit, too */
	}
}

void maps_after_syscall(UInt number, const UWord *args, SysRes res)
{
	next_is_huge = next_is_shared = False;
	if (number != __NR_madvise || sr_isError(res) || !args[1] || args[0] + args[1] < args[0])
		return;
	if (args[2] == MADV_HUGEPAGE_ || args[2] == MADV_NOHUGEPAGE_) {
		huge_mark(args[0], args[0] + args[1] - 1, args[2] == MADV_HUGEPAGE_);
		map_range(args[0], args[1]);
	}
}

void maps_init(void)
{
	VG_(track_new_mem_mmap)(mapped);
	VG_(track_change_mem_mprotect)(protection_changed);
	VG_(track_copy_mem_remap)(moved);
	VG_(track_new_mem_brk)(heap_grew);
	VG_(track_die_mem_brk)(heap_shrank);
	VG_(track_die_mem_munmap)(unmap);
}
