"""Rows of options for psdm codegen, one a line: covering.py ROWS, or covering.py full for the whole product.

The first rows hold every pair of values of two options; the others as many triples as there is room for."""
import itertools
import random
import sys

FACTORS = [
    ["--method auto", "--method recursive", "--method expanded"],
    ["--target c", "--target simd"],
    ["--real double", "--real float"],
    ["--theta baked", "--theta argument"],
    ["--sincos polynomial", "--sincos libm", "--sincos caller"],
    ["--optimise latency", "--optimise throughput"],
    ["", "--gravity-argument"],
    ["", "--payload"],
    ["", "--wrench"],
    ["", "--friction-columns", "--friction power", "--friction lugre"],
]
OUTSIDE = (6, 7, 8)  # what the closed form cannot take


def possible(row):
    return row[0] != 2 or not any(row[k] for k in OUTSIDE)


def parts(row, size):
    return {tuple((k, row[k]) for k in chosen) for chosen in itertools.combinations(range(len(FACTORS)), size)}


def product():
    return [row for row in itertools.product(*[range(len(f)) for f in FACTORS]) if possible(row)]


def covering(count):
    every, rng = product(), random.Random(2021)
    pairs = set().union(*[parts(row, 2) for row in every])
    triples = set().union(*[parts(row, 3) for row in every])
    for _ in range(count):
        draw = rng.sample(every, 60)
        best = max(draw, key=lambda row: (len(parts(row, 2) & pairs), len(parts(row, 3) & triples)))
        pairs -= parts(best, 2)
        triples -= parts(best, 3)
        yield best
    assert not pairs, "%d pairs are left out" % len(pairs)
    print("all pairs, all but %d triples" % len(triples), file=sys.stderr)


rows = product() if sys.argv[1] == "full" else covering(int(sys.argv[1]))
for row in rows:
    print(" ".join(FACTORS[k][v] for k, v in enumerate(row) if FACTORS[k][v]))
