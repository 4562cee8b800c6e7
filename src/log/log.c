/* log.c: reads source rows, returns log rows. Rows are held back for a while, so that later findings can still mark
 * them. */
#include "psdm/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log/bag_priv.h"
#include "log/log_priv.h"
#include "robot/robot.h"

enum {
  FIRST = 1001, /* rows that determine the usual interval */
  STORE_BYTES = 16 * 1024 * 1024,
  LEAST_HELD = 1024,
  MOST_HELD = 8192
};

static const double USUAL_JUMP = 5;
static const double JITTER_PART = 0.1;
static const double LARGEST = 1e100; /* larger values are not measurements, and their squares would overflow */
static const double SLOW = 0.2;      /* s: in longer intervals a joint may make a turn */
static const double DEGREE = 3.14159265358979323846 / 180;

struct psdm_log {
  psdmp_base_arena arena;
  const char *file;
  const psdm_robot *robot;
  int n;
  psdmp_log_source source;
  psdmp_log_map map;
  psdmp_log_faults faults;
  psdmp_log_store store;
  psdmp_log_watch *watch;
  /* options */
  bool degrees, currents; /* currents: returned unchanged, of the drives */
  double *sign, *offset;  /* (n) */
  double rate, jump;
  /* per value of a row: logged value times this is SI */
  double *scale;             /* (width) */
  bool *reach_q, *reach_tau; /* (n x n) joint i has a part of motor j's position, torque; NULL: joint side */
  double *motor;             /* (n) scratch */
  /* full turns: positions of the last row stored, without them, and as logged */
  double *turned, *logged; /* (n) */
  double *period;          /* (n) a full turn as logged, 0: a prismatic joint */
  /* the clock */
  bool primed; /* the usual interval is known */
  double interval;
  double last_t;
  int segment;      /* of the last row stored, -1: none */
  bool end;         /* the source has no further rows, and */
  bool watched_all; /* all have been watched */
  long good;
  /* out */
  long out_rows;
  double *t, *out[PSDMP_LOG_KINDS];
  unsigned char *bad;
  long *line;
};

/* ---- time ---- */

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *row_at(const psdm_log *log, long row) { return log->store.raw + row * log->store.width; }

/* median of the ascending intervals among the first rows; 0 without any. The store's marks, unused so far, are not
 * aligned for doubles: scratch has space for FIRST. */
static double usual_interval(const psdm_log *log, double *scratch) {
  int count = 0;
  for (long r = 1; r < log->store.used; r++) {
    double interval = row_at(log, r)[0] - row_at(log, r - 1)[0];
    if (interval > 0 && isfinite(interval)) scratch[count++] = interval;
  }
  if (!count) return 0;
  qsort(scratch, (size_t)count, sizeof *scratch, by_size);
  return count % 2 ? scratch[count / 2] : (scratch[count / 2 - 1] + scratch[count / 2]) / 2;
}

/* checks a row's time stamp: false if the row is skipped. *regular: it follows the row before after the usual interval.
 * */
static bool check_time(psdm_log *log, double t, long line, bool *regular) {
  char now[32], then[32], usual[32];
  double interval = t - log->last_t;
  *regular = false;
  if (log->segment < 0) {
    log->segment = 0;
    return true;
  }
  if (interval == 0) {
    psdmp_base_format_short(t, now);
    psdmp_log_fault_add(&log->faults, PSDM_FAULT_REPEATED, line, "t is %s, the same as in the previous row", now);
    return false;
  }
  *regular = fabs(interval - log->interval) <= JITTER_PART * log->interval && interval <= log->jump * log->interval;
  if (*regular) return true;
  psdmp_base_format_short(log->interval, usual);
  if (interval < 0) {
    psdmp_base_format_short(t, now);
    psdmp_base_format_short(log->last_t, then);
    psdmp_log_fault_add(&log->faults, PSDM_FAULT_BACK, line, "t goes back from %s to %s", then, now);
    log->segment++;
  } else if (interval > log->jump * log->interval) {
    psdmp_base_format_short(interval, now);
    psdmp_log_fault_add(&log->faults, PSDM_FAULT_JUMP, line, "%s s after the previous row; %s s is usual", now, usual);
    log->segment++;
  } else {
    psdmp_base_format_short(interval, now);
    psdmp_log_fault_add(&log->faults, PSDM_FAULT_JITTER, line, "%s s after the previous row; %s s is usual", now,
                        usual);
  }
  return true;
}

/* ---- full turns ---- */

/* Positions wrapped to -pi .. pi jump by a full turn. No joint makes one between two rows: it is removed. Motors may,
 * and are left alone. `away`: at a bookmark the number of turns is known, and nothing is reported. */
static void unwind(psdm_log *log, double *values, long line, bool fresh, bool away) {
  char now[32], then[32];
  for (int j = 0; j < log->n; j++) {
    double *q = &values[log->map.at[PSDMP_LOG_Q] + j], period = log->period[j], logged = *q;
    if (period > 0 && log->interval < SLOW && (!fresh || away)) {
      double turns = floor((log->turned[j] - *q) / period + 0.5), left = *q + turns * period - log->turned[j];
      bool goes_on = fabs(left) <= 0.15 * period;
      if (turns != 0 && (goes_on || away)) *q += turns * period;
      bool told = turns != 0 && goes_on && !away && fabs(logged - log->logged[j]) > 0.5 * period;
      if (told) psdmp_base_format_short(log->logged[j], then), psdmp_base_format_short(logged, now);
      if (told)
        psdmp_log_fault_add(&log->faults, PSDM_FAULT_WRAPPED, line, "q%d goes from %s to %s: a full turn", j + 1, then,
                            now);
    }
    log->turned[j] = *q;
    log->logged[j] = logged;
  }
}

/* moves the row at `from` into the store, or skips it */
static void accept(psdm_log *log, long from) {
  psdmp_log_store *s = &log->store;
  double *values = row_at(log, from), t = values[0];
  bool regular;
  int before = log->segment;
  if (!check_time(log, t, s->line[from], &regular)) return;
  unwind(log, values, s->line[from], log->segment != before, false);
  long to = s->used++;
  if (to != from) memcpy(row_at(log, to), values, sizeof *values * (size_t)s->width);
  s->line[to] = s->line[from];
  s->place[to] = s->place[from];
  s->index[to] = s->index[from];
  s->segment[to] = log->segment;
  s->regular[to] = regular;
  memset(s->mark + to * log->n, 0, (size_t)log->n);
  log->last_t = t;
  psdmp_log_watch_ahead(log->watch, to);
}

/* ---- rows in ---- */

/* a number that no sensor gives makes the row invalid */
static bool too_large(psdm_log *log, const double *values, long line) {
  for (int k = log->map.clock ? 0 : 1; k < log->map.width; k++) {
    if (fabs(values[k]) <= LARGEST) continue;
    int kind = PSDMP_LOG_KINDS;
    char number[32];
    while (k && !(log->map.has[--kind] && k >= log->map.at[kind])) continue;
    psdmp_base_format_short(values[k], number);
    if (k)
      psdmp_log_fault_add(&log->faults, PSDM_FAULT_NAN, line, "%s%d is %s", log->map.group[kind]->name,
                          k - log->map.at[kind] + 1, number);
    else psdmp_log_fault_add(&log->faults, PSDM_FAULT_NAN, line, "t is %s", number);
    return true;
  }
  return false;
}

/* the next usable row, at the end of the store; *got is false at the end of the log */
static psdm_status take_row(psdm_log *log, bool *got, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  *got = false;
  while (!log->end) {
    psdmp_log_row row;
    double *values = row_at(log, s->used);
    psdm_status status = log->source.next(log->source.self, values, &row, error);
    if (status) return status;
    log->end = row.end;
    if (row.end) return PSDM_OK;
    if (row.bad) {
      psdmp_log_fault_add(&log->faults, row.fault, row.line, "%s", row.sentence);
      continue;
    }
    if (too_large(log, values, row.line)) continue;
    if (row.comma && !log->faults.count[PSDM_FAULT_COMMA])
      psdmp_log_fault_add(&log->faults, PSDM_FAULT_COMMA, row.line, "numbers have decimal commas: 1,5 is read as 1.5");
    if (!log->map.clock) values[0] = (double)row.index / log->rate;
    s->line[s->used] = row.line;
    s->place[s->used] = row.place;
    s->index[s->used] = row.index;
    *got = true;
    return PSDM_OK;
  }
  return PSDM_OK;
}

/* the first rows wait until the usual interval is known */
static psdm_status prime(psdm_log *log, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  bool got = true;
  while (s->used < FIRST && got) {
    psdm_status status = take_row(log, &got, error);
    if (status) return status;
    s->used += got;
  }
  log->interval = usual_interval(log, log->t);
  psdmp_log_watch_reset(log->watch, log->interval);
  long waiting = s->used;
  s->used = 0;
  for (long r = 0; r < waiting; r++) accept(log, r);
  log->primed = true;
  return PSDM_OK;
}

/* moves the rows not yet returned to the start */
static void compact(psdm_log *log) {
  psdmp_log_store *s = &log->store;
  long shift = s->begin, left = s->used - shift;
  if (!shift) return;
  memmove(s->raw, row_at(log, shift), sizeof *s->raw * (size_t)(left * s->width));
  memmove(s->line, s->line + shift, sizeof *s->line * (size_t)left);
  memmove(s->place, s->place + shift, sizeof *s->place * (size_t)left);
  memmove(s->index, s->index + shift, sizeof *s->index * (size_t)left);
  memmove(s->segment, s->segment + shift, sizeof *s->segment * (size_t)left);
  memmove(s->regular, s->regular + shift, sizeof *s->regular * (size_t)left);
  memmove(s->mark, s->mark + shift * log->n, (size_t)(left * log->n));
  s->begin = 0;
  s->used -= shift;
  s->watched -= shift;
  psdmp_log_watch_shift(log->watch, shift);
}

/* fills the store, or reads the rest; then watches all rows with enough rows after them */
static psdm_status fill(psdm_log *log, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  psdm_status status = log->primed ? PSDM_OK : prime(log, error);
  bool got = true;
  compact(log);
  while (!status && got && s->used < s->room) {
    status = take_row(log, &got, error);
    if (!status && got) accept(log, s->used);
  }
  if (status) return status;
  long until = log->end ? s->used : s->used - s->hold / 4;
  for (; s->watched < until; s->watched++) psdmp_log_watch_row(log->watch, s->watched);
  if (log->end && !log->watched_all) {
    psdmp_log_watch_end(log->watch);
    log->watched_all = true;
  }
  return PSDM_OK;
}

/* ---- rows out ---- */

/* a group that goes through the transmission; plain currents stay with the drives */
static bool at_motors(const psdm_log *log, int kind) {
  psdmp_log_side side = log->map.group[kind]->side;
  return side == PSDMP_LOG_MOTOR || (side == PSDMP_LOG_CURRENT && !log->currents);
}

static void convert_kind(psdm_log *log, int kind, const double *values, double *to) {
  const psdmp_log_map *m = &log->map;
  const double *raw = values + m->at[kind], *scale = log->scale + m->at[kind];
  bool motor = at_motors(log, kind) && psdm_robot_has_transmission(log->robot);
  double *into = motor ? log->motor : to;
  for (int j = 0; j < log->n; j++) into[j] = raw[j] * scale[j];
  if (motor && kind == PSDMP_LOG_TAU) psdm_robot_joint_torque(log->robot, log->motor, to);
  if (motor && kind != PSDMP_LOG_TAU) psdm_robot_motor_to_joint(log->robot, log->motor, to);
  for (int j = 0; j < log->n; j++) to[j] *= log->sign[j];
  for (int j = 0; kind == PSDMP_LOG_Q && j < log->n; j++) to[j] += log->offset[j];
}

/* marks of logged channels become marks of joints: of all that share a motor */
static void convert_marks(const psdm_log *log, const unsigned char *mark, unsigned char *bad) {
  static const unsigned char bit[PSDMP_LOG_KINDS] = {PSDMP_LOG_MARK_Q, PSDMP_LOG_MARK_QD, PSDMP_LOG_MARK_QDD,
                                                     PSDMP_LOG_MARK_TAU};
  memset(bad, 0, (size_t)log->n);
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++) {
    if (!log->map.has[kind]) continue;
    const bool *reach = !at_motors(log, kind) ? NULL : kind == PSDMP_LOG_TAU ? log->reach_tau : log->reach_q;
    for (int j = 0; j < log->n; j++)
      for (int i = 0; mark[j] & bit[kind] && i < log->n; i++)
        if (reach ? reach[i * log->n + j] : i == j) bad[i] |= kind == PSDMP_LOG_TAU ? 2 : 1;
    unsigned char spike = kind == PSDMP_LOG_TAU ? PSDMP_LOG_MARK_TAU_SPIKE : PSDMP_LOG_MARK_SPIKE;
    for (int j = 0; j < log->n && (kind == PSDMP_LOG_TAU || kind == PSDMP_LOG_Q); j++)
      for (int i = 0; mark[j] & spike && i < log->n; i++)
        if (reach ? reach[i * log->n + j] : i == j) bad[i] |= kind == PSDMP_LOG_TAU ? 8 : 4;
  }
}

psdm_status psdm_log_read(psdm_log *log, long most, psdm_log_rows *rows, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  *rows = (psdm_log_rows){0};
  if (most < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->file, 0, 0,
                           "%ld rows were requested; at least one was expected", most);
  long limit = log->watched_all ? s->used : s->used - s->hold;
  if (s->begin >= limit && !log->watched_all) {
    psdm_status status = fill(log, error);
    if (status) return status;
    limit = log->watched_all ? s->used : s->used - s->hold;
  }
  if (most > log->out_rows) most = log->out_rows;
  long count = 0;
  while (count < most && s->begin + count < limit && s->segment[s->begin + count] == s->segment[s->begin]) {
    long row = s->begin + count, at = count * log->n;
    log->t[count] = row_at(log, row)[0];
    for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
      if (log->map.has[kind]) convert_kind(log, kind, row_at(log, row), log->out[kind] + at);
    convert_marks(log, s->mark + at + s->begin * log->n, log->bad + at);
    log->line[count++] = s->line[row];
  }
  *rows = (psdm_log_rows){count,
                          count ? s->segment[s->begin] : 0,
                          log->t,
                          log->out[PSDMP_LOG_Q],
                          log->out[PSDMP_LOG_TAU],
                          log->out[PSDMP_LOG_QD],
                          log->out[PSDMP_LOG_QDD],
                          log->bad,
                          log->line};
  s->begin += count;
  log->good += count;
  return PSDM_OK;
}

static void forget_rows(psdm_log *log) {
  log->store.begin = log->store.watched = log->store.used = 0;
  log->primed = log->end = log->watched_all = false;
  log->segment = -1;
  log->good = 0;
  memset(log->faults.count, 0, sizeof log->faults.count);
}

psdm_status psdm_log_rewind(psdm_log *log, psdm_error *error) {
  psdm_status status = log->source.rewind(log->source.self, error);
  if (status) return status;
  forget_rows(log);
  return fill(log, error);
}

/* ---- bookmarks ---- */

bool psdmp_log_seeks(const psdm_log *log) { return log->source.seek != NULL; }
bool psdmp_log_once(const psdm_log *log) { return log->source.once; }
bool psdmp_log_shared(const psdm_log *log) { return log->source.shared; }

bool psdmp_log_markable(const psdm_log *log) {
  const psdmp_log_store *s = &log->store;
  return log->source.seek && !log->watched_all && s->begin >= s->used - s->hold && s->begin < s->used &&
         s->place[s->begin] >= 0;
}

static size_t bookmark_bytes(const psdm_log *log) {
  return psdmp_log_watch_bytes(log->watch) + (size_t)log->n * sizeof(double);
}

bool psdmp_log_bookmark_take(psdm_log *log, const psdm_allocator *allocator, psdmp_log_bookmark *b) {
  const psdmp_log_store *s = &log->store;
  compact(log); /* as the next call would */
  *b = (psdmp_log_bookmark){.row = log->good,
                            .place = s->place[0],
                            .line = s->line[0],
                            .index = s->index[0],
                            .segment = s->segment[0],
                            .regular = s->regular[0],
                            .interval = log->interval,
                            .watched = s->watched,
                            .used = s->used,
                            .bytes = bookmark_bytes(log)};
  for (long k = 0; k < s->used * log->n; k++) b->marks += s->mark[k] != 0;
  b->watch = psdmp_base_alloc_raw(allocator, b->bytes);
  b->mark = psdmp_base_alloc(allocator, (size_t)(b->marks + 1) * sizeof *b->mark);
  if (!b->watch || !b->mark) return psdmp_log_bookmark_free(b, allocator), false;
  psdmp_log_watch_save(log->watch, b->watch);
  memcpy(b->watch + psdmp_log_watch_bytes(log->watch), s->raw + log->map.at[PSDMP_LOG_Q],
         (size_t)log->n * sizeof *s->raw);
  long at = 0;
  for (long k = 0; k < s->used * log->n; k++)
    if (s->mark[k])
      b->mark[at].row = (int)(k / log->n), b->mark[at].joint = (int)(k % log->n), b->mark[at++].mark = s->mark[k];
  return true;
}

void psdmp_log_bookmark_free(psdmp_log_bookmark *b, const psdm_allocator *allocator) {
  psdmp_base_free(allocator, b->watch);
  psdmp_base_free(allocator, b->mark);
  *b = (psdmp_log_bookmark){0};
}

/* the rows of the store, from the file */
static psdm_status refill(psdm_log *log, const psdmp_log_bookmark *b, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  bool got = true;
  while (s->used < b->used && got) {
    psdm_status status = take_row(log, &got, error);
    if (status) return status;
    bool regular = b->regular, first = s->used == 0;
    int before = log->segment;
    if (!got || (!first && !check_time(log, row_at(log, s->used)[0], s->line[s->used], &regular))) continue;
    unwind(log, row_at(log, s->used), s->line[s->used], log->segment != before, first);
    s->segment[s->used] = log->segment;
    s->regular[s->used] = regular;
    log->last_t = row_at(log, s->used)[0];
    s->used++;
  }
  return s->used == b->used ? PSDM_OK : psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "changed while it was read");
}

psdm_status psdmp_log_go_to(psdm_log *log, const psdmp_log_bookmark *b, psdm_error *error) {
  psdmp_log_store *s = &log->store;
  if (!log->source.seek || b->used > s->room || b->bytes != bookmark_bytes(log))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->file, 0, 0, "the bookmark belongs to another log");
  psdm_status status = log->source.seek(log->source.self, b->place, b->line, b->index, error);
  if (status) return status;
  forget_rows(log);
  log->primed = true;
  log->interval = b->interval;
  log->segment = b->segment;
  log->good = b->row;
  memcpy(log->turned, b->watch + psdmp_log_watch_bytes(log->watch), (size_t)log->n * sizeof *log->turned);
  status = refill(log, b, error);
  if (status) return status;
  memset(s->mark, 0, (size_t)(s->used * log->n));
  for (long k = 0; k < b->marks; k++) s->mark[(long)b->mark[k].row * log->n + b->mark[k].joint] = b->mark[k].mark;
  psdmp_log_watch_restore(log->watch, b->watch);
  s->watched = b->watched;
  return PSDM_OK;
}

/* ---- opening ---- */

static const double SLOWEST_RATE = 1e-3, FASTEST_RATE = 1e6; /* Hz */

/* a given rate must match the clock: the median interval of the first rows */
static psdm_status check_rate(const psdm_log *log, psdm_error *error) {
  char given[32], own[32];
  if (!log->map.clock || !(log->rate > 0) || !(log->interval > 0) || fabs(log->rate * log->interval - 1) <= 0.1)
    return PSDM_OK;
  psdmp_base_format_short(log->rate, given);
  psdmp_base_format_short(1 / log->interval, own);
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->file, 0, 0,
                         "the given rate is %s Hz, but the log's own clock has %s Hz; a rate is for logs without t",
                         given, own);
}

static psdm_status check_options(const psdm_log_options *o, int n, const char *file, psdm_error *error) {
  char number[32];
  for (int j = 0; o->sign && j < n; j++)
    if (o->sign[j] != 1 && o->sign[j] != -1) {
      psdmp_base_format_short(o->sign[j], number);
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "the sign of joint %d is %s; 1 or -1 was expected",
                             j + 1, number);
    }
  for (int j = 0; o->offset && j < n; j++)
    if (!isfinite(o->offset[j]))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "the offset of joint %d is not a finite number",
                             j + 1);
  if (o->rate > 0 && isfinite(o->rate) && (o->rate < SLOWEST_RATE || o->rate > FASTEST_RATE)) {
    psdmp_base_format_short(o->rate, number);
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "a rate of %s Hz; 0.001 to 1e6 Hz were expected",
                           number);
  }
  if (!(o->rate >= 0) || !isfinite(o->rate))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "the rate must be a finite number of Hz above 0");
  if (o->jump != 0 && (!(o->jump > 1) || !isfinite(o->jump)))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "a gap must be longer than one interval");
  return PSDM_OK;
}

/* unit factors of logged numbers: degrees, but not along a prismatic joint; the torque constant is the joint's, so it
 * goes through the gear back to the motor, from where the transmission leads to the joints */
static psdm_status set_scale(psdm_log *log, psdm_error *error) {
  const psdmp_log_map *m = &log->map;
  bool geared = psdm_robot_has_transmission(log->robot);
  for (int k = 0; k < m->width; k++) log->scale[k] = 1;
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
    for (int j = 0; m->has[kind] && j < log->n; j++) {
      const psdm_joint *joint = psdmp_robot_joint_of(log->robot, j);
      double *scale = &log->scale[m->at[kind] + j];
      bool motor = m->group[kind]->side == PSDMP_LOG_MOTOR;
      if (kind != PSDMP_LOG_TAU && log->degrees && (motor || !joint || joint->type != PSDM_PRISMATIC)) *scale = DEGREE;
      if (kind == PSDMP_LOG_Q && !motor && joint && joint->type == PSDM_REVOLUTE)
        log->period[j] = 360 * DEGREE / *scale;
      if (m->group[kind]->side != PSDMP_LOG_CURRENT || log->currents) continue;
      if (!joint || isnan(joint->torque_constant))
        return psdmp_base_fail(error, PSDM_E_MISSING, log->file, 0, 0, "currents need a torque_constant of joint '%s'",
                               joint ? joint->name : "?");
      *scale = geared ? joint->torque_constant / joint->gear : joint->torque_constant;
    }
  return PSDM_OK;
}

/* which joints share a motor: columns of the two maps, by unit vectors */
static void find_reach(psdm_log *log) {
  int n = log->n;
  double *unit = log->motor, *to = log->t; /* both serve as scratch here */
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) unit[i] = i == j;
    psdm_robot_motor_to_joint(log->robot, unit, to);
    for (int i = 0; i < n; i++) log->reach_q[i * n + j] = to[i] != 0;
    psdm_robot_joint_torque(log->robot, unit, to);
    for (int i = 0; i < n; i++) log->reach_tau[i * n + j] = to[i] != 0;
  }
}

static bool make_store(psdm_log *log) {
  psdmp_log_store *s = &log->store;
  size_t row = sizeof(double) * (size_t)log->map.width + sizeof(long) + sizeof(int) + (size_t)log->n + 1;
  long hold = (long)(STORE_BYTES / row);
  s->n = log->n;
  s->width = log->map.width;
  s->hold = hold < LEAST_HELD ? LEAST_HELD : hold > MOST_HELD ? MOST_HELD : hold;
  s->room = 2 * s->hold;
  /* the last is for reading a row that may be bad */
  s->raw = psdmp_base_arena_alloc_raw(&log->arena, sizeof *s->raw * (size_t)((s->room + 1) * s->width));
  s->line = PSDMP_BASE_NEW(&log->arena, s->room + 1, long);
  s->place = PSDMP_BASE_NEW(&log->arena, s->room + 1, long long);
  s->index = PSDMP_BASE_NEW(&log->arena, s->room + 1, long);
  s->segment = PSDMP_BASE_NEW(&log->arena, s->room + 1, int);
  s->mark = PSDMP_BASE_NEW(&log->arena, (s->room + 1) * s->n, unsigned char);
  s->regular = PSDMP_BASE_NEW(&log->arena, s->room + 1, bool);
  log->watch = psdmp_log_watch_new(&log->map, s, &log->faults, &log->arena);
  return s->raw && s->line && s->place && s->index && s->segment && s->mark && s->regular && log->watch;
}

static bool make_output(psdm_log *log) {
  long rows = log->out_rows = log->store.hold / 2, n = log->n;
  bool made = true;
  log->t = PSDMP_BASE_NEW(&log->arena, rows > n && rows > FIRST ? rows : n > FIRST ? n : FIRST, double);
  log->bad = PSDMP_BASE_NEW(&log->arena, rows * n, unsigned char);
  log->line = PSDMP_BASE_NEW(&log->arena, rows, long);
  log->scale = PSDMP_BASE_NEW(&log->arena, log->map.width, double);
  log->motor = PSDMP_BASE_NEW(&log->arena, n, double);
  log->turned = PSDMP_BASE_NEW(&log->arena, n, double), log->logged = PSDMP_BASE_NEW(&log->arena, n, double),
  log->period = PSDMP_BASE_NEW(&log->arena, n, double);
  log->reach_q = PSDMP_BASE_NEW(&log->arena, n * n, bool);
  log->reach_tau = PSDMP_BASE_NEW(&log->arena, n * n, bool);
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++) {
    log->out[kind] = log->map.has[kind] ? PSDMP_BASE_NEW(&log->arena, rows * n, double) : NULL;
    made = made && (log->out[kind] || !log->map.has[kind]);
  }
  return made && log->turned && log->logged && log->period && log->t && log->bad && log->line && log->scale &&
         log->motor && log->reach_q && log->reach_tau;
}

static psdm_status set_up(psdm_log *log, const psdmp_log_request *request, const psdm_log_options *options,
                          psdm_error *error) {
  log->degrees = options->degrees;
  log->currents = options->currents;
  log->rate = options->rate;
  log->jump = options->jump > 0 ? options->jump : USUAL_JUMP;
  log->sign = PSDMP_BASE_NEW(&log->arena, log->n, double);
  log->offset = PSDMP_BASE_NEW(&log->arena, log->n, double);
  if (!log->sign || !log->offset) return psdmp_base_no_memory(log->file, error);
  for (int j = 0; j < log->n; j++) {
    log->sign[j] = options->sign ? options->sign[j] : 1;
    log->offset[j] = options->offset ? options->offset[j] : 0;
  }
  psdm_status status = psdmp_log_source_open(request, &log->source, error);
  if (status) return status;
  log->faults.word = log->source.word;
  status = psdmp_log_map_make(&log->source, log->file, log->n, options->columns, options->ignore_extra, options->rate,
                              &log->arena, &log->map, error);
  if (!status) status = log->source.select(log->source.self, log->map.width, log->map.place, error);
  if (!status && (!make_store(log) || !make_output(log))) status = psdmp_base_no_memory(log->file, error);
  if (!status) status = set_scale(log, error);
  if (status) return status;
  find_reach(log);
  forget_rows(log);
  return PSDM_OK;
}

psdm_status psdmp_log_begin(psdm_log *log, psdm_error *error) {
  psdm_status status = fill(log, error);
  if (!status && log->end && !log->store.used && !psdm_log_faults(log, PSDM_FAULT_GARBAGE) &&
      !psdm_log_faults(log, PSDM_FAULT_SHORT) && !psdm_log_faults(log, PSDM_FAULT_NAN))
    status = psdmp_base_fail(error, PSDM_E_PARSE, log->file, log->source.header_line, 0,
                             "no row after the header; at least one was expected");
  return status ? status : check_rate(log, error);
}

/* splits a topic off the file's name; false: out of memory */
static bool name_topic(psdm_log *log, psdmp_log_request *request) {
  size_t length = request->path ? psdmp_log_bag_name(request->path) : 0;
  if (!request->path || !request->path[length]) return true;
  request->topic = psdmp_base_arena_text(&log->arena, request->path + length + 1, strlen(request->path + length + 1));
  request->path = psdmp_base_arena_text(&log->arena, request->path, length);
  return request->topic && request->path;
}

static psdm_status open_log(psdmp_log_request *request, const psdm_robot *robot, const psdm_log_options *options,
                            const psdm_allocator *allocator, psdm_log **out, psdm_error *error) {
  static const psdm_log_options defaults = {0};
  if (!options) options = &defaults;
  *out = NULL;
  psdm_status status = check_options(options, psdm_robot_n(robot), request->file, error);
  if (status) return status;
  psdm_log *log = psdmp_base_alloc(allocator, sizeof *log);
  if (!log) return psdmp_base_no_memory(request->file, error);
  log->arena.allocator = allocator;
  log->robot = robot;
  log->n = psdm_robot_n(robot);
  log->file = psdmp_base_arena_text(&log->arena, request->file, strlen(request->file));
  request->file = log->file;
  request->robot = robot;
  request->n = log->n;
  request->numbered = options->columns != NULL;
  request->allocator = allocator;
  status =
      log->file && name_topic(log, request) ? set_up(log, request, options, error) : psdmp_base_no_memory("", error);
  if (status) {
    psdm_log_close(log);
    log = NULL;
  }
  *out = log;
  return status;
}

/* its first rows too */
static psdm_status begin_log(psdm_status status, psdm_log **log, psdm_error *error) {
  if (!status) status = psdmp_log_begin(*log, error);
  if (status) psdm_log_close(*log), *log = NULL;
  return status;
}

psdm_status psdmp_log_open(const char *path, const psdm_robot *robot, const psdm_log_options *options,
                           const psdm_allocator *allocator, psdm_log **log, psdm_error *error) {
  const psdm_log_table *table = psdmp_log_in_memory(path, options);
  psdmp_log_request request = {
      .path = table ? NULL : path, .table = table, .file = !table && strcmp(path, "-") == 0 ? "<stdin>" : path};
  return open_log(&request, robot, options, allocator, log, error);
}

psdm_status psdm_log_open(const char *path, const psdm_robot *robot, const psdm_log_options *options,
                          const psdm_allocator *allocator, psdm_log **log, psdm_error *error) {
  return begin_log(psdmp_log_open(path, robot, options, allocator, log, error), log, error);
}

psdm_status psdmp_log_open_source(psdm_csv_read read, void *user, const char *name, const psdm_robot *robot,
                                  const psdm_log_options *options, const psdm_allocator *allocator, psdm_log **log,
                                  psdm_error *error) {
  psdmp_log_request request = {.read = read, .user = user, .file = name};
  return begin_log(open_log(&request, robot, options, allocator, log, error), log, error);
}

void psdm_log_close(psdm_log *log) {
  if (!log) return;
  if (log->source.close) log->source.close(log->source.self);
  psdmp_base_arena_free_owner(&log->arena, log);
}

/* ---- facts ---- */

const char *psdm_log_file(const psdm_log *log) { return log->file; }
bool psdm_log_has_rates(const psdm_log *log) { return log->map.has[PSDMP_LOG_QD]; }
bool psdm_log_has_accelerations(const psdm_log *log) { return log->map.has[PSDMP_LOG_QDD]; }
double psdm_log_interval(const psdm_log *log) { return log->interval; }
long psdm_log_good(const psdm_log *log) { return log->good; }

bool psdm_log_motor_side(const psdm_log *log) {
  return log->map.group[PSDMP_LOG_TAU]->side != PSDMP_LOG_JOINT || log->map.group[PSDMP_LOG_Q]->side == PSDMP_LOG_MOTOR;
}

bool psdm_log_has_currents(const psdm_log *log) { return log->map.group[PSDMP_LOG_TAU]->side == PSDMP_LOG_CURRENT; }

long long psdm_log_bytes(const psdm_log *log) {
  long long bytes, size;
  log->source.progress(log->source.self, &bytes, &size);
  return bytes;
}

long long psdm_log_size(const psdm_log *log) {
  long long bytes, size;
  log->source.progress(log->source.self, &bytes, &size);
  return size;
}

long psdm_log_faults(const psdm_log *log, psdm_fault fault) {
  return (unsigned)fault < PSDM_FAULTS ? log->faults.count[fault] : 0;
}

const char *psdm_log_fault(const psdm_log *log, psdm_fault fault, int index, long *line) {
  if ((unsigned)fault >= PSDM_FAULTS || index < 0 || index >= PSDMP_LOG_KEPT || index >= log->faults.count[fault])
    return NULL;
  if (line) *line = log->faults.kept[fault][index].line;
  return log->faults.kept[fault][index].text;
}
