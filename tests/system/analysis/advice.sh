#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune --software: a program that has a trouble gets the advice against it, at its line and for its
# function; its mended twin (tests/programs/advice.c) does not. Threads whose data start at equal addresses
# modulo a way of L1D are found when they share a core.
. "$TOP/tests/lib.sh"
source=$TOP/tests/programs/advice.c
says() {	# RULE bad|good: the advice of that rule, one JSON object a line
	smt=
	[ "$1" = thread-conflict ] && smt=--smt
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --software $smt -j -o "$work/advice" -- "$PROGRAMS/advice" "$1" "$2" \
		>"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
	grep "^{\"advice\":\"$1\"" "$work/advice" >"$work/found"
	return 0
}
at() {	# RULE: is the first piece where the source is marked?
	line=$(grep -n "/\* AT $1 \*/" "$source" | cut -d: -f1)
	case $1 in
	code-alias|code-layout|compile-flags)	# of functions
		function=$(awk -v line="$line" \
			'NR <= line && /^static.*\(void\)/ { f = $0 } END { sub(/\(void\).*/, "", f); sub(/.* /, "", f);
				print f }' "$source")
		head -n 1 "$work/found" | grep -q "\"function\":\"$function\"";;
	*)	head -n 1 "$work/found" | grep -q "\"file\":\"advice.c\",\"line\":$line,";;
	esac
}
for rule in $(sed -n 's/.*\/\* AT \([a-z0-9-]*\) \*\/.*/\1/p' "$source"); do
	check "$rule: runs" says "$rule" bad || continue
	check "$rule: found where it is" at "$rule" || { cat "$work/advice"; grep -n "AT $rule" "$source"; }
	check "$rule: mended, runs" says "$rule" good || continue
	check "$rule: mended, not found" [ ! -s "$work/found" ] || cat "$work/found"
done
"$SOFTPMU" tune --software -o "$work/text" -- "$PROGRAMS/advice" random-branch bad >/dev/null 2>&1
check "the text says where, on what evidence, how much and what to do" \
	[ "$(grep -c '^   \(at  \|evidence\|wins\|do  \)' "$work/text")" -ge 4 ]
"$SOFTPMU" tune --software --least nothing -- true >"$work/out" 2>"$work/err"
check "a threshold that is no number is refused" [ $? = 2 ]
exit $failed
