/* SPDX-License-Identifier: GPL-2.0-or-later
 * The trace file: spans of a stream, as they were delivered, packed by prediction (trace_pack.h), then compressed with
 * zstd.
 *
 *   header   a zstd skippable frame (so `zstd -d` reads the rest): struct trace_header, then the producer's text
 *   frames   zstd frames with content size and content checksum, at most TRACE_FRAME_BYTES decompressed.  Each holds a
 *            struct trace_frame, then whole chunks: struct trace_chunk and its content:
 *            TRACE_CHUNK_PACKED: a 64-bit number of bytes, then that many bytes, from which trace_unpack makes
 *            `words` words, padded with NUL to 8;
 *            TRACE_CHUNK_SPAN: the words unpacked (the predictor does not learn from them; files of version 1 have
 *            only these)
 *   end      the last frame's last chunk is a TRACE_CHUNK_END: struct trace_end_words, then text padded with NUL
 *
 * A frame is delivered only after it was read whole and its checksum was right; so a damaged or truncated file gives
 * the spans up to the damage, and never wrong ones.  words_before chains the frames, so a missing frame is noticed.
 * All numbers are little-endian.  Sources: RFC 8878, "Zstandard Frames", "Skippable Frames".
 */
#ifndef STREAM_TRACE_FILE_H
#define STREAM_TRACE_FILE_H
#include <stdint.h>

#define TRACE_SKIPPABLE  0x184d2a5eu	/* one of the sixteen magic numbers of skippable frames */
#define TRACE_MAGIC      "SPMUTRC"	/* 8 bytes with its NUL */
#define TRACE_VERSION    2u
/* Of files of live points: the same layout, but blocks are left out, and since TRACE_VERSION_SECTIONS the frames come
 * in sections.  3, 5 and 6 are not used: a flipped bit must not make one of the other. */
#define TRACE_VERSION_POINTS 4u
#define TRACE_VERSION_SECTIONS 7u
#define TRACE_VERSION_LINES 8u	/* with ST_LINES */
#define TRACE_VERSION_OLDEST 1u
#define TRACE_FRAME_BYTES (5u << 20)
#define TRACE_TEXT_BYTES 4096u		/* limit of the header's and the end's text */
#define TRACE_WINDOW_LOG 20		/* log2 of the zstd window (1 MB), which a reader must be ready to allocate */

struct trace_header {
	uint32_t skippable, bytes;	/* bytes that follow in this frame */
	char     magic[8];
	uint32_t version, stream_version;	/* of this layout; of the records (ST_VERSION) */
	uint32_t text_bytes, pad;
};

struct trace_frame { uint64_t words_before; };	/* span words in all frames (of its section) before this one */

/* A section begins: another skippable frame, so that a reader can find the sections without decompressing anything.
 * The predictor of trace_pack.h begins anew, so a section can be read without those before it, as far as its kind says.
 *   COMMON   everybody needs it
 *   PART     needs the common sections before it, and of each part before it either itself or its digest
 *   DIGEST   of the part right before it: what a reader that leaves out the part has to know for those that follow */
#define TRACE_SECTION_MAGIC "SPMUSEC"
enum { TRACE_SECTION_COMMON = 1, TRACE_SECTION_PART, TRACE_SECTION_DIGEST };
struct trace_section {
	uint32_t skippable, bytes;
	char     magic[8];
	uint32_t number;	/* of all sections, from 0 */
	uint32_t kind, part;	/* part: number of the part, from 0; of a common section 0 */
	uint32_t pad;
};

enum { TRACE_CHUNK_SPAN = 1, TRACE_CHUNK_END = 2, TRACE_CHUNK_PACKED = 3 };
struct trace_chunk { uint32_t kind, process, pid, words; };

struct trace_end_words {
	uint32_t how;		/* enum trace_end */
	int32_t  wait_status;
	/* text follows */
};
#endif
