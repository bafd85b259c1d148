#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `stat --cut` beside full detail (--detail) of the same saved streams: how far counts differ, and with TIMES=N the wall
# seconds of N rounds, interleaved, of full detail and of --cut with 1 and with 2 jobs (medians).
#   cut-streams.sh [OPTION...]      OPTION: of all runs, as --core skylake
#   LENGTH=--cut=5M: pieces of that length.  STREAMS=DIR: keeps the recorded streams there.  PROGRAMS="awk bzip2": only
#   these.  LARGE=1: streams of 40 to 600 million instructions instead of 8 to 60.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
cut=${LENGTH:---cut}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
text_bytes=200000 rows=6000 rows_to=5000 keys=20000
[ -z "${LARGE:-}" ] || text_bytes=500000 rows=20000 rows_to=15000 keys=150000
. "$TOP/bench/recorded-inputs.sh"
events=instructions,branches,uops_retired.slots,cycles,branch-misses,uops_issued.any,idq.dsb_uops,idq.mite_uops
events=$events,mem_load_retired.l1_miss,mem_load_retired.l2_miss,int_misc.recovery_cycles
events=$events,exe_activity.bound_on_loads,topdown.backend_bound_slots,uops_dispatched.port_0
case " $* " in *" --core "*) events=instructions,branches,cycles,branch-misses ;; esac

compare() {	# NAME OPTION...: adds lines "name event full cut" to pairs
	name=$1; shift
	"$SOFTPMU" stat -x, -e $events "$@" --detail --replay "$streams/$name" \
		-o "$work/full" || [ -s "$work/full" ]	# its status is the program's
	"$SOFTPMU" stat -x, -e $events "$@" "$cut" --replay "$streams/$name" -o "$work/cut" || [ -s "$work/cut" ]
	awk -F, -v p="$name" 'NR == FNR { full[$3] = $1; next } { print p, $3, full[$3], $1 }' "$work/full" \
		"$work/cut" >>"$work/pairs"
}
table() {	# of the pairs: programs, and then events
	awk '
	function size(x) { return x < 0 ? -x : x }
	{
		d = $3 ? 100 * ($4 - $3) / $3 : 0
		if (!($1 in seen)) { seen[$1] = 1; program[++programs] = $1 }
		if (!($2 in met)) { met[$2] = 1; event[++events] = $2 }
		if ($2 == "instructions:u") millions[$1] = $3 / 1e6
		if ($2 == "cycles:u") cycles[$1] = d
		else if (size(d) > size(most[$1]) && $3 >= 1000) { most[$1] = d; which[$1] = $2 }
		count[$2]++; sum[$2] += size(d)
		if (size(d) >= size(worst[$2])) { worst[$2] = d; where[$2] = $1 " (" $3 ", " $4 ")" }
	}
	END {
		print "program    instructions    cycles   of other counts of 1,000 or more, the largest difference"
		for (i = 1; i <= programs; i++) {
			p = program[i]
			printf "%-10s %10.1f M %+8.3f %%  %+8.3f %%  %s\n", p, millions[p], cycles[p], most[p],
				which[p]
		}
		print "event                                    mean    largest"
		for (i = 1; i <= events; i++) {
			e = event[i]
			printf "%-34s %8.3f %% %+8.3f %%  %s\n", e, sum[e] / count[e], worst[e],
				worst[e] ? where[e] : "all equal"
		}
	}' "$work/pairs"
}
seconds() {	# HOW OPTION...: adds the wall seconds of a run to the file of that name
	how=$1; shift
	/usr/bin/time -a -o "$work/$how" -f %e "$SOFTPMU" stat -x, -e cycles,instructions --replay "$streams/$name" \
		"$@" -o "$work/out" || [ -s "$work/out" ]
}
median() { sort -g "$work/$1" | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }
for name in ${PROGRAMS:-awk sqlite3 python3 bzip2 xz gzip sort perl cc1 diff chase stream phases}; do
	make_stream "$name"
	compare "$name" "$@"
done
table
[ "${TIMES:-0}" -gt 0 ] || exit 0
echo "wall seconds, medians of $TIMES rounds; load $(cut -d' ' -f1 /proc/loadavg)"
echo "program    in one run   --jobs 1   --jobs 2   in one run / --jobs 2"
for name in ${PROGRAMS:-awk sqlite3 python3 bzip2}; do
	make_stream "$name"
	rm -f "$work/one" "$work/jobs1" "$work/jobs2"
	for _ in $(seq "$TIMES"); do
		seconds one "$@" --detail
		seconds jobs1 "$@" "$cut" --jobs 1
		seconds jobs2 "$@" "$cut" --jobs 2
	done
	printf '%-10s %10s %10s %10s %10s\n' "$name" "$(median one)" "$(median jobs1)" "$(median jobs2)" \
		"$(awk -v a="$(median one)" -v b="$(median jobs2)" 'BEGIN { printf "%.2f", a / b }')"
done
