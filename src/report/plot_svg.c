/* plot_svg.c: gnuplot's picture, parsed as geometry and rewritten as ours. Nothing is copied verbatim: numbers are
 * parsed, texts are escaped, and elements without a colour code of psdmp_report_plot_script are left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page_priv.h"

enum {
  ROLE_FRAME = 0xf00000,
  ROLE_GRID,
  ROLE_X_TICK,
  ROLE_Y_TICK,
  ROLE_Y_LABEL,
  ROLE_CURVE = 0xf00010,
  ROLE_MUTED = 0xf00018
};

enum { FEW_DOTS = 40 }; /* drawn large: single measurements, not a cloud */

/* ---- reading ---- */

typedef struct tag {
  const char *name;
  size_t name_length;
  const char *inside; /* attributes */
  size_t length;
  bool closing, empty; /* </name>, <name/> */
  const char *after;   /* after the tag */
} tag;

static bool next_tag(const char **at, const char *end, tag *t) {
  const char *open = memchr(*at, '<', (size_t)(end - *at));
  const char *close = open ? memchr(open, '>', (size_t)(end - open)) : NULL;
  if (!close) return false;
  *t = (tag){.name = open + 1, .after = close + 1};
  if (*t->name == '/') t->closing = true, t->name++;
  while (t->name + t->name_length < close && strchr(" \t\r\n/", t->name[t->name_length]) == NULL) t->name_length++;
  t->inside = t->name + t->name_length;
  t->length = t->inside < close ? (size_t)(close - t->inside) : 0;
  t->empty = close[-1] == '/';
  *at = close + 1;
  return true;
}

static bool is(const tag *t, const char *name) {
  return t->name_length == strlen(name) && memcmp(t->name, name, t->name_length) == 0;
}

/* the value of an attribute, NULL if absent */
static const char *attribute(const tag *t, const char *name, size_t *length) {
  const char *at = t->inside, *end = t->inside + t->length;
  size_t wanted = strlen(name);
  while (at < end) {
    while (at < end && strchr(" \t\r\n/", *at)) at++;
    const char *word = at;
    while (at < end && !strchr(" \t\r\n=", *at)) at++;
    size_t size = (size_t)(at - word);
    while (at < end && strchr(" \t\r\n=", *at)) at++;
    if (at >= end || (*at != '"' && *at != '\'')) return NULL;
    const char *stop = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!stop) return NULL;
    if (size == wanted && memcmp(word, name, size) == 0) {
      *length = (size_t)(stop - at - 1);
      return at + 1;
    }
    at = stop + 1;
  }
  return NULL;
}

/* the next number of a list; false at its end */
static bool next_number(const char **at, const char *end, double *value) {
  while (*at < end && !strchr("+-.0123456789", **at)) ++*at;
  const char *from = *at;
  while (*at < end && strchr("+-.0123456789eE", **at) && **at) ++*at;
  return *at > from && psdmp_base_parse_number(from, (size_t)(*at - from), value) && fabs(*value) < 1e6;
}

/* "rgb(240, 0, 16)" as 0xf00010; -1 for anything else */
static int colour(const tag *t, const char *name) {
  size_t length;
  const char *at = attribute(t, name, &length);
  double part[3];
  if (!at || length < 4 || memcmp(at, "rgb(", 4) != 0) return -1;
  const char *end = at + length;
  for (int i = 0; i < 3; i++)
    if (!next_number(&at, end, &part[i]) || part[i] < 0 || part[i] > 255) return -1;
  return (int)part[0] << 16 | (int)part[1] << 8 | (int)part[2];
}

/* ---- writing ---- */

typedef struct drawing {
  psdmp_report_page *out;
  const psdmp_report_figure *figure;
  int height;
  bool ticks_open, dots_open;
  int curve, curve_depth; /* open series, -1: none */
  int depth;
  int text_role; /* of the group around a text */
  double text_x, text_y;
  bool turned; /* text runs upwards */
  char anchor; /* of a text: s, m, e */
} drawing;

static void put_number(psdmp_report_page *out, double value) {
  char text[32];
  int length = psdmp_base_print(text, sizeof text, "%.1f", value);
  if (length < 0) out->status = out->status ? out->status : PSDM_E_MEMORY, length = 0;
  if (length > 2 && text[length - 1] == '0') length -= 2;
  psdmp_report_page_bytes(out, text, (size_t)length);
}

static void put_point(psdmp_report_page *out, char letter, double x, double y) {
  psdmp_report_page_bytes(out, &letter, 1);
  put_number(out, x);
  psdmp_report_page_raw(out, " ");
  put_number(out, y);
}

static void close_dots(drawing *d) {
  if (d->dots_open) psdmp_report_page_raw(d->out, "\"/>");
  d->dots_open = false;
}

static void close_ticks(drawing *d) {
  if (d->ticks_open) psdmp_report_page_raw(d->out, "</g>\n");
  d->ticks_open = false;
}

static void close_curve(drawing *d) {
  close_dots(d);
  if (d->curve >= 0) psdmp_report_page_raw(d->out, "</g>\n");
  d->curve = -1;
}

/* whether the element with this colour is wanted here */
static bool wanted(const drawing *d, int role) {
  if (d->curve >= 0) return role >= ROLE_CURVE && role <= ROLE_MUTED;
  return role == ROLE_GRID && d->ticks_open;
}

/* "M1.00,2.00 L3.00,4.00 Z": letters M and L with a point each */
static void put_path(drawing *d, const char *at, size_t length) {
  const char *end = at + length;
  char letter = 'M';
  double x, y;
  for (bool any = false; at < end;) {
    while (at < end && strchr(" ,\t\r\n", *at)) at++;
    if (at < end && (*at == 'M' || *at == 'L')) letter = *at++;
    if (at < end && (*at == 'Z' || *at == 'z')) {
      if (any) psdmp_report_page_raw(d->out, "Z");
      at++;
      continue;
    }
    if (!next_number(&at, end, &x) || !next_number(&at, end, &y)) return;
    put_point(d->out, any ? letter : 'M', x, y);
    any = true;
  }
}

static void take_path(drawing *d, const tag *t) {
  size_t length;
  const char *points = attribute(t, "d", &length);
  int role = colour(t, "stroke");
  close_dots(d);
  if (!points || !wanted(d, role)) return;
  psdmp_report_page_raw(d->out, d->curve >= 0 ? "<path d=\"" : "<path class=\"grid\" d=\"");
  put_path(d, points, length);
  psdmp_report_page_raw(d->out, "\"/>");
}

static void take_polygon(drawing *d, const tag *t) {
  size_t length;
  const char *at = attribute(t, "points", &length), *end = at ? at + length : NULL;
  double x, y;
  close_dots(d);
  if (!at || d->curve < 0 || !wanted(d, colour(t, "fill"))) return;
  psdmp_report_page_raw(d->out, "<path class=\"area\" d=\"");
  for (char letter = 'M'; next_number(&at, end, &x) && next_number(&at, end, &y); letter = 'L')
    put_point(d->out, letter, x, y);
  psdmp_report_page_raw(d->out, "Z\"/>");
}

/* all points of a series are one path of zero-length strokes with round ends */
static void take_point(drawing *d, const tag *t) {
  size_t length;
  const char *at = attribute(t, "transform", &length), *end = at ? at + length : NULL;
  double x, y;
  if (!at || d->curve < 0 || !wanted(d, colour(t, "color")) || !next_number(&at, end, &x) || !next_number(&at, end, &y))
    return;
  bool few = d->figure->curve[d->curve].count <= FEW_DOTS;
  if (!d->dots_open) psdmp_report_page_raw(d->out, few ? "<path class=\"dot few\" d=\"" : "<path class=\"dot\" d=\"");
  d->dots_open = true;
  put_point(d->out, 'M', x, y);
  psdmp_report_page_raw(d->out, "h0");
}

static void take_group(drawing *d, const tag *t) {
  static const char id[] = "gnuplot_plot_";
  size_t length;
  double number;
  close_dots(d);
  d->depth++;
  const char *text = attribute(t, "id", &length);
  if (text && length > strlen(id) && memcmp(text, id, strlen(id)) == 0 &&
      psdmp_base_parse_number(text + strlen(id), length - strlen(id), &number)) {
    close_ticks(d);
    close_curve(d);
    if (!(number >= 1 && number <= d->figure->curves)) return;
    d->curve = (int)number - 1;
    d->curve_depth = d->depth;
    const psdmp_report_curve *c = &d->figure->curve[d->curve];
    psdmp_report_page_markup(d->out, "<g class=\"series %s c%d\" data-i=\"%d\">", psdmp_report_plot_kind(c->kind),
                             c->colour, d->curve);
    return;
  }
  const char *at = attribute(t, "transform", &length), *end = at ? at + length : NULL;
  d->text_role = colour(t, "fill");
  if (!at || !next_number(&at, end, &d->text_x) || !next_number(&at, end, &d->text_y)) d->text_role = -1;
  d->turned = at && next_number(&at, end, &number) && (number == 270 || number == -90);
  at = attribute(t, "text-anchor", &length);
  d->anchor = at && length ? *at : 's';
}

static void end_group(drawing *d) {
  close_dots(d);
  if (d->curve >= 0 && d->depth == d->curve_depth) close_curve(d);
  d->depth--;
}

/* ---- texts ---- */

/* the text between > and <, with gnuplot's entities decoded, so that it can be escaped like all others */
static size_t plain_text(const char *at, const char *end, char *out, size_t size) {
  static const struct {
    const char *name;
    char letter;
  } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}};
  size_t used = 0;
  while (at < end && *at == ' ') at++;
  while (at < end && *at != '<' && used + 1 < size) {
    char letter = *at;
    size_t step = 1;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
      size_t length = strlen(known[k].name);
      if ((size_t)(end - at) >= length && memcmp(at, known[k].name, length) == 0)
        letter = known[k].letter, step = length;
    }
    out[used++] = letter;
    at += step;
  }
  while (used && out[used - 1] == ' ') used--;
  out[used] = '\0';
  return used;
}

/* numbers at the axes: a real minus sign, 1e-06 as a power of ten */
static void put_tick(psdmp_report_page *out, const char *text, size_t length, bool number) {
  static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  double value;
  if (!number || !psdmp_base_parse_number(text, length, &value)) {
    psdmp_report_html_text(out, text, length);
    return;
  }
  const char *e = memchr(text, 'e', length);
  size_t lead = e ? (size_t)(e - text) : length;
  if (text[0] == '-') psdmp_report_page_raw(out, "\u2212"), text++, lead--;
  if (!e || lead != 1 || text[0] != '1') psdmp_report_page_bytes(out, text, lead);
  if (!e) return;
  psdmp_report_page_raw(out, lead == 1 && text[0] == '1' ? "10" : "\u00b710");
  if (*++e == '-') psdmp_report_page_raw(out, "\u207b");
  for (e += *e == '-' || *e == '+'; *e == '0';) e++;
  for (; *e >= '0' && *e <= '9'; e++) psdmp_report_page_raw(out, raised[*e - '0']);
}

static void take_text(drawing *d, const tag *t, const char *end) {
  char text[1024];
  size_t length = plain_text(t->after, end, text, sizeof text);
  bool tick = d->text_role == ROLE_X_TICK || d->text_role == ROLE_Y_TICK, label = d->text_role == ROLE_Y_LABEL;
  if (d->curve >= 0 || (!tick && !label) || (tick && !d->ticks_open)) return;
  if (label) close_ticks(d);
  const char *kind = d->text_role == ROLE_X_TICK ? "tick x" : d->text_role == ROLE_Y_TICK ? "tick y" : "label y";
  const char *anchor = d->anchor == 'e' ? "end" : d->anchor == 'm' ? "middle" : "start";
  if (d->turned)
    psdmp_report_page_markup(d->out,
                             "<text class=\"%s\" text-anchor=\"%s\" transform=\"translate(%.1f %.1f) rotate(-90)\">",
                             kind, anchor, d->text_x, d->text_y);
  else
    psdmp_report_page_markup(d->out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", kind, anchor,
                             d->text_x, d->text_y);
  bool named = d->text_role == ROLE_X_TICK && d->figure->ticks;
  put_tick(d->out, text, length, tick && !named);
  psdmp_report_page_raw(d->out, "</text>");
}

/* ---- the whole picture ---- */

static void put_head(drawing *d, int size, int width, const double box[4]) {
  const psdmp_report_figure *f = d->figure;
  psdmp_report_page_markup(d->out,
                           "<svg class=\"plot %s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"p%d-%d\" "
                           "data-box=\"%.2f %.2f %.2f %.2f\" data-range=\"%.9g %.9g %.9g %.9g\" data-log=\"%d %d\">\n",
                           size == PSDMP_REPORT_WIDE ? "wide" : "narrow", width, d->height, f->number, size, box[0],
                           box[1], box[2], box[3], f->range[0], f->range[1], f->range[2], f->range[3], f->x_log,
                           f->y_log);
  psdmp_report_page_markup(d->out, "<title id=\"p%d-%d\">", f->number, size);
  psdmp_report_page_print(d->out, "%s: %s over %s", f->title, f->y_label, f->x_label);
  psdmp_report_page_raw(d->out, "</title>\n<g class=\"ticks\">");
  d->ticks_open = true;
}

/* the axes, and the x label below everything */
static void put_frame(drawing *d, const double box[4]) {
  psdmp_report_page_markup(d->out,
                           "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n<text class=\"label x\" "
                           "text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">",
                           box[0], box[2], box[3], box[1], (box[0] + box[1]) / 2, d->height - 8);
  psdmp_report_page_text(d->out, d->figure->x_label);
  psdmp_report_page_raw(d->out, "</text>\n</svg>");
}

char *psdmp_report_plot_distil(psdmp_report_page *page, const psdmp_report_figure *figure, int size, const char *svg,
                               size_t length, const double box[4]) {
  psdmp_report_page out = {.arena = {.allocator = page->arena.allocator}};
  drawing d = {.out = &out, .figure = figure, .curve = -1, .text_role = -1};
  const char *at = svg, *end = svg + length;
  int width;
  tag t;
  psdmp_report_plot_size(figure, size, &width, &d.height);
  put_head(&d, size, width, box);
  while (next_tag(&at, end, &t)) {
    if (is(&t, "g") && t.closing) end_group(&d);
    else if (is(&t, "g") && !t.empty) take_group(&d, &t);
    else if (is(&t, "path") && !t.closing) take_path(&d, &t);
    else if (is(&t, "polygon") && !t.closing) take_polygon(&d, &t);
    else if (is(&t, "use") && !t.closing) take_point(&d, &t);
    else if (is(&t, "text") && !t.closing) take_text(&d, &t, end);
  }
  close_curve(&d);
  close_ticks(&d);
  put_frame(&d, box);
  char *copy = out.status ? NULL : psdmp_report_page_memory(page, out.used + 1);
  if (copy) memcpy(copy, out.text, out.used + 1);
  if (out.status && !page->status) page->status = out.status;
  psdmp_report_page_free(&out);
  return copy;
}
