/* cmd_convert.c: psdm convert: writes a robot as YAML or URDF; reads tables of the PSDM MATLAB toolbox. */
#include "tool.h"

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

const command_line convert_line = {"convert", NULL, positional, help};

int cmd_convert(int argc, char **argv) { return tool_job_quiet(&convert_line, argc, argv); }
