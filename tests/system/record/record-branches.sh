#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Branch stacks in samples: each entry is a branch of the program that goes where its code says; from each target the
# code runs straight to the next branch and to the sample; filters select the branches they name; depth and flags are
# those of the machine; perf reads the stacks.
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
# entries: prints "KIND FROM TO FLAGS" of each entry, with objdump's mnemonic as KIND
entries() { awk 'NR == FNR { op[$1] = $2; next } { for (i = 2; i <= NF; i++) { split($i, p, "/");
	print op[substr(p[1], 3)], substr(p[1], 3), substr(p[2], 3), p[3], p[6], p[7] } }' insns stacks; }
kinds() { entries | awk '{ print ($1 ~ /^jmp/ ? "jmp" : $1 ~ /^j/ ? "jcc" : $1) }' | sort -u | tr '\n' ' '; }
depth() { awk 'NF - 1 > n { n = NF - 1 } END { print n + 0 }' stacks; }

record golden-cove -b -c 7001
check "stacks have 32 branches ($(wc -l <stacks) samples)" [ "$(depth)" = 32 ]
check "every entry is a branch" [ -z "$(entries | awk '$1 !~ /^(j|call|ret)/')" ]
check "direct branches go where their code says" \
	[ -z "$(entries | awk 'NR == FNR { if ($3 ~ /^[0-9a-f]+$/) to[$1] = $3; next } ($2 in to) && to[$2] != $3' \
	insns -)" ]
perl -ne '@w = split; $last = hex shift @w;
	for (@w) { ($f, $t) = split "/"; print if hex($t) > $last || $last - hex($t) > 4096; 
		$last = hex $f }' stacks >gaps
check "code runs straight from each target to the next branch and to the sample" [ ! -s gaps ]
check "some branches are predicted and some mispredicted" \
	[ "$(entries | awk '{ print $4 }' | sort -u | tr '\n' ' ')" = "M P " ]
check "entries have cycle counts" [ "$(entries | awk '$5 > 0' | wc -l)" -gt 100 ]

record golden-cove -j any_call,u -c 7001;	check "any_call keeps calls only" [ "$(kinds)" = "call " ]
record golden-cove -j any_ret -c 7001;		check "any_ret keeps returns only" [ "$(kinds)" = "ret " ]
record golden-cove -j cond -c 7001;		check "cond keeps conditional branches only" [ "$(kinds)" = "jcc " ]
record golden-cove -j cond,any_ret -c 7001;	check "cond,any_ret keeps both kinds" [ "$(kinds)" = "jcc ret " ]
record golden-cove -j ind_jmp,ind_call -c 1009
check "ind_jmp,ind_call keeps indirect branches only" [ -n "$(entries)" -a -z "$(entries |
	awk 'NR == FNR { indirect[$1] = $3 ~ /^\*/; next } !indirect[$2]' insns -)" ]
record golden-cove -j call -c 7001
check "call keeps direct calls only" \
	[ -n "$(entries)" -a -z "$(entries | awk 'NR == FNR { indirect[$1] = $3 ~ /^\*/; next } indirect[$2]' \
	insns -)" ]
record golden-cove -j u,save_type -c 7001
check "save_type records the type of each branch" [ -n "$(entries)" -a -z "$(entries |
	awk '{ want = $1 ~ /^jmp/ ? "UNCOND IND" : $1 ~ /^j/ ? "COND" : $1 ~ /^call/ ? "CALL IND_CALL" : "RET";
		if (!index(want, $6)) print }')" ]
record golden-cove -j any,no_flags,no_cycles -c 7001
check "no_flags, no_cycles leave flags and cycles out" [ "$(entries | awk '{ print $4, $5 }' | sort -u)" = "- 0" ]
record skylake -j stack,u -c 997
check "stack keeps calls only" [ "$(kinds)" = "call " ]

# Other machines: the depth of the stacks, and filters, which on core2 the driver implements.
for machine in skylake:32 ivy-bridge:16 core2:4 prescott:16; do
	record "${machine%:*}" -b -c 7001
	check "${machine%:*}: stacks have ${machine#*:} branches" [ "$(depth)" = "${machine#*:}" ]
	check "${machine%:*}: every entry is a branch" [ -n "$(entries)" -a -z "$(entries |
		awk '$1 !~ /^(j|call|ret)/')" ]
done
record core2 -j any_call -c 1009;	check "core2: the driver filters any_call" [ "$(kinds)" = "call " ]
record ivy-bridge -j any_ret -c 7001;	check "ivy-bridge: any_ret keeps returns only" [ "$(kinds)" = "ret " ]

# Precise events: the stack is that of the sampled instruction, from the PEBS record or read beside it.
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
check "the file has the branch_sample_type" grep -q 'branch_sample_type: ANY|USER\|branch_sample_type: USER|ANY' out

# Refusals.
refuses() {	# CLAIM WORD OPTION...
	claim=$1 word=$2; shift 2
	"$SOFTPMU" record -o no.data "$@" "$program" 100 >out 2>err && failed=1
	check "$claim" [ "$(grep -c -- "$word" err)" = 1 -a "$(wc -l <err)" = 1 -a ! -e no.data ]
}
refuses "a filter for kernel branches is refused" 'branch filter .k.' -j any,k
refuses "an unknown filter is refused" "branch filter 'calls'" -j calls
refuses "a call stack is refused before Haswell" 'ivy-bridge' --core ivy-bridge -j stack
if runs_32; then
	"$SOFTPMU" record --core pentium -b -o no.data "$PROGRAMS/work32" 100 >out 2>err && failed=1
	check "pentium refuses branch stacks" grep -q 'pentium has no last branch records' err
fi
exit $failed
