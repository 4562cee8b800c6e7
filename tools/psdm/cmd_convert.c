/* cmd_convert.c: psdm convert: writes a robot as YAML or URDF; reads tables of the PSDM MATLAB toolbox. */
#include <string.h>

#include "tool.h"

#define CONVERT_SETTINGS(X)                                                                      \
  X(text, out, "-", "FILE", "output file, replaced only when complete; - is standard output")    \
  X(text, to, "", "yaml|urdf", "format (default: by the ending of --out, else yaml)")            \
  X(text, x, "", "FILE", "inertia table of the PSDM MATLAB toolbox; ROBOT is then its DH table") \
  X(flag, tables, "", "", "ROBOT is a DH table of the PSDM MATLAB toolbox, inertia unknown")     \
  X(flag, lossy, "", "", "write even what the format can express only in part")                  \
  PSDM_ROBOT_SETTINGS(X)

typedef struct convert_settings {
  CONVERT_SETTINGS(PSDM_SETTINGS_FIELD)
} convert_settings;

#define SETTINGS_STRUCT convert_settings
static const psdm_setting settings[] = {CONVERT_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] = "Writes a robot in another format, with the same dynamics, link names and link frames. "
                           "Fixed links, motors and the tool\n"
                           "become part of the moving link that carries them. What URDF cannot express (drive "
                           "inertias, couplings to several joints, ...) is\n"
                           "refused unless --lossy; gravity is not part of URDF either: repeat it with --gravity.\n"
                           "\n"
                           "The tables of the PSDM MATLAB toolbox are read from numeric CSV or .mat files: DH rows [a "
                           "alpha d theta (type) (sign)],\n"
                           "X rows [m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz (Im)].\n"
                           "\n"
                           "examples:\n"
                           "  psdm convert robots/kuka_kr6.yaml --out kr6.urdf\n"
                           "  psdm convert arm.urdf --tip flange --lock gripper=0 --out arm.yaml\n"
                           "  psdm convert DH.csv --x X.csv --gravity 0,0,-9.81 --out arm.yaml\n";

const command_line convert_line = {"convert", settings, positional, help};

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static int choose_format(const convert_settings *set, psdm_robot_format *format) {
  *format = ends_with(set->out, ".urdf") || ends_with(set->out, ".xml") ? PSDM_FORMAT_URDF : PSDM_FORMAT_YAML;
  if (!set->to) return -1;
  if (strcmp(set->to, "urdf") == 0) *format = PSDM_FORMAT_URDF;
  else if (strcmp(set->to, "yaml") == 0) *format = PSDM_FORMAT_YAML;
  else return tool_usage("convert", "--to '%s': yaml or urdf was expected", tool_safe(set->to));
  return -1;
}

static int check_losses(const psdm_robot *robot, psdm_robot_format format, bool lossy) {
  char text[160];
  int losses = 0;
  for (; psdm_robot_loss(robot, format, losses, text, sizeof text); losses++)
    tool_warn("URDF cannot express: %s", text);
  const double *g = psdm_robot_gravity(robot);
  if (format == PSDM_FORMAT_URDF && !(g[0] == 0 && g[1] == 0 && g[2] == -9.81))
    fprintf(stderr, "psdm: note: gravity is not part of URDF; read the file back with --gravity %g,%g,%g\n", g[0], g[1],
            g[2]);
  if (!losses || lossy) return -1;
  psdm_error error = {.status = PSDM_E_ROBOT};
  snprintf(error.text, sizeof error.text,
           "nothing was written, since %d thing%s would be lost; --lossy writes the rest", losses,
           losses == 1 ? "" : "s");
  return tool_fail(&error);
}

int cmd_convert(int argc, char **argv) {
  convert_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  psdm_robot_format format;
  psdm_output *out = NULL;
  int code = settings_parse(&convert_line, argc, argv, &set, &path);
  if (code < 0) code = choose_format(&set, &format);
  if (code < 0)
    code = set.x || set.tables ? tool_load_tables("convert", path, set.x, PSDM_ROBOT_SETTINGS_OF(&set), &robot)
                               : tool_load("convert", path, PSDM_ROBOT_SETTINGS_OF(&set), &robot);
  if (code < 0) code = check_losses(robot, format, set.lossy);
  if (code < 0) code = tool_open(set.out, &out);
  if (code < 0) {
    psdm_robot_write(robot, format, out);
    code = tool_commit(&out);
  }
  psdm_robot_free(robot);
  return code;
}
