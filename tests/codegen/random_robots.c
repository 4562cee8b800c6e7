/* Writes random robot files: random_robots COUNT DIRECTORY, as DIRECTORY/0.yaml and so on. One to four joints;
 * couplings, trees, sliding joints and drives in turn. PSDM_SEED is the seed. Compiled by deep_codegen.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

int main(int argc, char **argv) {
  static char text[64 * 1024], path[512];
  int count = argc == 3 ? atoi(argv[1]) : 0;
  rng g = rng_start("random robots");
  for (int k = 0; k < count; k++) {
    random_options options = {.n_min = 1 + k % 2,
                              .n_max = 2 + k % 3,
                              .coupled = k % 4 == 1,
                              .trees = k % 3 == 1,
                              .prismatic = k % 2,
                              .drives = k % 5 < 3};
    snprintf(path, sizeof path, "%s/%d.yaml", argv[2], k);
    FILE *f = fopen(path, "w");
    if (!f) return 2;
    fprintf(f, "name: random%d\n%s", k, random_robot_text(&g, &options, text, sizeof text));
    if (fclose(f)) return 2;
  }
  return count <= 0;
}
