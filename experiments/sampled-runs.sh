#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares `stat --sample` with full detail on programs of some 40 to 300 million instructions: prints, for each event,
# both counts, the difference and the 95 % interval, and the CPU seconds of both runs.  Needs some minutes a program.
#   sampled-runs.sh [CORE [OPTION...]]      OPTION: of both runs, as --no-wrong-path
#   STREAMS=DIR: keeps the recorded streams there.  PROGRAMS="awk bzip2": only these.  SAMPLE=N,U,W: these windows.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
core=${1:-golden-cove}
[ $# = 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
events=cycles,instructions,branch-misses,idq.dsb_uops,uops_issued.any,mem_load_retired.l1_miss
events=$events,mem_load_retired.l2_miss,int_misc.recovery_cycles,exe_activity.bound_on_loads,icache_data.stalls
case $core in golden-cove | skylake) ;; *) events=cycles,instructions,branches,branch-misses ;; esac

text_bytes=500000 rows=20000 rows_to=15000 keys=150000
. "$TOP/bench/recorded-inputs.sh"
timed() {	# NAME FILE OPTION...: leaves the CPU seconds in FILE.s
	stream=$1 file=$2; shift 2
	( "$SOFTPMU" stat -x, --core "$core" -e $events "$@" --replay "$streams/$stream" -o "$file"; times ) |
		awk 'NR == 2 { split($1, u, /[ms]/); print u[1] * 60 + u[2] }' >"$file.s"
}
for name in ${PROGRAMS:-awk bzip2 sqlite3 python3}; do
	make_stream "$name"
	timed "$name" "$work/full" "$@" --detail
	timed "$name" "$work/sampled" "$@" --sample="${SAMPLE:-auto}"
	echo "$name: $(cat "$work/full.s") s of CPU in full detail, $(cat "$work/sampled.s") s sampled"
	awk -F, 'NR == FNR { full[$3] = $1; next } {
		half = $4 != "" ? $4 : $3 ~ /^instr/ ? "exact" : "unknown"
		printf "  %-32s %14.0f %14.0f %+8.2f %%   +- %s\n", $3, full[$3], $1,
			full[$3] ? 100 * ($1 - full[$3]) / full[$3] : 0, half
	}' "$work/full" "$work/sampled"
done
