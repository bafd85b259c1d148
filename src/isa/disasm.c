/* SPDX-License-Identifier: GPL-2.0-or-later
 * Disassembly of one instruction, for `annotate` and reports: Zydis' formatter, Intel or AT&T syntax. */
#include "isa/internal.h"
#include <stdio.h>

/* Returns 0, or ERR_INPUT if the bytes do not decode or the text does not fit; *text is "(bad)" then. */
int isa_disassemble(const uint8_t *code, unsigned len, uint64_t addr, int word_bytes, bool att, char *text,
                    size_t text_bytes)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter formatter;
	if (!text_bytes)
		return ERR_INPUT;
	snprintf(text, text_bytes, "(bad)");
	bool wide = word_bytes == 8;
	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
	                                 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, len, &zi, op)) ||
	    ZYAN_FAILED(ZydisFormatterInit(&formatter, att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &zi, op, zi.operand_count_visible, text, text_bytes, addr,
	                                                NULL))) {
		snprintf(text, text_bytes, "(bad)");
		return ERR_INPUT;
	}
	return 0;
}
