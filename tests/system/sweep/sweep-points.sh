#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Elimination by points: machines that are worse on the first parts of files of live points get no more of them, and
# what is left over has the counts of whole files.  Commands are recorded as live points if the plan says so.
. "$TOP/tests/lib.sh"
for name in sum text; do
	[ $name = sum ] && code='$x += $_ * 3 for 1 .. 36000' || code='$x .= chr(65 + $_ % 7) for 1 .. 16000'
	bare_stream s.$name /usr/bin/perl -e "$code" >out 2>err || cat err
	"$SOFTPMU" trace -q --live-points $name.points --sample=30K,500,1000 --replay s.$name
	echo "stream $name $name.points"
done >plan
cat >>plan <<-EOF
	core golden-cove
	set rob.size 512 48
	set l2.size 2M 4M
	eliminate points 95
EOF
content() { sqlite3 "$1/results.db" 'SELECT * FROM result ORDER BY program, machine, mode, event'; }
ran() {	# DIR WHAT: how many points on slow machines, or on all, in runs of which mode
	sqlite3 "$1/results.db" "SELECT count(*) FROM cost JOIN machine m ON m.id = machine JOIN setup s ON s.id = setup
		WHERE m.name LIKE '%$2%' AND s.mode LIKE '$3'"
}
check "a sweep runs" "$SOFTPMU" sweep -j 2 --dir whole plan
content whole >whole.rows
holds "all machines run three parts of each program" "$(ran whole '' '%parts 5/16') == 8"
same "slow ones run no whole file" "$(ran whole rob.size=48 default)" 0
holds "the others do" "$(ran whole rob.size=512 default) >= 2"
"$SOFTPMU" stat -j -e cycles --core golden-cove --set rob.size=512 --replay sum.points -o stat
same "with the counts of softpmu stat" "$(sed 's/.*"counter-value" : "\([0-9]*\)\..*/\1/' stat)" \
	"$(sqlite3 whole/results.db "SELECT CAST(value AS INTEGER) FROM result WHERE program_name='sum' AND \
	machine_name='golden-cove rob.size=512 l2.size=2M' AND event='cycles' AND mode='default'")"

# jobs, and a sweep that is killed, change nothing
killed_sweep killed plan
check "a sweep that was killed goes on" "$SOFTPMU" sweep -q -j 2 --dir killed plan
content killed | same_files "and ends in the same database" whole.rows /dev/stdin

"$SOFTPMU" sweep report --dir whole plan >report
has "the report says after what" 'after [36] sixteenths of each program: time +' report
has "and of the machine itself" 'rob.size=48 l2.size=2M .*%.*  eliminated' report
check "as JSON, too" "$SOFTPMU" sweep report -j --dir whole -o report.json plan
check "which is valid" jq -e '[.machines[] | select(.eliminated != null)] | length >= 2' report.json

# the first machine is the one that others are compared with: it is run whole, even if it is eliminated
sed 's/512 48/48 512/' plan >slow.plan
check "a plan whose first machine is slow" "$SOFTPMU" sweep -q -j 2 --dir whole slow.plan
"$SOFTPMU" sweep report --dir whole slow.plan >report
has "it is eliminated, and first" 'rob.size=48 l2.size=2M .*first  eliminated' report

# recorded as live points
cat >commands.plan <<-EOF
	live-points
	program true $PROGRAMS/chase 64 64 random 3000
	core golden-cove skylake
	eliminate points
EOF
check "commands are recorded as live points" "$SOFTPMU" sweep -q -j 2 commands.plan
check "such a file" "$SOFTPMU" stat -x, -e cycles -o out --replay commands.plan.sweep/streams/*
sed -i /live-points/d commands.plan
refuse "elimination by points of whole streams" "needs files of live points" "$SOFTPMU" sweep commands.plan
exit $failed
