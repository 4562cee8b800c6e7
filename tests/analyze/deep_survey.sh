# Samples of bounds by CUDA's own compiler: it compiles, spills almost nothing, and loads; without a GPU the command says so, with one a million samples are compared with the
# processor's bin by bin.
. "$SOURCE/tests/tools/cli.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null || { echo "SKIPPED: nvcc is missing, so the program for samples was not compiled" >&2; exit 77; }
mkdir cache
export PSDM_CACHE=$PWD/cache # compiled anew

# one kind of GPU instead of all, and each kernel's resources
cat > nvcc-here <<'SH'
#!/bin/sh
words=
for word; do
  [ "$word" = -arch=all-major ] && word="-arch=sm_90 -Xptxas -v"
  words="$words $word"
done
exec nvcc $words > kernels 2>&1
SH
chmod +x nvcc-here
for robot in kuka_kr6 kuka_lbr7; do
  NVCC=$PWD/nvcc-here run analyze "$robots/$robot.yaml" --points 100 --samples 100000 --device cuda --json
  checks=$((checks + 2))
  grep -A2 'Function properties for .*survey' kernels > survey
  # 255 registers hold all but a few numbers of seven joints
  awk '/spill/ { n++; if ($5 > 256 || $9 > 256) bad = 1 } END { exit bad || !n }' survey || wrong "$robot: registers are spilled: $(cat survey kernels)"
  if [ "$code" = 2 ]; then
    grep -q "no GPU that CUDA can use was found" err || wrong "$robot: without a GPU"
    gpu=
  else
    expect_code 0 "$robot on the GPU"
    gpu=yes
  fi
done
if [ -z "$gpu" ]; then
  echo "SKIPPED: no GPU here, so the program was compiled and not run"
else
  PSDM_SURVEY_NVCC=nvcc "$BUILD/tests/test_survey" > out 2> err
  code=$?
  expect_code 0 "samples on the GPU beside the processor's"
  cat out
fi
finish
