#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test: run.sh BUILD_DIR [PATTERN].  Unit tests are cmocka programs, system tests scripts that exit 0 (passed),
# 77 (skipped, with a reason as their last line) or anything else (failed).  Closes with "N passed, N failed, N skipped".
cd "$(dirname "$0")/.." || exit 1
O=${1:-build} pattern=${2:-}
export SOFTPMU="$PWD/$O/softpmu" PROGRAMS="$PWD/build/tests/programs" TOP="$PWD"
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# What of the environment changes what programs print, or what those under the model execute.
export LC_ALL=C PERF_CONFIG=/dev/null
unset GLIBC_TUNABLES DEBUGINFOD_URLS SOURCE_DATE_EPOCH SOFTPMU_NATIVE_ROOT
log=$(mktemp) || exit 1
export SOFTPMU_STORE="$log.store"	# nobody's profiles; tests that want some have a store of their own
trap 'rm -rf "$log" "$SOFTPMU_STORE"' EXIT
passed=0 failed=0 skipped=0
one() {	# name command...
	name=$1; shift
	case $name in *"$pattern"*) ;; *) return ;; esac
	start=$(date +%s)
	timeout "${TEST_TIMEOUT:-600}" "$@" >"$log" 2>&1 </dev/null
	code=$?
	took=$(($(date +%s) - start))
	case $code in
	0)  passed=$((passed + 1)); echo "ok      $name (${took}s)" ;;
	77) skipped=$((skipped + 1)); echo "skipped $name: $(tail -n 1 "$log")" ;;
	*)  failed=$((failed + 1)); echo "FAILED  $name (exit $code, ${took}s)"; sed 's/^/    /' "$log" | tail -n 60 ;;
	esac
}
for t in "$O"/tests/test_*; do
	[ -x "$t" ] && [ -f "$t" ] && one "$(basename "$t")" "$t"
done
for t in tests/system/*/*.sh; do
	name=$(basename "$t" .sh)
	case $O:$name in
	*san:fuzz | *san:tracer-* | *san:annotate-objdump | *san:accuracy | *san:stat-installed) continue ;;	# have no model in them, or bring sanitizers of their own, or are about time
	esac
	[ -f "$t" ] && one "$name" sh "$t"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
