# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py (older cores): the figures that an unmeasured form gets, from forms that were
# measured.
#
# One figure (latency or throughput) at a time, by the first of these rules that finds one.  They are the same for every
# form and core:
#   form   the same instruction on other operands of the same kinds, times the median ratio that other instructions
#          of its class show between the two sets of operands: ROL r64,1 is ROL r32,1 times ROR r64,1 / ROR r32,1
#   kind   the median of the instructions of its class with the same operands and, for vectors, elements (PS, SS, B,
#          W, D, Q, ...): SUBPS xmm,xmm as ADDPS xmm,xmm; for general registers: of the same opcode if there is one
#   scale  vectors: the same instruction on other elements, times the ratio as above (DIVPS is DIVSS times SQRTPS /
#          SQRTSS)
#   plain  the same instruction on other operands of the same kinds, or without its immediate
#   class  the median of the class with the same operands, then with operands of the same kinds
# For vectors, `kind` and `scale` precede `form`, because there the elements decide, as operands do for general
# registers. Two more rules precede all of these, for vectors in the other order:
#   twin   an instruction that differs only in a detail and has the same steps (TWINS: left or right, low or high,
#          rounded or truncated), on the same operands, and slower by as many cycles as the two differ on other
#          operands or elements (below 0.75, and for divisions: in proportion): PUNPCKHDQ is PUNPCKLDQ plus PUNPCKHWD
#          minus PUNPCKLWD
#   cousin the same form on another core with known figures (older.py says which), if three of four forms that both
#   cores
#          have agree within 15 %: forms of the same mnemonic with such operands, else of the class with the same
#          operands, else of the class with such operands; for an instruction whose class has no forms all of its kind.
#          Not for divisions.
import re
import statistics

ELEMENTS = re.compile(r'^(.+?)(PS|PD|SS|SD|QDQ|DQ|BW|WD|B|W|D|Q)$')
TWINS = [re.compile(p) for p in (
    r'^P?UNPCK([HL])\w+$', r'^PS([LR])LDQ$', r'^PS([LR]L|RA)[WDQ]$', r'^PACK([SU])S\w+$', r'^P(MAX|MIN)(?:SW|UB)$',
    r'^PCMP(EQ|GT)[BWD]$', r'^PAVG([BW])$',
    r'^P(ADD|SUB)(?:US|S)?[BWDQ]$', r'^P(MULH|MULHU|MULL|MADD)(?:W|WD)$', r'^P(ANDN|AND|OR|XOR)$', r'^PSHUF([HL])W$',
    r'^PH(ADD|SUB)(?:W|D|SW)$',
    r'^(ADD|SUB|MAX|MIN)[PS][SD]$', r'^H(ADD|SUB)P[SD]$', r'^(ANDN|AND|OR|XOR)P[SD]$', r'^(?:DIV|SQRT)([PS])[SD]$',
    r'^(RCP|RSQRT)[PS]S$', r'^(U?)COMIS[SD]$',
    r'^CVT(T?)[PS][SD]2\w+$', r'^MOV(APS|APD|DQA)$', r'^MOV(UPS|UPD|DQU)$', r'^MOV(SS|SD)$', r'^MOV([HL])P[SD]$',
    r'^MOV(HL|LH)PS$', r'^MOVS([LH])DUP$', r'^MOV(DQ2Q|Q2DQ)$',
    r'^S(HL|HR|AR)$', r'^RO([LR])$', r'^RC([LR])$', r'^SH([LR])D$', r'^BT([CRS])$', r'^BS([FR])$', r'^(NEG|NOT)$',
    r'^(INC|DEC)$', r'^(ADD|SUB|AND|OR|XOR)$',
    r'^(ADC|SBB)$', r'^(CMP|TEST)$', r'^(I?)MUL$', r'^(I?)DIV$', r'^(CLC|STC|CMC)$', r'^(LAHF|SAHF)$',
    r'^(AAA|AAS)$', r'^DA([AS])$', r'^PUSHA(D?)$', r'^POPA(D?)$',
    r'^(?:LODS|STOS|SCAS|CMPS|MOVS)([BWDQ])$', r'^F(ADD|SUB|SUBR)$', r'^FDIV(R?)$', r'^F(INC|DEC)STP$',
    r'^F(U?)COM\w*$')]


def split(form):
    """(stem, elements, operands)"""
    mnemonic, _, ops = form.partition(' ')
    if mnemonic == 'LEA':  # the kind of address decides
        to, _, address = ops.partition(',')
        return 'LEA ' + address, '', to
    if 'mm' in ops:
        m = re.match(r'^(MOV|LDD)(U|DQU)(PS|PD)?$', mnemonic)
        if m:
            return 'MOVU', m.group(3) or 'DQ', ops
        m = re.match(r'^MOVA(PS|PD)$|^MOV(DQ)A$', mnemonic)
        if m:
            return 'MOVA', m.group(1) or 'DQ', ops
        m = ELEMENTS.match(mnemonic)
        if m:
            return m.group(1), m.group(2), ops
    return mnemonic, '', ops


def shape(ops):
    return re.sub(r'(?<=[rmi])(8|16|32|64)\b', '', ops)


def bits(ops):
    return [int(w) for w in re.findall(r'(?<=[rm])(\d+)', ops)] or [0]


def distance(a, b):
    """How far two lists of operands differ: in the operand-size prefix, in the other widths."""
    a, b = bits(a)[0], bits(b)[0]
    return ((a == 16) != (b == 16), abs(a - b))


def opcode(code):
    """The opcode's bytes of an instruction in hexadecimal; x87: the first."""
    b, at = bytes.fromhex(code.lstrip('-')), 0
    while b[at] in (0x66, 0x67, 0xf2, 0xf3, 0xf0) or (0x40 <= b[at] <= 0x4f and code[0] != '-'):
        at += 1
    return b[at:at + ((3 if b[at + 1] in (0x38, 0x3a) else 2) if b[at] == 0x0f else 1)]


def middle(found):
    """The lower median of (figure, form) pairs."""
    return sorted(found)[(len(found) - 1) // 2] if found else None


def twins(mnemonic):
    """List of (what is common, what differs)."""
    return [((i, mnemonic[:m.start(1)] + '?' + mnemonic[m.end(1):]), m.group(1))
            for i, m in ((i, p.match(mnemonic)) for i, p in enumerate(TWINS)) if m]


class Kin:
    def __init__(self, measured, forms, kind_of, cousins=()):
        """measured: {form: one figure}; cousins: [(name, {form: one figure})] of other cores, the nearest first"""
        self.measured, self.forms, self.kind_of, self.cousins = measured, forms, kind_of, cousins
        self.groups = {}
        for n in sorted(measured):
            mnemonic, _, ops = n.partition(' ')
            for common, own in twins(mnemonic):
                self.groups.setdefault(common, {}).setdefault(ops, {})[own] = n
        self.at = {split(n): n for n in sorted(measured)}
        self.by_class, self.by_kind = {}, {}
        for n in sorted(measured):
            self.by_class.setdefault(self.family(n), []).append(n)
            self.by_kind.setdefault(kind_of(forms[n].cls), []).append(n)

    def family(self, form):
        """Classes that the same unit executes alike are one family."""
        cls = self.forms[form].cls
        return 'div' if cls == 'idiv' else 'lea' if cls.startswith('lea') else cls

    def divides(self, form):
        """True for divisions: their time grows with their digits, so other instructions' figures do not predict it."""
        return re.search(r'div|sqrt', self.forms[form].cls)

    def peers(self, form):
        return self.by_class.get(self.family(form), [])

    def of(self, forms):
        return [(self.measured[n], n) for n in forms]

    def ratio(self, pools, counterpart):
        for pool in pools:
            found = []
            for n in pool:
                other = counterpart(split(n))
                if other in self.at:
                    found.append((self.measured[n] / self.measured[self.at[other]], n))
            if found:
                r = middle(found)[0]
                return 1 if 0.85 <= r <= 1.15 else r  # the same, measured twice
        return None

    def cousin(self, form):
        mnemonic, _, ops = form.partition(' ')
        for name, there in self.cousins:
            if form not in there or self.divides(form):
                continue
            peers = [n for n in self.peers(form) if n in there]
            same = [n for n in peers if n.partition(' ')[2] == ops]
            like = [n for n in peers if shape(n.partition(' ')[2]) == shape(ops)
                    and (bits(n)[0] == 16) == (bits(form)[0] == 16)]
            kind = [n for n in self.by_kind.get(self.kind_of(self.forms[form].cls), []) if n in there]
            for pool in ([n for n in like if n.partition(' ')[0] == mnemonic], same, like, [] if peers else kind):
                if pool:
                    if sum(abs(self.measured[n] / there[n] - 1) <= 0.15 for n in pool) * 4 >= 3 * len(pool):
                        return there[form], name
                    break
        return None

    def twin(self, form):
        mnemonic, _, ops = form.partition(' ')
        divides = 'mm' in ops and self.divides(form)
        found = []
        for common, own in twins(mnemonic):
            stem = split(common[1] + ' ' + ops)[0]
            for other, n in sorted(self.groups.get(common, {}).get(ops, {}).items()):
                near = {}  # by distance of the operands: (difference, ratio) of the two
                for c, by_ops in sorted(self.groups.items()):
                    for o, members in sorted(by_ops.items()):
                        if c[0] == common[0] and own in members and other in members:
                            a, b = (self.measured[members[x]] for x in (own, other))
                            here = split(c[1] + ' ' + o)[0] == stem
                            rank = (0 if here and o == ops else 1 if here and o.split(',')[0] == ops.split(',')[0]
                                    else 2 if here and shape(o) == shape(ops) else 3)
                            if rank < 3 or o == ops:
                                near.setdefault(rank, []).append((a - b, a / b))
                if other == own or divides and not near:
                    continue
                more, times = middle(near[min(near)]) if near else (0, 1)
                it = self.measured[n]
                it = (it * times if divides or abs(more) < 0.75 and not 0.85 <= times <= 1.15 else it + more
                      if abs(more) >= max(0.75, 0.15 * it) else it)
                if it > 0:
                    found.append((min(near, default=4), it, n))
        return middle([f[1:] for f in found if f[0] == min(found)[0]])

    def form(self, form, scaled=True):
        stem, elements, ops = split(form)
        found = []
        for (s, e, o), n in self.at.items():
            if (s, e) == (stem, elements) and o != ops and shape(o) == shape(ops):
                r = self.ratio([self.peers(form)],
                               lambda a, o=o: (a[0], a[1], o) if a[2] == ops else None) if scaled else 1
                if r:
                    found.append((distance(o, ops), o, self.measured[n] * r, n))
        return min(found)[2:] if found else None

    def kind(self, form):
        stem, elements, ops = split(form)
        near = [n for n in self.peers(form) if split(n)[1:] == (elements, ops)]
        code = [n for n in near if not elements and opcode(self.forms[n].code) == opcode(self.forms[form].code)]
        return middle(self.of(code or near))

    def scale(self, form):
        stem, elements, ops = split(form)
        cls = self.forms[form].cls
        pools = [self.peers(form), self.by_kind.get(self.kind_of(cls), [])]
        if re.match(r'fp_(?!logic|div|sqrt)', cls):  # what is pipelined
            pools.append([n for n in sorted(self.measured) if re.match(r'fp_(?!logic|div|sqrt)', self.forms[n].cls)])
        found = []
        for (s, e, o), n in self.at.items():
            if s == stem and o == ops and e != elements:
                r = self.ratio(pools, lambda a, e=e: (a[0], e, a[2]) if a[1:] == (elements, ops) else None)
                found.append((r is None, sum(x != y for x, y in zip(e, elements)), e, self.measured[n] * (r or 1), n))
        return min(found)[3:] if found else None

    def plain(self, form):
        stem, elements, ops = split(form)
        if self.family(form) == 'div':  # its time depends on its width
            return None
        bare = lambda o: re.sub(r',i\d+$' if stem.startswith('RC') else r',(i\d+|1)$', '', o)
        near = [n for (s, e, o), n in self.at.items() if (s, e) == (stem, elements) and bare(o) == bare(ops)
                and 'i16' not in o + ops]
        return (middle(self.of(near)) if not re.search(r'\bm\d', ops) else None) or self.form(form, False)

    def cls(self, form):
        ops = split(form)[2]
        return middle(self.of(n for n in self.peers(form) if split(n)[2] == ops) or
                      self.of(n for n in self.peers(form) if shape(split(n)[2]) == shape(ops)
                              and self.family(form) != 'div'))

    def figure(self, form, near):
        """(figure, the form or core that it comes from, the rule), or None.  near: only the first two rules, else
        only the others."""
        if near:
            rules = ('cousin', 'twin') if 'mm' in form else ('twin', 'cousin')
        else:
            rules = ('kind', 'scale', 'form', 'plain', 'cls') if 'mm' in form else ('form', 'kind', 'plain', 'cls')
        for rule in rules:
            found = getattr(self, rule)(form)
            if found:
                return found + (rule,)
        return None
