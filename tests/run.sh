#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests and ends with "N passed, N failed, N skipped":
#   run.sh BUILD_DIR                  all of them
#   run.sh BUILD_DIR PATTERN          the programs and scripts whose name contains PATTERN
#   run.sh BUILD_DIR test_NAME_...    a test of a unit test program by its function's name (* and ? are wildcards)
# TEST_JOBS=N of them run at once (as many as there are processors).
# Unit tests are cmocka programs.  System tests are scripts that exit with 0 (passed), 77 (skipped: the last line
# says why) or anything else (failed).  A run of all tests also fails if it leaves the checkout changed.
cd "$(dirname "$0")/.." || exit 1
O=${1:-build} pattern=${2:-}
export SOFTPMU="$PWD/$O/softpmu" PROGRAMS="$PWD/build/tests/programs" TOP="$PWD"
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# These variables change what programs print, or which instructions they execute under the model.
export LC_ALL=C PERF_CONFIG=/dev/null
unset GLIBC_TUNABLES DEBUGINFOD_URLS SOURCE_DATE_EPOCH SOFTPMU_NATIVE_ROOT TEST_NAME
jobs=${TEST_JOBS:-$(nproc)}
log=$(mktemp) || exit 1
# An empty store of profiles; tests that need profiles have a store of their own.
export SOFTPMU_STORE="$log.store"
trap 'rm -rf "$log" "$log".*' EXIT
end() {
	passed=$(grep -c passed "$log.count") failed=$(grep -c failed "$log.count")
	skipped=$(grep -c skipped "$log.count")
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
	exit
}
# add TEST: to those that run at once, or afterwards and alone, if its name contains the pattern
at_once=$log.at-once alone=$log.alone
touch "$log.count" "$at_once" "$alone"
add() {
	name=$(basename "$1" .sh)
	case $name in *"$pattern"*) ;; *) return ;; esac
	case $name in
	# They measure time, or wait for what happens within some seconds.
	stat-progress | stat-signals | tune-native | calibrate | native-check) echo "$1" >>"$alone" ;;
	*) echo "$1" >>"$at_once" ;;
	esac
}

# The pattern is a test function's name: find the programs that contain it; TEST_NAME makes them run only that test
# (fixtures/one_test.c).
programs=
case $pattern in
test_*)
	if ! ls "$O"/tests/*"$pattern"* >/dev/null 2>&1; then
		function=$(echo "$pattern" | sed 's/[*]/[a-z0-9_]*/g; s/?/./g')
		programs=$(grep -lE "^static void $function\(void" tests/unit/*/test_*.c | sed 's|.*/||; s|\.c$||')
		export TEST_NAME="$pattern"
		pattern=
	fi ;;
esac
if [ "${TEST_NAME:-}" ]; then
	for t in $programs; do
		sh tests/run-one.sh "$log" "$O/tests/$t"
	done
	end
fi

git status --porcelain >"$log.before" 2>/dev/null || rm -f "$log.before"
for t in tests/system/*/*.sh; do		# the longer ones first
	name=$(basename "$t" .sh)
	case $O:$name in
	# They run no model, bring sanitizers of their own, or measure time.
	*san:fuzz | *san:tracer-* | *san:annotate-objdump | *san:accuracy | *san:stat-installed) continue ;;
	esac
	[ -f "$t" ] && add "$t"
done
for t in "$O"/tests/test_*; do
	[ -x "$t" ] && [ -f "$t" ] && add "$t"
done
xargs -r -P "$jobs" -n 1 sh tests/run-one.sh "$log" <"$at_once"
xargs -r -n 1 sh tests/run-one.sh "$log" <"$alone"
[ "$pattern" ] || sh tests/run-one.sh "$log" tests/clean-checkout.sh "$log.before"
end
