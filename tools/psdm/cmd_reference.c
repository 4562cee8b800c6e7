/* cmd_reference.c: psdm reference: the manual as markdown or manual pages, generated from the tables behind --help. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "reference.h"

static const char *const positional[] = {"markdown|man|results|schema", "[DIR]", NULL};

static const char help[] = "Writes the reference of all commands and options from the tables of this program: as one "
                           "markdown text to standard output, or as manual pages\n"
                           "psdm.1 and psdm-COMMAND.1 into a folder. results: every key that a command writes with "
                           "--json, as one markdown text;\n"
                           "schema: the same as JSON Schema, COMMAND.schema.json into a folder.\n\n"
                           "examples:\n"
                           "  psdm reference markdown > reference.md\n"
                           "  psdm reference man share/man/man1\n"
                           "  psdm reference results > results.md\n"
                           "  psdm reference schema share/psdm/schema\n"
                           "  man -l share/man/man1/psdm-eval.1\n";

const command_line reference_line = {"reference", NULL, positional, help};

/* ---- exit codes and variables ---- */

const reference_fact reference_exits[] = {
    {"0", "done"},
    {"1", "finished, but the result misses the required quality; a warning says why"},
    {"2", "wrong usage, or an unavailable file, program or memory"},
    {"3", "bad input: the message names file, line, what was found and what was expected"},
    {"130, 143", "interrupted (Ctrl-C; SIGTERM): the result so far is written, and a warning says what it is"},
    {NULL, NULL}};

const reference_fact reference_variables[] = {
    {"CC", "the C compiler of bench and of simulations with generated code; default: cc"},
    {"PSDM_CACHE", "folder of compiled code; default: $XDG_CACHE_HOME/psdm or ~/.cache/psdm"},
    {"PSDM_PLUGINS", "folder of the plug-ins for optimal motions and for MPI, in place of the usual ones"},
    {"PSDM_NLOPT", "NLopt's library, in place of the system's"},
    {"OMP_NUM_THREADS", "number of threads; default: as many as the processors that this process may use"},
    {"PSDM_RANKS",
     "off: processes started by mpirun or srun run independently; on: MPI is tried even if srun seems to have no PMIx"},
    {"NVCC", "CUDA's compiler for reduce --device cuda; default: nvcc"},
    {"TMPDIR", "folder for temporary files; default: /tmp"},
    {"NO_COLOR", "no colours, whatever its value; there are none without a terminal or if TERM is dumb"},
    {NULL, NULL}};

/* ---- blocks of a help text ---- */

static size_t line_length(const char *at) { return strcspn(at, "\n"); }

static bool indented(const char *at) { return at[0] == ' ' && at[1] == ' '; }

static block_kind kind_of(const char *at) {
  size_t length = line_length(at);
  if (indented(at)) return memchr(at, '\t', length) ? BLOCK_ROWS : BLOCK_LINES;
  bool heads = length > 1 && at[length - 1] == ':' && at[length] && indented(at + length + 1);
  return heads ? BLOCK_HEADING : BLOCK_PROSE;
}

bool reference_block(const char **at, block *b) {
  while (**at == '\n') ++*at;
  if (!**at) return false;
  *b = (block){.kind = kind_of(*at), .begin = *at};
  do {
    *at += line_length(*at);
    b->end = *at;
    *at += **at == '\n';
  } while (**at && **at != '\n' && kind_of(*at) == b->kind && b->kind != BLOCK_HEADING);
  return true;
}

bool reference_next(block *b, const char **line, int *length) {
  if (b->begin >= b->end) return false;
  *line = b->begin + (indented(b->begin) ? 2 : 0);
  *length = (int)(b->begin + line_length(b->begin) - *line);
  b->begin += line_length(b->begin) + 1;
  return true;
}

const char *reference_name(const char *name, char text[64]) {
  snprintf(text, 64, "%s", name + (name[0] == '['));
  text[strcspn(text, "].")] = '\0';
  return text;
}

/* ---- the command ---- */

static int make_folder(const char *folder, const char *what) {
  if (!folder) return tool_usage("reference", "missing DIR: the folder for the %s", what);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return tool_usage("reference", "%s: cannot be made: %s", tool_safe(folder), strerror(errno));
  return -1;
}

static int open_page(const char *folder, const char *name, const char *end, psdm_output **out) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
  return length >= (int)sizeof path ? tool_usage("reference", "DIR: the name is too long") : tool_open(path, out);
}

static int write_page(const char *folder, const tool_command *c) {
  char name[64];
  psdm_output *out;
  snprintf(name, sizeof name, "psdm%s%s", c ? "-" : "", c ? c->name : "");
  int code = open_page(folder, name, ".1", &out);
  if (code >= 0) return code;
  reference_man(out, c);
  return tool_commit(&out);
}

static int write_pages(const char *folder) {
  int code = make_folder(folder, "manual pages");
  if (code < 0) code = write_page(folder, NULL);
  for (int i = 0; i < tool_command_count && code == EXIT_OK; i++) code = write_page(folder, &tool_commands[i]);
  return code;
}

static int write_schemas(const char *folder) {
  int code = make_folder(folder, "schemas");
  for (int i = 0; psdm_results[i] && code <= EXIT_OK; i++) {
    psdm_output *out;
    char name[64];
    code = open_page(folder, psdm_result_name(psdm_results[i], name), ".schema.json", &out);
    if (code >= 0) return code;
    psdm_result_schema(psdm_results[i], out);
    code = tool_commit(&out);
  }
  return code;
}

static const char results_head[] =
    "# Results\n\n"
    "What the commands write with `--json`, and what the library hands over as structs "
    "([psdm/results.h](../include/psdm/results.h)).\n"
    "`psdm reference results` writes this page; the same as JSON Schema lies in `share/psdm/schema`.\n\n"
    "Every document begins with `command`, the name of the command, and `psdm`, its version. A number that is not "
    "known "
    "is `null`;\n"
    "an optional key is missing where there is nothing to say. `[n]` is a list of n, `[n][m]` a list of n lists of "
    "m.\n";

static int write_text(bool results) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  if (results) psdm_output_text(out, results_head);
  else reference_markdown(out);
  for (int i = 0; results && psdm_results[i]; i++) psdm_result_markdown(psdm_results[i], out);
  return tool_commit(&out);
}

int cmd_reference(int argc, char **argv) {
  const char *words[2];
  int none, code = settings_parse(&reference_line, argc, argv, &none, words);
  if (code >= 0) return code;
  if (strcmp(words[0], "man") == 0) return write_pages(words[1]);
  return strcmp(words[0], "schema") == 0 ? write_schemas(words[1]) : write_text(strcmp(words[0], "results") == 0);
}
