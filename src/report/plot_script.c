/* plot_script.c: a figure in gnuplot's language. Colours are codes that tell psdmp_report_plot_distil the role of a
 * line or text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page_priv.h"

/* of a name at the axis; height of a line in gnuplot's margins, in pixels */
enum { MOST_LETTERS = 40, LINE = 18 };

/* ---- texts and numbers ---- */

/* 'text' in single quotes, where only the quote itself is special, and doubled */
static void put_quoted(psdmp_report_page *out, const char *text) {
  psdmp_report_page_raw(out, "'");
  for (size_t length = strlen(text), step; length; text += step, length -= step) {
    size_t valid = psdmp_base_utf8_length(text, length);
    step = valid ? valid : 1;
    if (!valid || (unsigned char)*text < 0x20 || *text == 0x7F) psdmp_report_page_raw(out, " ");
    else if (*text == '\'') psdmp_report_page_raw(out, "''");
    else psdmp_report_page_bytes(out, text, valid);
  }
  psdmp_report_page_raw(out, "'");
}

static void put(psdmp_report_page *out, const char *format, ...) PSDM_PRINTF(2, 3);
static void put(psdmp_report_page *out, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length > 0) psdmp_report_page_bytes(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static void put_value(psdmp_report_page *out, double value) {
  if (isfinite(value)) put(out, " %.9g", value);
  else psdmp_report_page_raw(out, " nan");
}

/* ---- data ---- */

static void put_data(psdmp_report_page *out, const psdmp_report_figure *figure, int k) {
  const psdmp_report_curve *c = &figure->curve[k];
  put(out, "$d%d << END\n", k);
  if (c->kind == PSDMP_REPORT_LEVEL) {
    for (int end = 0; end < 2; end++) {
      put_value(out, figure->range[end]);
      put_value(out, c->y[0]);
      psdmp_report_page_raw(out, "\n");
    }
  }
  for (size_t i = 0; c->kind != PSDMP_REPORT_LEVEL && i < c->count; i++) {
    put_value(out, c->x[i]);
    if (c->y) put_value(out, c->y[i]);
    if (c->low) put_value(out, c->low[i]), put_value(out, c->high[i]);
    psdmp_report_page_raw(out, "\n");
  }
  psdmp_report_page_raw(out, "END\n");
}

static void put_curve(psdmp_report_page *out, const psdmp_report_figure *figure, int k) {
  const psdmp_report_curve *c = &figure->curve[k];
  int colour = 0xf00010 + c->colour;
  put(out, "%s $d%d using ", k ? "," : "plot", k);
  switch (c->kind) {
    case PSDMP_REPORT_LINE:
    case PSDMP_REPORT_LEVEL: put(out, "1:2 with lines"); break;
    case PSDMP_REPORT_STEPS: put(out, "1:2 with steps"); break;
    case PSDMP_REPORT_DOTS: put(out, "1:2 with points pt 7 ps 0.4"); break;
    case PSDMP_REPORT_BARS: put(out, "1:2:(%.9g) with boxes fill solid noborder", figure->box); break;
    case PSDMP_REPORT_BAND: put(out, "1:2:3 with filledcurves fill solid noborder"); break;
    case PSDMP_REPORT_ERRORS: put(out, "1:2:3:4 with yerrorbars pt 7 ps 0.4"); break;
  }
  put(out, " lc rgb '#%06x' notitle", colour);
}

/* ---- axes ---- */

static size_t longest_name(const psdmp_report_figure *figure) {
  size_t letters = 0;
  for (int i = 0; i < figure->ticks; i++)
    if (strlen(figure->tick[i]) > letters) letters = strlen(figure->tick[i]);
  return letters < MOST_LETTERS ? letters : MOST_LETTERS;
}

/* names instead of numbers: upright when they are too long to fit side by side, and only every other one when even that
 * is too close */
static void put_names(psdmp_report_page *out, const psdmp_report_figure *figure, int width) {
  size_t letters = longest_name(figure);
  /* pixels from one name to the next; 80: left and right of the plot */
  double room = (width - 80) / fmax(1, figure->range[1] - figure->range[0]);
  bool upright = 7.2 * (double)letters + 8 > room;
  int every = upright ? (int)ceil(13 / room) : 1;
  put(out, "set bmargin %.1f\nset xtics %s (", upright ? 2.6 + 6.6 * (double)letters / LINE : 3.6,
      upright ? "rotate by 90 right" : "norotate");
  for (int i = 0, first = 1; i < figure->ticks; i += every, first = 0) {
    char text[64];
    size_t length = strlen(figure->tick[i]);
    if (length > MOST_LETTERS) length = MOST_LETTERS;
    while (length && ((unsigned char)figure->tick[i][length] & 0xC0) == 0x80) length--;
    snprintf(text, sizeof text, "%.*s", (int)length, figure->tick[i]);
    psdmp_report_page_raw(out, first ? "" : ", ");
    put_quoted(out, text);
    put(out, " %d", i);
  }
  psdmp_report_page_raw(out, ")\n");
}

/* a step of 1, 2 or 5 that leaves at most `most` labels */
static double nice_step(double size, int most) {
  double raw = size / most, power = pow(10, floor(log10(raw))), lead = raw / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* decades between labels on a logarithmic axis */
static void put_decades(psdmp_report_page *out, char axis, const double range[2], int most) {
  double decades = log10(range[1] / range[0]);
  put(out, "set logscale %c\nset %ctics %.9g\n", axis, axis, pow(10, fmax(1, ceil(decades / most))));
}

static void put_axes(psdmp_report_page *out, const psdmp_report_figure *figure, int size, int width, int height) {
  int x_most = size == PSDMP_REPORT_NARROW ? 4 : figure->in_row ? 6 : 10, y_most = height / 52;
  if (figure->x_log) put_decades(out, 'x', figure->range, x_most);
  else if (figure->ticks) put_names(out, figure, width);
  else put(out, "set xtics norotate %.9g\n", nice_step(figure->range[1] - figure->range[0], x_most));
  if (figure->y_log) put_decades(out, 'y', figure->range + 2, y_most);
  else put(out, "set ytics %.9g\n", nice_step(figure->range[3] - figure->range[2], y_most));
  put(out, "set xrange [%.9g:%.9g] noextend\nset yrange [%.9g:%.9g] noextend\n", figure->range[0], figure->range[1],
      figure->range[2], figure->range[3]);
}

void psdmp_report_plot_script(psdmp_report_page *out, const psdmp_report_figure *figure, int size) {
  int width, height;
  psdmp_report_plot_size(figure, size, &width, &height);
  put(out, "reset\nset encoding utf8\nset terminal svg size %d,%d dynamic noenhanced font 'sans,12'\n", width, height);
  psdmp_report_page_raw(out, "unset key\nset tics scale 0 nomirror\nset border 3 lc rgb '#f00000'\nset grid lt 1 lc "
                             "rgb '#f00001'\nset format '%g'\nset bmargin 3.6\nset tmargin 0.8\n");
  /* half of the last number at a logarithmic axis extends beyond the axes, since it is always at their end */
  put(out, "set rmargin %.1f\n", figure->x_log ? 3.2 : 1.6);
  put_axes(out, figure, size, width, height);
  /* psdmp_report_plot_distil writes the label below, since it knows how much room the names at the axis really take */
  psdmp_report_page_raw(out, "set xtics textcolor rgb '#f00002'\nset ytics textcolor rgb '#f00003'\nset ylabel ");
  put_quoted(out, figure->y_label);
  psdmp_report_page_raw(out, " noenhanced textcolor rgb '#f00004'\n");
  for (int k = 0; k < figure->curves; k++) put_data(out, figure, k);
  for (int k = 0; k < figure->curves; k++) put_curve(out, figure, k);
  /* the end of the picture, and where its axes are, in pixels from the lower left */
  put(out,
      "\nset output\nset print '-'\nprint sprintf('" PSDMP_REPORT_PLOT_MARK
      "%d %d %%.9g %%.9g %%.9g %%.9g', GPVAL_TERM_XMIN, GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX)\n",
      figure->number, size);
}
