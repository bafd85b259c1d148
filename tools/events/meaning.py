# SPDX-License-Identifier: GPL-2.0-or-later
# What the events of Nehalem to Ice Lake count, in terms of the core's signals (include/softpmu/signals.def), or
# why the model cannot produce them.  One entry serves every generation on which the name means the same; `only`
# narrows an entry to some of them, and the narrower entry wins.  Meanings: SDM vol. 3B, tables of performance
# monitoring events, and Intel's perfmon lists; the texts are ours.
#
# The rows come in the order of the entries.  A count of '=' is that of the row with the same event and umask
# and no modifiers.  Recurring reasons are worded as in data/events/skylake.tsv.
#
# Principle: a speculative event counts the right path and, where the core runs one
# (src/core/wrongpath/wrongpath.h), the wrong path.  The outcome of a wrong-path branch is known where its
# condition or target is known (src/core/wrongpath/walker.h).  A branch whose outcome is unknown counts as
# predicted correctly, so BR_MISP_EXEC is a lower bound there; wrong-path branches do not redirect fetch.
# Events of branches and stores that cannot happen in the model are refused.
from fnmatch import fnmatchcase

SECTIONS = []			# titles in order
ENTRIES = []			# (section, names, count or None, help, reason or None, only)
GENERATIONS = 'nhm snb ivb hsw bdw icl'.split()


def section(title):
    SECTIONS.append(title)


def event(names, count, text, only=None):
    ENTRIES.append((SECTIONS[-1], names.split(), count, text, None, only.split() if only else None))


def refuse(names, text, reason, only=None):
    ENTRIES.append((SECTIONS[-1], names.split(), None, text, reason, only.split() if only else None))


def find(name, generation):
    """(order, section, count, help, reason) of a name; None: no entry."""
    best = None
    for order, (title, names, count, text, reason, only) in enumerate(ENTRIES):
        if only and generation not in only:
            continue
        exact = name in names
        if exact or any(fnmatchcase(name, n) for n in names if '*' in n):
            rank = 2 * exact + (only is not None)
            where = order * 1000 + (names.index(name) if exact else 999)
            if not best or rank > best[0]:
                best = (rank, (where, title, count, text, reason))
    return best and best[1]


def offcore(name, value, nehalem):
    """The help of a row with this value of MSR_OFFCORE_RSP_x."""
    kinds = {0x1: 'Demand data reads', 0x2: 'Requests for ownership', 0x4: 'Code reads', 0x8: 'Write-backs',
             0x10: 'Data prefetches of L2', 0x20: 'Prefetches of L2 for ownership', 0x40: 'Code prefetches of L2'}
    if '.' not in name:
        return ('Requests beyond L2 that offcore_rsp= selects, by kind, supplier and snoop; alone: all kinds, any '
                'answer.')
    if '.LLC_' in name and name.endswith(('LOADS', 'STORES', 'PREFETCHES', 'MISSES')) or '.NODE_' in name:
        unit, _, what = name.partition('.')[2].partition('_')
        return f'What Linux programs for {unit.replace("NODE", "node")}-{what.replace("_", "-").lower()}.'
    requests = value & (0xff if nehalem else 0xffff)
    kind = kinds.get(requests, 'Requests')
    if requests not in kinds or not (value >> 8 == 0xff if nehalem else value >> 16 & 1):
        return f'{kind} beyond L2 that {value:X}H in MSR_OFFCORE_RSP_x selects: see softpmu msr 1A6H {value:X}H.'
    return f'{kind} beyond L2, whatever the answer.'


INSTRUCTIONS = 'uop(INST_END)+uop(INST_END2)'
STALL_ANY = ('cycles(sig(RESOURCE_STALL_ROB) + sig(RESOURCE_STALL_RS) + sig(RESOURCE_STALL_LB) + '
             'sig(RESOURCE_STALL_SB) >= 1)')
NO_EXECUTION = '4*cycles(uop(EXEC)@dispatch == 0)'
XCLK = '%XCLK%'			# the generation's bus or crystal clock, machines.py
DIRECT = 'wrong targets of direct branches are corrected at decode, so none is mispredicted when it executes'
STATES = 'the states of lines are not recorded with accesses'
RING0 = 'only user mode is modelled'
ORIGIN = 'fill buffers are not recorded by who asked'
ASSISTS = 'of the assists that depend on values, the tracer sees only those of floating-point operands'
MEMORY_ABORTS = ('(ABORT_CONFLICT|ABORT_READS|ABORT_WRITES|ABORT_LOCK_STORE|ABORT_LOCK_LOAD|'
                 'ABORT_LOCK_RELEASE)')
TSX = 'under the tracer a transaction aborts at once, for want of capacity'
X87_MARK = 'x87 arithmetic and x87 moves are not told apart'
PREFETCHERS = 'requests of the prefetchers of L1D and of L2 are not told apart'
INV_ALONE = ('without a CMASK, the INV bit of this code has no effect, so it would count uops; see '
             'UOPS_EXECUTED.STALL_CYCLES')

section('instructions and cycles')
event('INST_RETIRED.ANY', INSTRUCTIONS, 'Instructions retired; a macro-fused pair counts as two.')
event('INST_RETIRED.ANY_P INSTRUCTION_RETIRED INSTRUCTIONS_RETIRED', INSTRUCTIONS,
      'Instructions retired, on any counter.')
event('INST_RETIRED.ANY_P_01', INSTRUCTIONS,
      "Instructions retired: the code that Intel's list gives INST_RETIRED.ANY_P.", 'nhm')
event('INST_RETIRED.PREC_DIST', INSTRUCTIONS, 'Instructions retired, the form for precise distribution.')
event('INST_RETIRED.ALL', INSTRUCTIONS, 'Instructions retired, the form for precise distribution.')
event('INST_RETIRED.TOTAL_CYCLES', '=', 'Cycles in which fewer than 10 instructions retired: all cycles.')
event('INST_RETIRED.STALL_CYCLES', INSTRUCTIONS, 'Cycles in which no instruction retired.')
event('INST_RETIRED.NOP', 'uop(INST_NOP & INST_END)', 'NOP instructions retired.')
refuse('INST_RETIRED.X87', 'x87 arithmetic operations retired.', X87_MARK)
event('AVX.ALL', 'uop(VECTOR_256 & INST_END)', 'Instructions on 256-bit operands retired.')
event('CPU_CLK_UNHALTED.THREAD', 'sig(CYCLES)', 'Core cycles in which the thread is not halted.')
event('CPU_CLK_UNHALTED.THREAD_P CPU_CLK_THREAD_UNHALTED.THREAD_P UNHALTED_CORE_CYCLES', 'sig(CYCLES)',
      'Core cycles in which the thread is not halted, on any counter.')
event('CPU_CLK_UNHALTED.TOTAL_CYCLES', '=', 'Cycles in which fewer than 2 core cycles pass: all cycles.')
event('CPU_CLK_UNHALTED.REF_TSC UNHALTED_REFERENCE_CYCLES', 'tsc',
      'Time-stamp counter ticks in which the thread is not halted.')
event('CPU_CLK_UNHALTED.REF_P', XCLK,
      'Ticks of the 133 MHz bus clock in which the thread is not halted, the core running at 2.67 GHz.', 'nhm')
event('CPU_CLK_UNHALTED.REF_XCLK CPU_CLK_THREAD_UNHALTED.REF_XCLK', XCLK,
      'Ticks of %XCLK_NAME% in which the thread is not halted, the core running at %GHZ% GHz.')
event('CPU_CLK_UNHALTED.REF_XCLK_ANY CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY', '=',
      'Ticks of %XCLK_NAME% in which any thread of the core (there is one) is not halted, the core running at %GHZ% '
      'GHz.')
event('CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE CPU_CLK_THREAD_UNHALTED.ONE_THREAD_ACTIVE', XCLK,
      'Ticks of %XCLK_NAME% in which this thread runs and its sibling does not (there is none).')
event('CPU_CLK_UNHALTED.DISTRIBUTED', 'sig(CYCLES)',
      'Unhalted cycles shared out between the threads of a core: all of them to the only one.')
event('CPU_CLK_UNHALTED.REF_DISTRIBUTED', XCLK,
      'Ticks of %XCLK_NAME% shared out between the threads of a core: all of them to the only one.')
event('TOPDOWN.SLOTS', 'slots', 'Issue slots: unhalted cycles times the issue width.')
event('TOPDOWN.SLOTS_P', 'slots', 'Issue slots: unhalted cycles times the issue width, on any counter.')
event('CPL_CYCLES.RING123', 'sig(CYCLES)', 'Unhalted cycles outside ring 0: all that is modelled.')

section('branches')
event('BR_INST_RETIRED.ALL_BRANCHES BR_INST_RETIRED.ALL_BRANCHES_PEBS BRANCH_INSTRUCTIONS_RETIRED '
        'BRANCH_INSTRUCTIONS_RETIRED.ARCH',
        'uop(BRANCH)',
      'Branch instructions retired, far ones included.')
event('BR_INST_RETIRED.CONDITIONAL BR_INST_RETIRED.COND', 'uop(COND)', 'Conditional branches retired.')
event('BR_INST_RETIRED.COND_TAKEN', 'uop(COND & TAKEN)', 'Conditional branches retired that were taken.')
event('BR_INST_RETIRED.NOT_TAKEN BR_INST_RETIRED.COND_NTAKEN', 'uop(COND & !TAKEN)',
      'Conditional branches retired that were not taken.')
event('BR_INST_RETIRED.NEAR_TAKEN', 'uop(BRANCH & TAKEN & !FAR)', 'Near branches retired that were taken.')
event('BR_INST_RETIRED.NEAR_CALL', 'uop(CALL)', 'Near calls retired, direct and indirect.')
event('BR_INST_RETIRED.NEAR_RETURN', 'uop(RET)', 'Near returns retired.')
event('BR_INST_RETIRED.FAR_BRANCH', 'uop(BRANCH & FAR)', 'Far branches retired: SYSCALL and the like.')
event('BR_INST_RETIRED.INDIRECT', 'uop(INDIRECT)', 'Indirect near branches retired, returns left out.')
event('BR_MISP_RETIRED.ALL_BRANCHES BR_MISP_RETIRED.ALL_BRANCHES_PEBS MISPREDICTED_BRANCH_RETIRED '
        'BRANCH_MISSES_RETIRED.ARCH',
      'uop(BRANCH & MISPREDICTED)', 'Branches retired that were mispredicted.')
event('BR_MISP_RETIRED.ALL_BRANCHES', 'uop(BRANCH & MISPREDICTED)',
      'Branches retired that were mispredicted (here without the erratum that CPUID leaf 0AH, EBX bit 6, announces).',
      'nhm')
event('BR_MISP_RETIRED.CONDITIONAL BR_MISP_RETIRED.COND', 'uop(COND & MISPREDICTED)',
      'Conditional branches retired that were mispredicted.')
event('BR_MISP_RETIRED.COND_TAKEN', 'uop(COND & TAKEN & MISPREDICTED)',
      'Conditional branches retired that were taken and mispredicted.')
event('BR_MISP_RETIRED.NOT_TAKEN BR_MISP_RETIRED.COND_NTAKEN', 'uop(COND & !TAKEN & MISPREDICTED)',
      'Conditional branches retired that were not taken and mispredicted.')
event('BR_MISP_RETIRED.NEAR_TAKEN BR_MISP_RETIRED.TAKEN', 'uop(BRANCH & TAKEN & MISPREDICTED & !FAR)',
      'Near branches retired that were taken and mispredicted.')
event('BR_MISP_RETIRED.NEAR_CALL', 'uop(CALL & MISPREDICTED)', 'Near calls retired that were mispredicted.')
event('BR_MISP_RETIRED.RET', 'uop(RET & MISPREDICTED)', 'Near returns retired that were mispredicted.')
event('BR_MISP_RETIRED.INDIRECT', 'uop(INDIRECT & MISPREDICTED)',
      'Indirect near branches retired that were mispredicted, returns left out.')
event('BR_MISP_RETIRED.INDIRECT_CALL', 'uop(INDIRECT & CALL & MISPREDICTED)',
      'Indirect near calls retired that were mispredicted.')
event('ROB_MISC_EVENTS.LBR_INSERTS MISC_RETIRED.LBR_INSERTS', 'uop(BRANCH & TAKEN & tag(2))',
      'Times the LBR stack took an entry or, in call-stack mode, gave one up; 0 while last branch records are off.')
event('BR_INST_DECODED', 'uop(BRANCH & !FROM_LSD)@fetch', 'Branch instructions that left the decoders.')
event('BR_INST_EXEC.ANY BR_INST_EXEC.ALL_BRANCHES', 'uop(BRANCH & !FAR)@dispatch',
      'Near branches that went to an execution port.')
event('BR_INST_EXEC.COND BR_INST_EXEC.ALL_CONDITIONAL BR_INST_EXEC.ALL_COND BR_INST_EXEC.ANY_COND',
      'uop(COND)@dispatch', 'Conditional branches that went to an execution port.')
event('BR_INST_EXEC.DIRECT BR_INST_EXEC.ALL_DIRECT_JMP BR_INST_EXEC.ANY_DIRECT_JUMP',
      'uop(BRANCH & !COND & !CALL & !RET & !INDIRECT & !FAR)@dispatch',
      'Unconditional direct jumps that went to an execution port.')
event('BR_INST_EXEC.INDIRECT_NON_CALL BR_INST_EXEC.ANY_INDIRECT_JUMP_NON_CALL_RET '
      'BR_INST_EXEC.ALL_INDIRECT_JUMP_NON_CALL_RET', 'uop(INDIRECT & !CALL)@dispatch',
      'Indirect jumps, no calls or returns, that went to an execution port.')
event('BR_INST_EXEC.RETURN_NEAR BR_INST_EXEC.ALL_INDIRECT_NEAR_RETURN BR_INST_EXEC.ANY_INDIRECT_NEAR_RET',
      'uop(RET)@dispatch', 'Near returns that went to an execution port.')
event('BR_INST_EXEC.DIRECT_NEAR_CALL BR_INST_EXEC.ANY_DIRECT_NEAR_CALL BR_INST_EXEC.ALL_DIRECT_NEAR_CALL',
      'uop(CALL & !INDIRECT)@dispatch', 'Direct near calls that went to an execution port.')
event('BR_INST_EXEC.INDIRECT_NEAR_CALL', 'uop(CALL & INDIRECT)@dispatch',
      'Indirect near calls that went to an execution port.')
event('BR_INST_EXEC.NEAR_CALLS', 'uop(CALL)@dispatch', 'Near calls that went to an execution port.')
event('BR_INST_EXEC.NON_CALLS', 'uop(BRANCH & !CALL & !RET & !FAR)@dispatch',
      'Near branches, no calls or returns, that went to an execution port.')
event('BR_INST_EXEC.TAKEN', 'uop(BRANCH & TAKEN & !FAR)@dispatch',
      'Near branches that went to an execution port and were taken; of the wrong path as far as that is known, '
      'else as predicted.')
event('BR_INST_EXEC.TAKEN_CONDITIONAL BR_INST_EXEC.TAKEN_COND', 'uop(COND & TAKEN)@dispatch',
      'Conditional branches that went to an execution port and were taken; of the wrong path as far as that is '
      'known, else as predicted.')
event('BR_INST_EXEC.NONTAKEN_CONDITIONAL BR_INST_EXEC.NONTAKEN_COND', 'uop(COND & !TAKEN)@dispatch',
      'Conditional branches that went to an execution port and were not taken; of the wrong path as far as that is '
      'known, else as predicted.')
event('BR_INST_EXEC.TAKEN_DIRECT_JUMP', 'uop(BRANCH & !COND & !CALL & !RET & !INDIRECT & !FAR)@dispatch',
      'Unconditional direct jumps that went to an execution port: all are taken.')
event('BR_INST_EXEC.TAKEN_INDIRECT_JUMP_NON_CALL_RET', 'uop(INDIRECT & !CALL)@dispatch',
      'Indirect jumps, no calls or returns, that went to an execution port: all are taken.')
event('BR_INST_EXEC.TAKEN_RETURN_NEAR BR_INST_EXEC.TAKEN_NEAR_RETURN BR_INST_EXEC.TAKEN_INDIRECT_NEAR_RETURN',
      'uop(RET)@dispatch', 'Near returns that went to an execution port: all are taken.')
event('BR_INST_EXEC.TAKEN_DIRECT_NEAR_CALL', 'uop(CALL & !INDIRECT)@dispatch',
      'Direct near calls that went to an execution port: all are taken.')
event('BR_INST_EXEC.TAKEN_INDIRECT_NEAR_CALL', 'uop(CALL & INDIRECT)@dispatch',
      'Indirect near calls that went to an execution port: all are taken.')
FOUND = 'executed and found mispredicted, on the wrong path as far as what they do is known.'
for names, bits, text in (
        ('ANY ALL_BRANCHES', 'BRANCH & !FAR', 'Near branches'), ('TAKEN', 'BRANCH & TAKEN & !FAR',
                'Taken near branches'),
        ('COND ALL_CONDITIONAL ANY_COND', 'COND', 'Conditional branches'),
        ('TAKEN_CONDITIONAL TAKEN_COND', 'COND & TAKEN', 'Taken conditional branches'),
        ('NONTAKEN_CONDITIONAL NONTAKEN_COND', 'COND & !TAKEN', 'Conditional branches that were not taken,'),
        ('INDIRECT_NON_CALL TAKEN_INDIRECT_JUMP_NON_CALL_RET ALL_INDIRECT_JUMP_NON_CALL_RET '
                'ANY_INDIRECT_JUMP_NON_CALL_RET',
         'INDIRECT & !CALL', 'Indirect jumps, no calls or returns,'),
        ('RETURN_NEAR TAKEN_RETURN_NEAR TAKEN_NEAR_RETURN', 'RET', 'Near returns'),
        ('INDIRECT_NEAR_CALL TAKEN_INDIRECT_NEAR_CALL', 'CALL & INDIRECT', 'Indirect near calls'),
        ('NEAR_CALLS', 'CALL', 'Near calls'), ('NON_CALLS', 'BRANCH & !CALL & !RET & !FAR',
                'Near branches, no calls or returns,')):
    event(' '.join(f'BR_MISP_EXEC.{name}' for name in names.split()), f'uop({bits} & MISPREDICTED)@complete',
            f'{text} {FOUND}')
event('BACLEARS.ANY BACLEAR.CLEAR', 'sig(BACLEAR)',
      'Front end re-steered at decode: a branch that the BTB did not know.')
event('BPU_MISSED_CALL_RET', 'uop((CALL|RET) & BTB_MISS)@fetch', 'Calls and returns that the BTB did not know.')

section('uops')
event('UOPS_ISSUED.ANY UOPS_ISSUED.ALL', 'uop(SLOT)@alloc',
      'Fused uops that the renamer issued, on right and wrong path.')
event('UOPS_ISSUED.STALL_CYCLES UOPS_ISSUED.STALLED_CYCLES', '=', 'Cycles in which the renamer issued nothing.')
event('UOPS_ISSUED.CORE_STALL_CYCLES', '=',
      'Cycles in which the renamer issued nothing to any thread of the core (there is one).')
event('UOPS_ISSUED.VECTOR_WIDTH_MISMATCH', 'uop(VECTOR_BLEND)@alloc',
      'Uops that keep the upper halves of vector registers which legacy SSE code writes while upper halves are in use.')
event('UOPS_ISSUED.FLAGS_MERGE PARTIAL_RAT_STALLS.FLAGS_MERGE_UOP', 'uop(FLAGS_MERGE)@alloc',
      'Uops that merge CF with the other flags, which two instructions wrote (partial.flags_ports of the core).')
event('PARTIAL_RAT_STALLS.CYCLES_FLAGS_MERGE_UOP', 'uop(FLAGS_MERGE)@alloc',
      'Cycles in which a uop that merges CF with the other flags was issued.')
event('UOPS_ISSUED.SINGLE_MUL PARTIAL_RAT_STALLS.MUL_SINGLE_UOP',
      'uop(MULTIPLY & (FP_SCALAR_SINGLE|FP_128_SINGLE|FP_256_SINGLE))@alloc',
      'Single-precision multiply uops issued, fused multiply-adds among them.')
event('UOPS_ISSUED.SLOW_LEA', 'uop(LEA_SLOW)@alloc', 'Slow LEA uops issued: three components, or a scaled one on RIP.')
event('PARTIAL_RAT_STALLS.SLOW_LEA_WINDOW', 'cycles(uop(LEA_SLOW)@alloc >= 1)',
      'Cycles in which a slow LEA uop was issued: three components, or a scaled one on RIP.')
for file, bit, text in (('INT', 'MOVE_INT', 'general-purpose'), ('SIMD', 'MOVE_VECTOR', 'vector')):
    event(f'MOVE_ELIMINATION.{file}_ELIMINATED', f'uop({bit} & ELIMINATED)@alloc',
            f'Copies of {text} registers that rename did.')
    event(f'MOVE_ELIMINATION.{file}_NOT_ELIMINATED', f'uop({bit} & !ELIMINATED)@alloc',
          f'Copies of {text} registers that rename could have done, and which went to a port: too many registers '
          f'had several names.')
event('UOPS_RETIRED.ALL UOPS_RETIRED.ANY', 'uop(RETIRED)', 'Uops retired, each half of a micro-fused pair by itself.')
event('UOPS_RETIRED.ACTIVE_CYCLES', '=', 'Cycles in which some uop retired.')
event('UOPS_RETIRED.STALL_CYCLES', '=', 'Cycles in which no uop retired.')
event('UOPS_RETIRED.CORE_STALL_CYCLES', '=', 'Cycles in which no uop of any thread of the core (there is one) retired.')
event('UOPS_RETIRED.STALL_OCCURRENCES', '=', 'Stretches of cycles in which no uop retired.')
event('UOPS_RETIRED.TOTAL_CYCLES', '=', 'Cycles in which fewer than 10 uops retired.')
event('UOPS_RETIRED.RETIRE_SLOTS UOPS_RETIRED.SLOTS', 'uop(SLOT)', 'Retirement slots used: fused uops retired.')
event('UOPS_RETIRED.MACRO_FUSED', 'uop(MACRO_FUSED)', 'Macro-fused uops retired.')
event('UOPS_EXECUTED.THREAD', 'uop(EXEC)@dispatch', 'Uops that went to an execution port.')
event('UOPS_EXECUTED.STALL_CYCLES', 'uop(EXEC)@dispatch', 'Cycles in which no uop went to an execution port.')
for n in range(1, 5):
    event(f'UOPS_EXECUTED.CYCLES_GE_{n}_UOP_EXEC UOPS_EXECUTED.CYCLES_GE_{n}_UOPS_EXEC UOPS_EXECUTED.CYCLES_GE_{n}',
          'uop(EXEC)@dispatch', f'Cycles in which at least {n} uops went to execution ports.')
event('UOPS_EXECUTED.CORE', 'uop(EXEC)@dispatch',
      'Uops of any thread of the core that went to an execution port: those of the only one.')
for n in range(1, 5):
    event(f'UOPS_EXECUTED.CORE_CYCLES_GE_{n}', '=',
          f'Cycles in which at least {n} uops of any thread went to execution ports.')
refuse('UOPS_EXECUTED.CORE_CYCLES_NONE', 'Cycles in which no uop of any thread went to an execution port.', INV_ALONE)
event('UOPS_EXECUTED.CORE_STALL_CYCLES', 'uop(EXEC)@dispatch', 'Cycles in which no uop went to an execution port.',
      'nhm')
event('UOPS_EXECUTED.X87', 'uop(EXEC & X87)@dispatch', 'x87 uops that went to an execution port.')
for n in (0, 1, 5):
    event(f'UOPS_EXECUTED.PORT{n}', f'uop(EXEC & port({n}))@dispatch', f'Uops that went to port {n}.')
for n in (2, 3, 4):
    event(f'UOPS_EXECUTED.PORT{n}_CORE', f'uop(EXEC & port({n}))@dispatch',
          f'Uops of any thread of the core (there is one) that went to port {n}.')
event('UOPS_EXECUTED.PORT015', 'uop(EXEC & port(0,1,5))@dispatch', 'Uops that went to ports 0, 1 or 5.')
event('UOPS_EXECUTED.PORT015_STALL_CYCLES', '=', 'Cycles in which no uop went to ports 0, 1 or 5.')
event('UOPS_EXECUTED.PORT234_CORE', 'uop(EXEC & port(2,3,4))@dispatch',
      'Uops of any thread of the core (there is one) that went to ports 2, 3 or 4.')
for n in range(8):
    event(f'UOPS_DISPATCHED_PORT.PORT_{n} UOPS_EXECUTED_PORT.PORT_{n} UOPS_DISPATCHED.PORT_{n}',
          f'uop(EXEC & port({n}))@dispatch', f'Uops that went to port {n}.')
    event(f'UOPS_DISPATCHED_PORT.PORT_{n}_CORE UOPS_EXECUTED_PORT.PORT_{n}_CORE', '=',
          f'Uops of any thread of the core (there is one) that went to port {n}.')
event('UOPS_DISPATCHED_PORT.PORT_2_LD', 'uop(EXEC & LOAD & port(2))@dispatch', 'Loads that went to port 2.')
event('UOPS_DISPATCHED_PORT.PORT_2_STA', 'uop(EXEC & STORE_ADDR & port(2))@dispatch',
      'Store addresses that went to port 2.')
event('UOPS_DISPATCHED.PORT_2_3', 'uop(EXEC & port(2,3))@dispatch', 'Uops that went to ports 2 and 3.')
event('UOPS_DISPATCHED.PORT_4_9', 'uop(EXEC & port(4,9))@dispatch', 'Uops that went to ports 4 and 9.')
event('UOPS_DISPATCHED.PORT_7_8', 'uop(EXEC & port(7,8))@dispatch', 'Uops that went to ports 7 and 8.')
event('LOAD_DISPATCH.ANY', 'uop(LOAD)@dispatch', 'Loads that went to an execution port.')

section('arithmetic; the main uop of an instruction carries its kind: HADDPS and DPPS count once in '
        'FP_COMP_OPS_EXE')
VECTOR = 'FP_128_SINGLE|FP_128_DOUBLE|FP_256_SINGLE|FP_256_DOUBLE'
for name, bits, text in (
        ('SCALAR_DOUBLE', 'FP_SCALAR_DOUBLE', 'scalar double-precision'),
        ('SCALAR_SINGLE', 'FP_SCALAR_SINGLE', 'scalar single-precision'),
        ('128B_PACKED_DOUBLE', 'FP_128_DOUBLE', '128-bit packed double-precision'),
        ('128B_PACKED_SINGLE', 'FP_128_SINGLE', '128-bit packed single-precision'),
        ('256B_PACKED_DOUBLE', 'FP_256_DOUBLE', '256-bit packed double-precision'),
        ('256B_PACKED_SINGLE', 'FP_256_SINGLE', '256-bit packed single-precision'),
        ('SCALAR', '(FP_SCALAR_SINGLE|FP_SCALAR_DOUBLE)', 'scalar'), ('PACKED', f'({VECTOR})', 'packed'),
        ('SINGLE', '(FP_SCALAR_SINGLE|FP_128_SINGLE|FP_256_SINGLE)', 'single-precision'),
        ('DOUBLE', '(FP_SCALAR_DOUBLE|FP_128_DOUBLE|FP_256_DOUBLE)', 'double-precision'),
        ('4_FLOPS', '(FP_128_SINGLE|FP_256_DOUBLE)', 'four-element'), ('VECTOR', f'({VECTOR})', 'packed')):
    event(f'FP_ARITH_INST_RETIRED.{name}', f'uop({bits})+uop({bits} & FP_FMA)',
          f'Retired {text} arithmetic instructions; a fused multiply-add counts twice.')
event('FP_COMP_OPS_EXE.X87', 'uop(EXEC & X87)@dispatch', 'x87 uops that went to an execution port.')
refuse('FP_COMP_OPS_EXE.X87', 'x87 arithmetic uops executed.', X87_MARK, 'nhm')
for name, bits, text in (
        ('SSE_FP', '(FP_SCALAR_SINGLE|FP_SCALAR_DOUBLE|FP_128_SINGLE|FP_128_DOUBLE)', 'SSE'),
        ('SSE_FP_PACKED', '(FP_128_SINGLE|FP_128_DOUBLE)', 'packed'),
        ('SSE_FP_SCALAR', '(FP_SCALAR_SINGLE|FP_SCALAR_DOUBLE)', 'scalar'),
        ('SSE_SINGLE_PRECISION', '(FP_SCALAR_SINGLE|FP_128_SINGLE)', 'single-precision'),
        ('SSE_DOUBLE_PRECISION', '(FP_SCALAR_DOUBLE|FP_128_DOUBLE)', 'double-precision'),
        ('SSE_FP_PACKED_DOUBLE', 'FP_128_DOUBLE', '128-bit packed double-precision'),
        ('SSE_PACKED_SINGLE', 'FP_128_SINGLE', '128-bit packed single-precision'),
        ('SSE_SCALAR_DOUBLE', 'FP_SCALAR_DOUBLE', 'scalar double-precision'),
        ('SSE_FP_SCALAR_SINGLE', 'FP_SCALAR_SINGLE', 'scalar single-precision')):
    event(f'FP_COMP_OPS_EXE.{name}', f'uop(EXEC & {bits})@dispatch',
          f'Floating-point arithmetic uops, {text}, that went to an execution port.')
event('SIMD_FP_256.PACKED_SINGLE', 'uop(EXEC & FP_256_SINGLE)@dispatch',
      '256-bit packed single-precision arithmetic uops that went to an execution port.')
event('SIMD_FP_256.PACKED_DOUBLE', 'uop(EXEC & FP_256_DOUBLE)@dispatch',
      '256-bit packed double-precision arithmetic uops that went to an execution port.')
event('ARITH.CYCLES_DIV_BUSY ARITH.FPU_DIV_ACTIVE ARITH.DIVIDER_ACTIVE', 'sig(DIVIDER_ACTIVE)',
      'Cycles in which a divider, integer or floating-point, is busy.')
event('ARITH.DIV', '=',
      'Times the dividers fall idle: divisions, those that follow one another without a gap counted once.')
event('ARITH.FPU_DIV', 'sig(DIVIDER_ACTIVE)',
      'Times a divider becomes busy: divisions, those that follow one another without a gap counted once.')
event('ARITH.DIVIDER_UOPS', 'uop(DIVIDE & EXEC)@dispatch', 'Uops that went to a divider.')
event('ARITH.MUL', 'uop(MULTIPLY & !FP_FMA & EXEC)@dispatch',
      'Multiplications, integer and floating-point, that went to an execution port; DPPS and MPSADBW left out.')

section('front end')
event('IDQ_UOPS_NOT_DELIVERED.CORE', 'sig(IDQ_BUBBLE)',
      'Issue slots left empty by the front end while the back end was ready.')
event('IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV_CORE', '=',
      'Cycles in which the front end filled no slot while the back end was ready.')
event('IDQ_UOPS_NOT_DELIVERED.CYCLES_GE_1_UOP_DELIV_CORE', '=',
      'Cycles in which the front end filled at least 1 slot, or the back end was not ready.')
for n in range(1, 4):
    event(f'IDQ_UOPS_NOT_DELIVERED.CYCLES_LE_{n}_UOP_DELIV_CORE', '=',
          f'Cycles in which the front end filled at most {n} slots while the back end was ready.')
event('IDQ_UOPS_NOT_DELIVERED.CYCLES_FE_WAS_OK', '=',
      'Cycles in which the front end filled every slot, or the back end was not ready.')
event('IDQ.EMPTY', 'cycles(uop(SLOT)@fetch:alloc == 0)', 'Cycles in which the uop queue before the renamer is empty.')
for name, bits, text in (('DSB', 'FROM_DSB', 'uop cache'), ('MITE', 'FROM_MITE', 'legacy decoders'),
                         ('MS', 'FROM_MS', 'microcode sequencer')):
    event(f'IDQ.{name}_UOPS', f'uop(SLOT & {bits})@fetch', f'Fused uops that the {text} delivered.')
    event(f'IDQ.{name}_UOPS_CYCLES IDQ.{name}_CYCLES_ANY', '=', f'Cycles in which the {text} delivered some uop.')
    if name != 'MS':
        event(f'IDQ.{name}_CYCLES_OK', '=', f'Cycles in which the {text} delivered at least 5 uops.')
event('IDQ.MS_SWITCHES', '=', 'Times delivery went over to the microcode sequencer.')
event('IDQ.ANY_UOPS', 'uop(SLOT & (FROM_DSB|FROM_MITE|FROM_MS))@fetch',
      'Fused uops that uop cache, legacy decoders and microcode sequencer delivered.')
event('IDQ.ALL_MITE_UOPS', 'uop(SLOT & (FROM_DSB|FROM_MITE|FROM_MS))@fetch',
      'Fused uops that uop cache, legacy decoders and microcode sequencer delivered: the code says all three, the name '
      'one.', 'hsw bdw')
IDQ_NAMES = ('MS_DSB_UOPS MS_DSB_UOPS_CYCLES MS_DSB_UOPS_OCCUR MS_DSB_OCCUR MS_MITE_UOPS MS_MITE_UOPS_CYCLES '
             'ALL_DSB_UOPS ALL_DSB_CYCLES ALL_DSB_CYCLES_ANY_UOPS ALL_DSB_CYCLES_4_UOPS ALL_MITE_UOPS ALL_MITE_CYCLES '
             'ALL_MITE_CYCLES_ANY_UOPS ALL_MITE_CYCLES_4_UOPS').split()
MS_DSB = 'uop(SLOT & FROM_MS & !MS_OF_MITE)@fetch'
MS_MITE = 'uop(SLOT & FROM_MS & MS_OF_MITE)@fetch'
for name, count, text in (
        ('MS_DSB', MS_DSB, 'microcode that the uop cache called'),
        ('MS_MITE', MS_MITE, 'microcode that the legacy decoders called'),
        ('ALL_DSB', 'uop(SLOT & FROM_DSB)@fetch+' + MS_DSB, 'the uop cache, or microcode that it called,'),
        ('ALL_MITE', 'uop(SLOT & FROM_MITE)@fetch+' + MS_MITE, 'the legacy decoders, or microcode that they called,')):
    names = [n for n in IDQ_NAMES if n.startswith(name)]
    for n in names:
        event('IDQ.' + n, count,
              f'Times {text} began to deliver.' if n.endswith('OCCUR') else
              f'Cycles in which {text} delivered at least 4 uops.' if '_4_' in n else
              f'Cycles in which {text} delivered some uop.' if 'CYCLES' in n else f'Fused uops: {text.rstrip(",")}.',
              'snb ivb' if n == 'ALL_MITE_UOPS' else None)
event('INST_DECODED.DECODERS', 'sig(INSN_DECODED)',
      'Instructions that the legacy decoders take: decoders used, cycle by cycle.', 'icl')
event('LSD.UOPS', 'uop(SLOT & FROM_LSD)@fetch', 'Fused uops that the loop buffer delivered.')
event('LSD.ACTIVE LSD.CYCLES_ACTIVE', 'uop(SLOT & FROM_LSD)@fetch',
      'Cycles in which the loop buffer delivered some uop.')
event('LSD.INACTIVE', 'uop(SLOT & FROM_LSD)@fetch', 'Cycles in which the loop buffer delivered no uop.')
event('LSD.CYCLES_4_UOPS', '=', 'Cycles in which the loop buffer delivered at least 4 uops.')
event('LSD.CYCLES_OK', '=', 'Cycles in which the loop buffer delivered at least 5 uops.')
event('INST_QUEUE_WRITES', 'uop(INST_END & !FROM_LSD)@fetch+uop(INST_END2 & !FROM_LSD)@fetch',
      'Instructions that went through the instruction queue, counted when they leave the decoders.')
event('MACRO_INSTS.DECODED', 'uop(INST_END & !FROM_LSD)@fetch+uop(INST_END2 & !FROM_LSD)@fetch',
      'Instructions decoded.')
refuse('MACRO_INSTS.FUSIONS_DECODED', 'Macro-fused pairs decoded.',
       'libpfm4 gives it the code of MACRO_INSTS.DECODED; the manual has A6H')
event('UOPS_DECODED.MS', 'uop(SLOT & FROM_MS)@fetch', 'Fused uops that the microcode sequencer delivered.')
event('UOPS_DECODED.MS_CYCLES_ACTIVE', '=', 'Cycles in which the microcode sequencer delivered some uop.')
event('DSB2MITE_SWITCHES.PENALTY_CYCLES', 'sig(DSB_TO_MITE)',
      'Cycles lost in switches from the uop cache to the legacy decoders.')
event('DSB2MITE_SWITCHES.COUNT', 'begins(DSB_TO_MITE)', 'Switches from the uop cache to the legacy decoders.')
event('DSB2MITE_SWITCHES.COUNT', '=', 'Switches from the uop cache to the legacy decoders.', 'icl')
event('ILD_STALL.LCP', 'sig(LCP_STALL)', 'Cycles in which a length-changing prefix stalls the predecoder.')
event('ICACHE.MISSES', 'sig(ICACHE_MISS_LINE)', 'Lines that instruction fetch did not find in L1I.')
event('L1I.MISSES', 'sig(ICACHE_MISS_LINE)', 'Lines that instruction fetch did not find in L1I.')
event('ICACHE.IFETCH_STALL', 'cycles(sig(ICACHE_STALL) + sig(ITLB_STALL) >= 1)',
      'Cycles in which fetch waits for a line that missed L1I or for a translation.', 'ivb')
event('L1I.CYCLES_STALLED', 'cycles(sig(ICACHE_STALL) + sig(ITLB_STALL) >= 1)',
      'Cycles in which fetch waits for a line that missed L1I or for a translation.')
event('ICACHE.IFETCH_STALL ICACHE.IFDATA_STALL ICACHE_16B.IFDATA_STALL', 'sig(ICACHE_STALL)',
      'Cycles in which fetch waits for a line that missed L1I.')
event('ICACHE_64B.IFTAG_HIT', 'sig(ICACHE_HIT)', 'Lines that instruction fetch looked up in L1I and found.')
event('ICACHE_64B.IFTAG_MISS', 'sig(ICACHE_MISS_LINE)',
      'Lines that instruction fetch looked up in L1I and did not find.')
event('ICACHE_64B.IFTAG_STALL', 'sig(ITLB_STALL)',
      'Cycles in which fetch waits for the translation of a line (ITLB miss).')
event('ITLB_MISSES.MISS_CAUSES_A_WALK ITLB_MISSES.ANY', 'begins(ITLB_WALK)', 'Page walks begun for instruction fetch.')
event('ITLB_MISSES.WALK_COMPLETED', 'ends(ITLB_WALK)', 'Page walks completed for instruction fetch.')
event('ITLB_MISSES.WALK_DURATION', 'sig(ITLB_WALK)', 'Cycles in which a page walk for instruction fetch is under way.')
event('ITLB_MISSES.WALK_PENDING', 'pending(ITLB_WALK)', 'Page walks under way for instruction fetch, each cycle.')
event('ITLB_MISSES.WALK_ACTIVE', '=', 'Cycles in which a page walk for instruction fetch is under way.')
event('ITLB_MISSES.STLB_HIT', 'sig(ITLB_STLB_HIT)', 'ITLB misses that the second-level TLB served.')
event('ITLB_MISS_RETIRED OTHER_ASSISTS.ITLB_MISS_RETIRED', 'uop(ITLB_MISS_F)',
      'First uops retired behind an ITLB miss.')

for name, text in (
        ('ANY_DSB_MISS', 'Instructions retired that the uop cache lacked.'),
        ('DSB_MISS', 'Instructions retired that the uop cache lacked, and for which issue slots stayed empty.'),
        ('L1I_MISS', 'Instructions retired whose fetch missed L1I.'), ('L2_MISS',
                'Instructions retired whose fetch missed L1I and L2.'),
        ('ITLB_MISS', 'Instructions retired whose fetch missed the ITLB.'),
        ('STLB_MISS', 'Instructions retired whose fetch missed ITLB and STLB: page walk.')):
    event(f'FRONTEND_RETIRED.{name}', 'uop(tag(1))', text)
FIRST = 'Instructions retired that were the first to be issued after'
for n in range(10):
    event(f'FRONTEND_RETIRED.LATENCY_GE_{1 << n}', 'uop(tag(1))',
          f'{FIRST} {f"{1 << n} cycles" if n else "a cycle"} or more without any uop from the front end while the '
          f'back end was ready.')
event('FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_1', 'uop(tag(1))',
      f'{FIRST} 2 cycles or more in each of which the front end left a slot or more empty.')
for n, name in enumerate(('IDQ_1_BUBBLE', 'IDQ_2_BUBBLES', 'IDQ_3_BUBBLES', 'IDQ_4_BUBBLES'), 1):
    event(f'FRONTEND_RETIRED.{name}', 'uop(tag(1))',
            f'{FIRST} a cycle or more in each of which the front end left {n} of its slots or more empty.')

section('stalls, cycle by cycle')
L1D, L2, L3 = '8*cycles(sig(L1D_PENDING) >= 1)', 'cycles(sig(L2_PENDING) >= 1)', '2*cycles(sig(L3_PENDING) >= 1)'
LDM = '2*cycles(uop(LOAD)@dispatch:complete >= 1)'
event('CYCLE_ACTIVITY.CYCLES_L1D_PENDING CYCLE_ACTIVITY.CYCLES_L1D_MISS', L1D,
      'Cycles in which a demand load waits for a line that missed L1D.')
event('CYCLE_ACTIVITY.CYCLES_L1D_PENDING', '2*cycles(sig(L1D_PENDING) >= 1)',
      'Cycles in which a demand load waits for a line that missed L1D.', 'snb')
event('CYCLE_ACTIVITY.CYCLES_L2_PENDING CYCLE_ACTIVITY.CYCLES_L2_MISS', L2,
      'Cycles in which a demand load waits for an L2 miss.')
event('CYCLE_ACTIVITY.CYCLES_L3_MISS', L3, 'Cycles in which a demand load waits for an L3 miss.')
event('CYCLE_ACTIVITY.CYCLES_LDM_PENDING', LDM, 'Cycles in which a load is between dispatch and completion.')
event('CYCLE_ACTIVITY.CYCLES_MEM_ANY', LDM, 'Cycles in which a load is between dispatch and completion.', 'bdw')
event('CYCLE_ACTIVITY.CYCLES_MEM_ANY', LDM.replace('2*', '16*'),
      'Cycles in which a load is between dispatch and completion.')
event('CYCLE_ACTIVITY.CYCLES_NO_DISPATCH CYCLE_ACTIVITY.CYCLES_NO_EXECUTE CYCLE_ACTIVITY.STALLS_TOTAL', NO_EXECUTION,
      'Cycles in which no uop went to an execution port.')
event('CYCLE_ACTIVITY.STALLS_L1D_PENDING CYCLE_ACTIVITY.STALLS_L1D_MISS', f'{L1D} + {NO_EXECUTION}',
      'Cycles without execution in which a demand load waits for a line that missed L1D.')
event('CYCLE_ACTIVITY.STALLS_L1D_PENDING', f'2*cycles(sig(L1D_PENDING) >= 1) + {NO_EXECUTION}',
      'Cycles without execution in which a demand load waits for a line that missed L1D.', 'snb')
event('CYCLE_ACTIVITY.STALLS_L2_PENDING CYCLE_ACTIVITY.STALLS_L2_MISS', f'{L2} + {NO_EXECUTION}',
      'Cycles without execution in which a demand load waits for an L2 miss.')
event('CYCLE_ACTIVITY.STALLS_L3_MISS', f'{L3} + {NO_EXECUTION}',
      'Cycles without execution in which a demand load waits for an L3 miss.')
event('CYCLE_ACTIVITY.STALLS_LDM_PENDING', f'{LDM} + {NO_EXECUTION}',
      'Cycles without execution in which a load is between dispatch and completion.')
event('CYCLE_ACTIVITY.STALLS_MEM_ANY', f"{LDM.replace('2*', '16*')} + {NO_EXECUTION}",
      'Cycles without execution in which a load is between dispatch and completion.')
for n in range(1, 5):
    event(f'EXE_ACTIVITY.{n}_PORTS_UTIL', f'cycles(uop(EXEC)@dispatch == {n})',
          f'Cycles in which exactly {n} uop{"s" * (n > 1)} went to execution ports.')
event('EXE_ACTIVITY.EXE_BOUND_0_PORTS', 'cycles(uop(EXEC)@dispatch == 0 & uop(EXEC)@alloc:dispatch >= 1)',
      'Cycles in which the scheduler holds uops and none went to an execution port.')
event('EXE_ACTIVITY.BOUND_ON_STORES', '2*cycles(sig(RESOURCE_STALL_SB) >= 1 & uop(LOAD)@dispatch:complete == 0)',
      'Cycles in which the store buffer is full and no load is under way.')
event('RS_EVENTS.EMPTY_CYCLES', 'cycles(uop(EXEC)@alloc:dispatch == 0)', 'Cycles in which the scheduler holds no uop.')
event('RS_EVENTS.EMPTY_END', '=', 'Times the scheduler stops being empty.')
event('RESOURCE_STALLS.ANY RESOURCE_STALLS.ALL', STALL_ANY,
      'Cycles in which issue waits for a reorder-buffer, scheduler, load-buffer or store-buffer entry.')
event('RESOURCE_STALLS.LB RESOURCE_STALLS.LOAD', 'sig(RESOURCE_STALL_LB)',
      'Cycles in which issue waits for a load-buffer entry.')
event('RESOURCE_STALLS.RS RESOURCE_STALLS.RS_FULL', 'sig(RESOURCE_STALL_RS)',
      'Cycles in which issue waits for a scheduler entry.')
event('RESOURCE_STALLS.SB RESOURCE_STALLS.STORE', 'sig(RESOURCE_STALL_SB)',
      'Cycles in which issue waits for a store-buffer entry.')
event('RESOURCE_STALLS.ROB RESOURCE_STALLS.ROB_FULL', 'sig(RESOURCE_STALL_ROB)',
      'Cycles in which issue waits for a reorder-buffer entry.')
event('RESOURCE_STALLS.MEM_RS', 'cycles(sig(RESOURCE_STALL_LB) + sig(RESOURCE_STALL_SB) + sig(RESOURCE_STALL_RS) >= 1)',
      'Cycles in which issue waits for a load-buffer, store-buffer or scheduler entry.')
event('RESOURCE_STALLS.LD_SB', 'cycles(sig(RESOURCE_STALL_LB) + sig(RESOURCE_STALL_SB) >= 1)',
      'Cycles in which issue waits for a load-buffer or store-buffer entry.')
event('INT_MISC.RECOVERY_CYCLES', 'sig(RECOVERY)',
      'Cycles in which issue waits for the recovery from a mispredict or machine clear.')
event('INT_MISC.ALL_RECOVERY_CYCLES', 'sig(RECOVERY)',
      'Cycles in which issue waits for the recovery from a mispredict or machine clear, for whatever reason.')
event('INT_MISC.CLEAR_RESTEER_CYCLES', 'sig(CLEAR_RESTEER)', 'Cycles in which issue, recovered from a mispredict or '
      'machine clear, waits for the first uop of the new path.')
event('RESOURCE_STALLS.SCOREBOARD RAT_STALLS.SCOREBOARD', 'sig(SERIALIZED)',
      'Cycles in which issue waits for a serialising instruction, a fence or PAUSE.')
event('FP_ARITH_INST_RETIRED.8_FLOPS FP_ARITH.8_FLOPS', 'uop(FP_256_SINGLE)+uop(FP_256_SINGLE & FP_FMA)',
      'Retired arithmetic instructions on eight elements: 256-bit single, or 512-bit double, which no program has '
      'under the tracer.')
event('RTM_RETIRED.START', 'uop(TSX_BEGIN)', 'Transactions begun: XBEGIN retired.')
event('RTM_RETIRED.ABORTED', 'uop(TSX_BEGIN)', 'Transactions aborted: all, because under the tracer a transaction '
      'aborts at once, for want of capacity.')
event('RTM_RETIRED.ABORTED_MEM RTM_RETIRED.ABORTED_MISC1', 'uop(TSX_BEGIN)',
      'Transactions aborted by memory (capacity or conflict): all, for want of capacity.')
event('HLE_RETIRED.START', 'sig(ELISION_START)', 'Elided regions begun by an XACQUIRE prefix.')
event('HLE_RETIRED.COMMIT', 'sig(ELISION_COMMIT)', 'Elided regions that ended with the release of their lock.')
event('HLE_RETIRED.ABORTED', 'sig(ELISION_ABORT)', 'Elided regions aborted.')
event('HLE_RETIRED.ABORTED_MEM HLE_RETIRED.ABORTED_MISC1',
      f'sig(ELISION_ABORT & {MEMORY_ABORTS})', 'Elided regions aborted by memory: capacity, conflict, or their lock.')
event('HLE_RETIRED.ABORTED_UNFRIENDLY HLE_RETIRED.ABORTED_MISC3', 'sig(ELISION_ABORT & ABORT_INSTRUCTION)',
      'Elided regions aborted by an instruction: PAUSE, CPUID, a system call, x87 and so on.')
event('HLE_RETIRED.ABORTED_EVENTS HLE_RETIRED.ABORTED_MISC5', 'sig(ELISION_ABORT & ABORT_INTERRUPT)',
      'Elided regions aborted by an interrupt.')
event('TX_MEM.ABORT_CONFLICT', 'sig(ELISION_ABORT & ABORT_CONFLICT)',
      "Elided regions aborted by another core's access to one of their lines.")
event('TX_MEM.ABORT_CAPACITY', 'uop(TSX_BEGIN)+sig(ELISION_ABORT & (ABORT_READS|ABORT_WRITES))',
      'Transactions and elided regions aborted for want of capacity: all transactions, as the status says that the '
      'tracer gives them, and regions that touch too many lines.')
event('TX_MEM.ABORT_HLE_STORE_TO_ELIDED_LOCK', 'sig(ELISION_ABORT & ABORT_LOCK_STORE)',
      'Elided regions aborted by a store to their lock without XRELEASE.')
event('TX_MEM.ABORT_HLE_ELISION_BUFFER_MISMATCH', 'sig(ELISION_ABORT & ABORT_LOCK_RELEASE)',
      'Elided regions aborted by the release of what is none of their locks; whether a release restores the value of '
      'its lock is not known.')
event('TX_MEM.ABORT_HLE_ELISION_BUFFER_UNSUPPORTED_ALIGNMENT', 'sig(ELISION_ABORT & ABORT_LOCK_LOAD)',
      'Elided regions aborted by a load that reaches beyond their lock.')
event('TX_MEM.ABORT_HLE_ELISION_BUFFER_FULL TX_MEM.HLE_ELISION_BUFFER_FULL', 'sig(ELISION_FULL)',
      'Locks inside elided regions that were not elided, because no elision buffer was free.')
event('TX_EXEC.MISC2', 'sig(ELISION_VZEROUPPER)', 'VZEROUPPER inside an elided region.')
event('TOPDOWN.BACKEND_BOUND_SLOTS', '+'.join(
    f'cycles(uop(SLOT)@alloc <= {n} & sig(IDQ_BUBBLE) + sig(WRONG_PATH) + sig(RECOVERY) == 0)' for n in range(5)),
      'Issue slots that stayed empty because the back end was not ready.')
event('TOPDOWN.BR_MISPREDICT_SLOTS', 'uop(SLOT)@squash+5*sig(WRONG_PATH)+25*uop(BRANCH & MISPREDICTED)',
      'Issue slots lost to mispredicted branches: uops that were squashed, and the recovery.')

event('INT_MISC.RECOVERY_CYCLES_ANY', '=',
      'Cycles in which issue to any thread of the core (there is one) waits for the recovery from a mispredict or '
      'machine clear.')
event('INT_MISC.RECOVERY_STALLS_COUNT INT_MISC.CLEARS_COUNT', 'sig(RECOVERY)',
      'Recoveries from mispredicts and machine clears.')
event('MACHINE_CLEARS.COUNT', 'sig(CLEAR_MEMORY_ORDER)+sig(CLEAR_SMC)',
      'Machine clears: for memory ordering and for self-modifying code.')
event('MACHINE_CLEARS.MEMORY_ORDERING MACHINE_CLEARS.MEM_ORDER', 'sig(CLEAR_MEMORY_ORDER)',
      'Machine clears for memory ordering.')
event('MACHINE_CLEARS.SMC', 'sig(CLEAR_SMC)',
        'Machine clears for self-modifying code: a store into a line that L1I holds.')
event('OTHER_ASSISTS.AVX_TO_SSE', 'uop(ASSIST_AVX_TO_SSE)',
        'Times microcode saved the upper halves of the vector registers: legacy SSE behind 256-bit code.')
event('OTHER_ASSISTS.SSE_TO_AVX', 'uop(ASSIST_SSE_TO_AVX)',
        'Times microcode restored the upper halves of the vector registers: VEX code behind that.')
event('FP_ASSIST.ANY FP_ASSIST.ALL ASSISTS.FP', 'sig(FP_ASSIST)',
        'Microcode assists for floating-point instructions: denormal numbers.')
event('FP_ASSIST.ALL', 'uop((ASSIST_FP_INPUT|ASSIST_FP_OUTPUT))',
        'Microcode assists for floating-point instructions: denormal numbers.', 'nhm')
event('ASSISTS.ANY', 'sig(FP_ASSIST)+sig(ASSIST)',
        'Microcode assists: for denormal numbers, and for transitions between SSE and AVX.')
event('FP_ASSIST.SIMD_INPUT', 'sig(FP_ASSIST & ASSIST_SIMD_INPUT)',
        'Microcode assists for SSE and AVX instructions with a denormal input.')
event('FP_ASSIST.SIMD_OUTPUT', 'sig(FP_ASSIST & ASSIST_SIMD_OUTPUT)',
        'Microcode assists for SSE and AVX instructions with a denormal result of normal inputs.')
event('FP_ASSIST.X87_INPUT', 'sig(FP_ASSIST & ASSIST_X87_INPUT)',
        'Microcode assists for x87 instructions with a denormal operand in memory.')
event('FP_ASSIST.X87_OUTPUT', 'sig(FP_ASSIST & ASSIST_X87_OUTPUT)',
        'Microcode assists for x87 stores of denormal numbers.')
event('FP_ASSIST.INPUT', 'uop(ASSIST_FP_INPUT)', 'Microcode assists for denormal inputs.')
event('FP_ASSIST.OUTPUT', 'uop(ASSIST_FP_OUTPUT)', 'Microcode assists for denormal results of normal inputs.')
event('MISC_RETIRED.PAUSE_INST', 'uop(PAUSE & INST_END)', 'PAUSE instructions retired.')

section('loads and stores: uops, where the machine counts instructions with at least one such uop')
event('MEM_INST_RETIRED.LOADS', 'uop(LOAD)', 'Loads retired.')
event('MEM_INST_RETIRED.STORES', 'uop(STORE_ADDR)', 'Stores retired.')
event('MEM_INST_RETIRED.ALL_LOADS MEM_UOPS_RETIRED.ALL_LOADS MEM_UOP_RETIRED.LOADS', 'uop((LOAD|PREFETCH_SW))',
      'Loads retired, software prefetches included.')
event('MEM_INST_RETIRED.ALL_STORES MEM_UOPS_RETIRED.ALL_STORES MEM_UOP_RETIRED.STORES', 'uop(STORE_ADDR)',
      'Stores retired.')
event('MEM_INST_RETIRED.ANY', 'uop((LOAD|PREFETCH_SW|STORE_ADDR))', 'Loads and stores retired.')
event('MEM_INST_RETIRED.LOCK_LOADS MEM_UOPS_RETIRED.LOCK_LOADS', 'uop(LOAD & LOCK)', 'Locked loads retired.')
event('MEM_UOPS_RETIRED.LOCK_STORES', 'uop(STORE_ADDR & LOCK)', 'Locked stores retired.')
event('MEM_INST_RETIRED.SPLIT_LOADS MEM_UOPS_RETIRED.SPLIT_LOADS', 'uop(LOAD & (SPLIT_LINE|SPLIT_PAGE))',
      'Loads retired that cross a line.')
event('MEM_INST_RETIRED.SPLIT_STORES MEM_UOPS_RETIRED.SPLIT_STORES', 'uop(STORE_ADDR & (SPLIT_LINE|SPLIT_PAGE))',
      'Stores retired that cross a line.')
event('MISALIGN_MEM_REF.LOADS', 'uop(LOAD & (SPLIT_LINE|SPLIT_PAGE))@dispatch',
        'Loads that went to memory and crossed a line.')
event('MISALIGN_MEM_REF.STORES', 'uop(STORE_ADDR & (SPLIT_LINE|SPLIT_PAGE))@dispatch',
        'Store addresses that were computed and crossed a line.')
event('MEM_INST_RETIRED.STLB_MISS_LOADS MEM_UOPS_RETIRED.STLB_MISS_LOADS', 'uop(LOAD & STLB_MISS)',
      'Loads retired that missed the second-level TLB.')
event('MEM_INST_RETIRED.STLB_MISS_STORES MEM_UOPS_RETIRED.STLB_MISS_STORES', 'uop(STORE_ADDR & STLB_MISS)',
      'Stores retired that missed the second-level TLB.')
# GUESS: a DTLB miss is one of both levels, as in DTLB_MISSES.ANY; a pointer chase over 64 to 512 pages on a
# Nehalem would settle it.
event('MEM_LOAD_RETIRED.DTLB_MISS', 'uop(LOAD & STLB_MISS)', 'Loads retired that missed the TLBs of both levels.',
      'nhm')
event('MEM_STORE_RETIRED.DTLB_MISS', 'uop(STORE_ADDR & STLB_MISS)',
      'Stores retired that missed the TLBs of both levels.')
event('MEM_LOAD_RETIRED.L1_HIT MEM_LOAD_RETIRED.L1D_HIT MEM_LOAD_UOPS_RETIRED.L1_HIT',
      'uop(LOAD & (L1D_HIT|FORWARDED))', 'Loads retired that hit L1D or got their data from the store queue.')
event('MEM_LOAD_RETIRED.L1_MISS MEM_LOAD_UOPS_RETIRED.L1_MISS', 'uop(LOAD & L1D_MISS & !LFB_HIT)',
      'Loads retired that missed L1D and brought the line.')
event('MEM_LOAD_RETIRED.FB_HIT MEM_LOAD_RETIRED.HIT_LFB MEM_LOAD_UOPS_RETIRED.HIT_LFB', 'uop(LOAD & LFB_HIT)',
      'Loads retired that missed L1D on a line already on its way.')
event('MEM_LOAD_RETIRED.L2_HIT MEM_LOAD_UOPS_RETIRED.L2_HIT', 'uop(LOAD & L2_HIT)', 'Loads retired that L2 served.')
event('MEM_LOAD_RETIRED.L2_MISS MEM_LOAD_UOPS_RETIRED.L2_MISS', 'uop(LOAD & L2_MISS)', 'Loads retired that missed L2.')
event('MEM_LOAD_RETIRED.L3_HIT MEM_LOAD_UOPS_RETIRED.L3_HIT MEM_LOAD_UOPS_RETIRED.LLC_HIT', 'uop(LOAD & L3_HIT)',
      'Loads retired that L3 served.')
event('MEM_LOAD_RETIRED.L3_MISS MEM_LOAD_RETIRED.LLC_MISS MEM_LOAD_UOPS_RETIRED.L3_MISS MEM_LOAD_UOPS_RETIRED.LLC_MISS '
      'MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS', 'uop(LOAD & L3_MISS)', 'Loads retired that missed L3.')
event('MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM '
      'MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM MEM_UNCORE_RETIRED.LOCAL_DRAM', 'uop(LOAD & L3_MISS)',
      'Loads retired that missed L3 and were served by memory of this socket: the only one.')
event('L1D_CACHE_LD.MESI', 'uop(LOAD)@complete', 'Loads that looked into L1D.')
event('L1D_CACHE_LD.I_STATE', 'uop(LOAD & (L1D_MISS|LFB_HIT))@complete', 'Loads that did not find their line in L1D.')
event('L1D_CACHE_ST.MESI', 'uop(STORE_ADDR)', 'Stores, counted when they retire.')
event('L1D_CACHE_ST.I_STATE', 'sig(STORE_L1D_MISS)', 'Stores that did not find their line in L1D.')
event('L1D_ALL_REF.ANY', 'uop(LOAD)@complete+uop(STORE_ADDR)',
      'Loads that looked into L1D, and stores when they retire.')
event('L1D_ALL_REF.CACHEABLE', 'uop(LOAD)@complete+uop(STORE_ADDR)',
      'Loads that looked into L1D, and stores when they retire: all are cacheable.')
event('L1D_CACHE_LOCK.HIT', 'uop(LOAD & LOCK & (L1D_HIT|FORWARDED))@complete', 'Locked loads that hit L1D.')
event('L1D_CACHE_LOCK_FB_HIT', 'uop(LOAD & LOCK & LFB_HIT)@complete',
      'Locked loads that missed L1D on a line already on its way.')
event('LD_BLOCKS.STORE_FORWARD', 'uop(LOAD & FORWARD_BLOCKED)@complete',
      'Loads that overlap an older store which cannot forward to them.')
event('LD_BLOCKS_PARTIAL.ADDRESS_ALIAS PARTIAL_ADDRESS_ALIAS', 'uop(LOAD & ALIAS_4K)@complete',
      'Loads delayed by an older store with equal low 12 address bits.')
event('LD_BLOCKS.DATA_UNKNOWN', 'uop(LOAD & WAIT_STORE_DATA)@complete',
        'Loads that waited for the data of the store that they were forwarded from.')
event('LD_BLOCKS_PARTIAL.ALL_STA_BLOCK', 'uop(LOAD & WAIT_STORE_ADDR)@complete',
        'Loads that waited for the addresses of older stores; each counts once.')
event('L1D_BLOCKS.BANK_CONFLICT', 'uop(LOAD & BANK_CONFLICT)@ready',
        'Loads that waited for a bank of L1D which another load of the cycle had; each counts once.')
event('L1D_BLOCKS.BANK_CONFLICT_CYCLES', '=', 'Cycles in which loads were ready that had to wait for a bank of L1D.')
event('LOAD_HIT_PRE LOAD_HIT_PRE.SW_PF LOAD_HIT_PREFETCH.SWPF LOAD_HIT_PRE.SWPF', 'uop(LOAD & LFB_SW_PF)@complete',
      'Loads that hit a line on its way for a software prefetch.')
event('LOAD_HIT_PRE.HW_PF', 'uop(LOAD & LFB_HW_PF)@complete',
        'Loads that hit a line on its way for a prefetcher of L1D.')
event('MEM_LOAD_RETIRED.L3_UNSHARED_HIT', 'uop(LOAD & L3_HIT & !SNOOP_HIT & !SNOOP_HITM & !SNOOP_MISS)',
        'Loads that hit L3 on a line for which no other core had to be asked.')
event('MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM', 'uop(LOAD & L3_HIT & (SNOOP_HIT|SNOOP_HITM))',
        'Loads that hit L3 on a line that another core had to be asked for, and had.')
event('MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM', 'uop(LOAD & L3_HIT & SNOOP_HITM)',
        'Loads that hit L3 on a line that another core had modified.')
event('*_HIT_RETIRED.XSNP_HIT', 'uop(LOAD & L3_HIT & SNOOP_HIT)',
        'Loads that hit L3 on a line that another core had to be asked for, and had clean.')
event('*_HIT_RETIRED.XSNP_HITM', 'uop(LOAD & L3_HIT & SNOOP_HITM)',
        'Loads that hit L3 on a line that another core had modified.')
event('*_HIT_RETIRED.XSNP_MISS', 'uop(LOAD & L3_HIT & SNOOP_MISS)',
      'Loads that hit L3 on a line for which another core was asked in vain.')
event('*_HIT_RETIRED.XSNP_NONE', 'uop(LOAD & L3_HIT & !SNOOP_HIT & !SNOOP_HITM & !SNOOP_MISS)',
        'Loads that hit L3 on a line for which no other core had to be asked.')
event('LOCK_CYCLES.CACHE_LOCK_DURATION CACHE_LOCK_CYCLES.L1D', 'sig(LOCK_DURATION)',
      'Cycles in which an atomic operation holds L1D.')

event('MEM_TRANS_RETIRED.PRECISE_STORE', 'uop(STORE_ADDR)',
        'Stores retired, watched by PEBS: their samples have an address.')
ABOVE = 'cycles from dispatch to data, watched by PEBS.'
event('MEM_TRANS_RETIRED.LOAD_LATENCY MEM_TRANS_RETIRED.LATENCY_ABOVE_THRESHOLD '
        'MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD',
        'uop(LOAD & tag(0))',
      'Loads retired that took more cycles from dispatch to data than ldlat= says (3 at least), watched by PEBS.')
for n in range(2, 10):
    event(f'MEM_TRANS_RETIRED.LOAD_LATENCY_GT_{1 << n}', 'uop(LOAD & tag(0))',
            f'Loads retired that took more than {1 << n} {ABOVE}')

section('data translation')
event('DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK DTLB_LOAD_MISSES.ANY', 'begins(DTLB_LOAD_WALK)',
      'Page walks begun for loads.')
event('DTLB_LOAD_MISSES.WALK_COMPLETED', 'ends(DTLB_LOAD_WALK)', 'Page walks completed for loads.')
event('DTLB_LOAD_MISSES.WALK_DURATION', 'sig(DTLB_LOAD_WALK)', 'Cycles in which a page walk for a load is under way.')
event('DTLB_LOAD_MISSES.WALK_PENDING', 'pending(DTLB_LOAD_WALK)', 'Page walks under way for loads, each cycle.')
event('DTLB_LOAD_MISSES.WALK_ACTIVE', '=', 'Cycles in which a page walk for a load is under way.')
event('DTLB_LOAD_MISSES.STLB_HIT DTLB_LOAD_ACCESS.STLB_HIT', 'uop(LOAD & STLB_HIT)@complete',
      'First-level TLB misses of loads that the second-level TLB served.')
event('DTLB_STORE_MISSES.MISS_CAUSES_A_WALK', 'begins(DTLB_STORE_WALK)', 'Page walks begun for stores.')
event('DTLB_STORE_MISSES.WALK_COMPLETED', 'ends(DTLB_STORE_WALK)', 'Page walks completed for stores.')
event('DTLB_STORE_MISSES.WALK_DURATION', 'sig(DTLB_STORE_WALK)',
      'Cycles in which a page walk for a store is under way.')
event('DTLB_STORE_MISSES.WALK_PENDING', 'pending(DTLB_STORE_WALK)', 'Page walks under way for stores, each cycle.')
event('DTLB_STORE_MISSES.WALK_ACTIVE', '=', 'Cycles in which a page walk for a store is under way.')
event('DTLB_STORE_MISSES.STLB_HIT', 'uop(STORE_ADDR & STLB_HIT)@complete',
      'First-level TLB misses of stores that the second-level TLB served.')
event('DTLB_MISSES.ANY', 'begins(DTLB_LOAD_WALK)+begins(DTLB_STORE_WALK)', 'Page walks begun for loads and stores.')
event('DTLB_MISSES.WALK_COMPLETED', 'ends(DTLB_LOAD_WALK)+ends(DTLB_STORE_WALK)',
      'Page walks completed for loads and stores.')
event('DTLB_MISSES.STLB_HIT', 'uop((LOAD|STORE_ADDR) & STLB_HIT)@complete',
      'First-level TLB misses of loads and stores that the second-level TLB served.')

for kind, signal, text in (('DTLB_LOAD', 'DTLB_LOAD', 'loads'), ('DTLB_STORE', 'DTLB_STORE', 'stores'), ('ITLB',
        'ITLB', 'instruction fetches')):
    event(f'{kind}_MISSES.WALK_COMPLETED_4K', f'sig({signal}_WALKED_4K)',
            f'Page walks completed for {text}, of pages of 4 KB.')
    event(f'{kind}_MISSES.WALK_COMPLETED_1G', f'sig({signal}_WALKED_1G)',
          f'Page walks completed for {text}, of pages of 1 GB.')
    event(f'{kind}_MISSES.WALK_COMPLETED_2M_4M {kind}_MISSES.LARGE_WALK_COMPLETED '
            f'{kind}_MISSES.LARGE_PAGE_WALK_COMPLETED',
          f'sig({signal}_WALKED_LARGE)', f'Page walks completed for {text}, of pages of 2 or 4 MB.')
for kind, bit, text in (('LOAD', 'LOAD', 'loads'), ('STORE', 'STORE_ADDR', 'stores')):
    for size, not_, pages in (('4K', '!', '4 KB'), ('2M', '', '2 MB')):
        event(f'DTLB_{kind}_MISSES.STLB_HIT_{size}', f'uop({bit} & STLB_HIT & {not_}LARGE_PAGE)@complete',
              f'First-level TLB misses of {text} that the second-level TLB served, pages of {pages}.')
event('DTLB_MISSES.LARGE_WALK_COMPLETED', 'sig(DTLB_LOAD_WALKED_LARGE)+sig(DTLB_STORE_WALKED_LARGE)',
      'Page walks completed for loads and stores, of pages of 2 or 4 MB.')
event('ITLB_MISSES.STLB_HIT_4K', 'sig(ITLB_STLB_HIT_4K)',
        'ITLB misses that the second-level TLB served, pages of 4 KB.')
event('ITLB_MISSES.STLB_HIT_2M', 'sig(ITLB_STLB_HIT_LARGE)',
        'ITLB misses that the second-level TLB served, pages of 2 MB.')

section('L1D, L2, L3 and beyond')
event('L1D.REPLACEMENT L1D.REPL', 'sig(L1D_REPLACEMENT)', 'Lines brought into L1D.')
event('L1D.M_EVICT', 'sig(L1D_EVICT_MODIFIED)', 'Modified lines evicted from L1D to make room.')
event('L1D_PEND_MISS.PENDING', 'sig(L1D_PENDING)', 'Fill buffers waiting for demand loads, each cycle.')
event('L1D_PEND_MISS.PENDING_CYCLES', '=', 'Cycles in which some fill buffer waits for a demand load.')
event('L1D_PEND_MISS.PENDING_CYCLES_ANY', '=',
      'Cycles in which some fill buffer waits for a demand load of any thread of the core (there is one).')
event('L1D_PEND_MISS.OCCURRENCES L1D_PEND_MISS.EDGE', '=',
      'Stretches in which some fill buffer waits for a demand load.')
event('L1D_PEND_MISS.FB_FULL L1D_PEND_MISS.REQUEST_FB_FULL', 'sig(L1D_FB_FULL)',
      'Cycles in which a demand miss waits for a free fill buffer.')
event('L1D_PEND_MISS.FB_FULL_PERIODS', '=', 'Stretches in which a demand miss waits for a free fill buffer.')
RD, RFO, CODE, PF = (f'sig(L2_{k}_HIT)+sig(L2_{k}_MISS)' for k in ('DEMAND_RD', 'RFO', 'CODE_RD', 'PF'))
AS_PREFETCH = ' (prefetches of L1D are counted as prefetches here)'
event('L2_RQSTS.DEMAND_DATA_RD_HIT L2_RQSTS.ALL_DEMAND_RD_HIT L2_RQSTS.LD_HIT L2_RQSTS.DEMAND_DATA_RD_HIT_ALT',
      'sig(L2_DEMAND_RD_HIT)',
      f'Demand data reads that hit L2{AS_PREFETCH}.')
event('L2_RQSTS.DEMAND_DATA_RD_MISS L2_RQSTS.LD_MISS L2_DATA_RQSTS.DEMAND_I_STATE', 'sig(L2_DEMAND_RD_MISS)',
      f'Demand data reads that missed L2{AS_PREFETCH}.')
event('L2_RQSTS.ALL_DEMAND_DATA_RD L2_RQSTS.LOADS L2_DATA_RQSTS.DEMAND_MESI', RD,
      f'Demand data reads that reached L2{AS_PREFETCH}.')
event('L2_RQSTS.RFO_HIT L2_RQSTS.RFO_HITS L2_RQSTS.DEMAND_RFO_HIT L2_RQSTS.RFO_HIT_ALT', 'sig(L2_RFO_HIT)',
      'Reads for ownership that hit L2.')
event('L2_RQSTS.RFO_MISS L2_RQSTS.DEMAND_RFO_MISS L2_STORE_LOCK_RQSTS.MISS', 'sig(L2_RFO_MISS)',
      'Reads for ownership that missed L2.')
event('L2_RQSTS.ALL_RFO L2_RQSTS.RFO_ANY L2_RQSTS.RFOS L2_STORE_LOCK_RQSTS.ALL', RFO,
      'Reads for ownership that reached L2.')
event('L2_RQSTS.CODE_RD_HIT L2_RQSTS.IFETCH_HIT L2_RQSTS.CODE_RD_HIT_ALT', 'sig(L2_CODE_RD_HIT)',
      'Code reads that hit L2.')
event('L2_RQSTS.CODE_RD_MISS L2_RQSTS.IFETCH_MISS', 'sig(L2_CODE_RD_MISS)', 'Code reads that missed L2.')
event('L2_RQSTS.ALL_CODE_RD L2_RQSTS.IFETCHES', CODE, 'Code reads that reached L2.')
event('L2_RQSTS.ALL_DEMAND_MISS', 'sig(L2_DEMAND_RD_MISS)+sig(L2_RFO_MISS)+sig(L2_CODE_RD_MISS)',
      'Demand requests, data, ownership and code, that missed L2.')
event('L2_RQSTS.ALL_DEMAND_REFERENCES', f'{RD}+{RFO}+{CODE}',
      'Demand requests, data, ownership and code, that reached L2.')
event('L2_RQSTS.PF_HIT L2_RQSTS.PREFETCH_HIT L2_RQSTS.PF_HIT_ALT', 'sig(L2_PF_HIT)', 'Hardware prefetches that hit L2.')
event('L2_RQSTS.PF_MISS L2_RQSTS.PREFETCH_MISS L2_RQSTS.PF_MISS_ALT L2_DATA_RQSTS.PREFETCH_I_STATE', 'sig(L2_PF_MISS)',
      'Hardware prefetches that missed L2.')
event('L2_RQSTS.ALL_PF L2_RQSTS.PREFETCHES L2_DATA_RQSTS.PREFETCH_MESI', PF, 'Hardware prefetches that looked into L2.')
event('L2_DATA_RQSTS.ANY', f'{RD}+{PF}', 'Data reads and hardware prefetches that looked into L2.')
event('L2_RQSTS.MISS', 'sig(L2_DEMAND_RD_MISS)+sig(L2_RFO_MISS)+sig(L2_CODE_RD_MISS)+sig(L2_PF_MISS)',
      'Requests that missed L2, prefetches included.')
event('L2_RQSTS.REFERENCES', f'{RD}+{RFO}+{CODE}+{PF}', 'Requests that looked into L2, prefetches included.')
event('L2_LINES_IN.ALL L2_LINES_IN.ANY', 'sig(L2_LINES_IN)', 'Lines filled into L2.')
event('L2_LINES_OUT.ANY', 'sig(L2_LINES_OUT_SILENT)+sig(L2_LINES_OUT_DIRTY)', 'Lines evicted from L2.')
event('L2_LINES_OUT.DIRTY_ANY L2_LINES_OUT.DIRTY_ALL L2_LINES_OUT.NON_SILENT', 'sig(L2_LINES_OUT_DIRTY)',
      'Modified lines evicted from L2.')
event('L2_LINES_OUT.SILENT', 'sig(L2_LINES_OUT_SILENT)', 'Clean lines evicted from L2.')
event('L2_TRANS.LOAD L2_TRANS.DMND_DATA_RD L2_TRANS.DEMAND_DATA_RD L2_TRANSACTIONS.LOAD', RD,
      f'Demand data reads that reached L2{AS_PREFETCH}.')
event('L2_TRANS.RFO L2_TRANSACTIONS.RFO', RFO, 'Reads for ownership that reached L2.')
event('L2_TRANS.CODE_RD L2_TRANSACTIONS.IFETCH', CODE, 'Code reads that reached L2.')
event('L2_TRANS.ALL_PF L2_TRANS.ALL_PREFETCH L2_TRANSACTIONS.PREFETCH', PF, 'Hardware prefetches that looked into L2.')
event('L2_TRANS.L1D_WB L2_TRANSACTIONS.L1D_WB', 'sig(L2_WB)', 'Lines that L1D wrote back into L2.')
event('L2_L1D_WB_RQSTS.ALL L1D_WB_L2.MESI', 'sig(L2_WB)', 'Lines that L1D wrote back into L2.')
event('L2_TRANS.L2_FILL L2_TRANSACTIONS.FILL', 'sig(L2_LINES_IN)', 'Lines filled into L2.')
event('L2_TRANS.L2_WB L2_TRANSACTIONS.WB', 'sig(L2_LINES_OUT_DIRTY)', 'Lines that L2 wrote back.')
event('LONGEST_LAT_CACHE.REFERENCE LONGEST_LAT_CACHE.REFERENCES L3_LAT_CACHE.REFERENCE LAST_LEVEL_CACHE_REFERENCES '
      'LLC_REFERENCES', 'sig(L3_REFERENCE)', 'Requests of the core to L3, prefetches included.')
event('LONGEST_LAT_CACHE.MISS L3_LAT_CACHE.MISS LAST_LEVEL_CACHE_MISSES LLC_MISSES', 'sig(L3_MISS_ANY)',
      'Requests of the core that missed L3, prefetches included.')
# Requests that were sent: one that finds its line under way for another request misses L2 and sends nothing.  GUESS: so
# does a demand read that waits for a prefetch; Intel's text says only that it is outstanding from then on.  A loop of
# loads behind L2's streamer, on the machine, settles it.
ALL_READS = 'REQUEST_DATA_RD|REQUEST_WALK|REQUEST_PF_L2|REQUEST_PF_L1D|REQUEST_PF_SOFTWARE'
event('OFFCORE_REQUESTS.DEMAND_DATA_RD OFFCORE_REQUESTS.DEMAND_READ_DATA', 'sig(OFFCORE_REQUEST & REQUEST_DATA_RD)',
      'Demand data reads sent beyond L2.')
event('OFFCORE_REQUESTS.DEMAND_CODE_RD OFFCORE_REQUESTS.DEMAND_READ_CODE', 'sig(OFFCORE_REQUEST & REQUEST_CODE_RD)',
      'Code reads sent beyond L2.')
event('OFFCORE_REQUESTS.DEMAND_RFO', 'sig(OFFCORE_REQUEST & REQUEST_RFO)', 'Reads for ownership sent beyond L2.')
event('OFFCORE_REQUESTS.ANY_RFO', 'sig(OFFCORE_REQUEST & REQUEST_RFO)',
      'Reads for ownership sent beyond L2: the modelled prefetchers send none.')
event('OFFCORE_REQUESTS.ALL_DATA_RD', f'sig(OFFCORE_REQUEST & ({ALL_READS}))',
      'Data reads sent beyond L2, prefetches and page walks included.')
event('OFFCORE_REQUESTS.ANY_READ', f'sig(OFFCORE_REQUEST & ({ALL_READS}|REQUEST_CODE_RD))',
      'Data and code reads sent beyond L2, prefetches and page walks included.')
for name, signal, text in (
        ('DEMAND_DATA_RD', 'OFFCORE_DATA_RD', 'Demand data reads'), ('DEMAND_RFO', 'OFFCORE_RFO',
                'Reads for ownership'),
        ('DEMAND_CODE_RD', 'OFFCORE_CODE_RD', 'Code reads'),
        ('ALL_DATA_RD', 'OFFCORE_ALL_RD', 'Data reads, prefetches included,')):
    group = 'OFFCORE_REQUESTS_OUTSTANDING'
    event(f'{group}.{name}', f'sig({signal})', f'{text} outstanding beyond L2, each cycle.')
    # Ice Lake has CYCLES_WITH_DEMAND_RFO without the event that it is made of.
    event(f'{group}.{name}_CYCLES {group}.CYCLES_WITH_{name.replace("ALL_DATA", "DATA")}', f'sig({signal})',
          f'Cycles with {text[0].lower()}{text[1:]} outstanding beyond L2.')
event('OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD_GE_6', '=',
      'Cycles with at least 6 demand data reads outstanding beyond L2.')
event('OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD', 'sig(L3_PENDING)',
      'Demand loads waiting for an L3 miss, each cycle.')
event('OFFCORE_REQUESTS_OUTSTANDING.CYCLES_WITH_L3_MISS_DEMAND_DATA_RD', '=',
      'Cycles in which a demand load waits for an L3 miss.')
event('OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD_GE_6', '=',
      'Cycles in which at least 6 demand loads wait for an L3 miss.')
event('SW_PREFETCH_ACCESS.ANY', 'sig(SW_PREFETCH)', 'Software prefetches executed, of any kind.')
for kind, bit, text in (('NTA', 'NON_TEMPORAL', 'PREFETCHNTA'), ('T0', 'PREFETCH_T0', 'PREFETCHT0'), ('PREFETCHW',
        'PREFETCH_W', 'PREFETCHW'),
                        ('T1_T2', '(PREFETCH_T1|PREFETCH_T2)', 'PREFETCHT1 and PREFETCHT2')):
    event(f'SW_PREFETCH_ACCESS.{kind} SW_PREFETCH.{kind}', f'uop(PREFETCH_SW & {bit})@dispatch',
            f'{text} instructions executed.')

event('L2_RQSTS.SWPF_HIT', 'sig(L2_PF_HIT & SOFTWARE)', 'Software prefetches that hit L2.')
event('L2_RQSTS.SWPF_MISS', 'sig(L2_PF_MISS & SOFTWARE)', 'Software prefetches that missed L2.')
event('L2_LINES_OUT.USELESS_HWPF',
      'sig(L2_LINES_OUT_SILENT & PREFETCH_UNUSED)+sig(L2_LINES_OUT_DIRTY & PREFETCH_UNUSED)',
      'Lines that the prefetchers of L2 asked for and that L2 evicted unused.')
event('SQ_MISC.SPLIT_LOCK SQ_MISC.BUS_LOCK', 'begins(LOCK_DURATION & BUS_LOCK)',
      'Locked accesses that cross a line (no memory is uncacheable).')
event('OFFCORE_REQUESTS.ALL_REQUESTS', 'sig(OFFCORE_REQUEST)',
      'All requests that leave L2: reads, prefetches, page walks, ownership, write-backs and other writes.')
event('OFFCORE_REQUESTS.L3_MISS_DEMAND_DATA_RD', 'sig(OFFCORE_REQUEST & REQUEST_DATA_RD & SUPPLIED_MEMORY)',
      'Demand data reads that missed L3.')
event('OFFCORE_REQUESTS_BUFFER.SQ_FULL OFFCORE_REQUESTS_SQ_FULL SQ_FULL_STALL_CYCLES SQ_MISC.SQ_FULL', 'sig(SQ_FULL)',
      'Cycles in which the super queue is full.')
for name, state, text in (('HIT', 'SHARED', 'shared'), ('HITE', 'EXCLUSIVE', 'exclusive'),
                          ('HITM', 'MODIFIED', 'modified')):
    event(f'SNOOP_RESPONSE.{name}', f'sig(SNOOP_RESPONSE & {state})', f'Snoops that found a line in this core, {text}.')
event('L1D_PEND_MISS.L2_STALL', 'sig(L2_STALL)',
      'Cycles in which a demand request that missed L2 waits for room beyond L2.')
event('LD_BLOCKS.NO_SR', 'sig(SPLIT_BLOCKED)', 'Loads across a line that waited for a split register.')

section('requests beyond L2 by answer: src/pmu/families/offcore.c')
event('OFFCORE_RESPONSE_* OCR.*', 'sig(OFFCORE_REQUEST)', 'See offcore().')

section('fields of MSR_PERF_METRICS')
for name, text in (('RETIRING', 'whose uop retired'), ('BAD_SPECULATION', 'lost to bad speculation'),
                   ('FRONTEND_BOUND', 'that the front end left empty'),
                   ('BACKEND_BOUND', 'that the back end left empty')):
    event(f'PERF_METRICS.{name}', 'metrics', f'Issue slots {text}, by the field of MSR_PERF_METRICS.')

section('not modelled: events that this machine has and the model cannot produce')
refuse('HLE_RETIRED.ABORTED_TMR HLE_RETIRED.ABORTED_MISC2', 'Elided regions aborted by a timer.',
       'no published text says when the timer of a region expires')
refuse('HLE_RETIRED.ABORTED_MEMTYPE HLE_RETIRED.ABORTED_MISC4', 'Elided regions aborted by an access to memory of '
       'another type than write-back.', 'user programs reach write-back memory only')
refuse('TX_MEM.ABORT_HLE_ELISION_BUFFER_NOT_EMPTY', 'Elided regions that ended while a lock was still elided.',
       'in the model a region ends with the release of the last of its locks')
refuse('TX_EXEC.MISC1', 'Instructions of a class that may abort a transaction.', 'no published text names the class')
refuse('TX_EXEC.MISC3', 'Regions nested too deeply.', 'no published text says how deep regions may nest')
refuse('TX_EXEC.MISC4', 'XBEGIN inside an elided region.',
       'XBEGIN carries no mark that tells whether it is in a region')
refuse('TX_EXEC.MISC5', 'XACQUIRE inside a transaction.', TSX)
refuse('RTM_RETIRED.*', 'Restricted transactional memory.', TSX)
refuse('TX_MEM.* TX_EXEC.*', 'Transactional aborts.', 'under the tracer a transaction aborts at once; whether reads or '
       'writes lacked room is not said')
refuse('FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE',
       '512-bit packed arithmetic.', 'programs run without AVX-512 under the tracer')
refuse('MEM_UNCORE_RETIRED.REMOTE_*', 'Loads served by another socket.', 'the modelled machine has one socket')
refuse('MEM_LOAD_MISC_RETIRED.UC', 'Uncacheable loads.', 'user programs reach no uncacheable memory')
refuse('OFFCORE_REQUESTS.UNCACHED_MEM', 'Uncacheable requests.', 'user programs reach no uncacheable memory')
refuse('MACHINE_CLEARS.MASKMOV', 'Machine clears for masked moves to illegal addresses.',
       'a masked-off fault is not modelled')
refuse('MACHINE_CLEARS.CYCLES', 'Cycles in which a machine clear is asserted.',
       'machine clears are recorded without their length; see MACHINE_CLEARS.MEMORY_ORDERING')
refuse('MACHINE_CLEARS.CYCLES', 'Cycles in which a machine clear is asserted.',
       'machine clears are recorded without their length; see MACHINE_CLEARS.MEM_ORDER', 'nhm')
refuse('MACHINE_CLEARS.FUSION_ASSIST', 'Machine clears that undo a macro-fusion.', 'the model undoes no fusion')
refuse('CPL_CYCLES.RING0', 'Unhalted cycles in ring 0.', RING0)
refuse('CPL_CYCLES.RING0_TRANS', 'Transitions from ring 3 to ring 0.', RING0)
refuse('EPT.*', 'Walks of extended page tables.', 'the modelled machine runs no virtual machine')
refuse('ITLB.ITLB_FLUSH ITLB_FLUSH TLB_FLUSH.*', 'TLB flushes.',
       'TLBs are flushed in ring 0, and only user mode is modelled')
refuse('IO_TRANSACTIONS', 'Accesses to I/O ports.', 'I/O is done in ring 0, and only user mode is modelled')
refuse('PIC_ACCESSES.*', 'Accesses to the interrupt controller.',
       'it happens in ring 0, and only user mode is modelled')
refuse('CORE_POWER.*', 'Cycles by turbo licence.', 'power and frequency are not modelled')
refuse('MOVE_ELIMINATION.INT_ELIMINATED MOVE_ELIMINATION.INT_NOT_ELIMINATED',
        'Copies of general-purpose registers by what rename did with them.',
       'the manual and libpfm4 disagree which of two codes this event has', 'ivb')
refuse('LARGE_ITLB.HIT', 'TLB hits by page size.', 'TLB hits are not recorded by page size')
refuse('*.PDE_MISS *.PDP_MISS *.PDE_CACHE_MISS', 'Misses of the paging-structure caches.',
       'which paging-structure cache missed is not recorded')
refuse('PAGE_WALKER_LOADS.* PAGE_WALKS.LLC_MISS', 'Reads of page walks by who served them.',
       'reads of page walks are not recorded by level')
refuse('BR_MISP_EXEC.DIRECT BR_MISP_EXEC.DIRECT_NEAR_CALL BR_MISP_EXEC.TAKEN_DIRECT_NEAR_CALL '
        'BR_MISP_EXEC.ANY_DIRECT_NEAR_CALL',
       'Mispredicted direct branches executed.', DIRECT)
refuse('BOGUS_BR', 'Predicted branches that were none.',
       'the modelled BTB never takes another instruction for a branch')
refuse('BPU_CLEARS.*', 'Predictions that the branch predictor itself corrected.',
       'the modelled predictor never corrects its own prediction')
refuse('BACLEAR.BAD_TARGET', 'Re-steers for a wrong target.',
       'branches whose target decode corrects are not told apart; see BACLEAR.CLEAR')
refuse('BACLEAR_FORCE_IQ', 'Re-steers that the instruction queue asked for.',
       'the modelled instruction queue never re-steers')
refuse('FP_ASSIST.* OTHER_ASSISTS.* ASSISTS.*', 'Microcode assists.', ASSISTS)
refuse('FP_MMX_TRANS.*', 'Transitions between x87 and MMX.', 'transitions between x87 and MMX are not recorded')
refuse('FP_COMP_OPS_EXE.MMX FP_COMP_OPS_EXE.SSE2_INTEGER', 'Integer SIMD uops by register file.',
       'integer SIMD uops are not recorded by operand width')
refuse('SIMD_INT_64.* SIMD_INT_128.*', 'Integer SIMD uops by kind.', 'integer SIMD uops are not recorded by kind')
refuse('SSEX_UOPS_RETIRED.*', 'SIMD uops retired by type, moves included.',
       'only arithmetic is recorded by type; see FP_COMP_OPS_EXE.SSE_FP_PACKED, FP_COMP_OPS_EXE.SSE_FP_SCALAR')
refuse('SSE_MEM_EXEC.NTA', 'Non-temporal software prefetches that missed L1D.', 'prefetches are not recorded by kind')
refuse('L1D_CACHE_PREFETCH_LOCK_FB_HIT', 'Locked loads that hit a line on its way for a prefetch.', ORIGIN)
refuse('L1D_PREFETCH.* HW_PRE_REQ.L1D_MISS', 'Hardware prefetches into L1D.', PREFETCHERS)
refuse('L2_HW_PREFETCH.*', 'What the hardware prefetchers of L2 do inside.',
       'what happens inside the prefetchers is not recorded; see L2_RQSTS.PREFETCHES')
refuse('L2_LINES_OUT.DEMAND_* L2_LINES_OUT.PREFETCH_* L2_LINES_OUT.PF_*',
       'Lines evicted from L2 by who asked for the room.',
       'evictions from L2 are not recorded by who asked for the room')
refuse('L2_LINES_IN.E L2_LINES_IN.S L2_LINES_IN.I L2_LINES_IN.E_STATE L2_LINES_IN.S_STATE',
       'Lines filled into L2 by state.', 'lines filled into L2 are not recorded by state; see %L2_LINES_IN%')
refuse('*.E_STATE *.S_STATE *.M_STATE *_E_STATE *_S_STATE *_M_STATE', 'Accesses to a cache by the state of the line.',
       STATES)
refuse('L1D_WB_L2.I_STATE L2_L1D_WB_RQSTS.* L2_DEMAND_RQSTS.WB_HIT', 'Write-backs of L1D by what they found in L2.',
       'write-backs of L1D are not recorded by what they find in L2')
refuse('L2_STORE_LOCK_RQSTS.HIT_*', 'Reads for ownership that hit L2, by state.', STATES)
refuse('L2_WRITE.*', 'Reads for ownership of stores and of locked accesses apart.',
       'stores and locked accesses are not told apart in L2; see L2_RQSTS.RFO_HIT, L2_RQSTS.RFO_MISS')
refuse('L2_TRANS.ALL L2_TRANS.ALL_REQUESTS L2_TRANSACTIONS.ANY', 'All transactions of L2.',
       "the model records L2's transactions of the other events of this group only")
refuse('L1D.ALLOCATED_IN_M L1D.M_REPL', 'Lines brought into L1D for writing.',
       'lines brought into L1D are not recorded by state; see %L1D_REPL%')
refuse('L1D.M_SNOOP_EVICT L1D.ALL_M_REPLACEMENT', 'Modified lines that left L1D for a snoop.',
       'lines that leave L1D for a snoop are not recorded')
refuse('L1I.HITS L1I.READS ICACHE.HIT', 'Instruction fetches of 16 bytes that found L1I ready.',
       'fetches are recorded by line, not by 16 bytes')
refuse('L1I_OPPORTUNISTIC_HITS', 'Instruction fetches served on the way.', 'streaming buffers are not modelled')
refuse('IFU_IVC.*', 'The victim cache of instruction fetch.', 'the victim cache of instruction fetch is not modelled')
refuse('LD_BLOCKS.* STORE_BLOCKS.*', 'Loads held up by older stores, by cause.',
       'the event adds up several causes, and the model records only some of them')
refuse('LOAD_DISPATCH.*', 'Loads by the way they took to L1D.',
       'loads are not recorded by the way they are dispatched; see LOAD_DISPATCH.ANY')
refuse('MEMORY_DISAMBIGUATION.*', 'What the memory disambiguation predictor does inside.',
       'what happens inside memory disambiguation is not recorded')
refuse('AGU_BYPASS_CANCEL.*', 'Early address generation that was taken back.',
       'the early bypass of address generation is not modelled')
refuse('LOCK_CYCLES.SPLIT_LOCK_UC_LOCK_DURATION CACHE_LOCK_CYCLES.L1D_L2',
       'Locked accesses that cross a line or reach uncacheable memory.', 'bus locks are not modelled')
refuse('SQ_MISC.*', 'What the super queue does inside.', 'what happens inside the super queue is not recorded')
refuse('OFFCORE_REQUESTS.ANY OFFCORE_REQUESTS.L1D_WRITEBACK',
       'All transactions of the super queue.', 'evictions and writes in the super queue are not recorded')
refuse('RAT_STALLS.* PARTIAL_RAT_STALLS.CYCLES_* INT_MISC.RAT_STALL_CYCLES', 'Cycles in which rename stalls by itself.',
       "the renamer's own stalls are not recorded")
refuse('UOPS_ISSUED.FUSED', 'Micro-fused uops issued.', 'micro-fused pairs are not recorded')
refuse('UOP_UNFUSION', 'Micro-fused uops taken apart.', 'the model splits no micro-fused pair')
refuse('UOPS_DISPATCHES_CANCELLED.*', 'Uops called back for lack of register-file ports.',
       'ports of the register file are not modelled')
refuse('RESOURCE_STALLS.* RESOURCE_STALLS2.*', 'Cycles in which issue waits for a resource of this kind.',
       'the model does not run out of this resource, or does not record it')
refuse('SEG_RENAME_STALLS ES_REG_RENAMES SEGMENT_REG_LOADS', 'Renaming of segment registers.',
       'renames of segment registers are not recorded')
refuse('INSTS_WRITTEN_TO_IQ.*', 'Instructions written to the instruction queue.',
       'what the predecoder writes to the instruction queue is not recorded')
refuse('INST_QUEUE_WRITE_CYCLES', 'Cycles in which instructions are written to the instruction queue.',
       'the cycle in which an instruction is predecoded is not recorded')
refuse('ILD_STALL.*', 'Cycles in which the predecoder stalls.',
       'only stalls for length-changing prefixes are recorded; see ILD_STALL.LCP')
refuse('INST_DECODED.* UOPS_DECODED_DEC0 UOPS_DECODED.DEC0 TWO_UOP_INSTS_DECODED',
       'Instructions and uops by the decoder that took them.', 'which decoder took an instruction is not recorded')
refuse('UOPS_DECODED.ESP_*', 'What the stack engine does at decode.', 'additions of the stack engine are not recorded')
refuse('DSB_FILL.*', 'Fills of the uop cache that were given up.', 'fills of the uop cache are not recorded')
refuse('INT_MISC.UOP_DROPPING', 'Slots lost to uops that were dropped.', 'the model drops no uop behind the front end')
