/* cmd_doctor_gpu.c: queries NVIDIA's driver. */
#define _POSIX_C_SOURCE 200809L
#include "cmd_doctor_gpu.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's functions return 0 on success. */
typedef struct driver {
  int (*begin)(unsigned flags);
  int (*version)(int *version);
  int (*count)(int *count);
  int (*device)(int *device, int number);
  int (*name)(char *name, int length, int device);
  int (*memory)(size_t *bytes, int device);
  int (*attribute)(int *value, int what, int device);
  int (*words)(int error, const char **text);
} driver;

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 }; /* numbers of the driver's attributes */

static bool find(void *library, const char *name, void *function, size_t size) {
  void *found = dlsym(library, name);
  memcpy(function, &found, size);
  return found != NULL;
}

#define FIND(to, name) find(library, name, &d->to, sizeof d->to)
static bool open_driver(driver *d) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library && FIND(begin, "cuInit") && FIND(version, "cuDriverGetVersion") && FIND(count, "cuDeviceGetCount") &&
         FIND(device, "cuDeviceGet") && FIND(name, "cuDeviceGetName") && FIND(memory, "cuDeviceTotalMem_v2") &&
         FIND(attribute, "cuDeviceGetAttribute") && FIND(words, "cuGetErrorString");
}

static bool starts_with(const char *folder, const char *device, const char *file, const char *wanted) {
  char path[600], text[16] = "";
  snprintf(path, sizeof path, "%s/%s/%s", folder, device, file);
  FILE *in = fopen(path, "r");
  if (!in) return false;
  bool read = fgets(text, sizeof text, in) != NULL;
  fclose(in);
  return read && strncmp(text, wanted, strlen(wanted)) == 0;
}

/* visible without a driver: NVIDIA's vendor number, and the PCI class of display controllers and the like */
static bool card_is_there(void) {
  static const char folder[] = "/sys/bus/pci/devices";
  DIR *devices = opendir(folder);
  bool found = false;
  for (struct dirent *at; devices && !found && (at = readdir(devices));)
    found = at->d_name[0] != '.' && starts_with(folder, at->d_name, "vendor", "0x10de") &&
            starts_with(folder, at->d_name, "class", "0x03");
  if (devices) closedir(devices);
  return found;
}

static void say(doctor_gpu *gpu, const driver *d, int error) {
  const char *text = NULL;
  if (d->words(error, &text) || !text) text = "unknown error";
  snprintf(gpu->why, sizeof gpu->why, "NVIDIA's driver is installed, but reports: %.120s", text);
}

void doctor_look_for_gpu(doctor_gpu *gpu) {
  driver d;
  int error, device = 0, count = 0;
  size_t bytes = 0;
  *gpu = (doctor_gpu){.usable = false};
  if (!open_driver(&d)) {
    gpu->no_driver = card_is_there();
    snprintf(gpu->why, sizeof gpu->why, "%s",
             gpu->no_driver ? "an NVIDIA GPU is present, but its driver is missing" : "no NVIDIA GPU found");
    return;
  }
  error = d.begin(0);
  if (!error) error = d.count(&count);
  if (!error && count > 0) error = d.device(&device, 0);
  if (error) {
    say(gpu, &d, error);
    return;
  }
  gpu->usable = count > 0 && !d.version(&gpu->cuda) && !d.name(gpu->name, sizeof gpu->name, device) &&
                !d.memory(&bytes, device) && !d.attribute(&gpu->major, CAPABILITY_MAJOR, device) &&
                !d.attribute(&gpu->minor, CAPABILITY_MINOR, device);
  gpu->others = count > 1;
  gpu->gibibytes = (double)bytes / (1024.0 * 1024.0 * 1024.0);
  if (!gpu->usable) snprintf(gpu->why, sizeof gpu->why, "NVIDIA's driver is installed, but finds no GPU");
}
