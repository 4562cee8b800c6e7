/* cmd_completion.c: psdm completion: scripts with which a shell completes commands, options, their values and files. */
#include <string.h>

#include "reference.h"

static const char *const positional[] = {"bash|zsh", NULL};

static const char help[] =
    "Writes a completion script for a shell. make install puts both scripts where the shells look for them.\n"
    "\n"
    "examples:\n"
    "  psdm completion bash > ~/.local/share/bash-completion/completions/psdm\n"
    "  source <(psdm completion bash)\n"
    "  psdm completion zsh > ~/.zfunc/_psdm\n";

const command_line completion_line = {"completion", NULL, positional, help};

static void add(char *text, size_t size, const char *word) {
  size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s", length ? " " : "", word);
}

const char *completion_words(const char *argument, char *text, size_t size) {
  char words[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE];
  int count = psdm_setting_words(argument, words, NULL);
  text[0] = '\0';
  for (int i = 0; i < count; i++) add(text, size, words[i]);
  for (int f = 0; f < PSDM_EVAL_FUNCTIONS && strcmp(argument, "FUNCTION") == 0; f++)
    add(text, size, psdm_function_name((psdm_function)f));
  if (strcmp(argument, "LIST") != 0) return text;
  add(text, size, "usual all");
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) add(text, size, psdm_function_name((psdm_function)f));
  return text;
}

file_kind completion_files(const char *argument) {
  if (strncmp(argument, "ROBOT", 5) == 0) return FILES_ROBOT;
  if (strstr(argument, "DIR")) return FILES_FOLDER;
  return strstr(argument, "FILE") || strstr(argument, "PARAMS") || strstr(argument, "RESULT") ? FILES_ANY : FILES_NONE;
}

int cmd_completion(int argc, char **argv) {
  const char *shell;
  psdm_output *out;
  int none, code = settings_parse(&completion_line, argc, argv, &none, &shell);
  if (code < 0) code = tool_open("-", &out);
  if (code >= 0) return code;
  if (strcmp(shell, "bash") == 0) completion_bash(out);
  else completion_zsh(out);
  return tool_commit(&out);
}
