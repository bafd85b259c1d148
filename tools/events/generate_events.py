#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes data/events/{nehalem,sandy-bridge,ivy-bridge,haswell,broadwell,ice-lake}.tsv; run by
# tools/events/generate_events.sh.
#
#   names and codes   libpfm4's tables, through libpfm_list.c
#   answers           offcore_reason.c: which values of MSR_OFFCORE_RSP_x the model can count
#   meanings          meaning.py: count or the reason why there is none, and the line of help
#   machines          machines.py: shape, counters, perf's names, and where libpfm4 lacks an event or differs
# from the manual
#
# An event without a meaning, a meaning that no machine uses, and a perf name without a row are errors.
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import machines
import meaning

COLUMNS = '# name\tevent\tumask\tmods\tcounters\tflags\talias\tcount\thelp\tnot_modelled'
# Counted at retirement, or not affected by speculation.  All other events may count uops that are squashed later.
CERTAIN = tuple('''CPU_CLK_ UNHALTED_ INSTRUCTION_RETIRED INSTRUCTIONS_RETIRED CPL_CYCLES ROB_MISC_EVENTS AVX. FP_ASSIST
    OTHER_ASSISTS ASSISTS TOPDOWN PERF_METRICS CORE_POWER IO_TRANSACTIONS PIC_ACCESSES TX_ EPT.
    L1D_CACHE_ST.MESI'''.split())


# Second MSRs: SDM vol. 4, and extra_regs in arch/x86/events/intel/core.c of Linux.
EXTRA_MSR = {(0xcd, 1): 0x3f6, (0x0b, 0x10): 0x3f6, (0xc6, 1): 0x3f7, (0xcd, 2): 0x3f1, (0xb7, 1): 0x1a6,
             (0xbb, 1): 0x1a7}


PRECISE_STORE = 1 << 63		# SDM vol. 3B, "PEBS" of Sandy Bridge: the bit of IA32_PEBS_ENABLE


class Row:
    def __init__(self, name, image, precise, same, extra=None):
        self.name, self.precise, self.same = name, precise, same
        self.event, self.umask = image & 0xff, image >> 8 & 0xff
        self.edge, self.any, self.inv, self.cmask = image >> 18 & 1, image >> 21 & 1, image >> 23 & 1, image >> 24
        self.aliases = []
        self.extra = extra	# value of the second MSR; None: the event has none

    @property
    def image(self):
        return self.event | self.umask << 8 | self.edge << 18 | self.any << 21 | self.inv << 23 | self.cmask << 24

    def mods(self):
        mods = [f'c={self.cmask}'] * bool(self.cmask) + ['i'] * self.inv + ['e'] * self.edge + ['t'] * self.any
        if self.extra is not None:
            mods.append(f'msr={EXTRA_MSR[self.event, self.umask]:x}/{self.extra:x}')
        return ','.join(mods) or '-'


def listed(tool, machine):
    """libpfm4's events with the corrections of machines.py, and the events that libpfm4 lacks."""
    text = subprocess.run([tool, machine.libpfm], check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in text.splitlines():
        event, umask, image, precise, same, extra = line.split('\t')
        name = event if umask == '-' else f'{event}.{umask}'
        if image == '-':
            if name not in machine.unencodable:
                sys.exit(f'{machine.name}: libpfm4 cannot encode {name}')
            continue
        if name in rows:
            sys.exit(f'{machine.name}: {name} twice')
        rows[name] = Row(name, machine.corrected.get(name, int(image, 16)), precise == '1',
                None if same == '-' else same)
        if (rows[name].event, rows[name].umask) in EXTRA_MSR:
            rows[name].extra = PRECISE_STORE if image == '2cd' else int(extra, 16)
    for name, image in machine.extra.items():
        if name in rows:
            sys.exit(f'{machine.name}: libpfm4 has {name}')
        rows[name] = Row(name, image, name in machine.extra_precise, None)
    for name, value in machine.responses.items():
        rows[name] = Row(name, 0x1bb if name.startswith('OFFCORE_RESPONSE_1') else 0x1b7, False, None, value)
    # Intel's lists have a name for each threshold.
    for row in [r for r in rows.values() if r.name == 'MEM_TRANS_RETIRED.LOAD_LATENCY']:
        for bit in range(2, 10):
            name = f'{row.name}_GT_{1 << bit}'
            rows[name] = Row(name, row.image, row.precise, None, 1 << bit)
    return rows


def original(rows, row):
    while row.same and row.same in rows and rows[row.same] is not row:
        row = rows[row.same]
    return row


def explain(machine, rows):
    for row in rows.values():
        first = original(rows, row)
        own = meaning.find(row.name, machine.libpfm)
        found = own if own and first is row else meaning.find(first.name, machine.libpfm) or own
        if not found:
            sys.exit(f'{machine.name}: meaning.py has no entry for {row.name}')
        row.order, row.section, row.count, row.help, row.reason = found
        row.order, row.first = (row.order, first is not row, row.image, row.name), first.name
        row.precise |= any(o.precise and o.image == row.image for o in rows.values())
        if first is not row:
            row.help = f'{row.help} Another name of {first.name}.'
        if row.name.endswith('_ALT'):
            row.help = f'{row.help} Another code of {row.name[:-4]}.'
        for key, value in machine.words.items():
            row.help = row.help.replace(key, value)
            row.reason = row.reason and row.reason.replace(key, value)
            row.count = row.count and row.count.replace(key, value)
    for row in rows.values():
        if row.count == '=':
            bases = [r for r in rows.values() if r.count not in (None, '=') and (r.event, r.umask) == (row.event,
                    row.umask)]
            if not bases:
                sys.exit(f'{machine.name}: {row.name} has no row without modifiers')
            row.base = bases[0].count
    for row in rows.values():
        if row.count == '=':
            row.count = row.base


def explain_offcore(tool, machine, rows):
    """Rows with a value of MSR_OFFCORE_RSP_x: what they ask for, or why the model cannot count it."""
    some = [r for r in rows.values() if r.extra is not None and r.mods().startswith('msr=1a')]
    text = subprocess.run([tool, machine.offcore], check=True, capture_output=True, text=True,
                          input=''.join(f'{r.extra:x}\n' for r in some)).stdout.splitlines()
    for row, reason in zip(some, text, strict=True):
        row.reason = None if reason == '-' else reason
        if reason.startswith('it has reserved bits'):	# perf checks them, too: x86_pmu_extra_regs
            row.reason, row.extra = ('Linux writes reserved bits for it, so perf does not count it here; see '
                                     'LONGEST_LAT_CACHE.MISS'), 0
        if row.reason:
            row.count = None
        row.help = meaning.offcore(row.name, row.extra, machine.name == 'nehalem')


def place_aliases(machine, rows):
    for alias, code in machine.aliases.items():
        fits = [rows[code]] if isinstance(code, str) else [r for r in rows.values() if r.image == code]
        if not fits:
            sys.exit(f'{machine.name}: no row for perf\'s {alias} ({code:x})')
        best = min(fits, key=lambda r: (original(rows, r) is not r, r.order))
        best.aliases.append(alias)


def line(machine, row):
    fixed = machine.fixed.get(row.image)
    flags = ['precise'] * row.precise
    certain = 'RETIRED' in row.first or row.first.startswith(CERTAIN)
    flags += ['spec'] * (not certain)
    counters = '-'
    if fixed is None or not fixed[1]:
        counters = machine.counters(row)
    if fixed is not None:
        flags.append(f'fixed={fixed[0]}')
        flags += ['fixed-only'] * fixed[1]
    return '\t'.join([row.name, f'{row.event:02x}', f'{row.umask:02x}', row.mods(), counters, ','.join(flags) or '-',
                      ','.join(row.aliases) or '-', row.count or '-', row.help, row.reason or '-'])


def table(tool, machine):
    rows = listed(tool, machine)
    explain(machine, rows)
    explain_offcore(os.path.join(os.path.dirname(tool), 'offcore_reason'), machine, rows)
    place_aliases(machine, rows)
    out = ['# ' + text for text in machine.head] + machine.shape + [COLUMNS]
    ordered = sorted(rows.values(), key=lambda r: r.order)
    for title in meaning.SECTIONS[:-1]:
        inside = [line(machine, r) for r in ordered if r.section == title and not r.reason]
        out += (['# ' + title] + inside) * bool(inside)
    out += ['# ' + meaning.SECTIONS[-1]] + [line(machine, r) for r in ordered if r.reason]
    return '\n'.join(out) + '\n', rows


def main(folder, tool, names):
    used = set()
    for machine in machines.MACHINES:
        if names and machine.name not in names:
            continue
        text, rows = table(tool, machine)
        used.update(r.order[0] // 1000 for r in rows.values())
        path = os.path.join(folder, machine.name + '.tsv')
        with open(path, 'w') as f:
            f.write(text)
        modelled = sum(1 for r in rows.values() if not r.reason)
        print(f'{machine.name}: {modelled} modelled, {len(rows) - modelled} refused')
    if not names:
        for order, entry in enumerate(meaning.ENTRIES):
            if order not in used:
                sys.exit(f'meaning.py: no machine has {entry[1][0]}')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
