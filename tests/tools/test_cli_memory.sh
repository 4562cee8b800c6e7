# --memory: every command that may need much memory states its need beforehand, and starts nothing if that is too much.
. "$SOURCE/tests/tools/cli.sh"
export OPENBLAS_NUM_THREADS=1
kr6=$robots/kuka_kr6.yaml

# refused WORDS -- COMMAND...: exit 3, the number that is needed, the limit, and nothing written
refused() {
  local words=$1; shift 2
  run "$@"
  expect_code 3 "$*"
  expect_in err "$words"
  expect_in err "more than the"
  expect_in err "that it may take (--memory)"
}

# a motion of 3 s and the states along it
run simulate "$kr6" --inverse --reference sines --amplitude 0.3 --time 3 --log log.csv --log-rate 1000
expect_code 0 "a log"
awk -F, -v OFS=, 'NR == 1 { print "q1,q2,q3,q4,q5,q6,qd1,qd2,qd3,qd4,qd5,qd6,qdd1,qdd2,qdd3,qdd4,qdd5,qdd6"; next } { print $2,$3,$4,$5,$6,$7,$7,$6,$5,$4,$3,$2,$2,$3,$4,$5,$6,$7 }' log.csv > states.csv
cut -d, -f1-7 log.csv > path.csv

{ echo "convention: modified-dh"; echo "joints:"; for j in 1 2 3 4 5 6 7 8; do echo "  - {name: j$j, alpha: 0.$j, a: 0.2, d: 0.1, limits: {lower: -1, upper: 1, velocity: 1, effort: 100}}"; done
  echo "links:"; for j in 1 2 3 4 5 6 7 8; do echo "  - {mass: 1, com: [0.1, 0, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}"; done; } > eight.yaml
refused "the closed form of these 8 joints needs about" -- derive eight.yaml --memory 50M --export eight.json
expect_absent eight.json
refused "the closed form of these 8 joints needs about" -- codegen eight.yaml --method expanded --memory 50M --out code
expect_absent code
{ sed -n 1,2p eight.yaml; for j in $(seq 60); do echo "  - {name: j$j, alpha: 0.3, a: 0.2, d: 0.1}"; done; } > sixty.yaml
refused "code for these 60 joints needs about 1.5 GB" -- codegen sixty.yaml --functions linearize_forward --theta argument --memory 1G --out code
expect_absent code
refused "the closed form of these 8 joints needs about" -- eval eight.yaml inverse --via expanded --memory 50M
refused "the closed form of these 8 joints needs about" -- reduce eight.yaml --memory 50M
refused "the closed form of these 8 joints needs about" -- analyze eight.yaml --memory 50M
refused "a system of" -- derive "$kr6" --method dense --memory 1M
refused "the matrix of samples needs about" -- params eight.yaml --model d --memory 1M
refused "keeping some 3e+03 rows needs about" -- reduce "$kr6" --profile states.csv --memory 1M
refused "keeping some 3e+03 rows needs about" -- analyze "$kr6" --path path.csv --ignore-extra --memory 2M
refused "keeping some 3e+03 rows needs about" -- simulate "$kr6" --inverse --reference path.csv --time 3 --memory 1M
refused "keeping some 3e+03 rows needs about" -- plan "$kr6" scale --trajectory path.csv --memory 1M
refused "lqr: keeping 2001 sets of gains needs about" -- simulate "$kr6" --reference sines --amplitude 0.3 --control lqr --time 10 --memory 1M
refused "keeping 1e+06 rows needs about 352 MB" -- excite "$kr6" --periods 100 --rate 1000 --memory 300M --wall 60
refused "the search needs about 1.9 GB" -- excite "$kr6" --harmonics 100 --memory 1G --wall 60
refused "the program of the optimal motion needs about" -- plan "$kr6" time --from 0 --to 0.3 --velocity 2 --effort 200 --memory 2M --out motion.csv
expect_absent motion.csv
refused "keeping 3001 rows needs about" -- calibrate "$kr6" --log log.csv --memory 1M --out found.yaml
expect_absent found.yaml

# enough memory is accepted
run derive "$kr6" --memory 1G
expect_code 0 "derive with room"
for wrong in 0 12 many 4Q -1G; do
  run derive "$kr6" --memory "$wrong"
  expect_code 2 "--memory $wrong"
  expect_in err "--memory '$wrong': a number of bytes from 1M was expected, as 800M or 4G"
done
finish
