#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The documents agree with the program: the man page passes mandoc's lint and has every command; its lists of options
# and the completion for bash are the ones generated from the commands' tables (tools/docs/option-lists.sh); the
# commands in README, tutorial and how-to pages use options that exist.
set -u
man="$TOP/docs/softpmu.1"
. "$TOP/tests/lib.sh"

command -v mandoc >/dev/null 2>&1 || { echo "mandoc is not installed"; exit 77; }
for page in "$man" "$TOP/docs/softpmu-pmu.3"; do
	if mandoc -T lint -W warning "$page" >"$work/lint" 2>&1; then ok "mandoc finds nothing in $(basename "$page")"
	else bad "lint of $page" "$work/lint"; fi
done

# The page's lists of options equal the generated ones, and it has a list for every command.
SOFTPMU=$SOFTPMU "$TOP/tools/docs/option-lists.sh" --print "$man" >"$work/page"
if cmp -s "$man" "$work/page"; then ok "the man page has the generated lists of options"
else
	bad "docs/softpmu.1 differs from the option tables: run tools/docs/option-lists.sh"
	diff "$man" "$work/page" | head -n 20
fi
if "$SOFTPMU" help --mdoc >"$work/tables"; then ok "the option tables are valid"; else bad "a table of options"; fi
while read -r name; do
	[ "$(grep -cxF -e ".\\\" options of $name" "$man")" = 1 ] || echo "$name"
done <"$work/tables" >"$work/absent"
# tune show has the same options as tune list, and stat record those of stat: neither has a list of its own.
if grep -qvx -e 'tune show' -e 'stat record' "$work/absent"
then bad "man page: commands without a list of options" "$work/absent"
else ok "the man page lists the options of every command"; fi
"$SOFTPMU" help --completion bash >"$work/completion"
if cmp -s "$TOP/completions/softpmu" "$work/completion"; then ok "the completion for bash is the generated one"
else bad "completions/softpmu differs from the option tables: run tools/docs/option-lists.sh"; fi

commands=$("$SOFTPMU" --help | sed -n 's/^  \([a-z]\{3,\}\)  .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 7 ] || bad "commands in softpmu --help: '$commands'"
options() { # FILE: prints the options in FILE, the output of --help
	sed -n -e 's/^  \(-.\).*/\1/p' >"$work/letters" <"$1"
	sed -n -e 's/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p' <"$1" | cat - "$work/letters"
}
"$SOFTPMU" help run-options >"$work/whole" && options "$work/whole" >"$work/run"
for c in $commands; do
	"$SOFTPMU" "$c" --help >"$work/whole"
	runs=$(grep -c '^Options of a run (' "$work/whole")
	sed -n 's/^  softpmu \([^ ]* [^ ]*\)  .*/\1/p' "$work/whole" >"$work/parts"
	while read -r part; do
		# shellcheck disable=SC2086
		"$SOFTPMU" help $part >>"$work/whole"
	done <"$work/parts"
	{ options "$work/whole"; echo --help; } >"$work/$c.options"
	[ "$runs" = 0 ] || cat "$work/run" >>"$work/$c.options"
	if grep -q "^\.Ss $c\$" "$man" && grep -q "^\.It Cm $c\$" "$man"; then ok "the man page has the command $c"
	else bad "man page: command $c"; fi
done

# These commands also take the options of another command, as their --help says.
cat "$work/record.options" >>"$work/mem.options"
cat "$work/stat.options" >>"$work/replay.options"

# The commands "$ softpmu COMMAND ..." in the texts, up to the traced program's words, which begin at the first word
# that is neither an option nor the value of one, or after a pipe.
total=0
for text in README.md docs/tutorial.md $(cd "$TOP" && ls docs/howto/*.md); do
	sed -n 's/^ *\$ \(.*[; &]\)\{0,1\}softpmu /softpmu /p' "$TOP/$text" >"$work/shown"
	shown=$(wc -l <"$work/shown")
	total=$((total + shown))
	wrong=0
	while read -r _ c rest; do
		[ "$c" = --help ] || [ "$c" = --version ] && continue
		if ! [ -f "$work/$c.options" ]; then bad "$text: softpmu $c is no command"; wrong=1; continue; fi
		previous=
		set -f
		# shellcheck disable=SC2086	# the words of a command
		set -- $rest
		set +f
		for word; do
			case $word in
			'|' | '>'* | '--' | *';') break ;;
			--*) option=${word%%=*} ;;
			-dd | -ddd) option=-d ;;
			-*) option=$(printf %.2s "$word") ;;
			*)	# the value of the option before it, otherwise the program
				case $c$previous in
				stat-d | stat--follow | stat--per-thread | stat--json | stat-v) break ;;
				record-g | record--follow | record-q) break ;;
				stat-* | record-*) previous=; continue ;;
				stat | record) break ;;
				*) continue ;;
				esac ;;
			esac
			grep -qxF -e "$option" "$work/$c.options" ||
				{ bad "$text: softpmu $c $rest: no option $option"; wrong=1; }
			previous=$option
			case $word in --*=*) previous= ;; --*) ;; -??*) previous= ;; esac
			case $previous in '') [ "$word" ] && previous= ;; esac
		done
	done <"$work/shown"
	[ $wrong = 1 ] || ok "$text: all $shown commands use options that exist"
done
[ $total -ge 40 ] || bad "README, tutorial and how-to pages show only $total commands"
exit $failed
