#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The output of `softpmu stat`, `list` and `cpuid` equals tests/golden character by character, numbers included: a tiny
# static program without a C library has the same counts on every machine. UPDATE=1 writes the files of tests/golden;
# read the diff before you commit it.
. "$TOP/tests/lib.sh"
cd "$PROGRAMS" || exit 1
prints() {	# NAME COMMAND...: standard output, standard error and exit status equal tests/golden/NAME
	name=$1; shift
	"$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
	{ cat "$work/out" "$work/err"; echo "[exit $code]"; } >"$work/$name"
	golden "$name" "$work/$name"
}
for core in golden-cove skylake; do
	prints stat-table-$core.txt "$SOFTPMU" stat --core $core ./reps
	prints stat-detailed-$core.txt "$SOFTPMU" stat --core $core -ddd ./reps
	prints cpuid-$core.txt "$SOFTPMU" cpuid --core $core
done
prints stat-csv.txt "$SOFTPMU" stat -x, ./reps
prints stat-csv-repeat.txt "$SOFTPMU" stat -x '\t' -r 3 -e cycles,instructions ./reps
prints stat-repeat.txt "$SOFTPMU" stat -r 2 -e task-clock,cycles,duration_time ./reps
prints stat-json.txt "$SOFTPMU" stat -j -e instructions,cycles,task-clock ./reps
prints stat-interval.txt "$SOFTPMU" stat -I 0.0003 -e instructions,cycles,task-clock ./reps
prints stat-interval-csv.txt "$SOFTPMU" stat -I 0.0005 -x, -e instructions ./reps
prints stat-names.txt "$SOFTPMU" stat \
	--no-big-num -e "{instructions,branches}:u,r00c4,cpu/branches,name=mine/,INST_RETIRED.ANY" ./reps
prints list-word.txt "$SOFTPMU" list --core skylake --details l1_miss
prints list-help.txt "$SOFTPMU" list --help
prints stat-help.txt "$SOFTPMU" stat --help
prints help.txt "$SOFTPMU" --help
exit $failed
