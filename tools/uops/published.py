# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py (older cores): latency and clocks per instruction as the vendor published them,
# for forms without a measurement.  Measurements take precedence.  Patterns match a whole form; 0: not given.
#
# GUESS, all of them: written from memory of these manuals without a copy; reading the tables named here settles each.
#
# P6   Intel Architecture Optimization Reference Manual (245127), "Pentium II and Pentium III processors instruction
#      latency"; x87 at full precision.  Core 2's x87 divider is P6's: GUESS, a loop of FSQRT would settle it.
#      DIV and IDIV of P6 and Core 2: the longest time that the manuals (245127; 248966, Appendix C, family 06_0FH) give
#      for the width; not for 64 bits, where Core 2's measured 119 and 129 clocks are twice what is remembered.
# P4   IA-32 Intel Architecture Optimization Reference Manual (248966), Appendix C "IA-32 Instruction Latency and
#      Throughput": CPUID 0F2H and earlier (Willamette), 0F3H (Prescott).  DIV and IDIV: Agner Fog, "Instruction
#      tables", P4 and P4E.
# P5   Pentium Processor Family Developer's Manual, volume 3, clocks of each instruction; AP-500.
import re

P5 = [('MOV[SZ]X r.*,r.*', 3, 3), ('BSWAP r32', 1, 1), ('BT r.*', 4, 4), ('BT[CRS] r.*', 7, 7), ('CBW|CWDE', 3, 3),
      ('CWD|CDQ', 2, 2),
      ('CLC|STC|CMC|CLD|STD|LAHF|SAHF', 2, 2), ('I?MUL r(8|16)', 11, 11), ('I?MUL r32', 10, 10),
      ('IMUL r.*,.*', 10, 10),
      ('DIV r8', 17, 17), ('DIV r16', 25, 25), ('DIV r32', 41, 41), ('IDIV r8', 22, 22), ('IDIV r16', 30, 30),
      ('IDIV r32', 46, 46),
      ('(NEG|NOT) r.*', 1, 1), ('SH[LR]D r.*', 4, 4), ('RO[LR] r.*,cl|S[AH][LR] r.*,cl', 4, 4), ('SET.* r8', 1, 1),
      ('XADD r.*,r.*', 3, 3), ('XCHG r.*,r.*', 3, 3),
      ('CMPXCHG r.*,r.*', 5, 5), ('PUSHAD?|POPAD?', 0, 5), ('FABS|FCHS', 1, 1), ('F(ADD|SUB)R? st.*', 3, 1),
      ('FMUL st.*', 3, 2), ('FDIVR? st.*', 39, 39),
      ('FSQRT', 70, 70), ('FU?COMP? .*|FTST', 0, 1), ('FXAM', 0, 21)]
P6_DIV = [('I?DIV r8', 19, 19), ('I?DIV r16', 23, 23), ('I?DIV r32', 39, 39)]
CORE2_DIV = [('I?DIV r8', 18, 18), ('I?DIV r16', 26, 26), ('I?DIV r32', 42, 42)]
P6_X87 = [('FDIVR? st.*', 38, 37), ('FSQRT', 69, 68), ('FMUL st.*', 5, 2), ('F(ADD|SUB)R? st.*', 3, 1)]
P6 = P6_X87 + P6_DIV + [('DIVSS xmm,xmm', 18, 18), ('DIVPS xmm,xmm', 36, 36), ('SQRTSS xmm,xmm', 30, 30),
                        ('SQRTPS xmm,xmm', 58, 58), ('MULPS xmm,xmm', 5, 2),
               ('(ADD|SUB|MIN|MAX)PS xmm,xmm|CMPPS xmm,xmm,i8', 4, 2), ('SHUFPS xmm,xmm,i8', 2, 2),
               ('UNPCK[HL]PS xmm,xmm', 3, 2), ('(RCP|RSQRT)PS xmm,xmm', 2, 2),
               ('PSADBW mm,mm', 5, 2), ('MOV[AU]PS xmm,xmm', 1, 1)]


def netburst(at):
    """at: 0 Willamette, 1 Prescott"""
    both = [('DIVSS xmm,xmm|SQRTSS xmm,xmm', (23, 23), (32, 32)), ('DIVPS xmm,xmm|SQRTPS xmm,xmm', (39, 39), (40, 40)),
            ('DIVSD xmm,xmm|SQRTSD xmm,xmm', (38, 38), (39, 39)), ('DIVPD xmm,xmm|SQRTPD xmm,xmm', (69, 69), (70, 70)),
            ('MUL[SP][SD] xmm,xmm', (6, 2), (7, 2)),
            ('(ADD|SUB|MIN|MAX)[SP][SD] xmm,xmm|CMP[SP][SD] xmm,xmm,i8', (4, 2), (5, 2)),
            ('SHUFP[SD] xmm,xmm,i8|UNPCKHP[SD] xmm,xmm|MOVHLPS xmm,xmm', (6, 2), (6, 2)),
            ('UNPCKLP[SD] xmm,xmm|MOVLHPS xmm,xmm', (4, 2), (4, 2)),
            ('(RCP|RSQRT)PS xmm,xmm', (6, 4), (6, 4)), ('(RCP|RSQRT)SS xmm,xmm', (6, 2), (6, 2)),
            ('MOVMSKP[SD] r32,xmm', (0, 2), (0, 2)),
            ('U?COMIS[SD] xmm,xmm', (0, 2), (0, 2)), ('PSADBW xmm,xmm', (4, 2), (4, 2)),
            ('PSADBW mm,mm', (4, 1), (4, 1)), ('PSHUFW mm,mm,i8', (2, 1), (2, 1)),
            ('PMOVMSKB r32,x?mm|PEXTRW r32,x?mm,i8', (0, 2), (0, 2)), ('PINSRW xmm,r32,i8', (0, 2), (0, 2)),
            ('PINSRW mm,r32,i8', (0, 1), (0, 1)),
            ('PS[LR]LDQ xmm,i8', (4, 2), (4, 2)), ('MOVD xmm,r32', (0, 2), (0, 2)),
            ('MOVD (r32,xmm|r32,mm|mm,r32)', (0, 1), (0, 1)), ('MOVS[SD] xmm,xmm', (4, 2), (4, 2)),
            ('CVT(DQ2PS|T?PS2DQ|T?PD2DQ|PD2PS) xmm,xmm', (0, 2), (0, 2)), ('I?DIV r8', (61, 61), (74, 74)),
            ('I?DIV r16', (53, 53), (79, 79)), ('I?DIV r32', (56, 56), (79, 79)),
            ('F(ADD|SUB)R? st.*', (5, 1), (6, 1)), ('FMUL st.*', (7, 2), (8, 2)),
            ('FDIVR? st.*|FSQRT', (43, 43), (44, 44)), ('FABS|FCHS', (2, 1), (3, 1)),
            ('FU?COMP? .*', (0, 1), (0, 1)), ('EMMS', (0, 12), (0, 12))]
    return [(p,) + (w, r)[at] for p, w, r in both]


TABLES = {'pentium': ('P5', P5), 'pentium3': ('P6', P6), 'core2': ('P6', P6_X87 + CORE2_DIV),
          'willamette': ('P4', netburst(0)), 'prescott': ('P4', netburst(1))}


def figures(uarch):
    """(the source's name, a function of a form to (latency or None, throughput or None))"""
    name, table = TABLES[uarch]
    rules = [(re.compile(p), L or None, T or None) for p, L, T in table]

    def of(form):
        for pattern, L, T in rules:
            if pattern.fullmatch(form):
                return L, T
        return None, None
    return name, of
