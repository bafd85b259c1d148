# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tools/uops/generate_uops.py: instruction text to try.  The assembler gets every mnemonic of Zydis with every
# plausible pattern of operands; what it accepts, and Zydis decodes again, is a form.  It refuses most, as intended.
import os
import re
import subprocess

# Distinct registers for each place, so that no text is an idiom; no base or index that needs a displacement.
REG = {
    'r8': ['bl', 'sil', 'dil', 'r9b'], 'r16': ['bx', 'si', 'di', 'r9w'], 'r32': ['ebx', 'esi', 'edi', 'r9d'],
    'r64': ['rbx', 'rsi', 'rdi', 'r9'], 'rh': ['bh', 'dh', 'ch', 'ah'], 'mm': ['mm1', 'mm2', 'mm3', 'mm4'],
    'xmm': ['xmm1', 'xmm2', 'xmm3', 'xmm4'], 'ymm': ['ymm1', 'ymm2', 'ymm3', 'ymm4'],
    'zmm': ['zmm1', 'zmm2', 'zmm3', 'zmm4'],
    'k': ['k1', 'k2', 'k3', 'k4'], 'st': ['st', 'st(2)', 'st(3)', 'st(4)'], 'sreg': ['fs', 'es', 'gs', 'ds'],
}
FIXED = {
    'cl': 'cl', 'al': 'al', 'ax': 'ax', 'eax': 'eax', 'rax': 'rax', 'dx': 'dx', '1': '1', 'i8': '7', 'i16': '0x1234',
    'i32': '0x12345678',
    'i64': '0x123456789abcdef0', 'rel': 'target', 'st0': 'st', 'xmm0': 'xmm0', 'sti': 'st(2)',
    'm': '[rax]', 'm8': 'byte ptr [rax]', 'm16': 'word ptr [rax]', 'm32': 'dword ptr [rax]', 'm64': 'qword ptr [rax]',
    'm80': 'tbyte ptr [rax]', 'm128': 'xmmword ptr [rax]', 'm256': 'ymmword ptr [rax]', 'm512': 'zmmword ptr [rax]',
    'vx': '[rax+xmm5*4]', 'vy': '[rax+ymm5*4]',
}
LEA = ['[rsi]', '[0x1234]', '[rsi+7]', '[rsi+rdi]', '[rsi+rdi+7]', '[rdi*4+7]', '[rsi+rdi*4]', '[rsi+rdi*4+7]',
       '[rip+7]']
G, GM = ['r8', 'r16', 'r32', 'r64'], ['m8', 'm16', 'm32', 'm64']
VM = ['m8', 'm16', 'm32', 'm64', 'm128', 'm256', 'm512']
IMM = ['i8', 'i16', 'i32', 'i64', '1', 'cl']
ONE = G + GM + ['rh', 'm', 'm80', 'm128', 'm256', 'm512', 'sreg', 'i8', 'i16', 'i32', 'rel', 'ax', '1', 'mm', 'xmm',
                'st', 'sti']


def scalar():
    """Patterns of instructions outside VEX and EVEX."""
    yield []
    yield from ([a] for a in ONE)
    for a in G + GM + ['rh', 'm', 'm128', 'al', 'ax', 'eax', 'rax', 'sreg', 'mm', 'xmm']:
        for b in G + GM + IMM + ['rh', 'm', 'm128', 'm512', 'al', 'ax', 'eax', 'rax', 'sreg', 'mm', 'xmm']:
            if not (a[0] == 'm' and a != 'mm' and b[0] == 'm' and b != 'mm') and not a == b[0:len(a)] in ('al', 'ax',
                    'eax', 'rax'):
                yield [a, b]
    for w in ('16', '32', '64'):
        for b in ('r' + w, 'm' + w):
            for c in ('r' + w, 'm' + w, 'i8', 'i16' if w == '16' else 'i32', 'cl'):
                yield ['r' + w, b, c]
        yield from (['m' + w, 'r' + w, c] for c in ('i8', 'cl'))
    for a in ('xmm', 'mm', 'r32', 'r64', 'm8', 'm16', 'm32', 'm64'):
        for b in ('xmm', 'mm', 'r32', 'r64', 'm8', 'm16', 'm32', 'm64', 'm128'):
            yield from ([a, b, c] for c in ('i8', 'xmm0'))


def x87():
    yield []
    yield from ([a] for a in ('m', 'm16', 'm32', 'm64', 'm80', 'st', 'sti', 'ax'))
    yield from (['st0', 'sti'], ['sti', 'st0'])


def vector():
    """Patterns of VEX and EVEX instructions."""
    yield []
    yield ['m32']
    for w in ('xmm', 'ymm', 'zmm'):
        for b in ['xmm', 'ymm', 'zmm', 'k', 'r32', 'r64', 'i8', 'vx', 'vy'] + VM:
            yield [w, b]
        for a in ['k', 'r32', 'r64'] + VM:
            yield [a, w]
        for a in VM + ['vx', 'vy']:
            yield [w, a, w]
        yield from (['xmm', a, 'xmm'] for a in ('vx', 'vy'))
        for c in ['xmm', 'ymm', 'zmm', 'i8', 'r32', 'r64'] + VM:
            yield [w, w, c]
            yield ['k', w, c]
            yield [c, w, w]
            if c != 'i8':
                yield [c, w, 'i8']
                yield [w, c, 'i8']
                yield [w, w, c, 'i8']
                yield ['k', w, c, 'i8']
                yield [w, w, c, w]
    for a in ('k', 'r32', 'r64', 'm8', 'm16', 'm32', 'm64'):
        yield from (['k', a], [a, 'k'])
    yield from (['k', 'k', 'k'], ['k', 'k', 'i8'])
    yield from (['k', m, 'i8'] for m in VM)
    yield from ([r, m] for r in ('r32', 'r64') for m in VM)


def text(mnemonic, p):
    out = []
    for i, x in enumerate(p):
        out.append(FIXED[x] if x in FIXED else REG[x][i])
    return mnemonic + ' ' + ', '.join(out)


# Not tried: instructions of other makers, withdrawn ones, and ones that no core here has.
FOREIGN = ('vpcom', 'vprot', 'vpsha', 'vpshl', 'vfrcz', 'vpmacs', 'vpmadcs', 'vphadd', 'vphsub', 'vpcmov', 'vpperm',
           'vpermil2', 'vexp2', 'vrcp28',
           'vrsqrt28', 'vgatherpf', 'vscatterpf', 'v4f', 'vp4', 'pf', 'pi2', 'vlog2', 'vscalef', 'vpackstore',
           'vloadunpack', 'vaddn', 'vadds',
           'vsubr', 'vfixup', 'vcvtfx', 'vgmax', 'vgmin', 'vmulw', 'vpadc', 'vpsbb', 'delay', 'spflt', 'clevict',
           'vprefetch', 'tileload', 'tilestore')
FOREIGN_KEEP = ('vfixupimm', 'vpshld', 'vpshrd', 'vpcompress', 'vadds', 'vphadd', 'vphsub', 'vscalef')
FP16 = re.compile(r'(ph|sh)$|ph2|sh2|2ph|2sh')


def lines(mnemonics):
    """Text of every candidate."""
    for m in mnemonics:
        if m in ('lea', 'bnd', 'xbegin', 'ud0', 'ud1') or (m.startswith(FOREIGN) and not m.startswith(FOREIGN_KEEP)):
            continue
        if m[0] == 'v' and FP16.search(m) and not m.startswith(('vcvtph2ps', 'vcvtps2ph')):
            continue
        if m[0] in 'vk' and m not in ('verr', 'verw', 'vmcall', 'vmclear', 'vmfunc', 'vmlaunch', 'vmptrld',
                                      'vmptrst', 'vmread', 'vmresume', 'vmwrite',
                                      'vmxoff', 'vmxon'):
            ps = vector()
        elif m[0] == 'f' and not m.startswith(('fx', 'fence')) or m == 'fxch':
            ps = x87()
        elif m[0] == 'j' or m.startswith('loop'):
            ps = ([a] for a in ONE)
        else:
            ps = scalar()
        for p in ps:
            yield text(m, p)
    for r in ('r16', 'r32', 'r64'):
        for a in LEA:
            yield 'lea %s, %s' % (REG[r][0], a)
    for m in ('adc', 'add', 'and', 'btc', 'btr', 'bts', 'or', 'sbb', 'sub', 'xadd', 'xchg', 'xor', 'cmpxchg'):
        for w in range(4):
            yield 'lock ' + text(m, [GM[w], G[w]])
            yield 'lock ' + text(m, [GM[w], 'i8'])
            if w:
                yield 'lock ' + text(m, [GM[w], 'i16' if w == 1 else 'i32'])
    for m in ('inc', 'dec', 'neg', 'not'):
        for w in GM:
            yield 'lock ' + text(m, [w])
    yield 'lock cmpxchg8b [rax]'
    yield 'lock cmpxchg16b [rax]'
    for s in 'bwdq':
        for p, ms in (('rep', ('movs', 'stos', 'lods')), ('repe', ('cmps', 'scas')), ('repne', ('cmps', 'scas'))):
            for m in ms:
                yield '%s %s%s' % (p, m, s)
    for m in ('movsb', 'movsw', 'movsd', 'movsq', 'stosb', 'stosw', 'stosd', 'stosq', 'lodsb', 'lodsw', 'lodsd',
              'lodsq', 'scasb', 'scasw',
              'scasd', 'scasq', 'cmpsb', 'cmpsw', 'cmpsd', 'cmpsq'):
        yield m
    yield '.byte 0x66, 0x90'


def assemble(llvm_mc, texts):
    """(hex, LLVM opcode, operands as (kind, value), AT&T text) of every line that assembles.  Some lines crash
    llvm-mc 19; then the batch is halved until the line is alone."""
    if len(texts) > 5000:
        for i in range(0, len(texts), 5000):
            yield from assemble(llvm_mc, texts[i:i + 5000])
        return
    src = '.intel_syntax noprefix\ntarget:\n' + '\n'.join(texts) + '\n'
    p = subprocess.run([llvm_mc, '-triple=x86_64-pc-linux-gnu', '-show-encoding', '-show-inst', '--filetype=asm'],
                       input=src,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                       env=dict(os.environ, LLVM_DISABLE_SYMBOLIZATION='1'))
    if p.returncode < 0 or p.returncode > 1:
        if len(texts) > 1:
            yield from assemble(llvm_mc, texts[:len(texts) // 2])
            yield from assemble(llvm_mc, texts[len(texts) // 2:])
        return
    yield from parse_show_inst(p.stdout)


def disassemble(llvm_mc, hexes):
    src = '\n'.join(' '.join('0x' + h[i:i + 2] for i in range(0, len(h), 2)) for h in hexes) + '\n'
    p = subprocess.run([llvm_mc, '-triple=x86_64-pc-linux-gnu', '--disassemble', '-show-encoding', '-show-inst',
                        '-output-asm-variant=1'],
                       input=src, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return parse_show_inst(p.stdout)


def parse_show_inst(out):
    code, opcode, operands, asm = None, None, [], None
    for line in out.split('\n'):
        if 'encoding: [' in line:
            asm = line.split('#')[0].strip()
            body = line.split('encoding: [')[1].split(']')[0]
            code = ''
            for b in body.split(','):
                b = b.strip()
                code += '00' if not b.startswith('0x') else b[2:4]
        s = line.lstrip('# \t')
        if s.startswith('<MCInst '):
            opcode, operands = s.split()[2].rstrip('>'), []
            if s.endswith('>') and code:
                yield code, opcode, operands, asm
        elif s.startswith('<MCOperand ') and code:
            kind, _, value = s[len('<MCOperand '):].rstrip('>').partition(':')
            operands.append((kind, value))
            if s.endswith('>>'):
                yield code, opcode, operands, asm
                code = None
