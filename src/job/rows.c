/* rows.c: rows of numbers under names: to a file, into memory, or both. */
#include <string.h>

#include "job/state_priv.h"

struct psdmp_job_sink {
  psdm_output *out;     /* NULL: no file */
  psdmp_job_kept *kept; /* NULL: not kept */
  bool failed;          /* out of memory */
  bool named;           /* the columns' names are there */
  int columns;
  long rows;
};

/* ---- what is kept ---- */

psdmp_job_kept *psdmp_job_state_kept(const psdmp_job_state *state, const char *setting) {
  psdmp_job_kept *kept = state->kept;
  while (kept && strcmp(kept->setting, setting) != 0) kept = kept->next;
  return kept;
}

bool psdmp_job_state_keep(psdmp_job_state *state, const char *setting) {
  if (psdmp_job_state_kept(state, setting)) return true;
  psdmp_job_kept *kept = psdmp_base_arena_alloc(&state->arena, sizeof *kept);
  if (!kept) return false;
  *kept = (psdmp_job_kept){.next = state->kept, .setting = setting};
  state->kept = kept;
  return true;
}

static void empty(psdmp_job_kept *kept) {
  psdmp_base_free(NULL, kept->names);
  psdmp_base_free(NULL, kept->values);
  psdm_output_abort(&kept->text);
  *kept = (psdmp_job_kept){.next = kept->next, .setting = kept->setting};
}

void psdmp_job_state_free(psdmp_job_state *state) {
  for (psdmp_job_kept *kept = state->kept; kept; kept = kept->next) empty(kept);
  for (psdmp_job_table *table = state->tables; table; table = table->next) psdmp_table_drop(table->name);
  psdmp_base_arena_free(&state->arena);
}

/* ---- groups of columns ---- */

static int width_of(const psdmp_job_group *group) { return group->count ? group->count : 1; }

static void name_of(const psdmp_job_group *group, int i, char name[64]) {
  if (group->words) snprintf(name, 64, "%s", group->words[i]);
  else if (group->count) snprintf(name, 64, "%s%d", group->name, i + 1);
  else snprintf(name, 64, "%s", group->name);
}

static int width_of_all(const psdmp_job_group *groups, int count) {
  int columns = 0;
  for (int g = 0; g < count; g++) columns += width_of(&groups[g]);
  return columns;
}

/* the pointers, and behind them the names */
static bool keep_names(psdmp_job_kept *kept, const psdmp_job_group *groups, int count) {
  enum { NAME = 64 };
  int columns = width_of_all(groups, count);
  kept->names = psdmp_base_alloc(NULL, (size_t)columns * (sizeof *kept->names + NAME));
  if (!kept->names) return false;
  char *text = (char *)(kept->names + columns);
  kept->columns = columns;
  for (int g = 0, c = 0; g < count; g++)
    for (int i = 0; i < width_of(&groups[g]); i++, c++) name_of(&groups[g], i, kept->names[c] = text + c * NAME);
  return true;
}

/* room for so many rows more: where they go; NULL without memory */
static double *room_for(psdmp_job_kept *kept, long rows) {
  const size_t row = (size_t)kept->columns * sizeof(double);
  if (!psdmp_base_room(NULL, &kept->values, kept->rows, rows, &kept->room, row)) return NULL;
  double *to = kept->values + kept->rows * kept->columns;
  kept->rows += rows;
  return to;
}

static bool keep_row(psdmp_job_kept *kept, const psdmp_job_group *groups, int count) {
  double *to = room_for(kept, 1);
  for (int g = 0; to && g < count; g++) {
    memcpy(to, groups[g].value, (size_t)width_of(&groups[g]) * sizeof *to);
    to += width_of(&groups[g]);
  }
  return to != NULL;
}

static bool keep_rows(psdmp_job_kept *kept, long rows, const double *values) {
  double *to = room_for(kept, rows);
  if (to) memcpy(to, values, (size_t)rows * (size_t)kept->columns * sizeof *to);
  return to != NULL;
}

static void write_header(psdm_output *out, const psdmp_job_group *groups, int count) {
  for (int g = 0; g < count; g++)
    for (int i = 0; i < width_of(&groups[g]); i++) {
      char name[64];
      name_of(&groups[g], i, name);
      psdm_output_print(out, "%s%s", g || i ? "," : "", name);
    }
  psdm_output_text(out, "\n");
}

static void write_row(psdm_output *out, const psdmp_job_group *groups, int count) {
  for (int g = 0; g < count; g++)
    for (int i = 0; i < width_of(&groups[g]); i++) {
      if (g || i) psdm_output_text(out, ",");
      if (groups[g].said) psdm_output_text(out, groups[g].said);
      else psdm_output_number(out, groups[g].value[i]);
    }
  psdm_output_text(out, "\n");
}

/* ---- files, as the host writes them ---- */

psdm_status psdmp_job_open(const psdm_job *job, const char *path, psdm_output **out) {
  psdm_error error;
  psdm_status status =
      job->host.open ? job->host.open(job->host.user, path, out, &error) : psdm_output_open(path, NULL, out, &error);
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

psdm_status psdmp_job_close(const psdm_job *job, psdm_output **out, bool keep) {
  psdm_error error;
  psdm_status status = PSDM_OK;
  if (!*out) return PSDM_OK;
  if (job->host.close) status = job->host.close(job->host.user, out, keep, &error);
  else if (keep) status = psdm_output_commit(out, &error);
  else psdm_output_abort(out);
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* ---- for the jobs ---- */

psdm_status psdmp_job_rows_open(const psdm_job *job, const char *setting, const char *path, psdmp_job_sink **sink) {
  psdmp_job_kept *kept = psdmp_job_state_kept(job->state, setting);
  *sink = NULL;
  if (!path && !kept) return PSDM_OK;
  psdmp_job_sink *s = psdmp_base_alloc(NULL, sizeof *s);
  if (!s) return psdmp_job_memory(job);
  s->kept = kept;
  if (kept) empty(kept);
  psdm_status status = path ? psdmp_job_open(job, path, &s->out) : PSDM_OK;
  if (status) psdmp_base_free(NULL, s);
  else *sink = s;
  return status;
}

bool psdmp_job_kept_wanted(const psdm_job *job, const char *setting) {
  return psdmp_job_state_kept(job->state, setting) != NULL;
}

const char *psdmp_job_written(const psdm_job *job, const char *setting) {
  bool kept = psdmp_job_kept_wanted(job, setting) && !psdmp_job_given(job, setting);
  return kept ? NULL : *(const char *const *)psdm_job_value(job, setting);
}

void psdmp_job_rows_names(psdmp_job_sink *sink, const psdmp_job_group *groups, int count) {
  if (!sink || sink->named) return;
  sink->named = true;
  sink->columns = width_of_all(groups, count);
  if (sink->out) write_header(sink->out, groups, count);
  if (sink->kept) sink->failed = !keep_names(sink->kept, groups, count);
}

void psdmp_job_rows_add(psdmp_job_sink *sink, const psdmp_job_group *groups, int count) {
  if (!sink) return;
  psdmp_job_rows_names(sink, groups, count);
  if (sink->out) write_row(sink->out, groups, count);
  if (sink->kept) sink->failed = sink->failed || !keep_row(sink->kept, groups, count);
  sink->rows++;
}

void psdmp_job_rows_block(psdmp_job_sink *sink, long rows, const double *values, int threads) {
  if (!sink || !rows) return;
  if (sink->out) psdm_output_rows(sink->out, rows, sink->columns, values, threads);
  if (sink->kept) sink->failed = sink->failed || !keep_rows(sink->kept, rows, values);
  sink->rows += rows;
}

bool psdmp_job_rows_failed(const psdmp_job_sink *sink) {
  return sink && (sink->failed || (sink->out && psdm_output_failed(sink->out)));
}

long psdmp_job_rows_count(const psdmp_job_sink *sink) { return sink ? sink->rows : 0; }

psdm_status psdmp_job_rows_commit(const psdm_job *job, psdmp_job_sink **sink) {
  if (!*sink) return PSDM_OK;
  bool failed = (*sink)->failed;
  psdm_status status = psdmp_job_close(job, &(*sink)->out, !failed);
  psdmp_base_free(NULL, *sink);
  *sink = NULL;
  return status ? status : failed ? psdmp_job_memory(job) : PSDM_OK;
}

/* ---- documents ---- */

static psdm_status write_file(const psdm_job *job, const char *path, psdmp_job_writer *write, const void *self) {
  psdm_output *out;
  psdm_status status = psdmp_job_open(job, path, &out);
  if (status) return status;
  write(self, out);
  return psdmp_job_close(job, &out, true);
}

psdm_status psdmp_job_document(const psdm_job *job, const char *setting, const char *path, psdmp_job_writer *write,
                               const void *self) {
  psdmp_job_kept *kept = psdmp_job_state_kept(job->state, setting);
  if (kept) {
    empty(kept);
    if (psdm_output_memory(NULL, &kept->text)) return psdmp_job_memory(job);
    write(self, kept->text);
    if (!psdm_output_kept(kept->text)) return psdmp_job_memory(job);
  }
  return path ? write_file(job, path, write, self) : PSDM_OK;
}

void psdmp_job_rows_abort(const psdm_job *job, psdmp_job_sink **sink) {
  if (!*sink) return;
  psdmp_job_close(job, &(*sink)->out, false);
  if ((*sink)->kept) empty((*sink)->kept);
  psdmp_base_free(NULL, *sink);
  *sink = NULL;
}
