# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py: the cores that LLVM has no model of (Core 2, Pentium III, Pentium 4, Pentium).
# Makes their whole tables.
#
# Class rows: each takes the data flow of Skylake's row of that class, on the ports of this machine.  LAYOUT says for
# each kind of unit which ports these are, and its source.  Latency and throughput are then those of most of the
# measured forms that use the row; a class without a measured form keeps Skylake's cycles and says GUESS.  OVERRIDE
# has rows that a manual describes otherwise.
#
# Form rows: there is one for every measured form (every fifth line of the file is held out), and one for every form
# newer than the core, which has its class' row as a substitute.  The rule is the same for all forms:
#   latency     the measured one, if it is a chain of the form itself (within 0.35 of a whole number; half cycles for
#               double-speed ALUs)
#   throughput  what the row's uops could at best do on their ports is compared with the measured clocks.  The first of
#               these variants within 5 % is used, else the nearest one: the row as it is; without its side uops; its
#               main uop on another port set of the same kind of unit; up to five more uops beside it on the same ports;
#               a unit that is blocked for that many cycles.  A form that depends on itself through flags or hidden
#               registers is as slow as its chain and is only ever made faster.  RCL and CMPXCHG whose chain is shorter
#               than their result end with a uop for the result alone.  A hand-written row (KEPT) that is measured
#               slower blocks a unit for that long.  For Core 2 and P6, figures of two registers (r1, r2) are not used
#               if the file has the form with one: registers that are never written are limited by the ports that read
#               the retired file.
# A vector form of which only the latency was measured has its throughput as an unmeasured form, by the rules of kin.py.
# Unmeasured forms have the figures of measured ones by the first two rules of kin.py; else what the vendor published
# (published.py; for divisions that comes first); else by the other rules of kin.py; else their class' row; then as
# above. A form that is only a load or a store uses just the first two rules and what is published.  A hand-written
# row blocks a unit as long as similar forms do.  The order was chosen by leaving out in turn every eighth of the
# lines that are not held out (FOLDS=8 tools/uops/generate_uops.sh).
import re

import kin
import published
import rows
from rows import Uop

SUITE_P5 = 'I86 I386 I486REAL I486 I186 I286REAL I286PROTECTED PENTIUMREAL X87 LAHF'.split()
SUITE_P3 = (SUITE_P5 +
            'PENTIUMMMX PPRO CMOV FCMOV SSE SSEMXCSR SSE_PREFETCH FXSAVE FAT_NOP RDPMC PREFETCH_NOP LAHF'.split())
SUITE_P4 = SUITE_P3 + 'SSE2 SSE2MMX CLFSH PAUSE'.split()
SUITE_PRESCOTT = SUITE_P4 + 'SSE3 SSE3X87 MONITOR LONGMODE FXSAVE64 CMPXCHG16B LAHF'.split()
SUITE_CORE2 = SUITE_PRESCOTT + 'SSSE3 SSSE3MMX VTX SMX'.split()

# halves: 128 bits are done as twice 64 (Hinton et al.): two clocks per instruction if nothing else is known.
# store: clocks in which a store is written (store.commit_cycles of the core's file).
# bus: clocks of a write that misses an L1D that does not allocate then (l1d.write_around); a form measured at this many
# clocks for each of its stores says nothing about the core.
# Port sets by kind of unit: alu (any integer ALU), fast (double speed), shift, lea, imul, branch, move (general
# fallback for one uop), valu (integer SIMD), vshift, vmul, shuffle, vlogic, fadd, fmul, fdiv, fmove (SIMD and x87
# copies), x87.
NETBURST = dict(alu='0145', other='1', shift='1', lea='0145', imul='1', branch='04', logic='04', valu='1',
                vshift='1', vmul='1', shuffle='1', vlogic='1',
                fadd='1', fmul='1', fdiv='1', fmove='0', x87='1', load='2', sta='3', std='0')
LAYOUT = {
    'core2': dict(
        title='Core 2 (65 nm)', instlat='00006F6_Conroe_InstLatX64.txt', sets=SUITE_CORE2, width=4, ports='012345',
        source='OM "Intel Core Microarchitecture", "Issue Ports and Execution Units"', unlaminate='none', fuse='yes',
        macro='cmp-test-32', idioms='narrow',
        unit=dict(alu='015', other='015', shift='05', lea='0', imul='1', branch='5', logic='015', valu='05',
                  vshift='05', vmul='1', shuffle='5', vlogic='015',
                  fadd='1', fmul='0', fdiv='0', fmove='015', x87='0', load='2', sta='3', std='4')),
    'pentium3': dict(
        title='Pentium III', instlat='0000683_P3_Coppermine_InstLatX86.txt', sets=SUITE_P3, width=3, ports='01234',
        source='Intel Architecture Optimization Reference Manual (245127), "Execution Units" of the P6 family',
        unlaminate='none', fuse='no', macro='none', idioms='none',
        unit=dict(alu='01', other='01', shift='0', lea='0', imul='0', branch='1', logic='01', valu='01', vshift='1',
                  vmul='0', shuffle='1', vlogic='01',
                  fadd='1', fmul='0', fdiv='0', fmove='01', x87='0', load='2', sta='3', std='4')),
    'willamette': dict(
        title='Pentium 4 (180 nm)', instlat='0000F13_P4_Willamette_InstLatX86.txt', sets=SUITE_P4, width=3,
        ports='012345', fast=True, halves=True, store=1.75,
        source='Hinton et al., "The Microarchitecture of the Pentium 4 Processor", Intel Technology Journal Q1 2001,\n'
        'dispatch ports; 0, 1: first half of a cycle of its ports 0 and 1; 4, 5: the second half', unlaminate='none',
        fuse='no',
        macro='none', idioms='integer', unit=NETBURST),
    'prescott': dict(
        title='Pentium 4 (90 nm)', instlat='0000F43_P4_Prescott_InstLatX64.txt', sets=SUITE_PRESCOTT, width=3,
        ports='012345', fast=True, halves=True, store=1.67,
        source='as Willamette (Hinton et al., Intel Technology Journal Q1 2001), with the shifter and multiplier\n'
        'of the 90 nm part',
        unlaminate='none', fuse='no', macro='none', idioms='integer', unit=NETBURST),
    'pentium': dict(
        title='Pentium (P54C)', instlat='0000525_P54C_InstLatX86.txt', sets=SUITE_P5, width=2, ports='012',
        inorder=True, bus=7.67,
        source='AP-500, "Optimizations for Intel\'s 32-Bit Processors", pairing rules: 01 UV, 0 PU, 1 PV,\n'
        '2 floating point, 12 FXCH; unit=other: not pairable', unlaminate='none', fuse='yes', macro='none',
        idioms='none',
        unit=dict(alu='01', other='01', shift='0', lea='01', imul='0', branch='1', logic='01', valu='0', vshift='0',
                  vmul='0', shuffle='0', vlogic='0',
                  fadd='2', fmul='2', fdiv='2', fmove='2', x87='2', load='01', sta='01', std='01')),
}

# Related cores, the nearest first: their measurements are used where there is none of the core (kin.py).  Each is
# (name, file, which).  which 'apart': a core that has a table, whose own every fifth line stays held out; 'same':
# the other file of the same machine, without the forms that are held out of its own; 'narrow': without operations on
# 128 bits, which Yonah does as two halves and Core 2 at once; 'all': everything.
COUSINS = {
    'pentium': [('P55C', '0000543_P55C_InstLatX86.txt', 'all')],
    'pentium3': [('Yonah', '00006E8_PM_Yonah_InstLatX86.txt', 'all')],
    'core2': [('Yonah', '00006E8_PM_Yonah_InstLatX86.txt', 'narrow')],
    'willamette': [('Prescott', '0000F43_P4_Prescott_InstLatX64.txt', 'apart')],
    'prescott': [('Prescott in 32 bits', '0000F43_P4_Prescott_InstLatX86.txt', 'same'),
                 ('Willamette', '0000F13_P4_Willamette_InstLatX86.txt', 'apart')],
}

KINDS = [
    ('branch', r'^(jmp|jcc|jecxz|loop|call|ret)'),
    ('shift', r'^(shift|rotate|shld)'), ('lea', r'^lea'), ('imul', r'^(imul|mul|div|idiv|popcnt|crc32|pdep)'),
    ('other', r'^(bt|bit_|bswap|cmov|setcc|lahf|sahf|cwd|bcd|flag_op|clc|cmc|cld|xlat|adc)'),
    ('alu',
     r'^(mov$|mov\.|mov_imm|movzx|movsx|alu|add_imm|cbw|xchg|xadd|cmpxchg|push|pop|leave|movs|stos|lods|scas|cmps|'
     r'nop|andn|bls|bextr|bzhi)'),
    ('fmove', r'^(vmov|vec_copy|fld$|fld\.|fst|fxch|fnop|mov_half|movnt|fld_zero|fld_const)'),
    ('fdiv', r'^(fdiv|fsqrt|fp_div|fp_sqrt|fidiv)'), ('fmul', r'^(fmul|fimul|fp_mul|fp_rcp|fp_fma|fp_dp)'),
    ('fadd', r'^(fadd|fiadd|fp_add|fp_minmax|fp_cmp|fp_comis|fp_hadd|fp_round|cvt)'),
    ('x87', r'^f[a-z0-9_]*$|^emms'),
    ('vlogic', r'^(vec_logic|fp_logic|blend$)'), ('vshift', r'^vec_shift'),
    ('vmul', r'^(vec_mul|vec_sad|vec_mpsad|vnni|aes|pclmul|vec_minpos)'),
    ('shuffle',
     r'^(shuffle|pack|pmovx|fp_shuffle|fp_unpack|movdup|mov_scalar|pinsr|pextr|broadcast|insert|extract|blend)'),
    ('valu', r'^(vec_|mov_gpr_vec|mov_vec_gpr|mov_mmx_vec|movmsk|maskmov)'),
]


def kind_of(row):
    for kind, pattern in KINDS:
        if re.match(pattern, row):
            if kind == 'x87' and row.startswith('fp_'):
                continue
            return kind
    return 'other'


# AP-500: what pairs.  Everything else does not.
P5_PAIRS = re.compile(r'^(mov|mov\.8|mov_imm|alu|add_imm|lea|lea_scaled|lea_slow|lea_slow_scaled|lea_rip|push|pop|'
                      r'nop|adc|shift|rotate_1|rotate_carry_1|'
                      r'jmp|jcc|call|load|load_index|store_address|store_address_index|store_data|mov\.m|mov\.s|'
                      r'mov\.8\.m)(\.|$)')
OVERRIDE = {
    'core2': {},
    'pentium3': {}, 'willamette': {}, 'prescott': {},
    'pentium': {
        'fxch': ('p12/1', '-',
                 'AP-500: FXCH pairs in V behind a floating-point instruction, else it takes a cycle alone'),
        'pusha': ('p0/1:side:busy=5:unit=other', 'ms', 'half of IL PUSHAD + POPAD 10; alone it waits for the bus'),
        'popa': ('p0/1:side:busy=5:unit=other', 'ms',
                 'half of IL PUSHAD + POPAD 10; alone it reads a new line each time'),
        'pushf': ('p0/2:busy=2:unit=other', '-',
                  'and the store: IL PUSHFD + POPFD 7, POPFD 4; alone it waits for the bus'),
        'popf': ('p0/3:busy=3:unit=other', '-', 'and the load: IL POPFD 4')},
}
for name in ('willamette', 'prescott'):
    OVERRIDE[name]['fxch'] = ('p0/1', '-', 'one uop: IL')
OVERRIDE['pentium3']['fxch'] = ('elim+elim', '-', 'register renaming does it (OM)')
ALONE = ('one uop; it does not wait for the flags that a count of 0 leaves alone: who reads them stalls (OM '
         '"Partial Flag Register Stalls")')
for name in OVERRIDE:
    kind = LAYOUT[name]['unit']['shift']
    for row in ('shift_cl', 'rotate_cl', 'shld_cl'):
        OVERRIDE[name].setdefault(row,
                                  ('p%s/1' % kind if name != 'pentium' else 'p0/4:busy=4:unit=other', 'nomerge', ALONE))
    OVERRIDE[name]['pause'] = ('p%s/1' % LAYOUT[name]['unit']['branch'], '-',
                               'the core waits as pause.cycles of its file says')
    for row in ('mov.8.m', 'mov.16.m', 'movzx.16.m', 'movsx.16.m'):
        OVERRIDE[name][row] = ('-', '-', 'a load; no uop merges')
    for row in ('zero_idiom',):
        alu = LAYOUT[name]['unit']['alu']
        OVERRIDE[name][row] = ('p%s/%d' % (alu, 0 if '4' in alu else 1), '-',
                               'the chain is broken, the uop is executed: none of these cores removes it at rename')
for name in ('pentium3', 'willamette', 'prescott'):  # Pentium M was the first with a stack pointer tracker (OM)
    pointer = 'p%s/%d:side' % (LAYOUT[name]['unit']['alu'], 0 if 'fast' in LAYOUT[name] else 1)
    for row in ('push', 'pop'):
        OVERRIDE[name][row] = (pointer, '-',
                               'beside the load or the store a uop moves ESP (245127, Appendix D: PUSH r32 3 uops, '
                               'POP r32 2); that ESP is waited for is left out')
for name in ('core2', 'pentium3'):
    OVERRIDE[name]['nop'] = ('p%s/1' % LAYOUT[name]['unit']['alu'], '-',
                             'XCHG eax,eax that depends on nothing: a uop of the ALUs; IL NOP')
FITTED = ('shift_cl', 'rotate_cl', 'shld_cl')  # overridden, but measured nevertheless


LINE = 6  # uops in a line of NetBurst's trace cache (Hinton et al.)


def header(u):
    return ('# SPDX-License-Identifier: GPL-2.0-or-later\n'
            '# Uops of %s: a row for each class of src/isa/classes.def, then a row for each instruction form.\n'
            '# src/isa/table.c describes the format.\n'
            '# Made by tools/uops/generate_uops.sh (rules: tools/uops/older.py); do not edit.\n'
            '# Sources: IL      InstLatx64, %s (latency "L"; clocks per instruction "T")\n'
            '#          LAYOUT  %s\n'
            '#          GUESS   no measurement at hand: cycles of Skylake\'s row; a loop of the form would settle it\n'
            % (u['title'], u['instlat'], u['source'].replace('\n', '\n#                  ')))


class Older:
    def __init__(self, g_class, uarch, top, tool, data, work):
        self.u, self.uarch, self.tool, self.data = LAYOUT[uarch], uarch, tool, data
        self.base = g_class('skylake', top, tool, data, work)
        self.base.read_hand()
        self.tsv = self.base.tsv.replace('skylake.tsv', uarch + '.tsv')
        self.order = list(self.base.class_rows)
        self.rows = {}
        self.inorder, self.fast = self.u.get('inorder'), self.u.get('fast')

    # --- a Skylake row on this machine's ports ---
    def ports(self, row, uop, main):
        unit, kind = self.u['unit'], kind_of(row)
        if row.startswith(('load', 'store_address')):
            return unit['load' if row[0] == 'l' else 'sta']
        if row.startswith('store_data'):
            return unit['std']
        if set(uop.ports) <= set('2347') and uop.ports:
            return unit['sta' if '7' in uop.ports else 'std' if uop.ports == '4' else 'load']
        if main:
            return unit[kind]
        if set(uop.ports) & set('6') or kind in ('alu', 'other', 'shift', 'imul', 'branch', 'lea'):
            return unit['alu']
        return unit['shuffle' if uop.ports == '5' and kind not in ('x87', 'fadd', 'fmul', 'fdiv', 'fmove') else kind]

    def latency(self, ports, latency):
        """The latency of a general uop of one cycle: half a cycle in the ALUs of double speed."""
        return 0 if self.fast and latency == 1 and ports in ('0145', '04') else latency

    def remap(self, row, uops):
        live = [x for x in uops if x.kind == 'p' and not x.side]
        main = max(live, key=lambda x: (x.busy, x.latency)) if live else None
        out = []
        for x in uops:
            x = x.copy()
            if x.kind == 'elim':
                x = Uop('', 1, x.attrs, 'p')
                x.ports = self.u['unit']['alu' if kind_of(row) in ('alu', 'other') else 'fmove']
            elif x.kind == 'p':
                x.ports = self.ports(row, x, main is not None and x.text() == main.text())
            if x.kind == 'p':
                x.latency = self.latency(x.ports, x.latency)
            out.append(x)
        if self.inorder:
            out = self.in_order(row, out)
        return out

    def in_order(self, row, uops):
        """One uop, which does not pair unless AP-500 says so; its time includes uops beside and before it."""
        live = [x for x in uops if x.kind == 'p']
        if not live or row.startswith(('load', 'store_')):
            return uops
        kind = kind_of(row)
        fp = self.u['unit'][kind] == '2'
        cycles = max(rows.path(live), len(live))
        first = Uop('2' if fp else self.u['unit'][kind] if P5_PAIRS.match(row) else '0',
                    min(240, cycles if not P5_PAIRS.match(row) else 1),
                    [a for x in live for a in x.attrs if a.startswith('kind=')][:1])
        if fp and cycles > 6:
            first.attrs += ['busy=%d' % min(240, cycles), 'unit=fpdiv']
        elif not fp and not P5_PAIRS.match(row):
            first.attrs += ['busy=%d' % min(240, cycles), 'unit=other']
        return [first]

    def class_table(self):
        for row in self.order:
            text, flags, _ = self.base.class_rows[row]
            words = [f for f in flags.split(',') if f not in ('-', 'elim', 'falsedep', 'rotates')]
            if row in OVERRIDE[self.uarch]:
                text, flags, source = OVERRIDE[self.uarch][row]
                self.rows[row] = (text, flags, source)
                continue
            if '|' in text:
                a, b = text.split('|')
                text = self.text(row, a) + '|' + self.text(row, b)
            else:
                text = self.text(row, text)
            self.rows[row] = (text, ','.join(words) or '-',
                              'ports LAYOUT; latency GUESS as Skylake' if text != '-' else 'a load or a store')

    def text(self, row, text):
        ptr = [(':ptr' in w) for w in text.split('+')]
        out = rows.format_uops(self.remap(row, rows.parse_uops(text)))
        if self.inorder and any(ptr) and ':ptr' not in out:
            out += ':ptr'
        if self.inorder and ':flags' in text and any(ptr):  # strings: one uop compares, one counts
            out = out.replace(':ptr', '') + ':flags+p01/1:ptr'
        return out

    def write(self, lines):
        u = self.u
        with open(self.tsv + '.new', 'w') as f:
            f.write(header(u) +
                    '@uarch\t%s\n@ports\t%s\n@unlaminate\t%s\n@microfusion\t%s\n@macrofusion\t%s\n@idioms\t%s\n\n'
                    % (self.uarch, u['ports'], u['unlaminate'], u['fuse'], u['macro'], u['idioms']))
            for row in self.order:
                f.write('\t'.join((row,) + self.rows[row]) + '\n')
            if lines:
                f.write('\n# form, uops, flags, issue slots/uops, clocks per instruction, source\n')
                for line in lines:
                    f.write('\t'.join(line) + '\n')
        import os
        os.rename(self.tsv + '.new', self.tsv)

    # --- what a row means ---
    def bound(self, uops, form):
        live = [x for x in uops if x.kind == 'p']
        if self.inorder:
            return self.bound_in_order(live, form)
        ports = [x.ports for x in live] + [self.u['unit']['load']] * form.loads
        ports += [self.u['unit']['sta'], self.u['unit']['std']] * form.stores
        fused = self.u['fuse'] == 'yes'
        slots = len(uops) - (1 if fused and form.loads and uops else 0) + form.loads + form.stores * (1 if fused else 2)
        slots = max(1, slots)
        if slots > 4:  # microcode: whole cycles, and the sequencer's switch
            slots = (-(-slots // self.u['width']) + 2) * self.u['width']
        b = rows.port_bound(ports, self.u['width'], slots, max([x.busy for x in uops] or [0]))
        if self.fast and slots <= LINE:  # no instruction crosses a trace-cache line; lines give three uops a cycle
            b = max(b, LINE / self.u['width'] / (LINE // slots))
        if self.uarch == 'pentium3' and slots > 1:
            b = max(b, 1.0)  # only one decoder takes more than one uop
        if self.uarch == 'core2' and slots > 1:
            b = max(b, 1.0)
        if form.stores:
            b = max(b, self.u.get('store', 1))
        return b

    def bound_in_order(self, live, form):
        # its time adds to the load's and store's, unless it is beside them
        if any('unit=other' in x.attrs for x in live):
            return max([x.busy if x.side else x.busy + min(form.loads, 1) + min(form.stores, 1) for x in live])
        if any('unit=fpdiv' in x.attrs for x in live):
            return max([x.busy for x in live])
        time = (1 if form.loads and live else 0) + (1 if form.stores and live else 0) + 1
        if form.stores and form.loads:
            return 2.5 if live and live[0].ports == '01' else 3
        return time / 2 if not live or live[0].ports == '01' else time

    def sets(self, uop, row):
        """Other port sets that a uop of this kind may use."""
        unit, kind = self.u['unit'], kind_of(row)
        if self.inorder:
            return [] if uop.ports == '2' else ['01', '0']
        if self.fast:
            return ['0145', '04', '15', '1', '0'] if kind in ('alu', 'lea', 'branch', 'other', 'shift',
                    'imul') else ['1', '0', '01']
        if self.uarch == 'core2':
            return ['015', '05', '01', '15', '5', '1', '0']
        return ['01', '1', '0']

    def variants(self, uops, form, T):
        row = form.row
        live = [x for x in uops if x.kind == 'p']
        yield uops
        bare = [x.copy() for x in uops if not x.side]
        if len(bare) < len(uops) and bare:
            yield bare
        if not live:
            if form.width == '128' and self.uarch == 'pentium3' and T > 1.5:  # 128 bits are two uops each way
                sides = ([self.u['unit']['load']] if form.loads
                         else []) + ([self.u['unit']['sta'], self.u['unit']['std']] if form.stores else [])
                yield [Uop(p, 1, ['side']) for p in sides] + [x.copy() for x in uops]
            if T >= 2 and T > 1.15 * self.bound(uops, form):
                for b in (int(T), int(T) + 1):
                    yield [Uop(self.u['unit']['other'][:1], 1, ['side', 'busy=%d' % b, 'unit=other'])] + [x.copy()
                            for x in uops]
            return
        work = bare or [x.copy() for x in uops]
        index = max(range(len(work)), key=lambda i: (work[i].busy, work[i].latency))
        def changed(ports=None, more=0, busy=0):
            out = [x.copy() for x in work]
            m = out[index]
            m.attrs = [a for a in m.attrs if not a.startswith(('busy', 'unit'))]
            if ports:
                if self.fast and m.latency <= 1:
                    m.latency = 0 if ports in ('0145', '04', '15') and m.latency == 0 else max(1, m.latency)
                m.ports = ports
            if busy:
                m.attrs += ['busy=%d' % busy,
                            'unit=' + ('fpdiv' if kind_of(row) == 'fdiv' or (self.inorder and m.ports == '2') else
                                                          'intdiv' if re.match('i?div', row) else 'other')]
            side = m.copy()
            side.attrs, side.latency = ['side'], max(1, 0) if not self.fast or side.ports not in ('0145', '04') else 0
            return [side.copy() for _ in range(more)] + out
        pure = changed()
        yield pure
        for p in self.sets(work[index], row):
            yield changed(p)
        if not self.inorder:
            for n in range(1, 6):
                yield changed(None, n)
            for p in self.sets(work[index], row):
                for n in range(1, 4):
                    yield changed(p, n)
        lo = int(T)
        for b in (lo, lo + 1):
            if 1 <= b <= 240:
                yield changed(None, 0, b)

    def blocked(self, uops, form, T):
        """The uops, and a unit that is blocked for T cycles; None if they take that long already."""
        if T < 1.5 or round(T) > 240 or T <= 1.15 * self.bound(uops, form):
            return None
        if any(x.busy for x in uops):
            return None
        return [Uop(self.u['unit']['other'][:1], 1 if not self.fast else 0,
                    ['side', 'busy=%d' % round(T), 'unit=other'])] + uops

    def chained(self, form):
        """True if a loop of the form depends on itself through flags or hidden registers: it reads and writes them."""
        return form.chain and not re.match(r'setcc|cmov|cwd', form.cls)

    def fit(self, uops, form, T, L):
        """The first variant within 5 %, else the nearest."""
        best = None
        if (self.chained(form) and 'nomerge' not in self.rows[form.row][1] and L and T >= 0.9 * L
            and T >= self.bound(uops, form) * 0.95):
            return uops  # a chain of its own

        for v in self.variants(uops, form, T):
            b = self.bound(v, form)
            error = abs(b - T) / T
            if error <= 0.05:
                return v
            if best is None or error < best[0] - 1e-9:
                best = (error, v)
        return best[1]

    def two_latencies(self, uops, L, T):
        """The chain through flags or hidden registers takes T, the result L: a last uop, for the first result
        alone, takes the difference."""
        if round(L) <= round(T) or not self.set_latency(uops, T):
            return False
        chain = [x for x in uops if not x.side and x.kind == 'p']
        if any(a in ('out1', 'out2', 'flags') for x in chain for a in x.attrs):
            return False
        last = chain[-1].copy()
        chain[-1].attrs += ['out2', 'flags']
        last.latency, last.attrs, last.ports = (round(L) - round(T), ['out1'],
                                                self.u['unit']['alu'] if not self.fast else '01')
        side = [x for x in uops if x.side]
        uops.append(last)
        if side:
            uops.remove(side[0])  # it is one of them
        return True

    def set_latency(self, uops, L):
        half = self.fast and L <= 0.75
        want = 0 if half else round(L)
        if not half and (abs(L - want) > max(0.35, 0.05 * L) or want < 1):
            return False
        chain = [x for x in uops if not x.side and x.kind == 'p']
        if not chain:
            return False
        main = max(chain, key=lambda x: (x.busy, x.latency))
        # Both results come at once: their lines differ by less than a cycle.
        if any('out2' in x.attrs for x in chain) and 'par' not in ' '.join(a for x in chain for a in x.attrs):
            for x in chain:
                x.attrs = [a for a in x.attrs if a not in ('out1', 'out2')] + ([] if x is main else ['side'])
            chain = [main]
        if half:
            if len(chain) > 1 or not set(main.ports) & set('04'):
                return False
            main.latency = 0
            return True
        new = main.latency + want - rows.path(uops)
        if self.fast and len(chain) > 2:  # half cycles do not add up to whole cycles
            new = -1
        # faster than the data flow allows: one uop does all, the others are beside it
        if new < (1 if not self.fast else 0):
            for x in chain:
                if x is not main:
                    x.attrs = ['side']
            main.attrs = [a for a in main.attrs if a not in ('par', 'out1', 'out2', 'flags')]
            new = want
        if new > 240:
            return False
        main.latency = new
        if self.fast and new > 0 and main.ports == '0145':
            main.ports = '01'
        return True


CROSS = re.compile(r'^(mov_gpr_vec|mov_vec_gpr|mov_mmx_vec|cvt_to_gpr|cvt_from_gpr|cvt_from_gpr64_s|cvt_mmx|pextr|'
                   r'pinsr|movmsk)$')
KEPT = re.compile(r'^(syscall|far|privileged|pause|cpuid|serialize|rep_|lfence|sfence|mfence|clflush|fxsave|'
                  r'fxrstor|xsave|prefetch|movnt|'
                  r'enter|maskmovdqu|fnsave|frstor|fnstenv|fldenv|gather|push$|pop$|call|ret|jcc|jmp|loop|jecxz|'
                  r'fsin|fpatan|fyl2x|f2xm1)')
IMPLICIT = re.compile(r'^(I?MUL)\s+r(\d+)\s+\((\w+)\)$')
DIVIDE = re.compile(r'^(I?DIV)\s+r(\d+)l?\s+\S+\s*\S*\s*\(full\)$')


def measured(path, forms, idioms, reads=False, fold=None):
    """As rows.instlat; also what the older files need: MUL and DIV by their operand, x87 at full precision."""
    used, held, locked = {}, {}, []
    lone = {n.split(' ')[0]: '%s [%s]' % tuple(n.split(' ')) for n in sorted(forms) if re.match(r'^\w+ m\d+$', n)}
    numbered = re.compile(r'(?<=r)[12]_(?=\d)|(?<=mm)_?[12](?=,|$)')
    plain = {text.replace(' ', '') for _, text, _, _ in rows.measurements(path)}
    for out, text, lat, tp in rows.measurements(path, fold):
        if tp is not None and not out and re.match(r'LOCK ADD|XCHG r\d+, \[', text):
            locked.append(tp)
        same, form = False, None
        implicit, divide = IMPLICIT.match(text), DIVIDE.match(text)
        if implicit:
            form = '%s r%s' % implicit.group(1, 2)
        elif divide:
            form = '%s r%s' % divide.group(1, 2)
        else:
            text = re.sub(r'^(F\w+)80 (st\(i\), st)$', r'\1 \2', re.sub(r'^FSQRT80 st$', 'FSQRT', text))
            text = re.sub(r'(xmm|mm)_([12])', r'\1\2', text)
            text = re.sub(r'^SETC ', 'SETB ', text)
            text = re.sub(r'^(PEXTRW|P?MOVMSK\w+) r64,', r'\1 r32,', text)  # the decoder has one form for both
            text = re.sub(r'^(\w+) \[mem\]$', lambda m: lone.get(m.group(1), text), text)
            lea = re.match(r'LEA (r\d+), \[disp32\]$', text)
            form, same = ('LEA %s,[d]' % lea.group(1),
                          True) if lea else rows.instlat_form(text.replace('disp32', 'disp8'), forms)
        if not form or form not in forms:
            continue
        # A broken chain, if the core knows the idiom.
        if same and rows.IDIOM.match(form.split()[0]) and not re.match(r'SBB|CMP|SH', form):
            lat = None if idioms in ('all',
                                     'narrow') or (idioms == 'integer' and re.match(r'^(XOR|SUB) ', form)) else lat
        bare = text.replace(' ', '')
        if reads and numbered.search(bare) and numbered.sub('', bare) in plain:
            tp = None  # registers that are never written: the ports that read those limit it, not the units
        if re.match(r'^LOCK |^XCHG \w+,m|^XCHG m', form):
            continue
        into = held if out else used
        had = into.get(form, (None, None))
        if implicit and re.match(r'[er]?ax|al', implicit.group(3)):
            had = (None, had[1])  # the accumulator's line takes precedence over the other half's
        # Of several lines (one register, two registers), the faster one is what the machine can do.
        into[form] = (had[0] or lat or into.get(form, (None,))[0], min(had[1], tp) if had[1] and tp else had[1] or tp)
    return used, held, locked


def generate(g_class, form_class, uarch, top, tool, data, work, insns, fold=None):
    import os
    import subprocess
    o = Older(g_class, uarch, top, tool, data, work)
    o.class_table()
    o.write([])
    def describe(hexes):
        p = subprocess.run([tool, 'describe', o.tsv], input='\n'.join(hexes) + '\n', stdout=subprocess.PIPE,
                           text=True, check=True)
        return [form_class(line.split('\t')) for line in p.stdout.splitlines()]
    forms = {}
    for f in describe(list(insns)):
        rank = (insns[f.code][1] is None, insns[f.code][3], len(f.code), f.code)
        f.newer = f.set not in o.u['sets']
        if '?' not in f.name and (f.name not in forms or rank < forms[f.name][0]):
            forms[f.name] = (rank, f)
    forms = {n: f for n, (_, f) in forms.items()}
    used, held, locked = measured(os.path.join(data, 'instlat', o.u['instlat']), forms, o.u['idioms'],
                                  uarch in ('core2', 'pentium3'), fold)
    if 'bus' in o.u:
        for n in [n for n in used if forms[n].cls == 'popa'
                  or (forms[n].stores and used[n][1] and abs(used[n][1] / forms[n].stores / o.u['bus'] - 1) < 0.02)]:
            del used[n]
    if locked:
        cycles = sorted(locked)[len(locked) // 2]
        o.rows['lock'] = ('p%s/1:busy=%d:unit=other:side' % (o.u['unit']['alu'][:1], min(240, round(cycles))), '-',
                          'IL: LOCK ADD [m],r and XCHG, the median of %d' % len(locked))
    made = {}

    def build(n, L, T, text, of):
        """The row of form n with latency L and throughput T (or None), from the uops in `text`; of: the form whose
        figures these are."""
        f, source = forms[n], []
        uops = rows.parse_uops(text)
        if f.kind != '-' and uops:
            reg = made.get(f.register_form())
            if reg:
                uops = rows.parse_uops(reg[0])
        # The chain is that of the pointer.
        if f.cls in ('movs', 'stos', 'lods', 'scas', 'cmps') and L and T and uops:
            ptr = [x for x in uops if 'ptr' in x.attrs]
            if ptr:
                ptr[0].latency = max(1, round(min(L, T)) - (1 if o.inorder else 0))
                source.append('IL L %g%s' % (L, of))
        elif L and f.kind == '-' and not CROSS.match(f.cls) and L > 0.4 and uops and o.set_latency(uops, L):
            source.append('IL L %g%s' % (L, of))
        split = f.kind == '-' and L and T and o.chained(f) and re.match(r'rotate_carry|cmpxchg',
                f.cls) and T < 0.95 * L and not o.inorder
        # The prefix costs a cycle of the decoder.
        if o.inorder and '16' in f.name.split(' ')[-1].split(',')[0]:
            L, T = L - 1 if L and L <= 2 else L, None if T and T <= 2 else T
        if o.uarch in ('core2', 'pentium3') and re.match(r'(CMP|TEST) r', n):
            T = None  # the register-read ports limit these, not the units
        if T and not L and o.chained(f) and uops and round(T) < rows.path(uops):
            o.set_latency(uops, T)  # its chain is no longer than that
        if T and not (',i16' in n and o.uarch == 'core2'):
            uops = o.fit(uops, f, T, L)
            source.append('IL T %g%s' % (T, of))
            if split:
                o.two_latencies(uops, L, T)
            if o.inorder and L and f.kind == '-' and uops and not CROSS.match(f.cls):
                o.set_latency(uops, L)
        words = [w for w in o.rows[f.row][1].split(',') if w in ('nofuse', 'falsedep', 'nomerge')]
        return [rows.format_uops(uops), ','.join(words) or '-', ', '.join(source) if source else 'class %s' % f.row]

    def fixed(n):
        f = forms[n]
        return (KEPT.match(f.row) and not (o.inorder and f.cls == 'pop'
                                           and f.stores)) or '|' in o.rows[f.row][0] or f.cls in ('default',
                                                   'substitute') or f.newer

    cousins = []
    for name, path, which in COUSINS[uarch]:
        figures, out, _ = measured(os.path.join(data, 'instlat', path), forms, o.u['idioms'],
                                   uarch in ('core2', 'pentium3'))
        if which != 'apart':
            figures = {**out, **figures}
        cousins.append((name, {n: f for n, f in figures.items()
                               if not (which == 'same' and n in held or which == 'narrow' and 'xmm' in n)}))
    near = [kin.Kin({n: v[i] for n, v in used.items() if v[i] and not fixed(n)}, forms, kind_of,
                    [(name, {n: v[i] for n, v in figures.items() if v[i] and not fixed(n)})
                     for name, figures in cousins]) for i in (0, 1)]
    # Register forms come first: forms with memory operands build on them.
    votes = {}
    order = sorted(forms, key=lambda n: (forms[n].kind != '-', n))
    for n in order:
        if n in used and not fixed(n):
            row = forms[n].row
            L, T = used[n]
            if not T and 'mm' in n:  # its line is of two registers, or has no figure
                T, donor = (near[1].figure(n, True) or near[1].figure(n, False) or (None, None))[:2]
            made[n] = build(n, L, T, o.rows[row][0], '')
            if T and not used[n][1]:
                made[n][2] = re.sub(r'(IL T [^,]*)', r'\1 as ' + donor.replace(',', ' '), made[n][2])
            if forms[n].kind == '-' or row.endswith(('.m', '.s', '.rmw')):
                votes.setdefault(row, []).append(made[n][0])
        elif (n in used and KEPT.match(forms[n].row) and not o.inorder and not forms[n].newer and used[n][1]
              and '|' not in o.rows[forms[n].row][0]):
            # The row is kept, and blocks a unit.
            slower = o.blocked(rows.parse_uops(o.rows[forms[n].row][0]), forms[n], used[n][1])
            if slower:
                made[n] = [rows.format_uops(slower), o.rows[forms[n].row][1],
                           'class %s, IL T %g' % (forms[n].row, used[n][1])]
    # Hand-written rows of an unmeasured form block a unit as long as similar forms do.
    kept = kin.Kin({n: v[1] for n, v in used.items() if v[1] and KEPT.match(forms[n].row) and not forms[n].newer},
                   forms, kind_of)
    for n in order:
        if (n not in used and KEPT.match(forms[n].row) and not o.inorder and not forms[n].newer
            and '|' not in o.rows[forms[n].row][0]):
            it = kept.figure(n, True) or kept.figure(n, False)
            slower = it and o.blocked(rows.parse_uops(o.rows[forms[n].row][0]), forms[n], it[0])
            if slower:
                made[n] = [rows.format_uops(slower), o.rows[forms[n].row][1],
                           'class %s, IL T %g as %s' % (forms[n].row, it[0], it[1].replace(',', ' '))]
    # A class' row becomes what most of its measured forms have (of one width if the row has one).
    for row, texts in votes.items():
        best = max(sorted(set(texts)), key=texts.count)
        if (row not in OVERRIDE[uarch] or row in FITTED) and ':kind=' not in o.rows[row][0]:
            o.rows[row] = (best, o.rows[row][1], 'IL: %d of %d measured forms' % (texts.count(best), len(texts)))
    # Unmeasured forms: like measured ones (kin.py).
    source, vendor = published.figures(uarch)
    for n in order:
        if n in made or fixed(n) or n.startswith(('LOCK', 'REP')):
            continue
        L = T = None
        printed = [(v, None, source) if v else None for v in vendor(n)]
        bare = o.rows[forms[n].row][0] == '-'  # only a load or a store: as similar forms, or as its class
        found = []
        for i in (0, 1):
            it = None
            if i or forms[n].kind == '-':
                it = near[i].divides(n) and printed[i] or near[i].figure(n, True) or printed[i]
                it = it or (None if bare else near[i].figure(n, False))
            found.append(it)
        L, T = found
        if not T and 'halves' in o.u and re.match(r'\w+ xmm,', n):
            T = (2, None, 'halves')
        if L or T:
            donor = T and T[1] or L and L[1] or T and T[2] == 'halves' and '128 bits as two halves'
            whole = lambda x: x[0] if x[0] < 1 or not x[1] or x[0] == near[0].measured.get(x[1]) else round(x[0])
            made[n] = build(n, L and whole(L), T and T[0],
                            made[donor][0] if donor in made else o.rows[forms[n].row][0],
                            ' as %s' % (donor or source).replace(',', ' '))
    for n, f in forms.items():
        if n not in made:
            text, flags, _ = o.rows[f.row]
            if f.cls in ('default', 'substitute'):
                continue
            words = [w for w in flags.split(',') if w not in ('-', 'substitute')] + (['substitute'] if f.newer else [])
            if n.startswith('LOCK ') or f.cls == 'xchg_mem':
                text = o.rows['lock'][0] if text == '-' else text + '+' + o.rows['lock'][0]
            made[n] = [text, ','.join(words) or '-', 'class %s' % f.row]
    lines = [[n, made[n][0], made[n][1], '1/1', '%g' % used[n][1] if n in used and used[n][1] else '-', made[n][2]]
             for n in sorted(made)]
    o.write(lines)
    counts = {f.name: (f.slots, f.uops) for f in describe([forms[n].code for n in sorted(made)])}
    for line in lines:
        slots, uops = counts[line[0]]
        line[3] = '%d/%d' % (slots, uops)
        if slots > 4 and 'ms' not in line[2].split(','):
            line[2] = 'ms' if line[2] == '-' else line[2] + ',ms'
    o.write(lines)
    print('%s: %d rows (%d measured forms, %d substitutes)'
          % (uarch, len(lines), sum(1 for l in lines if l[5].startswith(('IL L', 'IL T'))),
                                                               sum(1 for l in lines if 'substitute' in l[2])))
