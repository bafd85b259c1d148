#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make slow-to-tuned: a slow program, the machine tuned to it, the program changed, and the machine for that.
# docs/measured/slow-to-tuned.md has the output and what it shows.
# The last table times builds on this machine and differs from run to run; the rest is the same at every run.
#
# Environment: SOFTPMU (set by make).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$top/build/softpmu}
case $SOFTPMU in /*) ;; *) SOFTPMU=$PWD/$SOFTPMU ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
cp "$top/docs/examples/orders.c" .
# An environment of its own, so that the stack always begins at the same address.
soft() {
	env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C SOFTPMU_STORE="$work/store" TMPDIR="$work" \
		"$SOFTPMU" "$@" 3>&1 >/dev/null 2>&3 3>&-
}
show() {
	words=
	for word; do
		case $word in *[' *{']*) words="$words '$word'" ;; *) words="$words $word" ;; esac
	done
	printf '\n$ softpmu%s\n' "$words"
	soft "$@" | sed 's/ *$//' | cat -s
}
core="--core skylake"
gcc -O1 -g -o orders orders.c
gcc -O1 -g -DTUNED -o orders-tuned orders.c
# shellcheck disable=SC2086
{
echo "1. Slow."
show stat $core -e cycles,instructions,branch-misses,L1-dcache-load-misses,cache-references -- ./orders
echo; echo "2. What it costs."
show cost $core -e mispredict,l1_miss,l2_miss -- ./orders
echo; echo "3. The machine."
show tune $core --features 'prefetch.*' -- ./orders
show run $core -- ./orders
echo; echo "4. The program."
show tune --software $core -- ./orders
show tune --software $core -- ./orders-tuned
echo; echo "5. The machine for the changed program."
show tune $core --features 'prefetch.*' -- ./orders-tuned
show run $core -- ./orders-tuned
echo; echo "6. Builds, in the model and on this machine."
show tune --software $core --build 'gcc -g {flags} -o {out} orders.c' --flags -O1 --flags -O2 \
	--flags '-O1 -DTUNED' --flags '-O2 -DTUNED' --time 4000 --blocks 12 -- ./orders
}
