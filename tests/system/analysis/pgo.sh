#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile taken in the model makes a program faster natively: AutoFDO (create_gcov, create_llvm_prof) and BOLT read
# the branch stacks of softpmu record.
. "$TOP/tests/lib.sh"
for tool in perf create_gcov create_llvm_prof dump_gcov; do
	command -v $tool >/dev/null 2>&1 || skip "$tool is not installed (package autofdo, linux-perf)"
done
command -v perf2bolt >/dev/null 2>&1 || ls /usr/lib/llvm-*/bin/perf2bolt >/dev/null 2>&1 ||
	skip "perf2bolt is not installed (package bolt-16)"
OUT=$work RUNS=5 ROUNDS=60000 HOME=$work sh "$TOP/experiments/pgo-gain.sh" >"$work/out" 2>&1
check "pgo-gain.sh runs without error" [ $? = 0 ]
sed -n '/^Natively/,$p' "$work/out"
check "AutoFDO's profile for GCC names at least 200 functions" \
	[ "$(sed -n 's/.*names \([0-9]*\) functions/\1/p' "$work/out")" \
	-ge 200 ]
check "every branch stack fits the binary" grep -q 'mismatching disassembled function contents: 0 ' "$work/out"
check "BOLT has a profile of at least 90 % of the functions" \
	[ "$(sed -n 's/.*binary (\([0-9]*\)[.0-9]*%) have.*/\1/p' "$work/out")" -ge 90 ]
gain() { awk -v name="$1" '$1 == name { print ($4 > 2) }' "$work/out"; }	# faster by more than 2 %
check "BOLT makes the program faster" [ "$(gain gcc-bolt)" = 1 ]
grep 'AutoFDO was built without LLVM' "$work/out" ||	# as Debian 13's is
	check "AutoFDO makes the program faster" [ "$(gain clang-autofdo)" = 1 ]
own=$(awk '$1 ~ /^gcc-1[01]-autofdo$/ { print $1 }' "$work/out")	# where Debian's gcc-11 or gcc-10 is installed
[ -z "$own" ] || check "GCC's own AutoFDO makes the program faster ($own)" [ "$(gain "$own")" = 1 ]
[ $failed = 0 ] || cat "$work/out"
exit $failed
