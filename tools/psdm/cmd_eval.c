/* cmd_eval.c: psdm eval: one function of a robot at every state of a CSV. */
#include "tool.h"

static const char *const positional[] = {"ROBOT", "FUNCTION", NULL};

static const char help[] =
    "Evaluates one function of a robot at every state of a CSV. The first row of the CSV names its\n"
    "columns: q1..qn, qd1..qdn, qdd1..qddn, tau1..taun, as needed by the function. SI units, angles in radians.\n"
    "Rows are streamed: memory does not grow with the number of states.\n"
    "\n"
    "functions:\n" PSDM_FUNCTION_LIST(
        TOOL_FUNCTION_HELP) "\nenergy writes the columns T and U, pose x, y, z and R1_1 .. R3_3.\n"
                            "\nexamples:\n"
                            "  psdm eval robots/kuka_kr6.yaml inverse --in states.csv --out torques.csv\n"
                            "  printf 'q1,q2\\n0.1,0.2\\n' | psdm eval robots/two_link.yaml gravity\n"
                            "  psdm eval robots/kuka_kr6.yaml pose --link A5 --in states.csv --ignore-extra\n"
                            "  psdm eval robots/two_link.yaml linearize_inverse --in states.csv\n"
                            "  psdm eval robots/kuka_kr6.yaml cartesian-mass --directions x,y,z --point 0,0,0.1 --in "
                            "states.csv --ignore-extra\n"
                            "  psdm eval robots/two_link.yaml inverse --wrench 'link2:0,-20,0,0,0,0' --in states.csv\n";

const command_line eval_line = {"eval", NULL, positional, help};

int cmd_eval(int argc, char **argv) { return tool_job_quiet(&eval_line, argc, argv); }
