/* job.c: a job from its settings to its result: what the caller sees of it. */
#include "job/job.h"

#include <string.h>

#include "job/state_priv.h"

static const psdm_setting no_settings[1];

static const psdm_setting *arguments_of(const psdmp_job_kind *kind) {
  return kind->arguments ? kind->arguments : no_settings;
}

static const psdm_setting *row_of(const psdmp_job_kind *kind, const char *name) {
  const psdm_setting *argument = psdm_setting_find(arguments_of(kind), name);
  return argument ? argument : psdm_setting_find(kind->settings, name);
}

void *psdm_job_values(psdm_job *job) { return (char *)job + job->kind->values; }

const void *psdm_job_value(const psdm_job *job, const char *name) {
  const psdm_setting *s = row_of(job->kind, name);
  return s ? (const char *)job + job->kind->values + s->offset : NULL;
}

psdm_status psdmp_job_new(const psdmp_job_kind *kind, const psdm_job_host *host, psdm_job **out, psdm_error *error) {
  *out = NULL;
  psdm_job *job = psdmp_base_alloc(NULL, kind->bytes);
  psdmp_job_state *state = psdmp_base_alloc(NULL, sizeof *state);
  if (!job || !state) {
    psdmp_base_free(NULL, job);
    psdmp_base_free(NULL, state);
    return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  }
  job->kind = kind;
  job->state = state;
  if (host) job->host = *host;
  psdm_settings_default(kind->settings, psdm_job_values(job));
  psdm_settings_default(arguments_of(kind), psdm_job_values(job));
  *out = job;
  return PSDM_OK;
}

void psdm_job_free(psdm_job *job) {
  if (!job) return;
  psdm_result_free(job->answer);
  if (job->kind->free) job->kind->free(job);
  psdm_robot_free(job->robot);
  psdm_settings_free(job->kind->settings, psdm_job_values(job));
  psdm_settings_free(arguments_of(job->kind), psdm_job_values(job));
  psdmp_job_state_free(job->state);
  psdm_robot_free(job->given);
  psdmp_base_free(NULL, job->state);
  psdmp_base_free(NULL, job);
}

/* ---- what goes in ---- */

static psdm_status tell_error(const psdm_job *job, psdm_error *error) {
  const psdm_error *own = &job->state->error;
  if (error) *error = *own;
  return own->status ? own->status : PSDM_E_ARGUMENT;
}

static const psdm_setting *find_setting(const psdm_job *job, const char *name) {
  enum { MOST = 128 };
  const char *names[MOST];
  size_t count = 0;
  const psdm_setting *table = job->kind->settings, *found = row_of(job->kind, name);
  if (found) return found;
  for (const psdm_setting *s = table; s->name && count < MOST; s++) names[count++] = s->name;
  const char *near = psdmp_base_nearest(name, names, count);
  psdmp_job_wrong(job, "%s has no setting '%s'%s%s%s", job->kind->command, psdmp_job_safe(job, name),
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return NULL;
}

/* a word that is none of those that the setting's argument names */
static psdm_status check_word(const psdm_job *job, const psdm_setting *s, const char *text) {
  char list[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE];
  const char *words[PSDM_SETTING_WORDS_MOST];
  bool open;
  int count = psdm_setting_words(s->argument, list, &open);
  for (int i = 0; i < count; i++) {
    words[i] = list[i];
    if (strcmp(list[i], text) == 0) return PSDM_OK;
  }
  return open ? PSDM_OK : psdmp_job_unknown(job, s->name, text, words, count);
}

psdm_status psdm_job_set(psdm_job *job, const char *name, const char *text, psdm_error *error) {
  const psdm_setting *s = find_setting(job, name);
  if (!s) return tell_error(job, error);
  char *copy = psdmp_base_arena_text(&job->state->arena, text, strlen(text));
  psdm_status status = copy ? PSDM_OK : psdmp_job_memory(job);
  if (!status && s->kind == PSDM_SETTING_text) status = check_word(job, s, copy);
  if (!status && psdm_setting_assign(s, psdm_job_values(job), copy))
    status = psdmp_job_wrong(job, "`%s` '%s': %s expected%s%s", name, psdmp_job_safe(job, text),
                             s->kind == PSDM_SETTING_number ? "a number was" : "three numbers were",
                             s->argument[0] ? ", " : "", s->argument);
  return status ? tell_error(job, error) : PSDM_OK;
}

psdm_status psdm_job_file(psdm_job *job, const char *path, psdm_error *error) {
  job->path = psdmp_base_arena_text(&job->state->arena, path, strlen(path));
  return job->path ? PSDM_OK : psdmp_base_fail_status(error, PSDM_E_MEMORY);
}

psdm_status psdm_job_robot(psdm_job *job, const psdm_robot *robot, psdm_error *error) {
  psdm_robot_free(job->given);
  job->given = NULL;
  psdm_status status = psdm_robot_clone(robot, NULL, &job->given);
  return status ? psdmp_base_fail_status(error, status) : PSDM_OK;
}

psdm_status psdm_job_table(psdm_job *job, const char *setting, long rows, int columns, const char *const *names,
                           const double *const *column, const long *stride, psdm_error *error) {
  const psdm_setting *s = find_setting(job, setting);
  if (!s) return tell_error(job, error);
  psdmp_job_table *table = psdmp_base_arena_alloc(&job->state->arena, sizeof *table);
  if (!table) return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  psdm_status status =
      psdmp_table_put(setting, rows, columns, names, column, stride, table->name, sizeof table->name, error);
  if (status) return status;
  table->next = job->state->tables;
  job->state->tables = table;
  return psdm_setting_assign(s, psdm_job_values(job), table->name) ? psdmp_base_fail_status(error, PSDM_E_MEMORY)
                                                                   : PSDM_OK;
}

psdm_status psdm_job_text(psdm_job *job, const char *setting, const char *name, const char *text, psdm_error *error) {
  psdmp_base_arena *arena = &job->state->arena;
  psdmp_job_text *entry = psdmp_base_arena_alloc(arena, sizeof *entry);
  char *own = psdmp_base_arena_text(arena, name, strlen(name)),
       *copy = psdmp_base_arena_text(arena, text, strlen(text));
  if (!entry || !own || !copy) return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  *entry = (psdmp_job_text){job->state->texts, own, copy};
  job->state->texts = entry;
  return psdm_job_set(job, setting, name, error);
}

psdm_status psdm_job_keep(psdm_job *job, const char *setting, psdm_error *error) {
  const psdm_setting *s = find_setting(job, setting);
  return s && !psdmp_job_state_keep(job->state, s->name) ? psdmp_base_fail_status(error, PSDM_E_MEMORY)
         : s                                             ? PSDM_OK
                                                         : tell_error(job, error);
}

/* ---- the run ---- */

/* the caller may have filled the struct */
static psdm_status check_words(const psdm_job *job, const psdm_setting *table) {
  psdm_status status = PSDM_OK;
  for (const psdm_setting *s = table; s->name && !status; s++) {
    const char *text = s->kind == PSDM_SETTING_text ? *(const char *const *)psdm_job_value(job, s->name) : NULL;
    if (text) status = check_word(job, s, text);
  }
  return status;
}

psdm_status psdm_job_run(psdm_job *job, psdm_error *error) {
  if (job->state->ran) return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "a job runs once");
  job->state->ran = true;
  job->good = true;
  psdm_status status = check_words(job, arguments_of(job->kind));
  if (!status) status = check_words(job, job->kind->settings);
  if (!status) status = job->kind->run(job);
  if (status) job->good = false;
  return status ? tell_error(job, error) : PSDM_OK;
}

void psdm_job_settle(psdm_job *job) {
  if (job->answer && job->kind->settle) job->kind->settle(job);
}

bool psdm_job_good(const psdm_job *job) { return job->good; }
bool psdm_job_stopped(const psdm_job *job) { return job->state->stopped; }

const psdm_result *psdm_job_result(const psdm_job *job) { return job->answer; }
const char *psdm_job_robot_path(const psdm_job *job) { return job->path; }
const psdm_robot *psdm_job_robot_used(const psdm_job *job) { return job->state->robot; }

void psdm_job_json(const psdm_job *job, psdm_output *output) {
  if (job->answer) psdm_result_write_json(job->answer, output);
}

bool psdm_job_rows_of(const psdm_job *job, const char *setting, psdm_job_rows *rows) {
  const psdmp_job_kept *kept = psdmp_job_state_kept(job->state, setting);
  *rows = (psdm_job_rows){0};
  if (!kept || !kept->names) return false;
  *rows = (psdm_job_rows){kept->rows, kept->columns, (const char *const *)kept->names, kept->values};
  return true;
}

const char *psdm_job_text_of(const psdm_job *job, const char *setting) {
  const psdmp_job_kept *kept = psdmp_job_state_kept(job->state, setting);
  return kept && kept->text ? psdm_output_kept(kept->text) : NULL;
}

/* ---- for the jobs ---- */

void *psdmp_job_array(const psdm_job *job, size_t count, size_t size) {
  return psdmp_base_arena_array(&job->state->arena, (ptrdiff_t)count, size);
}

psdm_status psdmp_job_answer(psdm_job *job, const psdm_result_type *type, psdmp_job_fill *fill) {
  psdm_error error;
  psdm_result *answer;
  if (psdm_result_new(type, NULL, &answer, &error)) return psdmp_job_fail(job, &error);
  fill(job, answer);
  if (psdm_result_complete(answer, &error)) return psdmp_job_fail(job, &error);
  job->answer = answer;
  return PSDM_OK;
}

const psdm_named_value *psdmp_job_settings(psdm_job *job, psdm_result *answer, long *count) {
  return psdm_settings_values(job->kind->settings, psdm_job_values(job), answer, count);
}

const psdm_word *psdmp_job_texts(psdm_result *answer, const char *(*at)(const void *from, int index), const void *from,
                                 long *count) {
  for (*count = 0; at(from, (int)*count);) ++*count;
  psdm_word *text = psdm_result_memory(answer, *count, sizeof *text);
  for (long k = 0; text && k < *count; k++) text[k] = psdm_result_text(answer, at(from, (int)k));
  if (!text) *count = 0;
  return text;
}

bool psdmp_job_helps(const psdm_job *job) { return job->host.ranks && job->host.ranks->rank > 0; }

psdm_status psdmp_job_check_rules(const psdm_job *job, const psdmp_job_rule *rules, size_t count, unsigned kind) {
  for (size_t i = 0; i < count; i++)
    if (!(rules[i].kinds & 1u << kind) && psdmp_job_given(job, rules[i].setting))
      return psdmp_job_wrong(job, "`%s` needs %s", rules[i].setting, rules[i].words);
  return PSDM_OK;
}

bool psdmp_job_given(const psdm_job *job, const char *setting) {
  return psdm_setting_given(psdm_setting_find(job->kind->settings, setting), (const char *)job + job->kind->values);
}

int psdmp_job_choice(const psdm_job *job, const char *setting) {
  char list[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE];
  int k = psdm_setting_words(row_of(job->kind, setting)->argument, list, NULL);
  while (k-- && strcmp(list[k], *(const char *const *)psdm_job_value(job, setting)) != 0) continue;
  return k;
}

psdm_status psdmp_job_numbers(const psdm_job *job, const char *setting, const char *text, int count, double *value) {
  const char *at = text;
  int found = 0;
  for (;; at++) {
    size_t length = strcspn(at, ",");
    if (found == count || !psdmp_base_parse_number(at, length, &value[found])) break;
    found++;
    at += length;
    if (*at) continue;
    for (int i = 1; i < count && found == 1; i++) value[i] = value[0];
    if (found == 1 || found == count) return PSDM_OK;
    break;
  }
  return psdmp_job_wrong(job, "`%s` '%s': one number or %d were expected", setting, psdmp_job_safe(job, text), count);
}

psdm_status psdmp_job_pieces(const psdm_job *job, const char *setting, const char *text, const char *const **pieces,
                             int *count) {
  enum { MOST = 256 };
  psdmp_base_arena *arena = &job->state->arena;
  *pieces = NULL, *count = 0;
  if (!text) return PSDM_OK;
  const char **piece = psdmp_base_arena_alloc(arena, MOST * sizeof *piece);
  char *at = psdmp_base_arena_text(arena, text, strlen(text));
  if (!piece || !at) return psdmp_job_memory(job);
  for (char *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    if (*count == MOST) return psdmp_job_wrong(job, "`%s`: at most %d are possible", setting, MOST);
    piece[(*count)++] = at;
  }
  *pieces = piece;
  return PSDM_OK;
}
