#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs behave under the tracer as they do alone, and the stream is valid: trace_count checks each record, and with
# -x replays all register writes against every register file in the stream.
. "$TOP/tests/lib.sh"
T="$PROGRAMS/trace_count" failed=0
value() { sed -n "s/^$1 //p" "$work/out"; }
# as_alone OPTIONS PROGRAM ARGUMENT...: output and exit status are the same with and without the tracer
as_alone() {
	options=$1; shift
	"$@" >"$work/alone" 2>"$work/alone2" </dev/null
	want=$?
	# shellcheck disable=SC2086
	timeout 120 "$T" $options -o "$work/out" "$@" >"$work/traced" 2>"$work/traced2" </dev/null
	got=$?
	[ $got = $want ] || bad "$*: exit $got, alone $want; $(grep -E 'BAD|LOG' "$work/out" | head -n 3)"
	cmp -s "$work/alone" "$work/traced" || bad "$*: another output"
	cmp -s "$work/alone2" "$work/traced2" || bad "$*: another standard error: $(head -n 2 "$work/traced2")"
}
# value_is WORD OPERATOR NUMBER PROGRAM: compares a value in the output of trace_count
value_is() { test "$(value "$1")" "$2" "$3" || bad "$4: $1 is $(value "$1"), not $2 $3"; }

as_alone -x "$PROGRAMS/threads" workers 200000;	value_is threads = 3 workers
as_alone -x "$PROGRAMS/threads" pingpong 1000;	value_is switches -ge 1000 pingpong
as_alone -x "$PROGRAMS/threads" spin 300;		value_is exits = 1 spin
as_alone -x "$PROGRAMS/threads" spinpause 300;	value_is exits = 1 spinpause
as_alone -x "$PROGRAMS/throws";			value_is cuts = 0 throws
as_alone -x "$PROGRAMS/trace_dl";			value_is discards -ge 5 dlclose
as_alone -x "$PROGRAMS/jit";			value_is discards -ge 1 jit
as_alone -x "$PROGRAMS/trace_self" alias;		value_is discards -ge 1 "code written through another mapping"
as_alone -x "$PROGRAMS/trace_self" private
as_alone -x "$PROGRAMS/trace_signals" faults;	value_is cuts -ge 600 faults; value_is signals -ge 700 faults
as_alone -x "$PROGRAMS/trace_signals" alarms;	value_is signals -ge 50 alarms
as_alone -x "$PROGRAMS/client" alone;		value_is exits = 1 client
as_alone -x "$PROGRAMS/timestamps"
if runs_32; then
	as_alone -x "$PROGRAMS/trace_signals32" faults;	value_is cuts -ge 600 faults32
	as_alone -x "$PROGRAMS/trace_signals32" alarms;	value_is signals -ge 50 alarms32
	as_alone -x "$PROGRAMS/work32" 2
	as_alone -x "$PROGRAMS/client32" alone
fi
as_alone "" "$PROGRAMS/dies" exit7
# as_alone cannot compare programs that a signal kills: the shell prints a line of its own about them, and trace_count
# exits with 128 + signal.
for how in segv abort; do
	timeout 60 "$T" -d -o "$work/out" "$PROGRAMS/dies" $how >"$work/traced"
	[ "$(cat "$work/traced")" = working ] || bad "dies $how: another output"
	[ $how = segv ] && sig=11 || sig=6
	# shellcheck disable=SC2086
	[ "$(value signal)" = $sig ] || bad "dies $how: not by its signal"
	grep -q " SIGNAL $sig .*handler=0 " "$work/out" || bad "dies $how: no ST_SIGNAL"
	grep -q " EXIT code=0 signo=$sig" "$work/out" || bad "dies $how: no ST_EXIT"
	grep -q LOG "$work/out" && bad "dies $how: the tracer talks"
done

# More threads than the tracer has room for (499 here): creating the next one fails with the kernel's error.
timeout 60 "$T" -o "$work/out" "$PROGRAMS/trace_self" crowd 600 >"$work/traced"
[ "$?,$(cat "$work/traced")" = "3,498 threads" ] || bad "too many threads: $(cat "$work/traced")"
[ "$("$SOFTPMU" stat --cpus 1 --no-wrong-path --core pentium -o /dev/null "$PROGRAMS/trace_self" crowd 600)" = all ] ||
	bad "600 threads at once"

# The program's name, and programs that start themselves by their own name.
as_alone "" "$PROGRAMS/trace_self" name
as_alone "" "$PROGRAMS/trace_self" exec
as_alone "-f -x" "$PROGRAMS/trace_self" clone;	value_is rings = 2 clone
as_alone "-f -x" "$PROGRAMS/trace_self" exec;	value_is rings = 6 exec
printf '#!%s name\n' "$PROGRAMS/trace_self" >"$work/by_interpreter"
chmod +x "$work/by_interpreter"
as_alone "" "$work/by_interpreter"

# Children that are not followed are not traced; with -f each child has a ring, also after exec.
as_alone "" "$PROGRAMS/forks";			value_is rings = 1 forks; value_is forks = 2 forks
as_alone "-f -x" "$PROGRAMS/forks";			value_is rings = 4 forks; value_is exits = 3 forks
as_alone "" "$PROGRAMS/trace_spawn";		value_is rings = 1 spawn; value_is forks = 4 spawn
as_alone "-f -x" "$PROGRAMS/trace_spawn";		value_is rings -ge 9 spawn
cat >"$work/script" <<EOF
#!/bin/sh
echo one | cat
x=\$(echo two); echo \$x
exec "$PROGRAMS/$(runs_32 && echo work32 || echo work)" 1
EOF
chmod +x "$work/script"
as_alone "" "$work/script"
as_alone "-f -x" "$work/script"
timeout 60 "$T" -f -d -o "$work/out" "$work/script" >/dev/null
! runs_32 || grep -q 'PROCESS .*word=4 .*exec=1 .*path=.*work32' "$work/out" ||
	bad "exec of a 32-bit program from a 64-bit one is not traced"

# Mappings have the file's path, offset and build-id; stack and heap are marked.
timeout 60 "$T" -d -o "$work/out" "$PROGRAMS/trace_dl" >/dev/null
id=$(readelf -n "$PROGRAMS/trace_dl" | sed -n 's/.*Build ID: //p')
grep -q "MAP .* r-x off=0x1000 .* id=$id path=$PROGRAMS/trace_dl" "$work/out" || bad "mapping of the program's code"
grep -q 'MAP .* stack ' "$work/out" || bad "no stack"
grep -q 'MAP .* heap ' "$work/out" || bad "no heap"
grep -q 'UNMAP' "$work/out" || bad "no unmapping by dlclose"
grep -q 'COMM trace_dl' "$work/out" || bad "no name"
grep -q 'SYSCALL 231 ' "$work/out" || bad "no exit_group"

# Readers that are slow, stop, or die.
timeout 120 "$T" -w -o "$work/out" "$PROGRAMS/dies" exit7 >/dev/null; [ $? = 7 ] ||
	bad "slow reader: $(grep BAD "$work/out")"
timeout 120 "$T" -k 500 -o "$work/out" "$PROGRAMS/dies" exit7 >/dev/null; [ $? = 7 ] ||
	bad "reader that stops: exit status"
# Without a reader the tracer does not start the program, so the reader must not be killed before the program runs: it
# prints "begun".
cat >"$work/long" <<'EOF'
#!/bin/sh
echo begun
n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done
echo worked
EOF
chmod +x "$work/long"
rm -f "$work/traced"	# else wait_until could see the last program's output before the shell empties the file
"$T" -o "$work/out" "$work/long" >"$work/traced" &
reader=$!
wait_until said begun "$work/traced"
tracer=$(pgrep -P $reader)
rings=$(tr '\0' '\n' <"/proc/$tracer/cmdline" | sed -n 's/^--ring-dir=//p')
kill -KILL $reader
wait $reader 2>/dev/null
# shellcheck disable=SC2086
wait_until gone "$tracer" || { bad "the program stops when its reader dies"; kill -KILL $tracer; }
[ "$(tr '\n' ' ' <"$work/traced")" = "begun worked " ] || bad "killed reader: another output"
case $rings in */trace_count.??????) ;; *) rings= ;; esac
# After the reader and its directory are gone, the program still forks children and starts other programs.
cat >"$work/late" <<EOF
#!/bin/sh
echo begun
while [ ! -e "$work/go" ]; do sleep 0.1; done
echo a | cat
(echo b)
exec echo c
EOF
chmod +x "$work/late"
rm -f "$work/traced"
"$T" -f -o "$work/out" "$work/late" >"$work/traced" &
reader=$!
wait_until said begun "$work/traced"
tracer=$(pgrep -P $reader)
late=$(tr '\0' '\n' <"/proc/$tracer/cmdline" | sed -n 's/^--ring-dir=//p')
kill -KILL $reader
wait $reader 2>/dev/null
case $late in */trace_count.??????) rm -rf "$late" ;; *) bad "no --ring-dir" ;; esac
touch "$work/go"
# shellcheck disable=SC2086
wait_until gone "$tracer" || { bad "the script stops when its reader dies"; kill -KILL $tracer; }
[ "$(tr '\n' ' ' <"$work/traced")" = "begun a b c " ] ||
	bad "after its reader died, the script said: $(cat "$work/traced")"
[ -z "$rings" ] || rm -rf "$rings"	# the killed reader could not remove it
exit $failed
