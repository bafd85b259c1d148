#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures every form of instruction that may stand in a straight line, on this machine: its latency and its clocks per
# instruction, as InstLatx64 has them for other machines.  Run by `tools/uops/measure.sh FILE`; the file is an input of
# generate_uops.sh.
#
#   L  chains through registers of one kind, the slower of two chains: operands A,B then B,A, with further operands in
#      another register; and A,C (three operands: A,C,A) again and again.  None if operands are of different kinds or in
#      memory.
#   T  twelve copies, or as many as there are registers, each with a destination of its own, sources that are never
#      written, and memory operands 64 bytes apart
# Left out: what R1 of generate_uops.py keeps (KEEP), what faults, EVEX masks.
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import candidates
import generate_uops as generate

CHUNK = 500  # bodies in each run of measure.c
# RDX: MULX reads it, addresses of LEA
R64 = ['rbx', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'rbp']
SUFFIX = {'r8': 'b', 'r16': 'w', 'r32': 'd'}
OLD = {'rbx': ('bl', 'bx', 'ebx'), 'rsi': ('sil', 'si', 'esi'), 'rdi': ('dil', 'di', 'edi'),
       'rbp': ('bpl', 'bp', 'ebp'), 'rdx': ('dl', 'dx', 'edx')}


def gpr(n, kind):
    r = R64[n]
    if kind == 'r64':
        return r
    return OLD[r][('r8', 'r16', 'r32').index(kind)] if r in OLD else r + SUFFIX[kind]


def kinds(kind):
    """Registers of a kind: how many, and the name of the n-th."""
    if kind in ('r8', 'r16', 'r32', 'r64'):
        return len(R64), lambda n: gpr(n, kind)
    if kind in ('xmm', 'ymm', 'zmm', 'mm'):
        return 8 if kind == 'mm' else 15, lambda n: '%s%d' % (kind, n)
    if kind == 'k':
        return 7, lambda n: 'k%d' % (1 + n)
    return 0, None


def register(kind, n, spare):
    """The n-th register that is written, or the spare one number `spare` that is only read; the spare ones are the
    last."""
    count, name = kinds(kind)
    return name(count - 1 - spare if spare is not None else n) if count else None


def operand(kind, n, spare, displacement):
    r = register(kind, n, spare)
    if r:
        return r
    if kind[0] == '[':
        return kind.replace('rsi', 'rdx').replace('rdi', 'rbp')
    fixed = candidates.FIXED.get(kind)
    if fixed and fixed.endswith('[rax]'):
        return fixed[:-1] + '+%d]' % displacement
    return fixed


def variants(mnemonic, pattern):
    """Texts of T, texts of L (or None), texts of the second chain (or None)."""
    one, read = [], 2 if mnemonic == 'lea' else sum(kinds(k)[0] > 0 for k in pattern[1:])
    for n in range(min([12] + [kinds(k)[0] - min(read, 3) for k in pattern if kinds(k)[0]])):
        ops, spare = [], 0
        for i, kind in enumerate(pattern):
            if i == 0:
                ops.append(operand(kind, n, None, 64 * n))
            else:
                ops.append(operand(kind, n, spare, 64 * n))
                spare = min(spare + 1, 2)
        if None in ops:
            return None, None, None
        one.append(mnemonic + ' ' + ', '.join(ops))
    chain, second = None, None
    regs = [k for k in pattern if register(k, 0, None)]
    if mnemonic == 'lea':
        one, chain = lea(pattern, one)
        return one, chain, None
    if regs and len(set(regs)) == 1 and not any(k not in regs and 'm' in k for k in pattern) and register(pattern[0],
            0, None):
        chain = []
        if len(regs) == 1:
            chain = [mnemonic + ' ' + ', '.join(operand(k, 0, None if i == 0 else 0, 0)
                                                for i, k in enumerate(pattern))] * 2
        for a, b in ((0, 1), (1, 0)) if len(regs) > 1 else ():
            ops, seen = [], 0
            for kind in pattern:
                if kind not in regs:
                    ops.append(operand(kind, 0, None, 0))
                    continue
                ops.append(register(kind, (a, b)[seen] if seen < 2 else 0, None if seen < 2 else 0))
                seen += 1
            chain.append(mnemonic + ' ' + ', '.join(ops))
        if len(regs) > 1:
            ops, seen = [], 0
            for kind in pattern:
                if kind in regs:
                    ops.append(register(kind, 0, None if seen == 0 or seen == 2 else 0))
                    seen += 1
                else:
                    ops.append(operand(kind, 0, None, 0))
            second = [mnemonic + ' ' + ', '.join(ops)] * 2
    return one, chain, second


def lea(pattern, one):
    kind, address = pattern
    through = address.replace('rsi', 'rbx').replace('rdi', 'rcx' if 'rsi' in address else 'rbx')
    return one, ['lea %s, %s' % (gpr(0, kind), through)] * 2 if through != address else None


def assemble_labelled(texts):
    """{index: hex} of the texts that assemble."""
    out = {}
    for at in range(0, len(texts), 5000):
        out.update(batch(list(enumerate(texts))[at:at + 5000]))
    return out


def batch(numbered):
    src = '.intel_syntax noprefix\ntarget:\n' + ''.join('L%d: %s\n' % (i, t) for i, t in numbered)
    p = subprocess.run([generate.LLVM_MC, '-triple=x86_64-pc-linux-gnu', '-show-encoding', '--filetype=asm'], input=src,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                       env=dict(os.environ, LLVM_DISABLE_SYMBOLIZATION='1'))
    if p.returncode < 0 or p.returncode > 1:
        if len(numbered) == 1:
            return {}
        half = len(numbered) // 2
        return {**batch(numbered[:half]), **batch(numbered[half:])}
    out, label = {}, None
    for line in p.stdout.split('\n'):
        m = re.match(r'L(\d+):', line)
        if m:
            label = int(m.group(1))
        if 'encoding: [' in line and label is not None:
            body = line.split('encoding: [')[1].split(']')[0].split(',')
            out[label] = out.get(label, '') + ''.join(b[2:4] if b.startswith('0x') else '00' for b in body)
    return out


def main():
    forms_tool, measure, tsv, result = sys.argv[1:5]
    mnemonics = subprocess.run([forms_tool, 'mnemonics'], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    first = sorted(set(candidates.lines(mnemonics)))
    # The patterns themselves, as candidates.lines() walks them.
    todo = {}
    for m in mnemonics:
        if m in ('lea', 'bnd', 'xbegin', 'ud0',
                 'ud1') or m[0] == 'j' or m.startswith(('loop', 'call', 'ret', 'int', 'sys', 'push', 'pop', 'f')):
            continue
        for p in candidates.vector() if m[0] in 'vk' else candidates.scalar():
            # 'vx', 'vy': a vector of addresses: gathers, which R1 keeps, and what LLVM takes for a general register
            if 'vx' in p or 'vy' in p:
                continue
            todo.setdefault(candidates.text(m, p), (m, p))
    for r in ('r16', 'r32', 'r64'):
        for a in candidates.LEA:
            todo['lea %s, %s' % (candidates.REG[r][0], a)] = ('lea', [r, a])
    known = [t for t in first if t in todo]
    code = assemble_labelled(known)
    known = [(todo[t], code[i]) for i, t in enumerate(known) if i in code]
    # a fixed register makes T a chain
    known.sort(key=lambda k: sum(x in ('al', 'ax', 'eax', 'rax', 'rh') for x in k[0][1]))
    described = subprocess.run([forms_tool, 'describe', tsv], input='\n'.join(c for _, c in known) + '\n',
                               stdout=subprocess.PIPE, text=True,
                               check=True).stdout.splitlines()
    info = {}
    for line in described:
        f = generate.Form(line.split('\t'))
        info[f.code] = f
    texts, owner = [], []
    for (m, p), c in known:
        f = info.get(c)
        if not f or '?' in f.name or f.cls in generate.KEEP and f.cls not in MEASURED:
            continue
        one, chain, second = variants(m, p)
        for which, ts in (('T', one), ('L', chain), ('D', second)):
            if ts:
                owner.append((f.name, which, len(texts), len(ts)))
                texts += ts
    code = assemble_labelled(texts)
    lines, seen = [], set()
    for name, which, at, n in owner:
        hexes = [code.get(i) for i in range(at, at + n)]
        if None in hexes or (name, which) in seen or not re.search(os.environ.get('ONLY', ''), name):
            continue
        seen.add((name, which))
        lines.append('%s\t%s' % (name + '|' + which, '%d\t%s' % (n, ''.join(hexes))))
    print('%d bodies' % len(lines), file=sys.stderr)
    best = {}
    for _ in range(3):
        for at in range(0, len(lines), CHUNK):
            out = subprocess.run(os.environ.get('RUN', '').split() + [measure],
                                 input='\n'.join(lines[at:at + CHUNK]) + '\n',
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            for line in out.splitlines():
                key, value = line.split('\t')
                if value != '-':
                    best[key] = min(best.get(key, 1e9), float(value))
    kept = {}
    if 'ONLY' in os.environ:
        kept = {line.split('\t')[0]: line for line in open(result) if line[0] != '#'}
    with open(result, 'w') as f:
        f.write('# form, latency, clocks per instruction; measured by tools/uops/measure.sh on\n# %s\n' % host())
        for name in sorted(set(k.split('|')[0] for k in best) | set(kept)):
            if name + '|T' not in best:
                f.write(kept.get(name, ''))
                continue
            l, d, t = best.get(name + '|L'), best.get(name + '|D'), best.get(name + '|T')
            if l is not None and d is not None and d >= 0.85:
                l = max(l, d)
            f.write('%s\t%s\t%s\n' % (name, '%.2f' % l if l is not None else '-', '%.2f' % t if t is not None else '-'))


MEASURED = ['clc', 'add_imm', 'nop', 'movbe', 'bt_mem', 'lea', 'lea_scaled', 'lea_slow', 'lea_slow_scaled', 'lea_rip']


def host():
    text = open('/proc/cpuinfo').read()
    return ', '.join('%s %s' % (k, re.search(r'^%s\s*: (.*)$' % k, text, re.M).group(1))
                     for k in ('vendor_id', 'cpu family', 'model', 'stepping'))


if __name__ == '__main__':
    main()
