/* SPDX-License-Identifier: GPL-2.0-or-later
 * The uop tables' rows of instruction forms: every row of every file is sound, says where it comes from, and serves the
 * instructions whose form it names with as many uops as it states.
 */
#include "isa_fixture.h"
#include "core/pipeline.h"
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "data_dir.h"

enum { LATENCY_MAX = 240, TABLES = 32 };

static char uarch[TABLES][32];
static unsigned uarchs;

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int find_tables(void **state)
{
	(void)state;
	char path[4096];
	snprintf(path, sizeof path, "%s/uops", data_dir());
	DIR *d = opendir(path);
	if (!d)
		return -1;
	for (struct dirent *e; (e = readdir(d)) && uarchs < TABLES;) {
		size_t n = strlen(e->d_name);
		if (n > 4 && n < sizeof uarch[0] && !strcmp(e->d_name + n - 4, ".tsv"))
			snprintf(uarch[uarchs++], sizeof uarch[0], "%.*s", (int)(n - 4), e->d_name);
	}
	closedir(d);
	qsort(uarch, uarchs, sizeof *uarch, by_name);
	return uarchs ? 0 : -1;
}

/* Whether a word is an operand that isa_form_name can write: "r64", "m128", "[b+i*s+d]", ... */
static bool is_operand(const char *word)
{
	static const char *const plain[] = {
		"r8", "r16", "r32", "r64", "rh", "mm", "xmm", "ymm", "zmm", "tmm", "k", "st", "sreg", "cr", "dr", "bnd",
		"reg", "al", "ax",
		"eax", "rax", "cl", "dx", "1", "rel", "ptr", "m", "[b]", "[d]", "[i]", "[b+d]", "[b+i]", "[b+i+d]",
		"[i*s]", "[i*s+d]",
		"[b+i*s]", "[b+i*s+d]", "[i+d]", "[rip+d]",
	};
	size_t n = strcspn(word, "{");
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strlen(plain[i]) == n && !strncmp(plain[i], word, n))
			return true;
	if (!strchr("mivb", *word) || n < 2)
		return false;
	for (size_t i = 1; i < n; i++)
		if (word[i] < '0' || word[i] > '9')
			return false;
	return true;
}

/* Whether a form's name has a known prefix, mnemonic and operands. Sets *memory if it has a memory operand. */
static bool parses(const char *name, bool *memory)
{
	static const char *const prefixes[] = { "LOCK ", "REP ", "REPE ", "REPNE " };
	char text[ISA_FORM_NAME], *save = NULL;
	*memory = false;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			name += strlen(prefixes[i]);
	snprintf(text, sizeof text, "%s", name);
	char *operands = strchr(text, ' ');
	if (operands)
		*operands++ = 0;
	bool known = false;
	for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE && !known; m++)
		known = !strcasecmp(ZydisMnemonicGetString((ZydisMnemonic)m), text);
	unsigned n = 0;
	for (char *w = operands ? strtok_r(operands, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save)) {
		if (!is_operand(w) || ++n > 4)
			return false;
		*memory |= *w == 'v' || (*w == 'b' && w[1] != 'n') || (*w == 'm' && strcmp(w, "mm"));
	}
	return known;
}

static void test_every_form_names_an_instruction(void **state)
{
	(void)state;
	bool memory;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		unsigned forms = 0;
		for (unsigned i = 0; i < isa->n_rows; i++) {
			if (!isa_row_is_form(isa, i))
				continue;
			forms++;
			if (!parses(isa->rows[i].name, &memory))
				fail_msg("%s, line %u: %s is no form", uarch[k], isa->rows[i].line, isa->rows[i].name);
			assert_ptr_equal(isa_form_row(isa, isa->rows[i].name), &isa->rows[i]);
		}
		print_message("  %s: %u forms\n", uarch[k], forms);
		isa_destroy(isa);
	}
	assert_false(parses("FROB r64,r64", &memory));
	assert_false(parses("ADD r64,q64", &memory));
	assert_false(parses("ADD r63x", &memory));
	assert_true(parses("LOCK XADD m64,r64", &memory) && memory);
	assert_true(parses("PADDB mm,mm", &memory) && !memory);
}

static void test_every_form_keeps_to_its_cores_ports_and_limits(void **state)
{
	(void)state;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		uint16_t memory_ports = 0;
		static const enum isa_class memory_class[] = { CLASS_load, CLASS_store_address, CLASS_store_data };
		for (int i = 0; i < 3; i++)
			memory_ports |= isa->specs[isa_row(isa, memory_class[i], WIDTH_64, FORM_REG)->first].ports;
		/* older cores: the Pentium's pipes do both, NetBurst's ALUs send
		 * store data and take half a cycle, which is 0 */
		const struct spec *alu = &isa->specs[isa_row(isa, CLASS_alu, WIDTH_64, FORM_REG)->first];
		memory_ports &= (uint16_t)~alu->ports;
		/* Zen's FP4 and FP5 store and pass results to general registers */
		memory_ports &= (uint16_t)~isa->specs[isa_row(isa, CLASS_mov_vec_gpr, WIDTH_64, FORM_REG)->first].ports;
		const bool half_cycles = !strcmp(uarch[k], "willamette") || !strcmp(uarch[k], "prescott");
		for (unsigned i = 0; i < isa->n_rows; i++) {
			const struct row *r = &isa->rows[i];
			unsigned latency = 0, computing = 0;
			for (unsigned s = 0; s < r->count; s++) {
				const struct spec *u = &isa->specs[r->first + s];
				if (u->ports & ~isa->ports)
					fail_msg("%s, line %u: %s uses a port that there is not", uarch[k], r->line,
						r->name);
				if (u->ports && u->latency > LATENCY_MAX)
					fail_msg("%s, line %u: %s takes %u cycles", uarch[k], r->line, r->name,
						u->latency);
				latency += u->attr & SPEC_SIDE ? 0 : u->latency;
				computing += u->kind == UOP_COMPUTE && !(u->attr & SPEC_SIDE);
				/* a computing uop has a port other than those of loads and stores, except for fences,
				 * cache control, RDRAND, and side uops (128 bits in two accesses) */
				bool fence = u->kind != UOP_COMPUTE || strstr(r->name, "FLUSH") ||
					strstr(r->name, "CLWB") || strstr(r->name, "RD");
				if (isa_row_is_form(isa, i) && u->ports && !(u->ports & ~memory_ports) && !fence &&
					!(u->attr & SPEC_SIDE))
					fail_msg("%s, line %u: %s computes on a memory port", uarch[k], r->line,
						r->name);
			}
			if (isa_row_is_form(isa, i) && computing && !latency && !half_cycles)
				fail_msg("%s, line %u: %s computes in no time", uarch[k], r->line, r->name);
		}
		isa_destroy(isa);
	}
}

static void test_every_form_states_uops_that_its_row_has(void **state)
{
	(void)state;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		for (unsigned i = 0; i < isa->n_rows; i++) {
			const struct row *r = &isa->rows[i];
			bool memory;
			if (!isa_row_is_form(isa, i) || !parses(r->name, &memory))
				continue;
			unsigned own = r->count ? r->count : 1, slots = own;
			for (unsigned u = 0; u < r->count; u++)
				slots -= (isa->specs[r->first + u].attr & SPEC_JOINED) != 0;
			/* PREFETCH and stack operations reach memory without naming it; renames of
			 * FXCH, and XCHG where it only renames, are three; strings repeat */
			bool implied = strstr(r->name, "PUSH") || strstr(r->name, "POP") || strstr(r->name, "CALL") ||
				strstr(r->name, "RET") ||
			               strstr(r->name, "ENTER") || strstr(r->name, "LEAVE") ||
			               strstr(r->name, "FXCH") || strstr(r->name, "XLAT") ||
			               strstr(r->name, "MASKMOV") || (r->count && !strncmp(r->name, "XCHG r", 6) &&
			               isa->specs[r->first].kind == UOP_ELIMINATED);
			bool string = r->startup || strstr(r->name, "MOVS") || strstr(r->name, "STOS") ||
				strstr(r->name, "LODS") ||
			              strstr(r->name, "SCAS") || strstr(r->name, "CMPS");
			if (r->unfused < r->count && !(r->flags & ROW_ELIM))
				fail_msg("%s, line %u: %s states %u uops, its row has %u", uarch[k], r->line, r->name,
					r->unfused, r->count);
			if (!memory && !implied && !string && (r->unfused != own || r->fused != slots) &&
				!(r->flags & ROW_ELIM))
				fail_msg("%s, line %u: %s states %u/%u, its row has %u/%u", uarch[k], r->line, r->name,
					r->fused, r->unfused, slots, own);
			if (r->fused > r->unfused || r->unfused > 2u * r->fused + 1)
				fail_msg("%s, line %u: %s: %u uops in %u slots", uarch[k], r->line, r->name, r->unfused,
					r->fused);
		}
		isa_destroy(isa);
	}
}

/* "LLVM", "LLVM, IL L 4, IL T 0.5", "class alu", "class alu, IL T 1", ..; a class must be a row of the table. */
static bool is_source(const struct isa *isa, const char *source)
{
	size_t n = strcspn(source, ",");
	if (!strncmp(source, "class ", 6)) {
		bool found = false;
		for (unsigned i = 0; i < isa->n_rows && !found; i++)
			found = !isa_row_is_form(isa, i) && strlen(isa->rows[i].name) == n - 6 &&
				!strncmp(isa->rows[i].name, source + 6, n - 6);
		if (!found)
			return false;
	} else if (strncmp(source, "LLVM", 4) && strncmp(source, "IL", 2) && strncmp(source, "register form", 13)) {
		return false;
	}
	for (const char *s = source + n; *s; s += strcspn(s + 1, ",") + 1)
		if (strncmp(s, ", IL ", 5) && strncmp(s, ", HOST ", 7))
			return false;
	return true;
}

static void test_every_form_says_where_it_comes_from(void **state)
{
	(void)state;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		char path[4096], line[4096];
		unsigned n = 0;
		snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir(), uarch[k]);
		FILE *f = fopen(path, "r");
		assert_non_null(f);
		while (fgets(line, sizeof line, f)) {
			n++;
			line[strcspn(line, "\n")] = 0;
			char *source = strrchr(line, '\t');
			if (*line < 'A' || *line > 'Z')
				continue;
			if (!source || !is_source(isa, source + 1))
				fail_msg("%s:%u: \"%s\" is no source", path, n, source ? source + 1 : "");
		}
		fclose(f);
		isa_destroy(isa);
	}
}

static const struct { const char *hex, *form; int uops[2], slots[2]; } known[] = {	/* Skylake, Golden Cove */
	{ "48 01 d8", "ADD r64,r64", { 1, 1 }, { 1, 1 } },
	{ "48 03 03", "ADD r64,m64", { 2, 2 }, { 1, 1 } },
	{ "48 01 03", "ADD m64,r64", { 4, 4 }, { 2, 2 } },
	{ "d3 e0", "SHL r32,cl", { 3, 2 }, { 3, 2 } },
	{ "d1 e0", "SHL r32,1", { 1, 1 }, { 1, 1 } },
	{ "c1 e0 03", "SHL r32,i8", { 1, 1 }, { 1, 1 } },
	{ "48 6b c3 07", "IMUL r64,r64,i8", { 1, 1 }, { 1, 1 } },
	{ "48 0f af 03", "IMUL r64,m64", { 2, 2 }, { 1, 1 } },
	{ "c5 f4 58 00", "VADDPS ymm,ymm,m256", { 2, 2 }, { 1, 1 } },
	{ "f0 48 0f c1 03", "LOCK XADD m64,r64", { 9, 9 }, { 7, 7 } },
	{ "48 8d 44 8b 07", "LEA r64,[b+i*s+d]", { 1, 1 }, { 1, 1 } },
	{ "00 fc", "ADD rh,rh", { 1, 1 }, { 1, 1 } },
	{ "04 07", "ADD al,i8", { 1, 1 }, { 1, 1 } },
	{ "0f 44 c3", "CMOVZ r32,r32", { 1, 1 }, { 1, 1 } },
	{ "0f 46 c3", "CMOVBE r32,r32", { 2, 2 }, { 2, 2 } },
	{ "48 0f c8", "BSWAP r64", { 2, 2 }, { 2, 2 } },
	{ "48 89 03", "MOV m64,r64", { 2, 2 }, { 1, 1 } },
	{ "48 8b 03", "MOV r64,m64", { 1, 1 }, { 1, 1 } },
	{ "50", "PUSH r64", { 2, 2 }, { 1, 1 } },
	{ "66 0f f2 c1", "PSLLD xmm,xmm", { 2, 3 }, { 2, 3 } },
	{ "d8 c1", "FADD st,st", { 1, 1 }, { 1, 1 } },
	{ "66 0f 6e c0", "MOVD xmm,r32", { 1, 1 }, { 1, 1 } },
	{ "0f 1f 00", "NOP m32,r32", { 1, 1 }, { 1, 1 } },
};

static void test_known_instructions_are_served_by_the_rows_of_their_forms(void **state)
{
	(void)state;
	static const char *const cores[] = { "skylake", "golden-cove" };
	for (int k = 0; k < 2; k++) {
		struct isa *isa = open_isa(cores[k]);
		for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
			struct maker m;
			maker_init(&m, 0x1000);
			maker_insn(&m, known[i].hex);
			char name[ISA_FORM_NAME];
			bool covered;
			assert_int_equal(isa_form(isa, 8, m.insn[0].bytes, m.insn[0].len, name, &covered),
				m.insn[0].len);
			assert_string_equal(name, known[i].form);
			assert_true(covered);
			struct iblock *b = maker_decode(&m, isa, 8);
			const struct insn *in = &b->insn[0];
			assert_string_equal(isa_row_name(isa, in->row), known[i].form);
			assert_true(isa_row_is_form(isa, in->row));
			if (in->uops != known[i].uops[k] || in->issue_slots != known[i].slots[k])
				fail_msg("%s: %s: %u uops in %u slots", cores[k], known[i].form, in->uops,
					in->issue_slots);
			isa_block_free(b);
		}
		isa_destroy(isa);
	}
}

static void test_a_row_of_a_form_goes_before_its_class_and_reads_operands_by_number(void **state)
{
	(void)state;
	struct isa *isa = open_isa("skylake");
	struct maker m;
	char text[1024];
	/* A row of our own in place of the file's: the second operand through a shuffle, the first a cycle later. */
	struct row *r = (struct row *)isa_form_row(isa, "PADDD xmm,xmm");
	assert_non_null(r);
	isa->specs[r->first] = (struct spec){ .ports = 1 << 5, .kind = UOP_COMPUTE, .attr = SPEC_IN2, .latency = 1 };
	isa->specs[r->first + 1] = (struct spec){ .ports = 3, .kind = UOP_COMPUTE, .attr = SPEC_IN1, .latency = 4 };
	r->count = 2;
	r->in = SPEC_IN1 | SPEC_IN2;
	maker_init(&m, 0x1000);
	maker_insn(&m, "66 0f fe c1");
	struct iblock *b = maker_decode(&m, isa, 8);
	block_text(text, b);
	assert_string_equal(text, "*op p5/1 v1>t0; *op p01/4 v0,t0>v0");
	isa_block_free(b);
	isa_destroy(isa);
}

/* Decodes the code of this test program; the uops agree with the rows. */
static void test_compiled_code_has_the_uops_that_its_forms_state(void **state)
{
	(void)state;
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY);
	assert_true(fd >= 0 && !fstat(fd, &st));
	const uint8_t *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(image != MAP_FAILED);
	close(fd);
	const Elf64_Ehdr *h = (const void *)image;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		unsigned checked = 0, without = 0;
		for (unsigned i = 0; i < h->e_shnum; i++) {
			const Elf64_Shdr *s = (const void *)(image + h->e_shoff + i * sizeof *s);
			if (!(s->sh_flags & SHF_EXECINSTR) || s->sh_type != SHT_PROGBITS)
				continue;
			for (size_t at = 0; at < s->sh_size && checked < 60000;) {
				ZydisDecodedInstruction zi;
				ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
				struct maker m;
				const uint8_t *c = image + s->sh_offset + at;
				if (ZYAN_FAILED(ZydisDecoderDecodeFull(&isa->decoder[0], c, s->sh_size - at, &zi,
					op))) {
					at++;
					continue;
				}
				at += zi.length;
				maker_init(&m, 0x1000);
				m.insn[m.insns++] = (struct st_insn_def){ .addr = 0x1000, .len = zi.length };
				memcpy(m.insn[0].bytes, c, zi.length);
				struct iblock *b = maker_decode(&m, isa, 8);
				const struct row *r = &isa->rows[b->insn[0].row];
				without += !(r->flags & ROW_FORM) && !(b->insn[0].flags & INSN_SUBSTITUTE);
				bool indexed = false;
				for (unsigned o = 0; o < zi.operand_count; o++)
					indexed |= op[o].type == ZYDIS_OPERAND_TYPE_MEMORY &&
						op[o].mem.index != ZYDIS_REGISTER_NONE;
				/* idioms, copies */
				bool gone = b->uop[0].kind == UOP_ELIMINATED || b->uop[0].kind == UOP_NOP;
				if ((r->flags & ROW_FORM) && !indexed && !gone) {
					checked++;
					if (b->insn[0].uops != r->unfused || b->insn[0].issue_slots != r->fused)
						fail_msg("%s: %s states %u/%u, decoded %u/%u", uarch[k], r->name,
							r->fused, r->unfused,
						         b->insn[0].issue_slots, b->insn[0].uops);
				}
				isa_block_free(b);
			}
		}
		print_message("  %s: %u instructions agree, %u without a row of their own\n", uarch[k], checked,
			without);
		assert_true(checked > 1000);
		assert_int_equal(without, 0);
		isa_destroy(isa);
	}
	munmap((void *)image, (size_t)st.st_size);
}

/* The core copies a REP instruction with a round of up to four memory uops and two that count (rep_strings.c). */
static void test_the_core_has_room_for_every_rep_instruction_and_its_round(void **state)
{
	(void)state;
	for (unsigned k = 0; k < uarchs; k++) {
		struct isa *isa = open_isa(uarch[k]);
		unsigned most = 0;
		for (unsigned i = 0; i < isa->n_rows; i++)
			if (isa_classes[isa->rows[i].cls].is & SPMU_IS(STRING_REP) && isa->rows[i].count > most)
				most = isa->rows[i].count;
		if (most + 6 > REP_UOPS)
			fail_msg("%s: a REP instruction of %u uops, and room for %u", uarch[k], most, REP_UOPS);
		isa_destroy(isa);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_core_has_room_for_every_rep_instruction_and_its_round),
		cmocka_unit_test(test_every_form_names_an_instruction),
		cmocka_unit_test(test_every_form_keeps_to_its_cores_ports_and_limits),
		cmocka_unit_test(test_every_form_states_uops_that_its_row_has),
		cmocka_unit_test(test_every_form_says_where_it_comes_from),
		cmocka_unit_test(test_known_instructions_are_served_by_the_rows_of_their_forms),
		cmocka_unit_test(test_a_row_of_a_form_goes_before_its_class_and_reads_operands_by_number),
		cmocka_unit_test(test_compiled_code_has_the_uops_that_its_forms_state),
	};
	return cmocka_run_group_tests(tests, find_tables, NULL);
}
