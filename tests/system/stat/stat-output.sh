#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `softpmu stat`, `list`, `cores` and `cpuid` print, to the character, numbers included: a tiny static program without a C library
# is the same on every machine.  UPDATE=1 writes tests/golden anew; read the diff before it is committed.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cd "$PROGRAMS" || exit 1
golden() {	# NAME command...: its standard output and error in one file
	name=$1; shift
	"$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
	{ cat "$work/out" "$work/err"; echo "[exit $code]"; } >"$work/$name"
	if [ "${UPDATE:-}" ]; then
		cp "$work/$name" "$TOP/tests/golden/$name"
	elif cmp -s "$TOP/tests/golden/$name" "$work/$name"; then
		echo "ok $name"
	else
		echo "FAILED $name: $*"; diff "$TOP/tests/golden/$name" "$work/$name" | head -n 20; failed=1
	fi
}
for core in golden-cove skylake; do
	golden stat-table-$core.txt "$SOFTPMU" stat --core $core ./reps
	golden stat-detailed-$core.txt "$SOFTPMU" stat --core $core -ddd ./reps
	golden cpuid-$core.txt "$SOFTPMU" cpuid --core $core
done
golden stat-csv.txt "$SOFTPMU" stat -x, ./reps
golden stat-csv-repeat.txt "$SOFTPMU" stat -x '\t' -r 3 -e cycles,instructions ./reps
golden stat-repeat.txt "$SOFTPMU" stat -r 2 -e task-clock,cycles,duration_time ./reps
golden stat-json.txt "$SOFTPMU" stat -j -e instructions,cycles,task-clock ./reps
golden stat-interval.txt "$SOFTPMU" stat -I 0.0003 -e instructions,cycles,task-clock ./reps
golden stat-interval-csv.txt "$SOFTPMU" stat -I 0.0005 -x, -e instructions ./reps
golden stat-names.txt "$SOFTPMU" stat --no-big-num -e "{instructions,branches}:u,r00c4,cpu/branches,name=mine/,INST_RETIRED.ANY" ./reps
golden list-word.txt "$SOFTPMU" list --core skylake --details l1_miss
golden list-help.txt "$SOFTPMU" list --help
golden stat-help.txt "$SOFTPMU" stat --help
golden help.txt "$SOFTPMU" --help
exit $failed
