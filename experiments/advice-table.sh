#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For each rule of softpmu tune --software: what its advice promises, and what the fix gains.
# tests/programs/advice.c has a program with the problem and a twin without it.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$top/build/softpmu} PROGRAMS=${PROGRAMS:-$top/build/tests/programs}
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
printf '%-16s %12s %10s %12s %10s\n' rule cycles promised fixed gained
for rule in $(sed -n 's/.*\/\* AT \([a-z0-9-]*\) \*\/.*/\1/p' "$top/tests/programs/advice.c"); do
	smt=
	[ "$rule" = thread-conflict ] && smt=--smt
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --software $smt -o "$out" -- "$PROGRAMS/advice" "$rule" bad >/dev/null
	before=$(awk '/ cycles on / { print $1 }' "$out")
	promised=$(awk -v rule="$rule:" '
		$1 ~ /^[0-9]+\.$/ { here = $2 == rule }
		here && ($1 == "wins" || $1 == "spent") { print ($1 == "spent" ? "of " : "") $2 " %"; exit }' "$out")
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --software $smt -o "$out" -- "$PROGRAMS/advice" "$rule" good >/dev/null
	after=$(awk '/ cycles on / { print $1 }' "$out")
	printf '%-16s %12s %10s %12s %8s %%\n' "$rule" "$before" "$promised" "$after" \
		"$(awk -v a="$before" -v b="$after" 'BEGIN { printf "%.1f", 100 * (1 - b / a) }')"
done
