#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A short run of every fuzzer (FUZZ_SECONDS each, 4 by default; a fixed seed, so that runs repeat): no parser of foreign
# bytes crashes, and no input keeps a PMU busy for a second, whatever it writes into registers.
. "$TOP/tests/lib.sh"
ran=0
for f in "$TOP"/build/fuzz/fuzz_*; do
	case $f in *.d) continue ;; esac
	[ -x "$f" ] || continue
	name=$(basename "$f")
	mkdir "$work/$name"
	corpus="$TOP/tests/fuzz/corpus/$name"
	[ -d "$corpus" ] || corpus=
	case $name in
	fuzz_pmu* | fuzz_uncore) timeout=1 ;;
	*) timeout=60 ;;
	esac
	# shellcheck disable=SC2086
	if (cd "$work" && "$f" -seed=1 -timeout=$timeout -max_total_time="${FUZZ_SECONDS:-4}" -rss_limit_mb=2048 \
		-print_final_stats=1 "$work/$name" $corpus) >"$work/log" 2>&1; then
		ok "$name finds no fault: $(awk '/number_of_executed_units/ { print $2 }' "$work/log") inputs"
	else
		echo "FAILED $name"; tail -n 30 "$work/log"; failed=1
	fi
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || { echo "no fuzzer was built"; exit 1; }
exit $failed
