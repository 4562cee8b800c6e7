/* dense_command_io.c: torques from an external program named by the user. It reads a CSV from standard input and prints
 * one. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derive/dense_priv.h"
#include "psdm/csv.h"

/* the request is in an unnamed file, so that the program may answer before it has read all of it */
typedef struct run {
  const char *command;
  FILE *request;
  int answer; /* read end of the program's standard output */
  pid_t pid;
} run;

static void write_names(FILE *f, const psdm_robot *r) {
  static const char *const rate[] = {"q", "qd", "qdd"};
  char name[32];
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < r->n; j++) fprintf(f, "%s%s%d", k + j ? "," : "", rate[k], j + 1);
  for (int k = 0; k < psdm_robot_parameter_count(r); k++)
    fprintf(f, ",%s", psdm_robot_parameter_name(r, k, name, sizeof name));
  putc('\n', f);
}

static void write_numbers(FILE *f, const double *x, int count, bool more) {
  char text[32];
  for (int i = 0; i < count; i++) {
    psdmp_base_format_exact(x[i], text);
    fputs(text, f);
    if (more || i + 1 < count) putc(',', f);
  }
}

/* one row per state and parameter set */
static psdm_status write_request(run *p, const psdm_robot *r, const psdmp_derive_batch *b, psdm_error *error) {
  int n = r->n, S = psdm_robot_parameter_count(r);
  p->request = tmpfile();
  if (!p->request)
    return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "a temporary file for the sampler: %s", strerror(errno));
  write_names(p->request, r);
  for (long t = 0; t < b->states; t++)
    for (int set = 0; set < b->sets; set++) {
      write_numbers(p->request, b->q + t * n, n, true);
      write_numbers(p->request, b->qd + t * n, n, true);
      write_numbers(p->request, b->qdd + t * n, n, true);
      write_numbers(p->request, b->pi + (long)set * S, S, false);
      putc('\n', p->request);
    }
  if (fflush(p->request) || ferror(p->request) || lseek(fileno(p->request), 0, SEEK_SET))
    return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "a temporary file for the sampler: %s", strerror(errno));
  return PSDM_OK;
}

static psdm_status start(run *p, psdm_error *error) {
  int ends[2], failure;
  char *const argv[] = {"sh", "-c", (char *)p->command, NULL};
  if (pipe2(ends, O_CLOEXEC))
    return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "a pipe to the sampler: %s", strerror(errno));
  failure = psdmp_base_spawn(NULL, "/bin/sh", argv, fileno(p->request), ends[1], PSDMP_BASE_INHERIT, &p->pid);
  close(ends[1]);
  p->answer = ends[0];
  if (!failure) return PSDM_OK;
  p->pid = 0;
  return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "the sampler could not be started: %s", strerror(failure));
}

static ptrdiff_t read_answer(void *user, char *buffer, size_t size) {
  const run *p = user;
  for (;;) {
    ssize_t got = read(p->answer, buffer, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

/* Closes the pipe, so that a program that still prints ends too. An exit code tells more than a broken answer, unless
 * it is only the shell's report of that closed pipe. */
static psdm_status finish(run *p, psdm_status status, psdm_error *error) {
  int code = 0;
  char text[64];
  if (p->answer >= 0) close(p->answer);
  if (p->request) fclose(p->request);
  if (p->pid) psdmp_base_spawn_wait(p->pid, &code);
  psdmp_base_quote(p->command, strlen(p->command), text, sizeof text);
  bool closed = status && WIFEXITED(code) && WEXITSTATUS(code) == 128 + SIGPIPE;
  if (WIFEXITED(code) && WEXITSTATUS(code) && !closed)
    return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "sampler '%s' ended with exit code %d", text,
                           WEXITSTATUS(code));
  if (!status && WIFSIGNALED(code))
    return psdmp_base_fail(error, PSDM_E_IO, NULL, 0, 0, "sampler '%s' was killed by signal %d", text, WTERMSIG(code));
  return status;
}

/* columns of tau1..taun in the answer */
static psdm_status find_columns(const psdm_csv *csv, int n, int *column, psdm_error *error) {
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "tau%d", i + 1);
    column[i] = psdm_csv_find(csv, name);
    if (column[i] < 0)
      return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                             "no column '%s'; tau1 to tau%d were expected", name, n);
  }
  return PSDM_OK;
}

static psdm_status read_rows(psdm_csv *csv, const psdmp_derive_batch *b, int n, double *row, psdm_error *error) {
  int column[PSDMP_DERIVE_DENSE_JOINTS];
  bool more = true;
  long rows = b->states * b->sets, at = 0;
  psdm_status status = find_columns(csv, n, column, error);
  for (; !status; at++) {
    status = psdm_csv_row(csv, row, &more, error);
    if (status || !more || at == rows) break;
    for (int i = 0; i < n; i++) b->tau[(at / b->sets * n + i) * b->sets + at % b->sets] = row[column[i]];
  }
  if (!status && (more || at != rows))
    return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_line(csv), 0,
                           "%s rows than the %ld requested", more ? "more" : "fewer", rows);
  return status;
}

psdm_status psdmp_derive_command_torques(const psdm_robot *r, const char *command, const psdmp_derive_batch *b,
                                         const psdm_allocator *allocator, psdm_error *error) {
  run p = {.command = command, .answer = -1};
  psdm_csv *csv = NULL;
  double *row = NULL;
  psdm_status status = write_request(&p, r, b, error);
  if (!status) status = start(&p, error);
  if (!status) status = psdm_csv_open_source(read_answer, &p, "<sampler>", allocator, &csv, error);
  if (!status) {
    row = psdmp_base_alloc(allocator, (size_t)psdm_csv_columns(csv) * sizeof *row);
    status = row ? read_rows(csv, b, r->n, row, error) : psdmp_base_no_memory("", error);
  }
  psdmp_base_free(allocator, row);
  psdm_csv_close(csv);
  return finish(&p, status, error);
}
