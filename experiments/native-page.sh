#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The microbenchmarks of tests/native on this host and under the model of a core.
#   native-page.sh [CORE]                    a table in Markdown, native beside model.  CORE: by default the host's
#                                            preset, golden-cove if there is none.  For the host's preset there is a
#                                            verdict, of what stays within L2: within 12 % or not
#   native-page.sh --model CORE [NAME...]    NAME and model cycles an operation, of all or of these
# SOFTPMU and MICRO in the environment name the programs (build/softpmu, build/native/micro).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} micro=${MICRO:-$top/build/native/micro}
for program in "$softpmu" "$micro"; do
	[ -x "$program" ] || { echo "native-page.sh: $program is not built: make all programs" >&2; exit 1; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# sizes CORE: the sizes of the buffers for L3 and memory: a power of two between L2 and L3, and one beyond three
# times L3.
sizes() {
	"$softpmu" cores "$1" -j >"$work/core" || exit 1
	awk -F'"' '
	function bytes(s) { return s * (s ~ /K/ ? 1024 : s ~ /M/ ? 1048576 : s ~ /G/ ? 1073741824 : 1) }
	$2 == "l2.size" { l2 = bytes($4) }
	$2 == "l3.size" { l3 = bytes($4) }
	END {
		if (l3 < l2)
			l3 = l2
		for (near = 65536; near * 2 <= sqrt(l2 * l3) && near < 2 ^ 30; near *= 2) ;
		for (far = 65536; far < 3 * l3 && far < 2 ^ 30; far *= 2) ;
		printf "--l3 %d --memory %d\n", near, far
	}' "$work/core"
}

# cycles CORE NAME ROUNDS
cycles() {
	# shellcheck disable=SC2086
	"$softpmu" stat -x, -e cycles -o "$work/stat" --core "$1" "$micro" "$2" "$3" $size >"$work/out" 2>&1 || {
		echo "native-page.sh: $2 on $1: $(cat "$work/out")" >&2
		exit 1
	}
	awk -F, '$3 ~ /^cycles/ { print $1 }' "$work/stat"
}

# model CORE NAME...: the difference of a long and a short run, over the operations between them.
model() {
	core=$1; shift
	wanted=" $* "
	# shellcheck disable=SC2086
	"$micro" --list $size >"$work/list"
	while IFS='	' read -r name ops few many _; do
		case $wanted in '  ' | *" $name "*) ;; *) continue ;; esac
		# Leading zeros make command lines of one length, so both runs begin with the same instructions
		# and addresses.
		short=$(cycles "$core" "$name" "$(printf %06d "$few")") &&
			long=$(cycles "$core" "$name" "$(printf %06d "$many")") || exit 1
		awk -v name="$name" -v c="$((long - short))" -v n="$(((many - few) * ops))" \
			'BEGIN { printf "%s\t%.4f\n", name, c / n }'
	done <"$work/list"
}

# A mispredict costs twice the difference, because every other random branch is mispredicted.
with_mispredict() {
	awk '{ print; v[$1] = $2 } END {
		if (v["branch_random"] > 0 && v["branch_predicted"] > 0)
			printf "mispredict\t%.4f\n", 2 * (v["branch_random"] - v["branch_predicted"]) }'
}

if [ "${1:-}" = --model ]; then
	[ $# -ge 2 ] || { echo "usage: native-page.sh --model CORE [NAME...]" >&2; exit 2; }
	shift
	size=$(sizes "$1") || exit 1
	model "$@" >"$work/model"
	with_mispredict <"$work/model"
	exit
fi

case ${1:-} in -*) echo "usage: native-page.sh [CORE] | --model CORE [NAME...]" >&2; exit 2 ;; esac
host='' why=''
if "$softpmu" cpuid --core host -j >"$work/host" 2>"$work/why"; then
	host=$(sed 's/^{"core": "\([^"]*\)".*/\1/' "$work/host")
else
	why=$(sed 's/^softpmu: //' "$work/why")
fi
core=${1:-${host:-golden-cove}}
size=$(sizes "$core") || exit 1
# Others may use the host's core for seconds: of each benchmark the pass with the most undisturbed repeats counts.
for pass in 1 2 3; do
	# shellcheck disable=SC2086
	"$micro" --native $size >"$work/native.$pass"
done
awk -F'\t' -v OFS='\t' '
!($1 in ns) { name[++names] = $1 }
!($1 in ns) || $5 + 0 > quiet[$1] + 0 || ($5 + 0 == quiet[$1] + 0 && $3 + 0 < ns[$1] + 0) {
	cycles[$1] = $2; ns[$1] = $3; ghz[$1] = $4; quiet[$1] = $5
}
END { for (i = 1; i <= names; i++) print name[i], cycles[name[i]], ns[name[i]], ghz[name[i]] }
' "$work"/native.? >"$work/native"
model "$core" >"$work/model"
{
	# shellcheck disable=SC2086
	"$micro" --list $size
	printf 'mispredict\t1\t0\t0\t0\ta mispredicted branch: 2 × (branch_random − branch_predicted)\n'
} >"$work/list"
with_mispredict <"$work/native" >"$work/n"
with_mispredict <"$work/model" >"$work/m"
cat <<END
## Native check: $core

Microbenchmarks in assembly (tests/native) run on this host and under the model; figures are cycles an operation. Native
cycles are time × frequency. The frequency is that of a chain of ADD r64, r64 in the same process. The native figure is
the median of 25 repeats that nothing disturbed, such as another hardware thread of the core. Model cycles are the
difference of two runs with different numbers of rounds.

END
cpu() { sed -n "s/^$1[^:]*: //p" /proc/cpuinfo | head -n 1; }	# FIELD: of the first processor
echo "Host: $(cpu 'model name'), CPU family $(cpu 'cpu family'), model $(cpu 'model\t'); $(awk '
$4 > 0 { if (!least || $4 < least) least = $4; if ($4 > most) most = $4 }
END { printf "%.2f to %.2f GHz", least, most }' "$work/native")."
if [ "$host" = "$core" ]; then
	verdict=1
	echo "Good: within 12 %. Only what stays within L2 gets a verdict, because others use the L3 and memory of this"
	echo "machine, too."
else
	verdict=0
	if [ -n "$host" ]; then
		echo "The host's preset is $host: the columns are two different machines, without a verdict."
	else
		echo "The columns are two different machines, without a verdict: $why."
	fi
fi
echo
awk -F'\t' -v verdict=$verdict '
FILENAME == ARGV[1] { native[$1] = $2; next }
FILENAME == ARGV[2] { model[$1] = $2; next }
FNR == 1 {
	print "| microbenchmark | native | model | model ÷ native |" (verdict ? " |" : "") " what |"
	print "|---|---:|---:|---:|" (verdict ? "---|" : "") "---|"
}
{
	n = native[$1]; m = model[$1]; mark = ""
	if (n + 0 > 0 && m + 0 > 0) {
		ratio = m / n
		if ($5 <= 2) {
			of++
			good += ratio >= 0.88 && ratio <= 1.12
			mark = ratio >= 0.88 && ratio <= 1.12 ? "good" : "off"
		}
		printf "| %s | %.3f | %.3f | %.2f |%s %s |\n", $1, n, m, ratio, (verdict ? " " mark " |" : ""), $6
	} else {
		printf "| %s | %s | %s | |%s %s |\n", $1, (n + 0 > 0 ? n : "none"), (m + 0 > 0 ? m : "none"),
			(verdict ? " |" : ""), $6
	}
}
END { if (verdict) printf "\n%d of %d microbenchmarks that stay within L2 are within 12 %%.\n", good, of }
' "$work/n" "$work/m" "$work/list"
