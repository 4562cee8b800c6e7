/* logs.c: logs in memory, where settings list files. */
#include <string.h>

#include "job/state_priv.h"

psdm_status psdm_job_log(psdm_job *job, const char *name, const psdm_log_table *table, psdm_error *error) {
  const psdm_setting *s = psdm_setting_find(job->kind->settings, name);
  if (!s || s->kind != PSDM_SETTING_list)
    return psdmp_base_fail(error, PSDM_E_SETTING, "", 0, 0, "%s: '%.40s' is no setting that lists logs",
                           job->kind->command, name);
  psdm_setting_list *list = (psdm_setting_list *)((char *)psdm_job_values(job) + s->offset);
  psdmp_job_log *log = psdmp_base_arena_alloc(&job->state->arena, sizeof *log);
  char *text = psdmp_base_arena_text(&job->state->arena, table->name, strlen(table->name));
  if (!log || !text || psdm_setting_assign(s, psdm_job_values(job), text))
    return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  *log = (psdmp_job_log){job->state->logs, s, list->count - 1, table};
  job->state->logs = log;
  return PSDM_OK;
}

static const psdm_log_table *table_at(const psdm_job *job, const psdm_setting *setting, int index) {
  const psdmp_job_log *log = job->state->logs;
  while (log && (log->setting != setting || log->index != index)) log = log->next;
  return log ? log->table : NULL;
}

/* of a list's entries: their names, and the tables of those in memory */
typedef struct entry {
  const char *setting, *name;
  const psdm_log_table *table;
} entry;

static psdm_status take(const psdm_job *job, const entry *all, int count, psdm_log_table *to, int *tables) {
  for (int i = 0; i < count; i++) {
    if (!all[i].table) psdmp_job_reads(job, all[i].name);
    if (!all[i].table) continue;
    for (int k = 0; k < count; k++)
      if (k != i && strcmp(all[k].name, all[i].name) == 0)
        return psdmp_job_wrong(job, "`%s` '%s': another log has this name", all[k].setting,
                               psdmp_job_safe(job, all[k].name));
    to[*tables] = *all[i].table;
    to[(*tables)++].name = all[i].name;
  }
  return PSDM_OK;
}

psdm_status psdmp_job_logs(const psdm_job *job, int count, const char *const *settings,
                           const char *(*path_of)(const char *text), psdm_log_options *options) {
  int most = 0, found = 0, tables = 0;
  for (int k = 0; k < count; k++) most += ((const psdm_setting_list *)psdm_job_value(job, settings[k]))->count;
  entry *all = psdmp_base_arena_alloc(&job->state->arena, sizeof *all * (size_t)(most + 1));
  psdm_log_table *to = psdmp_base_arena_alloc(&job->state->arena, sizeof *to * (size_t)(most + 1));
  if (!all || !to) return psdmp_job_memory(job);
  for (int k = 0; k < count; k++) {
    const psdm_setting *s = psdm_setting_find(job->kind->settings, settings[k]);
    const psdm_setting_list *list = psdm_job_value(job, settings[k]);
    for (int i = 0; i < list->count; i++)
      all[found++] = (entry){settings[k], path_of ? path_of(list->value[i]) : list->value[i], table_at(job, s, i)};
  }
  psdm_status status = take(job, all, found, to, &tables);
  options->table = to;
  options->tables = tables;
  return status;
}
