/* map.c: assigns the columns of a log to channels, by name or by number. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "log/log_priv.h"

const psdmp_log_group psdmp_log_groups[PSDMP_LOG_GROUPS] = {
    {"q", PSDMP_LOG_Q, PSDMP_LOG_JOINT},      {"qm", PSDMP_LOG_Q, PSDMP_LOG_MOTOR},
    {"qd", PSDMP_LOG_QD, PSDMP_LOG_JOINT},    {"qdm", PSDMP_LOG_QD, PSDMP_LOG_MOTOR},
    {"qdd", PSDMP_LOG_QDD, PSDMP_LOG_JOINT},  {"tau", PSDMP_LOG_TAU, PSDMP_LOG_JOINT},
    {"taum", PSDMP_LOG_TAU, PSDMP_LOG_MOTOR}, {"i", PSDMP_LOG_TAU, PSDMP_LOG_CURRENT},
};

static const char EXPECTED[] = "t, q, qd, qdd, qm, qdm, tau, taum, i";

const psdmp_log_group *psdmp_log_group_find(const char *name, size_t length) {
  for (int g = 0; g < PSDMP_LOG_GROUPS; g++)
    if (strlen(psdmp_log_groups[g].name) == length && strncmp(name, psdmp_log_groups[g].name, length) == 0)
      return &psdmp_log_groups[g];
  return NULL;
}

/* state while columns are assigned to channels */
typedef struct maker {
  const psdmp_log_source *source;
  const char *file;
  int n;
  int *column; /* (PSDMP_LOG_GROUPS x n) columns of the source, -1: none */
  int t;       /* column of t, -1: none */
  bool *used;  /* (columns) */
  psdm_error *error;
} maker;

static int *column_of(const maker *m, int group) { return m->column + (size_t)group * (size_t)m->n; }

/* ---- by name ---- */

/* "q12" of a robot with twelve joints or more: the group and 11; a leading zero makes it another name */
static bool split_name(const maker *m, const char *name, size_t length, int *group, int *joint) {
  size_t word = 0;
  long number = 0;
  while (word < length && (name[word] < '0' || name[word] > '9')) word++;
  const psdmp_log_group *found = psdmp_log_group_find(name, word);
  if (!found || word == length || length - word > 6 || name[word] == '0') return false;
  for (size_t i = word; i < length; i++) {
    if (name[i] < '0' || name[i] > '9') return false;
    number = 10 * number + (name[i] - '0');
  }
  *group = (int)(found - psdmp_log_groups);
  *joint = (int)number - 1;
  return number <= m->n;
}

/* the slot of a name, or NULL if it is not a channel */
static int *slot_of(maker *m, const char *name, size_t length) {
  int group, joint;
  if (length == 1 && *name == 't') return &m->t;
  return split_name(m, name, length, &group, &joint) ? &column_of(m, group)[joint] : NULL;
}

static psdm_status find_names(maker *m) {
  const psdmp_log_source *s = m->source;
  char quoted[64];
  if (!s->names)
    return psdmp_base_fail(
        m->error, PSDM_E_PARSE, m->file, 0, 0,
        "numbers without a header row of names; say which column is what, as in t=1,q=2:%d,tau=%d:%d", m->n + 1,
        m->n + 2, 2 * m->n + 1);
  for (int c = 0; c < s->columns; c++) {
    int *slot = slot_of(m, s->names[c], strlen(s->names[c]));
    if (!slot) continue;
    if (*slot >= 0)
      return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, s->header_line, 0, "%ss %d and %d are both named '%s'",
                             s->column, *slot + 1, c + 1,
                             psdmp_base_quote(s->names[c], strlen(s->names[c]), quoted, sizeof quoted));
    *slot = c;
    m->used[c] = true;
  }
  return PSDM_OK;
}

/* ---- by number: name=first[:last],... ---- */

static psdm_status fail_columns(maker *m, const char *item, size_t length, const char *why) {
  char quoted[64];
  return psdmp_base_fail(m->error, PSDM_E_ARGUMENT, m->file, 0, 0, "columns: '%s' %s",
                         psdmp_base_quote(item, length, quoted, sizeof quoted), why);
}

/* a whole number of 1 .. INT_MAX from *at on */
static bool take_count(const char **at, const char *end, int *value) {
  long number = 0;
  const char *from = *at;
  while (*at < end && **at >= '0' && **at <= '9' && number <= INT_MAX / 10 - 1) number = 10 * number + (*(*at)++ - '0');
  *value = (int)number;
  return *at > from && number >= 1;
}

static psdm_status give_column(maker *m, const char *item, size_t length, int *slot, int column) {
  char why[96];
  if (column > m->source->columns) {
    snprintf(why, sizeof why, "is beyond the last of %d columns", m->source->columns);
    return fail_columns(m, item, length, why);
  }
  if (*slot >= 0) return fail_columns(m, item, length, "is set again after it was set");
  if (m->used[column - 1]) {
    snprintf(why, sizeof why, "uses column %d twice", column);
    return fail_columns(m, item, length, why);
  }
  *slot = column - 1;
  m->used[column - 1] = true;
  return PSDM_OK;
}

/* one "name=first[:last]" */
static psdm_status take_item(maker *m, const char *item, size_t length) {
  const char *end = item + length, *equals = memchr(item, '=', length), *at = equals ? equals + 1 : end;
  char why[160];
  int first, last;
  bool good = equals && take_count(&at, end, &first);
  last = good ? first : 0;
  if (good && at < end && *at == ':') good = (at++, take_count(&at, end, &last));
  if (!good || at != end || last < first)
    return fail_columns(m, item, length, "is not of the form name=first or name=first:last");
  const psdmp_log_group *group = psdmp_log_group_find(item, (size_t)(equals - item));
  int *slot = group ? column_of(m, (int)(group - psdmp_log_groups)) : slot_of(m, item, (size_t)(equals - item)),
      count = group ? m->n : 1;
  if (!slot) {
    snprintf(why, sizeof why, "is not one of %s (1 to %d)", EXPECTED, m->n);
    return fail_columns(m, item, length, why);
  }
  if (last - first + 1 != count) {
    snprintf(why, sizeof why, "has %d column%s; %d %s expected", last - first + 1, last == first ? "" : "s", count,
             count == 1 ? "was" : "were");
    return fail_columns(m, item, length, why);
  }
  psdm_status status = PSDM_OK;
  for (int k = 0; k < count && !status; k++) status = give_column(m, item, length, &slot[k], first + k);
  return status;
}

static psdm_status find_numbers(maker *m, const char *text) {
  for (const char *at = text;;) {
    size_t length = strcspn(at, ","), from = strspn(at, " "), to = length;
    while (to > from && at[to - 1] == ' ') to--;
    if (from > to) from = to;
    psdm_status status = take_item(m, at + from, to - from);
    if (status || !at[length]) return status;
    at += length + 1;
  }
}

/* ---- checks ---- */

/* a group is complete or absent */
static psdm_status check_whole(const maker *m, int group, bool *there) {
  const int *column = column_of(m, group);
  int found = 0, missing = 0;
  for (int j = 0; j < m->n; j++) {
    found += column[j] >= 0;
    if (column[j] < 0 && !missing) missing = j + 1;
  }
  *there = found > 0;
  if (!found || found == m->n) return PSDM_OK;
  const char *name = psdmp_log_groups[group].name;
  return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, m->source->header_line, 0,
                         "%s '%s%d' is missing; %s goes from 1 to %d", m->source->column, name, missing, name, m->n);
}

/* one group of each kind, joint side first; a second one is extra */
static psdm_status choose(const maker *m, bool ignore_extra, psdmp_log_map *map, int *chosen) {
  for (int g = 0; g < PSDMP_LOG_GROUPS; g++) {
    const psdmp_log_group *group = &psdmp_log_groups[g];
    bool there;
    psdm_status status = check_whole(m, g, &there);
    if (status) return status;
    if (!there) continue;
    if (map->has[group->kind] && !ignore_extra)
      return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, m->source->header_line, 0,
                             "both %s1.. and %s1.. are present; `ignore_extra` skips the second",
                             map->group[group->kind]->name, group->name);
    if (map->has[group->kind]) continue;
    map->has[group->kind] = true;
    map->group[group->kind] = group;
    chosen[group->kind] = g;
  }
  return PSDM_OK;
}

static psdm_status check_needed(const maker *m, double rate, const psdmp_log_map *map) {
  int line = m->source->header_line;
  const char *column = m->source->column;
  if (!map->has[PSDMP_LOG_Q])
    return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, line, 0, "%ss q1.. or qm1.. were expected", column);
  if (!map->has[PSDMP_LOG_TAU])
    return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, line, 0, "%ss tau1.., taum1.. or i1.. were expected",
                           column);
  if (m->t < 0 && !(rate > 0))
    return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, line, 0,
                           "there is no %s 't'; without it the rate must be given", column);
  return PSDM_OK;
}

static psdm_status refuse_extra(const maker *m) {
  char quoted[64];
  for (int c = 0; c < m->source->columns; c++)
    if (!m->used[c])
      return psdmp_base_fail(m->error, PSDM_E_PARSE, m->file, m->source->header_line, 0,
                             "%s '%s' is not one of %s (1 to %d); `ignore_extra` skips it", m->source->column,
                             psdmp_base_quote(m->source->names[c], strlen(m->source->names[c]), quoted, sizeof quoted),
                             EXPECTED, m->n);
  return PSDM_OK;
}

static void lay_out(const maker *m, const int *chosen, psdmp_log_map *map) {
  map->clock = m->t >= 0;
  map->place[0] = m->t;
  map->width = 1;
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++) {
    if (!map->has[kind]) continue;
    map->at[kind] = map->width;
    memcpy(map->place + map->width, column_of(m, chosen[kind]), sizeof *map->place * (size_t)m->n);
    map->width += m->n;
  }
}

psdm_status psdmp_log_map_make(const psdmp_log_source *source, const char *file, int n, const char *columns,
                               bool ignore_extra, double rate, psdmp_base_arena *arena, psdmp_log_map *map,
                               psdm_error *error) {
  maker m = {source, file, n, NULL, -1, NULL, error};
  int chosen[PSDMP_LOG_KINDS] = {0};
  *map = (psdmp_log_map){0};
  m.column = psdmp_base_arena_alloc(arena, sizeof *m.column * (size_t)PSDMP_LOG_GROUPS * (size_t)n);
  m.used = psdmp_base_arena_alloc(arena, sizeof *m.used * (size_t)source->columns);
  map->place = psdmp_base_arena_alloc(arena, sizeof *map->place * (1 + (size_t)PSDMP_LOG_KINDS * (size_t)n));
  if (!m.column || !m.used || !map->place) return psdmp_base_no_memory(file, error);
  for (int k = 0; k < PSDMP_LOG_GROUPS * n; k++) m.column[k] = -1;
  psdm_status status = columns ? find_numbers(&m, columns) : find_names(&m);
  if (!status) status = choose(&m, ignore_extra, map, chosen);
  if (!status) status = check_needed(&m, rate, map);
  if (!status && !columns && !ignore_extra) status = refuse_extra(&m);
  if (!status) lay_out(&m, chosen, map);
  return status;
}
