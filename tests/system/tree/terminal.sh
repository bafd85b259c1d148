#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# topdown, cost and report on a pseudo-terminal: no line is longer than it is wide, bars grow with it, and there are
# colours and characters other than ASCII only where it has them.  Into a file or a pipe the output is the same as ever.
. "$TOP/tests/lib.sh"
need script stty python3
bare_stream stream templates 30
"$SOFTPMU" record -q -g -c 397 -o data --replay stream 2>err || bad "record" err
"$SOFTPMU" record -q --exact -o exact --replay stream 2>err || bad "record --exact" err
# on_terminal COLUMNS FILE [VARIABLE=VALUE...] COMMAND: the command's output on a terminal that is so wide.
on_terminal() {
	columns=$1 file=$2; shift 2
	cat >on_terminal.sh <<EOS
stty cols $columns rows 50
env -u COLUMNS -u NO_COLOR -u LC_ALL -u LC_CTYPE LANG=C.UTF-8 TERM=xterm $* 2>&1
EOS
	script -qec "sh ./on_terminal.sh" /dev/null </dev/null | tr -d '\r' >"$file"
}
cat >widest.py <<'EOS'
import re, sys
text = open(sys.argv[1], encoding='utf-8', errors='strict').read()
text = re.sub('.*\033\\[K', '', text)			# lines about progress
text = re.sub('\033\\[[0-9;]*m', '', text)
print(max(len(line) for line in text.split('\n')))
EOS
cat >longest_bar.py <<'EOS'
import re, sys
text = re.sub('\033\\[[0-9;]*m', '', open(sys.argv[1], encoding='utf-8').read())
print(max(len(bar) for bar in re.findall('[█▉▊▋▌▍▎▏·]+', text)))
EOS

before=0
for columns in 60 80 120 200; do
	for what in "topdown --replay stream" "topdown --per function --replay stream" \
		"cost --bars --histogram --by function --rows 3 -e mispredict,l1_miss,l3_miss --replay stream" \
		"report -i data" "report -i data --no-children -g none" \
		"report -i data -s comm,dso,symbol,srcline --hierarchy" "report -i exact" \
		"report -i exact -s instruction"; do
		# shellcheck disable=SC2086	# words
		on_terminal $columns out "$SOFTPMU" $what
		widest=$(python3 widest.py out)
		holds "$columns columns, $what: no line is longer" "$widest <= $columns && $widest > 40" ||
			head -n 20 out
		case $what in
		"topdown --replay stream")
			bar=$(python3 longest_bar.py out)
			holds "$columns columns: the bars of topdown are wider" "$bar > $before && $bar <= 100"
			before=$bar ;;
		esac
	done
done

# Names are cut so that those that differ still do.
on_terminal 60 out "$SOFTPMU" report -i data --no-children -g none
grep -o '\] .*insert' out >names
same "60 columns: three functions" "$(grep -c . names)" 3
same "60 columns: their names are still three" "$(sort -u names | grep -c .)" 3

# What the terminal has.
on_terminal 100 out "$SOFTPMU" topdown --no-metrics --replay stream
has "colours on a terminal" "$(printf '\033\\[1;31m')" out
has "UTF-8 in its locale" '█' out
on_terminal 100 plain NO_COLOR=1 LANG=C "$SOFTPMU" topdown --no-metrics --replay stream
hasnt "NO_COLOR: no colours" "$(printf '\033\\[[0-9;]*m')" plain
has "another locale: bars of ASCII" '##[#|]*\.\.\.' plain
check "another locale: nothing but ASCII" sh -c '! LC_ALL=C grep -q "[^ -~	]" plain' || cat plain
on_terminal 100 plain TERM=dumb "$SOFTPMU" topdown --no-metrics --replay stream
hasnt "TERM=dumb: no colours" "$(printf '\033\\[[0-9;]*m')" plain
on_terminal 100 out NO_COLOR=1 "$SOFTPMU" topdown --color=always --no-metrics --replay stream
has "--color=always: colours in spite of NO_COLOR" "$(printf '\033\\[1;31m')" out
on_terminal 100 plain "$SOFTPMU" topdown --color=never --no-metrics --replay stream
hasnt "--color=never: no colours" "$(printf '\033\\[[0-9;]*m')" plain
on_terminal 100 out COLUMNS=66 "$SOFTPMU" report -i data
holds "COLUMNS is the width" "$(python3 widest.py out) <= 66"
on_terminal 60 out "$SOFTPMU" topdown -x, --replay stream
holds "fields are not folded" "$(grep -c '^[0-9],[A-Za-z0-9_]*,' out) == $(grep -c , out)"
on_terminal 60 out "$SOFTPMU" topdown --no-metrics --replay stream
grep -A 3 '^ Next: softpmu' out | sed -n '/\\$/p' >folded
nonzero "a command that is folded can be copied" "$(grep -c . folded)"

# A file and a pipe.
for what in "topdown --replay stream" "cost --bars -e l1_miss --replay stream" "report -i data" "report -i exact"; do
	# shellcheck disable=SC2086	# words
	set -- $what
	"$SOFTPMU" "$@" >file 2>&1
	COLUMNS=60 TERM=xterm LANG=C.UTF-8 "$SOFTPMU" "$@" 2>&1 | cat >pipe
	same_files "$what: a pipe gets what a file gets, whatever the environment says" file pipe
	"$SOFTPMU" "$@" --color=always >colours 2>&1
	sed 's/\x1b\[[0-9;]*m//g' colours >stripped
	has "$what: --color=always colours a file" "$(printf '\033\\[')" colours
	COLUMNS=70 "$SOFTPMU" "$@" --color=always >colours 2>&1
	holds "$what: --color=always with COLUMNS: no line is longer" "$(python3 widest.py colours) <= 70"
done
exit $failed
