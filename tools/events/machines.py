# SPDX-License-Identifier: GPL-2.0-or-later
# The PMUs of Nehalem to Ice Lake: shape, counters, perf's names, and corrections of libpfm4.
#
# Counters: arch/x86/events/intel/core.c of Linux, intel_*_event_constraints (and, where perf asks only for PEBS, those
# of ds.c).  HyperThreading is off: eight counters from Sandy Bridge on; four on Nehalem, whose number does not
# depend on it (SDM vol. 3B, sections on performance monitoring of the processors based on either microarchitecture).
# IA32_PERF_CAPABILITIES: LBR format 3 (with mispredict flags) on Nehalem to Ivy Bridge, 4 (with TSX flags) on
# Haswell and Broadwell, 5 (with LBR_INFO) on Ice Lake; PEBS record format 1, 2 and 4 (adaptive), whose state is
# that after the instruction; full-width writes from Sandy Bridge on (SDM vol. 3B, the same sections, and vol.
# 4, "MSRs in the ..." of each).  Without SMM_FREEZE; PERF_METRICS on Ice Lake has the first level only.
# perf's names: the same file, intel_perfmon_event_map, *_hw_cache_event_ids, *_events_attrs, with the changes that
# intel_pmu_init makes to them.  Codes are hex: umask and event, from bit 18 on as in IA32_PERFEVTSELx (1800000:
# CMASK 1, INV).
import textwrap


def codes(*texts):
    """NAME=HEX ... as a dict; a value that is not hex is the name of a row."""
    out = {}
    for word in ' '.join(texts).split():
        name, value = word.split('=')
        out[name] = value if '_' in value else int(value, 16)
    return out


def places(text):
    """EVENT[-EVENT][/UMASK]:COUNTERS ... as (first, last, umask or None, counters); the first that matches counts."""
    out = []
    for word in text.split():
        where, counters = word.split(':')
        events, _, umask = where.partition('/')
        first, _, last = events.partition('-')
        out.append((int(first, 16), int(last or first, 16), int(umask, 16) if umask else None, counters))
    return out


# The core preset nearest to each.
NEAREST = {'nehalem': 'ivy-bridge', 'sandy-bridge': 'ivy-bridge', 'ivy-bridge': 'ivy-bridge', 'haswell': 'skylake',
        'broadwell': 'skylake',
           'ice-lake': 'golden-cove'}
# PERF_METRICS, level 1; as in golden-cove.tsv, with this machine's five slots a cycle.
METRICS = {'ice-lake': ('@metric slots slots', '@metric retiring uop(SLOT)',
        '@metric bad_spec uop(SLOT)@squash+5*sig(WRONG_PATH)+5*sig(RECOVERY)',
                        '@metric fe_bound sig(IDQ_BUBBLE)')}


class Machine:
    def __init__(self, name, libpfm, long, shape, cpuid, constraints, cache_ids, **more):
        self.name, self.libpfm = name, libpfm
        self.pmcs, self.slots = int(cpuid[4:6], 16), 4
        self.capabilities, self.features, self.remarks = '', '', ()
        self.fixed = dict(FIXED)	# image: (counter, no other can count it)
        self.extra, self.precise, self.corrected, self.unencodable = {}, '', {}, ()
        self.words = {'%OFFCORE%': 'OFFCORE_REQUESTS.DEMAND_DATA_RD', '%L2_LINES_IN%': 'L2_LINES_IN.ALL',
                      '%L1D_REPL%': 'L1D.REPLACEMENT', '%XCLK_NAME%': 'the 100 MHz clock'}
        words = more.pop('words', {})
        self.responses, self.offcore = {}, name
        self.__dict__.update(more)
        self.words.update(words)
        self.extra_precise = self.precise.split()
        text = (f'Shape: {shape}.  Codes: SDM vol. 3B, tables of performance monitoring events of '
                f'{long.split(",")[0]}, and Intel\'s perfmon lists; the test test_pmu_libpfm compares them with '
                f'libpfm4\'s table `{libpfm}`.  Counters: arch/x86/events/intel/core.c of Linux, {constraints}.  '
                f'Aliases: the same file, intel_perfmon_event_map, {cache_ids}.  Events marked spec count the wrong '
                f'path, too, where the core runs one.')
        self.head = [f'softpmu events: {name} ({long})',
                     'Columns and expressions: src/pmu/pmu_table.c, src/pmu/pmu_expr.c.',
                     'Made by tools/events/generate_events.sh, do not edit.']
        for paragraph in (text,) + tuple(self.remarks):
            self.head += textwrap.wrap(paragraph, 114)
        self.head.append('@tsc: the modelled core runs at the rate of its time-stamp counter.')
        self.shape = [f'@cpuid_0a {cpuid}', f'@perf_capabilities {self.capabilities}', f'@core {NEAREST[name]}',
                f'@libpfm {libpfm}', f'@offcore {self.offcore}',
                      f'@slots {self.slots}']
        self.shape += [f'@features {self.features}'] * bool(self.features) + list(METRICS.get(name, ())) + ['@tsc 1/1']

    def counters(self, row):
        for first, last, umask, counters in self.places:
            if first <= row.event <= last and umask in (None, row.umask):
                return counters
        return f'0-{self.pmcs - 1}'


FIXED = {0xc0: (0, False), 0x3c: (1, False), 0x100: (0, True), 0x200: (1, True), 0x300: (2, True)}
FIXED_NAMES = 'INST_RETIRED.ANY=100 CPU_CLK_UNHALTED.THREAD=200 CPU_CLK_UNHALTED.REF_TSC=300'

BASIC = '''instructions=c0 cycles=3c cpu-cycles=3c ref-cycles=300 bus-cycles=13c branches=c4 branch-instructions=c4
    branch-loads=c4 branch-misses=c5 cache-references=4f2e cache-misses=412e'''
# perf's names for requests beyond L2, which OFFCORE_RESPONSE_0 counts by what Linux writes into its register.
OFFCORE = ' '.join(f'{unit}-{what}=OFFCORE_RESPONSE_0.{unit.upper()}_{what.upper().replace("-", "_")}'
                   for unit in ('LLC', 'node') for what in ('loads', 'load-misses', 'stores', 'store-misses'))
PREFETCHES = ' '.join(f'{unit}-{what}=OFFCORE_RESPONSE_0.{unit.upper()}_{what.upper().replace("-", "_")}'
                      for unit in ('LLC', 'node') for what in ('prefetches', 'prefetch-misses'))


def responses(alone, requests, access, miss, node, remote, registers=2):
    """The rows of a machine with MSR_OFFCORE_RSP_0 and _1: {name: value}.  alone: value of the plain event, libpfm4's;
    the rest: *_hw_cache_extra_regs of Linux (the same file).  requests: of loads, stores and, if perf has names for
    them, prefetches."""
    rows = {f'OFFCORE_RESPONSE_{n}': alone for n in range(registers)}
    for (one, many), request in zip((('LOAD', 'LOADS'), ('STORE', 'STORES'), ('PREFETCH', 'PREFETCHES')), requests):
        rows[f'OFFCORE_RESPONSE_0.LLC_{many}'] = request | access
        rows[f'OFFCORE_RESPONSE_0.LLC_{one}_MISSES'] = request | miss
        rows[f'OFFCORE_RESPONSE_0.NODE_{many}'] = request | node
        rows[f'OFFCORE_RESPONSE_0.NODE_{one}_MISSES'] = request | remote
    return rows


SNOOPS = 0x3f << 31		# all but NON_DRAM
SNB_RESPONSES = responses(0x18fff, (0x81, 0x102, 0x30), 1 << 16, 0xff << 23 | 1 << 22 | SNOOPS | 1 << 37,
                          0xff << 23 | 1 << 22 | SNOOPS, 0xff << 23 | SNOOPS)
TOPDOWN = 'topdown-slots-issued=10e topdown-slots-retired=2c2 topdown-fetch-bubbles=19c'
TSX = 'tx-start=1c9 tx-commit=2c9 tx-abort=4c9 tx-conflict=154 el-start=1c8 el-commit=2c8 el-abort=4c8 el-conflict=154'

NEHALEM = Machine(
    'nehalem', 'nhm', 'Nehalem', 'CPUID of a Xeon W3520 (000106A5, as in the test data of libvirt)',
    '07300403 00000044 00000000 00000603', 'intel_nehalem_event_constraints', 'nehalem_hw_cache_event_ids',
    responses=responses(0xffff, (0x1, 0xa, 0x30), 0xf700, 0xf000, 0x7000, 0x2000, 1),
    capabilities='1c3', remarks=(
        'EBX bits 2 and 6 of this processor report errata of its events of reference cycles and of mispredicted '
        'branches.  Here these events have no errata, and perf\'s bus-cycles and branch-misses are those of a '
        'processor without them.',
        'stalled-cycles-backend: perf leaves out the AnyThread bit of its row; with one thread that is the same.'),
    places=places('40-43:0-1 48:0-1 4e:0-1 51:0-1 63:0-1'),
    extra=codes(FIXED_NAMES, '''INST_RETIRED.ANY_P_01=1c0 BR_MISP_RETIRED.ALL_BRANCHES=c5
        UOPS_EXECUTED.CORE_STALL_CYCLES=1a03fb1'''),
    precise='INST_RETIRED.ANY_P_01',
    words={'%XCLK%': '1/20*sig(CYCLES)', '%OFFCORE%': 'OFFCORE_REQUESTS.DEMAND_READ_DATA',
           '%L2_LINES_IN%': 'L2_LINES_IN.ANY', '%L1D_REPL%': 'L1D.REPL'},
    aliases=codes(BASIC, OFFCORE, PREFETCHES, '''
        stalled-cycles-frontend=180010e idle-cycles-frontend=180010e
        stalled-cycles-backend=UOPS_EXECUTED.CORE_STALL_CYCLES idle-cycles-backend=UOPS_EXECUTED.CORE_STALL_CYCLES
        L1-dcache-loads=10b L1-dcache-load-misses=151 L1-dcache-stores=20b L1-dcache-store-misses=251
        L1-dcache-prefetches=14e L1-dcache-prefetch-misses=24e L1-icache-loads=380 L1-icache-load-misses=280
        dTLB-loads=f40 dTLB-load-misses=108 dTLB-stores=f41 dTLB-store-misses=10c iTLB-loads=1c0 iTLB-load-misses=20c8
        branch-load-misses=3e8 mem-loads=100b'''))

SANDY_BRIDGE = Machine(
    'sandy-bridge', 'snb', 'Sandy Bridge client, HyperThreading off',
    'CPUID of a Core i5-2500 (000206A7, as in the test data of libvirt)',
    '07300803 00000000 00000000 00000603', 'intel_snb_event_constraints', 'snb_hw_cache_event_ids',
    responses=SNB_RESPONSES,
    capabilities='21c3', features='split', remarks=(
        'libpfm4 gives BR_INST_RETIRED.ALL_BRANCHES and BR_MISP_RETIRED.ALL_BRANCHES the codes of their precise '
        'forms (04H), and L3_LAT_CACHE '
        'the unit masks 01H and 02H; so do these rows, which count the same.  The architectural codes C4H/00H and '
        'C5H/00H are the rows .ARCH.',),
    places=places('a3/04:0-3 a3/05:0-3 a3/02:2 a3/06:2 48:2 c0/01:1 cd:3 d0-d3:0-3'),
    unencodable=('MEM_LOAD_UOPS_LLC_MISS_RETIRED',),
    extra=codes(FIXED_NAMES, '''BR_INST_RETIRED.ALL_BRANCHES_PEBS=4c4 BR_MISP_RETIRED.ALL_BRANCHES_PEBS=4c5
        BRANCH_INSTRUCTIONS_RETIRED.ARCH=c4 BRANCH_MISSES_RETIRED.ARCH=c5
        LONGEST_LAT_CACHE.REFERENCE=4f2e LONGEST_LAT_CACHE.MISS=412e MEM_UOP_RETIRED.LOADS=f1d0
        MEM_UOP_RETIRED.STORES=f2d0 MEM_LOAD_UOPS_RETIRED.LLC_HIT=4d1 MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM=1d3'''),
    precise='''BR_INST_RETIRED.ALL_BRANCHES_PEBS BR_MISP_RETIRED.ALL_BRANCHES_PEBS MEM_UOP_RETIRED.LOADS
        MEM_UOP_RETIRED.STORES MEM_LOAD_UOPS_RETIRED.LLC_HIT MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM''',
    words={'%XCLK%': '1/33*sig(CYCLES)', '%GHZ%': '3.3', '%L2_LINES_IN%': 'L2_LINES_IN.ANY'},
    aliases=codes(BASIC, OFFCORE, PREFETCHES, TOPDOWN, '''
        stalled-cycles-frontend=180010e idle-cycles-frontend=180010e
        stalled-cycles-backend=18001b1 idle-cycles-backend=18001b1
        L1-dcache-loads=f1d0 L1-dcache-load-misses=151 L1-dcache-stores=f2d0 L1-dcache-store-misses=851
        L1-dcache-prefetch-misses=24e L1-icache-load-misses=280 dTLB-loads=81d0 dTLB-load-misses=108 dTLB-stores=82d0
        dTLB-store-misses=149 iTLB-loads=1085 iTLB-load-misses=185 branch-load-misses=c5 mem-loads=1cd
        mem-stores=2cd'''))

IVY_BRIDGE = Machine(
    'ivy-bridge', 'ivb', 'Ivy Bridge client, HyperThreading off',
    'CPUID of an Ivy Bridge part (instlat data, 000306A9), whose four counters with HyperThreading are eight without',
    '07300803 00000000 00000000 00000603', 'intel_ivb_event_constraints',
    'snb_hw_cache_event_ids with its change for Ivy Bridge', capabilities='21c3', features='split',
    offcore='sandy-bridge', responses=SNB_RESPONSES,
    places=places('''48/01:2 79/02:0-3 9c/01:0-3 a3/02:0-3 a3/04:0-3 a3/05:0-3 a3/06:0-3 a3/08:2 a3/0c:2 c0/01:1 cd:3
        d0-d3:0-3'''),
    corrected=codes('''MOVE_ELIMINATION.INT_ELIMINATED=158 MOVE_ELIMINATION.SIMD_ELIMINATED=258
        MOVE_ELIMINATION.INT_NOT_ELIMINATED=458 MOVE_ELIMINATION.SIMD_NOT_ELIMINATED=858'''),
    extra=codes(FIXED_NAMES, '''BR_INST_RETIRED.ALL_BRANCHES_PEBS=4c4 BR_MISP_RETIRED.ALL_BRANCHES_PEBS=4c5
        BR_INST_RETIRED.CONDITIONAL=1c4 MEM_UOP_RETIRED.LOADS=f1d0 MEM_UOP_RETIRED.STORES=f2d0
        MEM_LOAD_UOPS_RETIRED.LLC_HIT=4d1 MEM_LOAD_UOPS_RETIRED.LLC_MISS=20d1
        L1D.ALL_M_REPLACEMENT=851 HW_PRE_REQ.L1D_MISS=24e'''),
    precise='''BR_INST_RETIRED.ALL_BRANCHES_PEBS BR_MISP_RETIRED.ALL_BRANCHES_PEBS BR_INST_RETIRED.CONDITIONAL
        MEM_UOP_RETIRED.LOADS MEM_UOP_RETIRED.STORES MEM_LOAD_UOPS_RETIRED.LLC_HIT MEM_LOAD_UOPS_RETIRED.LLC_MISS''',
    words={'%XCLK%': '1/35*sig(CYCLES)', '%GHZ%': '3.5'},
    aliases=codes(BASIC, OFFCORE, PREFETCHES, TOPDOWN, '''stalled-cycles-frontend=180010e idle-cycles-frontend=180010e
        L1-dcache-loads=f1d0 L1-dcache-load-misses=151 L1-dcache-stores=f2d0 L1-dcache-store-misses=851
        L1-dcache-prefetch-misses=24e L1-icache-load-misses=280 dTLB-loads=81d0 dTLB-load-misses=8108 dTLB-stores=82d0
        dTLB-store-misses=149 iTLB-loads=1085 iTLB-load-misses=185 branch-load-misses=c5 mem-loads=1cd
        mem-stores=2cd'''))

# NAME_ALT: the umask that Intel's current lists (perfmon, HSW and BDW) give the event; libpfm4 has the former one.
HSW_EXTRA = codes(FIXED_NAMES, '''BR_INST_RETIRED.ALL_BRANCHES_PEBS=4c4 BR_MISP_RETIRED.ALL_BRANCHES_PEBS=4c5
    L2_RQSTS.DEMAND_DATA_RD_HIT_ALT=c124 L2_RQSTS.RFO_HIT_ALT=c224 L2_RQSTS.CODE_RD_HIT_ALT=c424
    L2_RQSTS.PF_HIT_ALT=d024 L2_RQSTS.PF_MISS_ALT=3024''')
HSW_PRECISE = 'BR_INST_RETIRED.ALL_BRANCHES_PEBS BR_MISP_RETIRED.ALL_BRANCHES_PEBS'
HSW_ALIASES = codes(BASIC, OFFCORE, TOPDOWN, TSX, '''tx-capacity=254 el-capacity=254
    L1-dcache-loads=81d0 L1-dcache-load-misses=151 L1-dcache-stores=82d0 L1-icache-load-misses=280
    dTLB-loads=81d0 dTLB-load-misses=108 dTLB-stores=82d0 dTLB-store-misses=149 iTLB-loads=6085 iTLB-load-misses=185
    branch-load-misses=c5 mem-loads=1cd mem-stores=82d0''')

HASWELL = Machine(
    'haswell', 'hsw', 'Haswell client, HyperThreading off',
    'CPUID of a Core i5-4670T (000306C3, as in the test data of libvirt)',
    '07300803 00000000 00000000 00000603', 'intel_hsw_event_constraints', 'hsw_hw_cache_event_ids',
    responses=responses(0x18fff, (0x1, 0x2), 1 << 16, 1 << 22 | 7 << 27 | SNOOPS | 1 << 37, 1 << 22 | SNOOPS,
                        7 << 27 | SNOOPS),
    capabilities='22c4', features='in_tx split', places=places('48/01:2 c0/01:1 cd:3 a3/08:2 a3/0c:2 a3/04:0-3 '
            'd0-d3:0-3'),
    extra=HSW_EXTRA, precise=HSW_PRECISE, words={'%XCLK%': '1/35*sig(CYCLES)', '%GHZ%': '3.5'}, aliases=HSW_ALIASES)

BROADWELL = Machine(
    'broadwell', 'bdw', 'Broadwell client, HyperThreading off',
    'as Haswell (SDM vol. 3B, "5th Generation Intel Core Processor and Intel Core M Processor Performance Monitoring '
    'Facility")', '07300803 00000000 00000000 00000603', 'intel_bdw_event_constraints', 'hsw_hw_cache_event_ids',
    responses=responses(0x18fff, (0x1, 0x2), 1 << 16, 1 << 26 | 7 << 27 | SNOOPS, 1 << 26 | SNOOPS, 7 << 27 | SNOOPS),
    capabilities='22c4', features='in_tx split', places=places('48/01:2 c0/01:1 a3/08:2 a3/0c:2 cd:0-3 d0-d3:0-3'),
    extra=HSW_EXTRA, precise=HSW_PRECISE, words={'%XCLK%': '1/33*sig(CYCLES)', '%GHZ%': '3.3'}, aliases=HSW_ALIASES)

ICE_LAKE = Machine(
    'ice-lake', 'icl', 'Ice Lake client',
    'CPUID of an Ice Lake server (000606A0, as in the test data of libvirt); the client is the same here',
    '08300805 00000000 0000000f 00008604', 'intel_icl_event_constraints',
    'skl_hw_cache_event_ids with its change for Ice Lake', capabilities='e4c5', slots=5, features='in_tx',
    responses=responses(0x1bfff, (0x1, 0x2), 1 << 16 | 1 << 30 | SNOOPS | 1 << 37,
                        0xf << 26 | 1 << 17 | 1 << 30 | SNOOPS | 1 << 37, 1 << 26 | 1 << 30 | SNOOPS,
                        7 << 27 | 1 << 30 | SNOOPS),
    fixed=FIXED | {0x400: (3, True)} | {0x8000 + 0x100 * n: (3, True) for n in range(4)},
    places=places('''03-0a:0-3 1f-28:0-3 32:0-3 48-56:0-3 60-8b:0-3 a3/04:0-7 a3/10:0-7 a3/14:0-7 a3:0-3 a8-b0:0-3
        b7-bd:0-3 d0-e6:0-3 ef-f4:0-3'''),
    corrected=codes('''MEM_LOAD_MISC_RETIRED.UC=4d4 TOPDOWN.BACKEND_BOUND_SLOTS=2a4 TOPDOWN.BR_MISPREDICT_SLOTS=8a4'''),
    extra=codes('''CPU_CLK_UNHALTED.THREAD=200 LONGEST_LAT_CACHE.REFERENCE=4f2e SW_PREFETCH_ACCESS.ANY=f32
        PERF_METRICS.RETIRING=8000 PERF_METRICS.BAD_SPECULATION=8100 PERF_METRICS.FRONTEND_BOUND=8200
        PERF_METRICS.BACKEND_BOUND=8300'''),
    words={'%XCLK%': '1/39*sig(CYCLES)', '%XCLK_NAME%': 'the 38.4 MHz crystal', '%GHZ%': '1.4976'},
    aliases=codes(BASIC, OFFCORE, TSX, '''tx-capacity-read=8054 tx-capacity-write=254 el-capacity-read=8054
        el-capacity-write=254 L1-dcache-loads=81d0 L1-dcache-load-misses=151 L1-dcache-stores=82d0
        L1-icache-load-misses=283 dTLB-loads=81d0 dTLB-load-misses=e08 dTLB-stores=82d0 dTLB-store-misses=e49
        iTLB-load-misses=e85 branch-load-misses=c5 mem-loads=1cd mem-stores=82d0 slots=400 topdown-retiring=8000
        topdown-bad-spec=8100 topdown-fe-bound=8200 topdown-be-bound=8300'''))

MACHINES = [NEHALEM, SANDY_BRIDGE, IVY_BRIDGE, HASWELL, BROADWELL, ICE_LAKE]
