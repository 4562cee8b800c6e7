/* page.c: the body of the page, written by sections. */
#include "report/page_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void fail(psdmp_report_page *page) {
  if (!page->status) page->status = PSDM_E_MEMORY;
}

/* room for length more bytes and a terminator */
static bool reserve(psdmp_report_page *page, size_t length) {
  if (page->status) return false;
  if (page->size - page->used > length) return true;
  size_t size = 2 * (page->used + length) + 4096;
  char *text = length < SIZE_MAX / 8 ? psdmp_base_alloc_raw(page->arena.allocator, size) : NULL;
  if (!text) {
    fail(page);
    return false;
  }
  if (page->used) memcpy(text, page->text, page->used);
  psdmp_base_free(page->arena.allocator, page->text);
  page->text = text;
  page->size = size;
  return true;
}

void psdmp_report_page_bytes(psdmp_report_page *page, const char *text, size_t length) {
  if (!reserve(page, length)) return;
  if (length) memcpy(page->text + page->used, text, length);
  page->used += length;
  page->text[page->used] = '\0';
}

void psdmp_report_page_raw(psdmp_report_page *page, const char *html) {
  psdmp_report_page_bytes(page, html, strlen(html));
}

/* printing allocates too: truncated text must not pass for complete */
void psdmp_report_page_markup(psdmp_report_page *page, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length >= 0 && (size_t)length < sizeof text) psdmp_report_page_bytes(page, text, (size_t)length);
  else if (!page->status) page->status = PSDM_E_MEMORY;
}

static const char *entity(char c) {
  switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
  }
}

size_t psdmp_report_html_letter(const char *text, size_t left, const char **piece, size_t *length) {
  size_t valid = psdmp_base_utf8_length(text, left);
  const char *name = entity(*text);
  bool control = valid == 1 && ((unsigned char)*text < 0x20 || *text == 0x7F) && *text != '\n' && *text != '\t';
  *piece = name ? name : !valid || control ? "\ufffd" : text;
  *length = *piece == text ? valid : strlen(*piece);
  return valid ? valid : 1;
}

void psdmp_report_html_text(psdmp_report_page *page, const char *text, size_t length) {
  const char *piece;
  for (size_t step, size; length; text += step, length -= step) {
    step = psdmp_report_html_letter(text, length, &piece, &size);
    psdmp_report_page_bytes(page, piece, size);
  }
}

void psdmp_report_page_text(psdmp_report_page *page, const char *text) {
  psdmp_report_html_text(page, text, strlen(text));
}

void psdmp_report_page_element(psdmp_report_page *page, const char *tag, const char *text, const char *end) {
  psdmp_report_page_raw(page, tag);
  psdmp_report_page_text(page, text);
  psdmp_report_page_raw(page, end);
}

void psdmp_report_page_sentence(psdmp_report_page *page, const char *tag, const char *text, const char *end) {
  psdmp_report_page_raw(page, tag);
  for (const char *name, *behind; (name = strchr(text, '`')) && (behind = strchr(name + 1, '`')); text = behind + 1) {
    psdmp_report_html_text(page, text, (size_t)(name - text));
    psdmp_report_page_raw(page, "<code>");
    psdmp_report_html_text(page, name + 1, (size_t)(behind - name - 1));
    psdmp_report_page_raw(page, "</code>");
  }
  psdmp_report_page_element(page, "", text, end);
}

static void print(psdmp_report_page *page, const char *format, va_list args) {
  char text[2048];
  va_list again;
  va_copy(again, args);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  if (length >= 0 && (size_t)length < sizeof text) {
    psdmp_report_html_text(page, text, (size_t)length);
  } else if (length > 0) {
    char *whole = psdmp_report_page_memory(page, (size_t)length + 1);
    if (whole) {
      psdmp_base_vprint(whole, (size_t)length + 1, format, again);
      psdmp_report_html_text(page, whole, (size_t)length);
    }
  } else if (length < 0 && !page->status) {
    page->status = PSDM_E_MEMORY;
  }
  va_end(again);
}

void psdmp_report_page_print(psdmp_report_page *page, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(page, format, args);
  va_end(args);
}

void psdmp_report_page_paragraph(psdmp_report_page *page, const char *format, ...) {
  va_list args;
  psdmp_report_page_raw(page, "<p>");
  va_start(args, format);
  print(page, format, args);
  va_end(args);
  psdmp_report_page_raw(page, "</p>\n");
}

/* ---- numbers for readers ---- */

/* "-12.5" with a real minus sign; trailing zeros are kept: they show the number of digits */
static void put_decimal(psdmp_report_page *page, double value, int decimals) {
  char text[512];
  if (value < 0) psdmp_report_page_raw(page, "\u2212"); /* U+2212 */
  psdmp_base_print(text, sizeof text, "%.*f", decimals, fabs(value));
  psdmp_report_page_raw(page, text);
}

void psdmp_report_page_number(psdmp_report_page *page, double value, int digits) {
  if (digits < 1) digits = 1;
  if (digits > 17) digits = 17;
  if (!isfinite(value)) {
    psdmp_report_page_raw(page, "<span class=\"muted\">\u2013</span>"); /* en dash */
    return;
  }
  if (value == 0) {
    psdmp_report_page_raw(page, "0");
    return;
  }
  /* the exponent after rounding to the digits shown */
  char text[64];
  psdmp_base_print(text, sizeof text, "%.*e", digits - 1, value);
  int exponent = 0;
  sscanf(strchr(text, 'e') + 1, "%d", &exponent);
  if (exponent >= -3 && exponent < (digits > 6 ? digits : 6)) {
    put_decimal(page, value, exponent < digits - 1 ? digits - 1 - exponent : 0);
    return;
  }
  *strchr(text, 'e') = '\0';
  if (text[0] == '-') psdmp_report_page_raw(page, "\u2212");
  psdmp_report_page_raw(page, text + (text[0] == '-'));
  psdmp_report_page_raw(page, "\u00a0\u00d7\u00a010<sup>"); /* no-break spaces around a multiplication sign */
  snprintf(text, sizeof text, "%s%d</sup>", exponent < 0 ? "\u2212" : "", exponent < 0 ? -exponent : exponent);
  psdmp_report_page_raw(page, text);
}

/* ---- structure ---- */

static void add_entry(psdmp_report_page *page, const char *title, int heading) {
  psdmp_report_entry *entry = psdmp_report_page_memory(page, sizeof *entry);
  char *copy = psdmp_report_page_memory(page, strlen(title) + 1);
  if (!entry || !copy) return;
  *entry = (psdmp_report_entry){strcpy(copy, title), page->sections, heading, NULL};
  if (page->last_entry) page->last_entry->next = entry;
  else page->entry = entry;
  page->last_entry = entry;
}

void psdmp_report_page_end(psdmp_report_page *page) {
  if (page->in_table) psdmp_report_page_table_end(page);
  if (page->in_row) psdmp_report_page_row_of_plots_end(page);
  if (page->sections) psdmp_report_page_raw(page, "</section>\n");
}

void psdmp_report_page_section(psdmp_report_page *page, const char *title, const char *lead) {
  char open[64];
  psdmp_report_page_end(page);
  page->headings = 0;
  snprintf(open, sizeof open, "<section id=\"s%d\">\n<h2>", ++page->sections);
  add_entry(page, title, 0);
  psdmp_report_page_element(page, open, title, "</h2>\n");
  if (lead) psdmp_report_page_element(page, "<p class=\"lead\">", lead, "</p>\n");
}

void psdmp_report_page_heading(psdmp_report_page *page, const char *title) {
  char open[64];
  snprintf(open, sizeof open, "<h3 id=\"s%d-%d\">", page->sections, ++page->headings);
  add_entry(page, title, page->headings);
  psdmp_report_page_element(page, open, title, "</h3>\n");
}

/* ---- tables ---- */

static bool is_numeric(const psdmp_report_page *page, int column) {
  size_t known = page->numeric ? strlen(page->numeric) : 0;
  return column >= 0 && (size_t)column < known && page->numeric[column] == 'n';
}

void psdmp_report_page_table(psdmp_report_page *page, const char *const *header, int columns, const char *numeric) {
  page->in_table = true;
  page->in_table_row = false;
  page->numeric = numeric;
  page->columns = columns;
  psdmp_report_page_raw(page,
                        "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n<thead><tr>");
  for (int i = 0; i < columns; i++) {
    psdmp_report_page_element(page, is_numeric(page, i) ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">",
                              header[i], "</th>");
  }
  psdmp_report_page_raw(page, "</tr></thead>\n<tbody>");
}

static void end_row(psdmp_report_page *page) {
  if (page->in_table_row) psdmp_report_page_raw(page, "</tr>");
  page->in_table_row = false;
}

void psdmp_report_page_row(psdmp_report_page *page) {
  end_row(page);
  page->in_table_row = true;
  page->column = 0;
  psdmp_report_page_raw(page, "\n<tr>");
}

void psdmp_report_page_cell_begin(psdmp_report_page *page) {
  psdmp_report_page_raw(page, is_numeric(page, page->column++) ? "<td class=\"n\">" : "<td>");
}

void psdmp_report_page_cell_end(psdmp_report_page *page) { psdmp_report_page_raw(page, "</td>"); }

void psdmp_report_page_cell(psdmp_report_page *page, const char *format, ...) {
  va_list args;
  psdmp_report_page_cell_begin(page);
  va_start(args, format);
  print(page, format, args);
  va_end(args);
  psdmp_report_page_cell_end(page);
}

void psdmp_report_page_cell_number(psdmp_report_page *page, double value, int digits) {
  psdmp_report_page_cell_begin(page);
  psdmp_report_page_number(page, value, digits);
  psdmp_report_page_cell_end(page);
}

void psdmp_report_page_table_end(psdmp_report_page *page) {
  end_row(page);
  page->in_table = false;
  psdmp_report_page_raw(page, "\n</tbody></table></div>\n");
}

/* ---- facts ---- */

void psdmp_report_page_facts(psdmp_report_page *page) { psdmp_report_page_raw(page, "<dl class=\"facts\">\n"); }

void psdmp_report_page_fact(psdmp_report_page *page, const char *label, const char *format, ...) {
  va_list args;
  psdmp_report_page_element(page, "<div><dt>", label, "</dt><dd>");
  va_start(args, format);
  print(page, format, args);
  va_end(args);
  psdmp_report_page_raw(page, "</dd></div>\n");
}

void psdmp_report_page_facts_end(psdmp_report_page *page) { psdmp_report_page_raw(page, "</dl>\n"); }

/* ---- plots ---- */

void psdmp_report_page_row_of_plots(psdmp_report_page *page) {
  page->in_row = true;
  psdmp_report_page_raw(page, "<div class=\"plots\">\n");
}

void psdmp_report_page_row_of_plots_end(psdmp_report_page *page) {
  page->in_row = false;
  psdmp_report_page_raw(page, "</div>\n");
}

void psdmp_report_page_plot(psdmp_report_page *page, const psdmp_report_plot *plot) {
  bool empty = false;
  psdmp_report_figure *figure = psdmp_report_plot_copy(page, plot, &empty);
  if (empty) {
    psdmp_report_page_element(page, "<p class=\"muted\">", plot->title ? plot->title : "plot",
                              ": there is nothing to draw.</p>\n");
  }
  if (!figure) return;
  figure->number = ++page->figures;
  figure->at = page->used;
  figure->in_row = page->in_row;
  if (page->last_figure) page->last_figure->next = figure;
  else page->figure = figure;
  page->last_figure = figure;
}

/* ---- memory ---- */

void *psdmp_report_page_memory(psdmp_report_page *page, size_t bytes) {
  void *memory = page->status ? NULL : psdmp_base_arena_alloc(&page->arena, bytes);
  if (!memory) fail(page);
  return memory;
}

void psdmp_report_page_free(psdmp_report_page *page) {
  psdmp_base_free(page->arena.allocator, page->text);
  psdmp_base_arena_free(&page->arena);
  page->text = NULL;
}
