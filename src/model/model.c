/* model.c: parts of a derived model: classes, functions as exponents and text, coefficients, base parameters. */
#include "psdm/model.h"

#include <stdio.h>
#include <string.h>

#include "model/model.h"

void psdm_model_free(psdm_model *model) {
  if (!model) return;
  psdmp_base_arena_free_owner(&model->arena, model);
}

const char *psdm_model_name(const psdm_model *m) { return m->name; }
int psdm_model_n(const psdm_model *m) { return m->n; }
long psdm_model_p(const psdm_model *m) { return m->p; }
int psdm_model_l(const psdm_model *m) { return m->l; }
long psdm_model_entries(const psdm_model *m) { return m->P_start[m->p]; }
int psdm_model_classes(const psdm_model *m) { return m->classes; }
int psdm_model_standard_count(const psdm_model *m) { return m->standard; }

long psdm_model_class_start(const psdm_model *m, int index) {
  return index < 0 ? 0 : m->class_start[index < m->classes ? index : m->classes];
}

void psdm_model_class_rates(const psdm_model *m, int index, int *first, int *second) {
  *first = *second = -1;
  if (index < 1) return;
  *first = (index - 1) % m->n;
  if (index <= m->n) return;
  *second = *first;
  if (index <= 2 * m->n) return;
  int pair = index - 1 - 2 * m->n;
  for (*first = 0; pair >= m->n - 1 - *first; ++*first) pair -= m->n - 1 - *first;
  *second = *first + 1 + pair;
}

/* ---- functions ---- */

static int class_of_function(const psdm_model *m, long f) {
  int low = 0, high = m->classes; /* the last class that starts at or before f lies in [low, high) */
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (m->class_start[middle] <= f) low = middle;
    else high = middle;
  }
  return low;
}

static int digit_of(const psdm_model *m, uint64_t code, int j) {
  return (int)(code / m->weight[j] % (uint64_t)m->radix[j]);
}

void psdm_model_exponents(const psdm_model *m, long f, unsigned char *e) {
  int n = m->n, first, second;
  memset(e, 0, (size_t)(5 * n));
  for (int j = 0; j < n; j++) {
    int digit = digit_of(m, m->code[f], j);
    if (m->prismatic[j]) {
      e[j] = (unsigned char)digit;
    } else {
      e[n + j] = (unsigned char)(digit % 2);
      e[2 * n + j] = (unsigned char)(digit / 2);
    }
  }
  psdm_model_class_rates(m, class_of_function(m, f), &first, &second);
  if (first >= 0 && second < 0) e[4 * n + first]++;
  if (second >= 0) e[3 * n + first]++, e[3 * n + second]++;
}

char *psdm_model_function_text(const psdm_model *m, long f, char *buf, size_t size) {
  static const char *const symbol[] = {"q", "s", "c", "qd", "qdd"};
  unsigned char e[5 * 64];
  size_t used = 0;
  if (size) buf[0] = '\0';
  if (m->n > 64 || f < 0 || f >= m->p) return buf;
  psdm_model_exponents(m, f, e);
  if (f < m->class_start[1]) used += (size_t)snprintf(buf, size, "g");
  for (int k = 0; k < 5 * m->n && used < size; k++) {
    if (!e[k]) continue;
    used += (size_t)snprintf(buf + used, size - used, "%s%s%d", used ? " " : "", symbol[k / m->n], k % m->n + 1);
    if (e[k] > 1 && used < size) used += (size_t)snprintf(buf + used, size - used, "^%d", e[k]);
  }
  return buf;
}

void psdm_model_entry(const psdm_model *m, long entry, long *function, int *joint, int *parameter, double *value) {
  long low = 0, high = m->p;
  while (high - low > 1) {
    long middle = (low + high) / 2;
    if (m->P_start[middle] <= entry) low = middle;
    else high = middle;
  }
  *function = low;
  *joint = m->P[entry].joint;
  *parameter = m->P[entry].parameter;
  *value = m->P[entry].value;
}

/* ---- base parameters ---- */

const char *psdm_model_base_name(const psdm_model *m, int j) {
  if (j < 0 || j >= m->l) return NULL;
  return m->base[j].name ? m->base[j].name : m->standard_name[m->base[j].parameter];
}

int psdm_model_base_terms(const psdm_model *m, int j) { return m->base[j].terms; }

double psdm_model_base_term(const psdm_model *m, int j, int term, int *parameter) {
  *parameter = m->base[j].term[term].parameter;
  return m->base[j].term[term].coefficient;
}

char *psdm_model_standard_name(const psdm_model *m, int k, char *buf, size_t size) {
  snprintf(buf, size, "%s", k >= 0 && k < m->standard ? m->standard_name[k] : "");
  return buf;
}

psdm_parameter_fate psdm_model_fate(const psdm_model *m, int k) { return (psdm_parameter_fate)m->fate[k]; }

void psdm_model_theta(const psdm_model *m, const double *pi, double *theta) {
  for (int j = 0; j < m->l; j++) {
    theta[j] = 0;
    for (int t = 0; t < m->base[j].terms; t++)
      theta[j] += m->base[j].term[t].coefficient * pi[m->base[j].term[t].parameter];
  }
}

void psdmp_model_set_fates(psdm_model *m) {
  for (int k = 0; k < m->standard; k++) m->fate[k] = PSDM_FATE_NO_EFFECT;
  for (int j = 0; j < m->l; j++)
    for (int t = 1; t < m->base[j].terms; t++) m->fate[m->base[j].term[t].parameter] = PSDM_FATE_REGROUPED;
  for (int j = 0; j < m->l; j++)
    m->fate[m->base[j].parameter] = m->base[j].terms > 1 ? PSDM_FATE_GROUPED_INTO : PSDM_FATE_UNCHANGED;
}
