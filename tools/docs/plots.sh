#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws docs/plots/*.svg from the tables that stand in docs/measured:  make plots
# It needs gnuplot (Debian: gnuplot-nox).  The same tables give the same files, byte for byte.
set -eu
cd "$(dirname "$0")/../.."
command -v gnuplot >/dev/null || { echo "plots: gnuplot is not installed (apt-get install gnuplot-nox)" >&2; exit 1; }
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# Grey text and lines are readable on white and on black; the background stays the page's.
cat >"$data/style" <<'EOS'
set encoding utf8
set terminal svg size 720,400 dynamic font "sans-serif,13" linewidth 1.5
set border 3 linecolor rgb "#808080"
set tics nomirror textcolor rgb "#808080"
set grid ytics linecolor rgb "#808080" linewidth 0.3
set key textcolor rgb "#808080"
set title textcolor rgb "#808080"
set xlabel textcolor rgb "#808080"
set ylabel textcolor rgb "#808080"
set style fill solid 0.9 noborder
set linetype 1 linecolor rgb "#d08020"
set linetype 2 linecolor rgb "#3f7fc0"
set linetype 3 linecolor rgb "#c0407f"
set linetype 4 linecolor rgb "#4f9f60"
set linetype 5 linecolor rgb "#8060c0"
EOS

# draw NAME: runs the commands on standard input; what it writes has no date and no name of a file.
draw() {
	{ cat "$data/style"; echo "data = '$data'"; echo "set output '$data/$1.svg'"; cat; } >"$data/$1.gp"
	gnuplot "$data/$1.gp"
	grep -v 'Produced by GNUPLOT' "$data/$1.svg" | sed "s|<title>[^<]*</title>||; s/[ 	]*\$//" \
		>"docs/plots/$1.svg"
}
# What plots of groups of bars begin with: a group for each row, a bar for each of its columns.
cat >"$data/bars" <<'EOS'
set yrange [0:*]
set key outside right top vertical width -2
set style data histograms
set style histogram clustered gap 1
EOS

# Real programs: what the model's cycles differ from those of the host.
awk -F '|' '/^## /{ on = /Real programs on this host/ } on && $3 + 0 > 0 { gsub(/ /, "", $2)
	print $2, 100 * ($5 / $4 - 1), $4 + 0 }' docs/measured/accuracy.md | sort -k2n >"$data/accuracy"
draw accuracy <<'EOS'
set title "Modelled against measured user-level cycles: a Zen 5 host and its calibrated core"
set ylabel "%"
set yrange [-25:25]
set xzeroaxis linecolor rgb "#808080"
set style data histograms
set boxwidth 0.7
set xtics rotate by -40
set nokey
plot data.'/accuracy' using 2:xtic(1) linetype 2
EOS

# Instructions, core by core: the rows that were not used for the tables.
awk -F '|' '/^## /{ core = substr($0, 4) } /every fifth, held out/ { gsub(/ /, "", $2); e[core, $2] = $6 + 0
	if (!(core in seen)) order[++n] = core; seen[core] = 1 }
	END { for (i = 1; i <= n; i++) print order[i], e[order[i], "latency"], e[order[i], "throughput"] }' \
	docs/measured/accuracy.md >"$data/instructions"
draw accuracy-instructions <<EOS
load data.'/bars'
set title "Instructions held out: mean absolute error against InstLatx64"
set ylabel "%"
set xtics rotate by -25
plot data.'/instructions' using 2:xtic(1) title "latency" linetype 2, '' using 3 title "throughput" linetype 1
EOS

# Memory, core by core: each pair of cycles a load that the tables have, once.
awk -F '|' '/^### .*MemLat/ { core = $0; sub(/.*: /, "", core); sub(/ at .*/, "", core) } /^## /{ core = "" }
	core { for (i = 3; i < NF; i++) if (split($i, cycles, " / ") == 2) print cycles[1] + 0, cycles[2] + 0, core }' \
	docs/measured/accuracy.md | sort -u -k3,3 -k1,1n -k2,2n >"$data/memory"
{
	cat <<'EOS'
set title "Cycles a load, by size and stride: modelled against measured"
set xlabel "measured"
set ylabel "model"
set logscale xy
set xrange [1.5:500]
set yrange [1.5:500]
set key outside right top vertical width -2
EOS
	printf "plot x title 'equal' linecolor rgb '#808080' linewidth 0.7"
	colour=0
	for core in $(cut -d' ' -f3 "$data/memory" | uniq); do
		colour=$((colour + 1))
		grep " $core\$" "$data/memory" >"$data/memory-$core"
		printf ", '%s' using 1:2 with points pointtype %d pointsize 0.5 linetype %d title '%s'" \
			"$data/memory-$core" "$((colour + 3))" "$colour" "$core"
	done
	echo
} | draw accuracy-memory

# The error of sampling methods, by instruction, on Golden Cove.
awk '/^    core /{ first = $2 == "golden-cove," && $6 == 211 }
	first && /^    [a-z0-9]*:$/ { sub(/:/, "", $1); program = $1 }
	first && $1 + 0 > 0 && $10 == "cycles" && $11 ~ /^(imprecise|precise|time)/ { e[program, ++n[program]] = $2 }
	END { for (i = 1; i <= 3; i++) { p = i == 1 ? "bzip2" : i == 2 ? "sort" : "awk"
		print p, e[p, 1], e[p, 2], e[p, 3], e[p, 4] } }' docs/measured/sampling-error.md >"$data/sampling"
draw sampling-error <<'EOS'
load data.'/bars'
set title "Samples at the wrong instruction, golden-cove, one every 211 events"
set ylabel "%"
plot data.'/sampling' using 2:xtic(1) title "imprecise, cycles" linetype 1, \
	'' using 3 title "precise, cycles" linetype 2, '' using 4 title "precise, instructions" linetype 3, \
	'' using 5 title "time-proportional" linetype 4
EOS

# Wall time of sampled runs beside callgrind and cachegrind.
awk '/^    program  instructions/ { seen++ } seen == 1 && $2 ~ /^[0-9]+$/ { print $1, $4, $5, $6 }' \
	docs/measured/sampled-speed.md >"$data/speed"
draw speed <<'EOS'
load data.'/bars'
set title "Wall time, about a thousand million instructions each"
set ylabel "seconds"
plot data.'/speed' using 2:xtic(1) title "softpmu stat --sample" linetype 2, \
	'' using 3 title "callgrind, caches and branches" linetype 1, '' using 4 title "cachegrind, the same" linetype 4
EOS

# Four methods, of the event that each loop is about.
awk '/^\$ softpmu cost --core prescott/ { for (i = 1; i < NF; i++) if ($i == "-e") event = $(i + 1) }
	$1 == event && $3 == "|" { gsub(/_/, " ", event); print "\"" event "\"", $4, $5, $6, $10; event = "" }' \
	docs/measured/cost.md | head -n 3 >"$data/cost"
draw cost <<'EOS'
load data.'/bars'
set title "Cycles of one event, four methods: prescott, small loops"
set ylabel "cycles"
set logscale y
set yrange [10:500]
plot data.'/cost' using 2:xtic(1) title "analytic" linetype 4, '' using 3 title "duration" linetype 1, \
	'' using 4 title "pushout" linetype 2, '' using 5 title "total time" linetype 3
EOS
for file in "$data"/accuracy "$data"/instructions "$data"/memory "$data"/sampling "$data"/speed \
	"$data"/cost; do
	awk -v file="$file" 'NF < 3 || /  / { bad = 1 } END { exit bad || !NR }' "$file" ||
		{ echo "plots: the table behind $(basename "$file") has another form" >&2; exit 1; }
done
