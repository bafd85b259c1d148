# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2034	# failed is for the scripts
# Helpers of the system tests.  Every system test sources this file:  . "$TOP/tests/lib.sh"
# It makes a folder $work, enters it and removes it at exit.  A test ends with  exit $failed.
#
# A claim says what is true when the test passes.  Each of these functions prints "ok CLAIM" or "FAILED CLAIM":
#   check CLAIM COMMAND...          the command succeeds
#   same CLAIM IS EXPECTED          the two texts are equal
#   nonzero CLAIM NUMBER            the number is neither empty nor 0
#   holds CLAIM CONDITION           the condition, in awk's language, is true
#   near CLAIM VALUE LEAST MOST     LEAST <= VALUE <= MOST
#   within CLAIM VALUE EXPECTED N   the value is the expected one, give or take N percent
#   same_files CLAIM FILE FILE      the two files are equal
#   has CLAIM PATTERN FILE          a line of the file matches the pattern
#   hasnt CLAIM PATTERN FILE        no line of the file matches the pattern
#   refuse CLAIM PATTERN COMMAND... the command fails and prints one line to standard error, which matches the
#                                   pattern; CLAIM names what is refused; the output is left in out and err
#   golden NAME FILE                the file equals tests/golden/NAME (with UPDATE=1: writes tests/golden/NAME)
#   ok CLAIM;  bad CLAIM [FILE...]  for checks that none of the above covers:  COMMAND && ok CLAIM || bad CLAIM;
#                                   bad shows the first lines of the files
# A failed check returns 1, so that a test can print more:  check ... || cat err
set -u
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work" || exit 1

ok() { echo "ok $1"; }
bad() {
	echo "FAILED $1"
	failed=1
	shift
	[ $# = 0 ] || head -n 30 "$@"
	return 1
}
check() {
	claim=$1; shift
	if "$@"; then ok "$claim"; else bad "$claim"; fi
}
same() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1: '$2', expected '$3'"; fi; }
nonzero() { if [ "${2:-0}" != 0 ]; then ok "$1"; else bad "$1"; fi; }
holds() { if awk "BEGIN { exit !($2) }"; then ok "$1"; else bad "$1: $2"; fi; }
near() {
	if awk -v v="$2" -v a="$3" -v b="$4" 'BEGIN { exit !(v != "" && v + 0 >= a && v + 0 <= b) }'; then ok "$1: $2"
	else bad "$1: '$2', not from $3 to $4"; fi
}
within() {
	if awk -v v="$2" -v e="$3" -v p="$4" \
		'BEGIN { exit !(v != "" && 100 * (e - v) <= e * p && 100 * (v - e) <= e * p) }'
	then ok "$1: $2"
	else bad "$1: $2, expected $3 within $4 %"; fi
}
same_files() {
	if cmp -s "$2" "$3"; then ok "$1"
	else bad "$1: $2 and $3 differ"; diff "$2" "$3" | head -n 20; return 1; fi
}
has() { if grep -q -- "$2" "$3"; then ok "$1"; else bad "$1: no '$2' in $3" "$3"; fi; }
hasnt() { if grep -q -- "$2" "$3"; then bad "$1: '$2' in $3" "$3"; else ok "$1"; fi; }
refuse() {
	claim=$1 pattern=$2; shift 2
	timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null; code=$?
	lines=$(grep -c . "$work/err")
	if [ $code != 0 ] && [ "$lines" = 1 ] && grep -qi -- "$pattern" "$work/err"; then
		ok "refused, $claim: $(cat "$work/err")"
	else
		bad "refused, $claim: exit $code, $lines lines, expected one that matches '$pattern'" "$work/err"
	fi
}
# uncounted CLAIM PATTERN COMMAND...: stat ends well, has a line "<not supported>", and a line that matches PATTERN.
uncounted() {
	claim=$1 pattern=$2; shift 2
	timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null; code=$?
	if [ $code = 0 ] && grep -q '<not supported>' "$work/err" && grep -qi -- "$pattern" "$work/err"; then
		ok "not supported, $claim: $(grep -i -m1 -- "$pattern" "$work/err")"
	else
		bad "not supported, $claim: exit $code, expected a line that matches '$pattern'" "$work/err"
	fi
}
golden() {
	if [ "${UPDATE:-}" ]; then
		cp "$2" "$TOP/tests/golden/$1"
	elif cmp -s "$TOP/tests/golden/$1" "$2"; then
		ok "$1"
	else
		bad "$1: not what tests/golden/$1 holds"
		diff "$TOP/tests/golden/$1" "$2" | head -n 20
		return 1
	fi
}

# bare_stream FILE PROGRAM...: records the program's stream, the same wherever the tests run.  The environment and, for
# a test program (its name alone), the checkout's path are left out: both lie on the stack and move it, and with it what
# shares sets of the caches and entries of the predictors.  The loader finds libraries in the folders named here, not by
# /etc/ld.so.cache: it searches that file in as many steps as other packages have libraries.
bare_stream() {
	file=$1 command=$2; shift 2
	case $command in
	/*) ;;
	*)  ln -sf "$PROGRAMS/$command" . && command=./$command ;;
	esac
	env -i LD_LIBRARY_PATH=/lib/x86_64-linux-gnu:/lib/i386-linux-gnu "$SOFTPMU" trace -q -o "$file" "$command" "$@"
}

# record_named PERIOD OPTION...: records perf.data with the first of the periods PERIOD, PERIOD + 2, ... of which no
# sample lies where perf names it wrongly or not at all.  perf 6.1 adds the PLT's names when it has already extended
# _init, which has no size, to the next symbol behind the PLT.  So an entry of the PLT has two names, and perf's tree
# gives either.  It knows no names in .plt.got.  (6.12 calls a PLT's head .plt.)
record_named() {
	period=$1; shift
	for more in 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38; do
		env -i "$SOFTPMU" record -q -c $((period + more)) "$@" >record.out 2>&1 ||
			{ bad "record $*" record.out; return; }
		perf script -G -F ip,sym -i perf.data 2>/dev/null >places
		[ -s places ] || { bad "record -c $((period + more)) $*: no samples"; return; }
		grep -q -e ' _init$' -e ' \[unknown\]$' -e ' \.plt$' places || return 0
	done
	bad "perf has no names of samples with twenty periods from $period on"
}

# one_plt: for tables of perf report and of ours.  perf 6.1 takes the relocations of a PLT for its entries in order,
# which they are not in libc.so.6 (6.12 names them as report does; test_symbols_file.c tests the names).  So all entries
# of PLTs get one name, their rows stand at the end, because rows of one percentage are in order of names, and the last
# column has no width.
one_plt() {
	sed -e 's/[^ -]*@plt/@plt/' -e '/^# \.\.*  /s/\.*$//' -e 's/ *$//' | awk '
		function row() {
			if (text ~ /^ [^\n]*@plt/) print text >"plts"
			else if (text != "") print text
			text = ""
		}
		/^#/ { row(); print; next }
		/^ +[0-9.]+%/ { row() }
		{ text = text (text == "" ? "" : "\n") $0 }
		END { row() }'
	if [ -s plts ]; then tr -d '|' <plts | sort; rm plts; fi
}

# skip REASON: ends a test that cannot run here.  need COMMAND...: skips the test unless all the commands are installed.
skip() { echo "$1"; exit 77; }
need() {
	for command in "$@"; do
		command -v "$command" >/dev/null 2>&1 || skip "$command is not installed"
	done
}

# runs_32: this host executes 32-bit programs.  Not all do: some kernels are built without them, and some hypervisors'
# guests have none.  Claims about such programs are left out there, and the test says so.
runs_32() {
	[ "$("$PROGRAMS/work32" 1 2>/dev/null)" = "$("$PROGRAMS/work" 1)" ] && return
	echo "left out: this host executes no 32-bit programs" >&2
	return 1
}
if_32() { if runs_32; then echo "$@"; fi; }	# the words, if this host executes 32-bit programs

# wait_until COMMAND...: repeats the command until it succeeds; gives up after two minutes, because hosts may be busy.
wait_until() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 2400 ] || return 1
		sleep 0.05
	done
}
said() { grep -qs -- "$1" "$2"; }	# said WORD FILE: the file contains the word
some_results() { [ "$(ls "$1/results" 2>/dev/null | wc -l)" -ge 2 ] || gone "$2"; }
# killed_sweep DIR PLAN: is killed when it has some results
killed_sweep() {
	"$SOFTPMU" sweep -q -j 1 --dir "$1" "$2" &
	pid=$!
	wait_until some_results "$1" $pid
	kill -KILL $pid
	wait $pid 2>/dev/null
}
gone() { ! kill -0 "$1" 2>/dev/null; }	# gone PID: the process has ended
