# SPDX-License-Identifier: GPL-2.0-or-later
# The results that the documentation shows, each made by a script of this folder.  The root Makefile includes
# this file, so `make p4` works there; `make -C experiments p4` does the same.
# Most take minutes; those that end in -native measure this host.

RESULTS := accuracy ablation topdown p4 cost-table graph-table tune-table slow-to-tuned cost-native tune-native \
	tune-software pgo gate-commits analysis-speed
.PHONY: $(RESULTS)

# Where the measurements of real machines are.
DATA ?= ../shared/data

NATIVE_PROGRAMS := build/native/micro build/native/timed build/native/streams
accuracy: $O/accuracy all $(NATIVE_PROGRAMS)	## the model beside measured machines [DATA=DIR]
	@experiments/accuracy-page.sh $O/accuracy $(DATA)
ablation: $O/accuracy	## what each mechanism of the core is worth there [DATA=DIR]
	@experiments/ablation.sh $O/accuracy $(DATA)
topdown: all	## top-down trees of the test programs
	@experiments/topdown-trees.sh
P4 := $P/l1_miss-p4 $P/l1_miss-p4-wide $(if $(FULL),$P/l1_miss-p4-full)
p4: all $(P4)	## the Pentium 4 experiment: which instruction samples of L1 misses name [FULL=1]
	@SOFTPMU=build/softpmu PROGRAMS=$P FULL=$(FULL) experiments/pentium4.sh
cost-table: all $P/cost-mispredict $P/cost-l1 $P/cost-l2	## what events cost, by four methods
	@SOFTPMU=build/softpmu PROGRAMS=$P experiments/cost-table.sh
graph-table: all	## costs by the dependence graph beside those by replays
	@SOFTPMU=build/softpmu experiments/graph-table.sh
tune-table: all $P/tune	## what tuning the modelled machine gains
	@SOFTPMU=build/softpmu PROGRAMS=$P experiments/tune-table.sh
slow-to-tuned: all	## a slow program, tuned step by step
	@SOFTPMU=build/softpmu experiments/slow-to-tuned.sh
cost-native: all programs	## what a mispredict and an L2 miss cost on this host and in its model
	@experiments/cost-native.sh
tune-native: all programs	## what tuning this host gains
	@experiments/tune-native-page.sh
tune-software: all	## what the advice of tune --software gains
	@SOFTPMU=$(CURDIR)/build/softpmu OUT=$(CURDIR)/build/tune-software experiments/tune-software.sh
pgo: all	## what compilers gain from a profile taken in the model
	@SOFTPMU=$(CURDIR)/build/softpmu experiments/pgo-gain.sh
gate-commits: all	## what the gate for CI prints in a repository with three commits
	@SOFTPMU=$(CURDIR)/build/softpmu experiments/gate-commits.sh
analysis-speed: all	## CPU time of topdown, cost and tune --software beside stat's
	@SOFTPMU=build/softpmu experiments/analysis-speed.sh
