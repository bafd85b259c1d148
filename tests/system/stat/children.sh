#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The processes that a program starts count, as in perf, unless -i is given; what cannot be followed is said, and what
# the program leaves running does not hold up the end.
. "$TOP/tests/lib.sh"
prog="$PROGRAMS/work"
insns() {	# FILE: the count of instructions in the output of stat -x,
	awk -F, '$3 ~ /^instructions/ { sum += $1 } END { print sum + 0 }' "$1"
}
# count ARGUMENT...: the instructions that stat counts; what the program prints is in out
count() { "$SOFTPMU" stat -x, -e instructions -o counts "$@" >out 2>err; insns counts; }

one=$(count "$prog" 3000)
both=$(count sh -c "'$prog' 3000; '$prog' 3000; true")
shell=$(count -i sh -c "'$prog' 3000; '$prog' 3000; true")
check "two children count: $both instructions, of which $shell are the shell's and $one each child's" \
	[ $((both - shell)) -gt $((2 * one)) ] && [ $((both - shell)) -lt $((2 * one + one / 10)) ]
check "-i leaves the children out" [ "$shell" -lt "$one" ]
# Not a shell: it writes its parent's process ID as text, so its count depends on how many digits that has.
forks="$PROGRAMS/forks"
same "--no-inherit is -i" "$(count --no-inherit "$forks")" "$(count -i "$forks")"
same "--follow counts as the default does" "$(count --follow "$forks")" "$(count "$forks")"
same "a program without children counts the same with -i" "$(count -i "$prog" 3000)" "$one"
same "nothing is said about children that count" "$(cat err)" ""

# The other commands.
"$SOFTPMU" record -q -c 1009 -o d -- sh -c "'$prog' 3000; true" 2>err
"$SOFTPMU" report -i d -s comm >out 2>err; has "record samples children" ' work *$' out
"$SOFTPMU" record -q -i -c 1009 -o d -- sh -c "'$prog' 3000; true" 2>err
"$SOFTPMU" report -i d -s comm >out 2>err; hasnt "record -i does not" ' work *$' out
"$SOFTPMU" trace -q -o s sh -c "'$prog' 3000; '$prog' 3000; true"
"$SOFTPMU" stat -x, -e instructions --per-thread --replay s -o counts
same "a stream holds the children" "$(grep -c '^work-' counts)" 2
"$SOFTPMU" stat -x, -e instructions --replay s -o counts
near=$(($(insns counts) - both))
check "and counts as much: $near more" [ "${near#-}" -lt 2000 ]
"$SOFTPMU" trace -q -i -o s sh -c "'$prog' 3000; true"
"$SOFTPMU" stat -x, -e instructions --per-thread --replay s -o counts
same "a stream of trace -i does not" "$(grep -c '^work-' counts)" 0

# What is left running: the run ends with the program, and says so; --follow waits.
begin=$(date +%s)
count sh -c 'sleep 30 & echo $! >pid' >/dev/null
check "a run ends with the program" [ $(($(date +%s) - begin)) -lt 20 ]
has "and says what still ran" 'still ran when the program ended.*--follow' err
check "which runs on" kill "$(cat pid)"
count --follow sh -c 'sh -c "sleep 1; echo >over" & true' >/dev/null
check "--follow waits for it" [ -e over ]
same "and says nothing" "$(cat err)" ""

# What cannot be followed.
if unshare -Urpf true 2>/dev/null; then
	count timeout 60 unshare -Urpf sh -c 'true; echo hi' >/dev/null
	same "a program in a PID namespace of its own runs" "$(cat out)" hi
	has "and is said not to count" 'PID namespace.*untraced' err
fi
if command -v valgrind >/dev/null 2>&1; then
	count sh -c 'valgrind -q --tool=none echo hi; true' >/dev/null
	same "a program runs another one under Valgrind" "$(cat out)" hi
	has "which is said not to count" 'Valgrind tool.*untraced' err
fi
count sh -c "'$SOFTPMU' stat -x, -o inner true; true" >/dev/null
has "a program runs another one under softpmu" instructions inner
has "which is said not to count" 'softpmu itself.*untraced' err
count "$PROGRAMS/debugs" >/dev/null
same "a program debugs another one" "$(cat out)" "exec stopped, exit 3"
has "which is said not to count" 'debugs.*untraced' err
exit $failed
