#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of Slurm on this host, for tests: munged, slurmctld and NODES slurmd, all of the caller's own, in DIR.
#   tests/slurm-cluster.sh up DIR NODES		then: SLURM_CONF=DIR/slurm.conf sbatch ...
#   tests/slurm-cluster.sh down DIR
#   tests/slurm-cluster.sh kill-node DIR N	as if node nN lost its power: slurmd and its jobs get SIGKILL
#   tests/slurm-cluster.sh start-node DIR N
#   tests/slurm-cluster.sh restart-controller DIR
# Each node has four processors and 4 GB of memory, whatever the host has: nothing is enforced.
# It prints one line and ends with 77 where it cannot run.
set -u
action=${1:-} dir=${2:-}
PATH=$PATH:/usr/sbin:/sbin
cannot() { echo "slurm-cluster: $1"; exit 77; }
fail() { echo "slurm-cluster: $1" >&2; exit 1; }
SLURM_CONF=$dir/slurm.conf
export SLURM_CONF

# end FILE: ends the process whose number is in the file.
end() {
	[ -s "$1" ] || return 0
	pid=$(cat "$1")
	kill "${2:--TERM}" "$pid" 2>/dev/null
	tries=0
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt 200 ]; do
		tries=$((tries + 1))
		[ $tries = 100 ] && kill -KILL "$pid" 2>/dev/null
		sleep 0.05
	done
	rm -f "$1"
}
# until_true COMMAND...: waits up to 30 seconds.
until_true() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}
start_node() { slurmd -N "n$1" -f "$SLURM_CONF" -L "$dir/n$1.log" >>"$dir/n$1.out" 2>&1; }
start_controller() { slurmctld -f "$SLURM_CONF" -L "$dir/slurmctld.log" >>"$dir/slurmctld.out" 2>&1; }

up() {
	nodes=$1
	for command in munged slurmctld slurmd sbatch squeue scontrol; do
		command -v $command >/dev/null 2>&1 || cannot "$command is not installed"
	done
	slurmd -C >/dev/null 2>&1 || cannot "slurmd does not run here: $(slurmd -C 2>&1 | tail -n 1)"
	user=$(id -un)
	mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
	chmod 755 "$dir" && chmod 700 "$dir/munge"
	head -c 1024 /dev/urandom >"$dir/munge/key" && chmod 400 "$dir/munge/key"
	munged --force --key-file="$dir/munge/key" --socket="$dir/munge.socket" --pid-file="$dir/munge/pid" \
		--log-file="$dir/munge/log" --seed-file="$dir/munge/seed" >"$dir/munged.out" 2>&1 ||
		cannot "munged does not run here: $(tail -n 1 "$dir/munged.out")"
	# ports of its own, so that clusters of several tests, and one that the host has, do not meet
	port=$((20000 + $$ % 20000))
	cat >"$dir/slurm.conf" <<-EOF
	ClusterName=test
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmUser=$user
	SlurmdUser=$user
	AuthType=auth/munge
	AuthInfo=socket=$dir/munge.socket
	CredType=cred/munge
	SlurmctldPort=$port
	SlurmctldPidFile=$dir/slurmctld.pid
	SlurmdPidFile=$dir/%n.pid
	SlurmdSpoolDir=$dir/spool/%n
	StateSaveLocation=$dir/state
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	JobCompType=jobcomp/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU_Memory
	SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1
	MpiDefault=none
	SwitchType=switch/none
	ReturnToService=2
	SlurmdTimeout=10
	SlurmctldTimeout=10
	KillWait=2
	MinJobAge=60
	SlurmdParameters=config_overrides
	EOF
	list='' n=1
	while [ $n -le "$nodes" ]; do
		echo "NodeName=n$n NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + n)) CPUs=4 \
RealMemory=4096"
		list=$list,n$n n=$((n + 1))
	done >>"$dir/slurm.conf"
	echo "PartitionName=all Nodes=${list#,} Default=YES MaxTime=INFINITE State=UP" >>"$dir/slurm.conf"
	start_controller || cannot "slurmctld does not run here: $(tail -n 1 "$dir/slurmctld.log" "$dir/slurmctld.out")"
	n=1
	while [ $n -le "$nodes" ]; do
		start_node $n || cannot "slurmd does not run here: $(tail -n 1 "$dir/n$n.log" "$dir/n$n.out")"
		n=$((n + 1))
	done
	ready() { [ "$(sinfo -h -N -t idle -o %N | wc -l)" -ge "$nodes" ]; }
	until_true ready || cannot "the nodes do not answer: $(sinfo -h -N -o '%N %T' | tr '\n' ' ')"
}

case $action in
up)	up "${3:-4}" || { code=$?; "$0" down "$dir"; exit $code; } ;;
down)
	scancel --quiet --state=RUNNING 2>/dev/null
	for f in "$dir"/n*.pid "$dir/slurmctld.pid" "$dir/munge/pid"; do
		[ ! -e "$f" ] || end "$f"
	done ;;
kill-node)
	# what runs on the node: the slurmstepd processes of which a child has the node's name in its environment
	pid=$(cat "$dir/n$3.pid") || fail "n$3 does not run"
	below() {
		for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
			below "$child"
			echo "$child"
		done
	}
	steps=$(for step in $(pgrep slurmstepd); do
		for child in $(cat "/proc/$step"/task/*/children 2>/dev/null); do
			if tr '\0' '\n' <"/proc/$child/environ" 2>/dev/null | grep -qx "SLURMD_NODENAME=n$3" &&
				tr '\0' '\n' <"/proc/$child/environ" 2>/dev/null | grep -qx "SLURM_CONF=$SLURM_CONF"
			then echo "$step"; fi
		done
	done)
	for step in $steps; do
		# shellcheck disable=SC2046	# a list of processes
		kill -KILL "$step" $(below "$step") 2>/dev/null
	done
	end "$dir/n$3.pid" -KILL ;;
start-node)	start_node "$3" ;;
restart-controller)
	end "$dir/slurmctld.pid" -KILL
	start_controller && until_true sinfo -h ;;
*)	fail "up, down, kill-node, start-node or restart-controller" ;;
esac
