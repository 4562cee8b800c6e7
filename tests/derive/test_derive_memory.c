/* Every allocation of every route fails once: each piece of an arena is its own allocation here (tests/CMakeLists.txt).
 * The answer is PSDM_E_MEMORY with its message, nothing leaks, no write goes beyond a piece, and the final answer is
 * right. */
#include <stdio.h>
#include <string.h>

#include "fenced.h"
#include "psdm/symbolic.h"

static const char plain[] = "convention: dh\njoints: [{a: 0.5, drive_inertia: 0.2}, {type: prismatic, a: 0.3, alpha: "
                            "0.4, drive_inertia: unknown}]\n";
static const char coupled[] = "convention: dh\njoints: [{name: s, a: 0.5, alpha: pi/2, drive_inertia: 0.2}, {name: e, "
                              "a: 0.3, couple: {s: -1}}]\n";
static const char *const assume[] = {"rz1 = 0", "Ixx1 = 0", "Iyy1 = 0", "Izz1 = 0"} /* ZZ1 = XX1 + YY1 */,
                         *const names[] = {"a1=L1"};

/* one way to an answer */
typedef struct route {
  const char *name, *robot;
  psdm_status (*run)(const psdm_robot *robot, const struct route *route, const psdm_allocator *allocator,
                     psdm_error *error);
  psdm_derive_options derive;
  psdm_base_parameters_options params;
} route;

static psdm_status run_derive(const psdm_robot *r, const route *of, const psdm_allocator *a, psdm_error *error) {
  psdm_model *m;
  psdm_status status = psdm_model_derive(r, &of->derive, a, &m, NULL, error);
  assert_true(!status == (m != NULL));
  psdm_model_free(m);
  return status;
}

static psdm_status run_structure(const psdm_robot *r, const route *of, const psdm_allocator *a, psdm_error *error) {
  psdm_model *m;
  psdm_status status = psdm_base_parameters_derive(r, &of->derive, a, &m, NULL, error);
  assert_true(!status == (m != NULL));
  psdm_model_free(m);
  return status;
}

static psdm_status run_samples(const psdm_robot *r, const route *of, const psdm_allocator *a, psdm_error *error) {
  psdm_base_parameters *p;
  psdm_status status = psdm_base_parameters_solve(r, &of->params, a, &p, error);
  assert_true(!status == (p != NULL));
  psdm_base_parameters_free(p);
  return status;
}

static psdm_status run_symbols(const psdm_robot *r, const route *of, const psdm_allocator *a, psdm_error *error) {
  psdm_model *m;
  psdm_symbolic *s;
  const psdm_symbolic_options o = {
      .assume_count = of->derive.assume_count, .assume = of->derive.assume, .rename_count = 1, .rename = names};
  assert_int_equal(psdm_base_parameters_derive(r, &of->derive, NULL, &m, NULL, NULL), PSDM_OK);
  psdm_status status = psdm_symbolic_derive(r, m, &o, a, &s, error);
  assert_true(!status == (s != NULL));
  psdm_symbolic_free(s);
  psdm_model_free(m);
  return status;
}

static psdm_status run_check(const psdm_robot *r, const route *of, const psdm_allocator *a, psdm_error *error) {
  psdm_model *m;
  double residual;
  assert_int_equal(psdm_model_derive(r, &of->derive, NULL, &m, NULL, NULL), PSDM_OK);
  psdm_status status = psdm_model_check(r, m, &of->derive, 2, a, &residual, error);
  assert_true(status || residual < 1e-13);
  psdm_model_free(m);
  return status;
}

static const route routes[] = {
    {"exact", plain, run_derive, {0}, {0}},
    {"assumed", plain, run_derive, {.assume_count = 4, .assume = assume}, {0}},
    {"coupled", coupled, run_derive, {0}, {0}},
    {"echelon", plain, run_derive, {.basis = PSDM_BASIS_ECHELON}, {0}},
    {"dense", plain, run_derive, {.method = PSDM_METHOD_DENSE}, {0}},
    {"dense, assumed", plain, run_derive, {.method = PSDM_METHOD_DENSE, .assume_count = 4, .assume = assume}, {0}},
    {"check", plain, run_check, {0}, {0}},
    {"structure", plain, run_structure, {0}, {0}},
    {"structure, assumed", plain, run_structure, {.assume_count = 4, .assume = assume}, {0}},
    {"structure, coupled", coupled, run_structure, {0}, {0}},
    {"samples by QR", plain, run_samples, {0}, {.no_scaling = true}},
    {"samples by SVD",
     plain,
     run_samples,
     {0},
     {.sampling = PSDM_SAMPLE_D0, .solver = PSDM_SOLVER_SVD, .no_scaling = true}},
    {"energies",
     plain,
     run_samples,
     {0},
     {.sampling = PSDM_SAMPLE_H, .no_scaling = true, .assume_count = 4, .assume = assume}},
    {"symbols", plain, run_symbols, {0}, {0}},
    {"symbols, assumed", plain, run_symbols, {.assume_count = 4, .assume = assume}, {0}},
    {"symbols, coupled", coupled, run_symbols, {0}, {0}},
};

static void every_allocation_fails(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
    const route *of = &routes[k];
    psdm_robot *r = parse_robot(of->robot);
    long n = 1;
    for (;; n++) {
      counting c;
      psdm_error error = {0};
      counting_fenced_init(&c, n);
      psdm_status status = of->run(r, of, &c.allocator, &error);
      if (c.live != 0) fail_msg("%s: %ld pieces leak when allocation %ld fails", of->name, c.live, n);
      if (c.calls < n) {
        assert_int_equal(status, PSDM_OK);
        break;
      }
      if (status != PSDM_E_MEMORY || error.status != PSDM_E_MEMORY || !strstr(error.text, "memory") || error.line ||
          error.column)
        fail_msg("%s, allocation %ld: %s, '%s'", of->name, n, psdm_status_text(status), error.text);
    }
    printf("%s: %ld allocations\n", of->name, n - 1);
    assert_true(n > 10);
    psdm_robot_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
