/* emit.c: words, numbers and comments of generated files, and the unparser: a graph as a list of C statements.
 *
 * What the graph counts is what the text says: one operator for each operation, brackets wherever C would group
 * otherwise, signs folded into subtractions and constants. A value that is used once stands inside the expression
 * that uses it, where that leaves the schedule as it is or makes a product and a sum into one fused operation; every
 * other value has a name. */
#include "emit/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_EXPRESSION = 10 }; /* operations in one statement: a line that can be read */

/* ---- words ---- */

void psdmp_emit_say(psdmp_emit_writer *e, const char *format, ...) {
  char text[1024], piece[2] = "";
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof text) {
    psdm_output_print(e->out, "%1025s", ""); /* fails the output: cut text must not pass for whole */
    return;
  }
  for (const char *c = text; *c; c++) switch (*c) {
      case '@': psdm_output_print(e->out, "%s_", e->prefix); break;
      case '$': psdm_output_print(e->out, "%s_", e->upper); break;
      case '`': psdm_output_text(e->out, e->real); break;
      case '~': psdm_output_text(e->out, e->single ? "f" : ""); break;
      default: piece[0] = *c, psdm_output_text(e->out, piece);
    }
}

/* the fewest digits that a float needs, whatever the locale's point is */
static void single_digits(float value, char *buf) {
  for (int digits = 1; digits <= 9; digits++) {
    double back;
    int length = psdmp_base_print(buf, 32, "%.*g", digits, (double)value);
    if (psdmp_base_parse_number(buf, (size_t)length, &back) && (float)back == value) return;
  }
}

char *psdmp_emit_literal(const psdmp_emit_writer *e, double value, char buf[40]) {
  if (e->single) single_digits((float)value, buf);
  else psdmp_base_format_short(value, buf);
  if (!strpbrk(buf, ".en")) strcat(buf, ".0");
  if (e->single) strcat(buf, "f");
  return buf;
}

void psdmp_emit_comment_text(psdmp_emit_writer *e, const char *text) {
  for (const char *c = text; *c; c++) {
    char piece[2] = {(unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7F ? '?' : *c, '\0'};
    /* ends and begins of comments, lines that go on, trigraphs */
    if ((*c == '/' && ((c > text && c[-1] == '*') || c[1] == '*' || c[1] == '/')) || *c == '\\' ||
        (*c == '?' && c[1] == '?'))
      piece[0] = '|';
    psdm_output_text(e->out, piece);
  }
}

/* ---- the banner ---- */

static void emit_costs(psdmp_emit_writer *e) {
  bool calls = e->code->friction.there;
  psdm_output_print(e->out, " *\n *   function          method        mult      add    div  sqrt  sin+cos  depth%s\n",
                    calls ? "  calls" : "");
  for (int k = 0; k < e->code->programs; k++) {
    const psdmp_codegen_program *p = &e->code->program[k];
    psdm_output_print(e->out, " *   %-17s %-10s %7ld  %7ld  %5ld %5ld  %7ld  %5ld", p->name, p->method, p->cost.mult,
                      p->cost.add, p->cost.div, p->cost.sqrt, p->cost.sincos, p->cost.depth);
    if (calls) psdm_output_print(e->out, "  %5ld", p->cost.calls);
    psdm_output_text(e->out, "\n");
  }
}

const char *psdmp_emit_summary(psdm_function f, char text[160]) {
  psdmp_base_print(text, 160, "%s: %s -> %s", psdm_function_help(f), psdm_function_inputs(f), psdm_function_results(f));
  return text;
}

void psdmp_emit_banner(psdmp_emit_writer *e, const char *what) {
  psdm_output_print(e->out, "/* %s\n *\n * Robot: ", what);
  psdmp_emit_comment_text(e, psdm_robot_name(e->code->robot));
  uint64_t hash = 0;
  char text[PSDMP_ROBOT_FINGERPRINT];
  if (psdmp_robot_description(e->code->robot, e->code->arena.allocator, &hash)) psdmp_base_output_fail(e->out, ENOMEM);
  psdm_output_print(e->out, "; hash of its description: %s\n", psdmp_robot_fingerprint_text(hash, text));
  if (e->code->options.command) {
    psdm_output_text(e->out, " * Written by: ");
    psdmp_emit_comment_text(e, e->code->options.command);
    psdm_output_text(e->out, "\n");
  }
  emit_costs(e);
  psdm_output_text(e->out, " */\n");
}

/* ---- arguments ---- */

const char *const psdmp_emit_block_names[PSDMP_CODEGEN_IN_COUNT] = {
#define BLOCK_NAME(id, name) name,
    PSDMP_CODEGEN_INPUT_LIST(BLOCK_NAME)
#undef BLOCK_NAME
};

bool psdmp_emit_block_shared(psdmp_codegen_block block) {
  return block == PSDMP_CODEGEN_IN_THETA || block == PSDMP_CODEGEN_IN_GRAVITY || block == PSDMP_CODEGEN_IN_PAYLOAD ||
         block == PSDMP_CODEGEN_IN_WRENCH || block == PSDMP_CODEGEN_IN_DT;
}

static void emit_arguments(psdmp_emit_writer *e, const psdmp_codegen_program *p, bool closing) {
  const char *between = "";
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    psdmp_emit_say(e, "%s%s` *$RESTRICT %s", between, closing && b == PSDMP_CODEGEN_IN_P ? "" : "const ",
                   psdmp_emit_block_names[b]);
    between = ", ";
  }
  for (int r = 0; r < p->results; r++) {
    psdmp_emit_say(e, "%s` *$RESTRICT %s", between, p->result[r].name);
    between = ", ";
  }
}

void psdmp_emit_arguments(psdmp_emit_writer *e, const psdmp_codegen_program *p) { emit_arguments(e, p, false); }
void psdmp_emit_arguments_closing(psdmp_emit_writer *e, const psdmp_codegen_program *p) { emit_arguments(e, p, true); }

/* ---- what becomes of each node ---- */

static psdm_ref operand(const psdm_node *n, int k) { return k ? n->b : n->a; }

static bool is_angle_function(psdm_op op) { return op == PSDM_OP_SIN || op == PSDM_OP_COS; }

static void count_uses(psdmp_emit_listing *l) {
  for (size_t k = 0; k < l->p->outputs; k++) {
    uint32_t node = psdm_ref_node(l->p->output[k]);
    l->uses[node]++;
    l->next_output[k] = l->first_output[node];
    l->first_output[node] = (uint32_t)k + 1;
  }
  for (uint32_t k = l->nodes; k-- > 0;)
    for (int i = 0; l->uses[k] && i < psdmp_expr_arity(l->node[k].op); i++)
      l->uses[psdm_ref_node(operand(&l->node[k], i))]++;
}

/* what depends on sines, and what is the same for all states */
static void set_marks(psdmp_emit_listing *l) {
  for (uint32_t k = 0; k < l->nodes; k++) {
    const psdm_node *n = &l->node[k];
    l->shared[k] =
        n->op == PSDM_OP_CONST ||
        (n->op == PSDM_OP_INPUT && psdmp_emit_block_shared((psdmp_codegen_block)(n->input / PSDMP_CODEGEN_BLOCK)));
    if (!psdmp_expr_arity(n->op)) continue;
    l->shared[k] = !is_angle_function(n->op);
    for (int i = 0; i < psdmp_expr_arity(n->op); i++) {
      uint32_t of = psdm_ref_node(operand(n, i));
      l->late[k] = l->late[k] || l->late[of] || is_angle_function(n->op);
      l->shared[k] = l->shared[k] && l->shared[of];
    }
  }
}

/* the distinct angles, in the order of their nodes: q1 before q2 */
static void collect_angles(psdmp_emit_listing *l) {
  for (uint32_t k = 0; k < l->nodes; k++) {
    if (!l->uses[k] || !is_angle_function(l->node[k].op)) continue;
    uint32_t of = psdm_ref_node(l->node[k].a), at = 0;
    if (l->late[of]) continue;
    while (at < l->angles && l->angle[at] != of) at++;
    if (at == l->angles) l->angle[l->angles++] = of;
    l->angle_of[k] = at;
  }
}

static void set_forms(psdmp_emit_listing *l) {
  for (uint32_t k = 0; k < l->nodes; k++) {
    const psdm_node *n = &l->node[k];
    bool early = is_angle_function(n->op) && !l->late[psdm_ref_node(n->a)];
    l->form[k] = !l->uses[k]                         ? PSDMP_EMIT_FORM_DEAD
                 : !psdmp_expr_arity(n->op) || early ? PSDMP_EMIT_FORM_LEAF
                 : n->op == PSDM_OP_PAIR             ? PSDMP_EMIT_FORM_INLINE /* stands where its operation is called */
                                                     : PSDMP_EMIT_FORM_NAMED;
    l->size[k] = l->form[k] == PSDMP_EMIT_FORM_NAMED;
  }
}

static bool is_call(psdm_op op) { return psdmp_emit_call_name(op) != NULL; }

/* whether operand x may stand inside u's expression */
static bool may_inline(const psdmp_emit_listing *l, uint32_t u, uint32_t x) {
  return l->form[x] == PSDMP_EMIT_FORM_NAMED && l->uses[x] == 1 && !l->first_output[x] && !is_call(l->node[x].op) &&
         l->size[u] + l->size[x] <= LONGEST_EXPRESSION;
}

static void put_inside(psdmp_emit_listing *l, uint32_t u, uint32_t x) {
  l->form[x] = PSDMP_EMIT_FORM_INLINE;
  l->size[u] = (unsigned char)(l->size[u] + l->size[x]);
}

/* a product that is used once, in a sum: one fused operation, wherever the schedule has the product */
static void inline_products(psdmp_emit_listing *l) {
  for (size_t k = 0; k < l->length; k++) {
    uint32_t u = l->order[k];
    for (int i = 0; i < 2 && l->node[u].op == PSDM_OP_ADD; i++) {
      uint32_t x = psdm_ref_node(operand(&l->node[u], i));
      if (l->node[x].op == PSDM_OP_MUL && may_inline(l, u, x)) put_inside(l, u, x);
    }
  }
}

/* what stands right before its only user in the schedule; low: where an expression's operations begin */
static void inline_neighbours(psdmp_emit_listing *l, uint32_t *position, uint32_t *low) {
  uint32_t at = 1;
  for (size_t k = 0; k < l->length; k++) {
    uint32_t u = l->order[k];
    if (l->form[u] != PSDMP_EMIT_FORM_NAMED) continue;
    position[u] = low[u] = at++;
    for (int i = 0; i < 4; i++) { /* the second operand, the first, and once more in the other order */
      int which = i == 0 || i == 3;
      if (which >= psdmp_expr_arity(l->node[u].op)) continue;
      uint32_t x = psdm_ref_node(operand(&l->node[u], which));
      if (!may_inline(l, u, x) || position[x] != low[u] - 1) continue;
      put_inside(l, u, x);
      low[u] = low[x];
    }
  }
}

/* outputs that nothing else uses are stored where they are computed; angles are named */
static void set_stores(psdmp_emit_listing *l) {
  for (uint32_t k = 0; k < l->nodes; k++)
    if (l->form[k] == PSDMP_EMIT_FORM_NAMED && l->uses[k] == 1 && l->first_output[k] && !is_call(l->node[k].op))
      l->form[k] = PSDMP_EMIT_FORM_STORED;
}

psdm_status psdmp_emit_listing_set(psdmp_emit_writer *e, const psdmp_codegen_program *p,
                                   const psdmp_emit_dialect *dialect, psdmp_base_arena *arena, psdmp_emit_listing *l) {
  uint32_t nodes = psdm_graph_size(p->graph);
  size_t room = (size_t)nodes + 1;
  *l = (psdmp_emit_listing){.e = e, .p = p, .dialect = dialect, .nodes = nodes};
  l->node = psdmp_base_arena_alloc(arena, room * sizeof *l->node);
  uint32_t *numbers = psdmp_base_arena_alloc(arena, (8 * room + p->outputs) * sizeof *numbers);
  unsigned char *bytes = psdmp_base_arena_alloc(arena, 2 * room);
  bool *flags = psdmp_base_arena_alloc(arena, 3 * room * sizeof *flags);
  if (!l->node || !numbers || !bytes || !flags) return PSDM_E_MEMORY;
  l->uses = numbers, l->order = l->uses + room, l->name = l->order + room, l->first_output = l->name + room,
  l->angle = l->first_output + room;
  l->angle_of = l->angle + room, l->next_output = l->angle_of + 3 * room;
  l->form = bytes, l->size = bytes + room, l->shared = flags, l->late = flags + room, l->done = flags + 2 * room;
  for (uint32_t k = 0; k < nodes; k++) l->node[k] = psdm_graph_node(p->graph, k);
  psdm_order how = e->code->options.throughput ? PSDM_ORDER_REGISTERS : PSDM_ORDER_LATENCY;
  psdm_status status = psdm_graph_schedule(p->graph, p->output, p->outputs, how, 0, l->order, &l->length, NULL);
  if (status) return status;
  count_uses(l);
  set_marks(l);
  collect_angles(l);
  set_forms(l);
  inline_products(l);
  inline_neighbours(l, l->angle_of + room, l->angle_of + 2 * room);
  set_stores(l);
  return PSDM_OK;
}

void psdmp_emit_listing_needs(const psdmp_emit_listing *l, psdmp_emit_needs *needs) {
  int most = l->e->single ? 16 : 8;
  for (uint32_t k = 0; k < l->nodes; k++) {
    if (l->form[k] != PSDMP_EMIT_FORM_NAMED) continue;
    psdm_op op = l->node[k].op;
    if (!is_call(op)) continue;
    needs->calls |= 1u << op;
    if (!l->shared[k] || is_angle_function(op)) needs->lane_calls |= 1u << op;
  }
  needs->angles = needs->angles || l->angles > 0;
  for (uint32_t left = l->angles; left > 0; left -= left < (uint32_t)most ? left : (uint32_t)most)
    needs->widths |= 1u << psdmp_emit_group_width(l->e, left);
}

int psdmp_emit_group_width(const psdmp_emit_writer *e, uint32_t angles) {
  int width = e->single ? 4 : 2, most = e->single ? 16 : 8;
  while (width < most && (uint32_t)width < angles) width *= 2;
  return width;
}

/* ---- expressions ---- */

void psdmp_emit_angle_names(const psdmp_emit_listing *l, uint32_t angle, char sine[24], char cosine[24]) {
  const psdm_node *n = &l->node[l->angle[angle]];
  bool plain = n->op == PSDM_OP_INPUT && n->input / PSDMP_CODEGEN_BLOCK == PSDMP_CODEGEN_IN_Q;
  unsigned number = plain ? (unsigned)(n->input % PSDMP_CODEGEN_BLOCK) + 1 : angle + 1;
  snprintf(sine, 24, plain ? "s%u" : "sa%u", number);
  snprintf(cosine, 24, plain ? "c%u" : "ca%u", number);
}

void psdmp_emit_angle_live(const psdmp_emit_listing *l, uint32_t angle, bool *sine, bool *cosine) {
  *sine = *cosine = false;
  for (uint32_t k = 0; k < l->nodes; k++) {
    if (l->form[k] != PSDMP_EMIT_FORM_LEAF || !is_angle_function(l->node[k].op) || l->angle_of[k] != angle) continue;
    *(l->node[k].op == PSDM_OP_SIN ? sine : cosine) = true;
  }
}

static void emit_leaf(psdmp_emit_listing *l, uint32_t k) {
  const psdm_node *n = &l->node[k];
  char text[40], other[24];
  if (n->op == PSDM_OP_CONST) {
    psdm_output_text(l->e->out, psdmp_emit_literal(l->e, n->value, text));
  } else if (n->op == PSDM_OP_INPUT) {
    l->dialect->input(l, (psdmp_codegen_block)(n->input / PSDMP_CODEGEN_BLOCK), n->input % PSDMP_CODEGEN_BLOCK);
  } else if (l->form[k] == PSDMP_EMIT_FORM_LEAF) {
    psdmp_emit_angle_names(l, l->angle_of[k], n->op == PSDM_OP_SIN ? text : other, n->op == PSDM_OP_SIN ? other : text);
    psdm_output_text(l->e->out, text);
  } else {
    psdm_output_print(l->e->out, "t%u", l->name[k]);
  }
}

/* level at which each operator needs no brackets: see psdmp_emit_value */
static int loosest(psdm_op op) { return op == PSDM_OP_ADD ? 0 : op == PSDM_OP_MUL ? 2 : 1; }

static void emit_operation(psdmp_emit_listing *l, const psdm_node *n, bool negated) {
  psdm_output *out = l->e->out;
  char one[40];
  switch (n->op) {
    case PSDM_OP_ADD: /* -(a - b) = b - a */
      psdmp_emit_value(l, negated ? psdm_ref_neg(n->b) : n->a, 0);
      psdm_output_text(out, negated || psdm_ref_negated(n->b) ? " - " : " + ");
      psdmp_emit_value(l, negated ? n->a : n->b & ~1u, 1);
      break;
    case PSDM_OP_MUL: /* -(c x) = (-c) x */
      if (negated) psdm_output_text(out, "-");
      psdmp_emit_value(l, n->a, 2);
      psdm_output_text(out, "*");
      psdmp_emit_value(l, n->b, 3);
      break;
    default: /* 1/x */
      psdm_output_print(out, "%s%s/", negated ? "-" : "", psdmp_emit_literal(l->e, 1, one));
      psdmp_emit_value(l, n->a, 3);
  }
}

/* whether a sign can go inside for nothing */
static bool takes_sign(const psdmp_emit_listing *l, const psdm_node *n) {
  return n->op == PSDM_OP_RECIP || (n->op == PSDM_OP_ADD && psdm_ref_negated(n->b)) ||
         (n->op == PSDM_OP_MUL && l->node[psdm_ref_node(n->a)].op == PSDM_OP_CONST);
}

static void emit_bracketed(psdmp_emit_listing *l, const psdm_node *n, bool negated, bool brackets) {
  if (brackets) psdm_output_text(l->e->out, "(");
  emit_operation(l, n, negated);
  if (brackets) psdm_output_text(l->e->out, ")");
}

/* a node whose operation stands here */
static void emit_expression(psdmp_emit_listing *l, uint32_t k, bool negated, int level) {
  const psdm_node *n = &l->node[k];
  bool inside = negated && takes_sign(l, n), outside = negated && !inside;
  if (outside) psdm_output_text(l->e->out, level ? "(-" : "-");
  emit_bracketed(l, n, inside, outside || level > loosest(n->op) || (inside && level > 0));
  if (outside && level) psdm_output_text(l->e->out, ")");
}

void psdmp_emit_value(psdmp_emit_listing *l, psdm_ref ref, int level) {
  uint32_t k = psdm_ref_node(ref);
  bool negated = psdm_ref_negated(ref);
  if (l->form[k] == PSDMP_EMIT_FORM_INLINE) {
    emit_expression(l, k, negated, level);
    return;
  }
  if (negated) psdm_output_text(l->e->out, level ? "(-" : "-");
  emit_leaf(l, k);
  if (negated && level) psdm_output_text(l->e->out, ")");
}

/* an operand of a call; after: behind what differs between lanes */
static void emit_operand(psdmp_emit_listing *l, psdm_ref operand, const char *after) {
  psdmp_emit_value(l, operand, 0);
  if (!l->shared[psdm_ref_node(operand)]) psdm_output_text(l->e->out, after);
}

void psdmp_emit_operands(psdmp_emit_listing *l, uint32_t k, const char *after) {
  const psdm_node *n = &l->node[k];
  psdm_ref operand[PSDMP_EXPR_BRISTLES] = {n->a, n->b};
  int count = psdmp_expr_arity(n->op);
  if (n->op == PSDM_OP_BRISTLES) {
    psdmp_expr_bristles_operands(l->p->graph, k, operand);
    count = PSDMP_EXPR_BRISTLES;
  }
  for (int i = 0; i < count; i++) {
    if (i) psdm_output_text(l->e->out, ", ");
    emit_operand(l, operand[i], after);
  }
}

/* ---- statements ---- */

/* inputs below node k that no statement has loaded yet */
static void emit_loads(psdmp_emit_listing *l, uint32_t k, bool top) {
  const psdm_node *n = &l->node[k];
  if (n->op == PSDM_OP_INPUT && !l->done[k] && !l->shared[k]) {
    l->dialect->load(l, (psdmp_codegen_block)(n->input / PSDMP_CODEGEN_BLOCK), n->input % PSDMP_CODEGEN_BLOCK);
    l->done[k] = true;
  }
  if (!top && l->form[k] != PSDMP_EMIT_FORM_INLINE) return;
  for (int i = 0; i < psdmp_expr_arity(n->op); i++) emit_loads(l, psdm_ref_node(operand(n, i)), false);
}

static void find_result(const psdmp_codegen_program *p, uint32_t output, const char **name, int *index) {
  int r = 0;
  while (r + 1 < p->results && (int)output >= p->result[r + 1].first) r++;
  *name = p->result[r].name;
  *index = (int)output - p->result[r].first;
}

/* the outputs that are node k, which has a name or is a leaf; or its expression, when only one output wants it */
static void emit_stores(psdmp_emit_listing *l, uint32_t k) {
  for (uint32_t at = l->first_output[k]; at; at = l->next_output[at - 1]) {
    const char *name;
    int index;
    bool negated = psdm_ref_negated(l->p->output[at - 1]);
    int level = l->dialect->loads && l->shared[k]; /* a shared value is spread over the lanes */
    find_result(l->p, at - 1, &name, &index);
    l->dialect->store(l, name, index, l->shared[k], false);
    if (l->form[k] == PSDMP_EMIT_FORM_STORED) emit_expression(l, k, negated, level);
    else psdmp_emit_value(l, 2 * k + negated, level);
    l->dialect->store(l, name, index, l->shared[k], true);
  }
}

static void emit_statement(psdmp_emit_listing *l, uint32_t k) {
  if (l->done[k] || (l->form[k] != PSDMP_EMIT_FORM_NAMED && l->form[k] != PSDMP_EMIT_FORM_STORED)) return;
  if (l->dialect->loads) emit_loads(l, k, true);
  if (l->form[k] == PSDMP_EMIT_FORM_NAMED) {
    l->name[k] = ++l->names;
    if (is_call(l->node[k].op)) {
      l->dialect->call(l, k);
    } else {
      psdmp_emit_say(l->e, "  %s%s t%u = ", l->dialect->constant, l->shared[k] ? "`" : l->dialect->type, l->name[k]);
      emit_expression(l, k, false, 0);
      psdm_output_text(l->e->out, ";\n");
    }
  }
  emit_stores(l, k);
  l->done[k] = true;
}

/* everything that an angle is made of; inlined operands come with their user */
static void emit_before(psdmp_emit_listing *l, uint32_t k) {
  if (l->done[k]) return;
  for (int i = 0; i < psdmp_expr_arity(l->node[k].op); i++) emit_before(l, psdm_ref_node(operand(&l->node[k], i)));
  emit_statement(l, k);
}

static void emit_unused(psdmp_emit_listing *l) {
  bool used[PSDMP_CODEGEN_IN_COUNT] = {false};
  for (uint32_t k = 0; k < l->nodes; k++)
    if (l->form[k] != PSDMP_EMIT_FORM_DEAD && l->node[k].op == PSDM_OP_INPUT)
      used[l->node[k].input / PSDMP_CODEGEN_BLOCK] = true;
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (l->p->length[b] && !used[b]) psdm_output_print(l->e->out, "  (void)%s;\n", psdmp_emit_block_names[b]);
}

void psdmp_emit_body(psdmp_emit_listing *l) {
  emit_unused(l);
  for (uint32_t a = 0; a < l->angles; a++) {
    if (l->dialect->loads) emit_loads(l, l->angle[a], false);
    emit_before(l, l->angle[a]);
  }
  if (l->angles) l->dialect->angles(l);
  for (size_t k = 0; k < l->length; k++) emit_statement(l, l->order[k]);
  /* outputs that are constants, inputs, sines */
  for (uint32_t k = 0; k < l->nodes; k++) {
    if (l->form[k] != PSDMP_EMIT_FORM_LEAF || !l->first_output[k]) continue;
    if (l->dialect->loads) emit_loads(l, k, false);
    emit_stores(l, k);
  }
}
