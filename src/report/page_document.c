/* page_document.c: the page around its body: head, policy, contents, figures, sources. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "psdm/version.h"
#include "report/page_priv.h"

static const char base64_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* three bytes at a time; the rest is kept for the next call, and padded by finish */
typedef struct encoder {
  psdm_output *out;
  unsigned char byte[3];
  int bytes;
} encoder;

static void put_letters(encoder *e) {
  uint32_t all =
      (uint32_t)e->byte[0] << 16 | (uint32_t)(e->bytes > 1 ? e->byte[1] : 0) << 8 | (e->bytes > 2 ? e->byte[2] : 0);
  char text[5] = "====";
  for (int i = 0; i <= e->bytes; i++) text[i] = base64_letters[all >> (18 - 6 * i) & 63];
  psdm_output_text(e->out, text);
  e->bytes = 0;
}

static void encode(encoder *e, const unsigned char *data, size_t length) {
  for (size_t i = 0; i < length; i++) {
    e->byte[e->bytes++] = data[i];
    if (e->bytes == 3) put_letters(e);
  }
}

static void finish(encoder *e) {
  if (e->bytes) put_letters(e);
}

/* ---- head ---- */

static void put_escaped(psdm_output *out, const char *text) {
  const char *piece;
  for (size_t left = strlen(text), step, length; left; text += step, left -= step) {
    step = psdmp_report_html_letter(text, left, &piece, &length);
    psdm_output_print(out, "%.*s", (int)length, piece);
  }
}

/* 'sha256-...' of a text in the page; only such scripts and styles are allowed */
static void put_hash(psdm_output *out, const char *text) {
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  psdmp_base_sha256 hash;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_add(&hash, text, strlen(text));
  psdmp_base_sha256_end(&hash, digest);
  encoder e = {.out = out};
  psdm_output_text(out, "'sha256-");
  encode(&e, digest, sizeof digest);
  finish(&e);
  psdm_output_text(out, "'");
}

static void put_head(psdm_output *out, const char *title) {
  psdm_output_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ");
  put_hash(out, psdmp_report_css);
  psdm_output_text(out, "; script-src ");
  put_hash(out, psdmp_report_js);
  psdm_output_text(out,
                   "; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
                   "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta name=\"generator\" content=\"psdm " PSDM_VERSION "\">\n<title>");
  put_escaped(out, title);
  psdm_output_text(out, "</title>\n<style>");
  psdm_output_text(out, psdmp_report_css);
  psdm_output_text(out, "</style>\n</head>\n<body>\n<div class=\"sheet\">\n<header><div><h1>");
  put_escaped(out, title);
  psdm_output_text(out, "</h1>\n<p>Robot dynamics, reported by psdm " PSDM_VERSION
                        "</p></div>\n<button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n");
}

static void put_contents(psdm_output *out, const psdmp_report_page *page) {
  bool inner = false;
  psdm_output_text(
      out, "<div class=\"columns\">\n<nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ol>");
  for (const psdmp_report_entry *e = page->entry; e; e = e->next) {
    char link[64];
    if (e->heading && !inner) psdm_output_text(out, "\n<ol>");
    if (!e->heading && inner) psdm_output_text(out, "</ol>");
    if (!e->heading && e != page->entry) psdm_output_text(out, "</li>");
    inner = e->heading > 0;
    if (e->heading) snprintf(link, sizeof link, "<li><a href=\"#s%d-%d\">", e->section, e->heading);
    else snprintf(link, sizeof link, "\n<li><a href=\"#s%d\">", e->section);
    psdm_output_text(out, link);
    put_escaped(out, e->title);
    psdm_output_text(out, e->heading ? "</a></li>" : "</a>");
  }
  psdm_output_text(out, inner ? "</ol></li>" : "</li>");
  psdm_output_text(out, "</ol></details></nav>\n<main>\n");
}

/* ---- figures ---- */

static void put_legend(psdm_output *out, const psdmp_report_figure *f) {
  bool any = false;
  for (int k = 0; k < f->curves; k++) {
    char open[64];
    if (!f->curve[k].title || !f->curve[k].title[0]) continue;
    if (!any) psdm_output_text(out, "<ul class=\"legend\">");
    any = true;
    snprintf(open, sizeof open, "<li class=\"%s c%d\">", psdmp_report_plot_kind(f->curve[k].kind), f->curve[k].colour);
    psdm_output_text(out, open);
    put_escaped(out, f->curve[k].title);
    psdm_output_text(out, "</li>");
  }
  if (any) psdm_output_text(out, "</ul>\n");
}

/* float32, little-endian, as in browsers' typed arrays on all current machines; fill: replaces NAN by its neighbour, so
 * that the script can search */
static void put_floats(psdm_output *out, const char *name, const double *value, size_t count, double origin,
                       bool fill) {
  encoder e = {.out = out};
  double last = NAN;
  size_t first = 0;
  if (!value) return;
  while (fill && first < count && isnan(value[first])) first++;
  if (fill && first < count) last = value[first];
  psdm_output_print(out, " data-%s=\"", name);
  for (size_t i = 0; i < count; i++) {
    if (!fill || !isnan(value[i])) last = value[i];
    float single = (float)(last - origin);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                              (unsigned char)(bits >> 24)};
    encode(&e, bytes, sizeof bytes);
  }
  finish(&e);
  psdm_output_text(out, "\"");
}

static bool same_values(const double *a, const double *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!(a[i] == b[i]) && !(isnan(a[i]) && isnan(b[i]))) return false;
  return true;
}

/* data of a zoomable plot; x is relative to its first value, so that single precision is enough for long times */
static void put_data(psdm_output *out, const psdmp_report_figure *f) {
  double origin = f->x_log ? 0 : f->range[0];
  psdm_output_text(out, "<div class=\"data\" hidden data-origin=\"");
  psdm_output_number(out, origin);
  psdm_output_text(out, "\" data-box=\"");
  psdm_output_number(out, f->box);
  psdm_output_text(out, "\">");
  for (int k = 0; k < f->curves; k++) {
    const psdmp_report_curve *c = &f->fine[k];
    int same = 0;
    while (same < k && !(c->x && f->fine[same].x && f->fine[same].count == c->count &&
                         same_values(f->fine[same].x, c->x, c->count)))
      same++;
    psdm_output_print(out, "<i data-kind=\"%s\"", psdmp_report_plot_kind(c->kind));
    if (same < k) psdm_output_print(out, " data-same=\"%d\"", same);
    else put_floats(out, "x", c->x, c->count, origin, true);
    put_floats(out, "y", c->y, c->count, 0, false);
    put_floats(out, "low", c->low, c->count, 0, false);
    put_floats(out, "high", c->high, c->count, 0, false);
    psdm_output_text(out, "></i>");
  }
  psdm_output_text(out, "</div>\n");
}

static void put_figure(psdm_output *out, const psdmp_report_figure *f) {
  psdm_output_text(out, f->fine && f->svg[0] ? "<figure class=\"zoom\"><figcaption>" : "<figure><figcaption>");
  put_escaped(out, f->title);
  psdm_output_text(out, "</figcaption>\n");
  put_legend(out, f);
  for (int size = 0; size < PSDMP_REPORT_SIZES; size++)
    if (f->svg[size]) psdm_output_text(out, f->svg[size]);
  if (!f->svg[0]) psdm_output_text(out, "<p class=\"muted\">This plot could not be drawn.</p>");
  if (f->fine && f->svg[0]) put_data(out, f);
  psdm_output_text(out, "</figure>\n");
}

/* ---- the whole page ---- */

/* the body's text from..to: it holds no zero byte, so it may be terminated temporarily */
static void put_part(psdm_output *out, psdmp_report_page *page, size_t from, size_t to) {
  if (!page->text) return;
  char kept = page->text[to];
  page->text[to] = '\0';
  psdm_output_text(out, page->text + from);
  page->text[to] = kept;
}

static void put_sources(psdm_output *out, const psdmp_report_results *results) {
  psdm_output_text(out, "<footer><p>Made from</p>\n<ul>");
  for (int i = 0; i < results->count; i++) {
    const psdmp_report_result *r = results->item[i];
    const char *name = strrchr(r->path, '/');
    psdm_output_text(out, "\n<li><code>");
    put_escaped(out, name ? name + 1 : r->path);
    psdm_output_text(out, "</code>: ");
    put_escaped(out, r->command);
    if (r->robot[0]) psdm_output_text(out, " of "), put_escaped(out, r->robot);
    if (!r->used) psdm_output_text(out, " (not shown)");
    psdm_output_text(out, "</li>");
  }
  psdm_output_text(out, "</ul></footer>\n");
}

void psdmp_report_page_document(psdmp_report_page *page, const char *title, const char *missing,
                                const psdmp_report_results *results, psdm_output *out) {
  size_t at = 0;
  put_head(out, title);
  put_contents(out, page);
  if (missing[0]) {
    psdm_output_text(out, "<p class=\"note\">");
    put_escaped(out, missing);
    psdm_output_text(out, ".</p>\n");
  }
  for (const psdmp_report_figure *f = page->figure; f; f = f->next) {
    put_part(out, page, at, f->at);
    put_figure(out, f);
    at = f->at;
  }
  put_part(out, page, at, page->used);
  psdm_output_text(out, "</main>\n</div>\n");
  put_sources(out, results);
  psdm_output_text(out, "</div>\n<script>");
  psdm_output_text(out, psdmp_report_js);
  psdm_output_text(out, "</script>\n</body>\n</html>\n");
}
