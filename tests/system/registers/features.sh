#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Features on the command line: they are listed with their registers and set by name or by a WRMSR; refusals name the
# feature.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o s.trace "$PROGRAMS/stream" read 24 200 >/dev/null || exit 1

count() {	# EVENT OPTION...: the count of one replayed trace, so that only the options differ
	event=$1; shift
	"$SOFTPMU" stat -x, -e "$event:u" --core skylake --replay s.trace "$@" 2>&1 >/dev/null | cut -d, -f1
}
refuses() {	# TEXT OPTION...: the options are refused in one line that contains TEXT
	text=$1; shift
	if "$SOFTPMU" stat -e cycles "$@" --replay s.trace >out 2>&1; then echo "accepted: $*"; return 1; fi
	[ "$(wc -l <out)" = 1 ] && grep -qF -- "$text" out || { cat out; return 1; }
}
says() {	# TEXT COMMAND...: the command succeeds, and its output contains TEXT
	text=$1; shift
	"$@" >out 2>&1 && grep -qF -- "$text" out || { cat out; return 1; }
}
equal() { [ -n "$1" ] && [ "$1" = "$2" ] || { echo "$1 and $2"; return 1; }; }
more() { [ "$1" -gt "$2" ] || { echo "$1, not more than $2"; return 1; }; }

full=$(count L1D.REPLACEMENT)
check "a smaller L1D replaces more lines" more "$(count L1D.REPLACEMENT --feature l1d.size=1/8)" "$full"
check "a feature and a write of its register give the same cycles" equal "$(count cycles --feature l1d.size=1/8)" \
	"$(count cycles --wrmsr SOFTPMU_FEATURES_MEMORY=3)"
check "a feature and --set of its field give the same cycles" equal "$(count cycles --feature rob.size=1/4)" \
	"$(count cycles --set rob.size=56)"
check "the settings full and on change nothing" equal "$(count cycles)" \
	"$(count cycles --feature l1d.size=full,prefetch.l2_streamer=on)"
check "MISC_FEATURE_CONTROL switches the four prefetchers" equal "$(count cycles --wrmsr 1a4h=0xf)" \
	"$(count cycles --feature prefetch.l2_streamer=off,prefetch.l2_adjacent=off \
	--feature prefetch.l1d_next_line=off,prefetch.l1d_ip=off)"
check "the output lists the changed features" \
	says "features l1d.size=1/8" "$SOFTPMU" stat -e cycles --feature l1d.size=1/8 \
	--replay s.trace

check "a feature that the core lacks is refused" \
	refuses "softpmu: feature trace.size: core 'skylake' has no trace cache" \
	--core skylake --feature trace.size=off
check "a misspelt feature is refused with the nearest name" refuses "nearest: l1d.size" --feature l1d.szie=off
check "an unknown setting is refused with the known ones" refuses "there are: full, 1/2" --feature l1d.size=3/4
check "a reserved bit is refused" refuses "#GP(0)" --wrmsr 1a4h=0x10
check "a write of another register is refused" refuses "is not a feature register" --wrmsr 186h=0

for core in $("$SOFTPMU" cores -j | sed -n 's/.*"name": "\([^"]*\)".*/\1/p'); do
	check "$core: cores --features lists the features" says "l1d.size" "$SOFTPMU" cores "$core" --features
	check "$core: cores --features -j is JSON with at least 10 features" sh \
		-c '"$1" cores "$2" --features -j |
			python3 -c "import json, sys; f = json.load(sys.stdin)[\"features\"]; sys.exit(len(f) < 10)"' \
		- "$SOFTPMU" "$core"
done
check "msr shows the fields of a feature register" \
	says "l1d.size = 16K" "$SOFTPMU" msr --core skylake SOFTPMU_FEATURES_MEMORY
check "msr translates a value into features" \
	says "WRMSR accepts it: --feature l1d.size=1/2,l2.size=1/2" "$SOFTPMU" msr --core skylake \
	FEATURES_MEMORY 9
check "msr names the reserved bits of a value" \
	says "WRMSR: #GP(0): 10H of it is reserved" "$SOFTPMU" msr --core skylake 0x1a4 0x11
check "msr lists the feature registers" says "MSR_MISC_FEATURE_CONTROL" "$SOFTPMU" msr --core skylake

# The program itself writes the registers while it runs: it sets l1d.size to an eighth, and back.
"$SOFTPMU" trace -q -o p.trace "$PROGRAMS/features" 0x400000c3 3 >/dev/null || exit 1
"$SOFTPMU" trace -q -o t.trace "$PROGRAMS/features" 0x400000c1 0x7000 >/dev/null || exit 1
in_region() {	# TRACE REGION EVENT OPTION...
	trace=$1 region=$2 event=$3; shift 3
	"$SOFTPMU" stat -x, -e "$event:u" --region "$region" --replay "$trace" "$@" 2>&1 >/dev/null | cut -d, -f1
}
least() { [ "$1" -ge "$2" ] || { echo "$1, not at least $2"; return 1; }; }
most() { [ "$1" -le "$2" ] || { echo "$1, more than $2"; return 1; }; }
# The program reads 24 KB (384 lines) in turn, 40 times: an L1D of 4 KB has evicted each line, one of 32 KB holds all.
check "before the write, L1D holds the data" most "$(in_region p.trace before L1D.REPLACEMENT --core skylake)" 500
check "after the write, the smaller L1D misses every line" \
	least "$(in_region p.trace changed L1D.REPLACEMENT --core skylake)" \
	15360
check "after the register is restored, L1D holds the data again" \
	most "$(in_region p.trace after L1D.REPLACEMENT --core skylake)" 500
# 4096 branches with a pattern of 21, of which 9 are taken: the bimodal table alone mispredicts about a third of them.
check "the tagged tables learn the pattern" most "$(in_region t.trace before branch-misses --core golden-cove)" 300
check "without the tagged tables the pattern is not learnt" \
	least "$(in_region t.trace changed branch-misses --core golden-cove)" 1000
check "switched on again, the tagged tables learn the pattern anew" \
	most "$(in_region t.trace after branch-misses --core golden-cove)" 300
check "the program reads back what it wrote, and a reserved bit faults" says \
	"was 0 0; written 0, read 0 0x3; all ones -1, read 0 0x3; zero 0" \
	"$SOFTPMU" stat -e cycles --core skylake "$PROGRAMS/features" 0x400000c3 3
check "the program reads the value that --feature set" says "was 0 0x2; written 0, read 0 0x3" \
	"$SOFTPMU" stat -e cycles --core skylake --feature l1d.size=1/4 "$PROGRAMS/features" 0x400000c3 3
check "a core without the feature has no such register" \
	says "was -2 0; written -2" "$SOFTPMU" stat -e cycles --core pentium3 \
	"$PROGRAMS/features" 0x400000ff 3
check "topdown supports the program's writes, too" \
	says "was 0 0; written 0, read 0 0x3" "$SOFTPMU" topdown --core skylake "$PROGRAMS/features" \
	0x400000c3 3
for core in core2 pentium3 prescott zen4; do
	check "$core: after the write, the smaller L1D misses more" more "$(in_region p.trace changed "$(case $core in
		core2) echo L1D_REPL ;; pentium3) echo DCU_LINES_IN ;; prescott) echo L1-dcache-load-misses ;; zen4) \
			echo L1-dcache-load-misses ;; esac)" --core $core)" 3000
done
check "--wrmsr with @FUNCTION writes at the function's entry" \
	more "$(count cycles --wrmsr SOFTPMU_FEATURES_EXECUTION=4@main)" "$(count cycles)"
check "--wrmsr with an unknown function warns that nothing was written" \
	says "register 1A4H was never written" "$SOFTPMU" stat -e cycles \
	--core skylake --wrmsr 1a4h=1@nowhere_at_all --replay s.trace
exit $failed
