#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# warming.sh SOFTPMU STREAM GAP DETAIL MEASURED [options of stat]: what warming does to counts.  Counts events of
# MEASURED instructions behind GAP + DETAIL others of a saved stream: once with all of them in detail, and once with
# the first GAP only warmed.  Prints both, and by how much the second differs.
set -e
softpmu=$1 stream=$2 gap=$3 detail=$4 measured=$5
shift 5
events=cycles,MEM_LOAD_RETIRED.L1_MISS,MEM_LOAD_RETIRED.L2_MISS,MEM_LOAD_RETIRED.L3_MISS,L2_RQSTS.MISS
events=$events,BR_MISP_RETIRED.ALL_BRANCHES,DTLB_LOAD_MISSES.STLB_HIT,DTLB_LOAD_MISSES.WALK_COMPLETED
events=$events,DTLB_STORE_MISSES.WALK_COMPLETED,L2_RQSTS.CODE_RD_MISS,IDQ.MITE_UOPS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
count()
{
	out=$1
	shift
	"$softpmu" stat --core golden-cove --replay "$stream" -x, -e "$events" "$@" 2>&1 >/dev/null |
		awk -F, '!/^#/ { print $3, $1 }' > "$dir/$out"
}
count detail-1 "$@" --stop $((gap + detail))
count detail-2 "$@" --stop $((gap + detail + measured))
count gap-1 "$@" --start "$gap" --stop "$detail"
count gap-2 "$@" --start "$gap" --stop $((detail + measured))
paste -d' ' "$dir/detail-1" "$dir/detail-2" "$dir/gap-1" "$dir/gap-2" | awk '{
	all = $4 - $2; warm = $8 - $6
	printf "%-36s %12d %12d %9s\n", $1, all, warm, all ? sprintf("%+.2f %%", 100 * (warm - all) / all) : "-"
}'
