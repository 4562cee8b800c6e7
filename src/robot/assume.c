/* assume.c: assumptions as text: linear relations between body parameters. */
#include <math.h>
#include <string.h>

#include "robot/robot.h"

/* "Ixz4": a body parameter and the number of a moving link; false for anything else */
static bool parse_body_name(const char *text, size_t length, int links, int *kind, int *link) {
  size_t letters = 0;
  while (letters < length && !(text[letters] >= '0' && text[letters] <= '9')) letters++;
  int number = 0;
  for (size_t i = letters; i < length; i++) {
    if (!(text[i] >= '0' && text[i] <= '9') || number > PSDM_MAX_JOINTS) return false;
    number = number * 10 + (text[i] - '0');
  }
  if (number < 1 || number > links) return false;
  *link = number - 1;
  for (*kind = 0; *kind < PSDMP_ROBOT_BODY_NAMES; ++*kind)
    if (strlen(psdmp_robot_body_names[*kind]) == letters && memcmp(psdmp_robot_body_names[*kind], text, letters) == 0)
      return true;
  return false;
}

/* ---- reading ---- */

typedef struct reader {
  const char *at, *end;
  int links;
  psdmp_robot_assumption *a;
} reader;

static void skip_spaces(reader *r) {
  while (r->at < r->end && *r->at == ' ') r->at++;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* digits, a point, an exponent: how long the number at the beginning is */
static size_t number_length(const char *text, size_t length) {
  size_t n = 0;
  while (n < length && (is_digit(text[n]) || text[n] == '.')) n++;
  size_t e = n + 1;
  if (n == 0 || n >= length || (text[n] != 'e' && text[n] != 'E')) return n;
  if (e < length && (text[e] == '+' || text[e] == '-')) e++;
  if (e >= length || !is_digit(text[e])) return n;
  while (e < length && is_digit(text[e])) e++;
  return e;
}

static bool add_term(psdmp_robot_assumption *a, double factor, int kind, int link) {
  for (int i = 0; i < a->terms; i++)
    if (a->term[i].kind == kind && a->term[i].link == link) {
      a->term[i].factor += factor;
      return true;
    }
  if (a->terms == PSDMP_ROBOT_ASSUMED_TERMS) return false;
  a->term[a->terms++] = (psdmp_robot_body_term){factor, kind, link};
  return true;
}

/* "2*rx1", "2 rx1", "rx1" or "2", times sign */
static bool parse_item(reader *r, double sign) {
  int kind, link;
  size_t digits = number_length(r->at, (size_t)(r->end - r->at));
  double factor = 1;
  if (digits && !psdmp_base_parse_number(r->at, digits, &factor)) return false;
  if (digits && !isfinite(factor)) return false;
  r->at += digits;
  skip_spaces(r);
  bool times = digits && r->at < r->end && *r->at == '*';
  if (times) r->at++;
  skip_spaces(r);
  const char *name = r->at;
  while (r->at < r->end && *r->at != ' ' && *r->at != '+' && *r->at != '-' && *r->at != '*') r->at++;
  if (r->at == name) { /* a number alone */
    r->a->value -= sign * factor;
    return digits && !times;
  }
  return parse_body_name(name, (size_t)(r->at - name), r->links, &kind, &link) &&
         add_term(r->a, sign * factor, kind, link);
}

/* one side: items with signs between them */
static bool parse_side(reader *r, double side) {
  skip_spaces(r);
  double sign = 1;
  if (r->at < r->end && (*r->at == '+' || *r->at == '-')) sign = *r->at++ == '-' ? -1 : 1;
  for (;;) {
    skip_spaces(r);
    if (r->at == r->end || !parse_item(r, side * sign)) return false;
    skip_spaces(r);
    if (r->at == r->end) return true;
    if (*r->at != '+' && *r->at != '-') return false;
    sign = *r->at++ == '-' ? -1 : 1;
  }
}

bool psdmp_robot_parse_assumption(const char *text, int links, psdmp_robot_assumption *a) {
  const char *equals = strchr(text, '=');
  reader left = {.at = text, .end = equals, .links = links, .a = a};
  int kept = 0;
  *a = (psdmp_robot_assumption){0};
  if (!equals) return false;
  reader right = {.at = equals + 1, .end = text + strlen(text), .links = links, .a = a};
  if (!parse_side(&left, 1) || !parse_side(&right, -1)) return false;
  for (int i = 0; i < a->terms; i++)
    if (a->term[i].factor != 0) a->term[kept++] = a->term[i];
  a->terms = kept;
  if (!kept) return false;
  double first = a->term[0].factor;
  for (int i = 0; i < kept; i++) a->term[i].factor /= first;
  a->value /= first;
  return isfinite(a->value) && isfinite(a->term[kept - 1].factor);
}

/* ---- writing: the first parameter on the left, the others on the right ---- */

static size_t put(char *buf, size_t size, size_t used, const char *text) {
  if (used < size) psdmp_base_print(buf + used, size - used, "%s", text);
  return used + strlen(text);
}

/* " + 2*" before a name, or " + 2" */
static size_t put_factor(char *buf, size_t size, size_t used, bool begins, double x, bool name) {
  char digits[32];
  psdmp_base_format_short(fabs(x), digits);
  used = put(buf, size, used, begins ? (x < 0 ? "-" : "") : x < 0 ? " - " : " + ");
  if (name && fabs(x) == 1) return used;
  used = put(buf, size, used, digits);
  return name ? put(buf, size, used, "*") : used;
}

static size_t put_name(char *buf, size_t size, size_t used, const psdmp_robot_body_term *t) {
  char name[24];
  psdmp_base_print(name, sizeof name, "%s%d", psdmp_robot_body_names[t->kind], t->link + 1);
  return put(buf, size, used, name);
}

void psdmp_robot_assumption_text(const psdmp_robot_assumption *a, char *buf, size_t size) {
  size_t used = put_name(buf, size, 0, &a->term[0]);
  used = put(buf, size, used, " = ");
  for (int i = 1; i < a->terms; i++) {
    used = put_factor(buf, size, used, i == 1, -a->term[i].factor, true);
    used = put_name(buf, size, used, &a->term[i]);
  }
  if (a->terms == 1 || a->value != 0) put_factor(buf, size, used, a->terms == 1, a->value, false);
}
