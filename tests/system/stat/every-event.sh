#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every event of every table that is marked as modelled counts something else than zero: in a run of a program of
# tests/events/programs.list, or in a record sequence of tests/events/records.tsv, whose counts test_every_event checks.
# What cannot is listed in tests/events/unreached.tsv with its reason; what is listed there counts zero.
# TABLES="netburst p6" in the environment: only these tables, and those of the uncore of their machines.
. "$TOP/tests/lib.sh"
runs_32 || skip "this host executes no 32-bit programs"
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

# The runs: MACHINE STREAM OPTION... for each machine and stream.  A machine has a table's name, or that of a core that
# carries the PMU of another (a Zen core).  tables/MACHINE has the machine's modelled events, and tables/MACHINE.all a
# line for each event: its table, its name, whether it is modelled, MACHINE, and the table that the two lists name.
# Events of a loop buffer count on the skylake core that stands for older ones only with a --set, as those of a Xeon
# MP's third-level cache do on the Pentium 4's cores, and those of elided locks on the core that stands for Ice Lake:
# tables/MACHINE.lsd and MACHINE.hle have them, too.

# machine NAME TABLE HOW: lists its events and prints its runs.
machine() {
	machine=$1 table=$2 how=$3
	tsv=$TOP/data/events/$table.tsv
	# shellcheck disable=SC2086	# two words
	"$SOFTPMU" list $how -j >list || { echo "FAILED the events of $machine are listed" >>trouble; return; }
	sed -n 's/^{"name": "\([^"]*\)", "\(p[a-z]*\)": .*"modelled": \([a-z]*\).*/\2 \1 \3/p' list >names
	awk '$3 == "true" { print $2 }' names >"tables/$machine"
	awk -F '\t' '/^HLE_|^TX_/ && $NF == "-" { print $1 }' "$tsv" |
		sort -u - "tables/$machine" >"tables/$machine.hle"
	cp "tables/$machine" "tables/$machine.lsd"
	[ "$machine" != "$table" ] ||
		awk -F '\t' '/^LSD|_3rdL_/ && $NF == "-" { print $1 }' "$tsv" >>"tables/$machine.lsd"
	awk -v t="$table" -v m="$machine" -v u="${uncore:-$machine}" 'FILENAME != "names" { yes[$1] = 1; next }
		{ print ($1 == "pmu" ? u : m), $2, $2 in yes ? "true" : $3, m, ($1 == "pmu" && u != m ? u : t) }' \
		"tables/$machine.lsd" "tables/$machine.hle" names >"tables/$machine.all"
	sort -u "tables/$machine.lsd" -o "tables/$machine.lsd"
	while read -r name where options command; do
		case ,$where, in
		*,all,* | *,"$machine",*) ;;
		*,64,*) case $core in pentium | pentium3 | willamette) continue ;; esac ;;
		*) continue ;;
		esac
		stream=$name list=$machine
		case $command in =*) stream=${command#=} ;; esac
		case $options in
		-) options= ;;
		*lsd.size* | *l3.size*) list=$machine.lsd ;;
		*hle=1*) list=$machine.hle ;;
		esac
		echo "$machine $list $name $stream $how $options" | tr ',' ' ' | sed 's/ *$//'
	done <programs
}
for table in ${TABLES:-$(cd "$TOP/data/events" && echo *.tsv)}; do
	table=${table%.tsv}
	case $table in uncore-*) continue ;; esac
	core=$(sed -n 's/^@core //p' "$TOP/data/events/$table.tsv") uncore=
	how="--pmu $table"
	if grep -q "^pmu = $table\$" "$TOP/data/cores/$core.conf"; then
		how="--core $core"
		uncore=$(sed -n 's/^uncore = /uncore-/p' "$TOP/data/cores/$core.conf")
	fi
	machine "$table" "$table" "$how"
	uncore=
	for conf in "$TOP"/data/cores/*.conf; do	# other cores that choose this PMU by themselves
		other=$(basename "$conf" .conf) from=$conf
		until grep -q '^pmu = ' "$from"; do
			from=$TOP/data/cores/$(sed -n 's/^include //p' "$from").conf
		done
		if [ "$other" != "$core" ] && grep -q "^pmu = $table\$" "$from"; then
			machine "$other" "$table" "--core $other"
		fi
	done
done >runs
# A machine's runs come one after the other, and each counts only what counted zero so far: most of the time goes into
# counting hundreds of events at once.  What is in records.tsv needs no program.
cat >count.sh <<'END'
grep "^$1 " runs | while read -r machine list name stream options; do
	cat "counts/$machine".* 2>/dev/null | awk -F, '$1 > 0 { sub(/:u$/, "", $3); print $3 }' >"$machine.done"
	[ ! -s "$machine.done" ] || cat recorded >>"$machine.done"
	grep -vxF -f "$machine.done" "tables/$list" >"$machine.wanted" || continue
	# shellcheck disable=SC2086	# words
	"$SOFTPMU" stat --replay "streams/$stream" $options -x, -o "counts/$machine.$name" \
		-e "$(paste -sd, "$machine.wanted")" >/dev/null 2>"$machine.$name.err" </dev/null ||
		{ echo "FAILED the events of $machine are counted in $name"; head -n 5 "$machine.$name.err"; }
done
END
grep -v '^#' "$lists/records.tsv" | cut -f2 >recorded
cut -d' ' -f1 runs | uniq | xargs -P 2 -L 1 sh count.sh | tee -a trouble
[ -s trouble ] && failed=1

# counted: MACHINE EVENT of each count above zero; in which program is of no interest.
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
