#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every event of every table that is marked as modelled counts something else than zero: in a run of a program of
# tests/events/programs.list, or in a record sequence of tests/events/records.tsv, whose counts test_every_event checks.
# What cannot is listed in tests/events/unreached.tsv with its reason; what is listed there counts zero.
# TABLES="netburst p6" in the environment: only these tables, and those of the uncore of their machines.
. "$TOP/tests/lib.sh"
lists=$TOP/tests/events
mkdir streams tables counts

# Traces each program once, two at a time.
grep -v '^#' "$lists/programs.list" >programs
awk '$4 !~ /^=/ { $2 = $3 = ""; print }' programs >traced
cat >trace.sh <<'END'
name=$1; shift
PATH="$PROGRAMS:$PATH" "$SOFTPMU" trace -q --assists -o "streams/$name" -- "$@" >"$name.out" 2>&1 </dev/null ||
	{ echo "FAILED $name is traced"; head -n 5 "$name.out"; }
END
xargs -P 2 -L 1 sh trace.sh <traced | tee trouble

# The runs: TABLE STREAM OPTION... for each machine and stream.  tables/TABLE has the machine's modelled events, and
# tables/TABLE.all a line for each event: its table, its name, whether it is modelled, and TABLE.
for table in ${TABLES:-$(cd "$TOP/data/events" && echo *.tsv)}; do
	table=${table%.tsv}
	case $table in uncore-*) continue ;; esac
	core=$(sed -n 's/^@core //p' "$TOP/data/events/$table.tsv") uncore=
	how="--pmu $table"
	if grep -q "^pmu = $table\$" "$TOP/data/cores/$core.conf"; then
		how="--core $core"
		uncore=$(sed -n 's/^uncore = /uncore-/p' "$TOP/data/cores/$core.conf")
	fi
	# shellcheck disable=SC2086	# two words
	"$SOFTPMU" list $how -j >list || { echo "FAILED the events of $table are listed" >>trouble; continue; }
	sed -n 's/^{"name": "\([^"]*\)", "\(p[a-z]*\)": .*"modelled": \([a-z]*\).*/\2 \1 \3/p' list |
		awk -v t="$table" -v u="$uncore" '{ print ($1 == "pmu" ? u : t), $2, $3, t }' >"tables/$table.all"
	awk '$3 == "true" { print $2 }' "tables/$table.all" >"tables/$table"
	while read -r name where options command; do
		case ,$where, in
		*,all,* | *,"$table",*) ;;
		*,64,*) case $core in pentium | pentium3 | willamette) continue ;; esac ;;
		*) continue ;;
		esac
		stream=$name
		case $command in =*) stream=${command#=} ;; esac
		[ "$options" = - ] && options=
		echo "$table $name $stream $how $options" | tr ',' ' ' | sed 's/ *$//'
	done <programs
done >runs
cat >count.sh <<'END'
table=$1 name=$2 stream=$3; shift 3
"$SOFTPMU" stat --replay "streams/$stream" "$@" -x, -o "counts/$table.$name" -e "$(paste -sd, "tables/$table")" \
	>/dev/null 2>"$table.$name.err" </dev/null ||
	{ echo "FAILED the events of $table are counted in $name"; head -n 5 "$table.$name.err"; }
END
xargs -P 2 -L 1 sh count.sh <runs | tee -a trouble
[ -s trouble ] && failed=1

# counted: TABLE EVENT of each count above zero; in which program is of no interest.
for path in tables/*.all; do
	table=${path#tables/} table=${table%.all}
	cat "counts/$table".* | awk -F, -v t="$table" '$1 > 0 { sub(/:u$/, "", $3); print t, $3 }'
done | sort -u >counted
cat tables/*.all >all
awk -v only="${TABLES:-}" -F '[\t ]' -f "$lists/judge.awk" \
	all counted FS='\t' "$lists/records.tsv" "$lists/unreached.tsv" >result
cat result
if grep -q '^FAILED' result; then failed=1
else ok "every modelled event counts in a program or a record sequence, or is listed with the reason why not"; fi
exit $failed
