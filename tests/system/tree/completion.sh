#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The completion for bash: the test sources the script and calls its function as bash does, with the words up to the
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
asked() { # WORD...: prints the completions of the last word
	bash ask softpmu "$@" 2>&1
}
offers() { # CLAIM WORD: the completions on standard input include the word
	if tr ' ' '\n' | grep -qxF -e "$2"; then ok "$1"; else bad "$1: no $2"; fi
}
same "a command is completed" "$(asked re)" "record replay report "
same "an option is completed" "$(asked stat --fiel)" "--field-separator "
asked stat --re | offers "a command also offers the options of a run" --replay
same "options of other commands are not offered" "$(asked report --repl)" ""
same "a refused option is not offered" "$(asked stat --all-c)" ""
same "a subcommand is completed" "$(asked tune --softw)" "--software "
same "the options of a subcommand are completed" "$(asked tune --software --bu)" "--build "
same "a value from a list is completed" "$(asked cost --at me)" "memory "
same "a value after = is completed" "$(asked cost --at = re)" "retire "
same "a value after a short option is completed" "$(asked export -f sp)" "speedscope "
asked stat --core '' | offers "--core offers the cores" skylake
asked stat --core gold | offers "--core offers the cores with the typed prefix" golden-cove
asked list --pmu p | offers "--pmu offers the PMUs" p6
same "a file name is completed" "$(asked report -i there/f)" "there/file.data "
same "a file name after = is completed" "$(asked stat --replay = one)" "one.conf "
same "a value without a list has no completions" "$(asked stat -r '')" ""
asked stat ls | offers "programs are completed" ls
asked help run-o | offers "help offers its topics" run-options
exit $failed
