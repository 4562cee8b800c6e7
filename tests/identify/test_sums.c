/* test_sums.c: sums over made-up units of stretches, with the logs, the checkpoint and the other ranks replaced by
 * stand-ins: which rows are requested, in which order they are added, when progress is called, what is kept and
 * counted; and every failure on the way. */
#include <stdio.h>
#include <string.h>

#include "identify/identify.h"
#include "fenced.h"

enum { UNITS = 6, MOST = 40, MARGIN = 17 };

static const char pendulum[] = "convention: dh\njoints: [{a: 1}]\n";

/* ---- parts: the first rows of their stretches, in their order ---- */

typedef struct list {
  long count, first[MOST];
} list;

/* What happened, and which calls are to fail. */
static struct {
  counting memory;
  psdmp_identify_run run;
  psdm_calibrate_options options;
  psdm_ranks ranks;
  bool whole, shared, taken; /* of the feed; parts of the checkpoint are there */
  long readers, units_read, adds, asked, stop_at, saves, loads, names, fail_add, fail_unit, fail_save, fail_merge,
      fail_names, bad_bytes;
  long lead, trail, unit[MOST];
  bool all;
  char kind[16], heard[MOST][16];
  double share[MOST];
  const psdmp_parallel_bytes *request;
  psdmp_parallel_bytes kept[UNITS], answer[3];
  int threads, work;
  long spread_units;
  const psdmp_feed_reader *reader;
} now;

static void *list_new(void *user) {
  assert_true(user == &now);
  return psdmp_base_alloc(&now.memory.allocator, sizeof(list));
}

static void list_free(void *user, void *part) {
  assert_true(user == &now);
  psdmp_base_free(&now.memory.allocator, part);
}

/* a thread's run is a copy of the run with its own work space */
typedef struct space {
  psdmp_identify_run *own;
} space;

static void *space_new(void *user, psdmp_identify_run *own) {
  assert_true(user == &now && own != &now.run && own->robot == now.run.robot && own->rows == 1000 && own->work &&
              own->work != now.run.work);
  space *s = psdmp_base_alloc(&now.memory.allocator, sizeof *s);
  if (s) s->own = own;
  return s;
}

static void space_free(void *user, void *s) {
  assert_true(user == &now && s);
  psdmp_base_free(&now.memory.allocator, s);
}

static psdm_status list_add(void *user, void *part, const psdmp_feed_stretch *stretch, psdm_error *error) {
  list *l = part;
  assert_true(((space *)user)->own->rows == 1000 && l->count == 0);
  if (++now.adds == now.fail_add) return psdmp_base_fail(error, PSDM_E_PARSE, "", 0, 0, "a stretch");
  l->first[l->count++] = stretch->first;
  return PSDM_OK;
}

static psdm_status list_merge(void *user, void *left, void *right) {
  list *a = left, *b = right;
  assert_true(user == &now && a->count + b->count <= MOST);
  assert_int_equal(a->first[0] % 100, 0); /* a unit's first two come together first, and then the third */
  memcpy(a->first + a->count, b->first, (size_t)b->count * sizeof *b->first);
  a->count += b->count;
  list_free(user, b);
  return now.fail_merge && --now.fail_merge == 0 ? PSDM_E_MEMORY : PSDM_OK;
}

static void list_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const list *l = part;
  assert_true(user == &now);
  PSDMP_PARALLEL_PUT(to, l->count);
  psdmp_parallel_bytes_put(to, l->first, (size_t)l->count * sizeof *l->first);
}

static void *list_get(void *user, psdmp_parallel_bytes *from) {
  list *l = list_new(user);
  if (!l) return NULL;
  PSDMP_PARALLEL_GET(from, l->count);
  if (!from->failed && l->count <= MOST) psdmp_parallel_bytes_get(from, l->first, (size_t)l->count * sizeof *l->first);
  if (!from->failed) return l;
  list_free(user, l);
  return NULL;
}

static psdmp_identify_sum lists(const char *doing) {
  return (psdmp_identify_sum){.name = "lists",
                              .work = PSDMP_IDENTIFY_WORK_PASS,
                              .doing = doing,
                              .user = &now,
                              .space_new = space_new,
                              .space_free = space_free,
                              .part_new = list_new,
                              .add = list_add,
                              .merge = list_merge,
                              .part_free = list_free,
                              .put = list_put,
                              .get = list_get};
}

/* ---- calls out of sums.c ---- */

#define WRAPPED(result, name, wants) \
  result __real_##name wants;        \
  result __wrap_##name wants;        \
  result __wrap_##name wants

WRAPPED(long, psdmp_feed_units, (const psdmp_feed *feed, bool all)) {
  assert_null(feed);
  now.all = all;
  return UNITS;
}

WRAPPED(bool, psdmp_feed_whole, (const psdmp_feed *feed)) { return !feed && now.whole; }
WRAPPED(bool, psdmp_feed_shared, (const psdmp_feed *feed)) { return !feed && now.shared; }

WRAPPED(psdmp_feed_reader *, psdmp_feed_reader_new, (psdmp_feed * feed)) {
  assert_null(feed);
  void *r = psdmp_base_alloc(&now.memory.allocator, 1);
  now.readers += r != NULL;
  return r;
}

WRAPPED(void, psdmp_feed_reader_free, (psdmp_feed_reader * reader)) {
  now.readers -= reader != NULL;
  psdmp_base_free(&now.memory.allocator, reader);
}

/* unit k has k % 4 stretches of 10 rows, from row 100 k on */
WRAPPED(psdm_status, psdmp_feed_unit,
        (psdmp_feed_reader * reader, bool all, long unit, long lead, long trail, psdmp_feed_use_stretch use, void *user,
         psdm_error *error)) {
  assert_true(reader && all == now.all && unit >= 0 && unit < UNITS);
  now.lead = lead, now.trail = trail, now.unit[now.units_read++] = unit;
  for (long k = 0; k < unit % 4; k++) {
    psdmp_feed_stretch s = {.rows = 10, .first = 100 * unit + 10 * k};
    psdm_status status = use(user, &s, error);
    if (status) return status;
  }
  return now.fail_unit && unit == now.fail_unit ? psdmp_base_fail(error, PSDM_E_IO, "", 0, 0, "a unit") : PSDM_OK;
}

WRAPPED(bool, psdmp_feed_checkpoint_load,
        (const psdmp_feed_checkpoint *c, const char *kind, long number, const psdmp_parallel_bytes *request,
         psdmp_parallel_bytes *part)) {
  assert_true(c == now.run.checkpoint && strcmp(kind, "lists") == 0 && request == now.request && number < UNITS);
  now.loads++;
  if (!now.taken || !now.kept[number].used) return false;
  psdmp_parallel_bytes_put(part, now.kept[number].data, number == now.bad_bytes ? 3 : now.kept[number].used);
  return !part->failed;
}

WRAPPED(psdm_status, psdmp_feed_checkpoint_save,
        (const psdmp_feed_checkpoint *c, const char *kind, long number, const psdmp_parallel_bytes *request,
         const psdmp_parallel_bytes *part, psdm_error *error)) {
  assert_true(c == now.run.checkpoint && strcmp(kind, "lists") == 0 && request == now.request && number < UNITS);
  if (part->failed) return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  if (++now.saves == now.fail_save) return psdmp_base_fail(error, PSDM_E_IO, "", 0, 0, "a part");
  psdmp_parallel_bytes_free(&now.kept[number]);
  psdmp_parallel_bytes_put(&now.kept[number], part->data, part->used);
  return PSDM_OK;
}

WRAPPED(bool, psdmp_feed_checkpoint_names,
        (psdmp_feed_checkpoint * c, const char *kind, const psdmp_parallel_bytes *request)) {
  assert_true(c == now.run.checkpoint && strcmp(kind, "lists") == 0 && request == now.request);
  return ++now.names != now.fail_names;
}

WRAPPED(void, psdmp_feed_checkpoint_counts,
        (const psdmp_feed_checkpoint *c, long *found, long *saved, long *stale, long *damaged)) {
  assert_true(c == now.run.checkpoint);
  *found = 11, *saved = 22, *stale = 33, *damaged = 44;
}

WRAPPED(psdm_status, psdmp_parallel_spread_all,
        (const psdmp_parallel_spread *s, int work, const psdmp_parallel_bytes *request, void **part,
         psdm_error *error)) {
  assert_true(s->allocator == now.run.allocator && s->ranks == now.options.ranks);
  now.threads = s->threads, now.work = work, now.spread_units = s->units;
  return __real_psdmp_parallel_spread_all(s, work, request, part, error);
}

WRAPPED(psdm_status, psdmp_parallel_team_ask,
        (psdm_ranks * r, int work, const psdmp_parallel_bytes *request, psdm_error *error)) {
  (void)error;
  assert_true(r == &now.ranks && work == PSDMP_IDENTIFY_WORK_PASS && request == now.request);
  return PSDM_OK;
}

WRAPPED(psdm_status, psdmp_parallel_team_listen,
        (psdm_ranks * r, int from, psdmp_parallel_bytes *answer, psdm_error *error)) {
  assert_true(r == &now.ranks && from >= 1 && from < 3);
  long other = 1;
  psdmp_parallel_bytes_put(answer, now.answer[from].data, now.answer[from].used);
  PSDMP_PARALLEL_PUT(answer, other); /* it must not read beyond its own bytes */
  return answer->failed ? psdmp_base_fail_status(error, PSDM_E_MEMORY) : PSDM_OK;
}

/* ---- a run ---- */

static bool progress(void *user, const char *doing, double share) {
  assert_true(user == &now && now.asked < MOST);
  now.share[now.asked] = share;
  snprintf(now.heard[now.asked], sizeof now.heard[0], "%s", doing);
  return ++now.asked != now.stop_at;
}

static void begin(long fail_at) {
  memset(&now, 0, sizeof now);
  counting_fenced_init(&now.memory, fail_at);
  now.options = (psdm_calibrate_options){.threads = 3, .progress = progress, .progress_user = &now};
  now.run = (psdmp_identify_run){.robot = parse_robot(pendulum),
                                 .options = &now.options,
                                 .allocator = &now.memory.allocator,
                                 .n = 1,
                                 .rows = 1000,
                                 .doing = "before"};
}

/* everything allocated is freed */
static void end(void) {
  psdm_robot_free((psdm_robot *)(size_t)now.run.robot);
  for (int k = 0; k < UNITS; k++) psdmp_parallel_bytes_free(&now.kept[k]);
  for (int k = 0; k < 3; k++) psdmp_parallel_bytes_free(&now.answer[k]);
  assert_true(now.memory.live == 0 && now.readers == 0);
}

static psdm_status sum_up(const psdmp_identify_sum *sum, bool all, list *out, psdm_error *error) {
  static psdmp_parallel_bytes request;
  void *part = &request;
  now.request = &request;
  psdm_status status = psdmp_identify_sum_rows(&now.run, sum, &request, all, MARGIN, &part, error);
  *out = (list){0};
  if (part) *out = *(list *)part, list_free(&now, part);
  return status;
}

/* the stretches of units first .. last, without the last `less` */
static void expect_list(const list *l, long first, long last, long less) {
  long at = 0, all = 0;
  for (long unit = first; unit <= last; unit++) all += unit % 4;
  assert_int_equal(l->count, all - less);
  for (long unit = first; unit <= last; unit++)
    for (long k = 0; k < unit % 4 && at < l->count; k++, at++) assert_int_equal(l->first[at], 100 * unit + 10 * k);
}

static void in_their_order(void **state) {
  (void)state;
  for (int bits = 0; bits < 32; bits++) {
    bool all = bits & 1, whole = bits & 2, shared = bits & 4, checkpoint = bits & 8, named = bits & 16,
         reads = all && !whole;
    const psdmp_identify_sum sum = lists(named ? "counting" : NULL);
    psdm_error error = {0};
    list l;
    begin(0);
    now.whole = whole, now.shared = shared;
    if (checkpoint) now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
    now.run.parts_of_others[0] = 5, now.run.parts_of_others[2] = 7;
    assert_int_equal(sum_up(&sum, all, &l, &error), PSDM_OK);
    expect_list(&l, 0, 5, 0);
    assert_true(now.units_read == UNITS && now.lead == MARGIN + 4096 && now.trail == MARGIN && now.all == all &&
                now.spread_units == UNITS);
    for (int k = 0; k < UNITS; k++) assert_int_equal(now.unit[k], k);
    assert_int_equal(now.threads, reads && !shared ? 1 : 3);
    assert_int_equal(now.work, PSDMP_IDENTIFY_WORK_PASS);
    /* progress is called after each stretch, with the share of all rows if all are read */
    assert_int_equal(now.asked, 7);
    for (int k = 0; k < 7; k++) {
      assert_string_equal(now.heard[k], named ? "counting" : "before");
      assert_true(now.share[k] == (all ? (double)(l.first[k] + 10) / 1000 : -1));
    }
    /* units with rows are kept if logs are read again */
    bool kept = reads && checkpoint;
    assert_true(now.names == kept && now.loads == (kept ? 6 : 0) && now.saves == (kept ? 4 : 0));
    for (int k = 0; k < 3; k++) assert_int_equal(now.run.parts_of_others[k], 0);
    end();
  }
}

static void stops(void **state) {
  (void)state;
  const psdmp_identify_sum sum = lists("counting");
  static const long after[] = {0, 1, 3, 6, 6, 7}; /* stretches of units so far */
  for (int stop = 1; stop <= 7; stop++) {
    psdm_error error = {0};
    list l;
    begin(0);
    now.stop_at = stop;
    now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
    assert_int_equal(sum_up(&sum, true, &l, &error), PSDM_OK);
    expect_list(&l, 0, 5, 7 - stop);
    assert_true(now.run.stopped && now.asked == stop && now.adds == stop);
    /* the unit that it stopped in is not kept */
    long whole = 0;
    for (int k = 1; k < UNITS; k++) whole += k % 4 && after[k] < stop;
    assert_int_equal(now.saves, whole);
    assert_int_equal(now.units_read, stop == 1 ? 2 : stop <= 3 ? 3 : stop <= 6 ? 4 : 6);
    end();
  }
  /* a run that is finishing, or works for rank 0, does not call progress */
  for (int kind = 0; kind < 2; kind++) {
    psdm_error error = {0};
    list l;
    begin(0);
    now.stop_at = 1;
    now.run.finishing = kind == 0;
    now.ranks = (psdm_ranks){.rank = 1, .size = 2};
    if (kind) {
      psdmp_parallel_bytes request = {0}, answer = {0};
      now.options.ranks = &now.ranks, now.request = &request;
      assert_int_equal(psdmp_identify_sum_serve(&now.run, &sum, &request, true, MARGIN, &answer, &error), PSDM_OK);
      psdmp_parallel_bytes_free(&answer);
    } else {
      assert_int_equal(sum_up(&sum, true, &l, &error), PSDM_OK);
      expect_list(&l, 0, 5, 0);
    }
    assert_true(now.asked == 0 && !now.run.stopped && strcmp(now.run.doing, "before") == 0);
    end();
  }
}

static void from_a_checkpoint(void **state) {
  (void)state;
  const psdmp_identify_sum sum = lists(NULL);
  for (int bad = -1; bad < UNITS; bad++) {
    psdm_error error = {0};
    list l;
    begin(0);
    now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
    assert_int_equal(sum_up(&sum, true, &l, &error), PSDM_OK);
    now.taken = true, now.bad_bytes = bad, now.units_read = now.adds = now.asked = now.saves = 0;
    assert_int_equal(sum_up(&sum, true, &l, &error), PSDM_OK);
    expect_list(&l, 0, 5, 0);
    /* units without rows, and units that cannot be read, are made again */
    long again = bad > 0 ? bad % 4 : 0;
    assert_true(now.units_read == 2 + (again > 0) && now.adds == again && now.saves == (again > 0) &&
                now.asked == again);
    end();
  }
}

/* ---- failures ---- */

static void failures(void **state) {
  (void)state;
  const psdmp_identify_sum sum = lists(NULL);
  for (int kind = 0; kind < 5; kind++) {
    psdm_error error = {0};
    list l;
    begin(0);
    now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
    if (kind == 0) now.fail_add = 5;
    if (kind == 1) now.fail_unit = 3;
    if (kind == 2) now.fail_save = 2;
    if (kind == 3) now.fail_names = 1;
    if (kind == 4) now.fail_merge = 1;
    assert_int_equal(sum_up(&sum, true, &l, &error), kind == 0 ? PSDM_E_PARSE : kind < 3 ? PSDM_E_IO : PSDM_E_MEMORY);
    assert_string_equal(error.text, kind == 0   ? "a stretch"
                                    : kind == 1 ? "a unit"
                                    : kind == 2 ? "a part"
                                                : "out of memory");
    assert_int_equal(l.count, 0);
    if (kind == 3) assert_int_equal(now.units_read, 0);
    end();
  }
  /* a request that there was no room for */
  psdm_error error = {0};
  psdmp_parallel_bytes request = {.failed = true};
  void *part = &request;
  begin(0);
  now.request = &request;
  assert_int_equal(psdmp_identify_sum_rows(&now.run, &sum, &request, true, MARGIN, &part, &error), PSDM_E_MEMORY);
  assert_string_equal(error.text, "out of memory");
  assert_true(!part && now.units_read == 0 && now.memory.calls == 0);
  end();
}

/* every allocation fails once; a part that is found but cannot be read for lack of memory is made again */
static void no_memory(void **state) {
  (void)state;
  const psdmp_identify_sum sum = lists(NULL);
  for (int round = 0; round < 2; round++) {
    bool done = false;
    for (long at = 1; !done; at++) {
      psdm_error error = {0};
      list l;
      begin(round ? 0 : at);
      if (round) {
        now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
        assert_int_equal(sum_up(&sum, true, &l, &error), PSDM_OK);
        now.taken = true, now.bad_bytes = -1, now.memory.calls = 0, now.memory.fail_at = at;
      }
      psdm_status status = sum_up(&sum, true, &l, &error);
      done = now.memory.calls < at;
      if (done) assert_true(status == PSDM_OK && at > 10);
      else if (!round || status) assert_int_equal(status, PSDM_E_MEMORY);
      assert_string_equal(error.text, status ? "out of memory" : "");
      if (!status) expect_list(&l, 0, 5, 0);
      end();
    }
  }
}

/* ---- ranks ---- */

/* Ranks have units 0 1, 2 3, 4 5. What rank 1 and 2 answer ends with the parts that they have found, saved and found
 * damaged. */
static void three_ranks(void **state) {
  (void)state;
  const psdmp_identify_sum sum = lists(NULL);
  for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
    psdmp_parallel_bytes answer[3] = {{0}};
    psdm_error error = {0};
    list l;
    for (int rank = 1; rank < 3; rank++) {
      psdmp_parallel_bytes request = {0};
      begin(0);
      now.ranks = (psdm_ranks){.rank = rank, .size = 3};
      now.options.ranks = &now.ranks, now.request = &request, now.whole = true;
      if (checkpoint) now.run.checkpoint = (psdmp_feed_checkpoint *)(void *)&now;
      assert_int_equal(psdmp_identify_sum_serve(&now.run, &sum, &request, rank == 1, MARGIN, &answer[rank], &error),
                       PSDM_OK);
      assert_true(now.units_read == 2 && now.unit[0] == 2 * rank && now.unit[1] == 2 * rank + 1 &&
                  now.all == (rank == 1) && now.lead == MARGIN + 4096 && now.trail == MARGIN);
      long counts[3];
      memcpy(counts, answer[rank].data + answer[rank].used - sizeof counts, sizeof counts);
      assert_true(counts[0] == 11 * checkpoint && counts[1] == 22 * checkpoint && counts[2] == 44 * checkpoint);
      /* a failed rank counts nothing */
      psdmp_parallel_bytes none = {0};
      now.fail_add = now.adds + 1;
      assert_int_equal(psdmp_identify_sum_serve(&now.run, &sum, &request, false, MARGIN, &none, &error), PSDM_E_PARSE);
      assert_int_equal(none.used, 0);
      end();
    }
    begin(0);
    now.ranks = (psdm_ranks){.rank = 0, .size = 3};
    now.options.ranks = &now.ranks;
    for (int k = 0; k < 3; k++) now.run.parts_of_others[k] = 77;
    for (int rank = 1; rank < 3; rank++) now.answer[rank] = answer[rank];
    assert_int_equal(sum_up(&sum, false, &l, &error), PSDM_OK);
    expect_list(&l, 0, 5, 0);
    assert_true(now.units_read == 2 && now.unit[0] == 0 && now.unit[1] == 1);
    const long *others = now.run.parts_of_others;
    assert_null(now.run.model);
    assert_true(others[0] == 22 * checkpoint && others[1] == 44 * checkpoint && others[2] == 88 * checkpoint);
    end();
  }
}

/* ---- messages to other ranks ---- */

static void no_such_columns(void **state) {
  (void)state;
  static psdmp_identify_dictionary dictionary, own;
  static psdmp_identify_choice choice;
  double speed = 1.5, heard = 0;
  static const int counts[] = {0, 1, 15, 16, 17, 128, 129, -1};
  for (int k = 0; k < 8; k++) {
    psdmp_identify_run r = {.n = 1, .l = 0, .speed = &speed, .dictionary = &dictionary, .still = 0.1, .rest = 0.2},
                       other = {.n = 1, .speed = &heard, .dictionary = &own, .choice = &choice};
    psdmp_identify_band band = {.kinematics = PSDM_KINEMATICS_POSITION, .cutoff = 3, .delay = 4, .wide = 5}, told;
    psdmp_parallel_bytes bytes = {0};
    dictionary.count = counts[k] < 0 || counts[k] > 128 ? 0 : counts[k];
    memset(&own, 0x55, sizeof own), memset(&choice, 0x55, sizeof choice);
    for (int c = 0; c < 128; c++) dictionary.column[c] = (psdmp_parameters_column){PSDM_COLUMN_TANH, 0.5 * c, c % 3};
    psdmp_identify_run_put(&r, &band, false, &bytes);
    if (counts[k] < 0 || counts[k] > 128) memcpy(bytes.data + bytes.used - sizeof(int), &counts[k], sizeof(int));
    bool works = counts[k] >= 0 && counts[k] <= 128;
    assert_int_equal(psdmp_identify_run_get(&other, &told, &bytes), works);
    if (works)
      assert_true(bytes.at == bytes.used && own.count == counts[k] &&
                  choice.count == (counts[k] < 16 ? counts[k] : 16) && heard == 1.5);
    for (int c = 0; c < counts[k] && works; c++) {
      assert_true(own.column[c].kind == PSDM_COLUMN_TANH && own.column[c].width == 0.5 * c &&
                  own.column[c].load == c % 3);
      if (c < 16) assert_int_equal(choice.take[c], c);
    }
    psdmp_parallel_bytes_free(&bytes);
  }
}

/* memory for the friction load is requested once, and only if there is a load */
static void load_of_friction(void **state) {
  (void)state;
  static psdmp_identify_dictionary dictionary, own;
  static psdmp_identify_choice choice;
  double speed = 1.5, heard, load[3] = {4, 5, 6}, had[3] = {0};
  for (int bits = 0; bits < 4; bits++) {
    counting memory;
    counting_fenced_init(&memory, 0);
    psdmp_identify_run r = {
        .n = 1, .l = 3, .speed = &speed, .dictionary = &dictionary, .theta_load = bits & 1 ? load : NULL};
    psdmp_identify_run other = {.n = 1,
                                .l = 3,
                                .speed = &heard,
                                .dictionary = &own,
                                .choice = &choice,
                                .theta_load = bits & 2 ? had : NULL,
                                .arena = {.allocator = &memory.allocator}};
    psdmp_identify_band band = {.cutoff = 3}, told;
    psdmp_parallel_bytes bytes = {0};
    psdmp_identify_run_put(&r, &band, false, &bytes);
    assert_true(psdmp_identify_run_get(&other, &told, &bytes));
    assert_true(memory.calls == (bits == 1) && (other.theta_load == had) == (bits == 3) &&
                (other.theta_load != NULL) == (bits & 1));
    for (int j = 0; j < 3 && other.theta_load; j++) assert_true(other.theta_load[j] == load[j]);
    /* without memory nothing is received */
    psdmp_base_arena_free(&other.arena);
    counting_fenced_init(&memory, 1);
    other.arena = (psdmp_base_arena){.allocator = &memory.allocator}, other.theta_load = NULL, bytes.at = 0;
    assert_int_equal(psdmp_identify_run_get(&other, &told, &bytes), !(bits & 1));
    assert_true(!other.theta_load && memory.live == 0);
    psdmp_parallel_bytes_free(&bytes);
  }
}

/* leftovers on the stack */
static __attribute__((noinline)) void soil(int value) {
  unsigned char waste[4096];
  memset(waste, value, sizeof waste);
  __asm__ volatile("" : : "r"(waste) : "memory");
}

/* requests are compared as bytes: the padding is always the same */
static void same_request(void **state) {
  (void)state;
  static psdmp_identify_dictionary dictionary = {.count = 1};
  double speed = 1.5;
  psdmp_identify_run r = {.n = 1, .speed = &speed, .dictionary = &dictionary};
  psdmp_identify_band band;
  psdmp_parallel_bytes bytes[2] = {{0}};
  for (int k = 0; k < 2; k++) {
    memset(&band, k ? 0xA5 : 0x5A, sizeof band);
    band.kinematics = PSDM_KINEMATICS_POSITION, band.cutoff = 3, band.delay = 4, band.wide = 5;
    soil(k ? 0xA5 : 0x5A);
    psdmp_identify_run_put(&r, &band, false, &bytes[k]);
  }
  assert_true(bytes[0].used == bytes[1].used && bytes[0].used > 0);
  assert_memory_equal(bytes[0].data, bytes[1].data, bytes[0].used);
  psdmp_parallel_bytes_free(&bytes[0]), psdmp_parallel_bytes_free(&bytes[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_their_order),    cmocka_unit_test(stops),
                                     cmocka_unit_test(from_a_checkpoint), cmocka_unit_test(failures),
                                     cmocka_unit_test(no_memory),         cmocka_unit_test(three_ranks),
                                     cmocka_unit_test(no_such_columns),   cmocka_unit_test(load_of_friction),
                                     cmocka_unit_test(same_request)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
