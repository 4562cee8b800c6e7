/* cmd_bench.c: psdm bench: operations and time of generated code beside the recursions. */
#include <string.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Generates a robot's dynamics as code, compiles it with the system's C compiler, compares every number with the "
    "recursions, and\n"
    "measures: operations, bytes of machine code, nanoseconds per call (sines included), nanoseconds per state in "
    "batches of 64 on\n"
    "vectors; beside them the library's recursion, the baseline.\n"
    "Exit 1 when an error is above 1e-12, 2 when there is no compiler. Compiled code is kept: $PSDM_CACHE, else "
    "~/.cache/psdm.\n\n"
    "examples:\n"
    "  psdm bench robots/kuka_kr6.yaml\n"
    "  psdm bench robots/kuka_kr6.yaml --functions inverse,forward --method auto --json\n"
    "  CC=clang psdm bench robots/kuka_lbr7.yaml --optimise throughput\n";

const command_line bench_line = {"bench", NULL, positional, help};

/* the first row of a function is what codegen takes, where it was chosen */
static void print_row(const char *function, bool chosen, const psdm_timed_code *c, double library) {
  printf("  %-17s%c %-10s %6ld %6ld %4ld %4ld %6ld %7ld %9.1f %9.1f", function, chosen ? '*' : ' ', c->method, c->mult,
         c->add, c->div + c->sqrt, c->sincos, c->depth, c->bytes, c->ns, c->ns_batch);
  if (function[0]) printf(" %9.1f", library);
  else printf(" %9s", "");
  printf("  %.1e\n", c->error);
}

static void print_function(const psdm_timed_function *f, bool chosen) {
  const psdm_timed_code own = {f->method, f->mult,  f->add,         f->div, f->sqrt,     f->sincos,
                               f->depth,  f->bytes, f->bytes_batch, f->ns,  f->ns_batch, f->error};
  print_row(f->function, chosen, &own, f->library_ns);
  for (long k = 0; k < f->others.rows; k++) print_row("", false, &f->others.item[k], 0);
}

static int print(const psdm_job *job) {
  const psdm_bench_result *r = (const psdm_bench_result *)psdm_job_result(job);
  const char *method = tool_job_text(job, "method");
  bool chosen = strcmp(method, "all") == 0 || strcmp(method, "auto") == 0;
  const psdm_timed_function *inverse = NULL;
  printf("%s: %ld joints, %ld base parameters; %s; best of %ld rounds over %ld states\n\n", tool_safe(r->name), r->n,
         r->l, tool_safe(r->compiler), r->repeat, r->states);
  printf("  %-17s  %-10s %6s %6s %4s %4s %6s %7s %9s %9s %9s  %s\n", "function", "method", "mult", "add", "div", "sin",
         "depth", "bytes", "ns", "ns batch", "library", "error");
  for (long k = 0; k < r->functions.rows; k++) {
    print_function(&r->functions.item[k], chosen);
    if (strcmp(r->functions.item[k].function, "inverse") == 0) inverse = &r->functions.item[k];
  }
  printf("\n  %ssin: angles whose sine and cosine are computed; ns batch: per state, in batches of %ld; library: ns of "
         "the recursion\n",
         chosen ? "*: what codegen takes; " : "", r->states);
  if (inverse)
    printf(
        "  the library's recursion takes %.1f ns: the generated inverse is %.1f times as fast, in batches %.1f times\n",
        inverse->library_ns, inverse->library_ns / inverse->ns, inverse->library_ns / inverse->ns_batch);
  printf("  worst error against the recursions, relative to the largest number: %.1e\n", r->error);
  return EXIT_OK;
}

int cmd_bench(int argc, char **argv) { return tool_job_command(&bench_line, argc, argv, NULL, print); }
