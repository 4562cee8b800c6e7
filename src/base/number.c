/* number.c: decimal text in and out, the same in every locale. */
#define _GNU_SOURCE /* strtod_l, newlocale: POSIX.1-2008 behind glibc's guard */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { LONGEST_NUMBER = 400 }; /* a denormal written out in full has 327 characters behind the point */

static const double PI = 3.14159265358979323846;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* powers of ten that a double holds exactly */
static const double exact_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* the general case goes to the C library, in the C locale; glibc answers newlocale("C") without allocating */
static double slow_number(const char *text, size_t length) {
  char copy[LONGEST_NUMBER + 1];
  memcpy(copy, text, length);
  copy[length] = '\0';
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return strtod(copy, NULL);
  double value = strtod_l(copy, NULL, c);
  freelocale(c);
  return value;
}

bool psdmp_parse_number(const char *text, size_t length, double *value) {
  const char *at = text, *end = text + length;
  if (!length || length > LONGEST_NUMBER) return false;
  bool negative = *at == '-';
  if (*at == '-' || *at == '+') at++;

  /* digits [. digits], collected while they fit 19 decimal places of an integer */
  uint64_t mantissa = 0;
  int digits = 0, kept = 0, exponent = 0;
  for (bool point = false; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
    if (*at == '.') {
      point = true;
      continue;
    }
    digits++;
    if (kept < 19 && (mantissa || *at != '0')) kept++;
    if (kept < 19) mantissa = mantissa * 10 + (uint64_t)(*at - '0'), exponent -= point;
  }
  if (!digits) return false;

  /* [e [sign] digits] */
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    bool down = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return false;
    int e = 0;
    for (; at < end && is_digit(*at); at++)
      if (e < 100000) e = e * 10 + (*at - '0');
    exponent += down ? -e : e;
  }
  if (at != end) return false;

  /* exact when mantissa and power both are: one rounding (Clinger 1990) */
  double x;
  if (kept < 19 && mantissa <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22) {
    x = exponent < 0 ? (double)mantissa / exact_ten[-exponent] : (double)mantissa * exact_ten[exponent];
    if (negative) x = -x;
  } else {
    x = slow_number(text, length);
  }
  if (!isfinite(x)) return false;
  *value = x;
  return true;
}

/* ---- angles ---- */

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
}

static bool take_word(cursor *c, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return false;
  c->at += n;
  return true;
}

/* an unsigned decimal; an e belongs to it only with an exponent behind it */
static bool take_number(cursor *c, double *value) {
  const char *at = c->at;
  while (at < c->end && (is_digit(*at) || *at == '.')) at++;
  if (at < c->end && (*at == 'e' || *at == 'E')) {
    const char *e = at + 1;
    if (e < c->end && (*e == '-' || *e == '+')) e++;
    if (e < c->end && is_digit(*e)) {
      while (e < c->end && is_digit(*e)) e++;
      at = e;
    }
  }
  if (!psdmp_parse_number(c->at, (size_t)(at - c->at), value)) return false;
  c->at = at;
  return true;
}

/* angle = [+|-] ( number [[*] pi] | pi ) [/ number] [deg | rad] */
bool psdmp_parse_angle(const char *text, size_t length, double *value) {
  cursor c = {text, text + length};
  skip_blanks(&c);
  double sign = take_word(&c, "-") ? -1 : (take_word(&c, "+"), 1), x = 1, divisor;
  skip_blanks(&c);
  bool number = take_number(&c, &x);
  skip_blanks(&c);
  if (number && take_word(&c, "*")) {
    skip_blanks(&c);
    if (c.at == c.end || *c.at != 'p') return false;
  }
  bool pi = take_word(&c, "pi");
  if (!number && !pi) return false;
  skip_blanks(&c);
  if (take_word(&c, "/")) {
    skip_blanks(&c);
    if (!take_number(&c, &divisor) || divisor == 0) return false;
    x /= divisor;
    skip_blanks(&c);
  }
  if (pi)
    x *= PI;
  else if (take_word(&c, "deg"))
    x *= PI / 180;
  else
    take_word(&c, "rad");
  skip_blanks(&c);
  if (c.at != c.end || !isfinite(x)) return false;
  *value = sign * x;
  return true;
}

/* ---- out ---- */

static int format(double x, int digits, char out[32]) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c ? uselocale(c) : (locale_t)0;
  int length = snprintf(out, 32, "%.*g", digits, x);
  if (c) {
    uselocale(before);
    freelocale(c);
  }
  return length;
}

int psdmp_format_exact(double x, char out[32]) { return format(x, 17, out); }

int psdmp_format_short(double x, char out[32]) {
  for (int digits = 6; digits < 17; digits += 3) {
    double back;
    int length = format(x, digits, out);
    if (psdmp_parse_number(out, (size_t)length, &back) && back == x) return length;
  }
  return format(x, 17, out);
}
