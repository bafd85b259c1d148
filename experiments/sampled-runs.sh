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

record() {	# NAME PROGRAM...
	name=$1; shift
	[ -f "$streams/$name" ] || "$SOFTPMU" trace -q -o "$streams/$name" "$@" >/dev/null
}
make_stream() {
	cat "$TOP"/src/*/*.c "$TOP"/src/*/*/*.c | head -c 500000 >"$work/text"
	case $1 in
	awk) record awk awk 'BEGIN { for (i = 0; i < 12000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
		for (k in n) s += n[k]; print s }' ;;
	bzip2) record bzip2 bzip2 -c "$work/text" ;;
	sqlite3) record sqlite3 sqlite3 :memory: "CREATE TABLE t(a INTEGER, b TEXT);
		WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<20000)
		INSERT INTO t SELECT x*7919%20000, 'row '||x FROM n; CREATE INDEX i ON t(a);
		SELECT count(*), sum(length(b)) FROM t WHERE a BETWEEN 1000 AND 15000;
		SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;" ;;
	python3) record python3 /usr/bin/python3 -S -c "d = {}
for i in range(150000):
    k = str(i * 7919 % 10007)
    d[k] = d.get(k, 0) + len(k)
print(sum(sorted(d.values())))" ;;
	esac
}
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
