#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu stat: where the counts go, and what it refuses before the program runs.
. "$TOP/tests/lib.sh"
refuse_stat() {	# CLAIM PATTERN ARGUMENT...: refused, and the program does not run
	claim=$1 pattern=$2; shift 2
	rm -f ran
	refuse "$claim" "$pattern" "$SOFTPMU" stat "$@" touch ran
	check "$claim: the program did not run" [ ! -e ran ]
}
refuse_stat "a file for -o that cannot be written" "No such file" -o ./no/such/dir
refuse_stat "a closed descriptor for --log-fd" "descriptor 77" --log-fd 77
refuse_stat "-o with --log-fd" "exclude" -o x --log-fd 2
refuse_stat "--append without -o" "append" --append
refuse_stat "-r with -I" "exclude" -r 2 -I 1
refuse_stat "a delay (-D)" "--start" -D 10
refuse_stat "counts per core" "--per-thread" --per-core
refuse_stat "-r 0" "from 1" -r 0
refuse_stat "-I 0" "milliseconds" -I 0
refuse_stat "-I nan" "milliseconds" -I nan
refuse_stat "counting on all CPUs" "traced" -a
refuse_stat "attaching to a thread" "attach" -t 1
refuse_stat "attaching to a process" "attach" -p 1
refuse_stat "attaching to a process with --pid" "attach" --pid=1
refuse_stat "an unknown metric" "nearest: IPC" -M IPCC
refuse_stat "--topdown on a core without metrics" "no metrics" --topdown --core pentium
refuse_stat "--topdown with events" "alone" --topdown -e cycles
refuse_stat "an event list that ends with a comma" "empty" -e cycles,
refuse_stat "a precise event" "PEBS" -e cycles:pp
refuse_stat "a core file that does not exist" "no-such-core" --core ./no-such-core.conf
refuse_stat "--replay with a program" "too many" --replay x
refuse_stat "an empty --set" "field=value" --set ""

cat >hello <<'S'
#!/bin/sh
echo out
echo err >&2
exit 3
S
chmod +x hello
"$SOFTPMU" stat -x, -e instructions -o counts -- ./hello -x >out 2>err; same "the exit status is the program's" $? 3
same "standard output is the program's" "$(cat out)" out
same "with -o, standard error is the program's alone" "$(cat err)" err
same "the output file has one line per count" "$(cut -d, -f3 counts)" instructions:u
"$SOFTPMU" stat -x, -e cycles --append -o counts -- ./hello >out 2>err
same "--append keeps the old counts" "$(cut -d, -f3 counts | tr '\n' ' ')" "instructions:u cycles:u "
"$SOFTPMU" stat -x, -e cycles -o counts -- ./hello >out 2>err
same "-o without --append replaces the old counts" "$(cut -d, -f3 counts)" cycles:u
"$SOFTPMU" stat -x, -e cycles --log-fd 5 ./hello >out 2>err 5>fd
same "--log-fd writes the counts to the descriptor" "$(cut -d, -f3 fd)" cycles:u
"$SOFTPMU" stat -x, -e cycles ./hello >out 2>err
same "by default counts go to standard error, after the program's output" \
	"$(sed -n 1p err) $(sed -n 2p err | cut -d, -f3)" "err cycles:u"
"$SOFTPMU" stat -e cycles ./hello a b >out 2>err
same "the header names the program" "$(grep -c "Performance counter stats for './hello a b':" err)" 1
"$SOFTPMU" stat --per-thread -x, -e instructions -o counts -- "$PROGRAMS/threads" workers 2000 >out 2>err
same "--per-thread names every thread" "$(cut -d, -f1 counts | sed 's/-[0-9]*$//' | sort | uniq -c |
	awk '{ print ($1 >= 3) $2 }')" 1threads
sum=$(awk -F, '{ n += $2 } END { print n }' counts)
"$SOFTPMU" stat -x, -e instructions --save-stream s -o all -- "$PROGRAMS/threads" workers 2000 >out 2>err
"$SOFTPMU" stat --per-thread -x, -e instructions -o counts --replay s
same "the threads' counts add up to the total" "$(awk -F, '{ n += $2 } END { print n }' counts)" "$(cut -d, -f1 all)"
[ "${sum:-0}" -gt 0 ] || bad "no counts by thread"
"$SOFTPMU" stat -x, -I 0.01 -e instructions -o parts "$PROGRAMS/work-static" 3000 >out 2>err
"$SOFTPMU" stat -x, -e instructions -o whole "$PROGRAMS/work-static" 3000 >out 2>err
same "the intervals' counts add up to the total" "$(awk -F, '{ n += $2 } END { print n }' parts)" "$(cut -d, -f1 whole)"
[ "$(wc -l <parts)" -gt 2 ] || bad "only $(wc -l <parts) intervals"
events=$(printf 'INST_RETIRED.ANY_P,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)instructions
"$SOFTPMU" stat -x, -e "$events" -o many "$PROGRAMS/reps"
same "21 counters at once, all exact, none multiplexed" "$(cut -d, -f1,5 many | sort -u)" "607,100.00"
if [ -w /dev/full ]; then
	"$SOFTPMU" stat -o /dev/full "$PROGRAMS/reps" 2>err; code=$?
	same "a full disk is reported in one line" "$code $(grep -c 'No space left' err)" "1 1"
fi
exit $failed
