/* factor.c: fewer operations by taking out common parts, the greatest saving first.
 *
 * Kinds of saving, all counted in operations:
 *   factor   a b + a c + ... = a (b + c + ...)                     one product less for each term after the first
 *   pair     the same two operands in several products or sums     one operation less for each place after the first
 *   squares  x x - y y = (x - y) (x + y), where x - y or x + y already exists
 *   beside   a b + a c = a (b + c), where a c is needed elsewhere and b + c already exists
 * The last two are searched when the first two find nothing more.
 *
 * Candidates wait in a heap by the saving they promised when they were entered; the promise is checked when they are
 * taken (rewriting may have reduced it), and entered again when it shrank. After a pass the items go through the
 * constructors, which fold and share; passes repeat as long as they save (greedy extraction of Hosangadi, Fallah,
 * Kastner 2006, on lists). */
#include "expr/graph_priv.h"
#include "expr/heap_priv.h"
#include "expr/nary_priv.h"

#include <string.h>

enum {
  KIND_FACTOR,  /* key: sum, factor */
  KIND_PRODUCT, /* key: two operands of products */
  KIND_SUM,     /* key: two operands of sums with the same sign */
  KIND_DIFF,    /* key: ... with opposite signs */
  KINDS
};

enum {
  WINDOW = 400, /* neighbours that an operand of a long sum is paired with */
  /* pairs tried in one pass, when it starts and again while it runs: a fraction of a second */
  PAIRS = 1 << 20,
  PASSES = 12, /* passes end on their own after four or five */
  SMALL = 4000 /* items up to which every order of kinds is tried */
};

/* order of equal savings: by kind, then first or last seen. No order is best for all: they are tried in turn */
typedef struct ranking {
  uint8_t kind[KINDS];
  bool last_seen;
} ranking;

static const ranking rankings[] = {
    {{0, 1, 2, 2}, false}, {{0, 1, 2, 2}, true}, {{2, 0, 1, 1}, false}, {{1, 2, 0, 0}, true}};
enum { RANKINGS = sizeof rankings / sizeof *rankings };

typedef struct candidate {
  uint64_t key;   /* x << 34 | kind << 32 | y */
  uint32_t count; /* places it was seen at */
} candidate;

typedef struct user {
  uint32_t item, next; /* next: index + 1, 0: end */
} user;

typedef struct factorer {
  psdmp_expr_nary n;
  const ranking *rank;
  bool failed;     /* out of memory: sticky */
  uint32_t *head;  /* (items) list of users, index + 1 */
  uint32_t *users; /* (items) length of that list, old entries included */
  uint32_t *stamp; /* (items) marks */
  uint32_t head_room, users_room, stamp_room, now;
  user *user;
  uint32_t user_count, user_room;
  candidate *candidate; /* in the order they were first seen */
  uint32_t candidates, candidate_room;
  uint32_t *slot; /* (slots) candidate + 1; open addressing */
  uint32_t slots;
  uint64_t *heap;
  uint32_t heap_size, heap_room;
  uint32_t *scratch; /* operands being sorted, places being changed */
  uint32_t scratch_room;
  uint32_t window, pairs_left;
  uint32_t one; /* item of the constant 1, UINT32_MAX: none yet */
} factorer;

static uint64_t key_of(uint32_t kind, uint32_t x, uint32_t y) { return (uint64_t)x << 34 | (uint64_t)kind << 32 | y; }
static uint32_t kind_of(uint64_t key) { return (uint32_t)(key >> 32) & 3u; }
static uint32_t x_of(uint64_t key) { return (uint32_t)(key >> 34); }
static uint32_t y_of(uint64_t key) { return (uint32_t)key; }

static uint32_t *operands(const factorer *f, uint32_t item) { return f->n.pool + f->n.item[item].first; }
static uint32_t length(const factorer *f, uint32_t item) { return f->n.item[item].length; }
static bool is_op(const factorer *f, uint32_t item, psdm_op op) { return f->n.item[item].op == (uint32_t)op; }

/* ---- candidates ---- */

static uint32_t hash_of(uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  key ^= key >> 29;
  return (uint32_t)((key * 0xBF58476D1CE4E5B9u) >> 32);
}

static bool grow_slots(factorer *f) {
  uint32_t slots = f->slots ? 2 * f->slots : 1024;
  uint32_t *slot = psdmp_base_alloc(f->n.allocator, slots * sizeof *slot);
  if (!slot) return false;
  psdmp_base_free(f->n.allocator, f->slot);
  f->slot = slot;
  f->slots = slots;
  for (uint32_t k = 0; k < f->candidates; k++) {
    uint32_t at = hash_of(f->candidate[k].key) & (slots - 1);
    while (slot[at]) at = (at + 1) & (slots - 1);
    slot[at] = k + 1;
  }
  return true;
}

/* the candidate with this key, entered with count 0 if new; NULL when out of memory */
static candidate *look_up(factorer *f, uint64_t key) {
  if (2 * f->candidates >= f->slots && !grow_slots(f)) f->failed = true;
  if (!psdmp_expr_reserve(f->n.allocator, &f->candidate, &f->candidate_room, (size_t)f->candidates + 1,
                          sizeof *f->candidate))
    f->failed = true;
  if (f->failed) return NULL;
  uint32_t at = hash_of(key) & (f->slots - 1);
  for (; f->slot[at]; at = (at + 1) & (f->slots - 1))
    if (f->candidate[f->slot[at] - 1].key == key) return &f->candidate[f->slot[at] - 1];
  f->candidate[f->candidates] = (candidate){.key = key};
  f->slot[at] = ++f->candidates;
  return &f->candidate[f->candidates - 1];
}

/* the candidate's number among equals; its own inverse */
static uint32_t turn(const factorer *f, uint32_t which) { return f->rank->last_seen ? UINT32_MAX - which : which; }

/* the greatest saving on top; ties by the ranking */
static void enter(factorer *f, const candidate *c, uint32_t saving) {
  const uint32_t most = (1u << 24) - 1;
  if (!psdmp_expr_reserve(f->n.allocator, &f->heap, &f->heap_room, (size_t)f->heap_size + 1, sizeof *f->heap))
    f->failed = true;
  if (f->failed) return;
  uint64_t promise = most - (saving < most ? saving : most);
  uint64_t kind = f->rank->kind[kind_of(c->key)];
  psdmp_expr_heap_push(f->heap, &f->heap_size, promise << 40 | kind << 36 | turn(f, (uint32_t)(c - f->candidate)));
}

static void see(factorer *f, uint64_t key, uint32_t times, bool enter_now) {
  candidate *c = look_up(f, key);
  if (!c) return;
  c->count += times;
  if (enter_now && c->count > 1) enter(f, c, c->count - 1);
}

/* ---- users ---- */

static void add_user(factorer *f, uint32_t item, uint32_t by) {
  if (!psdmp_expr_reserve(f->n.allocator, &f->user, &f->user_room, (size_t)f->user_count + 1, sizeof *f->user))
    f->failed = true;
  if (f->failed) return;
  f->user[f->user_count] = (user){by, f->head[item]};
  f->head[item] = ++f->user_count;
  f->users[item]++;
}

/* resizes the arrays by item with the items */
static void follow_items(factorer *f) {
  const psdm_allocator *m = f->n.allocator;
  uint32_t known = f->head_room < f->users_room ? f->head_room : f->users_room;
  if (f->stamp_room < known) known = f->stamp_room;
  if (f->n.items <= known) return;
  uint32_t head = f->head_room, users = f->users_room, stamp = f->stamp_room;
  if (!psdmp_expr_reserve(m, &f->head, &f->head_room, f->n.items, sizeof *f->head) ||
      !psdmp_expr_reserve(m, &f->users, &f->users_room, f->n.items, sizeof *f->users) ||
      !psdmp_expr_reserve(m, &f->stamp, &f->stamp_room, f->n.items, sizeof *f->stamp)) {
    f->failed = true;
    return;
  }
  memset(f->head + head, 0, (f->head_room - head) * sizeof *f->head);
  memset(f->users + users, 0, (f->users_room - users) * sizeof *f->users);
  memset(f->stamp + stamp, 0, (f->stamp_room - stamp) * sizeof *f->stamp);
}

static uint32_t new_item(factorer *f, psdm_op op, uint32_t count) {
  uint32_t item = psdmp_expr_nary_item(&f->n, op, count);
  if (item == UINT32_MAX) f->failed = true;
  if (!f->failed) follow_items(f);
  return item;
}

static uint32_t new_pair(factorer *f, psdm_op op, uint32_t a, uint32_t b) {
  uint32_t item = new_item(f, op, 2);
  if (f->failed) return item;
  operands(f, item)[0] = a;
  operands(f, item)[1] = b;
  f->n.item[a >> 1].uses++;
  f->n.item[b >> 1].uses++;
  add_user(f, a >> 1, item);
  if (a >> 1 != b >> 1) add_user(f, b >> 1, item);
  return item;
}

/* ---- lists ---- */

/* how often item is among the operands, and its sign there; 0 if it has both signs: they cancel in the next pass */
static uint32_t times_in(const factorer *f, uint32_t list, uint32_t item, uint32_t *sign) {
  const uint32_t *o = operands(f, list);
  uint32_t times = 0, negative = 0;
  for (uint32_t k = 0, end = length(f, list); k < end; k++)
    if (o[k] >> 1 == item) {
      negative += o[k] & 1u;
      times++;
    }
  *sign = negative > 0;
  return negative == 0 || negative == times ? times : 0;
}

/* removes one operand; the others keep their order */
static void take_out(factorer *f, uint32_t list, uint32_t operand) {
  uint32_t *o = operands(f, list), k = 0, end = length(f, list);
  while (k < end && o[k] != operand) k++;
  if (k == end) return;
  memmove(o + k, o + k + 1, (end - k - 1) * sizeof *o);
  f->n.item[list].length--;
  f->n.item[operand >> 1].uses--;
}

/* x - x = 0 */
static void cancel(factorer *f, uint32_t sum) {
  uint32_t plus = ++f->now, minus = ++f->now;
  for (uint32_t k = 0; k < length(f, sum); k++) {
    uint32_t operand = operands(f, sum)[k], item = operand >> 1, mine = operand & 1u ? minus : plus;
    if (f->stamp[item] != plus + minus - mine) {
      f->stamp[item] = mine;
      continue;
    }
    take_out(f, sum, operand);
    take_out(f, sum, operand ^ 1u);
    /* an earlier operand may have become a pair, and the skipped ones move up: start again */
    plus = ++f->now;
    minus = ++f->now;
    k = UINT32_MAX;
  }
}

/* there is room: something was removed before */
static void put_in(factorer *f, uint32_t list, uint32_t operand) {
  operands(f, list)[f->n.item[list].length++] = operand;
  f->n.item[operand >> 1].uses++;
  add_user(f, operand >> 1, list);
}

static void sort(uint32_t *a, uint32_t count) {
  for (uint32_t gap = count / 2; gap; gap /= 2)
    for (uint32_t i = gap; i < count; i++) {
      uint32_t x = a[i], j = i;
      for (; j >= gap && a[j - gap] > x; j -= gap) a[j] = a[j - gap];
      a[j] = x;
    }
}

/* ---- finding candidates ---- */

static uint64_t pair_key(const factorer *f, uint32_t list, uint32_t a, uint32_t b) {
  if (a > b) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  if (is_op(f, list, PSDM_OP_MUL)) return key_of(KIND_PRODUCT, a >> 1, b >> 1);
  return key_of((a ^ b) & 1u ? KIND_DIFF : KIND_SUM, a >> 1, b >> 1);
}

/* operands with other users, sorted: only they can make a pair seen twice */
static uint32_t shared_operands(factorer *f, uint32_t list) {
  uint32_t count = 0, end = length(f, list);
  if (!psdmp_expr_reserve(f->n.allocator, &f->scratch, &f->scratch_room, end, sizeof *f->scratch)) f->failed = true;
  if (f->failed) return 0;
  for (uint32_t k = 0; k < end; k++)
    if (f->n.item[operands(f, list)[k] >> 1].uses > 1) f->scratch[count++] = operands(f, list)[k];
  sort(f->scratch, count);
  return count;
}

/* every pair of a list once, and as often as it can be taken out */
static void see_pairs(factorer *f, uint32_t list, bool enter_now) {
  if (enter_now && !f->pairs_left) return;
  uint32_t count = shared_operands(f, list);
  const uint32_t *o = f->scratch;
  for (uint32_t i = 0, after; i < count; i = after) {
    for (after = i + 1; after < count && o[after] == o[i];) after++;
    uint32_t times = after - i;
    if (times > 1) see(f, pair_key(f, list, o[i], o[i]), times / 2, enter_now);
    uint32_t last = after + f->window < count ? after + f->window : count;
    if (enter_now) f->pairs_left -= last - after < f->pairs_left ? last - after : f->pairs_left;
    for (uint32_t j = after, next; j < last; j = next) {
      for (next = j + 1; next < count && o[next] == o[j];) next++;
      see(f, pair_key(f, list, o[i], o[j]), times < next - j ? times : next - j, enter_now);
    }
  }
}

/* the pairs that one operand makes with the rest */
static void see_pairs_of(factorer *f, uint32_t list, uint32_t operand) {
  if (!f->pairs_left) return;
  uint32_t count = shared_operands(f, list), times = 0;
  const uint32_t *o = f->scratch;
  f->pairs_left -= count < f->pairs_left ? count : f->pairs_left;
  for (uint32_t i = 0; i < count; i++) times += o[i] == operand;
  if (times > 1) see(f, pair_key(f, list, operand, operand), times / 2, true);
  for (uint32_t j = 0, next; j < count; j = next) {
    for (next = j + 1; next < count && o[next] == o[j];) next++;
    if (o[j] != operand) see(f, pair_key(f, list, operand, o[j]), times < next - j ? times : next - j, true);
  }
}

/* a product used only by this sum can lose a factor */
static bool is_own_product(const factorer *f, uint32_t operand) {
  const psdmp_expr_item *it = &f->n.item[operand >> 1];
  return it->op == PSDM_OP_MUL && it->uses == 1;
}

/* c x for a constant c: x, or UINT32_MAX */
static uint32_t beside_constant(const factorer *f, uint32_t product) {
  const uint32_t *o = operands(f, product);
  if (length(f, product) != 2) return UINT32_MAX;
  if (is_op(f, o[0] >> 1, PSDM_OP_CONST)) return o[1] >> 1;
  return is_op(f, o[1] >> 1, PSDM_OP_CONST) ? o[0] >> 1 : UINT32_MAX;
}

static void see_factors(factorer *f, uint32_t sum, bool enter_now) {
  uint32_t plain = ++f->now;
  for (uint32_t k = 0; k < length(f, sum); k++) f->stamp[operands(f, sum)[k] >> 1] = plain;
  for (uint32_t k = 0; k < length(f, sum); k++) {
    uint32_t operand = operands(f, sum)[k], product = operand >> 1;
    if (!is_own_product(f, operand)) continue;
    const uint32_t *o = operands(f, product);
    for (uint32_t i = 0; i < length(f, product); i++) {
      bool again = false;
      for (uint32_t j = 0; j < i; j++) again |= o[j] == o[i];
      if (!again) see(f, key_of(KIND_FACTOR, sum, o[i] >> 1), 1, enter_now);
    }
    /* c x + x = (c + 1) x */
    uint32_t x = beside_constant(f, product);
    if (x != UINT32_MAX && f->stamp[x] == plain) see(f, key_of(KIND_FACTOR, sum, x), 1, enter_now);
  }
}

static void see_list(factorer *f, uint32_t list, bool enter_now) {
  if (is_op(f, list, PSDM_OP_ADD)) see_factors(f, list, enter_now);
  see_pairs(f, list, enter_now);
}

/* ---- factors of a sum ---- */

typedef struct common {
  uint32_t products; /* own products with the factor */
  bool plain;        /* the factor itself is a term of the sum too, or a constant times it */
} common;

static common count_common(const factorer *f, uint32_t sum, uint32_t factor) {
  common c = {0};
  bool alone = false, scaled = false;
  uint32_t sign;
  if (!is_op(f, sum, PSDM_OP_ADD)) return c;
  for (uint32_t k = 0; k < length(f, sum); k++) {
    uint32_t operand = operands(f, sum)[k];
    alone |= operand >> 1 == factor;
    if (!is_own_product(f, operand) || !times_in(f, operand >> 1, factor, &sign)) continue;
    c.products++;
    scaled |= beside_constant(f, operand >> 1) == factor;
  }
  c.plain = alone && scaled;
  return c;
}

/* a term without the factor */
static uint32_t divide(factorer *f, uint32_t operand, uint32_t factor) {
  psdmp_expr_item *product = &f->n.item[operand >> 1];
  take_out(f, operand >> 1, 2 * factor);
  if (product->length > 1) return operand;
  /* one factor remains: the product itself is removed, and its users hold the factor */
  product->uses = 0;
  return *operands(f, operand >> 1) ^ ((operand ^ product->sign) & 1u);
}

static uint32_t constant_one(factorer *f) {
  if (f->one == UINT32_MAX) {
    f->one = new_item(f, PSDM_OP_CONST, 0);
    if (!f->failed) f->n.item[f->one].value = 1;
  }
  return f->one;
}

/* moves the divided terms of sum into rest */
static void move_terms(factorer *f, uint32_t sum, uint32_t factor, bool plain, uint32_t rest) {
  uint32_t stay = 0, moved = 0, sign, *from = operands(f, sum), *to = operands(f, rest);
  for (uint32_t k = 0; k < length(f, sum); k++) {
    uint32_t operand = from[k];
    if (is_own_product(f, operand) && times_in(f, operand >> 1, factor, &sign)) {
      to[moved++] = divide(f, operand, factor);
    } else if (plain && operand >> 1 == factor) {
      plain = false;
      f->n.item[factor].uses--;
      f->n.item[f->one].uses++;
      to[moved++] = 2 * f->one + (operand & 1u);
    } else {
      from[stay++] = operand;
    }
  }
  f->n.item[sum].length = stay;
  f->n.item[rest].length = moved;
  for (uint32_t k = 0; k < moved; k++) add_user(f, to[k] >> 1, rest);
}

/* sum = factor * rest + other terms; without other terms the sum becomes the product */
static void take_factor(factorer *f, uint32_t sum, uint32_t factor, common c) {
  if (c.plain) constant_one(f);
  uint32_t rest = f->failed ? 0 : new_item(f, PSDM_OP_ADD, c.products + c.plain);
  if (f->failed) return;
  move_terms(f, sum, factor, c.plain, rest);
  if (length(f, sum)) {
    uint32_t product = new_pair(f, PSDM_OP_MUL, 2 * factor, 2 * rest);
    if (f->failed) return;
    put_in(f, sum, 2 * product);
  } else {
    f->n.item[sum].op = PSDM_OP_MUL;
    put_in(f, sum, 2 * factor);
    put_in(f, sum, 2 * rest);
  }
  cancel(f, rest);
  see_list(f, rest, true);
}

/* ---- pairs ---- */

/* the pair x, y: in products, in sums with equal or with opposite signs */
typedef struct pair {
  uint32_t kind, x, y;
} pair;

/* how often a list has the pair, and the sign of x there */
static uint32_t pair_in(const factorer *f, uint32_t list, pair p, uint32_t *sign) {
  uint32_t y_sign = 0;
  *sign = 0;
  if (!is_op(f, list, p.kind == KIND_PRODUCT ? PSDM_OP_MUL : PSDM_OP_ADD) || length(f, list) < 2) return 0;
  uint32_t times = times_in(f, list, p.x, sign);
  if (times == 0) return 0;
  if (p.x == p.y) return times / 2;
  uint32_t other = times_in(f, list, p.y, &y_sign);
  if (other && p.kind != KIND_PRODUCT && (*sign ^ y_sign) != (p.kind == KIND_DIFF)) return 0;
  return times < other ? times : other;
}

typedef struct places {
  uint32_t count; /* times in longer lists */
  uint32_t lists; /* longer lists, the first ones in scratch */
  uint32_t exact; /* the lowest list that is exactly the pair, UINT32_MAX: none */
} places;

/* places of the pair; a list is visited once even if entered twice as a user */
static places find_places(factorer *f, pair p) {
  places found = {0, 0, UINT32_MAX};
  uint32_t by = f->users[p.x] <= f->users[p.y] ? p.x : p.y, sign, seen = ++f->now;
  if (!psdmp_expr_reserve(f->n.allocator, &f->scratch, &f->scratch_room, f->users[by], sizeof *f->scratch))
    f->failed = true;
  if (f->failed) return found;
  for (uint32_t k = f->head[by]; k; k = f->user[k - 1].next) {
    uint32_t list = f->user[k - 1].item;
    if (f->stamp[list] == seen || !f->n.item[list].uses) continue;
    f->stamp[list] = seen;
    uint32_t times = pair_in(f, list, p, &sign);
    if (!times) continue;
    if (length(f, list) == 2) {
      if (list < found.exact) found.exact = list;
    } else {
      f->scratch[found.lists++] = list;
      found.count += times;
    }
  }
  sort(f->scratch, found.lists);
  return found;
}

static uint32_t saving_of(places found) { return found.count - (found.count && found.exact == UINT32_MAX); }

static void replace_pair(factorer *f, uint32_t list, pair p, uint32_t by) {
  uint32_t sign, by_sign = 0, opposite = p.kind == KIND_DIFF;
  uint32_t times = pair_in(f, list, p, &sign);
  if (p.kind != KIND_PRODUCT) times_in(f, by, p.x, &by_sign);
  for (uint32_t k = 0; k < times; k++) {
    take_out(f, list, 2 * p.x + sign);
    take_out(f, list, 2 * p.y + (sign ^ opposite));
    put_in(f, list, 2 * by + (sign ^ by_sign));
    if (p.kind == KIND_PRODUCT) f->n.item[list].sign ^= f->n.item[by].sign;
  }
}

static void take_pair(factorer *f, pair p, places found) {
  uint32_t by = found.exact, *lists = NULL;
  if (by == UINT32_MAX)
    by = new_pair(f, p.kind == KIND_PRODUCT ? PSDM_OP_MUL : PSDM_OP_ADD, 2 * p.x, 2 * p.y + (p.kind == KIND_DIFF));
  /* finding new pairs sorts in scratch, so the places move out of it */
  lists = psdmp_base_alloc_raw(f->n.allocator, found.lists * sizeof *lists);
  if (!lists) f->failed = true;
  if (!f->failed) memcpy(lists, f->scratch, found.lists * sizeof *lists);
  for (uint32_t k = 0; !f->failed && k < found.lists; k++) replace_pair(f, lists[k], p, by);
  for (uint32_t k = 0; !f->failed && k < found.lists; k++) {
    uint32_t sign = 0;
    times_in(f, lists[k], by, &sign);
    see_pairs_of(f, lists[k], 2 * by + sign);
  }
  psdmp_base_free(f->n.allocator, lists);
}

/* ---- squares ---- */

/* x of an own product x x, or UINT32_MAX */
static uint32_t root_of(const factorer *f, uint32_t operand) {
  const uint32_t *o = operands(f, operand >> 1);
  return is_own_product(f, operand) && length(f, operand >> 1) == 2 && o[0] == o[1] ? o[0] >> 1 : UINT32_MAX;
}

static uint32_t sign_in(const factorer *f, uint32_t operand) { return (operand ^ f->n.item[operand >> 1].sign) & 1u; }

/* whether x + y (KIND_SUM) or x - y (KIND_DIFF) is computed anyway */
static bool has_pair(factorer *f, uint32_t x, uint32_t y, uint32_t first, uint32_t last) {
  for (uint32_t kind = first; kind <= last; kind++) {
    places found = find_places(f, (pair){kind, x, y});
    if (found.count || found.exact != UINT32_MAX) return true;
  }
  return false;
}

/* x x - y y = (x - y) (x + y): an addition instead of a product, and one of the two sums exists */
static void take_squares(factorer *f, uint32_t sum, uint32_t a, uint32_t b) {
  uint32_t x = root_of(f, a), y = root_of(f, b), sign = sign_in(f, a);
  uint32_t plus = new_pair(f, PSDM_OP_ADD, 2 * x, 2 * y),
           minus = f->failed ? 0 : new_pair(f, PSDM_OP_ADD, 2 * x, 2 * y + 1);
  uint32_t product = f->failed ? 0 : new_pair(f, PSDM_OP_MUL, 2 * plus, 2 * minus);
  if (f->failed) return;
  take_out(f, sum, a);
  take_out(f, sum, b);
  f->n.item[x].uses -= 2;
  f->n.item[y].uses -= 2;
  put_in(f, sum, 2 * product + sign);
  see_pairs(f, plus, true);
  see_pairs(f, minus, true);
}

/* the first two squares of a sum that may be replaced */
static bool try_squares(factorer *f, uint32_t sum) {
  for (uint32_t i = 0; i < length(f, sum); i++) {
    uint32_t a = operands(f, sum)[i], x = root_of(f, a);
    if (x == UINT32_MAX) continue;
    for (uint32_t j = i + 1; j < length(f, sum); j++) {
      uint32_t b = operands(f, sum)[j], y = root_of(f, b);
      if (y == UINT32_MAX || y == x || sign_in(f, a) == sign_in(f, b) || !has_pair(f, x, y, KIND_SUM, KIND_DIFF))
        continue;
      take_squares(f, sum, a, b);
      return !f->failed;
    }
  }
  return false;
}

/* ---- a shared product and an own one ---- */

/* f b of an own product and f c of a shared one: f (b + c), where b + c already exists */
typedef struct beside {
  uint32_t factor, b, c;
} beside;

/* the factor that two products of two have in common, and their other factors */
static bool match(const factorer *f, uint32_t own, uint32_t shared, int i, int j, beside *m) {
  const uint32_t *p = operands(f, own >> 1), *q = operands(f, shared >> 1);
  if (p[i] != q[j]) return false;
  *m = (beside){p[i] >> 1, p[1 - i] >> 1, q[1 - j] >> 1};
  return m->b != m->c;
}

static bool is_product_of_two(const factorer *f, uint32_t operand) {
  return is_op(f, operand >> 1, PSDM_OP_MUL) && length(f, operand >> 1) == 2;
}

/* one product less: the own one becomes the product with the sum, and the addition already exists */
static void take_beside(factorer *f, uint32_t sum, uint32_t own, uint32_t shared, beside m) {
  uint32_t opposite = sign_in(f, own) ^ sign_in(f, shared), sign = sign_in(f, own);
  uint32_t rest = new_pair(f, PSDM_OP_ADD, 2 * m.b, 2 * m.c + opposite);
  uint32_t product = f->failed ? 0 : new_pair(f, PSDM_OP_MUL, 2 * m.factor, 2 * rest);
  if (f->failed) return;
  take_out(f, sum, own);
  take_out(f, sum, shared);
  f->n.item[m.factor].uses--;
  f->n.item[m.b].uses--;
  put_in(f, sum, 2 * product + sign);
  see_pairs(f, rest, true);
}

static bool try_beside(factorer *f, uint32_t sum) {
  beside m;
  for (uint32_t i = 0; i < length(f, sum); i++) {
    uint32_t own = operands(f, sum)[i];
    if (!is_own_product(f, own) || !is_product_of_two(f, own)) continue;
    for (uint32_t j = 0; j < length(f, sum); j++) {
      uint32_t shared = operands(f, sum)[j];
      if (!is_product_of_two(f, shared) || is_own_product(f, shared)) continue;
      for (int k = 0; k < 4; k++) {
        if (!match(f, own, shared, k / 2, k % 2, &m)) continue;
        uint32_t kind = sign_in(f, own) ^ sign_in(f, shared) ? KIND_DIFF : KIND_SUM;
        if (!has_pair(f, m.b, m.c, kind, kind)) continue;
        take_beside(f, sum, own, shared, m);
        return !f->failed;
      }
    }
  }
  return false;
}

/* savings that are not in the heap; compares every two terms of a sum, so the longest sums are skipped */
static bool find_more(factorer *f) {
  bool found = false;
  for (uint32_t k = 0, end = f->n.items; k < end && !f->failed; k++) {
    if (!is_op(f, k, PSDM_OP_ADD) || !f->n.item[k].uses || length(f, k) > WINDOW) continue;
    while (try_squares(f, k) || try_beside(f, k)) found = true;
  }
  return found;
}

/* ---- one pass ---- */

static bool is_list(const factorer *f, uint32_t item) {
  return is_op(f, item, PSDM_OP_ADD) || is_op(f, item, PSDM_OP_MUL);
}

/* long sums use fewer neighbours, so that the pairs of all fit the budget */
static void choose_window(factorer *f) {
  f->window = WINDOW;
  for (uint64_t pairs = PAIRS + 1; pairs > PAIRS && f->window > 8; f->window /= 2) {
    pairs = 0;
    for (uint32_t k = 0; k < f->n.items; k++)
      if (is_list(f, k))
        pairs += (uint64_t)length(f, k) * (length(f, k) / 2 < f->window ? length(f, k) / 2 : f->window);
    if (pairs <= PAIRS) return;
  }
}

static void forget(factorer *f) {
  follow_items(f);
  if (f->failed) return;
  memset(f->head, 0, f->head_room * sizeof *f->head);
  memset(f->users, 0, f->users_room * sizeof *f->users);
  if (f->slots) memset(f->slot, 0, f->slots * sizeof *f->slot);
  f->user_count = f->candidates = f->heap_size = 0;
  f->pairs_left = PAIRS;
  f->one = UINT32_MAX;
}

static void start(factorer *f) {
  forget(f);
  choose_window(f);
  for (uint32_t k = 0, end = f->n.items; k < end && !f->failed; k++)
    if (is_op(f, k, PSDM_OP_ADD)) cancel(f, k);
  for (uint32_t k = 0, end = f->n.items; k < end && !f->failed; k++)
    for (uint32_t i = 0; i < length(f, k) && !f->failed; i++) add_user(f, operands(f, k)[i] >> 1, k);
  for (uint32_t k = 0, end = f->n.items; k < end && !f->failed; k++)
    if (is_list(f, k)) see_list(f, k, false);
  for (uint32_t k = 0; k < f->candidates && !f->failed; k++)
    if (f->candidate[k].count > 1) enter(f, &f->candidate[k], f->candidate[k].count - 1);
}

/* if the promise holds, rewrites; if it shrank, enters it again */
static void consider(factorer *f, uint32_t which, uint32_t promise) {
  uint64_t key = f->candidate[which].key;
  uint32_t kind = kind_of(key), saving = 0;
  pair p = {kind, x_of(key), y_of(key)};
  common c = {0};
  places found = {0};
  if (kind == KIND_FACTOR) {
    c = count_common(f, p.x, p.y);
    saving = c.products ? c.products - 1 + c.plain : 0;
  } else {
    found = find_places(f, p);
    saving = saving_of(found);
  }
  if (!saving || f->failed) return;
  if (saving < promise) {
    enter(f, &f->candidate[which], saving);
  } else if (kind == KIND_FACTOR) {
    take_factor(f, p.x, p.y, c);
  } else {
    take_pair(f, p, found);
  }
}

static void pass(factorer *f) {
  start(f);
  do {
    while (f->heap_size && !f->failed) {
      uint64_t top = psdmp_expr_heap_pop(f->heap, &f->heap_size);
      consider(f, turn(f, (uint32_t)top), (1u << 24) - 1 - (uint32_t)(top >> 40));
    }
  } while (!f->failed && find_more(f));
}

static void free_factorer(factorer *f) {
  const psdm_allocator *m = f->n.allocator;
  psdmp_base_free(m, f->head);
  psdmp_base_free(m, f->users);
  psdmp_base_free(m, f->stamp);
  psdmp_base_free(m, f->user);
  psdmp_base_free(m, f->candidate);
  psdmp_base_free(m, f->slot);
  psdmp_base_free(m, f->heap);
  psdmp_base_free(m, f->scratch);
  psdmp_expr_nary_free(&f->n);
}

/* ---- passes until nothing is saved ---- */

/* A graph with the outputs' best form so far. */
typedef struct version {
  psdm_graph *g;
  psdm_ref *outputs; /* (count) */
  psdm_cost cost;
} version;

static long operations(const psdm_cost *c) { return c->mult + c->add + c->div + c->sqrt + c->sincos; }

static psdm_status new_version(const psdm_allocator *allocator, size_t count, version *v) {
  *v = (version){0};
  v->outputs = psdmp_base_alloc_raw(allocator, count * sizeof *v->outputs);
  return v->outputs ? psdm_graph_new(allocator, &v->g) : PSDM_E_MEMORY;
}

static void free_version(const psdm_allocator *allocator, version *v) {
  psdmp_base_free(allocator, v->outputs);
  psdm_graph_free(v->g);
}

/* one more pass, from -> to */
static psdm_status advance(factorer *f, const psdm_graph *g, const psdm_ref *outputs, size_t count, version *to) {
  if (!psdmp_expr_nary_read(&f->n, g, outputs, count, true)) return PSDM_E_MEMORY;
  pass(f);
  if (f->failed) return PSDM_E_MEMORY;
  psdm_graph_clear(to->g);
  psdm_status status = psdmp_expr_nary_write(&f->n, to->g, to->outputs);
  return status ? status : psdm_graph_cost(to->g, to->outputs, count, &to->cost);
}

static void swap_versions(version *a, version *b) {
  version c = *a;
  *a = *b;
  *b = c;
}

/* passes from the caller's graph on, with one order of kinds; at[0] becomes the best, at[1] is work space */
static psdm_status descend(factorer *f, const psdm_graph *g, const psdm_ref *outputs, size_t count, version *at) {
  psdm_status status = advance(f, g, outputs, count, &at[0]);
  for (int k = 1; !status && k < PASSES; k++) {
    status = advance(f, at[0].g, at[0].outputs, count, &at[1]);
    if (status || operations(&at[1].cost) >= operations(&at[0].cost)) break;
    swap_versions(&at[0], &at[1]);
  }
  return status;
}

/* the live nodes of one graph, constructed in another */
static psdm_status copy_nodes(const version *v, size_t count, psdm_graph *to, psdm_ref *outputs) {
  const psdm_graph *g = v->g;
  uint32_t *used = psdmp_base_alloc(g->allocator, 2 * (size_t)g->size * sizeof *used);
  if (!used) return PSDM_E_MEMORY;
  psdm_ref *copy = used + g->size;
#define COPY(r) (copy[(r) >> 1] ^ ((r)&1u))
  psdmp_expr_graph_uses(g, v->outputs, count, used);
  for (uint32_t k = 0; k < g->size && !to->status; k++) {
    const psdmp_expr_node *n = &g->node[k];
    if (!used[k]) continue;
    int arity = psdmp_expr_arity((psdm_op)n->op);
    if (n->op == PSDM_OP_CONST) copy[k] = psdm_graph_const(to, n->u.value);
    else if (n->op == PSDM_OP_INPUT) copy[k] = psdm_graph_input(to, n->u.input);
    else copy[k] = psdmp_expr_build(to, (psdm_op)n->op, COPY(n->u.of.a), arity > 1 ? COPY(n->u.of.b) : PSDM_REF_NONE);
  }
  for (size_t k = 0; k < count && !to->status; k++) outputs[k] = COPY(v->outputs[k]);
#undef COPY
  psdmp_base_free(g->allocator, used);
  return to->status;
}

/* the best version becomes part of the caller's graph, and the outputs use it when it is cheaper there too */
static psdm_status adopt(version *best, size_t count, const psdm_cost *before, psdm_graph *g, psdm_ref *outputs) {
  psdm_cost now;
  if (operations(&best->cost) >= operations(before)) return PSDM_OK;
  psdm_status status = copy_nodes(best, count, g, best->outputs);
  if (!status) status = psdm_graph_cost(g, best->outputs, count, &now);
  if (!status && operations(&now) < operations(before)) memcpy(outputs, best->outputs, count * sizeof *outputs);
  return status;
}

/* the best of the rankings in at[2] */
static psdm_status search(factorer *f, const psdm_graph *g, const psdm_ref *outputs, size_t count, version *at) {
  psdm_status status = PSDM_OK;
  for (int k = 0; !status && k < (int)RANKINGS; k++) {
    f->rank = &rankings[k];
    status = descend(f, g, outputs, count, at);
    if (!status && (k == 0 || operations(&at[0].cost) < operations(&at[2].cost))) swap_versions(&at[0], &at[2]);
    if (f->n.items > SMALL) break;
  }
  return status;
}

psdm_status psdm_graph_factor(psdm_graph *g, psdm_ref *outputs, size_t count) {
  psdm_cost before;
  version at[3] = {{0}};
  factorer f = {.n.allocator = g->allocator};
  if (!count) return g->status;
  psdm_status status = psdm_graph_cost(g, outputs, count, &before);
  if (status || operations(&before) == 0) return status;
  for (int k = 0; !status && k < 3; k++) status = new_version(g->allocator, count, &at[k]);
  if (!status) status = search(&f, g, outputs, count, at);
  if (!status) status = adopt(&at[2], count, &before, g, outputs);
  for (int k = 0; k < 3; k++) free_version(g->allocator, &at[k]);
  free_factorer(&f);
  return status;
}
