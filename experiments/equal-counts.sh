#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Do two builds of softpmu count the same?  equal-counts.sh OLD NEW [CORE...]: counts every modelled event of every
# core (or of the COREs named) on saved streams, with both, and compares the outputs byte for byte.  It does so with
# and without the wrong path, and it compares the samples of a profile (softpmu record), too.  The streams are recorded
# once by NEW (with --assists, which some events need) and kept in $STREAMS (default build/streams): a 64-bit program's
# for the newer cores, a 32-bit one's for those that run no 64-bit code.  Prints a table: core, stream, instructions,
# cycles, events compared, how many of them are not zero; and whether the counts with the wrong path, those without it,
# and the samples are equal.  Ends with 1 if anything differs.
set -u
old=${1:?OLD} new=${2:?NEW}; shift 2
cd "$(dirname "$0")/.." || exit 1
streams=${STREAMS:-build/streams} programs=${PROGRAMS:-build/tests/programs}
mkdir -p "$streams"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
record() { # NAME COMMAND...
	name=$1; shift
	[ -s "$streams/$name" ] || "$new" trace -q --assists -o "$streams/$name" -- "$@" >/dev/null 2>&1 </dev/null || {
		rm -f "$streams/$name"; echo "no stream $name"; exit 1; }
}
seq 1 3000 >"$streams/numbers"
record bzip2 bzip2 -kc "$streams/numbers"
record awk awk 'BEGIN { for (i = 0; i < 3000; i++) { s += i % 7; a[i % 100] = s } print s }'
record threads "$programs/threads" workers 20000
record true32 "$programs/work32"

# Each prints what one program measures of $path on $core, for comparison.
counts() { # PROGRAM OPTION...
	program=$1; shift
	"$program" stat --help | grep -q -- '--detail' && set -- --detail "$@"
	"$program" stat --replay "$path" --core "$core" "$@" -x, -o "$work/out" -e "instructions,cycles,$list" \
		>/dev/null 2>"$work/err" || cat "$work/err"
	cat "$work/out"
}
samples() { # PROGRAM: what perf reads of its profile; without perf, nothing
	rm -f "$work/data"
	"$1" record -q --replay "$path" --core "$core" -c 1009 -o "$work/data" >/dev/null 2>"$work/err"
	[ -s "$work/data" ] && perf script -F comm,tid,time,event,ip -i "$work/data" 2>/dev/null
}
# same WHAT OPTION...: says "yes", "NO", or "-" where the core has no such thing.
same() {
	what=$1; shift
	"$what" "$old" "$@" >"$work/old"
	"$what" "$new" "$@" >"$work/new"
	if [ "$what" = samples ] && ! [ -s "$work/old" ]; then
		echo -
	elif [ -s "$work/old" ] && cmp -s "$work/old" "$work/new"; then
		echo yes
	else
		echo NO
		diff "$work/old" "$work/new" | head -n 5 >&2
	fi
}
names() { "$1" list --core "$core" -j | sed -n 's/^{"name": "\([^"]*\)".*"modelled": true.*/\1/p'; }
printf '%-18s %-8s %9s %9s %6s %5s  %-6s %-13s %s\n' core stream instrs cycles events 'not 0' counts \
	no-wrong-path samples
status=0
# shellcheck disable=SC2048
for core in ${*:-$("$old" cores | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p')}; do
	names "$new" >"$work/names"	# only names that both list can be compared
	list=$(names "$old" | grep -xF -f "$work/names" | paste -sd, -)
	for path in "$streams"/*; do
		stream=${path##*/}
		case $core:$stream in
		*:numbers) continue ;;
		pentium*:true32 | willamette:true32 | prescott:true32 | core2:true32 | skylake:true32) ;;
		pentium:* | pentium3:* | willamette:* | *:true32) continue ;;
		esac
		smt=; [ "$stream:$core" = threads:skylake ] && smt=--smt	# two threads of a core, once
		without=$(same counts --no-wrong-path $smt)
		sampled=$(same samples)
		with=$(same counts $smt)
		printf '%-18s %-8s %9s %9s %6s %5s  %-6s %-13s %s\n' "$core" "$stream" \
			"$(grep -m1 ,instructions "$work/old" | cut -d, -f1)" \
			"$(grep -m1 ,cycles "$work/old" | cut -d, -f1)" \
			"$(wc -l <"$work/old")" "$(grep -vc '^0,' "$work/old")" "$with" "$without" "$sampled"
		case $with$without$sampled in *NO*) status=1 ;; esac
	done
done
exit $status
