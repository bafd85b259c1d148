#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `softpmu msr`: its output for every family equals tests/golden/msr-*.txt (UPDATE=1 writes these files); bad input is
# refused in one line; the JSON output is consistent for every PMU.
. "$TOP/tests/lib.sh"
say() {	# ARGUMENT...: prints the command, its output and its exit status
	echo "\$ softpmu msr $*"
	"$SOFTPMU" msr "$@" 2>&1 </dev/null
	code=$?
	[ $code = 0 ] || echo "[exit $code]"
	echo
}

{
	say --pmu p5
	say --pmu p5 CESR
	say --pmu p5 cesr 0x01C00056
	say --pmu p5 CESR 0x400
	say --pmu p5 -e instructions,branches -k
	say --pmu p5 -e instructions -c 1000
} >msr-p5.txt
golden msr-p5.txt msr-p5.txt
{
	say --pmu p6
	say --pmu p6 PerfEvtSel1
	say --pmu p6 PerfEvtSel0 0x1004300C0
	say --pmu p6 187H 0x004100C0
	say --pmu p6 -e cycles:k,instructions:u -c 1000
	say --pmu p6 -e instructions:p -c 1000
} >msr-p6.txt
golden msr-p6.txt msr-p6.txt
{
	say --pmu netburst
	say --pmu netburst IQ_CCCR4
	say --pmu netburst IQ_CCCR4 0x0003c000
	say --pmu netburst MSR_IQ_CCCR4 0x4134b000
	say --pmu netburst CRU_ESCR2 0x0c00180c
	say --pmu netburst PEBS_ENABLE 0x03000001
	say --pmu netburst BPU_CCCR0 0x20000800
	say --pmu netburst IQ_CCCR1 0x39800
	say --pmu netburst IQ_CCCR1 0x9000
	say --pmu netburst THREADS12 0x30014080055
	say --pmu netburst -e instr_retired.NBOGUSNTAG -c 1000 -k
	say --pmu netburst -e memory_loads
	say --pmu netburst -e L1-dcache-load-misses:p -c 1000 --ds-area 0x7f0000
	say --pmu netburst -e memory_loads,memory_stores
	say --pmu netburst-prescott IQ_ESCR0
} >msr-netburst.txt
golden msr-netburst.txt msr-netburst.txt
{
	for pmu in yonah core2 nehalem sandy-bridge skylake; do
		say --pmu $pmu
	done
	say --pmu yonah -e instructions
	say --pmu core2 -e cycles,INST_RETIRED.ANY_P:p -c 1000
	say --pmu skylake PERFEVTSEL2
	say --pmu skylake PERFEVTSEL0 0x02d308d1
	say --pmu skylake FIXED_CTR_CTRL 0x3b3
	say --pmu skylake PERF_GLOBAL_STATUS 1
	say --pmu skylake PMC0 0x80000000
	say --pmu skylake LVT_PC 0x10400
	say --pmu skylake -e cycles,branches,MEM_LOAD_RETIRED.L1_MISS:p -c 1000
	say --pmu golden-cove
	say --pmu golden-cove PERF_CAPABILITIES
	say --pmu golden-cove LBR_CTL 0x7f0007
	say --pmu golden-cove PEBS_ENABLE 0x4000000000000001
	say --pmu golden-cove -e cycles:p,BR_MISP_RETIRED.ALL_BRANCHES:p -c 1000
} >msr-arch.txt
golden msr-arch.txt msr-arch.txt
"$SOFTPMU" msr --help >msr-help.txt
golden msr-help.txt msr-help.txt

# Refused in one line; the exit status is 2 for a wrong command line and 1 for what the PMU cannot do.
refuse_msr() {	# STATUS ARGUMENT...: the line matches $pattern, and nothing is printed to standard output
	status=$1; shift
	"$SOFTPMU" msr "$@" >"$work/out" 2>"$work/err" </dev/null
	same "refused: $*" "$? $(grep -c . "$work/err") $(grep -c "$pattern" "$work/err") $(grep -c . "$work/out")" \
		"$status 1 1 0"
}
pattern="no register 'PERFEVTSEL9'; nearest: PERFEVTSEL0" refuse_msr 2 --pmu skylake PERFEVTSEL9
pattern="no register '0x10'" refuse_msr 2 --pmu skylake 0x10
pattern="is not a value" refuse_msr 2 --pmu skylake PERFEVTSEL0 abc
pattern="is not a value" refuse_msr 2 --pmu skylake PERFEVTSEL0 0x1ffffffffffffffff
pattern="one word too many" refuse_msr 2 --pmu skylake PERFEVTSEL0 1 2
pattern="one word too many" refuse_msr 2 -e cycles PERFEVTSEL0
pattern="belong to -e" refuse_msr 2 -c 1000 PERFEVTSEL0
pattern="is not a period" refuse_msr 2 -e cycles -c 0
pattern="is not an address" refuse_msr 2 -e cycles --ds-area here
pattern="makes records every PERIOD events" refuse_msr 2 --pmu skylake -e MEM_LOAD_RETIRED.L1_MISS:p
pattern="not a precise event" refuse_msr 1 --pmu skylake -e cycles:p -c 1000
pattern="is a clock" refuse_msr 2 -e task-clock
pattern="has no interrupt" refuse_msr 1 --pmu p5 -e cycles -c 10
pattern="is not from 1 to 2147483647" refuse_msr 2 --pmu p6 -e cycles -c 2147483648
pattern="unknown event 'cycels'.*cycles" refuse_msr 2 -e cycels
pattern="no PMU 'p7'" refuse_msr 2 --pmu p7
pattern="nearest: --event" refuse_msr 2 --evnt cycles

# JSON of every PMU, for one register of each kind: it has an address and fields, its reset value is the listed one, and
# WRMSR accepts that value unless the register is read-only or absent. What a value does is explained without the bits
# that raise #GP.
if perl -MJSON::PP -e 1 2>/dev/null; then
	cat >"$work/check.pl" <<-'P'
	use strict; use JSON::PP;
	my ($pmu, $softpmu) = @ARGV;
	my $ask = sub { open(my $f, '-|', $softpmu, 'msr', '--pmu', $pmu, '-j', @_) or die; local $/; my $t = <$f>;
		close $f; die "$pmu @_: exit $?\n" if $?; decode_json($t) };
	my $list = $ask->();
	my ($n, $seen) = (0, '');
	for my $r (@{$list->{registers}}) {
		(my $kind = $r->{name}) =~ s/\d+(?=\D*$)/N/;
		next if $seen eq $kind;		# one of each kind
		$seen = $kind;
		my $layout = $ask->($r->{name});
		die "$pmu $r->{name}: address\n" if $layout->{address} != $r->{address} ||
			$layout->{space} ne $r->{space};
		die "$pmu $r->{name}: no fields\n" unless @{$layout->{fields}};
		die "$pmu $r->{name}: reset\n" if $r->{present} && $layout->{reset} != $r->{reset};
		# those of more than two hardware threads are absent in the list, and shown for a host that has them
		my $value = $ask->($r->{name}, $r->{reset} // 0);
		die "$pmu $r->{name}: fields\n" if @{$value->{fields}} != @{$layout->{fields}};
		die "$pmu $r->{name}: $value->{write}\n" if $value->{write} ne ($r->{help} =~ /read-only/
			? 'read-only' : !$r->{present} && $r->{name} !~ /THREADS/ ? 'absent' : 'taken');
		$n++;
		next unless $r->{name} =~ /CCCR|ESCR|EVTSEL|CESR|CTRL|PEBS_ENABLE/;
		my $all = $ask->($r->{name}, '0xffffffffffffffff');	# a bit that faults is not explained
		my $good = $ask->($r->{name}, sprintf '0x%x', ~(0 + $all->{reserved}));
		die "$pmu $r->{name}: explains reserved bits\n" if "@{$all->{notes}}" ne "@{$good->{notes}}";
	}
	my $event = $ask->('-e', 'instructions');
	my $writes = $event->{groups}[0]{writes};
	die "$pmu: writes\n" unless @$writes > 1 && !grep { !defined $_->{address} || $_->{why} eq '' } @$writes;
	print "ok\n" if $n >= 2;
	P
	for table in "$TOP"/data/events/*.tsv; do
		pmu=$(basename "$table" .tsv)
		case $pmu in uncore-*) continue ;; esac
		same "JSON of $pmu" "$(perl "$work/check.pl" "$pmu" "$SOFTPMU" 2>&1)" ok
	done
fi
exit $failed
