#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf reads the files of `softpmu record` without a warning, and softpmu report and annotate print the same numbers as
# perf.
. "$TOP/tests/lib.sh"
need perf
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C

silent() {	# WHAT PERF-ARGUMENTS...: perf succeeds, prints output, and prints nothing to standard error
	what=$1; shift
	if perf "$@" >out 2>err </dev/null && ! [ -s err ] && [ -s out ]; then ok "$what"; else bad "$what: perf $*"
	head -n 5 err; fi
}
# From the first section on, without perf's tip.
table() { sed -e '/^# (Tip/,$d' | sed -n '/^# Samples:/,$p' | sed -e :a -e '/^\n*#*\n*$/{$d;N;ba' -e '}' |
	sed -e '/^#$/d' -e '/^$/d' | one_plt; }
# perf 6.1 shows inlined functions only in chains that it made from stack dumps; inlined.sh tests ours.
same_table() {	# WHAT OPTION...: perf report and softpmu report print the same table
	what=$1; shift
	perf report --stdio --no-inline -i perf.data "$@" 2>err </dev/null | table >theirs
	"$SOFTPMU" report --stdio --no-inline -i perf.data "$@" 2>>err | table >ours
	if [ -s theirs ] && ! [ -s err ] && cmp -s theirs ours; then ok "$what ($(wc -l <ours) lines)"
	else bad "$what: differs from perf's"; head -n 5 err; diff theirs ours | head -n 10; fi
}
instructions() { sed -n 's/^ *\([0-9]*\.[0-9]*\) *: *\([0-9a-f]*\): .*/\1 \2/p' | sort; }
# perf 6.12 dies of SIGSEGV in annotate at most functions of libc.so.6 and ld.so, of its own recordings, too.  Then
# those of the program are annotated.
same_instructions() {	# WHAT: both annotate commands print the same shares
	only=
	(perf annotate --stdio -i perf.data; echo $? >code) 2>err </dev/null | instructions >theirs
	if [ "$(cat code)" -gt 128 ]; then
		only="-d work"
		# shellcheck disable=SC2086	# two words
		perf annotate --stdio -i perf.data $only 2>err </dev/null | instructions >theirs
	fi
	# shellcheck disable=SC2086
	"$SOFTPMU" annotate --stdio -i perf.data $only 2>>err | instructions >ours
	if [ -s theirs ] && ! [ -s err ] && cmp -s theirs ours; then ok "$1 ($(wc -l <ours) instructions)"
	else bad "$1: differs from perf's"; head -n 5 err; diff theirs ours | head -n 10; fi
}
both() {	# NAME: every perf command reads perf.data, and softpmu's tables equal perf's
	silent "$1: report" report --stdio -i perf.data
	silent "$1: script" script -i perf.data
	# (annotate: same_instructions below)
	silent "$1: evlist" evlist -v -i perf.data
	silent "$1: buildid-list" buildid-list -i perf.data
	silent "$1: header" report --stdio --header-only -i perf.data
	same_table "$1: same table" --percent-limit 0 -F overhead,comm,dso,sym
	same_table "$1: same table, default"
	same_table "$1: same table by object" --sort dso,comm
	same_instructions "$1: same share of each instruction"
}
record() { "$SOFTPMU" record -o perf.data "$@" >program.out 2>record.err </dev/null ||
	{ bad "record $*"; cat record.err; }; }
bare_stream work-stream work 20000 >/dev/null || bad "saving a stream"
record -c 997 --replay work-stream
grep -q '^\[ softpmu record: Wrote [0-9.]* MB perf.data ([0-9]* samples) \]$' record.err &&
	ok "the closing line has size, file and samples" ||
	{ bad "closing line"; cat record.err; }
record_named 997 --replay work-stream
both "cycles"
perf evlist -i perf.data | grep -qx 'cycles:u' && ok "evlist shows the event's name" || bad "event's name"

record_named 997 -g --replay work-stream
both "call chains"
same_table "call chains: callers" --no-children
same_table "call chains: by symbol" --sort sym
perf script -F ip,sym -i perf.data | tr '\n' ' ' | tr -s '\t ' ' ' | grep -q 'mix [0-9a-f]* hot [0-9a-f]* main' &&
	ok "there is a call chain mix, hot, main" || bad "chain mix, hot, main"

record_named 2003 -g -e cycles:u,instructions:u --replay work-stream
both "two events"
[ "$(perf evlist -i perf.data | wc -l)" = 2 ] && ok "the file has two events" || bad "both events"

# periods: prints the period or the frequency of each event, from `perf evlist -v`
periods() { perf evlist -v -i perf.data | sed -n 's/^\([^ ]*\): .*sample_freq }: \([0-9]*\).*/\1 \2/p'; }
asked() { # CLAIM EXPECTED: one line "EVENT NUMBER" per event
	[ "$(periods)" = "$2" ] && ok "$1" || { bad "$1:"; periods; }
}
record -e cycles,branches,CPU_CLK_UNHALTED.THREAD_P -- "$PROGRAMS/work" 200000
asked "by default cycles have a period and other events a frequency" "cycles:u 100003
branches:u 30000
CPU_CLK_UNHALTED.THREAD_P:u 100003"
samples=$(perf script -F event -i perf.data | grep -c '^ *cycles') cycles=$("$SOFTPMU" stat -x, -e cycles -- \
	"$PROGRAMS/work" 200000 2>&1 >/dev/null | cut -d, -f1)
[ $((samples - cycles / 100003)) -ge -1 ] && [ $((samples - cycles / 100003)) -le 1 ] &&
	ok "the default period gives $samples samples of $cycles cycles" ||
	bad "default: $samples samples of $cycles cycles"
branches=$(perf script -F event -i perf.data | grep -c '^ *branches')
[ "$branches" -ge $((samples / 2)) ] && [ "$branches" -le $((samples * 2)) ] &&
	ok "the default frequency gives about as many samples of branches: $branches" ||
	bad "default: $branches samples of branches"
record -F 20000 -e cycles,branches -- "$PROGRAMS/work" 20000
asked "-F sets the frequency of all events" "cycles:u 20000
branches:u 20000"
record -c 20011 -e cycles,branches,cpu/branches,period=777,name=b/ -- "$PROGRAMS/work" 20000
asked "-c sets the period of all events without a period of their own" "cycles:u 20011
branches:u 20011
b:u 777"

record -c 20011 --no-buildid -- "$PROGRAMS/throws"
silent "C++: report" report --stdio -i perf.data
# (Of a PLT perf 6.1 may say _init, an address, or one name for several entries: see record_named.  C++ executes much of
# it, so its rows are left out.  perf 6.12 names the parameters of C++ functions, too.)
without_plt() {
	table | sed 's/([^()]*)\( const\)*$//' |
		grep -v -e '@plt$' -e ' _init$' -e '\[\.\] 0x[0-9a-f]*$' -e ' \.plt$'
}
perf report --stdio --no-inline --percent-limit 0 -F overhead,comm,dso,sym -i perf.data 2>/dev/null </dev/null |
	without_plt >theirs
"$SOFTPMU" report --stdio --no-inline --percent-limit 0 -F overhead,comm,dso,sym -i perf.data | without_plt >ours
same_files "C++: same table ($(wc -l <ours) lines)" theirs ours
has "C++: the table names what is called for a throw" "__gxx_personality_v0$" ours
perf report --header-only -i perf.data | grep -q 'missing features:.* BUILD_ID ' &&
	ok "--no-buildid leaves the build-ids out" ||
	bad "--no-buildid"

if runs_32; then
record -g -c 997 -- "$PROGRAMS/work32" 20000
silent "32-bit: script" script -i perf.data
# perf believes that the entries of an i386 PLT are 4 bytes long, as the section header says; they are 16. So its names
# of PLT entries are wrong.
same_table "32-bit: same table by object" --sort comm,dso
"$SOFTPMU" report --no-children -g none -i perf.data |
	grep -q '^ *[4-9][0-9]\.[0-9]*%  work32  *work32  *\[\.\] mix$' && ok "32-bit: mix is the hottest function" ||
	bad "32-bit: mix leads"
fi

bare_stream several /bin/sh -c "./work 5000; ./work 5000 | cat" >/dev/null || bad "saving a stream"
record -c 4999 --replay several
silent "several processes: report" report --stdio -i perf.data
perf report --stdio --sort comm,sym -i perf.data 2>/dev/null | without_plt | sort >theirs
"$SOFTPMU" report --stdio --sort comm,sym -i perf.data | without_plt | sort >ours
cmp -s theirs ours && ok "several processes: report's lines equal perf's" ||
	{ bad "several processes"; diff theirs ours | head; }
grep -q ' work  ' ours && grep -q ' sh  ' ours && ok "several processes: each has its name" ||
	bad "names of the processes"
exit $failed
