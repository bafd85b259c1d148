#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names and files of a whole machine's stream: the kernel's functions by a copy of its /proc/kallsyms, those of its
# programs by address space.  perf reads the same from the file that record writes.
. "$TOP/tests/lib.sh"
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
cat >kallsyms <<END
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000100 t entry_SYSCALL_64
ffffffff81000200 T do_syscall_64
ffffffff81000300 T schedule
ffffffff81400000 D _end
ffffffffc0000000 t ext4_init	[ext4]
ffffffffc0000040 t ext4_read	[ext4]
ffffffffc0000100 d ext4_data	[ext4]
END
one=$PROGRAMS/work-static other=$PROGRAMS/work
"$PROGRAMS/machine_stream" named "$work/kallsyms" "$one" main "$other" main || exit 1
"$PROGRAMS/machine_stream" unnamed "" "$one" main "$other" main || exit 1

# rows FILE: command, object and symbol of a report's table.
rows() { sed -n 's/^ *[0-9.]*%  *//p' "$1" | sed 's/  */ /g; s/ $//' | sort; }
cat >want <<END
work [ext4] [k] ext4_read
work [kernel.kallsyms] [k] do_syscall_64
work [kernel.kallsyms] [k] entry_SYSCALL_64
work work [.] main
work-static [ext4] [k] ext4_read
work-static [kernel.kallsyms] [k] do_syscall_64
work-static [kernel.kallsyms] [k] entry_SYSCALL_64
work-static work-static [.] main
END
"$SOFTPMU" record -q -g -e cycles -c 101 -o data --replay named 2>err
check "record says nothing" [ ! -s err ]
"$SOFTPMU" report -i data --no-children -g none >table
rows table >is
same_files "report names both programs, the kernel and its module" is want
"$SOFTPMU" report -i data -s comm,dso,sym --no-children -g none -c work -d '[ext4]' >few
has "filters take the module's name" 'ext4_read' few
"$SOFTPMU" annotate -i data -s main >code
has "annotate shows a program's code" 'Disassembly of work-static for cycles' code
"$SOFTPMU" annotate -i data do_syscall_64 >code
has "annotate shows the kernel's code, as far as it was executed" ' : ffffffff81000224:   call ' code
"$SOFTPMU" annotate -i data ext4_read >code
has "annotate shows a module's code" ' : ffffffffc0000064:   ret' code
"$SOFTPMU" record -q -e cycles -c 101 -o - --replay named 2>/dev/null >piped
refuse "a file without kernel code" 'no code to show for do_syscall_64' \
	"$SOFTPMU" annotate -i piped --kallsyms kallsyms do_syscall_64

"$SOFTPMU" record -q -e cycles -c 101 -o bare --replay unnamed
"$SOFTPMU" report -i bare >bare-table
has "without kallsyms, kernel samples have no names" '\[kernel.kallsyms\] *\[k\] 0xffffffff81000' bare-table
"$SOFTPMU" report -i bare --kallsyms kallsyms >named-table
rows named-table >is
same_files "report --kallsyms names them" is want
refuse "a missing kallsyms" 'cannot open nowhere' "$SOFTPMU" report -i bare --kallsyms nowhere
refuse "a file that is none" 'no symbols of a kernel' "$SOFTPMU" report -i bare --kallsyms "$TOP/README.md"
printf '0000000000000000 T _text\n0000000000000000 T schedule\n' >hidden
refuse "hidden addresses" 'all addresses are 0' "$SOFTPMU" report -i bare --kallsyms hidden
"$SOFTPMU" record -q -e cycles -c 101 -o given --kallsyms kallsyms --replay unnamed
"$SOFTPMU" report -i given >given-table
rows given-table >is
same_files "record --kallsyms names them for report" is want
"$SOFTPMU" record -q -e cycles -c 101 -o lost --kallsyms nowhere --replay unnamed 2>err
has "record says that the kernel's names are missing" "kernel's functions have no names: cannot open nowhere" err

"$SOFTPMU" record -q -e cycles:k,cycles:u -c 101 -o rings --replay named
"$SOFTPMU" report -i rings -s sym --json >rings.json
check "events of one ring are hot in that ring; a few interrupts come behind its end" python3 - rings.json <<'END'
import json, sys
for event in json.load(open(sys.argv[1]))["events"]:
    hottest = event["entries"][0]["symbol"]
    assert (hottest == "main") == (event["event"] == "cycles:u"), event["event"]
END
"$SOFTPMU" topdown --per function --replay named 2>topdown
for name in 'ext4_read \[\[ext4\]\]' 'main \[work\]' 'main \[work-static\]'; do
	has "topdown --per function: $name" "$name" topdown
done
"$SOFTPMU" record -q --exact --no-samples -o exact --replay named
"$SOFTPMU" report -i exact >exact-table
for name in '\[ext4\] *ext4_read' 'work *main' 'work-static *main' '\[kernel.kallsyms\] *do_syscall_64'; do
	has "the exact profile: $name" "$name" exact-table
done

command -v perf >/dev/null || { echo "without perf: its reports are not compared"; exit $failed; }
perf report -i data --kallsyms kallsyms --stdio --no-children -g none >perf-table 2>err
rows perf-table >perf-rows
rows table >our-rows
same_files "perf report has the same table" perf-rows our-rows
perf script -i data --kallsyms kallsyms -F comm,ip,sym,dso 2>err >script
check "perf script: a chain goes from the module through the kernel into the program" awk '
	/ext4_read/ { at = 1; next }
	at == 1 && /do_syscall_64/ { at = 2; next }
	at == 2 && /entry_SYSCALL_64/ { at = 3; next }
	at == 3 && /main/ { found = 1 }
	{ at = 0 }
	END { exit !found }' script
check "perf script names every address" awk '/\[unknown\]/ { bad = 1 } END { exit bad }' script
exit $failed
