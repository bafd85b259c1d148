#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune --software: for each rule, tests/programs/advice.c has a bad variant, which gets the rule's advice at the
# marked line or function, and a good variant, which does not. With --smt, threads whose data start at equal addresses
# modulo the size of an L1D way are found, too.
. "$TOP/tests/lib.sh"
source=$TOP/tests/programs/advice.c
says() {	# RULE bad|good: writes the advice of the rule to $work/found, one JSON object per line
	smt=
	[ "$1" = thread-conflict ] && smt=--smt
	# shellcheck disable=SC2086
	"$SOFTPMU" tune --software $smt -j -o "$work/advice" -- "$PROGRAMS/advice" "$1" "$2" \
		>"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
	grep "^{\"advice\":\"$1\"" "$work/advice" >"$work/found"
	return 0
}
at() {	# RULE: true if the first piece of advice is for the place marked in the source
	line=$(grep -n "/\* AT $1 \*/" "$source" | cut -d: -f1)
	case $1 in
	code-alias|code-layout|compile-flags)	# these rules advise about functions
		function=$(awk -v line="$line" \
			'NR <= line && /^static.*\(void\)/ { f = $0 } END { sub(/\(void\).*/, "", f); sub(/.* /, "", f);
				print f }' "$source")
		head -n 1 "$work/found" | grep -q "\"function\":\"$function\"";;
	*)	head -n 1 "$work/found" | grep -q "\"file\":\"advice.c\",\"line\":$line,";;
	esac
}
for rule in $(sed -n 's/.*\/\* AT \([a-z0-9-]*\) \*\/.*/\1/p' "$source"); do
	check "$rule: tune runs on the bad variant" says "$rule" bad || continue
	check "$rule: the advice is at the marked place" \
		at "$rule" || { cat "$work/advice"; grep -n "AT $rule" "$source"; }
	check "$rule: tune runs on the good variant" says "$rule" good || continue
	check "$rule: the good variant gets no such advice" [ ! -s "$work/found" ] || cat "$work/found"
done
"$SOFTPMU" tune --software -o "$work/text" -- "$PROGRAMS/advice" random-branch bad >/dev/null 2>&1
check "the text output has place, evidence, gain and remedy" \
	[ "$(grep -c '^   \(at  \|evidence\|wins\|do  \)' "$work/text")" -ge 4 ]
"$SOFTPMU" tune --software --least nothing -- true >"$work/out" 2>"$work/err"
check "a threshold that is no number is refused" [ $? = 2 ]
exit $failed
