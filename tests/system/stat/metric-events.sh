#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The fields of MSR_PERF_METRICS as events (perf's topdown-*): shares of the slots, in 255ths, as near the events that
# count the same slots one by one as that allows.
. "$TOP/tests/lib.sh"
fields=topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound
more=topdown-heavy-ops,topdown-br-mispredict,topdown-fetch-lat,topdown-mem-bound
exact=UOPS_RETIRED.SLOTS,TOPDOWN.BAD_SPEC_SLOTS,IDQ_UOPS_NOT_DELIVERED.CORE,TOPDOWN.BR_MISPREDICT_SLOTS
GLC="--core golden-cove -x,"
# shellcheck disable=SC2086	# words
"$SOFTPMU" stat $GLC -e "slots,$fields,$more,$exact" --save-stream stream "$PROGRAMS/work" 40000 \
	>out 2>all </dev/null || { cat all; exit 1; }
cat all
n() { awk -F, -v e="$1:u" '$3 == e { print $1; exit }' "${2:-all}"; }
# A is within PARTS 255ths of the slots of B.
near() { awk -v a="$(n "$1")" -v b="$(n "$2")" -v s="$(n slots)" -v p="$3" \
	'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= p * s / 255 && d >= -p * s / 255) }'; }
check "the four fields sum up to the slots" [ "$(awk -F, -v s="$(n slots)" '/topdown-(retiring|bad|fe-|be-)/ { t += $1 }
	END { d = t - s; print (d <= 4 && d >= -4 && s > 0) }' all)" = 1 ]
check "retiring is UOPS_RETIRED.SLOTS" near topdown-retiring UOPS_RETIRED.SLOTS 1
check "bad speculation is TOPDOWN.BAD_SPEC_SLOTS" near topdown-bad-spec TOPDOWN.BAD_SPEC_SLOTS 1
check "mispredicted branches are TOPDOWN.BR_MISPREDICT_SLOTS" \
	near topdown-br-mispredict TOPDOWN.BR_MISPREDICT_SLOTS 1
check "front-end bound is IDQ_UOPS_NOT_DELIVERED.CORE" near topdown-fe-bound IDQ_UOPS_NOT_DELIVERED.CORE 1
check "the second level's fields count" [ "$(awk -F, '/topdown-(heavy|br-|fetch|mem)/ && $1 > 0' all | wc -l)" -eq 4 ]
# shellcheck disable=SC2086
"$SOFTPMU" stat $GLC --one-pmu -e "{slots,$fields,$more}" --replay stream 2>group || { cat group; failed=1; }
counts() { awk -F, '{ print $1, $3 }'; }
check "perf's group of slots and metrics fits on one PMU, and counts the same" \
	[ "$(counts <group)" = "$(head -n 9 all | counts)" ]
# shellcheck disable=SC2086
"$SOFTPMU" stat $GLC -I 0.01 -e "{slots,$fields}" --replay stream 2>intervals || { cat intervals; failed=1; }
check "each of many intervals has fields that sum up to its slots" [ "$(awk -F, '{ r[$1] = 1 }
	$4 ~ /^slots/ { s[$1] = $2 } $4 !~ /^slots/ { t[$1] += $2; neg += $2 < 0 }
	END { for (k in r) { n++; d = t[k] - s[k]; bad += d > 4 || d < -4 }
		print (n > 5 && !bad && !neg) }' intervals)" = 1 ]
# shellcheck disable=SC2086
"$SOFTPMU" stat $GLC --pmu ice-lake -e "slots,$fields" --replay stream 2>icl || { cat icl; failed=1; }
check "on Ice Lake, too" [ "$(awk -F, '$1 > 0' icl | wc -l)" -eq 5 ]
"$SOFTPMU" record --core golden-cove -e topdown-retiring -o samples true 2>err && failed=1
check "a field is not sampled" grep -q "topdown-retiring.*counted, not sampled" err
"$SOFTPMU" msr --core golden-cove -e slots,topdown-mem-bound >msr || failed=1
check "msr says what is read" grep -q 'IA32_FIXED_CTR3.*times bits 63:56 of MSR_PERF_METRICS' msr
exit $failed
