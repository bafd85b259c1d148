#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a mispredict and an L2 miss cost in total time, on this host and under its model.  The model: softpmu cost, by
# replays with the feature changed.  Natively: the same program with the events and without them, that is, a random
# branch against one that alternates, and a pointer chase through twice the L2 against one within it.
#
#   cost-native.sh [TRIES]     native measurements of each, of which the least counts; default 20
#
# Exits with 1 if a ratio is not within 15 %.  A random branch is mispredicted every other time.  A chase through
# twice the L2 misses with each load.  (The model counts both.)  Other users of the host's L3 may disturb for
# minutes; then the least is far above what the L3 takes, and more tries help. SOFTPMU and MICRO in the environment
# name the programs (build/softpmu, build/native/micro).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} micro=${MICRO:-$top/build/native/micro} tries=${1:-20}
case $tries in '' | *[!0-9]* | 0) echo "usage: cost-native.sh [TRIES]" >&2; exit 2 ;; esac
for program in "$softpmu" "$micro"; do
	[ -x "$program" ] || { echo "cost-native.sh: $program is not built: make all programs" >&2; exit 1; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$softpmu" cpuid --core host -j >"$work/host" || exit 1		# it says why, if there is no preset for this host
core=$(sed 's/^{"core": "\([^"]*\)".*/\1/' "$work/host")
l2=$("$softpmu" cores "$core" -j |
	awk -F'"' '$2 == "l2.size" { print $4 * ($4 ~ /M/ ? 1048576 : $4 ~ /K/ ? 1024 : 1) }')
far=65536
while [ $far -le "$l2" ]; do far=$((far * 2)); done

native() {	# NAME: least of cycles an operation
	i=0
	while [ $i -lt "$tries" ]; do
		"$micro" --native "$1" --l3 $far
		i=$((i + 1))
	done | awk '!least || $2 < least { least = $2 } END { print least }'
}
model() {	# EVENT NAME ROUNDS: cycles each by total time, and events a thousand operations
	"$softpmu" cost --core "$core" --start "run_$2" -e "$1" -x, -o "$work/cost" -- \
		"$micro" "$2" "$3" --l3 $far >/dev/null
	awk -F, -v e="$1" '$1 == e { print $9 + 0, $2 }' "$work/cost"
}
random=$(native branch_random) predicted=$(native branch_predicted) near=$(native chase_l2) beyond=$(native chase_l3)
set -- $(model mispredict branch_random 5502) $(model l2_miss chase_l3 3000)
awk -v core="$core" -v random="$random" -v predicted="$predicted" -v near="$near" -v beyond="$beyond" \
	-v far=$((far / 1024)) -v m1="$1" -v e1="$2" -v m2="$3" -v e2="$4" '
function row(what, with, without, events, native, model) {
	ratio = model / native
	good = ratio >= 0.85 && ratio <= 1.15
	bad += !good
	printf "| %s | %.2f | %.2f | %s | %.1f | %.1f | %.2f | %s |\n", what, with, without, events, native, model,
		ratio,
		good ? "good" : "off"
}
BEGIN {
	printf "Core: %s. Cycles; good: within 15 %%.\n\n", core
	print "| event | native, with | native, without | events, model | native cost | model, total time |" \
		" model ÷ native | |"
	print "|---|---:|---:|---:|---:|---:|---:|---|"
	row("mispredict: a random branch, against one that alternates", random, predicted, e1 " of 88032",
		2 * (random - predicted), m1)
	row("L2 miss: a chase through " far " KB, against one within L2", beyond, near, e2 " of 96000", beyond - near,
		m2)
	exit bad > 0
}'
