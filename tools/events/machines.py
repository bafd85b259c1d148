# SPDX-License-Identifier: GPL-2.0-or-later
# The PMUs of Nehalem to Ice Lake: shape, counters, perf's names, and where libpfm4 lacks something or errs.
#
# Counters: arch/x86/events/intel/core.c of Linux, intel_*_event_constraints (and, where perf asks only for PEBS, the constraints of
# ds.c).  HyperThreading is off: eight counters from Sandy Bridge on, four on Nehalem, whose number does not depend on it (SDM vol. 3B,
# "Performance Monitoring for Processors Based on Nehalem Microarchitecture", "... Sandy Bridge ...").
# perf's names: the same file, intel_perfmon_event_map, *_hw_cache_event_ids, *_events_attrs, and what intel_pmu_init changes in them.


import textwrap


class Machine:
    def __init__(self, **fields):
        self.corrected, self.extra, self.extra_precise, self.extra_same, self.unencodable = {}, {}, (), {}, ()
        self.__dict__.update(fields)

    def counters(self, row):
        for first, last, umask, counters in self.rules:
            if first <= row.event <= last and (umask is None or umask == row.umask):
                return counters
        return '0-%d' % (self.pmcs - 1)


FIXED = {0xc0: (0, False), 0x3c: (1, False), 0x100: (0, True), 0x200: (1, True), 0x300: (2, True)}
FIXED_NAMES = {'INST_RETIRED.ANY': 0x100, 'CPU_CLK_UNHALTED.THREAD': 0x200, 'CPU_CLK_UNHALTED.REF_TSC': 0x300}

BASIC = {'instructions': 0xc0, 'cycles': 0x3c, 'cpu-cycles': 0x3c, 'ref-cycles': 0x300, 'bus-cycles': 0x13c, 'branches': 0xc4,
         'branch-instructions': 0xc4, 'branch-loads': 0xc4, 'branch-misses': 0xc5, 'cache-references': 0x4f2e, 'cache-misses': 0x412e}
OFFCORE = ('LLC-loads', 'LLC-load-misses', 'LLC-stores', 'LLC-store-misses', 'node-loads', 'node-load-misses', 'node-stores', 'node-store-misses')
PREFETCHES = ('LLC-prefetches', 'LLC-prefetch-misses', 'node-prefetches', 'node-prefetch-misses')
TOPDOWN = {'topdown-slots-issued': 0x10e, 'topdown-slots-retired': 0x2c2, 'topdown-fetch-bubbles': 0x19c}
TSX = {'tx-start': 0x1c9, 'tx-commit': 0x2c9, 'tx-abort': 0x4c9, 'tx-conflict': 0x154, 'el-start': 0x1c8, 'el-commit': 0x2c8, 'el-abort': 0x4c8,
       'el-conflict': 0x154}


def offcore(*more):
    return {name: 'OFFCORE_RESPONSE_0' for name in OFFCORE + more}


def stall(image):		# CMASK 1, INV
    return image | 1 << 24 | 1 << 23


def head(name, long, shape, table, counters, aliases, *more):
    text = (f'Shape: {shape}.  Codes: SDM vol. 3B, tables of performance monitoring events of {long.split(",")[0]}, and Intel\'s perfmon lists; the test '
            f'test_pmu_libpfm holds them against libpfm4\'s table `{table}`.  Counters: arch/x86/events/intel/core.c of Linux, {counters}.  Aliases: the same '
            f'file, intel_perfmon_event_map, {aliases}.  The core runs no wrong path: what is marked spec counts what runs.')
    return [f'softpmu events: {name} ({long})', 'Columns and expressions: src/pmu/pmu_table.c, src/pmu/pmu_expr.c.  Made by tools/events/generate.sh, do not edit.',
            *textwrap.wrap(text, 132), *(line for m in more for line in textwrap.wrap(m, 132)), '@tsc: the modelled core runs at the rate of its time-stamp counter.']


def shape(cpuid, capabilities, slots, features=''):
    lines = ['@cpuid_0a ' + cpuid, '@perf_capabilities ' + capabilities, f'@slots {slots}', '@tsc 1/1']
    return lines[:3] + ['@features ' + features] * bool(features) + lines[3:]


WORDS = {'%OFFCORE%': 'OFFCORE_REQUESTS.DEMAND_DATA_RD', '%L2_LINES_IN%': 'L2_LINES_IN.ALL', '%L1D_REPL%': 'L1D.REPLACEMENT', '%XCLK_NAME%': 'the 100 MHz clock'}

NEHALEM = Machine(
    name='nehalem', libpfm='nhm', pmcs=4, fixed=FIXED,
    head=head('nehalem', 'Nehalem', 'CPUID of a Xeon W3520 (000106A5, as in the test data of libvirt)', 'nhm',
              'intel_nehalem_event_constraints', 'nehalem_hw_cache_event_ids',
              'By EBX bits 2 and 6 that part announces that its events of reference cycles and of mispredicted branches have errata.  Here they have none, and '
              'perf\'s bus-cycles and branch-misses are those of a part without.',
              'stalled-cycles-backend: perf leaves out the AnyThread bit of its row; with one thread that is the same.'),
    shape=shape('07300403 00000044 00000000 00000603', '0', 4),
    rules=[(0x40, 0x43, None, '0-1'), (0x48, 0x48, None, '0-1'), (0x4e, 0x4e, None, '0-1'), (0x51, 0x51, None, '0-1'), (0x63, 0x63, None, '0-1')],
    corrected={'MACRO_INSTS.FUSIONS_DECODED': 0x1a6},
    extra=dict(FIXED_NAMES, **{'INST_RETIRED.ANY_P_01': 0x1c0, 'BR_MISP_RETIRED.ALL_BRANCHES': 0xc5, 'UOPS_EXECUTED.CORE_STALL_CYCLES': stall(0x3fb1) | 1 << 21,
                               'OFFCORE_RESPONSE_0': 0x1b7}),
    extra_precise=('INST_RETIRED.ANY_P_01',),
    words=dict(WORDS, **{'%XCLK%': '1/20*sig(CYCLES)', '%OFFCORE%': 'OFFCORE_REQUESTS.DEMAND_READ_DATA', '%L2_LINES_IN%': 'L2_LINES_IN.ANY',
                               '%L1D_REPL%': 'L1D.REPL'}),
    aliases=dict(BASIC, **offcore(*PREFETCHES), **{
        'stalled-cycles-frontend': stall(0x10e), 'stalled-cycles-backend': 'UOPS_EXECUTED.CORE_STALL_CYCLES',
        'L1-dcache-loads': 0x10b, 'L1-dcache-load-misses': 0x151, 'L1-dcache-stores': 0x20b, 'L1-dcache-store-misses': 0x251, 'L1-dcache-prefetches': 0x14e,
        'L1-dcache-prefetch-misses': 0x24e, 'L1-icache-loads': 0x380, 'L1-icache-load-misses': 0x280, 'dTLB-loads': 0xf40, 'dTLB-load-misses': 0x108,
        'dTLB-stores': 0xf41, 'dTLB-store-misses': 0x10c, 'iTLB-loads': 0x1c0, 'iTLB-load-misses': 0x20c8, 'branch-load-misses': 0x3e8, 'mem-loads': 0x100b}))

SANDY_BRIDGE = Machine(
    name='sandy-bridge', libpfm='snb', pmcs=8, fixed=FIXED,
    head=head('sandy-bridge', 'Sandy Bridge client, HyperThreading off', 'CPUID of a Core i5-2500 (000206A7, as in the test data of libvirt)',
              'snb', 'intel_snb_event_constraints', 'snb_hw_cache_event_ids'),
    shape=shape('07300803 00000000 00000000 00000603', '2000', 4, 'split'),
    rules=[(0xa3, 0xa3, 0x04, '0-3'), (0xa3, 0xa3, 0x05, '0-3'), (0xa3, 0xa3, 0x02, '2'), (0xa3, 0xa3, 0x06, '2'), (0x48, 0x48, None, '2'),
           (0xc0, 0xc0, 0x01, '1'), (0xcd, 0xcd, None, '3'), (0xd0, 0xd3, None, '0-3')],
    unencodable=('MEM_LOAD_UOPS_LLC_MISS_RETIRED',),
    corrected={'BR_INST_RETIRED.ALL_BRANCHES': 0xc4, 'BR_MISP_RETIRED.ALL_BRANCHES': 0xc5, 'L3_LAT_CACHE.MISS': 0x412e, 'L3_LAT_CACHE.REFERENCE': 0x4f2e},
    extra=dict(FIXED_NAMES, **{'BR_INST_RETIRED.ALL_BRANCHES_PEBS': 0x4c4, 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS': 0x4c5, 'LONGEST_LAT_CACHE.REFERENCE': 0x4f2e,
                               'LONGEST_LAT_CACHE.MISS': 0x412e, 'MEM_UOP_RETIRED.LOADS': 0xf1d0, 'MEM_UOP_RETIRED.STORES': 0xf2d0,
                               'MEM_LOAD_UOPS_RETIRED.LLC_HIT': 0x4d1, 'MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM': 0x1d3,
                               'OFFCORE_RESPONSE_0': 0x1b7, 'OFFCORE_RESPONSE_1': 0x1bb}),
    extra_precise=('BR_INST_RETIRED.ALL_BRANCHES_PEBS', 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS', 'MEM_UOP_RETIRED.LOADS', 'MEM_UOP_RETIRED.STORES',
                   'MEM_LOAD_UOPS_RETIRED.LLC_HIT', 'MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM'),
    words=dict(WORDS, **{'%XCLK%': '1/33*sig(CYCLES)', '%GHZ%': '3.3', '%L2_LINES_IN%': 'L2_LINES_IN.ANY'}),
    aliases=dict(BASIC, **offcore(*PREFETCHES), **TOPDOWN, **{
        'stalled-cycles-frontend': stall(0x10e), 'stalled-cycles-backend': stall(0x1b1), 'L1-dcache-loads': 0xf1d0, 'L1-dcache-load-misses': 0x151,
        'L1-dcache-stores': 0xf2d0, 'L1-dcache-store-misses': 0x851, 'L1-dcache-prefetch-misses': 0x24e, 'L1-icache-load-misses': 0x280,
        'dTLB-loads': 0x81d0, 'dTLB-load-misses': 0x108, 'dTLB-stores': 0x82d0, 'dTLB-store-misses': 0x149, 'iTLB-loads': 0x1085,
        'iTLB-load-misses': 0x185, 'branch-load-misses': 0xc5, 'mem-loads': 0x1cd, 'mem-stores': 0x2cd}))

IVY_BRIDGE = Machine(
    name='ivy-bridge', libpfm='ivb', pmcs=8, fixed=FIXED,
    head=head('ivy-bridge', 'Ivy Bridge client, HyperThreading off', 'CPUID of an Ivy Bridge part (instlat data, 000306A9), whose four counters with HyperThreading are eight without',
              'ivb', 'intel_ivb_event_constraints', 'snb_hw_cache_event_ids with its change for Ivy Bridge'),
    shape=shape('07300803 00000000 00000000 00000603', '2000', 4, 'split'),
    rules=[(0x48, 0x48, 0x01, '2'), (0x79, 0x79, 0x02, '0-3'), (0x9c, 0x9c, 0x01, '0-3'), (0xa3, 0xa3, 0x02, '0-3'), (0xa3, 0xa3, 0x04, '0-3'),
           (0xa3, 0xa3, 0x05, '0-3'), (0xa3, 0xa3, 0x06, '0-3'), (0xa3, 0xa3, 0x08, '2'), (0xa3, 0xa3, 0x0c, '2'), (0xc0, 0xc0, 0x01, '1'),
           (0xcd, 0xcd, None, '3'), (0xd0, 0xd3, None, '0-3')],
    corrected={'MOVE_ELIMINATION.INT_ELIMINATED': 0x158, 'MOVE_ELIMINATION.SIMD_ELIMINATED': 0x258, 'MOVE_ELIMINATION.INT_NOT_ELIMINATED': 0x458,
               'MOVE_ELIMINATION.SIMD_NOT_ELIMINATED': 0x858},
    extra=dict(FIXED_NAMES, **{'BR_INST_RETIRED.ALL_BRANCHES_PEBS': 0x4c4, 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS': 0x4c5, 'BR_INST_RETIRED.CONDITIONAL': 0x1c4,
                               'MEM_UOP_RETIRED.LOADS': 0xf1d0, 'MEM_UOP_RETIRED.STORES': 0xf2d0, 'MEM_LOAD_UOPS_RETIRED.LLC_HIT': 0x4d1,
                               'MEM_LOAD_UOPS_RETIRED.LLC_MISS': 0x20d1, 'L1D.ALL_M_REPLACEMENT': 0x851, 'HW_PRE_REQ.L1D_MISS': 0x24e,
                               'OFFCORE_RESPONSE_0': 0x1b7, 'OFFCORE_RESPONSE_1': 0x1bb}),
    extra_precise=('BR_INST_RETIRED.ALL_BRANCHES_PEBS', 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS', 'BR_INST_RETIRED.CONDITIONAL', 'MEM_UOP_RETIRED.LOADS',
                   'MEM_UOP_RETIRED.STORES', 'MEM_LOAD_UOPS_RETIRED.LLC_HIT', 'MEM_LOAD_UOPS_RETIRED.LLC_MISS'),
    words=dict(WORDS, **{'%XCLK%': '1/35*sig(CYCLES)', '%GHZ%': '3.5'}),
    aliases=dict(BASIC, **offcore(*PREFETCHES), **TOPDOWN, **{
        'stalled-cycles-frontend': stall(0x10e), 'L1-dcache-loads': 0xf1d0, 'L1-dcache-load-misses': 0x151, 'L1-dcache-stores': 0xf2d0,
        'L1-dcache-store-misses': 0x851, 'L1-dcache-prefetch-misses': 0x24e, 'L1-icache-load-misses': 0x280, 'dTLB-loads': 0x81d0,
        'dTLB-load-misses': 0x8108, 'dTLB-stores': 0x82d0, 'dTLB-store-misses': 0x149, 'iTLB-loads': 0x1085, 'iTLB-load-misses': 0x185,
        'branch-load-misses': 0xc5, 'mem-loads': 0x1cd, 'mem-stores': 0x2cd}))

HSW_ALIASES = dict(BASIC, **offcore(), **TOPDOWN, **TSX, **{
    'tx-capacity': 0x254, 'el-capacity': 0x254, 'L1-dcache-loads': 0x81d0, 'L1-dcache-load-misses': 0x151, 'L1-dcache-stores': 0x82d0,
    'L1-icache-load-misses': 0x280, 'dTLB-loads': 0x81d0, 'dTLB-load-misses': 0x108, 'dTLB-stores': 0x82d0, 'dTLB-store-misses': 0x149,
    'iTLB-loads': 0x6085, 'iTLB-load-misses': 0x185, 'branch-load-misses': 0xc5, 'mem-loads': 0x1cd, 'mem-stores': 0x82d0})
HSW_EXTRA = dict(FIXED_NAMES, **{'BR_INST_RETIRED.ALL_BRANCHES_PEBS': 0x4c4, 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS': 0x4c5,
                                 'OFFCORE_RESPONSE_0': 0x1b7, 'OFFCORE_RESPONSE_1': 0x1bb})
HSW_PRECISE = ('BR_INST_RETIRED.ALL_BRANCHES_PEBS', 'BR_MISP_RETIRED.ALL_BRANCHES_PEBS')

HASWELL = Machine(
    name='haswell', libpfm='hsw', pmcs=8, fixed=FIXED,
    head=head('haswell', 'Haswell client, HyperThreading off', 'as Sandy Bridge and Ivy Bridge without HyperThreading (SDM vol. 3B, "Performance Monitoring for Processors Based on Haswell")',
              'hsw', 'intel_hsw_event_constraints', 'hsw_hw_cache_event_ids'),
    shape=shape('07300803 00000000 00000000 00000603', '2000', 4, 'in_tx split'),
    rules=[(0x48, 0x48, 0x01, '2'), (0xc0, 0xc0, 0x01, '1'), (0xcd, 0xcd, None, '3'), (0xa3, 0xa3, 0x08, '2'), (0xa3, 0xa3, 0x0c, '2'),
           (0xa3, 0xa3, 0x04, '0-3'), (0xd0, 0xd3, None, '0-3')],
    extra=HSW_EXTRA, extra_precise=HSW_PRECISE, words=dict(WORDS, **{'%XCLK%': '1/35*sig(CYCLES)', '%GHZ%': '3.5'}), aliases=HSW_ALIASES)

BROADWELL = Machine(
    name='broadwell', libpfm='bdw', pmcs=8, fixed=FIXED,
    head=head('broadwell', 'Broadwell client, HyperThreading off', 'as Haswell (SDM vol. 3B, "5th Generation Intel Core Processor Performance Monitoring Facility")',
              'bdw', 'intel_bdw_event_constraints', 'hsw_hw_cache_event_ids'),
    shape=shape('07300803 00000000 00000000 00000603', '2000', 4, 'in_tx split'),
    rules=[(0x48, 0x48, 0x01, '2'), (0xc0, 0xc0, 0x01, '1'), (0xa3, 0xa3, 0x08, '2'), (0xa3, 0xa3, 0x0c, '2'), (0xcd, 0xcd, None, '0-3'),
           (0xd0, 0xd3, None, '0-3')],
    extra=HSW_EXTRA, extra_precise=HSW_PRECISE, words=dict(WORDS, **{'%XCLK%': '1/33*sig(CYCLES)', '%GHZ%': '3.3'}), aliases=HSW_ALIASES)

ICE_LAKE = Machine(
    name='ice-lake', libpfm='icl', pmcs=8, fixed=FIXED | {0x400: (3, True)},
    head=head('ice-lake', 'Ice Lake client', 'CPUID of an Ice Lake server (000606A0, as in the test data of libvirt); the client is the same here',
              'icl', 'intel_icl_event_constraints', 'skl_hw_cache_event_ids with its change for Ice Lake'),
    shape=shape('08300805 00000000 0000000f 00008604', '2000', 5, 'in_tx'),
    rules=[(0x03, 0x0a, None, '0-3'), (0x1f, 0x28, None, '0-3'), (0x32, 0x32, None, '0-3'), (0x48, 0x56, None, '0-3'), (0x60, 0x8b, None, '0-3'),
           (0xa3, 0xa3, 0x04, '0-7'), (0xa3, 0xa3, 0x10, '0-7'), (0xa3, 0xa3, 0x14, '0-7'), (0xa3, 0xa3, None, '0-3'), (0xa8, 0xb0, None, '0-3'),
           (0xb7, 0xbd, None, '0-3'), (0xd0, 0xe6, None, '0-3'), (0xef, 0xf4, None, '0-3')],
    corrected={'MEM_LOAD_MISC_RETIRED.UC': 0x4d4, 'TOPDOWN.BACKEND_BOUND_SLOTS': 0x2a4, 'TOPDOWN.BR_MISPREDICT_SLOTS': 0x8a4},
    extra={'CPU_CLK_UNHALTED.THREAD': 0x200, 'LONGEST_LAT_CACHE.REFERENCE': 0x4f2e, 'SW_PREFETCH_ACCESS.ANY': 0xf32, 'PERF_METRICS.RETIRING': 0x8000,
           'PERF_METRICS.BAD_SPECULATION': 0x8100, 'PERF_METRICS.FRONTEND_BOUND': 0x8200, 'PERF_METRICS.BACKEND_BOUND': 0x8300,
           'OFFCORE_RESPONSE_0': 0x1b7, 'OFFCORE_RESPONSE_1': 0x1bb},
    words=dict(WORDS, **{'%XCLK%': '1/39*sig(CYCLES)', '%XCLK_NAME%': 'the 38.4 MHz crystal', '%GHZ%': '1.4976'}),
    aliases=dict(BASIC, **offcore(), **TSX, **{
        'tx-capacity-read': 0x8054, 'tx-capacity-write': 0x254, 'el-capacity-read': 0x8054, 'el-capacity-write': 0x254, 'L1-dcache-loads': 0x81d0,
        'L1-dcache-load-misses': 0x151, 'L1-dcache-stores': 0x82d0, 'L1-icache-load-misses': 0x283, 'dTLB-loads': 0x81d0, 'dTLB-load-misses': 0xe08,
        'dTLB-stores': 0x82d0, 'dTLB-store-misses': 0xe49, 'iTLB-load-misses': 0xe85, 'branch-load-misses': 0xc5, 'mem-loads': 0x1cd, 'mem-stores': 0x82d0,
        'slots': 0x400, 'topdown-retiring': 0x8000, 'topdown-bad-spec': 0x8100, 'topdown-fe-bound': 0x8200, 'topdown-be-bound': 0x8300}))

MACHINES = [NEHALEM, SANDY_BRIDGE, IVY_BRIDGE, HASWELL, BROADWELL, ICE_LAKE]
