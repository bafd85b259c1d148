#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A sweep on this host: interrupted sweeps, killed workers and full disks end in the same database as one that nothing
# disturbed; nothing runs twice; a job list for GNU parallel and for make gives it, too.
. "$TOP/tests/lib.sh"
bare_stream true.trace /bin/true
bare_stream echo.trace /bin/echo a >/dev/null
bare_stream basename.trace /usr/bin/basename /a/b >/dev/null
set -- true.trace echo.trace basename.trace
for f in "$@"; do echo "stream ${f%.trace} $f"; done >plan
cat >>plan <<-EOF
	core golden-cove skylake
	set rob.size 224 128
	events branch-misses
	energy
	detail
EOF
points=$(($# * 4)) programs=$#

# content DIR: what the database of a sweep says, in an order of its own.
content() { sqlite3 "$1/results.db" 'SELECT * FROM result ORDER BY program, machine, event'; }

check "a sweep runs" "$SOFTPMU" sweep -j 2 --dir whole plan
content whole >whole.rows
same "it has all points, each with four events and the energy" "$(wc -l <whole.rows)" $((points * 5))
same "no task and no result is left over" "$(ls whole/tasks whole/results | grep -c '^[^w]')" 0

# the same counts as stat's
"$SOFTPMU" stat -j --detail -e cycles --core skylake --set rob.size=128 --replay "$1" -o stat.json
same "counts are those of softpmu stat" "$(sed 's/.*"counter-value" : "\([0-9]*\)\..*/\1/' stat.json)" \
	"$(sqlite3 whole/results.db "SELECT CAST(value AS INTEGER) FROM result WHERE program_name='${1%.trace}' AND \
	machine_name='skylake rob.size=128' AND event='cycles'")"

printf 'stream a %s\ncore golden-cove\nset l1d.size 32K\n' "$1" >odd.plan
refuse "a machine that cannot be made" "odd.plan, machine 'golden-cove l1d.size=32K': .*power of two" \
	"$SOFTPMU" sweep odd.plan

# again: nothing is run
sqlite3 whole/results.db 'SELECT sum(seconds) FROM cost' >before
check "the same sweep again" "$SOFTPMU" sweep --dir whole plan
sqlite3 whole/results.db 'SELECT sum(seconds) FROM cost' | same_files "runs nothing" before /dev/stdin
sed 's/224 128/224 128 64/' plan >more.plan
same "a plan that grows needs what is new" "$("$SOFTPMU" sweep -n --dir whole more.plan)" \
	"$programs programs, 6 machines; $((programs * 2)) points are missing now"

# a controller that is killed in mid-sweep, its worker with it
killed_sweep killed plan
check "a sweep that was killed goes on" "$SOFTPMU" sweep -q -j 2 --dir killed plan
content killed | same_files "and ends in the same database" whole.rows /dev/stdin

# interrupted by Ctrl-C
"$SOFTPMU" sweep -j 1 --dir int plan 2>int.err &
pid=$!
some() { [ "$(ls int/results 2>/dev/null | wc -l)" -ge 1 ] || gone "$pid"; }
wait_until some
kill -TERM $pid
wait $pid
holds "an interrupted sweep fails" "$? != 0"
has "and says how it goes on" 'interrupted; the same command goes on' int.err
check "it goes on" "$SOFTPMU" sweep -q -j 2 --dir int plan
content int | same_files "and ends in the same database" whole.rows /dev/stdin

# a worker's run is killed each time: the point is done again
"$SOFTPMU" sweep -j 1 --dir worker plan 2>worker.err &
pid=$!
run_of() {
	for w in $(cat /proc/"$pid"/task/*/children 2>/dev/null); do cat /proc/"$w"/task/*/children 2>/dev/null; done
}
victim() { v=$(run_of); [ -n "$v" ] || gone "$pid"; }
wait_until victim
# shellcheck disable=SC2086	# one process, with a blank behind it
kill -KILL $v 2>/dev/null
wait $pid
same "a sweep of which a run was killed ends well" $? 0
content worker | same_files "and ends in the same database" whole.rows /dev/stdin

# files may not grow at all: no result can be written
(trap "" XFSZ; ulimit -f 0; "$SOFTPMU" sweep -q -j 1 --dir full plan) >full.out 2>&1
holds "a sweep without room fails" "$? != 0"
check "with room it goes on" "$SOFTPMU" sweep -q -j 2 --dir full plan
content full | same_files "and ends in the same database" whole.rows /dev/stdin

# a really full disk, where a file system can be mounted
if mkdir -p disk && mount -t tmpfs -o size=64k none disk 2>/dev/null; then
	"$SOFTPMU" sweep -j 1 --dir disk/s plan >disk.out 2>&1
	holds "a sweep on a small disk fails" "$? != 0"
	has "and says why" 'full\|No space left\|written' disk.out
	same "what the database has is whole" "$(sqlite3 disk/s/results.db 'PRAGMA integrity_check' 2>&1)" ok
	mount -o remount,size=4m disk
	check "with room it goes on" "$SOFTPMU" sweep -q -j 2 --dir disk/s plan
	content disk/s | same_files "and ends in the same database" whole.rows /dev/stdin
	umount disk
fi

# two at once
"$SOFTPMU" sweep -q -j 1 --dir two plan &
pid=$!
wait_until test -e two/results.db
if ! gone "$pid"; then
	refuse "a second sweep in the same folder" 'another softpmu sweep works on it' "$SOFTPMU" sweep --dir two plan
	kill -STOP $pid
	check "a report meanwhile" "$SOFTPMU" sweep report --dir two plan -o two.txt
	kill -CONT $pid
fi
wait $pid

# job lists
"$SOFTPMU" sweep --list --dir lines plan >lines.sh
same "the list has a line for each point" "$(wc -l <lines.sh)" "$points"
check "the lines run" sh -e lines.sh
same "then nothing is missing" "$("$SOFTPMU" sweep --list --dir lines plan 2>/dev/null | wc -l)" 0
content lines | same_files "and the database is the same" whole.rows /dev/stdin
"$SOFTPMU" sweep --list=make --dir made plan >made.mk
check "the makefile runs" make -s -j 2 -f made.mk
check "and is gathered" "$SOFTPMU" sweep -q --dir made plan
content made | same_files "and the database is the same" whole.rows /dev/stdin
if command -v parallel >/dev/null 2>&1; then
	"$SOFTPMU" sweep --list --dir parallel plan | parallel -j 2 >/dev/null 2>&1
	"$SOFTPMU" sweep -q --dir parallel plan
	content parallel | same_files "so it is by GNU parallel" whole.rows /dev/stdin
fi

# commands are recorded once
printf 'program fails false\ncore skylake\n' >fails.plan
refuse "a command that fails" 'could not be recorded: false: ended with status 1' "$SOFTPMU" sweep -q fails.plan
printf "program echo echo 'a  b'\ncore skylake\n" >commands.plan
check "a command is recorded" "$SOFTPMU" sweep -q commands.plan
stamp=$(stat -c %y.%i commands.plan.sweep/streams/*)
echo 'machine other core2' >>commands.plan
check "another machine is added" "$SOFTPMU" sweep -q commands.plan
same "the command is not recorded again" "$(stat -c %y.%i commands.plan.sweep/streams/*)" "$stamp"

# points that fail are known, and do not stop the others
head -c 3000 "$1" >cut.trace
cat >bad.plan <<-EOF
	stream good $1
	stream cut cut.trace
	core skylake
EOF
"$SOFTPMU" sweep -q --dir bad bad.plan >bad.err 2>&1
same "a sweep with a failed point fails" $? 1
has "it names the point and the reason" '1 points failed, the first one: cut on skylake' bad.err
"$SOFTPMU" sweep report --dir bad bad.plan >bad.txt
has "so does the report" 'cut on skylake: ' bad.txt
exit $failed
