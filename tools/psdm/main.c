/* psdm: the command. Data goes to stdout, words to stderr. Exit 0 ok, 1 below the asked quality, 2 usage or system, 3 bad input. */
#include <errno.h>
#include <string.h>

#include "tool.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"eval", cmd_eval, "evaluate torques, accelerations, matrices, energies, poses at states"},
    {"derive", cmd_derive, "derive the closed-form regressor model and its base parameters"},
    {"params", cmd_params, "base parameters with formulas and values"},
    {"codegen", cmd_codegen, "write the dynamics as straight-line C, with a self-test"},
    {"reduce", cmd_reduce, "a smaller model, right to a stated error at a stated confidence"},
    {"linearize", cmd_linearize, "linear models, stability, sampling and LQR gains at equilibria or along a motion"},
    {"analyze", cmd_analyze, "what M, c and g depend on, what would decouple or balance them, bounds, ellipsoids along a path"},
    {"simulate", cmd_simulate, "a robot in motion: friction, springs, loads, controllers, and where the energy went"},
    {"excite", cmd_excite, "motions for a robot to make, that tell its parameters apart"},
    {"calibrate", cmd_calibrate, "inertias and friction from measured logs, with what they are worth"},
    {"payload", cmd_payload, "mass, centre of mass and inertia of what a calibrated robot carries"},
    {"plan", cmd_plan, "the quickest or least strenuous motion, the quickest way along a path, a trajectory slower or quicker"},
    {"bench", cmd_bench, "operations and time of generated code beside the recursions"},
    {"inspect", cmd_inspect, "show what was understood of a robot file"},
    {"convert", cmd_convert, "write a robot as YAML or URDF; import MATLAB tables"},
    {"doctor", cmd_doctor, "check that this installation works"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int print_help(FILE *to) {
  fprintf(to, "psdm %s: dynamics of robots, from a description to exact numbers\n\nusage: psdm COMMAND ...\n\n", PSDM_VERSION);
  for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
  fprintf(to, "\n'psdm COMMAND --help' teaches each by example; 'psdm --version' tells the version.\n");
  return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int unknown_command(const char *name) {
  const char *words[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) words[i] = commands[i].name;
  const char *near = tool_nearest(name, words, COMMANDS);
  return tool_usage("", "unknown command '%s'%s%s%s", tool_safe(name), near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) return print_help(stderr);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help(stdout);
  if (strcmp(argv[1], "--version") == 0) return printf("psdm %s\n", PSDM_VERSION) < 0;
  bool asks = strcmp(argv[1], "help") == 0;
  if (asks && argc < 3) return print_help(stdout);
  const char *name = argv[asks ? 2 : 1];
  char *teach[] = {"--help"};
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0) return asks ? commands[i].run(1, teach) : commands[i].run(argc - 2, argv + 2);
  return unknown_command(name);
}

int main(int argc, char **argv) {
  int code = dispatch(argc, argv);
  /* a full disk shows up only here */
  if (fclose(stdout) && errno != EBADF && code == EXIT_OK) {
    fprintf(stderr, "psdm: error: <stdout>: cannot be written: %s\n", strerror(errno));
    code = EXIT_USAGE;
  }
  return code;
}
