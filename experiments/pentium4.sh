#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make p4: the Pentium 4 experiment (B. Sprunt, IEEE Micro 22(4), 2002) on the modelled Willamette: which instruction do
# samples of L1 misses name, by PEBS and by PMI?  Then the same on other cores.
#
# Environment: SOFTPMU, PROGRAMS (set by make); OUT: where the files go, default build/p4.  FULL=1: all 80 million
# misses on the Pentium 4, one sample every 100,000 (42 minutes of processor time); without it 80,800 misses, one
# sample every 100.
set -u
SOFTPMU=${SOFTPMU:-build/softpmu} PROGRAMS=${PROGRAMS:-build/tests/programs} OUT=${OUT:-build/p4}
program=$PROGRAMS/l1_miss-p4 wide=$PROGRAMS/l1_miss-p4-wide period=100 misses=80800
[ "${FULL:-}" ] && program=$PROGRAMS/l1_miss-p4-full period=100000 misses=80000000
mkdir -p "$OUT" || exit 1

record() {	# FILE CORE EVENT PERIOD PROGRAM [options]
	file=$1 core=$2 event=$3 c=$4 prog=$5; shift 5
	"$SOFTPMU" record -q --core "$core" -e "$event" -c "$c" "$@" -o "$OUT/$file" "$prog"
}
# places FILE: "samples address" for each place of the file's samples, the most frequent first.
places() { "$SOFTPMU" mem report -i "$OUT/$1" -s insn --csv | awk -F, 'NR > 1 { print $6, $4 }'; }
show() { echo; echo "\$ $*"; }

echo "One load of the program, mov (%eax),%eax, visits 8 locations that lie 8 KB apart; 100 loads that hit stand behind"
echo "it. It misses $misses times an L1D of 8 KB in 4 ways: 32 sets of lines of 64 bytes."

echo
echo "1. By PEBS: one sample every $period misses."
show softpmu record --core willamette -e replay_event.L1_LD_MISS:p -c $period -d -I -o pebs.data l1_miss
record pebs.data willamette replay_event.L1_LD_MISS:p $period "$program" -d -I || exit 1
show softpmu mem report -i pebs.data -s insn,object,set
"$SOFTPMU" mem report -i "$OUT/pebs.data" -s insn,object,set --map | sed "s|$OUT/||"
load=$(places pebs.data | awk 'NR == 1 { print $2 }')
echo
echo "Each data address, and its samples:"
"$SOFTPMU" mem report -i "$OUT/pebs.data" -s page --csv | awk -F, 'NR > 1 { print "    " $18, $3 }'
if command -v perf >/dev/null 2>&1; then
	perf script -i "$OUT/pebs.data" -F addr,iregs 2>/dev/null |
		sed -n 's/^ *\([0-9a-f]*\) .*AX:0x\([0-9a-f]*\) .*/\1 \2/p' |
		awk '{ n++; same += $1 == $2 }
		END { print "By perf script: EAX of the PEBS record is that address in " same " of " n " samples." }'
fi

echo
echo "2. By PMI: the same event, imprecise."
show softpmu record --core willamette -e replay_event.L1_LD_MISS -c $period -o pmi.data l1_miss
record pmi.data willamette replay_event.L1_LD_MISS $period "$program" || exit 1
# 100 loads of 6 bytes each follow the load (2 bytes), so the k-th of them is k instructions behind it.
distances() {	# FILE: "samples distance", in instructions; a turn has 105
	places "$1" | awk -v load="$load" '
	function hex(s,  i, v) {
		v = 0
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	{ o = hex($2) - hex(load)
	  d = o == 0 ? 0 : o == -2 ? 104 : o < 602 ? 1 + (o - 2) / 6 : o == 602 ? 101 : o == 608 ? 102 : o == 609 \
	  	? 103 : 104
	  n[d] += $1 } END { for (d in n) print n[d], d }' | sort -k2n
}
distances pmi.data >"$OUT/pmi.txt"
echo
echo "Where the samples lie, in instructions behind the load that missed (a turn of the loop is 105):"
awk '{ n[$2] = $1; all += $1; if ($1 > most) most = $1; if (NR == 1) first = $2; last = $2 }
	END { from = first < 6 ? 0 : first - 5; to = last + 5
	      for (d = from; d <= to; d++) { bar = ""; for (i = 0; i < 50 * n[d] / most; i++) bar = bar "#"
		printf "    %3d %6d %5.1f%% %s\n", d, n[d], 100 * n[d] / all, bar } }' "$OUT/pmi.txt"
awk '{ all += $1; if ($2 == 0) at += $1; if ($2 >= 65) far += $1; if ($1 > most) { most = $1; where = $2 } }
	{ n[NR] = sprintf("%d", $2) }
	END { print "\nBeside the published figure (Figure 5; of its bars only the highest is known here):"
	      printf "    %-34s %8s %12s\n", "", "here", "published"
	      printf "    %-34s %7.1f%% %11s%%\n", "at the load", 100 * at / all, "0"
	      printf "    %-34s %7.1f%% %11s%%\n", "65 or more instructions behind it", 100 * far / all, "100"
	      printf "    %-34s %7.1f%% %11s%%\n", "most at one distance", 100 * most / all, "46.5"
	      printf "    %-34s %8d %12s\n", "that distance, in loads", where, "69"
	      for (i = 1; i <= NR; i++) list = list (i > 1 ? ", " : "") n[i]
	      printf "    all distances: %s; of the machine not known\n", list
	}
' "$OUT/pmi.txt"
echo
echo "3. Other cores.  Eight lines overflow 4 ways; for the 8 and 12 ways of Skylake and Golden Cove the loop has 24" \
	"locations."
echo "   The first rows count the load's misses, so a sample should name the load.  The last rows count all loads; each"
echo "   of the 101 loads of a turn is equally frequent, 0.99 %."
echo
printf '%-12s %-34s %-7s %7s %9s %9s  %s\n' core event method samples 'events a' 'at the' 'most at one place'
printf '%-12s %-34s %-7s %7s %9s %9s  %s\n' '' '' '' '' sample load ''
row() {	# CORE EVENT METHOD PERIOD PROGRAM EVENTS
	record row.data "$1" "$2" "$4" "$5" || { echo "FAILED: $1 $2"; return 1; }
	distances row.data >"$OUT/row.txt"
	awk -v core="$1" -v event="$2" -v method="$3" '{ print $1, $2, core, method, event }' "$OUT/row.txt" \
		>>"$OUT/rows.txt"
	awk -v core="$1" -v event="$2" -v method="$3" -v events="$6" '
		{ all += $1; if ($2 == 0) at += $1; if ($1 > most) { most = $1; where = $2 } }
		END { printf "%-12s %-34s %-7s %7d %9.1f %8.1f%%  %.1f%%, %s\n",
			core, event, method, all, events / all, 100 * at / all, 100 * most / all,
			where == 0 ? "the load" : where " behind" }' "$OUT/row.txt"
}
rows() {
	row willamette replay_event.L1_LD_MISS PMI 100 "$PROGRAMS/l1_miss-p4" 80800 &&
	row willamette replay_event.L1_LD_MISS:p PEBS 100 "$PROGRAMS/l1_miss-p4" 80800 &&
	row pentium3 DCU_LINES_IN PMI 100 "$PROGRAMS/l1_miss-p4" 80800 &&
	row skylake MEM_LOAD_RETIRED.L1_MISS PMI 100 "$wide" 80808 &&
	row skylake MEM_LOAD_RETIRED.L1_MISS:pp PEBS 100 "$wide" 80808 &&
	row golden-cove MEM_LOAD_RETIRED.L1_MISS PMI 100 "$wide" 80808 &&
	row golden-cove MEM_LOAD_RETIRED.L1_MISS:pp PEBS 100 "$wide" 80808 &&
	row golden-cove MEM_LOAD_RETIRED.L1_MISS:ppp PDist 100 "$wide" 80808 &&
	row willamette memory_loads PMI 9973 "$PROGRAMS/l1_miss-p4" 8160800 &&
	row willamette memory_loads:p PEBS 9973 "$PROGRAMS/l1_miss-p4" 8160800 &&
	row skylake MEM_INST_RETIRED.ALL_LOADS PMI 9973 "$wide" 8161608 &&
	row skylake MEM_INST_RETIRED.ALL_LOADS:pp PEBS 9973 "$wide" 8161608 &&
	row golden-cove MEM_INST_RETIRED.ALL_LOADS PMI 9973 "$wide" 8161608 &&
	row golden-cove MEM_INST_RETIRED.ALL_LOADS:pp PEBS 9973 "$wide" 8161608 &&
	row golden-cove MEM_INST_RETIRED.ALL_LOADS:ppp PDist 9973 "$wide" 8161608
}
: >"$OUT/rows.txt"
rows || exit 1
echo
echo "PMI: the address is that of the instruction at which the interrupt was taken.  PEBS: the counter's overflow arms"
echo "it, and the next event makes the record, so there is a sample every period + 1 events.  PDist (Golden Cove,"
echo ":ppp): the event that overflows makes the record.  The Pentium III has no PEBS."

# The histograms as a picture: a panel for each of these rows, and in it a bar for each instruction of a turn.  The
# height of a bar is the share of the samples.
awk '
	function panel(k, name,  y, d, h) { y = 30 + 70 * k
		printf "<text x=\"10\" y=\"%d\">%s</text>\n<path d=\"M300 %dH930\" stroke=\"#999\"/>\n", y + 35, name,
			y + 60
		for (d = 0; d < 105; d++) if (n[k, d]) { h = 55 * n[k, d] / all[k]; if (h < 0.5) h = 0.5
			printf "<path d=\"M%d %dv-%.1f\" stroke=\"%s\" stroke-width=\"5\"/>\n",
				303 + 6 * d, y + 60, h, d ? "#36c" : "#c33" } }
	BEGIN { panels = 0 }
	{
		key = $3 " " $4 " " $5
		if (!(key in at)) { name[panels] = $3 ", " $4 ": " $5; at[key] = panels++ }
		n[at[key], $2] += $1; all[at[key]] += $1
	}
	END {
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"%d\"", 70 * panels + 70
		print " font-family=\"sans-serif\" font-size=\"11\">"
		print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
		print "<text x=\"300\" y=\"20\">Where samples lie: share of them " \
			"at each of the 105 instructions of a turn" \
			" (red: the load that misses)</text>"
		for (k = 0; k < panels; k++) panel(k, name[k])
		for (d = 0; d <= 100; d += 10)
			printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", 303 + 6 * d,
				70 * panels + 45, d
		printf "<text x=\"615\" y=\"%d\" text-anchor=\"middle\">instructions behind the load</text>\n</svg>\n",
			70 * panels + 62
	}' "$OUT/rows.txt" >"$OUT/p4.svg"
echo
echo "The histograms as a picture: $OUT/p4.svg"
