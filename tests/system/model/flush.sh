#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CLFLUSH takes a line out of every cache, so that the next load of it comes from memory; so do non-temporal stores.
# CLDEMOTE moves it to L3 where the core has CLDEMOTE.  What CPUID does not list, programs do not try.
. "$TOP/tests/lib.sh"
# counts CORE EVENTS KIND [STORE]: the events of 2,000 rounds: those of a run with them, less those of one without
counts() {
	core=$1 events=$2 kind=$3
	shift 3
	for n in 00000 02000; do
		"$SOFTPMU" stat --no-wrong-path --core "$core" -x, -e "$events" "$PROGRAMS/flush" "$kind" $n "$@" \
			2>&1 >/dev/null
	done | awk -F, '{ if ($3 in v) printf "%d ", $1 - v[$3]; else v[$3] = $1 }'
}

for core in golden-cove skylake; do
	for kind in clflush movnti movntps vmovntdq maskmovdqu; do
		same "$core: behind each $kind a load of the line comes from memory" \
			"$(counts $core mem_load_retired.l3_miss $kind)" "2000 "
	done
	same "$core: without them no load does" "$(counts $core mem_load_retired.l3_miss none)" "0 "
	same "$core: what one thread flushes, another one reads from memory" \
		"$(counts $core mem_load_retired.l3_miss other)" "2000 "
	same "$core: without the flushes it does not" "$(counts $core mem_load_retired.l3_miss shared)" "0 "
done
same "golden-cove: CLDEMOTE leaves the line in L3" "$(counts golden-cove mem_load_retired.l3_hit cldemote)" "2000 "
same "skylake has no CLDEMOTE" "$(counts skylake mem_load_retired.l3_hit cldemote)" "0 "

# before Nehalem no event counts loads by level; L2 is the last level
for core in core2 willamette prescott; do
	set -- $(counts $core cache-misses clflush) $(counts $core cache-misses none)
	near "$core: a flushed line comes from memory" $(($1 - $2)) 1995 2005
done

writes=UNC_M_CAS_COUNT.WR
set -- $(counts golden-cove $writes clflush) $(counts golden-cove $writes clflush store)
near "a flush writes back no clean line" "$1" 0 5
near "and each modified line" "$2" 2000 2005

"$SOFTPMU" stat "$PROGRAMS/flush" cpuid >cpuid 2>err
same "CPUID lists CLFLUSH, and none of those that the tracer does not execute" "$(tr '\n' ' ' <cpuid)" \
	"clflush 1 of 64 bytes clflushopt 0 clwb 0 cldemote 0 "
for kind in clflushopt clwb; do
	"$SOFTPMU" stat "$PROGRAMS/flush" $kind 02000 >out 2>err
	has "$kind, which CPUID does not list, is refused by name" "got SIGILL.*$kind" err
done
exit $failed
