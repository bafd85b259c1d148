# SPDX-License-Identifier: GPL-2.0-or-later
# A change of zstd_double_fast.c for experiments/real-changes.sh: whether a position may be looked at is computed, not
# branched on (advice: random-branch at the two tests of the index).
/^size_t ZSTD_compressBlock_doubleFast_noDict_generic/,/^}/{
s/if (idx\([ls]\)0 > prefixLowestIndex) {/{ const BYTE *in = idx\10 > prefixLowestIndex ? match\10 : nothing;/
s/: nothing;$/: nothing; __asm__("" : "+r"(in));/
s/if (\(MEM_read..\)(match\([ls]\)0) == MEM_read..(ip)) {/if (\1(in) == \1(ip) \&\& in == match\20) {/
s/^{$/{ static const BYTE nothing[8] = { 0 };/
}
