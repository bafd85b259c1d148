#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the rows of instruction forms in data/uops/<uarch>.tsv (below the line MARK).  Run by
# tools/uops/generate_uops.sh.
#
# A form's uops come from three places, in this order of trust, and each row says from which:
#   IL     what InstLatx64 measured for that form (every fifth line of a file is held out to judge the table)
#   LLVM   the scheduling model of LLVM 19: which uops, which ports, which latency
#   class  the row of the form's class, written by hand above MARK, with its own source
#
# The rules.  None contains the figure of a single instruction; each has its reason.
#  R1  What LLVM's models do not describe keeps the class' row: branches, stack, strings, fences, far transfers,
#      microcode, LOCK (its cost is not modelled), x87 (LLVM has defaults for much of it), integer division (its time
#      depends on the data; LLVM has the worst case), LEA (LLVM 19 does not distinguish addressing modes), rows of
#      four or more uops that may all go to any port (placeholders), and register copies that rename eliminates.
#      PUSH, POP, CALL and RET keep it because the stack engine does the addition.
#  R2  Everything else takes LLVM's uops without those on memory ports: the decoder adds loads and stores.  CVTDQ2PD
#      from memory is treated like CVTPS2PD from memory, whose elements go to the same places (see spread).
#  R3  If the class' row has uops on the same ports, its data flow is kept, and further uops of LLVM stand beside it
#      (`side`).  Otherwise, if it has as many uops, its data flow is kept with LLVM's ports.  Otherwise the uops form a
#      chain in which the working uop has the latency; uops for which no cycle is left stand beside it.
#  R4  Latency: IL's if it is within 0.15 of a whole number (of the form, or of its VEX or legacy sibling); else the one
#      that most forms of the same class and ports have in IL; else LLVM's.  A form with a memory operand has the
#      uops and latency of its register form if LLVM has these ports too, and LLVM's further uops stand beside them;
#      LLVM's latencies of read-modify-write include the access and are not used.  Rows whose data flow names results
#      (out1, out2, flags), forms that depend on themselves through flags or hidden registers, and classes that cross
#      register files (only round trips can be measured) keep the class' latencies.  But a chain of plain uops
#      through the flags (RCL) has IL's latency if its throughput shows the same path (within 15 %, else 35 % and the
#      latency itself); so have unmeasured forms of that mnemonic on the same ports.
#  R5  Throughput: this rule applies where IL differs by more than 15 % from what a row means, and the form does not
#      depend on itself through flags or hidden registers.  Such a form takes the class' row if that agrees with IL;
#      else, if it is one uop that runs faster than its ports allow, the wider port set of the machine that gives
#      IL's figure to 5 %.  Otherwise the row stays.  IL's loops use few registers, and the decoders and
#      length-changing prefixes slow them down (instructions of several issue slots pass one a clock: OM, one complex
#      decoder), so a slower figure need not come from the ports.  For instructions of several uops, older versions
#      print a T below what any distribution over ports could give (PMULLD 0.4 on Skylake).
#      A form that depends on itself takes the class' row, too, if LLVM's ports alone were slower than IL (SHL r,cl).
#      A vector operation of one uop and one cycle that takes one clock in IL in both encodings, although its two ports
#      would allow two a clock, gets one of the ports (PADDQ, PMAXSD on Ivy Bridge; the first one, a GUESS).  If
#      microcode (more than four slots) is slower in IL than its ports, its longest uop is busy that long.  Register
#      copies have LLVM's ports (Ivy Bridge: MOVAPS on port 5), unless IL contradicts.  What IL decides for most of
#      the measured forms of a class' row holds for its other register forms, too; likewise for wider ports, among
#      forms on the same ports.
#  R6  Dividers: cycles from IL (of the form, its sibling or its register form), else from the class' row, else from the
#      model's divider; the latency, if IL has none, from the class' row.
#  R7  An instruction newer than the core (except AVX-512) has its class' row, as a substitute that runs count and name.
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import candidates
import model
import older
import rows
import zen
from rows import Uop

MARK = '# --- instruction forms: made by tools/uops/generate_uops.sh, do not edit below'
LLVM_MC, EXEGESIS = 'llvm-mc-19', 'llvm-exegesis-19'

COMMON = '''I86 I386 I486REAL I486 I186 I286REAL I286PROTECTED PENTIUMREAL PENTIUMMMX PPRO CMOV FCMOV X87 SSE SSE2
SSE3 SSE3X87 SSSE3 SSSE3MMX SSE4
SSE42 SSE2MMX SSEMXCSR SSE_PREFETCH POPCNT AES PCLMULQDQ LONGMODE FAT_NOP FXSAVE FXSAVE64 LAHF CMPXCHG16B CLFSH
PAUSE MONITOR PREFETCH_NOP
RDTSCP RDPMC XSAVE XSAVEOPT SMX VTX CET AVX AVXAES F16C RDWRFSGS RDRAND CLDEMOTE MPX'''.split()
HASWELL = COMMON + '''AVX2 AVX2GATHER FMA BMI1 BMI2 LZCNT MOVBE ADOX_ADCX RDSEED CLFLUSHOPT XSAVEC XSAVES INVPCID
SMAP RTM SGX
PREFETCHWT1 PKU'''.split()
GOLDEN = HASWELL + '''SHA GFNI AVX_GFNI VAES VPCLMULQDQ CLWB MOVDIR SERIALIZE WAITPKG RDPID ENQCMD AVX_VNNI HRESET
UINTR TSX_LDTRK
AVX512F_128 AVX512F_256 AVX512F_512 AVX512F_SCALAR AVX512F_128N AVX512F_KOP AVX512BW_128 AVX512BW_256 AVX512BW_512
AVX512BW_128N AVX512BW_KOP
AVX512DQ_128 AVX512DQ_256 AVX512DQ_512 AVX512DQ_SCALAR AVX512DQ_128N AVX512DQ_KOP AVX512CD_128 AVX512CD_256
AVX512CD_512 AVX512_VNNI_128
AVX512_VNNI_256 AVX512_VNNI_512 AVX512_VBMI_128 AVX512_VBMI_256 AVX512_VBMI_512 AVX512_IFMA_128 AVX512_IFMA_256
AVX512_IFMA_512
AVX512_VBMI2_128 AVX512_VBMI2_256 AVX512_VBMI2_512 AVX512_BITALG_128 AVX512_BITALG_256 AVX512_BITALG_512
AVX512_VPOPCNTDQ_128
AVX512_VPOPCNTDQ_256 AVX512_VPOPCNTDQ_512 AVX512_GFNI_512 AVX512_VAES_512 AVX512_VPCLMULQDQ_512'''.split()
ZEN4 = [s for s in GOLDEN if s not in 'RTM SGX MPX CET MOVDIR SERIALIZE WAITPKG ENQCMD AVX_VNNI HRESET UINTR '
                                      'TSX_LDTRK SMX VTX CLDEMOTE'.split()] + [
    'SSE4A', 'CLZERO', 'MONITORX', 'AVX512_BF16_128', 'AVX512_BF16_256', 'AVX512_BF16_512']
ZEN3 = [s for s in ZEN4 if not s.startswith('AVX512') and 'GFNI' not in s]
ZEN5 = ZEN4 + 'AVX_VNNI MOVDIR AVX512_VP2INTERSECT_128 AVX512_VP2INTERSECT_256 AVX512_VP2INTERSECT_512'.split()
SUBSTITUTES = [s for s in GOLDEN if not s.startswith('AVX512')]

UARCH = {
    'skylake': dict(cpu='skylake', prefix='SKLPort', width=4, load='23', sta='237', std='4', memory=set('2347'),
                    sets=HASWELL,
                    instlat='00506E3_Skylake_InstLatX64.txt', load_latency=(5, 6, 7)),
    'golden-cove': dict(cpu='sapphirerapids', prefix='SPRPort', width=6, load='23b', sta='78', std='49',
                        memory=set('23b789') | set('4'),
                        # LLVM 19 has one uop for CMOVBE; the machine takes 1 clock, and 2 cycles from CMP to its result
                        keep=('cmov2',),
                        sets=GOLDEN, instlat='0090672_AlderLake_01_BC_InstLatX64.txt', load_latency=(5, 7, 8)),
    'ivy-bridge': dict(cpu='ivybridge', prefix='SBPort', width=4, load='23', sta='23', std='4', memory=set('234'),
                       sets=COMMON,
                       instlat='00306A9_IvyBridge_InstLatX64.txt', load_latency=(5, 6, 7)),
    # measured on these machines with tools/uops/measure.sh
    'zen3': dict(cpu='znver4', sets=ZEN3, measured='zen3-host.tsv'),
    'zen4': dict(cpu='znver4', sets=ZEN4, measured='zen4-host.tsv'),
    'zen5': dict(cpu='znver4', sets=ZEN5, measured='zen5-host.tsv'),
}
# R1
KEEP = '''load load_index store_address store_address_index store_data zero_idiom jcc_fused lock xchg_mem lea
lea_scaled lea_slow lea_slow_scaled
lea_rip push pop pushf popf pusha popa enter leave div idiv bt_mem jmp jmp_ind jcc jecxz loop call call_ind ret
ret_imm far syscall movs cmps
stos lods scas rep_movs rep_cmps rep_stos rep_lods rep_scas nop pause cpuid serialize rdtsc rdtscp rdpmc xgetbv
rdrand rdpid rdfsbase wrfsbase
rdpkru wrpkru lfence sfence mfence clflush clflushopt movdir64b prefetch ldmxcsr stmxcsr fxsave fxrstor xsave
xrstor tsx tsx_test privileged
fxch fbld fbstp fninit fnclex fnstenv fldenv fnsave frstor fprem frndint fscale fxtract f2xm1 fyl2x fsin fpatan
emms mov_seg vzeroupper
vzeroall maskmovdqu gather movnti add_imm cmpxchg8b cmpxchg16b xlat bcd clc movbe fld fst fld_const fld_zero fild
fist fchs fadd fmul fdiv
fsqrt fiadd fimul fidiv fcom fcomi ficom fxam fcmov fnop fwait fnstsw fnstcw fldcw'''.split()
# These also with memory operands: narrow loads merge, and MOV has no uop besides the load or the store.
KEEP_MEMORY = ['mov', 'movzx', 'movsx']
CROSS = '''mov_gpr_vec mov_vec_gpr mov_mmx_vec cvt_to_gpr cvt_from_gpr cvt_from_gpr64_s cvt_mmx pextr pinsr
movmsk'''.split()
DIVIDE = ['fp_div_s', 'fp_div_d', 'fp_sqrt_s', 'fp_sqrt_d']


def digit(n):
    return '%x' % n


def ports_of(resource, prefix):
    """'SKLPort015' -> '015', 'SPRPort00_01_10' -> '01a'; None if it is not a port."""
    if not resource.startswith(prefix) or resource == prefix + 'Invalid':
        return None
    tail = resource[len(prefix):]
    if prefix == 'SPRPort':
        return ''.join(sorted(digit(int(p)) for p in tail.split('_')))
    return tail


class Form:
    def __init__(self, fields):
        (self.code, self.name, self.cls, self.width, self.kind, self.row, self.set, loads, stores, slots, uops,
         chain) = fields
        self.loads, self.stores, self.slots, self.uops, self.chain = (int(loads), int(stores), int(slots), int(uops),
                chain == '1')

    def register_form(self):
        """The name with the memory operand replaced by a register as wide as the other operands."""
        mnemonic, _, ops = self.name.partition(' ')
        ops = ops.split(',')
        wide = [o for o in ops if o in ('ymm', 'xmm', 'mm', 'zmm', 'r8', 'r16', 'r32', 'r64')]
        out = []
        for o in ops:
            m = re.match(r'^m(\d+)$', o)
            if m:
                n = m.group(1)
                vector = [w for w in wide if w[0] != 'r']
                if vector and n in ('128', '256', '512'):
                    o = {'128': 'xmm', '256': 'ymm', '512': 'zmm'}[n]
                elif vector:
                    o = 'mm' if vector[0] == 'mm' else 'xmm'
                else:
                    o = 'r' + n
            out.append(o)
        return mnemonic + ' ' + ','.join(out)


class Generator:
    def __init__(self, uarch, top, forms_tool, data, work):
        self.u, self.uarch, self.top, self.tool, self.work = UARCH[uarch], uarch, top, forms_tool, work
        self.tsv = os.path.join(top, 'data/uops/%s.tsv' % uarch)
        self.instlat_file = os.path.join(data, 'instlat', self.u['instlat']) if 'instlat' in self.u else None
        self.keep, self.keep_memory, self.cross = KEEP, KEEP_MEMORY, CROSS
        self.hand, self.class_rows = [], {}
        self.log = []

    def read_hand(self):
        for line in open(self.tsv):
            line = line.rstrip('\n')
            if line.startswith(MARK):
                break
            self.hand.append(line)
            f = line.split('\t')
            if len(f) == 4 and not line.startswith(('#', '@')):
                self.class_rows[f[0]] = (f[1], f[2], f[3])
        while self.hand and not self.hand[-1]:
            self.hand.pop()

    def describe(self, hexes):
        p = subprocess.run([self.tool, 'describe', self.tsv], input='\n'.join(hexes) + '\n', stdout=subprocess.PIPE,
                           text=True, check=True)
        return [Form(line.split('\t')) for line in p.stdout.splitlines()]

    def bound(self, uops, form):
        ports = [x.ports for x in uops if x.kind == 'p'] + [self.u['load']] * form.loads
        ports += [self.u['sta'], self.u['std']] * form.stores
        slots = max(1, len(uops) - (1 if form.loads and uops else 0) + form.loads + form.stores)
        return rows.port_bound(ports, self.u['width'], slots, max([x.busy for x in uops] or [0]))

    def model_uops(self, m):
        """Ports of the computing uops of a model class, its divider cycles, and its uops on memory ports."""
        out, divider = [], 0
        for name, cycles in m.resources.items():
            if name.endswith('Divider'):
                divider = max(divider, cycles)
                continue
            p = ports_of(name, self.u['prefix'])
            if p and not (set(p) & self.u['memory']):
                out += [p] * cycles
        return sorted(out, key=lambda p: (-len(p), p)), divider

    def known_sets(self, models):
        sets = set()
        for m in models.values():
            for name in m.resources:
                p = ports_of(name, self.u['prefix'])
                if p and not (set(p) & self.u['memory']):
                    sets.add(p)
        return sorted(sets, key=lambda p: (len(p), p))

    def class_uops(self, form):
        return rows.parse_uops(self.class_rows[form.row][0])

    def set_latency(self, uops, latency):
        """Adds to the uop that carries the latency what is missing to `latency`; False if the row has no such uop."""
        chain = [x for x in uops if not x.side and x.kind == 'p']
        if not chain or latency is None or any(a in ('out1', 'out2', 'flags') for x in chain for a in x.attrs):
            return False
        main = max(chain, key=lambda x: x.latency)
        new = main.latency + latency - rows.path(uops)
        for x in chain:  # uops for which no cycle is left stand beside the chain
            if new >= 1:
                break
            if x is not main and x.latency == 1 and not x.attrs:
                x.attrs.append('side')
                new += 1
        if new < 1 or new > 255:
            return False
        main.latency = new
        return True

    def flow(self, ports, template, latency):
        """R3: uops on `ports` (a list), with the data flow of the class' row if it fits."""
        live = [x for x in template if x.kind == 'p'] if template else []
        if template and len(live) == len(template) == len(ports):
            if sorted(x.ports for x in live) == sorted(ports):
                return [x.copy() for x in template], 'flow'
            left, out = list(ports), [x.copy() for x in template]
            rest = []
            for x in out:
                if x.ports in left:
                    left.remove(x.ports)
                else:
                    rest.append(x)
            rest.sort(key=lambda x: (len(x.ports), x.ports))
            for x, p in zip(rest, sorted(left, key=lambda p: (len(p), p))):
                x.ports = p
            for x in out:
                x.attrs = [a for a in x.attrs if not a.startswith(('busy', 'unit'))]
            return out, 'ports'
        if live and len(live) == len(template) < len(ports):
            more = list(ports)
            for x in live:
                if x.ports in more:
                    more.remove(x.ports)
            if len(more) == len(ports) - len(live):
                return [Uop(p, 1, ['side']) for p in more] + [x.copy() for x in template], 'flow'
        if len(ports) == 1:
            return [Uop(ports[0], max(1, latency))], 'one'
        # The port that works in the class' row does the work, else the uop with the fewest ports; it comes last,
        # because the general ones move data.
        order = sorted(ports, key=lambda p: (-len(p), p))
        main = max(live, key=lambda x: x.latency).ports if live else None
        if main in order:
            order.remove(main)
            order.append(main)
        n, spare = len(order), max(1, latency)
        out = []
        in_chain = min(n, spare)
        for i, p in enumerate(order):
            out.append(Uop(p, 1, ['side'] if i < n - in_chain else []))
        out[-1].latency = spare - (in_chain - 1)
        return out, 'chain'

    def fit_throughput(self, uops, form, measured, sets, template):
        """R5."""
        def agrees(r):
            return abs(self.bound(r, form) - measured) <= 0.15 * measured
        if agrees(uops) or not uops or self.bound(uops, form) > 20:
            return uops, None
        if self.one_a_clock(form, uops, measured):
            uops[0].ports = uops[0].ports[0]
            return uops, 'ports'
        if form.chain and not (template and agrees(template) and self.bound(uops, form) > measured):
            return uops, None
        if len(uops) + form.stores > 1 and self.bound(uops, form) < measured <= 1.1:
            return uops, None
        if template is not None and template and agrees(template):
            return [x.copy() for x in template], 'class'
        one = uops[0] if len(uops) == 1 and uops[0].kind == 'p' else None
        if one and measured < self.bound(uops, form) and not form.loads and not form.stores:
            for p in sets:
                if set(one.ports) < set(p) and abs(1 / len(p) - measured) <= 0.05 * measured:
                    self.wider.setdefault((form.row, one.ports), {}).setdefault(p, []).append(form.name)
                    one.ports = p
                    return uops, 'ports'
        return uops, 'open'

    def spread(self, form, ports):
        """32-bit integers and floats in memory go to the same places of a wider register.  So if the model and the
        class' row let the load port do that for CVTPS2PD, it does it for CVTDQ2PD, too (LLVM says so for Golden
        Cove, not for Skylake)."""
        sister = self.models.get(form.name.replace('DQ2PD',
                                                   'PS2PD')) if form.kind == 'm' and 'DQ2PD' in form.name else None
        return sister and len(self.model_uops(sister)[0]) == len(self.class_uops(form)) < len(ports)

    def one_a_clock(self, form, uops, measured):
        """True for a vector operation of one cycle that takes a whole clock in IL in both encodings, though its
        port set would allow two a clock.  Few registers are not the reason (there are 8, and the latency is 1), nor
        are the decoders (its sisters of the same length pass).  One encoding is enough if others of its class have
        both.  Which of the ports it has is a GUESS."""
        other = self.il.get(self.sibling(form.name) or '', (None, None))[1]
        if not (len(uops) == 1 and uops[0].kind == 'p' and len(uops[0].ports) == 2 and uops[0].latency == 1
                and 'xmm' in form.name and
                form.kind == '-' and not form.chain):
            return False
        measured = [t for t in (measured, other) if t]
        if not measured or any(abs(t - 1) > 0.1 for t in measured):
            return False
        if len(measured) == 2:
            self.singles.setdefault(form.row, []).append(form.name)
        return len(measured) == 2 or form.row in self.others_single

    def one_path(self, form, key, lat, tp):
        """The latency of a form that depends on itself through flags, if IL's latency and throughput are the same path;
        for an unmeasured form, that of other forms of its class and ports."""
        if lat and tp:
            return (None if lat < 0.85 else round(tp) if abs(lat - tp) <= 0.15 * tp else round(lat)
                    if abs(lat - tp) <= 0.35 * tp else None)
        votes = self.others.get((form.name.split()[0],) + key) or {}
        return max(votes, key=lambda l: len(votes[l])) if votes else None

    def vote(self, form, for_class):
        class_, model_ = self.votes.get(form.row, (0, 0))
        self.votes[form.row] = (class_ + for_class, model_ + (not for_class))

    @staticmethod
    def within(ports, base):
        """The uops of `base` on `ports`, if it has all of these; a uop that the load makes superfluous (a shuffle) is
        removed."""
        left, out = list(ports), []
        for x in reversed(base):
            if x.ports in left and not x.side:
                left.remove(x.ports)
                out.insert(0, x.copy())
        return out if not left else None

    @staticmethod
    def sibling(name):
        """The VEX form of a legacy form, or the reverse: the same execution unit does both."""
        mnemonic, _, ops = name.partition(' ')
        ops = ops.split(',')
        if mnemonic.startswith('V'):
            return mnemonic[1:] + ' ' + ','.join(ops[1:] if len(ops) > 2 and ops[0] == ops[1] else ops)
        return (None if 'mm' not in name else 'V' + name if len(ops) < 2 or ops[1] != ops[0] else 'V%s %s'
                % (mnemonic, ','.join([ops[0]] + ops)))

    def row(self, form, m, sets, il):
        """The row of one form: (text of its uops, flags, source)."""
        ctext, cflags, csource = self.class_rows[form.row]
        lat, tp = il.get(form.name, (None, None))
        locked = form.name.startswith('LOCK ') or form.cls == 'xchg_mem'
        keep = None
        if form.newer and form.cls not in ('default', 'substitute'):  # R7
            flags = [x for x in cflags.split(',') if x not in ('-', 'substitute')] + ['substitute']
            return ctext, ','.join(flags), 'class %s' % form.row
        kept = form.cls in KEEP or form.cls in self.u.get('keep', ())
        if kept or locked or (form.cls in KEEP_MEMORY and form.kind != '-'):
            keep = 'class'
        elif m is None or (m.latency >= 100 and m.uops <= 1) or (m.uops == 0 and 'elim' not in ctext):
            keep = 'not modelled'
        elif 'elim' in cflags.split(',') and form.kind == '-' and ctext != '-':
            uops = [Uop(p, m.latency) for p in self.model_uops(m)[0]]
            if len(uops) != 1 or (tp and abs(self.bound(uops, form) - tp) > 0.15 * tp):
                keep = 'class'
        elif form.cls in ('default', 'substitute') and m is None:
            return None
        if keep:
            if form.cls in ('default', 'substitute'):
                return None
            text = ctext
            if locked:
                extra = self.class_rows['lock'][0]
                text = extra if text == '-' else text + '+' + extra
            return text, cflags, 'class %s' % form.row
        template = self.class_uops(form) if form.cls not in ('default', 'substitute') else None
        if form.row in self.outvoted and form.kind == '-':
            self.by_class.add(form.name)
            return (ctext, cflags, 'class %s, IL on its other forms' % form.row if tp is None
                    else 'class %s, IL T %g' % (form.row, tp))
        ports, divider = self.model_uops(m)
        latency = m.latency
        if form.loads:
            size = re.search(r'\bm(\d+)', form.name)
            size = int(size.group(1)) if size else 64
            latency -= self.u['load_latency'][2 if size >= 256 or form.width in ('256', '512') else 1 if size == 128
                                              else 0]
        source = 'LLVM'
        if self.spread(form, ports):
            return ctext, cflags, 'class %s' % form.row
        if not ports:
            return '-', 'nofuse' if 'nofuse' in cflags else '-', source
        if template and len(ports) >= 4 and set(ports) == {max(sets, key=len)}:
            return ctext, cflags, 'class %s' % form.row  # all on the general ports: a placeholder of the model
        if len(ports) > 100:  # ENCLU, WBNOINVD: programs do not spend time in these
            return (ctext, cflags, 'class %s' % form.row) if template else None
        uops, how = self.flow(ports, template, latency)
        # R4
        special = form.cls in CROSS or any(a in ('out1', 'out2', 'flags', 'par') for x in uops for a in x.attrs)
        base = self.register_rows.get(form.register_form()) if form.kind != '-' else None
        if ',i16' in form.name:  # a length-changing prefix: the time is the decoder's, not the unit's
            lat = None
        elif lat is None and form.kind == '-':
            lat = il.get(self.sibling(form.name), (None, None))[0]
        key = (form.row, tuple(x.ports for x in uops))
        if base:
            decided = form.register_form() in self.by_class and not form.row.endswith(('.m', '.s', '.rmw'))
            more = list(ports)
            for x in base:
                if x.ports in more:
                    more.remove(x.ports)
            if decided:
                uops = [x.copy() for x in base]
            elif len(more) == len(ports) - len(base):
                uops = [Uop(p, 1, ['side']) for p in more] + [x.copy() for x in base]
            elif not special and self.within(ports, base):
                uops = self.within(ports, base)
            elif not special:
                self.set_latency(uops, min(rows.path(base), max(latency, 1)) if form.kind == 'm' else rows.path(base))
        elif form.chain and form.kind == '-' and not special and self.one_path(form, key, lat, tp):
            if self.set_latency(uops, self.one_path(form, key, lat, tp)):
                source += ', IL L %g, IL T %g' % (lat, tp) if lat and tp else ', IL L on its other forms'
                if lat and tp:
                    self.latencies.setdefault((form.name.split()[0],) + key, {}).setdefault(round(tp),
                            []).append(form.name)
        elif how == 'flow' and (form.kind != '-' or form.chain):
            pass
        elif form.kind in ('s', 'rmw'):
            self.set_latency(uops, max(rows.path(template) if template else 1, sum(not x.side for x in uops)))
        elif special and how != 'chain':
            pass
        elif (lat is not None and form.kind == '-' and abs(lat - round(lat)) <= 0.15 and round(lat) >= 1
              and not form.chain):
            if self.set_latency(uops, round(lat)):
                source += ', IL L %g' % lat
                self.latencies.setdefault(key, {}).setdefault(round(lat), []).append(form.name)
            elif template and rows.path(template) == round(lat):
                self.vote(form, True)
                self.by_class.add(form.name)
                return ctext, cflags, 'class %s, IL L %g' % (form.row, lat)
        elif how != 'chain' or form.kind == '-':
            votes = self.others.get(key) if form.kind == '-' else None
            if votes and self.set_latency(uops, max(votes, key=lambda l: len(votes[l]))):
                source += ', IL L on its other forms'
            elif not special:
                self.set_latency(uops, max(latency, 1))
        # R6
        if form.cls in DIVIDE and uops:
            sibling = il.get(self.sibling(form.name), (None, None))[1]
            measured = next((t for t in (tp, sibling) if t and t >= 2), None)
            cycles = round(measured) if measured else max([x.busy for x in base or []] or [0]) or divider
            if not measured and not base:
                cycles = max([x.busy for x in template or []] or [0]) or divider
            if lat is None and not base and template and form.kind == '-':
                self.set_latency(uops, rows.path(template))
            carrier = max(uops, key=lambda x: x.latency)
            carrier.attrs = [a for a in carrier.attrs if not a.startswith(('busy', 'unit'))]
            if cycles > 1:
                carrier.attrs += ['busy=%d' % cycles, 'unit=fpdiv']
            if tp:
                source += ', IL T %g' % tp
        elif tp:
            uops, fitted = self.fit_throughput(uops, form, tp, sets, template)
            if form.kind == '-' and (fitted == 'class' or (fitted is None and not form.chain)):
                self.vote(form, fitted == 'class')
            if fitted == 'class':
                source = 'class %s, IL T %g' % (form.row, tp)
                self.by_class.add(form.name)
            elif fitted == 'ports':
                source += ', IL T %g' % tp
            if form.kind == '-' and fitted is None and len(uops) == 1 and not form.chain:
                self.wider.setdefault((form.row, uops[0].ports), {}).setdefault(uops[0].ports, []).append(form.name)
            if fitted:
                self.log.append('%s\t%s\t%s: IL %g' % (form.name, fitted, rows.format_uops(uops), tp))
        elif form.kind == '-' and len(uops) == 1 and uops[0].kind == 'p' and not form.chain:
            if self.one_a_clock(form, uops, None):
                uops[0].ports = uops[0].ports[0]
                source += ', IL T %g of its other encoding' % il[self.sibling(form.name)][1]
            votes = self.others_wider.get((form.row, uops[0].ports), {})
            best = max(sorted(votes), key=lambda p: len(votes[p])) if votes else uops[0].ports
            if best != uops[0].ports:
                uops[0].ports = best
                source += ', IL T on its other forms'
        flags = [f for f in cflags.split(',') if f in ('nofuse', 'falsedep', 'elim')]
        slots = len(uops) + form.stores + (form.loads - 1 if form.loads else 0)
        if tp and slots > 4 and not form.chain and tp > 1.15 * self.bound(uops, form) and not any(x.busy for x in uops):
            carrier = max((x for x in uops if not x.side), key=lambda x: x.latency)
            carrier.attrs += ['busy=%d' % round(tp), 'unit=other']
            source += ', IL T %g' % tp
        if slots > 4 or 'ms' in cflags.split(','):
            flags.append('ms')
        return rows.format_uops(uops), ','.join(flags) or '-', source


def collect(tool):
    """Every form: {hex: (hex, LLVM opcode, operands, 0 from candidates.py or 1 from met.txt)}."""
    mnemonics = subprocess.run([tool, 'mnemonics'], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    insns = {code: (code, opcode, operands, 0)
             for code, opcode, operands, _ in candidates.assemble(LLVM_MC, list(candidates.lines(mnemonics)))}
    met = [line.split()[0] for line in open(os.path.join(HERE, 'met.txt')) if line[0] != '#']
    for code in met:
        insns.setdefault(code, (code, None, None, 1))
    for code, opcode, operands, _ in candidates.disassemble(LLVM_MC, [code for code in met if code[0] != '-']):
        if code in insns and insns[code][1] is None:
            insns[code] = (code, opcode, operands, 1)
    return insns


def repeats(operands):
    """True if two sources are the same register: an idiom, or (SHLD) a case of its own."""
    regs = [v for k, v in operands or [] if k == 'Reg' and v != '0']
    return len(regs) > 1 and regs[-1] == regs[-2]


def generate(uarch, top, tool, data, work, insns, names):
    g = Generator(uarch, top, tool, data, work)
    g.read_hand()
    write(g, [])
    forms = {}
    for f in g.describe(list(insns)):
        best = forms.get(f.name)
        # A form is represented by its plainest encoding: one that LLVM knows, preferably from candidates.py (distinct
        # registers, so no idiom), the shortest.
        rank = (insns[f.code][1] is None, repeats(insns[f.code][2]), insns[f.code][3], len(f.code), f.code)
        f.newer = f.set not in g.u['sets']
        if (not f.newer or f.set in SUBSTITUTES) and '?' not in f.name and (best is None or rank < best[0]):
            forms[f.name] = (rank, f)
    forms = {n: f for n, (_, f) in forms.items()}
    listed = sorted(forms)
    known = [n for n in listed if insns[forms[n].code][1]]
    found = model.classes(EXEGESIS, g.u['cpu'], [insns[forms[n].code][:3] for n in known], names, work)
    models = {known[i]: m for i, m in found.items()}
    if 'measured' in g.u:
        used, held = zen.measured(os.path.join(HERE, g.u['measured']), zen.MACHINES[uarch]['assist'])
        z = zen.Zen(g, models, used)
        judged = 'of every fifth form, left out: latencies %d of %d, clocks %d of %d' % z.judge(forms, z.all(forms),
                held)
        print('%s: %s' % (uarch, judged))
        z = zen.Zen(g, models, {**used, **held})
        made = z.all(forms)
        g.log = z.log + [judged]
        finish(g, uarch, work, forms, models, used, made)
        return
    used, held = rows.instlat(g.instlat_file, forms)
    sets = g.known_sets(models)
    g.il, g.models = used, models
    g.votes, g.outvoted, g.others, g.others_wider, g.others_single = {}, set(), {}, {}, {}
    for _ in range(2):  # the second pass uses the votes of the first
        made, g.log, g.latencies, g.wider, g.singles = {}, [], {}, {}, {}
        g.register_rows, g.by_class = {}, set()
        for n in sorted(listed, key=lambda n: (forms[n].kind != '-', n)):
            r = g.row(forms[n], models.get(n), sets, used)
            if r is None:
                continue
            made[n] = r
            uops = rows.parse_uops(r[0])
            if forms[n].kind == '-' and uops:
                g.register_rows[n] = uops
        g.others, g.others_wider, g.others_single = g.latencies, g.wider, g.singles
        g.outvoted = {row for row, (class_, model_) in g.votes.items() if class_ > model_}
    finish(g, uarch, work, forms, models, used, made)


def finish(g, uarch, work, forms, models, used, made):
    lines = []
    for n in sorted(made):
        tp = used.get(n, (None, None))[1] or (models[n].rthroughput if n in models else None)
        lines.append([n, made[n][0], made[n][1], '1/1', '%g' % tp if tp and tp >= 0.001 else '-', made[n][2]])
    write(g, lines)
    counts = {f.name: (f.slots, f.uops) for f in g.describe([forms[n].code for n in sorted(made)])}
    for line in lines:
        line[3] = '%d/%d' % counts[line[0]]
    write(g, lines)
    with open(os.path.join(work, uarch + '.log'), 'w') as f:
        f.write('\n'.join(sorted(g.log)) + '\n')
        for n in sorted(made):
            m = models.get(n)
            if m and not made[n][2].startswith('class') and m.uops != counts[n][1]:
                f.write('%s: %d uops here, %d in the model\n' % (n, counts[n][1], m.uops))
    by = {}
    for line in lines:
        key = line[5].split(',')[0].split()[0] + (' + IL' if 'IL' in line[5] else '')
        by[key] = by.get(key, 0) + 1
    print('%s: %d rows (%s)' % (uarch, len(lines), ', '.join('%d %s' % (v, k) for k, v in sorted(by.items()))))


def write(g, lines):
    with open(g.tsv + '.new', 'w') as f:
        f.write('\n'.join(g.hand) + '\n')
        if lines:
            f.write('\n' + MARK
                    + '\n# form, uops, flags, issue slots/uops, clocks per instruction, source (see '
                      'tools/uops/generate_uops.py)\n')
            for line in lines:
                f.write('\t'.join(line) + '\n')
    os.rename(g.tsv + '.new', g.tsv)


def main():
    top, tool, data, work = sys.argv[1:5]
    uarchs = sys.argv[5:] or list(UARCH) + list(older.LAYOUT)
    insns = collect(tool)
    folds = int(os.environ.get('FOLDS', 0))
    if folds:  # also make a table without each fold, in a directory of its own
        if set(uarchs) - set(older.LAYOUT):
            raise SystemExit('generate_uops.py: FOLDS judges %s only' % ', '.join(older.LAYOUT))
        for k in range(folds):
            for uarch in uarchs:
                older.generate(Generator, Form, uarch, os.path.join(top, str(k)), tool, data, work, insns, (k, folds))
        return
    names = model.register_names(LLVM_MC) if set(uarchs) & set(UARCH) else None
    for uarch in uarchs:
        if uarch in UARCH:
            generate(uarch, top, tool, data, work, insns, names)
    for uarch in uarchs:
        if uarch in older.LAYOUT:
            older.generate(Generator, Form, uarch, top, tool, data, work, insns)


if __name__ == "__main__":
    main()
