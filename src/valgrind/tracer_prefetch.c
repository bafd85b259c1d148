/* SPDX-License-Identifier: GPL-2.0-or-later
 * Software prefetches and flushes of lines: VEX translates them to no access, so the tracer decodes their addresses
 * itself.
 * Prefetches: PREFETCHh (0F 18 /0 to /3) and PREFETCH, PREFETCHW, PREFETCHWT1 (0F 0D /0 to /7, AMD and Intel).
 * Flushes: CLFLUSH (0F AE /7), CLFLUSHOPT (66 0F AE /7), CLWB (66 0F AE /6), CLDEMOTE (0F 1C /0).
 * Left out: those with a segment override (FS, GS; no program is known to use that): they have no slot.
 * Source: Intel SDM vol. 2, "Instruction Format", "ModR/M and SIB Bytes", PREFETCHh, PREFETCHW, CLFLUSH, CLFLUSHOPT,
 * CLWB, CLDEMOTE; AMD APM vol. 3, PREFETCH.
 */
#include "tracer.h"

#define WORD_BYTES sizeof(HWord)

static Int signed32(const UChar *p)
{
	return (Int)(p[0] | (UInt)p[1] << 8 | (UInt)p[2] << 16 | (UInt)p[3] << 24);
}

/* prefix: 0x66, 0xf2 or 0xf3, the last of these that the instruction has; 0: none. */
static Bool is_flush(UChar prefix, UChar opcode, UInt reg)
{
	return (opcode == 0xae && ((reg == 7 && (!prefix || prefix == 0x66)) || (reg == 6 && prefix == 0x66))) ||
	       (opcode == 0x1c && !reg && !prefix);
}

Bool prefetch_decode(const UChar *code, UInt len, ULong next_ip, struct prefetch *out)
{
	UInt at = 0, rex = 0;
	UChar prefix = 0;
	Bool address32 = WORD_BYTES == 4;

	for (; at < len; at++) {
		UChar b = code[at];
		if (b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e)	/* ES, CS, SS, DS have base 0 */
			continue;
		if (b == 0x66 || b == 0xf2 || b == 0xf3) {
			if (b != 0x66 || !prefix)
				prefix = b;
			continue;
		}
		if (b == 0x67 && WORD_BYTES == 8) {
			address32 = True;
			continue;
		}
		break;
	}
	if (WORD_BYTES == 8 && at < len && (code[at] & 0xf0) == 0x40)
		rex = code[at++];
	if (at + 3 > len || code[at] != 0x0f)
		return False;
	UChar opcode = code[at + 1], modrm = code[at + 2];
	UInt mod = modrm >> 6, reg = (modrm >> 3) & 7, rm = modrm & 7;
	out->flush = is_flush(prefix, opcode, reg);
	if (mod == 3 || !((opcode == 0x18 && reg < 4) || opcode == 0x0d || out->flush))
		return False;
	at += 3;

	out->base = out->index = -1;
	out->scale = 0;
	out->disp = 0;
	out->address32 = address32;
	UInt disp_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		if (at >= len)
			return False;
		UChar sib = code[at++];
		UInt index = ((sib >> 3) & 7) | (rex & 2 ? 8 : 0);
		UInt base = sib & 7;
		if (index != 4)
			out->index = (Int)index;
		out->scale = sib >> 6;
		if (base == 5 && mod == 0)
			disp_bytes = 4;
		else
			out->base = (Int)(base | (rex & 1 ? 8 : 0));
	} else if (rm == 5 && mod == 0) {
		disp_bytes = 4;
		if (WORD_BYTES == 8)
			out->disp = (Long)next_ip;
	} else {
		out->base = (Int)(rm | (rex & 1 ? 8 : 0));
	}
	if (at + disp_bytes > len)
		return False;
	if (disp_bytes == 1)
		out->disp += (Char)code[at];
	else if (disp_bytes == 4)
		out->disp += signed32(code + at);
	return True;
}
