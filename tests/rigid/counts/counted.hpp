// counted.hpp: a number that counts what is done to it. Included before everything else, it takes the place of double,
// so that the library's own sources are counted as they stand. Doubling is an addition, a division a multiplication;
// signs are free.
#pragma once
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counted {
  double value;
  static long multiplications, additions;
  counted() = default;
  counted(double x) : value(x) {}
  counted operator-() const { return counted(-value); }
  counted &operator+=(counted b) { return additions++, value += b.value, *this; }
  counted &operator-=(counted b) { return additions++, value -= b.value, *this; }
  counted &operator*=(counted b) { return multiplications++, value *= b.value, *this; }
  counted &operator/=(counted b) { return multiplications++, value /= b.value, *this; }
};
inline counted operator+(counted a, counted b) { return a += b; }
inline counted operator-(counted a, counted b) { return a -= b; }
inline counted operator*(counted a, counted b) { return a *= b; }
inline counted operator/(counted a, counted b) { return a /= b; }
inline counted operator*(int k, counted a) { return k == 2 ? a + a : a * counted(k); }
inline bool operator>(counted a, counted b) { return a.value > b.value; }
inline bool operator<(counted a, counted b) { return a.value < b.value; }
inline bool operator<=(counted a, counted b) { return a.value <= b.value; }
inline bool operator>=(counted a, counted b) { return a.value >= b.value; }
inline bool operator==(counted a, counted b) { return a.value == b.value; }
inline bool operator!=(counted a, counted b) { return a.value != b.value; }
inline counted sqrt(counted a) { return counted::multiplications++, counted(::sqrt(a.value)); }
inline counted fabs(counted a) { return counted(::fabs(a.value)); }
inline counted fmax(counted a, counted b) { return counted(::fmax(a.value, b.value)); }
inline counted copysign(counted a, counted b) { return counted(::copysign(a.value, b.value)); }
inline counted atan2(counted a, counted b) { return counted(::atan2(a.value, b.value)); }
inline counted exp(counted a) { return counted(::exp(a.value)); }
inline counted pow(counted a, counted b) { return counted(::pow(a.value, b.value)); }

#define restrict __restrict__
#define _Alignof alignof
#define double counted
