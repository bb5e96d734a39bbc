"""Peers of the vector scan: numpy and faiss over the same numbers of random rows, one thread, the best 60.

  python scan.py [ROWSxDIMENSION ...]        default: 10000x256 10000x384 100000x256 100000x384

Run it right after or before `cargo bench -p casebook-index --bench vectors` on the same machine and compare ratios. Each
figure is the lower quartile of 41 rounds: what others do to the machine is only ever added.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import sys
import time

import faiss
import numpy as np

LIMIT = 60
ROUNDS = 41
DEFAULT = ["10000x256", "10000x384", "100000x256", "100000x384"]


def lower_quartile(work):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times)[ROUNDS // 4] * 1e3


def with_numpy(rows, query):
    scores = rows @ query
    best = np.argpartition(-scores, LIMIT)[:LIMIT]
    return best[np.argsort(-scores[best], kind="stable")]


def measure(count, dimension):
    random = np.random.default_rng(1)
    rows = random.standard_normal((count, dimension), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = random.standard_normal(dimension, dtype=np.float32)
    query /= np.linalg.norm(query)

    flat = faiss.IndexFlatIP(dimension)
    flat.add(rows)
    small = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    small.train(rows)
    small.add(rows)

    exact = set(with_numpy(rows, query).tolist())
    recall = {}
    for name, index in (("faiss FlatIP", flat), ("faiss SQ8", small)):
        found = index.search(query[None], LIMIT)[1][0]
        recall[name] = len(exact & set(found.tolist())) / LIMIT
    codes = rows.view(np.uint64)
    figures = [
        ("plain read of the f32 rows", lower_quartile(lambda: codes.max()), None),
        ("numpy", lower_quartile(lambda: with_numpy(rows, query)), 1.0),
        ("faiss FlatIP", lower_quartile(lambda: flat.search(query[None], LIMIT)), recall["faiss FlatIP"]),
        ("faiss SQ8", lower_quartile(lambda: small.search(query[None], LIMIT)), recall["faiss SQ8"]),
    ]
    for name, millis, found in figures:
        told = "" if found is None else f", {found:.3f} of the best {LIMIT}"
        print(f"{count} x {dimension}: {name} {millis:.3f} ms{told}", flush=True)


def main():
    faiss.omp_set_num_threads(1)
    for size in sys.argv[1:] or DEFAULT:
        count, dimension = size.split("x")
        measure(int(count), int(dimension))


if __name__ == "__main__":
    main()
