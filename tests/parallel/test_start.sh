#!/bin/bash
# How ranks start or fail to start, and the doctor's report on threads, MPI and a GPU: with plug-ins, drivers and programs made here, so that neither MPI nor a GPU is needed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset OMP_NUM_THREADS PSDM_RANKS NVCC OMPI_COMM_WORLD_SIZE PMI_SIZE PMI_RANK PMIX_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID SLURM_LOCALID
wrong() {
  echo "WRONG: $*"
  exit 1
}
checks=0
says() { # CODE MESSAGE WORDS...: exit code and message, once; the words may begin with NAME=VALUE
  local code=0 expected=$1 sentence=$2
  shift 2
  env "$@" > out 2> err || code=$?
  [ "$code" = "$expected" ] || wrong "$*: exit $code in place of $expected: $(cat out err)"
  [ "$(cat out err | grep -cF -- "$sentence")" = 1 ] || wrong "$*: '$sentence' is not printed once: $(cat out err)"
  checks=$((checks + 1))
}
silent() { # CODE WORDS...
  local code=0 expected=$1
  shift
  env "$@" > out 2> err || code=$?
  [ "$code" = "$expected" ] && [ ! -s out ] && [ ! -s err ] || wrong "$*: exit $code, $(cat out err)"
  checks=$((checks + 1))
}

# ---- plug-ins: MPI by name only ----
plugin() { # FOLDER NAME SIZE KEY
  mkdir -p "$1"
  printf '#include <stdio.h>\n#include "parallel/ranks_plugin_priv.h"
static bool all(void *self, void *bytes, size_t count) { (void)self, (void)bytes, (void)count; return true; }
static void library(char *text, size_t size) { snprintf(text, size, "%%s", "%s"); }
static bool begin(psdm_ranks *ranks) { *ranks = (psdm_ranks){.size = %s, .broadcast = all}; return ranks->size > 0; }
extern const psdmp_parallel_ranks_plugin psdm_mpi;
const psdmp_parallel_ranks_plugin psdm_mpi = {%s, library, begin};\n' "$2" "$3" "$4" > plugin.c
  "${CC:-cc}" -shared -fPIC -I "$SOURCE/src" -I "$SOURCE/include" -o "$1/psdm_mpi.so" plugin.c
}
plugin open "Open MPI v9.8.7" 2 PSDMP_PARALLEL_RANKS_KEY
plugin single "MPICH Version: 9.8.7" 1 PSDMP_PARALLEL_RANKS_KEY
plugin broken "Open MPI v9.8.7" 0 PSDMP_PARALLEL_RANKS_KEY
plugin old "Open MPI v9.8.7" 2 '"psdm ranks 0"'
mkdir none
started=(OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0)
says 0 "psdm " PSDM_PLUGINS=none "$PSDM" --version
says 0 "psdm " PSDM_PLUGINS=open "${started[@]}" "$PSDM" --version
says 2 "the plug-in psdm_mpi.so is missing: install libopenmpi-dev" PSDM_PLUGINS=none "${started[@]}" "$PSDM" --version
says 2 "psdm: error: on $(hostname): several ranks were started" PSDM_PLUGINS=none SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3 SLURM_LOCALID=0 "$PSDM" --version
silent 2 PSDM_PLUGINS=none SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 SLURM_LOCALID=2 "$PSDM" --version
says 2 "psdm_mpi.so cannot be loaded: it belongs to another version" PSDM_PLUGINS=old "${started[@]}" "$PSDM" --version
says 2 "Open MPI v9.8.7 does not start" PSDM_PLUGINS=broken "${started[@]}" "$PSDM" --version
says 2 "2 processes were started that do not know of each other: psdm_mpi.so was built with MPICH" PSDM_PLUGINS=single "${started[@]}" "$PSDM" --version
says 0 "psdm " PSDM_PLUGINS=none PSDM_RANKS=off "${started[@]}" "$PSDM" --version
says 2 "PSDM_RANKS='none': on or off was expected" PSDM_PLUGINS=open PSDM_RANKS=none "${started[@]}" "$PSDM" --version

# srun: with PMIx, without, for another MPI; and mpirun of one process in its step
says 0 "psdm " PSDM_PLUGINS=open SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 PMIX_RANK=0 "$PSDM" --version
says 2 "srun started 4 processes that do not know of each other: Open MPI v9.8.7 needs srun --mpi=pmix" PSDM_PLUGINS=open SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 "$PSDM" --version
says 2 "needs srun --mpi=pmix" PSDM_PLUGINS=open SLURM_STEP_NUM_TASKS=4 PMI_SIZE=4 PMI_RANK=0 SLURM_PROCID=0 "$PSDM" --version
silent 2 PSDM_PLUGINS=open SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 SLURM_LOCALID=0 "$PSDM" --version
says 0 "psdm " PSDM_PLUGINS=open PSDM_RANKS=on SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 "$PSDM" --version
says 2 "4 processes were started that do not know of each other: psdm_mpi.so was built with MPICH Version: 9.8.7" PSDM_PLUGINS=single SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 "$PSDM" --version
says 0 "psdm " PSDM_PLUGINS=none SLURM_STEP_NUM_TASKS=4 OMPI_COMM_WORLD_SIZE=1 "$PSDM" --version

# a command that ignores the other ranks says so, except with --quiet
says 0 "psdm: note: one of 2 ranks did this" PSDM_PLUGINS=open "${started[@]}" "$PSDM" inspect "$SOURCE/robots/two_link.yaml"
env PSDM_PLUGINS=open "${started[@]}" "$PSDM" inspect "$SOURCE/robots/two_link.yaml" --quiet 2> err > out
[ ! -s err ] || wrong "--quiet: $(cat err)"

# ---- the doctor: threads ----
says 0 "1 will be used; " OMP_NUM_THREADS=1 "$PSDM" doctor
says 0 "3 will be used; $(getconf _NPROCESSORS_ONLN) processor" OMP_NUM_THREADS=3 "$PSDM" doctor

# ---- MPI ----
mkdir programs
says 0 "open/psdm_mpi.so (Open MPI v9.8.7)" PSDM_PLUGINS=open "$PSDM" doctor
says 0 "apt-get install libopenmpi-dev, then make build" PSDM_PLUGINS=none "$PSDM" doctor
says 0 "it belongs to another version: needed for several processes" PSDM_PLUGINS=old "$PSDM" doctor
says 0 "apt-get install openmpi-bin" PATH=/nowhere "$PSDM" doctor
printf '#!/bin/sh\necho "HYDRA build details:"\n' > programs/mpirun
chmod +x programs/mpirun
says 0 "(MPICH): the plug-in was built with Open MPI, ranks could not connect" PSDM_PLUGINS=open PATH="$work/programs:$PATH" "$PSDM" doctor
says 0 "$work/programs/mpirun (MPICH)" PSDM_PLUGINS=single PATH="$work/programs:$PATH" "$PSDM" doctor

# ---- a GPU: a driver with the test's answers ----
cat > driver.c <<'EOF'
#include <stdlib.h>
#include <string.h>
static int number(const char *name, int otherwise) { const char *text = getenv(name); return text ? atoi(text) : otherwise; }
int cuInit(unsigned flags) { return flags ? 1 : number("FAKE_ERROR", 0); }
int cuDriverGetVersion(int *version) { *version = number("FAKE_CUDA", 12040); return 0; }
int cuDeviceGetCount(int *count) { *count = number("FAKE_COUNT", 1); return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Imaginary 9000", (size_t)length); return device; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)139 << 30; return device; }
int cuDeviceGetAttribute(int *value, int what, int device) { *value = what == 75 ? 9 : what == 76 ? 1 : -1; return device; }
int cuGetErrorString(int error, const char **text) { *text = error == 100 ? "no CUDA-capable device is detected" : 0; return error != 100; }
EOF
mkdir driver
"${CC:-cc}" -shared -fPIC -o driver/libcuda.so.1 driver.c
printf '#!/bin/sh\necho "nvcc: NVIDIA (R) Cuda compiler driver"\necho "Cuda compilation tools, release 12.4, V12.4.131"\n' > programs/nvcc
chmod +x programs/nvcc
gpu=(LD_LIBRARY_PATH="$work/driver" NVCC="$work/programs/nvcc -O3" PSDM_PLUGINS=none)
says 0 "Imaginary 9000, 139 GiB, compute capability 9.1; driver of CUDA 12.4" "${gpu[@]}" "$PSDM" doctor
says 0 "compute capability 9.1, and others; " "${gpu[@]}" FAKE_COUNT=2 "$PSDM" doctor
says 0 "$work/programs/nvcc of CUDA 12.4: compiles CUDA code" "${gpu[@]}" "$PSDM" doctor
says 0 "its driver supports CUDA 11.8, nvcc is CUDA 12: compiled code would not load" "${gpu[@]}" FAKE_CUDA=11080 "$PSDM" doctor
says 0 "finds no GPU" "${gpu[@]}" FAKE_COUNT=0 "$PSDM" doctor
says 0 "reports: no CUDA-capable device is detected" "${gpu[@]}" FAKE_ERROR=100 "$PSDM" doctor
says 0 "reports: unknown error" "${gpu[@]}" FAKE_ERROR=7 "$PSDM" doctor
says 0 "NVCC=/nowhere/nvcc: cannot be run" NVCC=/nowhere/nvcc "$PSDM" doctor
echo "$checks beginnings and findings"
