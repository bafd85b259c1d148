#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Features on the command line: listed with their registers, set by name or by WRMSR, refused by name.
. "$TOP/tests/lib.sh"
"$SOFTPMU" trace -q -o s.trace "$PROGRAMS/stream" read 24 200 >/dev/null || exit 1

count() {	# EVENT OPTION...: on one trace, so that nothing differs but the options
	event=$1; shift
	"$SOFTPMU" stat -x, -e "$event:u" --core skylake --replay s.trace "$@" 2>&1 >/dev/null | cut -d, -f1
}
# What is refused: its one line.
refuses() {	# TEXT OPTION...
	text=$1; shift
	if "$SOFTPMU" stat -e cycles "$@" --replay s.trace >out 2>&1; then echo "accepted: $*"; return 1; fi
	[ "$(wc -l <out)" = 1 ] && grep -qF -- "$text" out || { cat out; return 1; }
}
says() {	# TEXT COMMAND...
	text=$1; shift
	"$@" >out 2>&1 && grep -qF -- "$text" out || { cat out; return 1; }
}
equal() { [ -n "$1" ] && [ "$1" = "$2" ] || { echo "$1 and $2"; return 1; }; }
more() { [ "$1" -gt "$2" ] || { echo "$1, not more than $2"; return 1; }; }

full=$(count L1D.REPLACEMENT)
check "a smaller L1D replaces more lines" more "$(count L1D.REPLACEMENT --feature l1d.size=1/8)" "$full"
check "a feature and the write of its register are the same" equal "$(count cycles --feature l1d.size=1/8)" \
	"$(count cycles --wrmsr SOFTPMU_FEATURES_MEMORY=3)"
check "a feature and its field are the same" equal "$(count cycles --feature rob.size=1/4)" \
	"$(count cycles --set rob.size=56)"
check "full is as if nothing was said" equal "$(count cycles)" \
	"$(count cycles --feature l1d.size=full,prefetch.l2_streamer=on)"
check "MISC_FEATURE_CONTROL has the prefetchers" equal "$(count cycles --wrmsr 1a4h=0xf)" \
	"$(count cycles --feature prefetch.l2_streamer=off,prefetch.l2_adjacent=off \
	--feature prefetch.l1d_next_line=off,prefetch.l1d_ip=off)"
check "the output says what was changed" says "features l1d.size=1/8" "$SOFTPMU" stat -e cycles --feature l1d.size=1/8 \
	--replay s.trace

check "a feature that the core lacks" refuses "softpmu: feature trace.size: core 'skylake' has no trace cache" \
	--core skylake --feature trace.size=off
check "a misspelt feature" refuses "nearest: l1d.size" --feature l1d.szie=off
check "a level that is none" refuses "there are: full, 1/2" --feature l1d.size=3/4
check "a reserved bit" refuses "#GP(0)" --wrmsr 1a4h=0x10
check "a register that is none" refuses "is not a feature register" --wrmsr 186h=0

for core in $("$SOFTPMU" cores -j | sed -n 's/.*"name": "\([^"]*\)".*/\1/p'); do
	check "$core: features as text" says "l1d.size" "$SOFTPMU" cores "$core" --features
	check "$core: features as JSON" sh \
		-c '"$1" cores "$2" --features -j |
			python3 -c "import json, sys; f = json.load(sys.stdin)[\"features\"]; sys.exit(len(f) < 10)"' \
		- "$SOFTPMU" "$core"
done
check "msr has the fields" says "l1d.size = 16K" "$SOFTPMU" msr --core skylake SOFTPMU_FEATURES_MEMORY
check "msr explains a value" says "WRMSR accepts it: --feature l1d.size=1/2,l2.size=1/2" "$SOFTPMU" msr --core skylake \
	FEATURES_MEMORY 9
check "msr says what faults" says "WRMSR: #GP(0): 10H of it is reserved" "$SOFTPMU" msr --core skylake 0x1a4 0x11
check "msr's list has them" says "MSR_MISC_FEATURE_CONTROL" "$SOFTPMU" msr --core skylake

# By the program itself, in mid-run: l1d.size to an eighth, and back.
"$SOFTPMU" trace -q -o p.trace "$PROGRAMS/features" 0x400000c3 3 >/dev/null || exit 1
"$SOFTPMU" trace -q -o t.trace "$PROGRAMS/features" 0x400000c1 0x7000 >/dev/null || exit 1
in_region() {	# TRACE REGION EVENT OPTION...
	trace=$1 region=$2 event=$3; shift 3
	"$SOFTPMU" stat -x, -e "$event:u" --region "$region" --replay "$trace" "$@" 2>&1 >/dev/null | cut -d, -f1
}
least() { [ "$1" -ge "$2" ] || { echo "$1, not at least $2"; return 1; }; }
most() { [ "$1" -le "$2" ] || { echo "$1, more than $2"; return 1; }; }
# 24 KB in turn, 40 times: 384 lines, none of which is still there with 4 KB, and all with 32 KB
check "before the write L1D holds the data" most "$(in_region p.trace before L1D.REPLACEMENT --core skylake)" 500
check "the next instruction has the smaller one" least "$(in_region p.trace changed L1D.REPLACEMENT --core skylake)" \
	15360
check "written back, it is as large as before" most "$(in_region p.trace after L1D.REPLACEMENT --core skylake)" 500
# 4096 branches with a period of 21, of which 9 are taken: the bimodal table alone is wrong at a third of them or so
check "tagged tables learn a pattern" most "$(in_region t.trace before branch-misses --core golden-cove)" 300
check "without them it is not learnt" least "$(in_region t.trace changed branch-misses --core golden-cove)" 1000
check "they learn it anew" most "$(in_region t.trace after branch-misses --core golden-cove)" 300
check "it reads back what it wrote, and a reserved bit faults" says \
	"was 0 0; written 0, read 0 0x3; all ones -1, read 0 0x3; zero 0" \
	"$SOFTPMU" stat -e cycles --core skylake "$PROGRAMS/features" 0x400000c3 3
check "the program reads what --feature set" says "was 0 0x2; written 0, read 0 0x3" \
	"$SOFTPMU" stat -e cycles --core skylake --feature l1d.size=1/4 "$PROGRAMS/features" 0x400000c3 3
check "what the core lacks is no register" says "was -2 0; written -2" "$SOFTPMU" stat -e cycles --core pentium3 \
	"$PROGRAMS/features" 0x400000ff 3
check "on every analysis" says "was 0 0; written 0, read 0 0x3" "$SOFTPMU" topdown --core skylake "$PROGRAMS/features" \
	0x400000c3 3
for core in core2 pentium3 prescott zen4; do
	check "$core: the smaller cache misses more" more "$(in_region p.trace changed "$(case $core in
		core2) echo L1D_REPL ;; pentium3) echo DCU_LINES_IN ;; prescott) echo L1-dcache-load-misses ;; zen4) \
			echo L1-dcache-load-misses ;; esac)" --core $core)" 3000
done
check "a write at a function's entry" more "$(count cycles --wrmsr SOFTPMU_FEATURES_EXECUTION=4@main)" "$(count cycles)"
check "a function that is nowhere is said" says "register 1A4H was never written" "$SOFTPMU" stat -e cycles \
	--core skylake --wrmsr 1a4h=1@nowhere_at_all --replay s.trace
exit $failed
