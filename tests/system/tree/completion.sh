#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash completes: the script is sourced, and its function is called as bash calls it, with the words up to the
# cursor.
. "$TOP/tests/lib.sh"
command -v bash >/dev/null 2>&1 || skip "bash is not installed"

cat >"$work/ask" <<'E2'
. "$TOP/completions/softpmu"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_softpmu
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
E2
cd "$work" && mkdir there && : >there/file.data && : >one.conf || exit 1
asked() { # WORDS... the last is the one before the cursor
	bash ask softpmu "$@" 2>&1
}
offers() { # CLAIM WORD, words on standard input
	if tr ' ' '\n' | grep -qxF -e "$2"; then ok "$1"; else bad "$1: no $2"; fi
}
same "a command" "$(asked re)" "record replay report "
same "an option" "$(asked stat --fiel)" "--field-separator "
asked stat --re | offers "options of a run beside the command's" --replay
same "not those of another command" "$(asked report --repl)" ""
same "a refused option is not offered" "$(asked stat --all-c)" ""
same "a part of a command" "$(asked tune --softw)" "--software "
same "a part's own options" "$(asked tune --software --bu)" "--build "
same "a choice" "$(asked cost --at me)" "memory "
same "a choice behind =" "$(asked cost --at = re)" "retire "
same "a choice behind a letter" "$(asked export -f sp)" "speedscope "
asked stat --core '' | offers "cores" skylake
asked stat --core gold | offers "cores that begin so" golden-cove
asked list --pmu p | offers "PMUs" p6
same "a file" "$(asked report -i there/f)" "there/file.data "
same "a file behind =" "$(asked stat --replay = one)" "one.conf "
same "nothing for a value of no list" "$(asked stat -r '')" ""
asked stat ls | offers "programs" ls
asked help run-o | offers "help" run-options
exit $failed
