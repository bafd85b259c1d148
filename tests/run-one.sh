#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs one test for run.sh, which runs several at once:  run-one.sh RESULTS TEST [ARGUMENT...]
# TEST: a cmocka program, or a script that ends in .sh.  Adds a line to RESULTS.count, and prints what became of the
# test in one piece.
results=$1 t=$2; shift 2
name=$(basename "$t" .sh)
log=$(mktemp "$results.XXXXXX") || exit 1
trap 'rm -f "$log" "$log.said"' EXIT
start=$(date +%s)
case $t in
*.sh) timeout "${TEST_TIMEOUT:-1800}" sh "$t" "$@" >"$log" 2>&1 </dev/null ;;
*)    timeout "${TEST_TIMEOUT:-1800}" "$t" "$@" >"$log" 2>&1 </dev/null ;;
esac
code=$?
took=$(($(date +%s) - start))
case $code in
0)  echo passed >>"$results.count"; echo "ok      $name (${took}s)" ;;
77) echo skipped >>"$results.count"; echo "skipped $name: $(tail -n 1 "$log")" ;;
*)  echo failed >>"$results.count"; echo "FAILED  $name (exit $code, ${took}s)"
    sed -n 's/^FAILED/    FAILED/p' "$log" | head -n 20	# first: who shows a log may cut it
    sed 's/^/    /' "$log" | tail -n 60 ;;
esac >"$log.said"
if [ "${TEST_NAME:-}" ]; then
	sed -n '/^\[ *\(OK\|FAILED\|SKIPPED\) *\] test_/s/^/    /p' "$log" >>"$log.said"
fi
flock "$results.count" cat "$log.said"
