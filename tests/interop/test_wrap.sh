# Wrappers of generated code as their users meet them: strict compilers, the same bytes again, hostile names, and both interfaces called by hand.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
strict="-std=c99 -pedantic -Wall -Wextra -Werror -O1"

# okay WHAT COMMAND...: the command succeeds
okay() {
  local what=$1
  checks=$((checks + 1))
  shift
  "$@" > out 2> err < /dev/null || wrong "$what"
}

# ---- output files ----
run codegen --effort 0 "$robots/two_link.yaml" --out plain
expect_code 0 "no wrapper"
checks=$((checks + 1))
[ "$(ls plain | wc -l)" = 4 ] || wrong "without --wrap there are other files than the four"
for options in "--target simd" "--theta argument --wrench" "--gravity-argument --payload"; do
  for folder in first second; do
    # the banner has the command line, and so the folder's name
    mkdir -p "$folder" && cd "$folder" && run codegen --effort 0 "$robots/two_link.yaml" --out code --prefix arm --wrap casadi,fmu $options
    expect_code 0 "wrappers, $options"
    cd ..
  done
  okay "the same bytes again, $options" diff -r first/code second/code
  cd first/code || exit 2
  for compiler in "$CC $strict" "g++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -O1"; do
    okay "casadi by $compiler, $options" $compiler -c arm_casadi.c -o casadi.o
    okay "fmu by $compiler, $options" $compiler -c arm_fmu.c -o fmu.o
  done
  okay "make casadi fmu, $options" make -s casadi fmu CC="$CC" CFLAGS="$strict" FMU_CFLAGS="$strict"
  okay "the self-test stays, $options" make -s check CC="$CC" CFLAGS="$strict"
  checks=$((checks + 1))
  nm -D --defined-only libarm_casadi.so | awk '$3 !~ /^(jac_)?(inverse|gravity|bias|mass|forward|regressor|energy|jacobian|pose|linearize_inverse|linearize_forward)(_|$)/ { print; bad = 1 } END { exit bad }' > out 2>&1 \
    || wrong "the library for CasADi exports foreign names"
  okay "make clean, $options" make -s clean
  checks=$((checks + 1))
  [ -z "$(ls | grep -e '\.so$' -e '\.fmu$')" ] || wrong "make clean leaves something"
  cd "$work" || exit 2
  rm -rf first second
done

# the identity depends on the code's function, not on its folder
run codegen --effort 0 "$robots/two_link.yaml" --out a --prefix arm --functions forward --wrap fmu
run codegen --effort 0 "$robots/two_link.yaml" --out b --prefix arm --functions forward --wrap fmu
run codegen --effort 0 "$robots/two_link.yaml" --out c --prefix arm --functions forward --wrap fmu --gravity 0,0,-1
guid() { sed -n 's/.* guid="\([^"]*\)".*/\1/p' "$1/modelDescription.xml"; }
checks=$((checks + 3))
[ "$(guid a)" = "$(guid b)" ] || wrong "two folders of the same code have two GUIDs"
[ "$(guid a)" != "$(guid c)" ] || wrong "two codes have the same GUID"
grep -qF "$(guid a)" a/arm_fmu.c || wrong "the code has another GUID than the description"

# ---- both interfaces by hand ----
okay "make" make -s -C a fmu CC="$CC"
run codegen --effort 0 "$robots/fanuc_sr6ia.yaml" --out d --prefix arm --functions inverse,forward,mass,regressor --wrap casadi
okay "make" make -s -C d casadi CC="$CC"
okay "called by hand" python3 -B "$SOURCE/tests/interop/wrap_by_hand.py" d/libarm_casadi.so a "$robots/fanuc_sr6ia.yaml"

# ---- names that look like code, in XML and in C ----
cat > hostile.yaml <<'YAML'
name: "\"/><evil a='&lt;' */ #error evil\n%s \x01 \uFFFE é"
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: "a\"><evil/>", a: 0.5}
  - {name: "<!-- evil -- ]]> &evil;", a: 0.4}
links:
  - {name: "l1", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: "l2", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
YAML
run codegen --effort 0 hostile.yaml --out hostile --prefix arm --functions forward --wrap casadi,fmu --theta argument
expect_code 0 "hostile names"
okay "hostile names: compiled" make -s -C hostile casadi fmu CC="$CC" CFLAGS="$strict -Wcomment -Wtrigraphs" FMU_CFLAGS="$strict -Wcomment -Wtrigraphs"
checks=$((checks + 1))
python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
tags = {element.tag for element in root.iter()}
assert "evil" not in tags, tags
assert root.get("modelName").startswith("\"/><evil a="), root.get("modelName")
assert root.find("ModelVariables/ScalarVariable").get("description").endswith("joint a\"><evil/>")
' hostile/modelDescription.xml > out 2> err || wrong "hostile names in XML"

# ---- refusals ----
run codegen "$robots/two_link.yaml" --out no --wrap casady
expect_code 2 "unknown wrapper"
expect_in err "--wrap 'casady': did you mean 'casadi'?"
run codegen "$robots/two_link.yaml" --out no --wrap fmu --real float
expect_in err "no float with a wrapper"
run codegen "$robots/two_link.yaml" --out no --wrap casadi --sincos caller
expect_in err "a wrapper cannot pass sines and cosines"
expect_absent no
finish
