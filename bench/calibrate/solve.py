"""numpy's least squares on the matrix that calibrate.c wrote: rows per second, and whether the answers agree. solve.py FOLDER"""
import sys
import time

import numpy

folder = sys.argv[1]
with open(f"{folder}/theta.txt") as file:
    width, rows = map(int, file.readline().split())
    ours = numpy.array([float(line) for line in file])
A = numpy.fromfile(f"{folder}/matrix.bin").reshape(-1, width)
b = numpy.fromfile(f"{folder}/torque.bin")
best = float("inf")
for _ in range(2):
    started = time.perf_counter()
    theirs = numpy.linalg.lstsq(A, b, rcond=None)[0]
    best = min(best, time.perf_counter() - started)
started = time.perf_counter()
R = numpy.linalg.qr(numpy.column_stack([A, b]), mode="r")
qr = time.perf_counter() - started
print(f"  numpy {numpy.__version__} lstsq, matrix in memory          {rows / best:10.0f} rows/s")
print(f"  numpy {numpy.__version__} qr (R alone), matrix in memory   {rows / qr:10.0f} rows/s")
# the calibration omits ten rows at either end: the same robot within the noise, not to the last digit
used = slice(10 * (len(b) // rows), len(b) - 10 * (len(b) // rows))
theirs = numpy.linalg.lstsq(A[used], b[used], rcond=None)[0]
off = numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()
print(f"  largest difference of the answers {off:.1e}")
sys.exit(0 if off < 1e-9 else 1)
