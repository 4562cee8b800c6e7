/* cmd_doctor.c: psdm doctor: whether this installation works, and what is missing. */
#define _POSIX_C_SOURCE 200809L /* access, mkstemp */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_doctor.h"
#include "parts.h"
#include "tool.h"

#define DOCTOR_SETTINGS(X) X(flag, json, "", "", "write one JSON object")

PSDM_SETTINGS_STRUCT(doctor_settings, DOCTOR_SETTINGS);

#define SETTINGS_STRUCT doctor_settings
static const psdm_setting settings[] = {DOCTOR_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {NULL};

static const char help[] = "Checks that this installation works: versions, numbers in this locale, a temporary folder, "
                           "the recursions against each\n"
                           "other on a built-in robot, threads, the compiler, the solver, MPI, a GPU and the programs "
                           "that some commands use. For\n"
                           "everything that is missing it says what is unavailable and how to install it. Exit 0 when "
                           "all required parts work. With --quiet\n"
                           "it lists only what is missing.\n"
                           "\n"
                           "example:\n"
                           "  psdm doctor\n";

const command_line doctor_line = {"doctor", settings, positional, help};

finding *doctor_find(findings *f, const char *name, bool ok, bool required, const char *format, ...) {
  finding *at = &f->item[f->count < (int)(sizeof f->item / sizeof *f->item) - 1 ? f->count++ : f->count];
  *at = (finding){.ok = ok, .required = required};
  snprintf(at->name, sizeof at->name, "%s", name);
  va_list args;
  va_start(args, format);
  vsnprintf(at->detail, sizeof at->detail, format, args);
  va_end(args);
  return at;
}

void doctor_install(finding *at, const char *packages, bool build_again) {
  if (!at->ok)
    snprintf(at->fix, sizeof at->fix, "%sapt-get install %s%s", geteuid() ? "sudo " : "", packages,
             build_again ? ", then make build" : "");
}

/* ---- the parts ---- */

/* of what the library is linked with or opens at run time; NULL: it is not there */
static const char *version_of(const char *component) {
  const char *name, *version;
  for (int i = 0; (name = psdm_component(i, &version)); i++)
    if (strcmp(name, component) == 0) return version;
  return NULL;
}

static void check_plugin(findings *f, const char *title, const char *packages, const char *gives,
                         psdm_status (*find)(char *where, size_t size)) {
  char where[300];
  bool ok = find(where, sizeof where) == PSDM_OK;
  /* what the loader said of a plug-in, or the folders that were searched */
  const char *format = ok ? "%s: %s" : strstr(where, ".so") ? "%s: needed for %s" : "not found in %s: needed for %s";
  doctor_install(doctor_find(f, title, ok, false, format, where, gives), packages, true);
}

static void check_part(findings *f, const char *title, const char *packages, const char *gives, bool built_in) {
  const char *version = version_of(title);
  if (version) doctor_find(f, title, true, false, "%s: %s", version, gives);
  else
    doctor_install(
        doctor_find(f, title, false, false, "%s: needed for %s", built_in ? "not found" : "not built in", gives),
        packages, !built_in);
}

/* every row of cmake/parts.cmake */
static void check_parts(findings *f) {
  static const struct {
    const char *title, *packages, *gives;
    bool built_in;
  } parts[] = {
#define PART_ROW(name, title, packages, gives, found) {title, packages, gives, found},
      PSDM_PARTS(PART_ROW)
#undef PART_ROW
  };
  doctor_find(f, "library", strcmp(psdm_version(), PSDM_VERSION) == 0, true, "libpsdm %s, headers %s", psdm_version(),
              PSDM_VERSION);
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const char *title = parts[k].title, *packages = parts[k].packages, *gives = parts[k].gives;
    if (strcmp(title, "IPOPT plug-in") == 0) check_plugin(f, title, packages, gives, psdm_optimal_solver);
    else if (strcmp(title, "MPI plug-in") == 0) check_plugin(f, title, packages, gives, psdm_ranks_library);
    else check_part(f, title, packages, gives, parts[k].built_in);
  }
}

/* ---- the system ---- */

static void check_numbers(findings *f) {
  double x = 0;
  char text[32];
  setlocale(LC_ALL, "");
  bool ok = psdm_parse_number("1.5", &x) && x == 1.5 && strcmp(psdm_number_text(1.5, text), "1.5") == 0;
  doctor_find(f, "numbers", ok, true, "1.5 reads and prints as 1.5 in locale %s", setlocale(LC_NUMERIC, NULL));
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
  doctor_find(f, "temporary folder", fd >= 0, true, "%s", folder && folder[0] ? folder : "/tmp");
}

/* a tree with every kind of joint, small enough to be built in */
static const char robot_text[] =
    "{convention: dh, gravity: [1, -2, -9], joints: [{name: a, d: 0.3, a: 0.1, alpha: pi/2, drive_inertia: 0.2},"
    "{name: b, type: prismatic, d: 0.2, alpha: -pi/2}, {name: c, parent: a, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, "
    "0.5, 0.6]}, a: 0.4}],"
    "links: [{mass: 3, com: [0.1, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.05}},"
    "{mass: 2, com: [0, 0.1, 0.1], inertia: {xx: 0.02, yy: 0.03, zz: 0.03}},"
    "{mass: 1, com: [-0.2, 0, 0.05], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}]}";

/* forward must invert inverse, and the regressor must give the torques */
static double self_test_error(psdm_robot *robot, psdm_work *work) {
  enum { N = 3, P = 31 };
  const double q[N] = {0.3, 0.1, -0.7}, qd[N] = {0.5, -0.2, 0.9}, qdd[N] = {-0.4, 0.8, 0.6};
  double tau[N], back[N], Y[N * P], pi[P], worst = 0;
  if (psdm_robot_parameter_count(robot) != P || psdm_inverse(robot, work, q, qd, qdd, tau) ||
      psdm_forward(robot, work, q, qd, tau, back) || psdm_regressor_standard(robot, work, q, qd, qdd, Y))
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
  if (!psdm_robot_parse(robot_text, strlen(robot_text), "built-in", NULL, NULL, &robot, &error) &&
      !psdm_work_new(robot, NULL, &work))
    worst = self_test_error(robot, work);
  /* a handful of operations on numbers near one: 1e-12 leaves four digits of margin */
  doctor_find(f, "dynamics", worst < 1e-12, true, "inverse, forward and regressor agree to %.1e%s%s", worst,
              error.text[0] ? ": " : "", error.text);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* compiles a small function with the compiler and cache of bench and simulate */
static void check_compiler(findings *f) {
  psdm_robot *robot = NULL;
  psdm_code *code = NULL;
  psdm_compiled *compiled = NULL;
  psdm_error error = {0};
  const psdm_code_options options = {.functions = 1u << PSDM_F_GRAVITY, .prefix = "doctor", .effort = -1};
  const psdm_compile_options compile = {.native = true};
  bool ok = !psdm_robot_parse(robot_text, strlen(robot_text), "built-in", NULL, NULL, &robot, &error) &&
            !psdm_code_build(robot, &options, NULL, &code, &error) &&
            !psdm_compile(code, &compile, NULL, &compiled, &error);
  const psdm_compile_info *info = ok ? psdm_compiled_info(compiled) : NULL;
  doctor_install(doctor_find(f, "C compiler", ok, false,
                             ok ? "%s: compiles and loads generated code" : "%s: no psdm bench, slower simulations",
                             ok ? info->compiler : error.text),
                 "gcc", false);
  if (ok)
    doctor_find(f, "cache", !info->reason[0], false, "%s",
                info->reason[0] ? info->reason
                : info->cached  ? "compiled code is cached"
                                : "compiled code is kept");
  psdm_compiled_free(compiled);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

/* ---- programs ---- */

/* gnuplot for psdm report: from PSDM_GNUPLOT, a path or a name, else gnuplot */
static bool find_gnuplot(char *full, size_t size) {
  const char *named = getenv("PSDM_GNUPLOT");
  if (!named || !named[0]) return doctor_program("gnuplot", full, size);
  if (!strchr(named, '/')) return doctor_program(named, full, size);
  snprintf(full, size, "%s", named);
  return access(named, X_OK) == 0;
}

static void check_programs(findings *f) {
  static const struct {
    const char *program, *use, *packages;
  } programs[] = {{"gnuplot", "draws plots, in psdm report too", "gnuplot-nox"},
                  {"python3", "runs the Python package (pip install ./python)", "python3 python3-venv"}};
  char full[1024];
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    bool plots = strcmp(programs[i].program, "gnuplot") == 0,
         ok = plots ? find_gnuplot(full, sizeof full) : doctor_program(programs[i].program, full, sizeof full);
    const char *named = plots ? getenv("PSDM_GNUPLOT") : NULL;
    finding *found = doctor_find(f, programs[i].program, ok, false, "%s: %s", ok ? full : "not found", programs[i].use);
    if (!ok && named && named[0])
      snprintf(found->detail, sizeof found->detail, "PSDM_GNUPLOT=%.200s: cannot be run", named);
    else doctor_install(found, programs[i].packages, false);
  }
}

/* ---- results ---- */

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
    if (f->item[i].fix[0]) psdm_json_string(out, "fix", f->item[i].fix);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_close(out);
  return tool_commit(&out);
}

/* names of what does not work */
static void print_lacking(const findings *f, bool required) {
  int count = 0;
  for (int i = 0; i < f->count; i++)
    if (!f->item[i].ok && f->item[i].required == required) printf("%s%s", count++ ? ", " : "", f->item[i].name);
  printf("\n");
}

static void print_text(const findings *f, bool healthy, bool whole) {
  for (int i = 0; i < f->count; i++) {
    const finding *at = &f->item[i];
    if (at->ok && tool_quiet()) continue;
    printf("  %-5s %-20s %s\n", at->ok ? "ok" : at->required ? "FAIL" : "-", at->name, tool_safe(at->detail));
    if (at->fix[0]) printf("  %-5s %-20s install: %s\n", "", "", at->fix);
  }
  if (tool_quiet() && healthy) return;
  printf("%s%s%s", tool_bold(),
         whole     ? "everything works\n"
         : healthy ? "works, without: "
                   : "does not work: ",
         tool_plain());
  if (!whole) print_lacking(f, !healthy);
}

int cmd_doctor(int argc, char **argv) {
  doctor_settings set;
  static findings f; /* too large for the stack */
  int code = settings_parse(&doctor_line, argc, argv, &set, NULL);
  if (code >= 0) return code;
  check_parts(&f);
  check_numbers(&f);
  check_folder(&f);
  check_dynamics(&f);
  doctor_check_threads(&f);
  check_compiler(&f);
  check_programs(&f);
  doctor_check_ranks(&f);
  doctor_check_gpu(&f);
  bool healthy = true, whole = true;
  for (int i = 0; i < f.count; i++) healthy &= f.item[i].ok || !f.item[i].required, whole &= f.item[i].ok;
  if (set.json) code = print_json(&f, healthy);
  else print_text(&f, healthy, whole);
  if (!healthy) tool_warn("a required part does not work; see the checks above");
  return code > 0 ? code : healthy ? EXIT_OK : EXIT_USAGE;
}
