#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The documents agree with the program: the man page passes mandoc's lint, it has every command and every option that
# `softpmu COMMAND --help` prints, and the commands that README, tutorial and how-to pages show use options that exist.
set -u
man="$TOP/docs/softpmu.1"
. "$TOP/tests/lib.sh"

command -v mandoc >/dev/null 2>&1 || { echo "mandoc is not installed"; exit 77; }
for page in "$man" "$TOP/docs/softpmu-pmu.3"; do
	if mandoc -T lint -W warning "$page" >"$work/lint" 2>&1; then ok "lint"; else bad "lint of $page"; cat "$work/lint"; fi
done

# The options that a section describes: its ".It" lines, from ".Ss NAME" to the next heading.
section() { # NAME
	{ echo .Bl -tag -width Ds; awk -v name="$1" '/^\.S[hs] / { on = $0 == ".Ss " name } on && /^\.It /' "$man"; echo .El; } |
		mandoc -mdoc -T ascii -O width=1000 2>/dev/null | sed 's/.\x08//g' | grep -E '^ *-'
}
long_options() { grep -oE '(^|[^[:alnum:]-])--[a-z][a-z0-9-]+' | grep -oE -e '--[a-z][a-z0-9-]+' | sort -u; }
short_options() { sed -n 's/^  \(-[A-Za-z]\)\([, ].*\|\)$/\1/p' | sort -u; }

commands=$("$SOFTPMU" --help | sed -n 's/^  \([a-z]\{3,\}\)  .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 7 ] || bad "commands in softpmu --help: '$commands'"
options() { # the names in what --help prints on standard input
	grep -E '^ +-' >"$work/help"	# not what is mentioned in passing
	long_options <"$work/help"
	short_options <"$work/help"
}
"$SOFTPMU" help run-options | options >"$work/run"
for c in $commands; do
	"$SOFTPMU" "$c" --help >"$work/whole"
	{ sed '/^Options of the run:/,$d' "$work/whole"; sed -n 's/^  softpmu \([^ ]* [^ ]*\)  .*/\1/p' "$work/whole" | while read -r part; do
		# shellcheck disable=SC2086
		"$SOFTPMU" help $part
	done; } | options >"$work/$c.options"
	section "$c" >"$work/section"
	grep -q "^\.Ss $c\$" "$man" && grep -q "^\.It Cm $c\$" "$man" || bad "man page: command $c"
	missing=
	while read -r option; do
		grep -qE -e "(^|[^[:alnum:]-])$option([^[:alnum:]-]|\$)" "$work/section" || missing="$missing $option"
	done <"$work/$c.options"
	if [ -z "$missing" ]; then ok "man page: $c, $(wc -l <"$work/$c.options") options"; else bad "man page: $c lacks$missing"; fi
	grep -q '^Options of \(a\|the\) run' "$work/whole" && cat "$work/run" >>"$work/$c.options"
	echo --help >>"$work/$c.options"
done

# These take another command's options too, as their --help says.
cat "$work/record.options" >>"$work/mem.options"
cat "$work/stat.options" >>"$work/replay.options"

# "$ softpmu COMMAND ..." of the texts, up to the program's own words: these begin at the first word that is neither an
# option nor the value of one, or behind a pipe.
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
			*)	# a value, if an option stands before it; else the program
				case $c$previous in stat-d | stat--follow | stat--per-thread | stat--json | stat-v | record-g | record--follow | record-q) break ;;
				stat-* | record-*) previous=; continue ;;
				stat | record) break ;;
				*) continue ;;
				esac ;;
			esac
			grep -qxF -e "$option" "$work/$c.options" || { bad "$text: softpmu $c $rest: no option $option"; wrong=1; }
			previous=$option
			case $word in --*=*) previous= ;; --*) ;; -??*) previous= ;; esac
			case $previous in '') [ "$word" ] && previous= ;; esac
		done
	done <"$work/shown"
	[ $wrong = 1 ] || ok "$text: $shown commands"
done
[ $total -ge 40 ] || bad "README, tutorial and how-to pages show only $total commands"
exit $failed
