#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stat --sample of a program with long REP STOSB: windows lie in these as often as in the rest of the run,
# also if a second thread exists.
. "$TOP/tests/lib.sh"

of() { awk -F, -v e="$1:u" -v f="$3" '$3 == e { print $f }' "$2"; }
events=cycles,instructions,inst_retired.rep_iteration
for second in '' thread; do
	# shellcheck disable=SC2086	# no argument if there is no second thread
	"$SOFTPMU" trace -q -o s "$PROGRAMS/fills" $second >out 2>err || cat err
	"$SOFTPMU" stat -x, -e $events --replay s -o full
	"$SOFTPMU" stat -x, -e $events --sample --replay s -o sampled 2>err
	same "${second:-alone}: instructions are exact" "$(of instructions sampled 1)" "$(of instructions full 1)"
	same "${second:-alone}: and have no interval" "$(of instructions sampled 4)" ""
	within "${second:-alone}: cycles" "$(of cycles sampled 1)" "$(of cycles full 1)" 1
	within "${second:-alone}: rounds of REP" "$(of inst_retired.rep_iteration sampled 1)" \
		"$(of inst_retired.rep_iteration full 1)" 2
done
exit $failed
