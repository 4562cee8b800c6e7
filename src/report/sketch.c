/* sketch.c: a robot as lines, cylinders and boxes, in orthographic projection, farthest first. */
#include "report/sketch_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOINTS = 400, MOST_PIECES = 4 * MOST_JOINTS };

#define PLATE 0.11 /* half the base's width, of the robot's size */

typedef struct body {
  const char *name;
  char type;                                       /* r, p, f */
  int parent;                                      /* -1: the base */
  double point[3], axis[3], link[3], com[3], mass; /* mass, com: NAN when unknown */
  bool leaf;                                       /* carries nothing */
} body;

typedef struct robot {
  int count;
  body body[MOST_JOINTS];
  double low[3], high[3], size; /* of all points, base included */
} robot;

/* orientation of a view: rows are right, up, towards the eye */
typedef struct view {
  const char *title;
  double row[3][3];
  int width, height;
  double scale, x, y; /* screen = (x + scale right, y - scale up) */
  bool large;
} view;

/* a thing to draw, and its depth */
typedef struct piece {
  double depth;
  char what; /* l: link of a body, j: joint, m: centre of mass, b: base */
  int index;
} piece;

/* ---- reading ---- */

static bool read_vector(const psdmp_document_node *from, const char *path, double v[3]) {
  double got[3];
  if (psdmp_report_numbers(psdmp_report_node(from, "%s", path), got, 3) != 3) return false;
  for (int i = 0; i < 3; i++) {
    if (!(fabs(got[i]) < 1e6)) return false;
    v[i] = got[i];
  }
  return true;
}

/* by number, counted from 1; only earlier joints can carry this one */
static int find_body(const robot *r, double number) { return number >= 1 && number <= r->count ? (int)number - 1 : -1; }

static bool read_body(robot *r, const psdmp_document_node *joint) {
  body *b = &r->body[r->count];
  const char *type = psdmp_report_text(joint, "type");
  *b = (body){.name = psdmp_report_text(joint, "name"),
              .type = type[0] == 'p'   ? 'p'
                      : type[0] == 'f' ? 'f'
                                       : 'r',
              .mass = psdmp_report_number(joint, "at.mass"),
              .leaf = true};
  b->parent = find_body(r, psdmp_report_number(joint, "at.carried_by"));
  if (!read_vector(joint, "at.point", b->point) || !read_vector(joint, "at.axis", b->axis) ||
      !read_vector(joint, "at.link", b->link))
    return false;
  if (!read_vector(joint, "at.com", b->com)) b->mass = NAN;
  double length = sqrt(b->axis[0] * b->axis[0] + b->axis[1] * b->axis[1] + b->axis[2] * b->axis[2]);
  if (!(length > 1e-9)) return false;
  for (int i = 0; i < 3; i++) b->axis[i] /= length;
  if (b->parent >= 0) r->body[b->parent].leaf = false;
  r->count++;
  return true;
}

static void include(robot *r, const double point[3]) {
  for (int i = 0; i < 3; i++) {
    r->low[i] = fmin(r->low[i], point[i]);
    r->high[i] = fmax(r->high[i], point[i]);
  }
}

static bool read_robot(const psdmp_report_result *result, robot *r) {
  const psdmp_document_node *joints = psdmp_report_node(result->root, "joints");
  memset(r, 0, sizeof *r);
  if (!joints || joints->kind != PSDMP_DOCUMENT_LIST) return false;
  for (const psdmp_document_node *joint = joints->child; joint && r->count < MOST_JOINTS; joint = joint->next)
    if (!read_body(r, joint)) return false;
  for (int i = 0; i < r->count; i++) {
    include(r, r->body[i].point);
    include(r, r->body[i].link);
  }
  for (int i = 0; i < 3; i++) r->size = fmax(r->size, r->high[i] - r->low[i]);
  return r->count > 0 && r->size > 1e-9;
}

/* ---- geometry ---- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void to_screen(const view *v, const double point[3], double out[2]) {
  out[0] = v->x + v->scale * dot(v->row[0], point);
  out[1] = v->y - v->scale * dot(v->row[1], point);
}

static void widen(const view *v, const double point[3], double low[2], double high[2]) {
  for (int k = 0; k < 2; k++) {
    low[k] = fmin(low[k], dot(v->row[k], point));
    high[k] = fmax(high[k], dot(v->row[k], point));
  }
}

/* scale and position that fit the whole robot and its base into the picture */
static void fit(view *v, const robot *r) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, margin = v->large ? 56 : 44,
         plate = PLATE * r->size;
  for (int i = 0; i < r->count; i++) {
    widen(v, r->body[i].point, low, high);
    widen(v, r->body[i].link, low, high);
    if (r->body[i].mass > 0) widen(v, r->body[i].com, low, high);
  }
  for (int corner = 0; corner < 4; corner++)
    widen(v, (double[3]){corner & 1 ? plate : -plate, corner & 2 ? plate : -plate, 0}, low, high);
  double room_x = v->width - 2 * margin, room_y = v->height - 2 * margin;
  v->scale = fmin(room_x / fmax(high[0] - low[0], 1e-3 * r->size), room_y / fmax(high[1] - low[1], 1e-3 * r->size));
  v->x = v->width / 2.0 - v->scale * (low[0] + high[0]) / 2;
  v->y = v->height / 2.0 + v->scale * (low[1] + high[1]) / 2;
}

/* a link runs along its joint's axis first, then straight to the next joint: real links have elbows too */
static void elbow(const body *b, const double to[3], double out[3]) {
  double d[3] = {to[0] - b->point[0], to[1] - b->point[1], to[2] - b->point[2]}, along = dot(d, b->axis);
  for (int i = 0; i < 3; i++) out[i] = b->point[i] + along * b->axis[i];
}

/* ---- drawing ---- */

/* three points are an arm, four a face */
static void draw_path(psdmp_report_page *page, const view *v, const char *kind, const double (*point)[3], int count) {
  double s[2];
  psdmp_report_page_markup(page, "<path class=\"%s\" d=\"", kind);
  for (int i = 0; i < count; i++) {
    to_screen(v, point[i], s);
    psdmp_report_page_markup(page, "%c%.1f %.1f", i ? 'L' : 'M', s[0], s[1]);
  }
  psdmp_report_page_raw(page, count == 4 ? "Z\"/>" : "\"/>");
}

static void draw_run(psdmp_report_page *page, const view *v, const body *b, const double to[3]) {
  double path[3][3];
  memcpy(path[0], b->point, sizeof path[0]);
  elbow(b, to, path[1]);
  memcpy(path[2], to, sizeof path[2]);
  draw_path(page, v, "arm", (const double(*)[3])path, 3);
}

static void draw_link(psdmp_report_page *page, const view *v, const robot *r, int index) {
  const body *b = &r->body[index];
  for (int i = 0; i < r->count; i++)
    if (r->body[i].parent == index) draw_run(page, v, b, r->body[i].point);
  if (b->leaf) draw_run(page, v, b, b->link);
}

/* a revolute joint: a cylinder around its axis. The rim is an ellipse whose short axis lies along the axis on the
 * screen; seen from the side it keeps some width, since it would otherwise be a square. */
static void draw_cylinder(psdmp_report_page *page, const view *v, const body *b, double radius, double half) {
  double right = dot(v->row[0], b->axis), up = dot(v->row[1], b->axis), toward = dot(v->row[2], b->axis),
         flat = hypot(right, up), s[2];
  double angle = flat > 1e-9 ? atan2(-up, right) * 180 / acos(-1) : 0, sign = toward >= 0 ? 1 : -1,
         length = half * flat, thin = radius * fmax(fabs(toward), 0.3);
  to_screen(v, b->point, s);
  /* in a frame whose x axis is the joint's axis on the screen; the near end is at sign * length */
  psdmp_report_page_markup(page,
                           "<g class=\"joint\" transform=\"translate(%.1f %.1f) rotate(%.1f)\"><path d=\"M%.1f "
                           "%.1fA%.1f %.1f 0 0 %d %.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 %d %.1f %.1fZ\"/>",
                           s[0], s[1], angle, -sign * length, -radius, thin, radius, sign > 0 ? 0 : 1, -sign * length,
                           radius, sign * length, radius, thin, radius, sign > 0 ? 0 : 1, sign * length, -radius);
  psdmp_report_page_markup(page, "<ellipse class=\"cap\" cx=\"%.1f\" cy=\"0\" rx=\"%.1f\" ry=\"%.1f\"/></g>",
                           sign * length, thin, radius);
}

static void across(const double axis[3], double first[3], double second[3]) {
  double help[3] = {0, 0, 0};
  help[fabs(axis[2]) < 0.9 ? 2 : 0] = 1;
  first[0] = axis[1] * help[2] - axis[2] * help[1], first[1] = axis[2] * help[0] - axis[0] * help[2],
  first[2] = axis[0] * help[1] - axis[1] * help[0];
  double length = sqrt(dot(first, first));
  for (int i = 0; i < 3; i++) first[i] /= length;
  second[0] = axis[1] * first[2] - axis[2] * first[1], second[1] = axis[2] * first[0] - axis[0] * first[2],
  second[2] = axis[0] * first[1] - axis[1] * first[0];
}

/* a prismatic joint: a box along its axis; only the three visible faces */
static void draw_box(psdmp_report_page *page, const view *v, const body *b, double radius, double half) {
  double e[3][3], size[3] = {radius / v->scale, radius / v->scale, half / v->scale};
  memcpy(e[2], b->axis, sizeof e[2]);
  across(b->axis, e[0], e[1]);
  psdmp_report_page_raw(page, "<g class=\"joint slide\">");
  for (int face = 0; face < 6; face++) {
    int k = face / 2, first = (k + 1) % 3, second = (k + 2) % 3;
    double sign = face % 2 ? 1 : -1, corner[4][3];
    if (sign * dot(v->row[2], e[k]) <= 1e-9) continue;
    for (int c = 0; c < 4; c++)
      for (int i = 0; i < 3; i++)
        corner[c][i] = b->point[i] + sign * size[k] * e[k][i] +
                       (c == 1 || c == 2 ? 1 : -1) * size[first] * e[first][i] +
                       (c > 1 ? 1 : -1) * size[second] * e[second][i];
    draw_path(page, v, k == 2 ? "cap" : "side", (const double(*)[3])corner, 4);
  }
  psdmp_report_page_raw(page, "</g>");
}

static void draw_joint(psdmp_report_page *page, const view *v, const body *b) {
  double radius = v->large ? 12 : 8, s[2];
  if (b->type == 'p') {
    draw_box(page, v, b, 0.8 * radius, 1.6 * radius);
  } else if (b->type == 'r') {
    draw_cylinder(page, v, b, radius, 1.1 * radius);
  } else {
    to_screen(v, b->point, s);
    psdmp_report_page_markup(page, "<circle class=\"fixed\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", s[0], s[1],
                             0.35 * radius);
  }
}

static void draw_mass(psdmp_report_page *page, const view *v, const body *b, double largest) {
  double s[2], radius = (v->large ? 8 : 5.5) * cbrt(b->mass / largest);
  to_screen(v, b->com, s);
  psdmp_report_page_markup(page, "<circle class=\"mass\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", s[0], s[1],
                           fmax(radius, 1.5));
}

/* a plate under the base's origin, and lines from there to the joints that it carries */
static void draw_base(psdmp_report_page *page, const view *v, const robot *r) {
  double half = PLATE * r->size, plate[4][3] = {{-half, -half, 0}, {half, -half, 0}, {half, half, 0}, {-half, half, 0}},
         origin[3] = {0, 0, 0};
  draw_path(page, v, "base", (const double(*)[3])plate, 4);
  for (int i = 0; i < r->count; i++)
    if (r->body[i].parent < 0) {
      double path[3][3] = {{0}};
      memcpy(path[0], origin, sizeof origin);
      path[1][2] = r->body[i].point[2];
      memcpy(path[2], r->body[i].point, sizeof path[2]);
      draw_path(page, v, "arm", (const double(*)[3])path, 3);
    }
}

/* ---- order ---- */

static int by_depth(const void *a, const void *b) {
  const piece *x = a, *y = b;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  return x->index != y->index ? x->index - y->index : x->what - y->what;
}

static int list_pieces(const view *v, const robot *r, piece *list) {
  int count = 0;
  list[count++] = (piece){-INFINITY, 'b', 0};
  for (int i = 0; i < r->count; i++) {
    const body *b = &r->body[i];
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = (b->point[k] + b->link[k]) / 2;
    list[count++] = (piece){dot(v->row[2], middle) - 0.02 * r->size, 'l', i};
    list[count++] = (piece){dot(v->row[2], b->point), 'j', i};
    /* a centre of mass lies inside its link: drawn on top */
    if (b->mass > 0) list[count++] = (piece){INFINITY, 'm', i};
  }
  qsort(list, (size_t)count, sizeof *list, by_depth);
  return count;
}

/* ---- texts ---- */

typedef struct label {
  double x, y, width;
} label;

static bool is_free(const label *placed, int count, const label *l, const view *v) {
  if (l->x < 2 || l->x + l->width > v->width - 2 || l->y < 14 || l->y > v->height - 4) return false;
  for (int i = 0; i < count; i++)
    if (l->x < placed[i].x + placed[i].width + 4 && placed[i].x < l->x + l->width + 4 && fabs(l->y - placed[i].y) < 14)
      return false;
  return true;
}

/* names of the joints at one place, "A4, A5, A6" */
static void join_names(const robot *r, const view *v, int first, bool *done, char *out, size_t size) {
  double at[2], other[2];
  to_screen(v, r->body[first].point, at);
  out[0] = '\0';
  for (int i = first; i < r->count; i++) {
    to_screen(v, r->body[i].point, other);
    if (done[i] || r->body[i].type == 'f' || hypot(at[0] - other[0], at[1] - other[1]) > 12) continue;
    size_t used = strlen(out);
    if (used && used + strlen(r->body[i].name) + 3 > size) continue;
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", r->body[i].name);
    done[i] = true;
  }
}

/* at most this many letters, the last an ellipsis if some are left out; returns how many */
static int shorten(const char *text, int most, char *out, size_t size) {
  size_t used = 0, kept = 0; /* kept: bytes before the last letter */
  int letters = 0;
  for (; text[used] && letters < most; letters++) {
    size_t step = psdmp_base_utf8_length(text + used, strlen(text + used));
    kept = used;
    used += step ? step : 1;
  }
  snprintf(out, size, "%.*s%s", (int)(text[used] ? kept : used), text, text[used] ? "\u2026" : "");
  return letters;
}

static void draw_name(psdmp_report_page *page, const label *l, const char *shown, const char *whole) {
  psdmp_report_page_markup(page, "<text x=\"%.1f\" y=\"%.1f\">", l->x, l->y);
  if (strcmp(shown, whole) != 0) {
    psdmp_report_page_raw(page, "<title>");
    psdmp_report_page_text(page, whole);
    psdmp_report_page_raw(page, "</title>");
  }
  psdmp_report_page_text(page, shown);
  psdmp_report_page_raw(page, "</text>");
}

/* beside the joint, where no other text is and the text is inside the picture */
static bool find_place(const view *v, const double at[2], const label *placed, int count, label *l) {
  static const double offset[][2] = {{20, 4},   {20, -14}, {20, 22},   {-20, 4}, {-20, -14},
                                     {-20, 22}, {30, -30}, {-30, -30}, {30, 38}, {-30, 38}};
  for (size_t k = 0; k < sizeof offset / sizeof *offset; k++) {
    l->x = at[0] + offset[k][0] - (offset[k][0] < 0 ? l->width : 0);
    l->y = at[1] + offset[k][1];
    if (is_free(placed, count, l, v)) return true;
  }
  return false;
}

/* as much of each name as fits; omitted if not even a few letters do */
static void draw_names(psdmp_report_page *page, const view *v, const robot *r) {
  static const int most[] = {36, 24, 16, 10, 6};
  label placed[MOST_JOINTS];
  bool done[MOST_JOINTS] = {false};
  int count = 0;
  for (int i = 0; i < r->count; i++) {
    char whole[256], shown[256];
    double at[2];
    if (done[i] || r->body[i].type == 'f') continue;
    join_names(r, v, i, done, whole, sizeof whole);
    to_screen(v, r->body[i].point, at);
    for (size_t k = 0; whole[0] && k < sizeof most / sizeof *most; k++) {
      label l = {.width = 7.5 * shorten(whole, most[k], shown, sizeof shown)};
      if (!find_place(v, at, placed, count, &l)) continue;
      placed[count++] = l;
      draw_name(page, &l, shown, whole);
      break;
    }
  }
}

/* x, y, z of the base frame, at the lower left */
static void draw_triad(psdmp_report_page *page, const view *v) {
  static const char names[] = "xyz";
  double x = 34, y = v->height - 34, length = 24;
  for (int i = 0; i < 3; i++) {
    double right = v->row[0][i], up = v->row[1][i];
    if (hypot(right, up) < 0.1) continue;
    psdmp_report_page_markup(page, "<path class=\"triad c%d\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
                             i == 0   ? 1
                             : i == 1 ? 2
                                      : 0,
                             x, y, x + length * right, y - length * up);
    psdmp_report_page_markup(page, "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%c</text>",
                             x + 1.4 * length * right, y - 1.4 * length * up + 4, names[i]);
  }
}

/* a round length in metres, about a fifth of the picture */
static void draw_scale(psdmp_report_page *page, const view *v) {
  double raw = 0.2 * v->width / v->scale, power = pow(10, floor(log10(raw))), lead = raw / power,
         length = power * (lead < 2   ? 1
                           : lead < 5 ? 2
                                      : 5);
  double right = v->width - 16, y = v->height - 14, left = right - length * v->scale;
  psdmp_report_page_markup(page, "<path class=\"ruler\" d=\"M%.1f %.1fv-5M%.1f %.1fH%.1fM%.1f %.1fv-5\"/>", left, y,
                           left, y, right, right, y);
  psdmp_report_page_markup(page, "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                           (left + right) / 2, y - 8);
  if (length < 1) psdmp_report_page_markup(page, "%.4g mm</text>", 1000 * length);
  else psdmp_report_page_markup(page, "%.4g m</text>", length);
}

/* ---- the whole picture ---- */

static void draw_view(psdmp_report_page *page, view *v, const robot *r, const char *name, piece *list) {
  double largest = 0;
  fit(v, r);
  for (int i = 0; i < r->count; i++)
    if (r->body[i].mass > largest) largest = r->body[i].mass;
  psdmp_report_page_markup(
      page, "<figure class=\"sketch\"><figcaption>%s</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>",
      v->title, v->width, v->height);
  psdmp_report_page_print(page, "%s: %s", name[0] ? name : "robot", v->title);
  psdmp_report_page_raw(page, "</title>");
  int count = list_pieces(v, r, list);
  for (int i = 0; i < count; i++) {
    const piece *p = &list[i];
    if (p->what == 'b') draw_base(page, v, r);
    if (p->what == 'l') draw_link(page, v, r, p->index);
    if (p->what == 'j') draw_joint(page, v, &r->body[p->index]);
    if (p->what == 'm') draw_mass(page, v, &r->body[p->index], largest);
  }
  if (v->large) draw_names(page, v, r);
  draw_triad(page, v);
  draw_scale(page, v);
  psdmp_report_page_raw(page, "</svg></figure>\n");
}

bool psdmp_report_sketch(psdmp_report_page *page, const psdmp_report_result *inspect) {
  /* from the front and above: x towards the eye and left, y to the right */
  const double c = sqrt(0.5), s = sqrt(1.0 / 3), t = sqrt(2.0 / 3), u = sqrt(1.0 / 6);
  view views[] = {
      {.title = "At an angle", .row = {{-c, c, 0}, {-u, -u, t}, {s, s, s}}, .width = 460, .height = 420, .large = true},
      {.title = "From the side", .row = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, .width = 300, .height = 230},
      {.title = "From above", .row = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .width = 300, .height = 230},
  };
  robot *r = psdmp_report_page_memory(page, sizeof *r);
  piece *list = psdmp_report_page_memory(page, MOST_PIECES * sizeof *list);
  if (!r || !list || !read_robot(inspect, r)) return false;
  psdmp_report_page_raw(page, "<div class=\"sketches\">\n");
  for (int i = 0; i < 3; i++) draw_view(page, &views[i], r, inspect->robot, list);
  psdmp_report_page_raw(page, "</div>\n");
  return true;
}
