#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Some programs of the zoo, each with one known bottleneck: topdown names its node, and the first advice of
# tune --software is the right one, at the right line.  experiments/zoo.sh judges all of them.
. "$TOP/tests/lib.sh"
judged() { TOOLS=$1; shift; TOOLS=$TOOLS "$TOP/experiments/zoo.sh" "$@" 2>&1; }
each() {	# TOOL NAME...
	tool=$1; shift
	judged "$tool" "$@" >rows
	for name; do
		verdict=$(awk -F'|' -v n="$name" '$1 == n { print $3 }' rows)
		right=$(awk -F'|' -v n="$name" '$1 == n { print $6 }' rows)
		same "$tool finds what is wrong with $name: $verdict" "$right" right
	done
}
each topdown random_branch code_size divide l2_chase store_forward lcp
each tune share_rmw share_true share_reader lock_alone divide code_size random_branch store_forward nothing
"$TOP/experiments/zoo.sh" unheard >out 2>&1
same "a program that is not in the table is refused" "$?: $(cat out)" "1: no program 'unheard' in zoo.tsv"
exit $failed
