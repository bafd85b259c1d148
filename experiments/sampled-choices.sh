#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Do cost and tune make the same choice with --sample as in full detail, and how much less CPU time do they take?
# cost: the three events with the largest share of the cycles, by pushout; tune: its choice.
# "the same": identical.  "the same within the intervals": another choice, but the sampled run says that it does not
# tell the two apart: of cost, by a tie of the two events at each place that differs; of tune, by the choice of full
# detail among its ties.
#   STREAMS=DIR sampled-choices.sh [OPTION...]    OPTION: of all runs, as --core skylake.  DIR: of sampled-truth.sh
#   PROGRAMS="sqlite3 bzip2": only these.  COMMANDS=cost: only this.  KEEP=DIR: what was printed stays there, and what
#   is there already is not measured again.
# tune in full detail takes minutes for each program.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${KEEP:-$work}
SOFTPMU_STORE=$work/store
export SOFTPMU_STORE
measure() {	# COMMAND NAME HOW OPTION...: prints to a file, and its time to another one
	command=$1 name=$2 to=$keep/$1.$2.$3
	shift 3
	[ ! -s "$to" ] || return 0
	[ "$command" = cost ] || set -- --fresh --state "$work/state" "$@"
	/usr/bin/time -f "%U %S" -o "$to.time" "$SOFTPMU" "$command" "$@" -o "$to.part" \
		--replay "${STREAMS:?the folder of streams}/$name"
	mv "$to.part" "$to"
}
choice() {	# COMMAND FILE
	if [ "$1" = tune ]; then
		sed -n 's/^ Choice: //p' "$2"
	else	# the second column of shares
		awk -F'|' '/^ event/ { on = 1; next } /^$/ && on { exit } on && NF > 3 {
			split($1, name, " "); split($3, share, " "); print share[2] + 0, name[1] }' "$2" |
			sort -k1,1nr | awk 'NR <= 3 { printf "%s%s", (NR > 1 ? ", " : ""), $2 }'
	fi
}
tied() {	# COMMAND FILE FULL SAMPLED
	if [ "$1" = tune ]; then
		[ -n "$3" ] && sed -n '/^   Ties:/,/^ [0-9]/s/^     .*  *//p' "$2" | grep -qxF -- "${3%%; *}"
	else
		awk -v a="$3" -v b="$4" '/^ Ties:/ { on = 1; next } /^$/ { on = 0 }
			on { tie[$1 " " $2] = tie[$2 " " $1] = 1 }
			END { n = split(a, x, ", "); split(b, y, ", ")
				for (i = 1; i <= n; i++) bad += x[i] != y[i] && !((x[i] " " y[i]) in tie)
				exit bad > 0 }' "$2"
	fi
}
for command in ${COMMANDS:-cost tune}; do
	for name in ${PROGRAMS:-sqlite3 bzip2 perl cc1}; do
		measure "$command" "$name" full "$@"
		measure "$command" "$name" sampled --sample "$@"
		full=$(choice "$command" "$keep/$command.$name.full")
		sampled=$(choice "$command" "$keep/$command.$name.sampled")
		how="another choice, "
		[ "$full" = "$sampled" ] && how="the same, " ||
			{ tied "$command" "$keep/$command.$name.sampled" "$full" "$sampled" &&
				how="the same within the intervals, "; } || :
		awk -v c="$command" -v p="$name" -v a="$full" -v b="$sampled" -v h="$how" '
			{ t[NR] = $(NF - 1) + $NF } END {
			printf "%s %-8s %6.1f s, sampled %5.1f s (%.1f times faster): %s%s\n", c, p, t[1], t[2],
				t[1] / t[2], h, (a == b ? a : a "\n  sampled: " b) }' \
			"$keep/$command.$name.full.time" "$keep/$command.$name.sampled.time"
	done
done
