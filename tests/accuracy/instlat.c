/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads InstLatx64's files and translates their lines ("IMUL r64, r64, imm8 L: 1.36ns= 3.0c T: 0.45ns= 1.00c") to
 * assembly by rule.
 *
 * The files' own figures show what their forms mean:
 *   r32, r32            one and the same register (SUB r32, r32 is a zero idiom, MOV r32, r32 is not eliminated)
 *   r1_32, r2_32        two of them, always in this order: no chain if the first is only written; xmm1, xmm1, xmm2
 *                       likewise
 *   r32, [m32]          latency: the address is the destination (MOV r32, [m32] is a pointer chase); vectors: a
 *                       fixed address
 *   [m32], r32          latency: through memory, always the same address
 *   (eax), (rdx), ..    MUL and IMUL: the result whose latency is meant; it is taken as the operand. Throughput has
 *                       the same chain through the accumulator for either result (MUL r64: latencies 3 and 4,
 *                       throughput 3.00 both times), so it takes another register.
 *   64/32b (full)       DIV and IDIV of full width; the other widths depend on values, which the model does not have
 * Latency is a chain of the instruction; throughput repeats it with as many registers and addresses as there are.
 * Joined forms (MOVDQA+PADDB xmm, xmm; MOVD r32, mm+MOVD mm, r32) are one row of both.
 * The reader does not understand, but counts: pairs without operands, value-dependent x87, stores past the caches,
 * unaligned "[m128 + 4]", gathers, LS pairs, REP. The assembler refuses forms that do not exist.
 */
#include "accuracy.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 5, TOKEN = 40, PARTS = 2 };

struct form { char mnemonic[TOKEN], operand[OPERANDS][TOKEN]; unsigned operands; };
struct line { struct form part[PARTS]; unsigned parts, general; int word_bytes; bool latency, wide, bytes; };

/* ---- registers ---- */

/* registers_of returns through how many registers a throughput test rotates. Older files: eight vector registers
 * (PMULLW on Skylake: latency 5, throughput 0.63), the general registers without REX prefix, four byte registers;
 * `general` is set where a file took more general registers (Prescott: IMUL r32, r32 latency 10, throughput 1.00).
 * The newest files (wide): ten or more (PMULLW 0.50, ADD r8, r8 0.20 on Golden Cove). The last register of each kind
 * is the source "r2_32" or "xmm2", which no instruction writes. */
static const char *const names[] = { "ax", "dx", "bx", "bp", "si", "di", "8", "9", "10", "11", "12", "13", "15", "cx" },
	*const wide_names[] = { "ax", "dx", "bx", "bp", "si", "di", "8", "9",
	"10", "11" };

static unsigned registers_of(const struct line *l, const char *class, unsigned bits, unsigned which)
{
	if (*class == 'r')
		return l->wide ? 10 : bits == 8 ? 3 + !which : l->general ? l->general - !!which : l->word_bytes == 8
			? 6 : 4;
	if (!strcmp(class, "st"))
		return 7;
	return (l->wide && strcmp(class, "mm") ? 14 : 8) - (which && !l->wide);
}

/* Writes a general register. idx counts through the registers that rotate; if an operand is a byte (MOVZX r32, r8),
 * they are the four that have a byte register. ESI is the base of addresses in 32-bit code. */
static bool general(FILE *to, const struct line *l, unsigned bits, unsigned idx, unsigned which)
{
	unsigned n = registers_of(l, "r", bits, which);
	const char *name = l->wide ? wide_names[idx % n] : (bits == 8 || l->bytes) && idx % n == 3 ? "cx"
		: names[idx % n];
	if (which == 2)
		name = l->wide ? "13" : "cx";
	if (bits == 64 && l->word_bytes == 4)
		return false;
	if (isdigit((unsigned char)*name))
		return fprintf(to, "r%s%s", name, bits == 64 ? "" : bits == 32 ? "d" : bits == 16 ? "w" : "b") > 0;
	if (bits == 8)
		return fprintf(to, name[1] == 'x' ? "%cl" : "%c%cl", *name, name[1]) > 0;
	return fprintf(to, "%s%s", bits == 64 ? "r" : bits == 32 ? "e" : "", name) > 0;
}

/* Parses "r1_32", "xmm2", "xm", "r8": class, width, and which of several registers (0: the only one). */
static bool register_token(const char *t, char *class, unsigned *bits, unsigned *which)
{
	char *end;
	*which = 0;
	if (*t == 'r' && isdigit((unsigned char)t[1])) {
		strcpy(class, "r");
		if (t[2] == '_') {
			*which = (unsigned)(t[1] - '0');
			t += 2;
		}
		*bits = (unsigned)strtoul(t + 1, &end, 10);
		return !*end && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64) && *which <= 2;
	}
	size_t n = strspn(t, "xyzm");
	if (n < 2 || n > 3)
		return false;
	snprintf(class, 8, "%.*s%s", (int)n, t, n == 2 && *t != 'm' ? "m" : "");
	if (strcmp(class, "mm") && strcmp(class, "xmm") && strcmp(class, "ymm") && strcmp(class, "zmm"))
		return false;
	t += n;
	t += *t == '_';
	*bits = 0;
	if (*t)
		*which = (unsigned)strtoul(t, &end, 10);
	return !*t || (!*end && *which >= 1 && *which <= 2);
}

/* ---- operands ---- */

static const char *pointer(unsigned bits)
{
	switch (bits) {
	case 8: return "byte ptr ";
	case 16: return "word ptr ";
	case 32: return "dword ptr ";
	case 64: return "qword ptr ";
	case 80: return "tbyte ptr ";
	case 128: return "xmmword ptr ";
	case 256: return "ymmword ptr ";
	default: return NULL;
	}
}

/* Parses "[m32]", "[m32 + 8]", "m128", "[mem]": width in bits and displacement. */
static bool memory_token(const char *t, unsigned *bits, unsigned *plus)
{
	char *end;
	bool bracket = *t == '[';
	t += bracket;
	*plus = 0;
	if (!strncmp(t, "mem", 3)) {
		*bits = 0;
		return !strcmp(t + 3, "]");
	}
	if (*t != 'm' || !isdigit((unsigned char)t[1]))
		return false;
	*bits = (unsigned)strtoul(t + 1, &end, 10);
	while (*end == ' ')
		end++;
	if (*end == '+')
		*plus = (unsigned)strtoul(end + 1, &end, 10);
	return pointer(*bits) && (bracket ? !strcmp(end, "]") : !*end) && *plus % (*bits / 8) == 0;
}

static bool immediate(FILE *to, const char *t)
{
	static const struct { const char *name, *value; } is[] = {
		{ "imm8", "7" }, { "im8", "1" }, { "imm16", "0x1234" }, { "imm32", "0x12345678" },
		{ "imm64", "0x123456789abcdef0" },
	};
	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		if (!strcmp(t, is[i].name))
			return fputs(is[i].value, to) >= 0;
	size_t hex = strspn(t, "0123456789abcdefx");
	return isdigit((unsigned char)*t) && !t[hex] && fputs(t, to) >= 0;
}

static bool fixed(const char *t)
{
	static const char *const may[] = { "al", "ax", "eax", "rax", "cl" };
	for (size_t i = 0; i < sizeof may / sizeof *may; i++)
		if (!strcmp(t, may[i]))
			return true;
	return false;
}

/* Writes LEA's "[r64 + r64 * 8 + disp8]": every register in it is the instance's register. */
static bool address(FILE *to, const struct line *l, const char *t, unsigned idx)
{
	fputc('[', to);
	for (t++; *t && *t != ']';) {
		if (*t == ' ') {
			t++;
		} else if (*t == 'r') {
			unsigned bits = (unsigned)strtoul(t + 1, (char **)&t, 10);
			if (!general(to, l, bits > 16 ? bits : (unsigned)l->word_bytes * 8, idx, 0))
				return false;
		} else if (!strncmp(t, "disp8", 5) || !strncmp(t, "disp32", 6)) {
			fputs(t[4] == '8' ? "0x10" : "0x1234560", to);
			t += t[4] == '8' ? 5 : 6;
		} else if (strchr("+*8", *t)) {
			fputc(*t++, to);
		} else {
			return false;
		}
	}
	return *t == ']' && fputc(']', to) != EOF;
}

struct instance { unsigned idx, at; };

/* Whether "r2_32" or "mm_2" is another register in each instance. It is if the instruction also reads (or exchanges)
 * the first operand: on P6 and Core 2, where allocation reads at most two registers a cycle that are not being
 * written, AND r1, r2 takes 0.53 and AND r, r 0.32 (Core 2), PADDB mm_1, mm_2 0.60 and PADDB mm, mm 0.50 (Pentium
 * III). If the instruction only writes the first operand, it is the same in all: MOV r1, r2 takes 0.33 on Core 2. */
static bool in_pairs(const struct line *l, const struct form *f, const char *token)
{
	return !l->wide && !l->latency && strchr(token, '_') && strncmp(f->mnemonic, "MOV", 3) &&
		strncmp(f->mnemonic, "BS", 2);
}

/* Returns how many registers up to idx the row skips: XCHG AX, AX would be a NOP; MULX reads DX, and its 1.00 a clock
 * at latency 4 shows that the test never writes DX. */
static unsigned skipped(const struct line *l, const char *mnemonic, unsigned idx)
{
	return !strcmp(mnemonic, "XCHG") || (!strcmp(mnemonic, "MULX") && !l->latency && idx);
}

static bool operand(FILE *to, const struct line *l, const struct form *f, unsigned n, const struct instance *in)
{
	const char *t = f->operand[n];
	char class[8], of[8];
	unsigned bits, which, plus, other_bits, other_which;
	if (register_token(t, class, &bits, &which)) {
		if (which == 2 && in_pairs(l, f, t) && (*class == 'r' ? l->word_bytes == 8 && bits > 8 : !strcmp(class,
			"mm")))
			return *class == 'r' ? fprintf(to, "r%u%s", 8 + in->idx % 6, bits == 64 ? "" : bits == 32 ? "d"
				: "w") > 0 :
			                       fprintf(to, "mm%u", 4 + in->idx % 4) > 0;
		if (*class == 'r')
			return general(to, l, bits, in->idx + skipped(l, f->mnemonic, in->idx), which);
		unsigned first = l->latency;	/* xmm0 is an implicit operand of some */
		return fprintf(to, "%s%u", class, which == 2 ? l->wide && *class != 'm' ? 15 : 7
			: first + in->idx % registers_of(l, class, bits, which)) > 0;
	}
	if (!strcmp(f->mnemonic, "LEA") && *t == '[')
		return address(to, l, t, in->idx);
	if (memory_token(t, &bits, &plus)) {
		bool chase = l->latency && n > 0 && register_token(f->operand[0], of, &other_bits, &other_which) &&
			*of == 'r' &&
		             strncmp(f->mnemonic, "X", 1) && strncmp(f->mnemonic, "CMPXCHG", 7);
		const char *size = pointer(bits);	/* NULL: the token has no size */
		fprintf(to, "%s[", size ? size : "");
		if (chase)
			return general(to, l, (unsigned)l->word_bytes * 8, in->idx, 0) && fputc(']', to) != EOF;
		/* no two addresses are in one bank of L1D */
		return fprintf(to, "%s+%u]", l->word_bytes == 8 ? "r14" : "esi", 64 + plus + (l->latency ? 0
			: 64 * in->at + ((bits < 32 ? 4 : bits / 8) * in->at & 63))) > 0;
	}
	if (!strcmp(t, "st(i)"))
		return fprintf(to, "st(%u)", 1 + in->idx % 7) > 0;
	if (!strcmp(t, "st") || fixed(t))
		return fputs(t, to) >= 0;
	if (!strcmp(t, "<xmm0>") || !strcmp(t, "<xm0>"))
		return fputs("xmm0", to) >= 0;
	return immediate(to, t);
}

/* ---- forms ---- */

static void trim(char *t)
{
	size_t n = strlen(t), lead = strspn(t, " ");
	while (n > lead && t[n - 1] == ' ')
		n--;
	memmove(t, t + lead, n - lead);
	t[n - lead] = 0;
}

static bool parse_form(struct form *f, const char *text)
{
	size_t n = strcspn(text, " ");
	*f = (struct form){ .operands = 0 };
	if (!strncmp(text, "LOCK ", 5))
		n = 5 + strcspn(text + 5, " ");
	if (!n || n >= TOKEN)
		return false;
	memcpy(f->mnemonic, text, n);
	text += n;
	while (*text == ' ')
		text++;
	while (*text) {
		unsigned depth = 0;
		size_t k = 0;
		while (text[k] && (depth || text[k] != ',')) {
			depth += text[k] == '[';
			depth -= text[k] == ']' && depth;
			k++;
		}
		if (f->operands == OPERANDS || k >= TOKEN || !k)
			return false;
		memcpy(f->operand[f->operands], text, k);
		trim(f->operand[f->operands++]);
		text += k + (text[k] == ',');
	}
	return true;
}

/* "A x, y+B z, w" is two forms; "A+B x, y" is two forms with the same operands. */
static bool parse_parts(struct line *l, const char *text)
{
	char first[TOKEN * 3];
	const char *plus = NULL;
	unsigned depth = 0;
	for (const char *p = text; *p; p++) {
		depth += *p == '[';
		depth -= *p == ']' && depth;
		if (*p == '+' && !depth) {
			bool spaced = p > text && p[-1] == ' ' && p[1] == ' ';
			/* CVTPS2DQ + CVTDQ2PS: the line has no operands */
			if (plus || p == text || (spaced && strncmp(text, "PUSH", 4)))
				return false;
			plus = p;
		}
	}
	l->parts = 1;
	if (!plus)
		return parse_form(&l->part[0], text);
	if ((size_t)(plus - text) >= sizeof first)
		return false;
	memcpy(first, text, (size_t)(plus - text));
	first[plus - text] = 0;
	l->parts = 2;
	trim(first);
	if (!parse_form(&l->part[0], first) || !parse_form(&l->part[1], plus + 1 + strspn(plus + 1, " ")))
		return false;
	if (!l->part[0].operands) {
		memcpy(l->part[0].operand, l->part[1].operand, sizeof l->part[0].operand);
		l->part[0].operands = l->part[1].operands;
	}
	return true;
}

/* Handles forms that mean something else than they say. Returns true for those that no block can express. */
static bool special(struct line *l)
{
	static const char *const not[] = { "MOVNT", "VMOVNT", "MASKMOV", "VMASKMOV", "LNOP", "REP", "CPUID", "XSAVE",
		"XRSTOR", "FSIN", "FCOS", "FPTAN",
		"FPATAN", "F2XM1", "FYL2X", "ENTER", "LOOP", "RDSEED", "RDRAND", "CLFLUSH", "CLWB", "ASP", "HLT",
		"INT" };
	for (unsigned p = 0; p < l->parts; p++) {
		struct form *f = &l->part[p];
		for (size_t i = 0; i < sizeof not / sizeof *not; i++)
			if (!strncmp(f->mnemonic, not[i], strlen(not[i])))
				return true;
		/* the file does not say how the two forms meet in memory */
		for (unsigned n = 0; n < f->operands && l->parts == 2; n++)
			if (*f->operand[n] == 'r' && strchr(f->operand[!n], '['))
				return true;
		size_t n = strlen(f->mnemonic);
		bool x87 = f->mnemonic[0] == 'F', st = f->operands && !strncmp(f->operand[0], "st", 2);
		if (x87 && n > 2 && !strcmp(f->mnemonic + n - 2, "80"))
			f->mnemonic[n - 2] = 0;		/* full precision is the default */
		if (!strcmp(f->mnemonic, "FSQRT") && st) {
			f->operands = 0;
			/* 7.00 a clock at latency 21 (Skylake): each FSQRT has another register, which FXCH brings to
			 * the top */
			if (!l->latency) {
				l->part[1] = (struct form){ .mnemonic = "FXCH", .operand = { "st(i)" }, .operands = 1 };
				l->parts = 2;
				return false;
			}
		}
		if (!strncmp(f->mnemonic, "CMPXCHG", 7) && !f->operands) {
			strcpy(f->operand[0], "[mem]");
			f->operands = 1;
		}
		else if (x87 && n > 2 && (!strcmp(f->mnemonic + n - 2, "32") || !strcmp(f->mnemonic + n - 2, "64")))
			return true;
		/* the destination is always the top; the file does not say how it made the instances independent */
		if (st && f->operands == 2 && !strcmp(f->operand[0], "st") && !l->latency &&
			strncmp(f->mnemonic, "FCOM", 4) && strncmp(f->mnemonic, "FUCOM", 5))
			return true;
	}
	return false;
}

/* Completes names and operands that the files shorten, as the assembler needs them. */
static void complete(struct form *f)
{
	static const struct { const char *name; char action; unsigned operands; } change[] = {
		{ "VRCPPS", '-', 3 }, { "VRSQRTPS", '-', 3 }, { "VMOVSLDUP", '-', 3 }, { "VMOVSHDUP", '-', 3 },
		{ "VMOVDDUP", '-', 3 }, { "VMOVAPS", '-', 3 },
		{ "VMOVAPD", '-', 3 }, { "VMOVDQA", '-', 3 }, { "VSQRTSS", '+', 2 }, { "VSQRTSD", '+', 2 },
		{ "VINSERTPS", '+', 3 }, { "VMPSADBW", '+', 3 },
		{ "VPINSRB", '+', 3 }, { "VPINSRW", '+', 3 }, { "VPINSRD", '+', 3 }, { "VPINSRQ", '+', 3 },
		{ "VMOVLPD", 'm', 2 }, { "VMOVHPD", 'm', 2 },
		{ "VCMPPS", 'i', 3 }, { "VCMPPD", 'i', 3 }, { "VCMPSS", 'i', 3 }, { "VCMPSD", 'i', 3 }, { "CMPPS", 'i',
		2 }, { "CMPPD", 'i', 2 },
		{ "CMPSS", 'i', 2 }, { "RORX", 'r', 3 }, { "VPSLLW", 'x', 3 }, { "VPSLLD", 'x', 3 }, { "VPSLLQ", 'x',
		3 }, { "VPSRAW", 'x', 3 },
		{ "MOVLPS", 'q', 2 }, { "MOVHPS", 'q', 2 }, { "VMOVLPS", 'q', 2 },
		{ "VMOVHPS", 'q', 2 }, { "VMOVLPS", 'q', 3 }, { "VMOVHPS", 'q', 3 }, { "VPSRAD", 'x', 3 },
		{ "VPSRLW", 'x', 3 }, { "VPSRLD", 'x', 3 }, { "VPSRLQ", 'x', 3 },
	};
	if (!strcmp(f->mnemonic, "AESKEYGEN") || !strcmp(f->mnemonic, "VAESKEYGEN"))
		strcat(f->mnemonic, "ASSIST");
	size_t n = strlen(f->mnemonic);
	if (!f->operands && (!strncmp(f->mnemonic, "PUSH", 4) || !strncmp(f->mnemonic, "POP", 3)) &&
		strchr("AF", f->mnemonic[n - 1]))
		/* in the files PUSHA has 16 bits and PUSHAD 32; the assembler's PUSHA has the width of the code */
		strcat(f->mnemonic, "W");
	if (!strncmp(f->mnemonic, "VPTESTP", 7))
		memmove(f->mnemonic + 1, f->mnemonic + 2, strlen(f->mnemonic + 1));
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		char (*o)[TOKEN] = f->operand;
		if (strcmp(f->mnemonic, change[i].name) || f->operands != change[i].operands)
			continue;
		if (change[i].action == '-') {
			strcpy(o[1], o[2]);
			f->operands--;
		} else if (change[i].action == '+' || (change[i].action == 'm' && *o[0] == 'x')) {
			memmove(o[2], o[1], 2 * sizeof *o);
			strcpy(o[1], o[0]);
			f->operands++;
		} else if (change[i].action == 'i') {
			strcpy(o[f->operands++], "0");
		} else if (change[i].action == 'r') {
			strcpy(o[2], "imm8");
		} else if (change[i].action == 'q') {
			for (unsigned k = 0; k < f->operands; k++)
				if (!strcmp(o[k], "[m32]"))
					strcpy(o[k], "[m64]");
		} else if (change[i].action == 'x' && *o[2] == 'y') {
			*o[2] = 'x';
		}
	}
}

/* Writes a form with one operand and remarks: MUL r64 (rdx), DIV r64 128/64b (full). */
static bool implicit(FILE *to, const char *text, struct line *l)
{
	static const struct { const char *width, *full, *is; } divisor[] = {
		{ "r8", "16/8b", "cl" }, { "r8", "14/7b", "cl" }, { "r16", "32/16b", "cx" }, { "r16", "30/15b", "cx" },
		{ "r32", "64/32b", "ecx" },
		{ "r32", "62/31b", "ecx" }, { "r64", "128/64b", "rcx" }, { "r64", "126/63b", "rcx" },
	};
	char name[8], width[8], rest[32], packed[32];
	int used = 0;
	if (sscanf(text, "%7s %7s%n", name, width, &used) != 2 || strlen(text + used) >= sizeof rest)
		return false;
	bool multiply = !strcmp(name, "MUL") || !strcmp(name, "IMUL"), divide = !strcmp(name, "DIV") ||
		!strcmp(name, "IDIV");
	size_t n = 0;
	for (const char *p = text + used; *p; p++)
		if (*p != ' ')
			packed[n++] = *p;
	packed[n] = 0;
	if (multiply && *packed == '(' && n > 2 && n < 6) {
		if (l->latency)
			return fprintf(to, "%s %.*s\n", name, (int)n - 2, packed + 1) > 0;
		for (size_t i = 0; i < sizeof divisor / sizeof *divisor; i++)
			if (!strcmp(width, divisor[i].width))
				return fprintf(to, "%s %s\n", name, divisor[i].is) > 0;
	}
	if (!divide)
		return false;
	char *remark = strchr(packed, '(');
	if (!strcmp(width, "r8l"))
		width[2] = 0;
	if (remark && strcmp(remark, "(full)"))
		return false;
	if (!remark && !l->latency)	/* the test set the registers again in between */
		return false;
	if (remark)
		*remark = 0;
	for (size_t i = 0; i < sizeof divisor / sizeof *divisor; i++)
		if (!strcmp(width, divisor[i].width) && !strcmp(packed, divisor[i].full))
			return fprintf(to, "%s %s\n", name, divisor[i].is) > 0;
	return false;
}

/* "3x 0x66 NOP" */
static bool prefixed_nop(FILE *to, const char *text)
{
	unsigned count = 1;
	int used = 0;
	if (sscanf(text, "%ux %n", &count, &used) != 1 || !used || !strncmp(text, "0x66", 4)) {
		count = 1;
		used = 0;
	}
	if (strcmp(text + used, "0x66 NOP") || count > 14)
		return false;
	fputs(".byte ", to);
	for (unsigned i = 0; i < count; i++)
		fputs("0x66,", to);
	return fputs("0x90\n", to) >= 0;
}

/* Writes the assembly and sets *unit to how often it holds the row's code. Returns false if it is not understood. */
static bool translate(FILE *to, const char *text, bool latency, const struct instlat *file, unsigned *unit)
{
	struct line l = { .word_bytes = file->word_bytes, .latency = latency, .wide = file->wide,
		.general = file->general };
	unsigned instances = latency ? 1 : 0, least = 0;
	bool memory = false;
	*unit = 1;
	if (prefixed_nop(to, text) || implicit(to, text, &l))
		return true;
	if (!parse_parts(&l, text) || special(&l))
		return false;
	for (unsigned p = 0; p < l.parts; p++)
		complete(&l.part[p]);
	for (unsigned p = 0; p < l.parts; p++)
		for (unsigned n = 0; n < l.part[p].operands; n++) {
			const char *t = l.part[p].operand[n];
			char class[8];
			unsigned bits, which, plus, have = 0;
			if (register_token(t, class, &bits, &which)) {
				l.bytes |= *class == 'r' && bits == 8 && !which;
				have = registers_of(&l, class, bits, which) - skipped(&l, l.part[p].mnemonic, 1);
				if (which && in_pairs(&l, &l.part[p], t) && (*class == 'r' ? l.word_bytes == 8 &&
					bits > 8 : !strcmp(class, "mm")))
					have = *class == 'r' ? 6 - skipped(&l, l.part[p].mnemonic, 1) : 4;
			} else if (!strcmp(t, "st(i)")) {
				have = 7;
			} else {
				memory |= memory_token(t, &bits, &plus);
				have = !strcmp(l.part[p].mnemonic, "LEA") && *t == '[' ? 1000 : 0;
			}
			least = have && (!least || have < least) ? have : least;
		}
	if (!latency)
		instances = least && least < 1000 ? least : memory ? 8 : 1;
	if (!latency && !l.wide && l.parts == 1 && l.part[0].operands > 1 && *l.part[0].operand[0] == '[' &&
		instances < 8)
		instances = 8;	/* ADD [m32], r32: latency 8.9, 1.75 a clock on Willamette's four registers */
	for (unsigned i = 0; i < instances; i++) {
		const struct instance in = { .idx = latency ? 0 : i, .at = i };
		for (unsigned p = 0; p < l.parts; p++) {
			fputs(l.part[p].mnemonic, to);
			for (unsigned n = 0; n < l.part[p].operands; n++) {
				fputs(n ? ", " : " ", to);
				if (!operand(to, &l, &l.part[p], n, &in))
					return false;
			}
			fputc('\n', to);
		}
	}
	*unit = instances;
	return true;
}

/* ---- the file ---- */

/* Parses "L:   1.36ns=  3.0c"; returns the clocks, negative if there is no figure. */
static double figure(const char *line, const char *what)
{
	const char *p = strstr(line, what), *equal;
	char *end;
	if (!p)
		return -1;
	p += strlen(what);
	while (*p == ' ')
		p++;
	if (!isdigit((unsigned char)*p) || !(equal = strchr(p, '=')) || equal - p > 16)
		return -1;
	double v = strtod(equal + 1, &end);
	return end != equal + 1 && *end == 'c' ? v : -1;
}

static int add(struct instlat *out, struct rows *to, const char *text, double measured, bool latency, bool held_out)
{
	char *code = NULL;
	size_t bytes;
	unsigned unit;
	if (measured <= 0)
		return 0;
	FILE *f = open_memstream(&code, &bytes);
	if (!f)
		return ERR_NOMEM;
	bool understood = translate(f, text, latency, out, &unit);
	if (fclose(f))
		return ERR_NOMEM;
	struct row *w = rows_add(understood ? to : &out->missed);
	out->not_understood += !understood;
	if (!w) {
		free(code);
		return ERR_NOMEM;
	}
	w->name = strdup(text);
	w->text = code;
	w->measured = measured;
	w->unit = unit;
	w->held_out = held_out;
	return w->name ? 0 : ERR_NOMEM;
}

int instlat_read(struct instlat *out, const char *path, struct err *err)
{
	size_t kept = 0;
	FILE *f = fopen(path, "re");
	char *line = NULL, text[160];
	size_t room = 0;
	int rc = 0;
	if (!f)
		return err_system(err, "%s", path);
	while (!rc && getline(&line, &room, f) > 0) {
		char *l = strstr(line, "L:"), *t = strstr(line, "T:"), *end = l && (!t || l < t) ? l : t;
		if (!end)
			continue;
		bool held_out = ++out->lines % 5 == 0;
		if (out->folds && (held_out || ++kept % out->folds != out->fold))
			continue;
		char *begin = memchr(line, ':', (size_t)(end - line));
		if (!begin || (size_t)(end - begin) >= sizeof text)
			continue;
		memcpy(text, begin + 1, (size_t)(end - begin - 1));
		text[end - begin - 1] = 0;
		trim(text);
		rc = add(out, &out->latency, text, figure(line, "L:"), true, held_out);
		if (!rc)
			rc = add(out, &out->throughput, text, figure(end, "T:"), false, held_out);
	}
	if (rc)
		err_set(err, rc, "%s: out of memory", path);
	free(line);
	fclose(f);
	return rc;
}

void instlat_free(struct instlat *i)
{
	rows_free(&i->latency);
	rows_free(&i->throughput);
	rows_free(&i->missed);
}
