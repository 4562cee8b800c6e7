/* cmd_doctor_scale.c: resources of a run: threads, MPI ranks, a GPU. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_doctor.h"
#include "cmd_doctor_gpu.h"
#include "psdm/psdm.h"

/* ---- threads ---- */

void doctor_check_threads(findings *f) {
  const char *set = getenv("OMP_NUM_THREADS");
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = psdm_threads();
  finding *at = doctor_find(f, "threads", true, false, "%d will be used; %ld processor%s", threads, processors,
                            processors == 1 ? "" : "s");
  size_t length = strlen(at->detail);
  if (set && set[0]) snprintf(at->detail + length, sizeof at->detail - length, ", OMP_NUM_THREADS=%.40s", set);
  else if (threads < processors)
    snprintf(at->detail + length, sizeof at->detail - length, ", of which this process may not use more");
}

/* ---- ranks ---- */

/* "Open MPI" or "MPICH" in the version text of a program or library; NULL: unknown */
static const char *family_of(const char *words) {
  static const char *const spellings[][2] = {{"Open MPI", "Open MPI"},
                                             {"OpenRTE", "Open MPI"},
                                             {"MPICH", "MPICH"},
                                             {"HYDRA", "MPICH"},
                                             {"Intel(R) MPI", "Intel MPI"}};
  for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
    if (strstr(words, spellings[k][0])) return spellings[k][1];
  return NULL;
}

static void check_mpirun(findings *f, const char *library) {
  char full[1024], version[600];
  bool there = doctor_program("mpirun", full, sizeof full);
  if (!there) {
    doctor_install(doctor_find(f, "mpirun", false, false,
                               "not found: starts psdm on several processors or machines (so does SLURM's srun)"),
                   "openmpi-bin", false);
    return;
  }
  doctor_version_of(full, version, sizeof version);
  const char *own = family_of(version), *built = family_of(library);
  bool fits = !own || !built || strcmp(own, built) == 0;
  version[strcspn(version, "\n")] = '\0';
  finding *at =
      doctor_find(f, "mpirun", fits, false, "%.200s%s%.60s%s", full, own ? " (" : "", own ? own : "", own ? ")" : "");
  if (fits) return;
  size_t length = strlen(at->detail);
  snprintf(at->detail + length, sizeof at->detail - length, ": the plug-in was built with %s, ranks could not connect",
           built);
  doctor_install(at, strcmp(built, "Open MPI") == 0 ? "openmpi-bin" : "mpich", false);
}

void doctor_check_ranks(findings *f) {
  char where[300];
  check_mpirun(f, psdm_ranks_library(where, sizeof where) == PSDM_OK ? where : "");
}

/* ---- a GPU ---- */

/* 12 of "Cuda compilation tools, release 12.4, V12.4.131"; 0: unknown */
static int release_of(const char *version, char *text, size_t size) {
  const char *at = strstr(version, "release ");
  snprintf(text, size, "%.*s", at ? (int)strcspn(at + 8, ", \n") : 0, at ? at + 8 : "");
  return at ? (int)strtol(at + 8, NULL, 10) : 0;
}

static bool on_the_path(const char *full) {
  const char *path = getenv("PATH"), *slash = strrchr(full, '/');
  size_t folder = slash ? (size_t)(slash - full) : 0;
  for (; path && *path; path += strcspn(path, ":"), path += *path == ':')
    if (strcspn(path, ":") == folder && strncmp(path, full, folder) == 0) return true;
  return false;
}

/* named by NVCC, possibly with arguments, as in psdm reduce; else nvcc */
static bool find_nvcc(char *full, size_t size) {
  const char *named = getenv("NVCC");
  char program[512];
  if (!named || !named[0]) return doctor_program("nvcc", full, size);
  snprintf(program, sizeof program, "%.*s", (int)strcspn(named, " "), named);
  if (!strchr(program, '/')) return doctor_program(program, full, size);
  snprintf(full, size, "%s", program);
  return access(full, X_OK) == 0;
}

/* the major CUDA version that it targets; 0: missing or unknown */
static int check_nvcc(findings *f) {
  static const char use[] = "compiles CUDA code, also for psdm reduce and analyze --device cuda";
  const char *named = getenv("NVCC");
  char full[1024], version[600], release[32] = "";
  if (!find_nvcc(full, sizeof full)) {
    if (named && named[0]) doctor_find(f, "nvcc", false, false, "NVCC=%.200s: cannot be run", named);
    else doctor_install(doctor_find(f, "nvcc", false, false, "not found: %s", use), "nvidia-cuda-toolkit", false);
    return 0;
  }
  doctor_version_of(full, version, sizeof version);
  int major = release_of(version, release, sizeof release);
  finding *at =
      doctor_find(f, "nvcc", true, false, "%.200s%s%s: %s", full, release[0] ? " of CUDA " : "", release, use);
  if (!(named && named[0]) && !on_the_path(full)) { /* psdm reduce searches only the path */
    at->ok = false;
    snprintf(at->detail, sizeof at->detail, "%.200s is not on the path: %s", full, use);
    snprintf(at->fix, sizeof at->fix, "export NVCC=%.140s", full);
  }
  return major;
}

void doctor_check_gpu(findings *f) {
  static const char lost[] = "CUDA code is written here and runs elsewhere, psdm reduce uses the processors";
  doctor_gpu gpu;
  int compiler = check_nvcc(f);
  doctor_look_for_gpu(&gpu);
  int driver = gpu.cuda / 1000;
  if (!gpu.usable) {
    finding *at = doctor_find(f, "GPU", false, false, "%.200s: %s", gpu.why, lost);
    if (gpu.no_driver) doctor_install(at, "nvidia-driver", false);
  } else if (compiler > driver) {
    doctor_install(doctor_find(f, "GPU", false, false,
                               "%.100s: its driver supports CUDA %d.%d, nvcc is CUDA %d: compiled code would not load",
                               gpu.name, driver, gpu.cuda % 1000 / 10, compiler),
                   "nvidia-driver", false);
  } else {
    doctor_find(f, "GPU", true, false, "%.100s, %.0f GiB, compute capability %d.%d%s; driver of CUDA %d.%d", gpu.name,
                gpu.gibibytes, gpu.major, gpu.minor, gpu.others ? ", and others" : "", driver, gpu.cuda % 1000 / 10);
  }
}
