# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py: what LLVM's scheduling model says about an instruction, as llvm-exegesis
# prints it.
#
# Its analysis mode reads benchmark points and prints, for every scheduling class whose points contradict the model,
# what the model has: uops, latency, and the port sets that the class writes.  The points given here are invented (99
# uops each), so every class is printed.  That is the model's whole description.  llvm-mca shows only the pressure on
# each port, which cannot distinguish "one uop on 0,6 and one on 1,5" from "two uops on 0,1,5,6".
import html
import os
import re
import subprocess

from candidates import assemble

GPR8 = 'al cl dl bl spl bpl sil dil ah ch dh bh'.split()
LEGACY = 'ax cx dx bx sp bp si di'.split()


def register_names(llvm_mc):
    """Number of a register in -show-inst -> LLVM's name."""
    names, probe = {}, []
    for r in LEGACY:
        probe += [('mov %s, 4660' % r, r), ('mov e%s, 4660' % r, 'e' + r), ('movabs r%s, 0x123456789' % r, 'r' + r)]
    for i in range(8, 16):
        probe += [('mov r%d%s, 4' % (i, s), 'r%d%s' % (i, s))
                  for s in ('b', 'w', 'd')] + [('movabs r%d, 0x123456789' % i, 'r%d' % i)]
    probe += [('mov %s, 4' % r, r) for r in GPR8]
    for i in range(16):
        probe += [('vsqrtps xmm%d, [rax]' % i, 'xmm%d' % i), ('vsqrtps ymm%d, [rax]' % i, 'ymm%d' % i)]
    for i in range(16, 32):
        probe += [('vsqrtps xmm%d, [rax]' % i, 'xmm%d' % i), ('vsqrtps ymm%d, [rax]' % i, 'ymm%d' % i)]
    for i in range(32):
        probe += [('vsqrtps zmm%d, [rax]' % i, 'zmm%d' % i)]
    for i in range(8):
        probe += [('pabsd mm%d, [rax]' % i, 'mm%d' % i), ('kmovw k%d, [rax]' % i, 'k%d' % i),
                  ('fld st(%d)' % i, 'st%d' % i)]
    probe += [('mov %s, [rax]' % s, s) for s in ('es', 'ds', 'ss', 'fs', 'gs')]
    for text, name in probe:
        for _, _, operands, _ in assemble(llvm_mc, [text]):
            number = [v for k, v in operands if k == 'Reg'][0]
            names[number] = name.upper()
    names['0'] = '%noreg'
    return names


def point(n, cpu, opcode, operands, names, code):
    words = [opcode]
    for kind, value in operands:
        if kind == 'Reg':
            words.append(names.get(value, '%noreg'))
        elif kind == 'Imm':
            words.append('i_0x%x' % (int(value) & 0x7fffffffffffffff))
        else:
            words.append('i_0x0')
    return '''---
mode: uops
key:
  instructions:
    - '%s'
  config: 'c%d'
  register_initial_values: []
cpu_name: %s
llvm_triple: x86_64-pc-linux-gnu
num_repetitions: 100
measurements:
  - { key: NumMicroOps, value: 99, per_snippet_value: 99 }
error: ''
info: ''
assembled_snippet: '%s'
...
''' % (' '.join(words), n, cpu, code.upper())


class Class:
    """uops, latency, throughput, resources {name: cycles}; unknown: the model has nothing."""

    def __init__(self, name, uops, latency, rthroughput, resources):
        self.name, self.uops, self.latency, self.rthroughput, self.resources = (name, uops, latency, rthroughput,
                resources)


def classes(exegesis, cpu, insns, names, work):
    """insns: list of (code, opcode, operands).  Returns {index: Class}; invalid and unmodelled ones are left out."""
    yaml, report = os.path.join(work, 'points.yaml'), os.path.join(work, 'report.html')
    with open(yaml, 'w') as f:
        for n, (code, opcode, operands) in enumerate(insns):
            f.write(point(n, cpu, opcode, operands, names, code))
    p = subprocess.run([exegesis, '-mode=analysis', '-benchmarks-file=' + yaml,
                        '-analysis-inconsistencies-output-file=' + report,
                        '-analysis-numpoints=0', '-analysis-clustering-epsilon=0.1',
                        '-analysis-inconsistency-epsilon=0.1'],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise SystemExit('llvm-exegesis: ' + p.stderr[-400:])
    found = {}
    text = open(report).read()
    for part in text.split('<div class="inconsistency">')[1:]:
        name = html.unescape(re.search(r'sched-class-name">([^<]*)<', part).group(1))
        members = [int(m) for m in re.findall(r'class="mono">c(\d+)<', part)]
        desc = part.split('sched-class-desc')[1]
        rows = re.findall(r'<tr>(.*?)</tr>', desc, re.S)
        if len(rows) < 2:
            continue
        cells = re.findall(r'<td>(.*?)</td>', rows[1], re.S)
        def number(c, default):
            m = re.search(r'-?[0-9.]+', re.sub(r'<[^>]*>', ' ', html.unescape(c)))
            return float(m.group(0)) if m else default
        if '✔' not in html.unescape(cells[0]):
            continue
        latency = re.findall(r'<li>(.*?)</li>', cells[3], re.S)
        latency = max([number(l, 0) for l in latency] or [number(cells[3], 0)])
        resources = {}
        for item in re.findall(r'<li>(.*?)</li>', cells[5], re.S):
            item = re.sub(r'<[^>]*>', ' ', item)
            m = re.match(r'\s*(\S+?)\s*:\s*\[?(\d+)(?:\s*,\s*(\d+)\s*\])?', item)
            if m:
                resources[m.group(1)] = resources.get(m.group(1),
                                                      0) + int(m.group(3) or m.group(2)) - (int(m.group(2))
                                                              if m.group(3) else 0)
        c = Class(name, int(number(cells[2], 0)), int(latency), number(cells[4], 0.0), resources)
        for n in members:
            found[n] = c
    return found
