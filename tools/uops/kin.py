# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate.py (older cores): what a form that was not measured is taken to need, from forms that were.
#
# One figure (latency or throughput) at a time; the first of these rules that finds one, the same for every form and core:
#   form   the same instruction on other operands of the same kinds, times the ratio that other instructions of its class show
#          between the two sets of operands (the median): ROL r64,1 is ROL r32,1 times ROR r64,1 / ROR r32,1
#   kind   the median of the instructions of its class with the same operands and, for vectors, elements (PS, SS, B, W, D, Q, ...):
#          SUBPS xmm,xmm as ADDPS xmm,xmm; general registers: of the same opcode if there is one
#   scale  vectors: the same instruction on other elements, times the ratio as above (DIVPS is DIVSS times SQRTPS / SQRTSS)
#   plain  the same instruction on other operands of the same kinds, or without its immediate
#   class  the median of the class with the same operands, then with operands of the same kinds
# For vectors `kind` and `scale` go before `form`: elements decide there, as operands do for general registers.
import re
import statistics

ELEMENTS = re.compile(r'^(.+?)(PS|PD|SS|SD|DQ|B|W|D|Q)$')


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
    """Between two lists of operands: the operand-size prefix, the other widths."""
    a, b = bits(a)[0], bits(b)[0]
    return ((a == 16) != (b == 16), abs(a - b))


def opcode(code):
    """The opcode's bytes of an instruction in hexadecimal; x87: the first."""
    b, at = bytes.fromhex(code.lstrip('-')), 0
    while b[at] in (0x66, 0x67, 0xf2, 0xf3, 0xf0) or (0x40 <= b[at] <= 0x4f and code[0] != '-'):
        at += 1
    return b[at:at + ((3 if b[at + 1] in (0x38, 0x3a) else 2) if b[at] == 0x0f else 1)]


def middle(found):
    """Of (figure, form) pairs the lower median."""
    return sorted(found)[(len(found) - 1) // 2] if found else None


class Kin:
    def __init__(self, measured, forms, kind_of):
        """measured: {form: one figure}"""
        self.measured, self.forms, self.kind_of = measured, forms, kind_of
        self.at = {split(n): n for n in sorted(measured)}
        self.by_class, self.by_kind = {}, {}
        for n in sorted(measured):
            self.by_class.setdefault(self.family(n), []).append(n)
            self.by_kind.setdefault(kind_of(forms[n].cls), []).append(n)

    def family(self, form):
        """Classes that one unit does alike are one."""
        cls = self.forms[form].cls
        return 'div' if cls == 'idiv' else 'lea' if cls.startswith('lea') else cls

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

    def form(self, form, scaled=True):
        stem, elements, ops = split(form)
        found = []
        for (s, e, o), n in self.at.items():
            if (s, e) == (stem, elements) and o != ops and shape(o) == shape(ops):
                r = self.ratio([self.peers(form)], lambda a, o=o: (a[0], a[1], o) if a[2] == ops else None) if scaled else 1
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
        if self.family(form) == 'div':  # its width is its work
            return None
        bare = re.sub(r',i\d+$', '', ops)
        near = [n for (s, e, o), n in self.at.items() if (s, e) == (stem, elements) and re.sub(r',i\d+$', '', o) == bare and 'i16' not in o + ops]
        return (middle(self.of(near)) if not re.search(r'\bm\d', ops) else None) or self.form(form, False)

    def cls(self, form):
        ops = split(form)[2]
        return middle(self.of(n for n in self.peers(form) if split(n)[2] == ops) or
                      self.of(n for n in self.peers(form) if shape(split(n)[2]) == shape(ops) and self.family(form) != 'div'))

    def figure(self, form, near):
        """(the figure, the form that it comes from, the rule), or None.  near: the first rules only, or what comes behind them"""
        first = 2 if 'mm' in form else 2
        rules = ('kind', 'scale', 'form', 'plain', 'cls') if 'mm' in form else ('form', 'kind', 'plain', 'cls')
        for rule in rules[:first] if near else rules[first:]:
            found = getattr(self, rule)(form)
            if found:
                return found + (rule,)
        return None
