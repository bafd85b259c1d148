#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Branch stacks in samples: each entry is a branch of the program that went where its code says, the stack hangs
# together up to the sample, filters let pass what they name, depth and flags are those of the machine; perf
# reads them.
. "$TOP/tests/lib.sh"
need perf
export HOME="$work" PERF_CONFIG=/dev/null PAGER=cat LC_ALL=C
program=$PROGRAMS/work-static
objdump -d --no-show-raw-insn "$program" |
	awk '/^ *[0-9a-f]+:/ { sub(":", "", $1); print $1, ($2 == "bnd" || $2 == "notrack" || $2 == "addr32" ||
		$2 ~ /^rep/) ? $3 " " $4 : $2 " " $3 }' >insns
record() {	# CORE options: of the program
	core=$1; shift
	"$SOFTPMU" record -q --core "$core" -o b.data "$@" "$program" 2000 >/dev/null 2>err || { bad "record $*" err; }
	perf script -i b.data -F ip,brstack 2>/dev/null | awk 'NF' >stacks
}
# "kind from to flags" of each entry; kinds as objdump has them
entries() { awk 'NR == FNR { op[$1] = $2; next } { for (i = 2; i <= NF; i++) { split($i, p, "/");
	print op[substr(p[1], 3)], substr(p[1], 3), substr(p[2], 3), p[3], p[6], p[7] } }' insns stacks; }
kinds() { entries | awk '{ print ($1 ~ /^jmp/ ? "jmp" : $1 ~ /^j/ ? "jcc" : $1) }' | sort -u | tr '\n' ' '; }
depth() { awk 'NF - 1 > n { n = NF - 1 } END { print n + 0 }' stacks; }

record golden-cove -b -c 7001
check "stacks of 32 branches ($(wc -l <stacks) samples)" [ "$(depth)" = 32 ]
check "every entry is a branch" [ -z "$(entries | awk '$1 !~ /^(j|call|ret)/')" ]
check "direct ones went where their code says" \
	[ -z "$(entries | awk 'NR == FNR { if ($3 ~ /^[0-9a-f]+$/) to[$1] = $3; next } ($2 in to) && to[$2] != $3' \
	insns -)" ]
perl -ne '@w = split; $last = hex shift @w;
	for (@w) { ($f, $t) = split "/"; print if hex($t) > $last || $last - hex($t) > 4096; 
		$last = hex $f }' stacks >gaps
check "from each target straight on to the next branch, and to the sample" [ ! -s gaps ]
check "some predicted, some not" [ "$(entries | awk '{ print $4 }' | sort -u | tr '\n' ' ')" = "M P " ]
check "cycles between them" [ "$(entries | awk '$5 > 0' | wc -l)" -gt 100 ]

record golden-cove -j any_call,u -c 7001;	check "any_call" [ "$(kinds)" = "call " ]
record golden-cove -j any_ret -c 7001;		check "any_ret" [ "$(kinds)" = "ret " ]
record golden-cove -j cond -c 7001;		check "cond" [ "$(kinds)" = "jcc " ]
record golden-cove -j cond,any_ret -c 7001;	check "cond,any_ret" [ "$(kinds)" = "jcc ret " ]
record golden-cove -j ind_jmp,ind_call -c 1009
check "ind_jmp,ind_call" [ -n "$(entries)" -a -z "$(entries |
	awk 'NR == FNR { indirect[$1] = $3 ~ /^\*/; next } !indirect[$2]' insns -)" ]
record golden-cove -j call -c 7001
check "call" [ -n "$(entries)" -a -z "$(entries | awk 'NR == FNR { indirect[$1] = $3 ~ /^\*/; next } indirect[$2]' \
	insns -)" ]
record golden-cove -j u,save_type -c 7001
check "save_type" [ -n "$(entries)" -a -z "$(entries |
	awk '{ want = $1 ~ /^jmp/ ? "UNCOND IND" : $1 ~ /^j/ ? "COND" : $1 ~ /^call/ ? "CALL IND_CALL" : "RET";
		if (!index(want, $6)) print }')" ]
record golden-cove -j any,no_flags,no_cycles -c 7001
check "no_flags, no_cycles" [ "$(entries | awk '{ print $4, $5 }' | sort -u)" = "- 0" ]
record skylake -j stack,u -c 997
check "call stack: calls that have not returned" [ "$(kinds)" = "call " ]

# other machines: their depth, and the filter where it is the driver's
for machine in skylake:32 ivy-bridge:16 core2:4 prescott:16; do
	record "${machine%:*}" -b -c 7001
	check "${machine%:*}: ${machine#*:} deep" [ "$(depth)" = "${machine#*:}" ]
	check "${machine%:*}: every entry is a branch" [ -n "$(entries)" -a -z "$(entries |
		awk '$1 !~ /^(j|call|ret)/')" ]
done
record core2 -j any_call -c 1009;	check "core2: any_call, by the driver" [ "$(kinds)" = "call " ]
record ivy-bridge -j any_ret -c 7001;	check "ivy-bridge: any_ret" [ "$(kinds)" = "ret " ]

# precise events: the stack of the moment, in the record itself or beside it
for core in golden-cove skylake; do
	record $core -b -e BR_INST_RETIRED.NEAR_TAKEN:pp -c 997
	check "PEBS on $core: the newest entry is the branch sampled" \
		[ -s stacks -a -z "$(perl \
		-ne '@w = split; ($f) = split "/", $w[1]; print if hex($f) - hex($w[0]) > 15 || hex($f) < hex $w[0]' \
		stacks)" ]
done

record golden-cove -b -c 2003
cp b.data plain.data
record golden-cove -b -g -c 2003	# (perf 6.1 crashes on --sort symbol_from, and on -b with children)
for command in "report --stdio -i plain.data" "report -b --stdio -i plain.data" \
	"report -b --stdio --sort dso_from,dso_to,mispredict -i plain.data" \
	"report --branch-history --stdio -i b.data" \
	"annotate --stdio -s mix -i b.data" "script -F brstackinsn -i b.data" "script -F brstacksym -i b.data" \
	"script -F brstackoff -i b.data" "evlist -v -i b.data"; do
	# shellcheck disable=SC2086
	perf $command >out 2>err </dev/null
	check "perf $command" [ -s out -a ! -s err ] || head -n 3 err
done
check "branch_sample_type" grep -q 'branch_sample_type: ANY|USER\|branch_sample_type: USER|ANY' out

# what is not there is refused by name
refuses() {	# CLAIM WORD options
	claim=$1 word=$2; shift 2
	"$SOFTPMU" record -o no.data "$@" "$program" 100 >out 2>err && failed=1
	check "$claim" [ "$(grep -c -- "$word" err)" = 1 -a "$(wc -l <err)" = 1 -a ! -e no.data ]
}
refuses "no kernel" 'branch filter .k.' -j any,k
refuses "no such filter" "branch filter 'calls'" -j calls
refuses "no call stack before Haswell" 'ivy-bridge' --core ivy-bridge -j stack
"$SOFTPMU" record --core pentium -b -o no.data "$PROGRAMS/work32" 100 >out 2>err && failed=1
check "a Pentium has none" grep -q 'pentium has no last branch records' err
exit $failed
