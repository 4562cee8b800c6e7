#!/bin/bash
# IPOPT's sequential MUMPS contains MPI functions of its own; in a program of two ranks they must not take the place of the real ones, nor the other way round.
set -eu
command -v mpicc >/dev/null && command -v mpirun >/dev/null || exit 77
[ -e "$BUILD/lib/psdm/psdm_ipopt.so" ] && [ -e "$BUILD/libpsdm.so" ] && [ -z "${SANITIZE:-}" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/ranks.c" <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#include "psdm/optimal.h"
#include "psdm/psdm.h"

static const char text[] = "convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n";

/* each rank has a way of its own: 2 sqrt(d m / F) */
int main(int argc, char **argv) {
  int rank, size;
  psdm_robot *robot;
  psdm_optimal *optimal;
  psdm_error error;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double from[] = {0}, to[] = {1.0 + rank}, effort[] = {8};
  double own = -1, sum = 0, expected = 0;
  if (psdm_robot_parse(text, sizeof text - 1, "cart", NULL, NULL, &robot, &error)) return 1;
  if (psdm_optimal_new(robot, &(psdm_optimal_options){.from = from, .to = to, .effort = effort}, NULL, &optimal, &error)) {
    fprintf(stderr, "%s\n", error.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  own = optimal->seconds;
  psdm_optimal_free(optimal);
  psdm_robot_free(robot);
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < size; k++) expected += 2 * sqrt((1.0 + k) * 2 / 8);
  if (rank == 0) printf("%d ranks: sum %.9f, expected %.9f\n", size, sum, expected);
  MPI_Finalize();
  return size == 2 && fabs(sum - expected) < 1e-6 ? 0 : 1;
}
C
mpicc -std=c11 -O1 -I"$SOURCE/include" -I"$BUILD/include" "$work/ranks.c" -o "$work/ranks" -L"$BUILD" -lpsdm -Wl,-rpath,"$BUILD" -lm
timeout 120 mpirun --oversubscribe --allow-run-as-root -n 2 "$work/ranks"
