/* SPDX-License-Identifier: GPL-2.0-or-later
 * Effective addresses (address.h).
 */
#include "isa/address.h"
#include <Zydis/Zydis.h>
#include <string.h>

bool isa_address(int word_bytes, const uint8_t *code, size_t bytes, uint64_t ip, const uint64_t gpr[16],
	uint64_t *address)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisRegisterContext context;

	bool wide = word_bytes == 8;
	ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &in, operand)))
		return false;
	memset(&context, 0, sizeof context);
	for (unsigned i = 0; i < (wide ? 16u : 8u); i++) {
		context.values[ZYDIS_REGISTER_RAX + (int)i] = gpr[i];
		context.values[ZYDIS_REGISTER_EAX + (int)i] = (uint32_t)gpr[i];
		context.values[ZYDIS_REGISTER_AX + (int)i] = (uint16_t)gpr[i];
	}
	for (unsigned i = 0; i < in.operand_count; i++) {
		const ZydisDecodedOperand *o = &operand[i];
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    in.mnemonic == ZYDIS_MNEMONIC_NOP)
			continue;
		if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
			return false;
		if (ZydisRegisterGetClass(o->mem.index) > ZYDIS_REGCLASS_GPR64)
			return false;
		ZyanU64 at;
		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&in, o, ip, &context, &at)))
			return false;
		/* PUSH and CALL write below the old stack pointer. */
		if (o->actions & ZYDIS_OPERAND_ACTION_WRITE && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    o->mem.base == (wide ? ZYDIS_REGISTER_RSP : ZYDIS_REGISTER_ESP))
			at -= o->size / 8;
		*address = wide ? at : (uint32_t)at;
		return true;
	}
	return false;
}
