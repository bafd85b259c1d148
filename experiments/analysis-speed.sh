#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU seconds (user and system, of all threads) of topdown, cost and tune --software on recorded streams, beside those
# of `stat` on the same stream, interleaved: medians of the rounds, and in brackets how many times stat's.  Each command
# is called as it is.  Then stat times the first 200 million instructions, so all of these streams; topdown times the
# first 15 million and samples the rest; cost and tune --software sample all of a stream of more than 20 million.
# "load" is the host's load average when a program's rounds ended.
#   analysis-speed.sh [OPTION...]      OPTION: of all runs, as --detail or --sample, which all four commands have:
#   then all of them time all, or sample from the start
#   ROUNDS=N (3).  PROGRAMS="bzip2 awk": only these.  SHORT=1: streams of 4 to 8 million instructions instead of about
#   100 million.  STREAMS=DIR: keeps the recorded streams there.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$TOP/build/softpmu}
rounds=${ROUNDS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
streams=${STREAMS:-$work}
mkdir -p "$streams"
text_bytes=285000 rows=8500 rows_to=7000 keys=21000
# shellcheck disable=SC2034
[ -z "${SHORT:-}" ] || text_bytes=12000 rows=400 rows_to=300 keys=100
. "$TOP/bench/recorded-inputs.sh"
commands="stat topdown cost tune"
timed() {	# COMMAND OPTION...: adds the CPU seconds to the command's file
	command=$1 name_of=$1; shift
	[ "$command" != tune ] || set -- --software "$@"
	/usr/bin/time -a -o "$work/$name_of.s" -f "%U %S" "$SOFTPMU" "$command" "$@" --replay "$streams/$p" \
		-o "$work/$name_of.out" 2>"$work/err" || [ -s "$work/$name_of.out" ]	# its status is the program's
}
median() {	# COMMAND
	awk '{ print $1 + $2 }' "$work/$1.s" | sort -g |
		awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'
}

lscpu | sed -n 's/^\(Model name\|CPU family\|CPU(s)\): */\1 /p' | paste -sd, | sed 's/,/, /g'
echo "$rounds rounds, medians, CPU seconds${*:+, $*}"
printf '%-8s %12s | %7s | %15s | %15s | %15s | load\n' program instructions stat topdown cost "tune --software"
for p in ${PROGRAMS:-bzip2 sqlite3 python3}; do
	make_stream "$p"
	rm -f "$work"/*.s
	for _ in $(seq "$rounds"); do
		for c in $commands; do
			timed "$c" "$@"
		done
	done
	printf '%-8s %12s | %7s |' "$p" "$(sed -n 's/^ *\([0-9,]*\) *instructions.*/\1/p' "$work/stat.out" | tr -d ,)" \
		"$(median stat)"
	for c in topdown cost tune; do
		printf ' %8s %-6s |' "$(median $c)" \
			"$(awk -v a="$(median $c)" -v b="$(median stat)" 'BEGIN { printf "(%.2f)", a / b }')"
	done
	printf ' %s\n' "$(cut -d' ' -f1 /proc/loadavg)"
done
