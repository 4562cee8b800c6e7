#!/bin/bash
# A SLURM cluster of two nodes on this machine, for a minute: the script of docs/scale.md gives the bytes of one process; requeued or killed in the middle it
# continues from its checkpoint; a bad log ends the job with its name and exit code 3; srun without PMIx reports the fault. Ports, keys, sockets and logs are
# the test's own.
set -eu
PATH=$(dirname "$PSDM"):$PATH:/usr/sbin:/sbin
skip() {
  echo "SKIPPED: $*"
  exit 77
}
for program in munged slurmctld slurmd srun sbatch scontrol squeue scancel mpirun; do
  command -v $program > /dev/null || skip "$program is missing; install munge, slurm-wlm and openmpi-bin"
done
[ -e "$BUILD/lib/psdm/psdm_mpi.so" ] || skip "this build has no psdm_mpi.so; install libopenmpi-dev and configure again"
[ -z "${SANITIZE:-}" ] || skip "MPI's own leaks hide what a sanitizer would report"
work=$(mktemp -d -t slurm-XXXXXX) # short: sockets have short names
work=$(readlink -f "$work")
daemons=()
job=

ours() { # the processes of a name whose folder is the test's
  local process
  for process in $(pgrep -x "$1"); do
    case $(readlink "/proc/$process/cwd" 2> /dev/null) in "$work"*) echo "$process" ;; esac
  done
}
finish() {
  local k
  trap - EXIT
  if [ ${#daemons[@]} -gt 1 ]; then
    timeout 10 scancel --user="$(id -un)" 2> /dev/null || true
    for ((k = 0; k < 100; k++)); do # steps end before their watchers
      [ -z "$(timeout 5 squeue -h -o %i 2> /dev/null)" ] && break
      sleep 0.1
    done
  fi
  for process in $(ours psdm); do kill -9 "$process" 2> /dev/null || true; done
  for ((k = ${#daemons[@]} - 1; k >= 0; k--)); do
    kill "${daemons[k]}" 2> /dev/null || true
    wait "${daemons[k]}" 2> /dev/null || true
  done
  rm -rf "$work"
}
trap finish EXIT
wrong() {
  echo "WRONG: $*"
  exit 1
}
same() { cmp "$1" "$2" || wrong "$1 and $2 differ: $3"; }
start() { # NAME COMMAND...: stays until the end
  local name=$1
  shift
  "$@" > "$work/$name.words" 2>&1 &
  daemons+=($!)
}

# ---- two nodes on one machine: each has its own folder in place of its own memory and its own /tmp ----
chmod 700 "$work"
mkdir "$work/state" "$work/tmp-near1" "$work/tmp-near2"
head -c 1024 /dev/urandom > "$work/munge.key"
chmod 600 "$work/munge.key"
read -r controller near1 near2 <<< "$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(3)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')"
printf '#!/bin/sh\necho "export TMPDIR=%s/tmp-$SLURMD_NODENAME"\necho "export OMPI_MCA_btl_vader_backing_directory=%s/tmp-$SLURMD_NODENAME"\n' "$work" "$work" > "$work/prolog"
chmod 700 "$work/prolog"
cat > "$work/slurm.conf" <<EOF
ClusterName=psdm
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$controller
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
TmpFS=$work/tmp-%n
TaskProlog=$work/prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=2
NodeName=near1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$near1 CPUs=4
NodeName=near2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$near2 CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$work/slurm.conf OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1
start munged munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munged.seed"
for ((k = 0; k < 50; k++)); do [ -S "$work/munge.socket" ] && break || sleep 0.1; done
start slurmctld slurmctld -D -f "$work/slurm.conf"
start near1 slurmd -D -N near1 -f "$work/slurm.conf"
start near2 slurmd -D -N near2 -f "$work/slurm.conf"
up() { [ "$(timeout 5 sinfo -h -o %D -t idle 2> /dev/null)" = 2 ]; }
for ((k = 0; k < 150; k++)); do up && break || sleep 0.1; done
up || skip "SLURM does not start on this machine: $(tail -n 3 "$work"/*.words)"
timeout 20 srun -N 2 -n 4 true 2> "$work/words" || skip "SLURM does not start jobs on this machine: $(cat "$work/words")"
timeout 5 srun --mpi=list 2>&1 | grep -q pmix || skip "this srun has no pmix"
echo "SLURM $(srun --version | cut -d' ' -f2) has two nodes"

# ---- the script of the documentation; nodes, tasks and threads are those of this machine ----
mkdir "$work/job" && cd "$work/job"
awk '/^```/ { inside = 0 } inside { print } /^```bash/ { getline; if (/^#!\/bin\/bash/) { inside = 1; print } }' "$SOURCE/docs/scale.md" |
  sed 's/--nodes=.*/--nodes=2/; s/--ntasks-per-node=.*/--ntasks-per-node=2/; s/\(#SBATCH --cpus-per-task\)=.*/\1=1/' > job.sh
grep -q '^srun --mpi=pmix .* psdm calibrate arm.yaml ' job.sh && grep -q '^#SBATCH --nodes=2$' job.sh || wrong "docs/scale.md has no script for SLURM: $(cat job.sh)"
gone() { # JOB: waits until it ends; the exit code is the job's
  for ((k = 0; k < 600; k++)); do
    [ -n "$(timeout 5 squeue -h -j "$1" -o %t 2> /dev/null)" ] || return "$(scontrol show job "$1" | sed -n 's/.* ExitCode=\([0-9]*\):.*/\1/p')"
    sleep 0.1
  done
  wrong "job $1 does not end"
}
submit() { gone "$(sbatch --parsable -o "$1.out" "$1.sh")"; }
cp "$SOURCE/robots/two_link.yaml" arm.yaml
mkdir logs
psdm excite arm.yaml --seconds 10 --starts 2 --evaluations 40 --periods 5 --out motion.csv > words 2>&1
psdm simulate arm.yaml --inverse --reference motion.csv --ignore-extra --log logs/a.csv --log-rate 1000 > words 2>&1
cp logs/a.csv logs/b.csv
psdm calibrate arm.yaml --log logs/*.csv --holdout 0.3 --out alone.yaml --quiet 2> words
submit job || wrong "the script ends with $?: $(cat job.out)"
same alone.yaml arm_params.yaml "a job of two nodes"
[ "$(grep -c '^verdict' job.out)" = 1 ] || wrong "four tasks do not speak once: $(cat job.out)"
timeout 30 srun -N 1 -n 3 --mpi=pmix psdm calibrate arm.yaml --log logs/*.csv --holdout 0.3 --out three.yaml --quiet 2> words || wrong "srun on one node: $(cat words)"
same alone.yaml three.yaml "srun of three tasks"
sed 's/^srun .* psdm/mpirun --mca btl self,tcp psdm/' job.sh > mpirun.sh # two nodes on one machine would be taken for one by their shared memory
rm -rf parts arm_params.yaml
submit mpirun || wrong "mpirun ends with $?: $(cat mpirun.out)"
same alone.yaml arm_params.yaml "mpirun in a job"
echo "sbatch, srun and mpirun on two nodes: the bytes of one process"

# ---- failures, in one message ----
for mpi in none pmi2; do
  code=0
  timeout 20 srun -N 2 -n 4 --mpi=$mpi psdm calibrate arm.yaml --log logs/*.csv 2> words || code=$?
  [ "$code" = 2 ] && [ "$(grep -c 'srun started 4 processes that do not know of each other: .* needs srun --mpi=pmix' words)" = 1 ] || wrong "srun --mpi=$mpi: exit $code, $(cat words)"
done
[ "$(PSDM_RANKS=off timeout 20 srun -N 2 -n 4 --mpi=none psdm --version 2> words | wc -l)" = 4 ] || wrong "PSDM_RANKS=off does not keep tasks apart"
code=0
timeout 20 srun -N 2 -n 2 --mpi=pmix --kill-on-bad-exit=1 bash -c '[ $SLURM_PROCID = 0 ] || export PSDM_PLUGINS=/nowhere; exec psdm calibrate arm.yaml --log logs/a.csv' 2> words || code=$?
[ "$code" != 0 ] && [ "$(grep -c "psdm: error: on $(hostname): .*psdm_mpi.so is missing" words)" = 1 ] || wrong "a node without the plug-in: exit $code, $(cat words)"
printf 't,q1,q2,tau1,torque\n0,1,2,3,4\n' > logs/c.csv
rm -rf parts arm_params.yaml
cp job.sh bad.sh
code=0
submit bad || code=$?
[ "$code" = 3 ] && [ "$(grep -c 'psdm: error: logs/c.csv:1:' bad.out)" = 1 ] && [ ! -e arm_params.yaml ] || wrong "a bad log: exit $code, $(cat bad.out)"
rm -rf logs/c.csv parts
echo "a bad log ends the job with exit 3, tasks that do not know each other with exit 2, each with one message"

# ---- requeued, then a task killed, then submitted again ----
for k in {01..40}; do ln logs/a.csv "logs/long$k.csv"; done
quick=(--estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536)
sed "s/psdm calibrate arm.yaml/& ${quick[*]}/" job.sh > long.sh
psdm calibrate arm.yaml "${quick[@]}" --log logs/*.csv --holdout 0.3 --out alone.yaml --quiet 2> words
groups() { find parts -name '*.part' ! -name '*-log-*' 2> /dev/null | wc -l; }
last_task() { # the process of the last one
  local process
  for process in $(ours psdm); do
    ! grep -qz '^SLURM_PROCID=3$' "/proc/$process/environ" || echo "$process"
  done
}
job=$(sbatch --parsable -o long.out long.sh)
for ((k = 0; k < 1500; k++)); do [ "$(groups)" = 0 ] && sleep 0.02 || break; done
[ "$(groups)" -gt 0 ] || wrong "no group of rows is finished: $(cat long.out)"
timeout 10 scontrol requeue "$job"
for ((k = 0; k < 300; k++)); do
  [ "$(squeue -h -j "$job" -o %t)" = PD ] && break || sleep 0.05
done
before=$(groups)
! cmp -s alone.yaml arm_params.yaml || wrong "the job was over before it was requeued"
victim=
for ((k = 0; k < 600; k++)); do
  victim=$(last_task)
  [ -z "$victim" ] && sleep 0.05 || break
done
scontrol show job "$job" | grep -q 'Restarts=1' || wrong "the job was not requeued: $(scontrol show job "$job")"
[ -n "$victim" ] || wrong "the last task does not come again: $(cat long.out)"
for ((k = 0; k < 10; k++)); do [ "$(groups)" = "$before" ] && sleep 0.02 || break; done # well in the middle of a group, if one is left
kill -9 "$victim"
code=0
gone "$job" || code=$?
[ "$code" != 0 ] && scontrol show job "$job" | grep -q 'JobState=FAILED' || wrong "a killed task: $(scontrol show job "$job")"
! cmp -s alone.yaml arm_params.yaml || wrong "the job was over before a task was killed"
killed=$(groups)
rm -f arm_params.yaml
submit long || wrong "the script ends with $? when it is submitted again: $(cat long.out)"
grep -q 'parts reused from an earlier run: [1-9]' long.out || wrong "nothing was taken: $(cat long.out)"
same alone.yaml arm_params.yaml "a job that was requeued, killed and submitted again"
echo "a job was requeued after $before groups of rows, a task killed after $killed, and submitted again: the bytes of one process"
