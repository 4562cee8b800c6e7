/* run_io.c: finds, identifies and runs the system's compiler. */
#define _GNU_SOURCE /* secure_getenv */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "document/document.h"
#include "compile/compile.h"

const char *psdmp_compile_environment(const char *name) {
  const char *text = secure_getenv(name);
  return text && text[0] ? text : NULL;
}

/* ---- finding it ---- */

static bool is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* searched as by a shell; path has room for PATH_MAX bytes */
static bool find_program(const char *name, char *path) {
  const char *folders = psdmp_compile_environment("PATH");
  if (strchr(name, '/')) return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
  for (const char *at = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; at;
       at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
    int length = (int)strcspn(at, ":");
    if (length && snprintf(path, PATH_MAX, "%.*s/%s", length, at, name) < PATH_MAX && is_program(path)) return true;
  }
  return false;
}

psdm_status psdmp_compile_command_add(psdmp_compile_command *command, const char *text, psdmp_base_arena *arena,
                                      psdm_error *error) {
  for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
    size_t length = strcspn(text, " \t\n");
    if (command->words == PSDMP_COMPILE_WORDS)
      return psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "the compiler command has more than %d words",
                             PSDMP_COMPILE_WORDS);
    char *word = psdmp_base_arena_text(arena, text, length);
    if (!word) return psdmp_base_no_memory("", error);
    command->word[command->words++] = word;
    text += length;
  }
  return PSDM_OK;
}

psdm_status psdmp_compile_compiler_find(const psdm_compile_options *options, psdmp_base_arena *arena,
                                        psdmp_compile_command *command, psdm_error *error) {
  const char *text = options->compiler ? options->compiler : psdmp_compile_environment("CC");
  char path[PATH_MAX], shown[256];
  if (!text) text = "cc";
  *command = (psdmp_compile_command){0};
  psdm_status status = psdmp_compile_command_add(command, text, arena, error);
  if (status) return status;
  if (!command->words)
    return psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "'%s' is not a valid compiler name",
                           psdmp_base_quote(text, strlen(text), shown, sizeof shown));
  if (!find_program(command->word[0], path))
    return psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0,
                           "no C compiler: '%s' was not found or cannot be run; set CC",
                           psdmp_base_quote(command->word[0], strlen(command->word[0]), shown, sizeof shown));
  command->path = psdmp_base_arena_text(arena, path, strlen(path));
  return command->path ? PSDM_OK : psdmp_base_no_memory("", error);
}

/* ---- identifying it ---- */

/* lines of the first processor in /proc/cpuinfo that identify it, without its current speed */
static void add_processor(psdmp_base_sha256 *hash) {
  static const char *const keys[] = {
      "vendor_id",        "cpu family",  "model",    "stepping", "flags", "CPU implementer",
      "CPU architecture", "CPU variant", "CPU part", "Features", "isa"};
  char line[8192];
  FILE *file = fopen("/proc/cpuinfo", "re");
  while (file && fgets(line, sizeof line, file) && line[0] != '\n')
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
      if (strncmp(line, keys[k], strlen(keys[k])) == 0) psdmp_base_sha256_part(hash, line, strlen(line));
  if (file) fclose(file);
}

void psdmp_compile_compiler_identity(const psdmp_compile_command *command, psdmp_base_sha256 *hash) {
  char path[PATH_MAX];
  struct stat info;
  struct utsname machine = {0};
  for (int k = 0; k < command->words; k++) {
    psdmp_base_sha256_part(hash, command->word[k], strlen(command->word[k]));
    /* "ccache gcc": gcc counts too */
    if (command->word[k][0] == '-' || !find_program(command->word[k], path) || stat(path, &info)) continue;
    long long what[] = {(long long)info.st_dev, (long long)info.st_ino, (long long)info.st_size,
                        (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    psdmp_base_sha256_part(hash, path, strlen(path));
    psdmp_base_sha256_part(hash, what, sizeof what);
  }
  uname(&machine);
  psdmp_base_sha256_part(hash, machine.machine, strlen(machine.machine));
  add_processor(hash);
}

/* ---- running it ---- */

static int start(const psdmp_compile_command *command, const char *log, pid_t *child) {
  int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int failure = psdmp_base_spawn(NULL, command->path, command->word, PSDMP_BASE_NOTHING, file, file, child);
  close(file);
  return failure;
}

/* the first line that names an error, else the first one */
static const char *first_line(const char *log, psdmp_base_arena *arena) {
  enum { LOG_BYTES = 1 << 20 };
  char *text;
  size_t length;
  if (psdmp_document_file_read(log, LOG_BYTES, arena, &text, &length, NULL)) return "";
  char *line = strstr(text, "error");
  while (line && line > text && line[-1] != '\n') line--;
  if (!line) line = text;
  line[strcspn(line, "\n")] = '\0';
  return line;
}

psdm_status psdmp_compile_compiler_run(const psdmp_compile_command *command, const char *log, psdmp_base_arena *arena,
                                       psdm_error *error) {
  pid_t child;
  int state = 0, failure = start(command, log, &child);
  char shown[300];
  if (failure)
    return psdmp_base_fail(error, PSDM_E_COMPILER, command->path, 0, 0, "cannot be run: %s", strerror(failure));
  /* with SIGCHLD ignored by the host there is no exit state: then check the object */
  if (!psdmp_base_spawn_wait(child, &state) || (WIFEXITED(state) && WEXITSTATUS(state) == 0)) return PSDM_OK;
  const char *line = first_line(log, arena);
  psdmp_base_quote(line, strlen(line), shown, sizeof shown);
  if (WIFSIGNALED(state))
    return psdmp_base_fail(error, PSDM_E_COMPILER, command->path, 0, 0, "the compiler was killed by signal %d: %s",
                           WTERMSIG(state), shown);
  return psdmp_base_fail(error, PSDM_E_COMPILER, command->path, 0, 0, "the compiler failed (%d): %s",
                         WEXITSTATUS(state), shown);
}

/* a new folder that only this user may enter */
static psdm_status new_folder(char *path, size_t size, psdm_error *error) {
  const char *folder = psdmp_compile_environment("TMPDIR");
  if (!folder || folder[0] != '/') folder = "/tmp";
  path[0] = '\0';
  if ((size_t)snprintf(path, size, "%s/psdm-XXXXXX", folder) >= size || !mkdtemp(path)) {
    path[0] = '\0';
    return psdmp_base_fail(error, PSDM_E_IO, folder, 0, 0, "no temporary folder can be made here: %s", strerror(errno));
  }
  return PSDM_OK;
}

/* "FOLDER/unit-PREFIX.c" from "unit-%s.c" */
static void set_name(char name[PSDMP_COMPILE_PRIVATE_NAME], const char *folder, const char *format,
                     const char *prefix) {
  const char *mark = strstr(format, "%s");
  int before = mark ? (int)(mark - format) : (int)strlen(format);
  snprintf(name, PSDMP_COMPILE_PRIVATE_NAME, "%s/%.*s%s%s", folder, before, format, mark ? prefix : "",
           mark ? mark + 2 : "");
}

psdm_status psdmp_compile_private_make(psdmp_compile_private *p, char *folder, size_t size,
                                       const char *const names[PSDMP_COMPILE_PRIVATE_FILES], const char *prefix,
                                       psdm_error *error) {
  psdm_status status = new_folder(folder, size, error);
  if (status) return status;
  for (int k = 0; k < PSDMP_COMPILE_PRIVATE_FILES; k++) {
    set_name(p->file[k], folder, names[k], prefix);
    p->slot[k] = psdmp_base_pending_add(AT_FDCWD, p->file[k]);
  }
  p->slot[PSDMP_COMPILE_PRIVATE_FILES] = psdmp_base_pending_add(AT_FDCWD, folder);
  return PSDM_OK;
}

void psdmp_compile_private_remove(psdmp_compile_private *p, const char *folder) {
  if (!folder[0]) return;
  for (int k = 0; k < PSDMP_COMPILE_PRIVATE_FILES; k++) unlink(p->file[k]);
  rmdir(folder);
  for (int k = 0; k <= PSDMP_COMPILE_PRIVATE_FILES; k++) psdmp_base_pending_remove(p->slot[k]);
}
