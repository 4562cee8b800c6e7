/* loop.c: closed loops in generated files: Newton's method on the passive joints, the way to them from the position of
 * the file, and functions that begin with it. */
#include "emit/emit.h"

/* At most so many corrections: each squares the error, 0.3 at first. */
enum { CORRECTIONS = 12 };

static const psdmp_codegen_loop *loop_of(const psdmp_emit_writer *e) { return e->code->loop; }

/* ---- the header ---- */

/* "left_elbow right_elbow", in the order of p */
static void emit_names(psdmp_emit_writer *e) {
  const psdm_robot *r = e->code->robot, *tree = r->closure->tree;
  for (int k = 0; k < loop_of(e)->passives; k++) {
    const psdm_joint *joint = psdmp_robot_joint_of(tree, r->closure->passive[k]);
    psdm_output_print(e->out, " *   passive[%d]: ", k);
    psdmp_emit_comment_text(e, joint ? joint->name : "");
    psdm_output_text(e->out, "\n");
  }
}

void psdmp_emit_loop_header(psdmp_emit_writer *e) {
  if (!loop_of(e)) return;
  psdm_output_text(e->out,
                   "/* Closed loops. passive has the positions of the passive joints; rad, m where a joint slides:\n");
  emit_names(e);
  psdmp_emit_say(
      e, " * Functions find it from what they are given, which should be that of the row before: q moves little from\n"
         " * row to row. At the beginning, and after a jump, @walk finds it from the position that the robot's file "
         "starts\n"
         " * with, and so on its branch. They return $OK, or why there is no result: results are nan then, and passive "
         "is\n"
         " * left as it was. Functions that end with _at take one that is right already: one @close for several\n"
         " * functions. */\n");
  psdmp_emit_say(e, "#define $PASSIVES %d /* length of passive */\n", loop_of(e)->passives);
  psdmp_emit_say(e, "enum {\n"
                    "  $OK,\n"
                    "  $FAR,      /* passive is too far from where the loops close at q: use @walk */\n"
                    "  $SINGULAR, /* the passive joints cannot follow q, or the branch ends here */\n"
                    "  $OPEN      /* the loops do not close at q */\n"
                    "};\n\n");
  psdmp_emit_say(e,
                 "/* passive at q, from that of a position near by: at most %d corrections, most often three. */\n"
                 "int @close(const ` *$RESTRICT q, ` *$RESTRICT passive);\n\n",
                 CORRECTIONS);
  psdmp_emit_say(
      e, "/* passive at q, whatever it was: along a straight line from the file's position, in short steps. */\n"
         "int @walk(const ` *$RESTRICT q, ` *$RESTRICT passive);\n\n");
}

void psdmp_emit_loop_prototype(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdmp_emit_say(e, "int @%s(", p->name);
  psdmp_emit_arguments_closing(e, p);
  psdm_output_text(e->out, ");\n");
  psdmp_emit_say(e, "void @%s_at(", p->name);
  psdmp_emit_arguments(e, p);
  psdm_output_text(e->out, ");\n\n");
}

/* ---- the source ---- */

static void emit_table(psdmp_emit_writer *e, const char *name, const double *x, int count) {
  char text[40];
  psdmp_emit_say(e, "static const ` @%s[%d] = {", name, count);
  for (int i = 0; i < count; i++) {
    psdm_output_text(e->out, i ? (i % 6 ? ", " : ",\n  ") : "");
    psdm_output_text(e->out, psdmp_emit_literal(e, x[i], text));
  }
  psdm_output_text(e->out, "};\n");
}

static void emit_tables(psdmp_emit_writer *e) {
  const psdmp_codegen_loop *l = loop_of(e);
  psdm_output_text(e->out, "/* where the branch starts; units of q and of p: 1, or metres */\n");
  emit_table(e, "home", l->home, e->code->robot->n);
  emit_table(e, "start", l->start, l->passives);
  emit_table(e, "unit", l->unit, e->code->robot->n + l->passives);
  if (!l->oriented) return;
  psdm_output_text(e->out, "/* what the passive joints' columns span at the start */\n");
  emit_table(e, "columns", l->A, l->equations * l->passives);
}

/* dimensions as constants, so that compilers unroll what is short */
static void emit_solver(psdmp_emit_writer *e) {
  int m = loop_of(e)->passives, k = loop_of(e)->equations;
  psdmp_emit_say(
      e,
      "/* x: least squares of A x = b, columns of A one after the other; b becomes what is left. 0: columns are\n"
      " * dependent */\n"
      "static int @solve(` *A, ` *b, ` *x) {\n"
      "  ` R[%d] = {0}, size[%d];\n"
      "  for (int j = 0; j < %d; j++) {\n"
      "    size[j] = 0;\n"
      "    for (int i = 0; i < %d; i++) size[j] += A[%d*j + i]*A[%d*j + i];\n"
      "  }\n",
      m * m, m, m, k, k, k);
  psdmp_emit_say(e,
                 "  for (int j = 0; j < %d; j++) {\n"
                 "    const ` *a = A + %d*j;\n"
                 "    ` left = 0, dot = 0;\n"
                 "    for (int i = 0; i < %d; i++) left += a[i]*a[i];\n"
                 "    if (!(left > %s*size[j])) return 0;\n"
                 "    for (int i = 0; i < %d; i++) dot += a[i]*b[i];\n"
                 "    x[j] = dot/left;\n"
                 "    for (int i = 0; i < %d; i++) b[i] -= x[j]*a[i];\n",
                 m, k, k, e->single ? "1e-6f" : "1e-16", k, k);
  psdmp_emit_say(e,
                 "    for (int c = j + 1; c < %d; c++) {\n"
                 "      ` *y = A + %d*c;\n"
                 "      dot = 0;\n"
                 "      for (int i = 0; i < %d; i++) dot += a[i]*y[i];\n"
                 "      R[%d*j + c] = dot /= left;\n"
                 "      for (int i = 0; i < %d; i++) y[i] -= dot*a[i];\n"
                 "    }\n  }\n",
                 m, k, k, m, k);
  psdmp_emit_say(e,
                 "  for (int j = %d; j >= 0; j--)\n"
                 "    for (int c = j + 1; c < %d; c++) x[j] -= R[%d*j + c]*x[c];\n"
                 "  return 1;\n}\n\n",
                 m - 1, m, m);
}

/* the determinant changes sign where a branch ends: a correction may have jumped over that */
static void emit_orientation(psdmp_emit_writer *e) {
  int m = loop_of(e)->passives, k = loop_of(e)->equations;
  if (!loop_of(e)->oriented) return;
  psdmp_emit_say(e,
                 "/* whether the columns have the orientation that they start with */\n"
                 "static int @same_branch(const ` *A) {\n"
                 "  ` X[%d][%d];\n"
                 "  int same = 1;\n"
                 "  for (int i = 0; i < %d; i++)\n"
                 "    for (int j = 0; j < %d; j++) {\n"
                 "      X[i][j] = 0;\n"
                 "      for (int c = 0; c < %d; c++) X[i][j] += @columns[%d*i + c]*A[%d*j + c];\n"
                 "    }\n",
                 m, m, m, m, k, k, k);
  psdmp_emit_say(e,
                 "  for (int c = 0; c < %d; c++) {\n"
                 "    int pivot = c;\n"
                 "    for (int i = c + 1; i < %d; i++)\n"
                 "      if (fabs~(X[i][c]) > fabs~(X[pivot][c])) pivot = i;\n"
                 "    for (int j = 0; j < %d && pivot != c; j++) {\n"
                 "      const ` swap = X[c][j];\n"
                 "      X[c][j] = X[pivot][j];\n"
                 "      X[pivot][j] = swap;\n"
                 "    }\n"
                 "    if ((pivot != c) != (X[c][c] < 0)) same = !same;\n",
                 m, m, m);
  psdmp_emit_say(e,
                 "    for (int i = c + 1; i < %d; i++) {\n"
                 "      const ` part = X[i][c]/X[c][c];\n"
                 "      for (int j = c; j < %d; j++) X[i][j] -= part*X[c][j];\n"
                 "    }\n  }\n"
                 "  return same;\n}\n\n",
                 m, m);
}

/* A correction that does not halve leads elsewhere; one below a root of rounding is the last, since the next would be
 * its square. */
static void emit_close(psdmp_emit_writer *e) {
  const psdmp_codegen_loop *l = loop_of(e);
  int m = l->passives, k = l->equations, n = e->code->robot->n;
  char open[40];
  psdmp_emit_say(e,
                 "int @close(const ` *$RESTRICT q, ` *$RESTRICT passive) {\n"
                 "  ` x[%d], gap[%d], A[%d], Q[%d], step[%d], most = %s;\n"
                 "  for (int j = 0; j < %d; j++) x[j] = passive[j];\n"
                 "  for (int k = 0; k < %d; k++) {\n"
                 "    ` longest = 0;\n"
                 "    @closure(q, x, gap, A);\n"
                 "    for (int i = 0; i < %d; i++) Q[i] = A[i];\n"
                 "    if (!@solve(Q, gap, step)) return gap[0] - gap[0] == 0 ? $SINGULAR : $OPEN;\n",
                 m, k, k * m, k * m, m, e->single ? "0.3f" : "0.3", m, CORRECTIONS, k * m);
  psdmp_emit_say(e,
                 "    for (int j = 0; j < %d; j++) {\n"
                 "      const ` way = fabs~(step[j])/@unit[%d + j];\n"
                 "      if (!(way <= longest)) longest = way;\n"
                 "      x[j] -= step[j];\n"
                 "    }\n"
                 "    if (!(longest <= most)) return longest > most ? $FAR : $OPEN;\n"
                 "    most = longest/2;\n"
                 "    if (longest > %s) continue;\n",
                 m, n, e->single ? "2e-4f" : "1e-8");
  psdmp_emit_say(e, "    for (int i = 0; i < %d; i++)\n      if (!(fabs~(gap[i]) < %s)) return $OPEN;\n", k,
                 psdmp_emit_literal(e, (e->single ? 1e-5 : 1e-10) * l->size, open));
  if (l->oriented) psdmp_emit_say(e, "    if (!@same_branch(A)) return $SINGULAR;\n");
  psdmp_emit_say(e,
                 "    for (int j = 0; j < %d; j++) passive[j] = x[j];\n"
                 "    return $OK;\n  }\n  return $OPEN;\n}\n\n",
                 m);
}

static void emit_walk(psdmp_emit_writer *e) {
  int m = loop_of(e)->passives, n = e->code->robot->n;
  const char *f = e->single ? "f" : "";
  psdmp_emit_say(e,
                 "int @walk(const ` *$RESTRICT q, ` *$RESTRICT passive) {\n"
                 "  ` x[%d], to[%d], farthest = 0, part = 0, longest, step;\n"
                 "  for (int j = 0; j < %d; j++) x[j] = @start[j];\n"
                 "  for (int i = 0; i < %d; i++) {\n"
                 "    const ` way = fabs~(q[i] - @home[i])/@unit[i];\n"
                 "    if (!(way <= farthest)) farthest = way;\n"
                 "  }\n"
                 "  if (!(farthest < 1000)) return $OPEN;\n",
                 m, n, m, n);
  psdmp_emit_say(e,
                 "  longest = step = farthest > 0.1%s ? 0.1%s/farthest : 1;\n"
                 "  while (part < 1) {\n"
                 "    const ` next = part + step < 1 ? part + step : 1;\n"
                 "    int code;\n"
                 "    for (int i = 0; i < %d; i++) to[i] = next < 1 ? @home[i] + next*(q[i] - @home[i]) : q[i];\n"
                 "    code = @close(to, x);\n"
                 "    if (code == $OK) {\n"
                 "      part = next;\n"
                 "      step = 2*step < longest ? 2*step : longest;\n"
                 "    } else if ((step /= 2) < %s*longest) {\n"
                 "      return code == $FAR ? $SINGULAR : code;\n"
                 "    }\n  }\n"
                 "  for (int j = 0; j < %d; j++) passive[j] = x[j];\n"
                 "  return $OK;\n}\n\n",
                 f, f, n, e->single ? "1e-3f" : "1e-5", m);
}

void psdmp_emit_loop_source(psdmp_emit_writer *e) {
  emit_tables(e);
  psdm_output_text(e->out, "\n");
  emit_solver(e);
  emit_orientation(e);
  emit_close(e);
  emit_walk(e);
}

/* the function that closes the loops first */
void psdmp_emit_loop_function(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  const char *between = "";
  psdmp_emit_say(e, "int @%s(", p->name);
  psdmp_emit_arguments_closing(e, p);
  psdmp_emit_say(e, ") {\n  const int code = @close(q, passive);\n  if (code) {\n");
  for (int r = 0; r < p->results; r++)
    psdmp_emit_say(e, "    for (int i = 0; i < %d; i++) %s[i] = (`)NAN;\n", p->result[r].count, p->result[r].name);
  psdmp_emit_say(e, "    return code;\n  }\n  @%s_at(", p->name);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    psdm_output_print(e->out, "%s%s", between, psdmp_emit_block_names[b]);
    between = ", ";
  }
  for (int r = 0; r < p->results; r++) psdm_output_print(e->out, ", %s", p->result[r].name);
  psdmp_emit_say(e, ");\n  return $OK;\n}\n\n");
}
