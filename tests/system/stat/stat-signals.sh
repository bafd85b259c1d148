#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ctrl-C and SIGTERM during softpmu stat: the counts are printed, however the program ends.
. "$TOP/tests/lib.sh"
pid=
trap 'rm -rf "$work"; [ -z "$pid" ] || kill -s KILL -- -$pid 2>/dev/null' EXIT
# A shell starts background jobs with SIGINT ignored; env --default-signal undoes that. setsid gives softpmu and the
# program a process group of their own, like the foreground job of a terminal.
start() {
	rm -f out counts	# else wait_until could see the last program's "ready" before the shell empties out
	setsid env --default-signal=INT "$SOFTPMU" stat -x, -e instructions -o counts -- "$@" >out 2>err </dev/null &
	pid=$!
	wait_until under_way
	sleep 0.5
}
# shellcheck disable=SC2086
under_way() { said ready out || gone $pid; }
finish() {	# NAME STATUS
	wait $pid; code=$?
	pid=
	n=$(awk -F, '/instructions/ { print $1 }' counts)
	if [ "$code" = "$2" ] && [ "${n:-0}" -gt 1000 ]; then ok "$1"
	else bad "$1: exit $code, expected $2; counts '$(cat counts)'" err; fi
}
loop='echo ready; n=0; while [ $n -lt 100000000 ]; do n=$((n + 1)); done'
start sh -c "$loop"
kill -s INT -- -$pid
finish "Ctrl-C ends a program without a SIGINT handler" 130
has "and a line says that the counts are not those of a whole run" 'sh: Interrupt\. What was measured ends there$' err
start sh -c "trap 'exit 3' INT; $loop"
kill -s INT -- -$pid
finish "Ctrl-C lets a program with a SIGINT handler end by itself" 3
hasnt "which is a whole run" 'ends there' err
start sh -c "trap 'exit 4' TERM; $loop"
kill -s TERM $pid
finish "SIGTERM to softpmu alone is passed on" 4
start sh -c "trap '' INT; echo ready; sleep 6; exit 6"
kill -s INT -- -$pid; sleep 0.5; kill -s INT -- -$pid
finish "a second Ctrl-C stops the measurement, not the program" 6
has "and that is said" '^softpmu.*interrupted: what was measured ends there$' err
exit $failed
