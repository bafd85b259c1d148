#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What makes a program take the same ways on this host as under the tracer:  same-processor.sh CORE
# Prints two assignments for a shell: GLIBC_TUNABLES and OPENSSL_ia32cap.  They switch off what the tracer's CPUID
# lacks, and set the thresholds of glibc's string functions.  SOFTPMU: the program (build/softpmu).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} core=${1:?usage: same-processor.sh CORE}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
loader=/lib64/ld-linux-x86-64.so.2
$loader --list-diagnostics >"$work/here" 2>/dev/null || true
"$softpmu" stat -x, -e cycles -o "$work/stat" --core "$core" $loader --list-diagnostics >"$work/there" ||
	{ echo "same-processor.sh: $core does not run" >&2; exit 1; }
# CPUID bits of glibc's list of active features (index, word, bit), and their names in glibc's tunable hwcaps.
hwcaps=$(awk -F= '
function hex(s, v, i) { s = tolower(substr(s, 3)); for (v = i = 0;
	i++ < length(s);) v = v * 16 + index("123456789abcdef", substr(s, i, 1)); return v }
function bit(v, n) { return int(v / 2 ^ n) % 2 }
BEGIN {
	split("1,1,3 BMI1 1,1,5 AVX2 1,1,8 BMI2 1,1,9 ERMS 1,1,16 AVX512F " \
	      "1,1,17 AVX512DQ 1,1,28 AVX512CD 1,1,30 AVX512BW 1,1,31 AVX512VL 1,3,4 FSRM " \
	      "0,2,0 SSE3 0,2,9 SSSE3 0,2,12 FMA 0,2,19 SSE4_1 0,2,20 SSE4_2 " \
	      "0,2,22 MOVBE 0,2,23 POPCNT 0,2,28 AVX 2,2,5 LZCNT", w, " ")
	for (i = 1; w[i] != ""; i += 2)
		name[w[i]] = w[i + 1]
}
{ sub(/^x86\.cpu_features\./, "", $1) }
FNR == NR { here[$1] = $2; next }
$1 ~ /^features.*active/ {
	split($1, p, /[][]/)
	for (n = 0; n < 32; n++) {
		key = hex(p[2]) "," hex(p[4]) "," n
		if (key in name && bit(hex(here[$1]), n) && !bit(hex($2), n))
			out = out ",-" name[key]
	}
}
$1 ~ /^preferred/ && here[$1] != $2 { out = out "," ($2 == "0x0" ? "-" : "") substr($1, 11) }
END { print substr(out, 2) }' "$work/here" "$work/there")
tunable() { sed -n "s/^x86.cpu_features.$1=//p" "$work/there"; }
word() { sed -n "s/^x86.cpu_features.features\[$1\].$3\[$2\]=0x//p" "$work/there"; }
cat <<END
GLIBC_TUNABLES='glibc.cpu.x86_non_temporal_threshold=$(tunable \
	non_temporal_threshold):glibc.cpu.x86_rep_movsb_threshold=$(tunable \
	rep_movsb_threshold):glibc.cpu.hwcaps=$hwcaps'
OPENSSL_ia32cap='0x$(word 0x0 0x2 cpuid)$(printf %08x "$((0x$(word 0x0 0x3 cpuid) | 0x40000000))"):0x$(word 0x1 0x1 \
	cpuid)'
END
