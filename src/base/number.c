/* number.c: decimal text to numbers and back, the same in every locale. */
#define _GNU_SOURCE /* strtod_l, newlocale: POSIX.1-2008, guarded by glibc */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* a denormal written out in full has 327 characters after the point */
enum { LONGEST_NUMBER = 400, MOST_DIGITS = 19 };

static const double PI = 3.14159265358979323846;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* powers of ten that a double holds exactly */
static const double exact_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* the general case uses the C library, in the C locale; glibc's newlocale("C") does not allocate */
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

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;
enum { MOST_FIVES = 27 }; /* 5^27 < 2^63 */

/* high * 2^exponent, plus a little if there is a rest, rounded to the nearest double, ties to even; high >= 2^62 */
static double nearest(uint64_t high, bool rest, int exponent) {
  int drop = high >> 63 ? 11 : 10;
  uint64_t kept = high >> drop, below = high << (64 - drop), half = UINT64_C(1) << 63;
  kept += below > half || (below == half && (rest || kept & 1));
  union {
    uint64_t bits;
    double value;
  } power = {(uint64_t)(1023 + exponent + drop) << 52};
  return (double)kept * power.value;
}

/* mantissa * 10^ten with one rounding: 10^k = 5^k 2^k, and 128 bits hold a product or quotient by 5^k and whether there
 * is a remainder; mantissa > 0 */
static double wide_number(uint64_t mantissa, int ten) {
  static const uint64_t five[MOST_FIVES + 1] = {UINT64_C(1),
                                                UINT64_C(5),
                                                UINT64_C(25),
                                                UINT64_C(125),
                                                UINT64_C(625),
                                                UINT64_C(3125),
                                                UINT64_C(15625),
                                                UINT64_C(78125),
                                                UINT64_C(390625),
                                                UINT64_C(1953125),
                                                UINT64_C(9765625),
                                                UINT64_C(48828125),
                                                UINT64_C(244140625),
                                                UINT64_C(1220703125),
                                                UINT64_C(6103515625),
                                                UINT64_C(30517578125),
                                                UINT64_C(152587890625),
                                                UINT64_C(762939453125),
                                                UINT64_C(3814697265625),
                                                UINT64_C(19073486328125),
                                                UINT64_C(95367431640625),
                                                UINT64_C(476837158203125),
                                                UINT64_C(2384185791015625),
                                                UINT64_C(11920928955078125),
                                                UINT64_C(59604644775390625),
                                                UINT64_C(298023223876953125),
                                                UINT64_C(1490116119384765625),
                                                UINT64_C(7450580596923828125)};
  int fives = ten < 0 ? -ten : ten, up = __builtin_clzll(mantissa), by = __builtin_clzll(five[fives]);
  uint64_t a = mantissa << up, b = five[fives] << by;
  if (ten < 0) {
    uint128 top = (uint128)a << 63;
    uint64_t quotient = (uint64_t)(top / b); /* between 2^62 and 2^64 */
    return nearest(quotient, (uint128)quotient * b != top, by - up - 63 + ten);
  }
  uint128 product = (uint128)a * b;
  return nearest((uint64_t)(product >> 64), (uint64_t)product != 0, 64 - up - by + ten);
}
#else
enum { MOST_FIVES = -1 };
static double wide_number(uint64_t mantissa, int ten) { return (void)mantissa, (void)ten, 0; }
#endif

bool psdmp_base_parse_number(const char *text, size_t length, double *value) {
  const char *at = text, *end = text + length;
  if (!length || length > LONGEST_NUMBER) return false;
  bool negative = *at == '-';
  if (*at == '-' || *at == '+') at++;

  /* digits [. digits]; the first 19 significant ones are an integer below 2^64 */
  uint64_t mantissa = 0;
  int digits = 0, kept = 0, exponent = 0;
  for (bool point = false; at < end; at++) {
    unsigned digit = (unsigned)(*at - '0');
    if (digit > 9) {
      if (*at != '.' || point) break;
      point = true;
      continue;
    }
    digits++;
    exponent -= point;
    kept += mantissa || digit;
    if (kept <= MOST_DIGITS) mantissa = mantissa * 10 + digit;
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
  if (kept <= MOST_DIGITS && mantissa <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22)
    x = exponent < 0 ? (double)mantissa / exact_ten[-exponent] : (double)mantissa * exact_ten[exponent];
  else if (kept <= MOST_DIGITS && mantissa && exponent >= -MOST_FIVES && exponent <= MOST_FIVES)
    x = wide_number(mantissa, exponent);
  else x = fabs(slow_number(text, length));
  if (negative) x = -x;
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

/* an unsigned decimal; an e belongs to it only if an exponent follows */
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
  if (!psdmp_base_parse_number(c->at, (size_t)(at - c->at), value)) return false;
  c->at = at;
  return true;
}

/* angle = [+|-] ( number [[*] pi] | pi ) [/ number] [deg | rad] */
bool psdmp_base_parse_angle(const char *text, size_t length, double *value) {
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
  if (pi) x *= PI;
  else if (take_word(&c, "deg")) x *= PI / 180;
  else take_word(&c, "rad");
  skip_blanks(&c);
  if (c.at != c.end || !isfinite(x)) return false;
  *value = sign * x;
  return true;
}

/* ---- out ---- */

int psdmp_base_vprint(char *out, size_t size, const char *format, va_list args) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c ? uselocale(c) : (locale_t)0;
  int length = vsnprintf(out, size, format, args);
  if (c) {
    uselocale(before);
    freelocale(c);
  }
  return length;
}

int psdmp_base_print(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(out, size, format, args);
  va_end(args);
  return length;
}

static int format(double x, int digits, char out[32]) { return psdmp_base_print(out, 32, "%.*g", digits, x); }

int psdmp_base_format_exact(double x, char out[32]) { return format(x, 17, out); }

int psdmp_base_format_short(double x, char out[32]) {
  for (int digits = 6; digits < 17; digits += 3) {
    double back;
    int length = format(x, digits, out);
    if (psdmp_base_parse_number(out, (size_t)length, &back) && back == x) return length;
  }
  return format(x, 17, out);
}
