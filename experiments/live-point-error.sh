#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Live points beside sampled runs with the same windows of the same streams: for each program the capture (size, CPU
# seconds), and for each machine the difference of cycles, both 95 % intervals, the difference of mispredicted branches
# (which the sampled run counts exactly), the CPU seconds of both, and the wall seconds of the live points with one and
# with two jobs, whose counts must be the same.
#   live-point-error.sh [MACHINE...]    MACHINE: a name of machine() below.  Default: the six.
#   PROGRAMS="awk bzip2": only these.  SAMPLE=N,U,W: the windows.  STREAMS=DIR: keeps the streams there.
#   OPTIONS="--no-wrong-path": of all runs.  TEXT=BYTES: the length of the programs' inputs.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
# shellcheck disable=SC2034
text_bytes=${TEXT:-200000} rows=$((text_bytes / 33)) rows_to=$((text_bytes / 40)) keys=$((text_bytes / 10))
. "$TOP/bench/recorded-inputs.sh"

machine() {	# NAME: its options
	case $1 in
	halved) echo --core golden-cove --set l1d.size=24K --set l1d.ways=6 --set l2.size=1M --set l2.ways=8 ;;
	doubled) echo --core golden-cove --set l2.size=4M --set l3.size=75M ;;
	*) echo --core "$1" ;;
	esac
}
seconds() {	# FILE COMMAND...: its CPU seconds
	file=$1; shift
	/usr/bin/time -o "$work/time" -f '%U %S %e' "$@" || [ -s "$file" ]
	awk '{ printf "%.1f", $1 + $2 }' "$work/time"
}
wall() { awk '{ print $3 }' "$work/time"; }	# of the last command
of() { awk -F, -v f="$2" '$3 == "cycles:u" { sub(/%/, "", $f); print $f }' "$1"; }
branches() { awk -F, '$3 == "branch-misses:u" { print $1 }' "$1"; }

[ $# -gt 0 ] || set -- golden-cove skylake core2 prescott halved doubled
sample=${SAMPLE:-100K,3000,4000}
for name in ${PROGRAMS:-awk bzip2 sqlite3 python3 xz gzip sort perl}; do
	make_stream "$name"
	capture=$(seconds "$work/points" "$SOFTPMU" trace --live-points "$work/points" --sample="$sample" \
		--replay "$streams/$name" 2>"$work/said")
	echo "$name: $capture s, $(sed 's/.*: \([0-9]* live points of .* instructions\): \([0-9.]*\) MB.*/\1, \2 MB/' \
		"$work/said")"
	for m; do
		# shellcheck disable=SC2046,SC2086
		direct=$(seconds "$work/direct" "$SOFTPMU" stat -x, -e cycles,branch-misses $(machine "$m") \
			${OPTIONS:-} --jobs 1 --sample="$sample" --replay "$streams/$name" -o "$work/direct")
		# shellcheck disable=SC2046,SC2086
		live=$(seconds "$work/live" "$SOFTPMU" stat -x, -e cycles,branch-misses $(machine "$m") ${OPTIONS:-} \
			--jobs 1 --replay "$work/points" -o "$work/live")
		one=$(wall)
		# shellcheck disable=SC2046,SC2086
		seconds "$work/two" "$SOFTPMU" stat -x, -e cycles,branch-misses $(machine "$m") ${OPTIONS:-} \
			--jobs 2 --replay "$work/points" -o "$work/two" >"$work/cpu"
		cmp "$work/live" "$work/two"
		awk -v one="$one" -v two="$(wall)" -v db="$(branches "$work/direct")" -v lb="$(branches "$work/live")" \
			-v m="$m" -v d="$(of "$work/direct" 1)" -v l="$(of "$work/live" 1)" \
			-v dh="$(of "$work/direct" 4)" -v lh="$(of "$work/live" 4)" -v ds="$direct" \
			-v ls="$live" 'BEGIN {
			printf "  %-12s %+6.2f %%   +- %.2f and +- %.2f %%   %+6.2f %%   %5.1f and %5.1f s  ", m,
				100 * (l - d) / d, dh, lh, db ? 100 * (lb - db) / db : 0, ds, ls
			printf " %5.1f, %5.1f s\n", one, two }'
	done
done
