#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts by kind, of programs that make a known number of each: software prefetches, copies of registers, page
# walks by page size.
. "$TOP/tests/lib.sh"
# counts CORE EVENTS PROGRAM...: the counts in a line; without the wrong path, which executes some more of each
counts() {
	core=$1 events=$2; shift 2
	timeout 200 "$SOFTPMU" stat -x, -o counts.csv --core "$core" --no-wrong-path -e "$events" -- "$@" \
		>/dev/null 2>err || cat err
	cut -d, -f1 counts.csv | tr '\n' ' ' | sed 's/ $//'
}
P=$PROGRAMS/kinds
for core in skylake golden-cove; do
	e=sw_prefetch_access
	same "$core: prefetches" "$(counts $core $e.nta,$e.t0,$e.t1_t2,$e.prefetchw,$e.any "$P")" \
		"3000 5000 3000 1000 12000"
done
same "core2: prefetches" "$(counts core2 sse_pre_exec.nta,sse_pre_exec.l1,sse_pre_exec.l2 "$P")" "3000 5000 3000"
e=emon_kni_pref_dispatched
same "pentium3: prefetches of three kinds" "$(counts pentium3 $e.nta,$e.t1,$e.t2 "$P")" "3000 2000 1000"

e=move_elimination
set -- $(counts skylake $e.int_eliminated,$e.int_not_eliminated "$P")
check "each copy of a general-purpose register is one or the other (got $1 and $2)" \
	[ $(($1 + $2)) -eq 9000 -a "$1" -ge 2000 -a "$2" -ge 1000 ]
for core in skylake ivy-bridge; do
	set -- $(counts $core $e.simd_eliminated,$e.simd_not_eliminated "$P")
	check "$core: so is each of a vector register (got $1 and $2)" [ $(($1 + $2)) -eq 1000 -a "$1" -gt 0 ]
done

# pages: random reads over 64 MB, by pages of 4 KB, then by large ones; two runs differ in their reads alone
e=dtlb_load_misses
for core in skylake golden-cove; do
	E=$e.walk_completed_4k,$e.walk_completed_2m_4m,$e.walk_completed,itlb_misses.walk_completed_4k,\
itlb_misses.walk_completed,dtlb_store_misses.walk_completed_4k,dtlb_store_misses.walk_completed_2m_4m,\
dtlb_store_misses.walk_completed
	set -- $(counts $core $E "$PROGRAMS/pages" 64 20000)
	check "$core: without large pages all walks are for small ones (got $1 of $3)" \
		[ "$1" -gt 15000 -a "$1" -eq "$3" -a "$2" -eq 0 -a "$4" -eq "$5" ]
	check "$core: each page is written once (got $6)" [ "$6" -ge 16384 -a "$6" -eq "$8" -a "$7" -eq 0 ]
	set -- $(GLIBC_TUNABLES=glibc.malloc.hugetlb=1 counts $core $E "$PROGRAMS/pages" 64 20000)
	check "$core: with them a walk for each of 32 or fewer (got $7 large, $6 small)" \
		[ "$7" -ge 30 -a "$7" -le 33 -a $(($6 + $7)) -eq "$8" -a $(($1 + $2)) -eq "$3" -a "$1" -lt 1000 ]
done
set -- $(counts skylake itlb_misses.walk_completed_4k "$PROGRAMS/code_pages-2")
check "a walk for each page of code (got $1)" [ "$1" -ge 1024 -a "$1" -le 1030 ]
"$SOFTPMU" stat --core skylake -e $e.walk_completed_1g true 2>err && failed=1
check "pages that the modelled system does not have are refused" grep -q '1 GB' err
exit $failed
