/* cmd_codegen.c: psdm codegen: the dynamics as straight-line C, with a self-test. */
#include <string.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

#define FUNCTIONS PSDM_FUNCTION_LIST(TOOL_FUNCTION_HELP) PSDM_FUNCTION_FRICTION_LIST(TOOL_FUNCTION_HELP)
#define WRAPPERS PSDM_CODE_WRAP_LIST(TOOL_WORD_HELP)
static const char help[] =
    "Writes a robot's dynamics as straight-line C without state or allocation, which needs only libm. The folder is "
    "self-contained:\n"
    "'make check' in it compiles the code and runs its self-test against numbers from the recursions here.\n"
    "\n"
    "functions:\n" FUNCTIONS "\nwrappers:\n" WRAPPERS "\nexamples:\n"
    "  psdm codegen robots/kuka_kr6.yaml --out kr6\n"
    "  psdm codegen robots/kuka_kr6.yaml --out kr6 --functions inverse,mass --target simd --optimise throughput\n"
    "  psdm codegen robots/denso_vs6556g.yaml --out denso --theta argument --functions inverse,regressor "
    "--friction-columns\n"
    "  psdm codegen robots/kuka_kr6.yaml --out arm --real float --prefix arm --functions inverse,forward "
    "--payload\n"
    "  psdm codegen robots/kuka_kr6.yaml --out gpu --target cuda --real float --functions "
    "inverse,forward,regressor\n"
    "  psdm codegen robots/kuka_kr6.yaml --out kr6 --functions inverse,forward --wrap casadi,fmu\n"
    "  psdm codegen robots/denso_vs6556g.yaml --out rough --theta argument --functions inverse --friction lugre\n";

const command_line codegen_line = {"codegen", NULL, positional, help};

static bool listed(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
  return false;
}

static int print(const psdm_job *job) {
  const psdm_codegen_result *r = (const psdm_codegen_result *)psdm_job_result(job);
  const char *out = tool_safe(r->directory);
  if (tool_quiet()) return EXIT_OK;
  bool calls = false; /* friction's */
  for (long k = 0; k < r->functions.rows; k++) calls = calls || r->functions.item[k].calls > 0;
  printf("  %-18s %-10s %8s %8s %6s %6s %6s%s\n", "function", "method", "mult", "add", "div", "sincos", "depth",
         calls ? "  calls" : "");
  for (long k = 0; k < r->functions.rows; k++) {
    const psdm_coded_function *f = &r->functions.item[k];
    printf("  %-18s %-10s %8ld %8ld %6ld %6ld %6ld", f->function, f->method, f->mult, f->add, f->div + f->sqrt,
           f->sincos, f->depth);
    if (calls) printf(" %6ld", f->calls);
    printf("\n");
  }
  printf("\n%s/", out);
  for (long k = 0; k < r->files.rows; k++) printf("%s%s", k ? ", " : "", r->files.item[k]);
  printf(": try 'make -C %s check'\n", out);
  for (int w = 0; w < PSDM_CODE_WRAPS; w++) {
    const char *name = psdm_code_wrap_name((psdm_code_wrap)w);
    if (listed(tool_job_text(job, "wrap"), name)) printf("wrapped: try 'make -C %s %s'\n", out, name);
  }
  return EXIT_OK;
}

int cmd_codegen(int argc, char **argv) { return tool_job_command(&codegen_line, argc, argv, NULL, print); }
