/* dense_search.c: which monomials a class of functions may contain. */

#include "derive/dense_priv.h"

void psdmp_derive_space_set(const psdm_robot *r, const psdm_model *m, psdmp_derive_space *s) {
  *s = (psdmp_derive_space){.m = m, .codes = 1};
  for (int j = 0; j < m->n; j++) s->codes *= PSDMP_DERIVE_BASIS;
  for (int b = 0; b < r->bodies; b++) {
    int j = r->joint[r->body[b].index].q;
    s->root[j] = r->body[b].parent < 0;
    for (int a = r->body[b].parent; a >= 0; a = r->body[a].parent) s->below[j][r->joint[r->body[a].index].q] = true;
  }
}

/* The highest degree of joint j in a class (the pre-filters of section 3.1.2):
 *   gravity is of degree one in every joint;
 *   nothing else depends on a joint on the base;
 *   D_ij has degree two only in joints that both i and j carry, one in those between them, and differentiating
 *   does not raise degrees: so qdd_a has degree two only below joint a, qd_a qd_b only below a or b. The paper's
 *   printed sizes need this filter too.
 * No digit stands for a squared sine. */
static int highest_degree(const psdmp_derive_space *s, int first, int second, int j) {
  if (first < 0) return 1;
  if (s->root[j]) return 0;
  return s->below[j][first] || (second >= 0 && s->below[j][second]) ? 2 : 1;
}

long psdmp_derive_search(const psdmp_derive_space *s, int first, int second, const unsigned char *candidate,
                         uint64_t *code) {
  int n = s->m->n, limit[PSDMP_DERIVE_DENSE_JOINTS];
  long count = 0;
  for (int j = 0; j < n; j++) limit[j] = highest_degree(s, first, second, j);
  for (long c = 0; c < s->codes; c++) {
    bool wanted = !candidate || candidate[c];
    for (int j = 0; j < n && wanted; j++)
      wanted = psdmp_derive_space_degree(s, j, psdmp_derive_space_digit(s, (uint64_t)c, j)) <= limit[j];
    if (!wanted) continue;
    if (code) code[count] = (uint64_t)c;
    count++;
  }
  return count;
}

/* digits in the derivative of a digit: s' = c, c' = -s, (sc)' = 2cc - 1, (cc)' = -2sc */
static const int turning[PSDMP_DERIVE_BASIS][2] = {{-1, -1}, {2, -1}, {1, -1}, {0, 4}, {3, -1}};

void psdmp_derive_search_derivatives(const psdmp_derive_space *s, uint64_t code, unsigned char *candidate) {
  candidate[code] = 1;
  for (int j = 0; j < s->m->n; j++) {
    int digit = psdmp_derive_space_digit(s, code, j);
    uint64_t rest = code - (uint64_t)digit * s->m->weight[j];
    if (s->m->prismatic[j]) {
      if (digit) candidate[rest + (uint64_t)(digit - 1) * s->m->weight[j]] = 1;
      continue;
    }
    for (int k = 0; k < 2; k++)
      if (turning[digit][k] >= 0) candidate[rest + (uint64_t)turning[digit][k] * s->m->weight[j]] = 1;
  }
}
