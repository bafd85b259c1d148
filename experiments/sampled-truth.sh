#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How often the 95 % interval of a sampled run holds the count in full detail: 14 programs, 10 events each.
#   sampled-truth.sh [CORE [OPTION...]]     OPTION: of both runs, as --no-wrong-path
#   STREAMS=DIR: keeps the recorded streams there.  PROGRAMS="awk bzip2": only these; PROGRAMS=others: twelve others;
#     third: fourteen of a third set.
#   EVENTS=E,...: these events behind cycles.  SAMPLE=N,U,W: these windows.
# Needs build/tests/programs (make programs), and some ten minutes.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
core=${1:-golden-cove}
[ $# = 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
events=cycles,uops_issued.any,idq.dsb_uops,idq.mite_uops,mem_load_retired.l1_miss,mem_load_retired.l2_miss
events=$events,int_misc.recovery_cycles,exe_activity.bound_on_loads,topdown.backend_bound_slots,uops_dispatched.port_0
[ -z "${EVENTS:-}" ] || events=cycles,$EVENTS
case ${PROGRAMS:-} in
others) PROGRAMS="grep sed zstd jq tclsh bc openssl as objdump factor git readelf" ;;
third) PROGRAMS="m4 mawk sha256sum gcc xmllint zip unzip lz4 ld nm bash tsort ctags json" ;;
esac
text_bytes=200000 rows=6000 rows_to=5000 keys=20000
. "$TOP/bench/recorded-inputs.sh"
for name in ${PROGRAMS:-awk sqlite3 python3 bzip2 xz gzip sort perl cc1 diff chase stream phases threads}; do
	make_stream "$name"
	for how in detail sample="${SAMPLE:-auto}"; do
		"$SOFTPMU" stat -x, --core "$core" -e "$events" "$@" --"$how" --replay "$streams/$name" \
			-o "$work/${how%%=*}" 2>/dev/null || [ -s "$work/${how%%=*}" ]	# its status is the program's
	done
	awk -F, -v p="$name" 'NR == FNR { full[$3] = $1; next } {
		half = $4	# a run that is too short to be sampled has the run time here
		if (!sub(/%/, "", half) && half != "") half = 0
		print p, $3, full[$3], $1, half == "" ? "unknown" : half
	}' "$work/detail" "$work/sample" >>"$work/pairs"
done
awk '
function size(x) { return x < 0 ? -x : x }
{
	error = $3 ? 100 * ($4 - $3) / $3 : 0
	if (!($1 in seen)) { seen[$1] = 1; order[++programs] = $1 }
	if ($2 == "cycles:u") {
		cycles[$1] = error; interval[$1] = $5
		sum += error; total += size(error); if (size(error) > most) most = size(error)
		squares += error * error
	}
	if ($5 == "unknown") { unknown[$1]++; unknowns++; next }
	pairs++; all[$1]++
	# the interval is a share of the estimate
	if (size($4 - $3) <= $4 * $5 / 100 + 0.5) { held++; good[$1]++ }
	else
		out[++outside] = sprintf("  %-10s %-34s %14.0f %14.0f %+8.2f %%  +- %s %%", $1, $2, $3, $4,
			error, $5)
}
END {
	print "program           error of cycles       95 %   intervals hold  no interval"
	for (i = 1; i <= programs; i++) {
		p = order[i]
		printf "%-10s %+20.2f %% %8s %% %10d of %2d %12d\n", p, cycles[p], interval[p], good[p], all[p],
			unknown[p]
	}
	print "Outside of their intervals:"
	for (i = 1; i <= outside; i++) print out[i]
	printf "%d of %d intervals hold (%.1f %%); %d counts have none\n", held, pairs, 100 * held / pairs, unknowns
	printf "cycles: mean error %.2f %%, largest %.2f %%; bias %+.2f %% +- %.2f %% (two standard errors)\n",
		total / programs, most, sum / programs,
		(programs > 1) ? 2 * sqrt((squares - sum * sum / programs) / (programs - 1) / programs) : 0
}' "$work/pairs"
