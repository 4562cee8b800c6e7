/* corpus.c: the stored inputs of a fuzz target, once each, without libFuzzer: corpus_NAME FOLDER... They keep every
 * finding of the fuzzers under test. */
#define _GNU_SOURCE /* scandir */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_file(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  static uint8_t data[1 << 20];
  if (!file) exit((perror(path), 2));
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  printf("%s\n", name);
  fflush(stdout);                           /* the last name is the one that failed */
  uint8_t *exact = malloc(size ? size : 1); /* so that a read beyond the end is detected */
  if (!exact) exit(2);
  memcpy(exact, data, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

int main(int count, char **folder) {
  int files = 0;
  for (int k = 1; k < count; k++) {
    struct dirent **entry;
    int found = scandir(folder[k], &entry, NULL, alphasort);
    for (int i = 0; i < found; i++) {
      if (entry[i]->d_name[0] != '.') run_file(folder[k], entry[i]->d_name), files++;
      free(entry[i]);
    }
    if (found >= 0) free(entry);
  }
  printf("%d inputs\n", files);
  return files ? 0 : 2;
}
