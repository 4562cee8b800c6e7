#define _POSIX_C_SOURCE 200809L /* access, mkstemp */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define DOCTOR_SETTINGS(X) X(flag, json, "", "", "write one JSON object")

typedef struct doctor_settings {
  DOCTOR_SETTINGS(SETTINGS_FIELD)
} doctor_settings;

#define SETTINGS_STRUCT doctor_settings
static const setting settings[] = {DOCTOR_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {NULL};

static const char help[] =
    "Checks that this installation works: versions, numbers in this locale, a temporary folder, and the recursions\n"
    "against each other on a built-in robot. Tells which optional tools are found. Exit 0 when all that is needed works.\n\n"
    "example:\n"
    "  psdm doctor\n";

const command_line doctor_line = {"doctor", settings, sizeof settings / sizeof *settings, positional, help};

typedef struct finding {
  char name[48], detail[160];
  bool ok, required;
} finding;

typedef struct findings {
  finding item[32];
  int count;
} findings;

static void find(findings *f, const char *name, bool ok, bool required, const char *format, ...) PSDM_PRINTF(5, 6);
static void find(findings *f, const char *name, bool ok, bool required, const char *format, ...) {
  finding *at = &f->item[f->count++];
  snprintf(at->name, sizeof at->name, "%s", name);
  va_list args;
  va_start(args, format);
  vsnprintf(at->detail, sizeof at->detail, format, args);
  va_end(args);
  at->ok = ok;
  at->required = required;
}

static bool has_component(const char *wanted) {
  const char *name;
  for (int i = 0; (name = psdm_component(i, NULL)); i++)
    if (strcmp(name, wanted) == 0) return true;
  return false;
}

static void check_versions(findings *f) {
  const char *name, *version;
  find(f, "library", strcmp(psdm_version(), PSDM_VERSION) == 0, true, "libpsdm %s, headers %s", psdm_version(), PSDM_VERSION);
  for (int i = 0; (name = psdm_component(i, &version)); i++) find(f, name, true, true, "%s", version);
  if (!psdm_integrator_available(PSDM_INTEGRATOR_ADAMS)) find(f, "SUNDIALS", false, false, "not built in: psdm simulate has fixed steps only; install libsundials-dev and build again");
  if (!has_component("NLopt")) find(f, "NLopt", false, false, "not built in: no psdm excite for inertia, no LuGre friction from logs; install libnlopt-dev and build again");
  if (!has_component("cminpack")) find(f, "cminpack", false, false, "not built in: no LuGre friction from logs; install libcminpack-dev and build again");
}

static void check_numbers(findings *f) {
  double x = 0;
  char text[32];
  setlocale(LC_ALL, "");
  bool ok = psdm_parse_number("1.5", &x) && x == 1.5 && strcmp(psdm_number_text(1.5, text), "1.5") == 0;
  find(f, "numbers", ok, true, "1.5 reads and prints as 1.5 in locale %s", setlocale(LC_NUMERIC, NULL));
  setlocale(LC_ALL, "C");
}

static void check_folder(findings *f) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/psdm-doctor-XXXXXX", folder && folder[0] ? folder : "/tmp");
  int fd = mkstemp(path);
  if (fd >= 0) {
    close(fd);
    unlink(path);
  }
  find(f, "temporary folder", fd >= 0, true, "%s", folder && folder[0] ? folder : "/tmp");
}

/* a tree with every kind of joint, small enough to live in the program */
static const char robot_text[] =
    "{convention: dh, gravity: [1, -2, -9], joints: [{name: a, d: 0.3, a: 0.1, alpha: pi/2, drive_inertia: 0.2},"
    "{name: b, type: prismatic, d: 0.2, alpha: -pi/2}, {name: c, parent: a, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, 0.5, 0.6]}, a: 0.4}],"
    "links: [{mass: 3, com: [0.1, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.05}},"
    "{mass: 2, com: [0, 0.1, 0.1], inertia: {xx: 0.02, yy: 0.03, zz: 0.03}},"
    "{mass: 1, com: [-0.2, 0, 0.05], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}]}";

/* forward after inverse gives the accelerations back, and the regressor the torques */
static double self_test_error(psdm_robot *robot, psdm_work *work) {
  enum { N = 3, P = 31 };
  const double q[N] = {0.3, 0.1, -0.7}, qd[N] = {0.5, -0.2, 0.9}, qdd[N] = {-0.4, 0.8, 0.6};
  double tau[N], back[N], Y[N * P], pi[P], worst = 0;
  if (psdm_robot_parameter_count(robot) != P || psdm_inverse(robot, work, q, qd, qdd, tau) || psdm_forward(robot, work, q, qd, tau, back) ||
      psdm_regressor_standard(robot, work, q, qd, qdd, Y))
    return INFINITY;
  psdm_robot_parameters(robot, pi);
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int k = 0; k < P; k++) sum += Y[i * P + k] * pi[k];
    worst = fmax(worst, fmax(fabs(back[i] - qdd[i]), fabs(sum - tau[i]) / fmax(1, fabs(tau[i]))));
  }
  return worst;
}

static void check_dynamics(findings *f) {
  psdm_robot *robot = NULL;
  psdm_work *work = NULL;
  psdm_error error = {0};
  double worst = INFINITY;
  if (!psdm_robot_parse(robot_text, strlen(robot_text), "built-in", NULL, NULL, &robot, &error) && !psdm_work_new(robot, NULL, &work))
    worst = self_test_error(robot, work);
  /* a handful of operations on numbers near one: 1e-12 leaves four digits of room */
  find(f, "dynamics", worst < 1e-12, true, "inverse, forward and regressor agree to %.1e%s%s", worst, error.text[0] ? ": " : "", error.text);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

static bool on_path(const char *program) {
  const char *path = getenv("PATH");
  char full[1024];
  while (path && *path) {
    size_t length = strcspn(path, ":");
    int written = snprintf(full, sizeof full, "%.*s/%s", (int)length, path, program);
    if (written > 0 && (size_t)written < sizeof full && access(full, X_OK) == 0) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

static void check_programs(findings *f) {
  static const struct {
    const char *program, *use;
  } programs[] = {{"cc", "compiles generated code"}, {"gnuplot", "draws plots"}, {"python3", "runs the Python package"}, {"nvcc", "compiles CUDA code"}};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    bool ok = on_path(programs[i].program);
    find(f, programs[i].program, ok, false, "%s (%s)", ok ? "found" : "not found", programs[i].use);
  }
}

static int print_json(const findings *f, bool healthy) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "doctor");
  psdm_json_string(out, "version", psdm_version());
  psdm_json_bool(out, "healthy", healthy);
  psdm_json_array(out, "checks");
  for (int i = 0; i < f->count; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", f->item[i].name);
    psdm_json_bool(out, "ok", f->item[i].ok);
    psdm_json_bool(out, "required", f->item[i].required);
    psdm_json_string(out, "detail", f->item[i].detail);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_close(out);
  return tool_commit(&out);
}

int cmd_doctor(int argc, char **argv) {
  doctor_settings set;
  findings f = {.count = 0};
  int code = settings_parse(&doctor_line, argc, argv, &set, NULL);
  if (code >= 0) return code;
  check_versions(&f);
  check_numbers(&f);
  check_folder(&f);
  check_dynamics(&f);
  check_programs(&f);
  bool healthy = true;
  for (int i = 0; i < f.count; i++) healthy &= f.item[i].ok || !f.item[i].required;
  if (set.json) code = print_json(&f, healthy);
  for (int i = 0; i < f.count && !set.json; i++)
    printf("  %-5s %-18s %s\n", f.item[i].ok ? "ok" : f.item[i].required ? "FAIL" : "-", f.item[i].name, f.item[i].detail);
  if (!set.json) printf("%s\n", healthy ? "all that is needed works" : "something that is needed does not work");
  return code > 0 ? code : healthy ? EXIT_OK : EXIT_USAGE;
}
