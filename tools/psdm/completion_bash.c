/* completion_bash.c: completion for bash: one function with the tables as cases, and what all commands share. */
#include <string.h>

#include "reference.h"

/* in a case of _psdm_value: the values of an option or a positional argument */
static void put_value(psdm_output *out, const char *key, const char *argument) {
  static const char *const kinds[] = {
      [FILES_NONE] = "", [FILES_ROBOT] = "robot", [FILES_ANY] = "file", [FILES_FOLDER] = "folder"};
  char words[1024];
  completion_words(argument, words, sizeof words);
  file_kind files = completion_files(argument);
  if (!words[0] && files == FILES_NONE) return;
  psdm_output_print(out, "    '%s') words='%s' files='%s'", key, words, kinds[files]);
  psdm_output_text(out, strcmp(argument, "LIST") == 0 ? " list=1 ;;\n" : " ;;\n");
}

static void put_values(psdm_output *out, const tool_command *c) {
  char name[64], key[128];
  for (int i = 0; c->line->positional[i]; i++) {
    bool many = strstr(c->line->positional[i], "...") != NULL;
    snprintf(key, sizeof key, "%s %d", c->name, i + 1);
    put_value(out, key, c->line->positional[i]);
    for (int more = i + 2; many && more < 10; more++) {
      snprintf(key, sizeof key, "%s %d", c->name, more);
      put_value(out, key, c->line->positional[i]);
    }
  }
  for (const psdm_setting *s = settings_of(c->line); s->name; s++) {
    snprintf(key, sizeof key, "%s --%s", c->name, settings_dashed(s->name, name));
    put_value(out, key, s->argument);
  }
}

static void put_options(psdm_output *out, const tool_command *c, bool flags) {
  char name[64];
  psdm_output_print(out, "    %s) options='", c->name);
  for (const psdm_setting *s = settings_of(c->line); s->name; s++)
    if (!flags || s->kind != PSDM_SETTING_flag) psdm_output_print(out, " --%s", settings_dashed(s->name, name));
  for (int i = 0; i < COMMON_SETTINGS && !flags; i++) psdm_output_print(out, " --%s", common_settings[i].name);
  psdm_output_text(out, " ' ;;\n");
}

static void put_tables(psdm_output *out) {
  psdm_output_text(out, "_psdm_commands='");
  for (int i = 0; i < tool_command_count; i++) psdm_output_print(out, "%s%s", i ? " " : "", tool_commands[i].name);
  psdm_output_text(out, "'\n\n# all options of a command\n_psdm_options() {\n  case $1 in\n");
  for (int i = 0; i < tool_command_count; i++) put_options(out, &tool_commands[i], false);
  psdm_output_text(out,
                   "    *) options='' ;;\n  esac\n}\n\n# those that take a value\n_psdm_valued() {\n  case $1 in\n");
  for (int i = 0; i < tool_command_count; i++) put_options(out, &tool_commands[i], true);
  psdm_output_text(out, "    *) options='' ;;\n  esac\n}\n\n# what may stand behind an option, or as the n-th "
                        "argument\n_psdm_value() {\n  words='' files='' list=\n  case \"$1 $2\" in\n");
  for (int i = 0; i < tool_command_count; i++) put_values(out, &tool_commands[i]);
  psdm_output_text(out, "    *) ;;\n  esac\n}\n\n");
}

static const char files_function[] = "_psdm_files() { # KIND CURRENT\n"
                                     "  local name\n"
                                     "  while IFS= read -r name; do\n"
                                     "    if [ -d \"$name\" ]; then COMPREPLY+=(\"$name/\"); continue; fi\n"
                                     "    case \"$1 $name\" in folder\\ *) ;; robot\\ *.yaml | robot\\ *.yml | robot\\ "
                                     "*.urdf | file\\ *) COMPREPLY+=(\"$name\") ;; esac\n"
                                     "  done < <(compgen -f -- \"$2\")\n"
                                     "  compopt -o filenames 2> /dev/null\n"
                                     "}\n\n";

static const char main_function[] =
    "_psdm() {\n"
    "  local current=${COMP_WORDS[COMP_CWORD]} previous= command=${COMP_WORDS[1]} options words files list i place=0 "
    "word head=\n"
    "  COMPREPLY=()\n"
    "  [ \"$COMP_CWORD\" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "  # --option=value comes in three words\n"
    "  if [ \"$current\" = = ]; then current=; elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD - "
    "2]}; fi\n"
    "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_psdm_commands help --help --version\" -- \"$current\")\n"
    "    return\n"
    "  fi\n"
    "  if [ \"$command\" = help ]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_psdm_commands\" -- \"$current\")\n"
    "    return\n"
    "  fi\n"
    "  _psdm_valued \"$command\"\n"
    "  case \"$options\" in\n"
    "    *\" $previous \"*) _psdm_value \"$command\" \"$previous\" ;;\n"
    "    *)\n"
    "      if [ \"${current#-}\" != \"$current\" ]; then\n"
    "        _psdm_options \"$command\"\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
    "        return\n"
    "      fi\n"
    "      # which argument this is: words that are no options and no values of options\n"
    "      for ((i = 2; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        case \"$word\" in = | -?*) continue ;; esac\n"
    "        case \"$options\" in *\" ${COMP_WORDS[i - 1]} \"*) continue ;; esac\n"
    "        [ \"${COMP_WORDS[i - 1]}\" = = ] && continue\n"
    "        place=$((place + 1))\n"
    "      done\n"
    "      _psdm_value \"$command\" \"$place\"\n"
    "      ;;\n"
    "  esac\n"
    "  if [ -n \"$list\" ] && [ \"${current%,*}\" != \"$current\" ]; then head=${current%,*},; fi\n"
    "  [ -n \"$words\" ] && mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"${current#\"$head\"}\")\n"
    "  [ -n \"$files\" ] && _psdm_files \"$files\" \"$current\"\n"
    "  [ -n \"$list\" ] && compopt -o nospace 2> /dev/null\n"
    "  return 0\n"
    "}\n\n"
    "complete -F _psdm psdm\n";

void completion_bash(psdm_output *out) {
  psdm_output_text(out, "# bash completion of psdm, generated by psdm completion bash\n\n");
  put_tables(out);
  psdm_output_text(out, files_function);
  psdm_output_text(out, main_function);
}
