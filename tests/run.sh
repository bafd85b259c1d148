#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests and ends with "N passed, N failed, N skipped":
#   run.sh BUILD_DIR                  all of them
#   run.sh BUILD_DIR PATTERN          the programs and scripts whose name contains PATTERN
#   run.sh BUILD_DIR test_NAME_...    a test of a unit test program by its function's name (* and ? are wildcards)
# Unit tests are cmocka programs.  System tests are scripts that exit with 0 (passed), 77 (skipped: the last line
# says why) or anything else (failed).  A run of all tests also fails if it leaves the checkout changed.
cd "$(dirname "$0")/.." || exit 1
O=${1:-build} pattern=${2:-}
export SOFTPMU="$PWD/$O/softpmu" PROGRAMS="$PWD/build/tests/programs" TOP="$PWD"
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# These variables change what programs print, or which instructions they execute under the model.
export LC_ALL=C PERF_CONFIG=/dev/null
unset GLIBC_TUNABLES DEBUGINFOD_URLS SOURCE_DATE_EPOCH SOFTPMU_NATIVE_ROOT TEST_NAME
log=$(mktemp) || exit 1
# An empty store of profiles; tests that need profiles have a store of their own.
export SOFTPMU_STORE="$log.store"
trap 'rm -rf "$log" "$log.before" "$SOFTPMU_STORE"' EXIT
passed=0 failed=0 skipped=0

one() {	# NAME COMMAND...
	name=$1; shift
	case $name in *"$pattern"*) ;; *) return ;; esac
	start=$(date +%s)
	timeout "${TEST_TIMEOUT:-600}" "$@" >"$log" 2>&1 </dev/null
	code=$?
	took=$(($(date +%s) - start))
	case $code in
	0)  passed=$((passed + 1)); echo "ok      $name (${took}s)" ;;
	77) skipped=$((skipped + 1)); echo "skipped $name: $(tail -n 1 "$log")" ;;
	*)  failed=$((failed + 1)); echo "FAILED  $name (exit $code, ${took}s)"
	    sed -n 's/^FAILED/    FAILED/p' "$log" | head -n 20	# first: who shows a log may cut it
	    sed 's/^/    /' "$log" | tail -n 60 ;;
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
		one "$t" "$O/tests/$t"
		sed -n '/^\[ *\(OK\|FAILED\|SKIPPED\) *\] test_/s/^/    /p' "$log"
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ] && [ $passed -gt 0 ]
	exit
fi

git status --porcelain >"$log.before" 2>/dev/null || rm -f "$log.before"
for t in "$O"/tests/test_*; do
	[ -x "$t" ] && [ -f "$t" ] && one "$(basename "$t")" "$t"
done
for t in tests/system/*/*.sh; do
	name=$(basename "$t" .sh)
	case $O:$name in
	# They run no model, bring sanitizers of their own, or measure time.
	*san:fuzz | *san:tracer-* | *san:annotate-objdump | *san:accuracy | *san:stat-installed) continue ;;
	esac
	[ -f "$t" ] && one "$name" sh "$t"
done
one clean-checkout sh tests/clean-checkout.sh "$log.before"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
