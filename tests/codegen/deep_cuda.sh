# Generated CUDA code by CUDA's own compiler: no spilled register in inverse dynamics and in the linearizations, the device functions of nvcc's host side beside the plain C ones, the
# CMake target, the Python entry's sentence without a GPU; and, where there is a GPU, the self-tests and arrays of torch and cupy.
. "$SOURCE/tests/tools/cli.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null || { echo "SKIPPED: no nvcc here, so generated CUDA code was not compiled" >&2; exit 77; }

okay() { # WHAT COMMAND...
  local what=$1
  checks=$((checks + 1))
  shift
  "$@" > out 2> err < /dev/null || wrong "$what"
}

functions=inverse,mass,forward,regressor,linearize_inverse,linearize_forward
for name in kr6-float lbr7-double; do
  real=${name#*-}
  run codegen --effort 0 --method recursive "$robots/kuka_${name%-*}.yaml" --out "$name" --prefix arm --target cuda --real "$real" --functions $functions
  expect_code 0 "codegen $name"
  # registers: what each kernel takes, on the machine code's own word
  okay "$name: nvcc" make -s -C "$name" ARCH=sm_90 NVCCFLAGS="-O3 -std=c++17 -arch=sm_90 -Xptxas -v -Xcompiler -Wall,-Wextra" CFLAGS="-std=c99 -O1" arm_cuda.o
  cat out err > report
  grep -E 'warning' report > words && wrong "$name: nvcc warns: $(head -3 words)"
  grep -A2 'Function properties for .*arm_inverse_kernel' report > inverse
  checks=$((checks + 2))
  awk '/spill/ { n++; if (!/ 0 bytes spill stores, 0 bytes spill loads/) bad = 1 } END { exit bad || !n }' inverse || wrong "$name: inverse dynamics spills registers: $(cat inverse)"
  grep -oE 'Used [0-9]+' inverse | awk '{ n++; if ($2 > 168) bad = 1 } END { exit bad || !n }' || wrong "$name: inverse dynamics takes too many registers: $(cat inverse)"
  # what the linearizations cannot hold in registers is in shared memory, with compilers that can do that
  if nvcc --version | grep -qE 'release (1[3-9]|[2-9][0-9])'; then
    grep -A2 'Function properties for .*arm_linearize_.*_kernel' report > linear
    checks=$((checks + 1))
    awk '/spill/ { n++; if (!/ 0 bytes spill stores, 0 bytes spill loads/) bad = 1 } END { exit bad || n != 2 }' linear || wrong "$name: a linearization goes to local memory: $(cat linear)"
  fi
  okay "$name: self-test is built" make -s -C "$name" ARCH=sm_90 CFLAGS="-std=c99 -O1" arm_selftest libarm_cuda.so
  "$name/arm_selftest" > out 2> err
  code=$?
  checks=$((checks + 1))
  [ $code = 0 ] || [ $code = 77 ] || wrong "$name: self-test"
done
[ $code = 0 ] && gpu=yes || gpu=

# nvcc's host side of the device functions
cat > host.cu <<'CU'
#include <stdio.h>
#include "arm.cuh"
static double worst;
static void compare(const double *a, const double *b, int count) {
  double size = 0, off = 0;
  for (int k = 0; k < count; k++) {
    size = fmax(size, fabs(b[k]));
    if (!(fabs(a[k] - b[k]) <= off)) off = fabs(a[k] - b[k]);
  }
  if (!(off/size <= worst)) worst = off/size;
}
int main() {
  unsigned long long seed = 2024;
  for (int i = 0; i < 2000; i++) {
    double x[3][ARM_N], a[ARM_N*ARM_L], b[ARM_N*ARM_L];
    for (int k = 0; k < 3*ARM_N; k++) {
      seed = seed*6364136223846793005ull + 1442695040888963407ull;
      x[k / ARM_N][k % ARM_N] = (k < ARM_N && i % 7 == 0 ? 1e9 : 3)*((double)(seed >> 11)*0x1p-52 - 1); /* now and then beyond the fast sine */
    }
    arm_inverse_device(x[0], x[1], x[2], a), arm_inverse(x[0], x[1], x[2], b), compare(a, b, ARM_N);
    arm_mass_device(x[0], a), arm_mass(x[0], b), compare(a, b, ARM_N*ARM_N);
    arm_regressor_device(x[0], x[1], x[2], a), arm_regressor(x[0], x[1], x[2], b), compare(a, b, ARM_N*ARM_L);
    enum { NN = ARM_N*ARM_N };
    arm_linearize_inverse_device(x[0], x[1], x[2], a, a + NN, a + 2*NN), arm_linearize_inverse(x[0], x[1], x[2], b, b + NN, b + 2*NN);
    for (int k = 0; k < 3; k++) compare(a + k*NN, b + k*NN, NN);
  }
  printf("worst %.1e\n", worst);
  return !(worst <= 300*0x1p-53);
}
CU
okay "host side is built" nvcc -std=c++17 -O1 -arch=sm_90 -Ilbr7-double -o host host.cu lbr7-double/arm.o
okay "host side beside plain C" ./host

# the CMake target, used by another project
mkdir other
cat > other/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.24)
project(other LANGUAGES C)
add_subdirectory(../kr6-float arm)
add_executable(other other.c)
target_link_libraries(other PRIVATE arm::cuda arm::plain)
CMAKE
printf '#include "arm.h"\nint main(void) {\n  float q[6] = {0}, M[36];\n  arm_mass(q, M);\n  return arm_mass_batch_cuda(0, q, M, 0);\n}\n' > other/other.c
okay "CMake" cmake -S other -B other/build -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_CUDA_FLAGS=-O1
okay "CMake target" cmake --build other/build --target other
okay "CMake program" ./other/build/other

if [ -z "$gpu" ]; then
  checks=$((checks + 1))
  PYTHONDONTWRITEBYTECODE=1 python3 -c "
import sys
sys.path.insert(0, 'kr6-float')
import arm_cuda
class Fake:
    def __init__(self, rows):
        self.__cuda_array_interface__ = {'shape': (rows, 8), 'typestr': '<f4', 'data': (4096 if rows == 6 else 65536, False), 'version': 3}
try:
    arm_cuda.mass(Fake(6), out=Fake(36))
except RuntimeError as why:
    print(why)
    sys.exit(0 if str(why).startswith('CUDA: ') else 1)
sys.exit(1)" > out 2> err || wrong "Python without a GPU"
  echo "SKIPPED: no GPU here, so kernels were compiled and not run; torch and cupy were not tried"
  finish
  exit
fi
cc -O1 -shared -fPIC -o libplain.so kr6-float/arm.c -lm
for library in torch cupy; do
  if python3 -c "import $library" 2> /dev/null; then
    okay "$library" env PLAIN=libplain.so PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/codegen/cuda_arrays.py" kr6-float kr6-float/libarm_cuda.so "$robots/kuka_kr6.yaml" float $library
  else
    echo "SKIPPED: no $library here"
  fi
done
finish
