/* psdm: the command. Data goes to stdout, messages to stderr. Exit 0 ok, 1 below the required quality, 2 usage or
 * system, 3 bad input, 130 or 143 interrupted. */
#include <locale.h>
#include <string.h>

#include "ranks.h"
#include "tool.h"

const tool_command tool_commands[] = {
#define COMMAND_ROW(name, help) {#name, cmd_##name, help, &name##_line},
    COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

enum { COMMAND_COUNT = sizeof tool_commands / sizeof *tool_commands };
const int tool_command_count = COMMAND_COUNT;

static int print_help(FILE *to) {
  fprintf(to, "psdm %s: dynamics of robots, from a description to exact numbers\n\nusage: psdm COMMAND ...\n\n",
          PSDM_VERSION);
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-10s %s\n", tool_commands[i].name, tool_commands[i].help);
  fprintf(to, "\n'psdm COMMAND --help' explains each with examples; 'psdm --version' prints the version.\n");
  return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int unknown_command(const char *name) {
  if (name[0] == '-')
    return tool_usage("", "'%s' comes before the command; options follow it: psdm COMMAND ... %s", tool_safe(name),
                      tool_safe(name));
  const char *words[COMMAND_COUNT];
  for (int i = 0; i < COMMAND_COUNT; i++) words[i] = tool_commands[i].name;
  const char *near = tool_nearest(name, words, COMMAND_COUNT);
  return tool_usage("", "unknown command '%s'%s%s%s", tool_safe(name), near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) return print_help(stderr);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help(stdout);
  if (strcmp(argv[1], "--version") == 0) return printf("psdm %s\n", PSDM_VERSION), EXIT_OK;
  bool asks = strcmp(argv[1], "help") == 0;
  if (asks && argc < 3) return print_help(stdout);
  const char *name = argv[asks ? 2 : 1];
  char *teach[] = {"--help"};
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(tool_commands[i].name, name) == 0)
      return asks ? tool_commands[i].run(1, teach) : tool_commands[i].run(argc - 2, argv + 2);
  return unknown_command(name);
}

static int run(int argc, char **argv) {
  int code = ranks_begin(argc > 1 ? argv[1] : "");
  if (code < 0) code = tool_exit(dispatch(argc, argv));
  return ranks_end(code);
}

int main(int argc, char **argv) {
  setlocale(LC_NUMERIC, "C"); /* a preloaded library may have set another */
  streams_open();
  tool_guard();
  tool_begin();
  int code = tool_roomy(run, argc, argv);
  tool_end();
  tool_detail("exit code %d", code);
  code = streams_close(code);
  tool_last(code);
  return code;
}
