"""Distils the static zh/en encoder: vocabulary, teacher vectors, training, int8 export, evaluation, model card.

  python3 distill.py --train DIR --out DIR [--wordnet DIR] [--exclude DIR] [--teacher use] [--data DIR]
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "2")

import argparse
import gzip
import hashlib
import lzma
import pathlib
import time

import numpy as np

import card
import corpus
import evaluate
import golden
import model_file
import notices
import teacher
import train
import vocab
from tokenizer import Tokenizer

DIMS, HIDDEN, SEED = 256, 256, 1
STEPS, BATCH, RUNS = 600, 1024, 3
RATES = (2e-3, 1e-3, 5e-3)
DECAY, DROP = 3.0, 0.0
NAME = "static-zhen-256.bin"


def language_means(table, data):
    """Mean text vector of Chinese and of English bodies; an index may subtract them."""
    out = []
    for name in ("cloze_zh", "cloze_en"):
        pairs = next(p for p in data if p.name == name)
        out.append(evaluate.embed(table, [np.concatenate(b) for b in pairs.left[:4000]]).mean(0))
    return np.array(out)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--train", required=True, help="folder with par.jsonl, h2b.jsonl, mono_en.jsonl, mono_zh.jsonl, SOURCES.md")
    ask.add_argument("--out", required=True)
    ask.add_argument("--teacher", default="use", choices=sorted(teacher.TEACHERS))
    ask.add_argument("--data", help="evaluation folders; without it the card has no metrics")
    ask.add_argument("--wordnet", default=vocab.WORDNET, help="WordNet 3.0 with data.noun etc. (Debian package wordnet-base)")
    ask.add_argument("--exclude", help="folder with corpus.jsonl: text that shares a run of eight words with it is left out")
    ask.add_argument("--steps", type=int, default=STEPS)
    args = ask.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    clock = time.process_time

    start = clock()
    pieces, fold, frequency = vocab.build(args.train, args.wordnet)
    tokenizer = Tokenizer(pieces, fold)
    print(f"vocabulary: {len(pieces)} pieces, {len(fold)} folds, {clock() - start:.0f} CPU-s", flush=True)

    start = clock()
    vectors = teacher.centred(teacher.TEACHERS[args.teacher](pieces))
    print(f"teacher: {vectors.shape}, {clock() - start:.0f} CPU-s", flush=True)

    start = clock()
    data = corpus.load(args.train, tokenizer.encode, args.wordnet, args.exclude)
    print("text:", {p.name: len(p.left) for p in data}, f"{clock() - start:.0f} CPU-s", flush=True)

    start = clock()
    make = lambda: train.Model(vectors, frequency, DIMS, HIDDEN, SEED)
    settings = {"steps": args.steps, "batch": BATCH, "seed": SEED, "decay": DECAY, "drop": DROP, "rates": RATES}
    trained = train.averaged(make, RUNS, data=data, **settings)
    spent = clock() - start

    rows, scale = model_file.quantise(trained)
    table = model_file.table(rows, scale)
    path = out / NAME
    model_file.write(path, pieces, fold, rows, scale, language_means(table, data))
    blob = path.read_bytes()
    digest = hashlib.sha256(blob).hexdigest()
    (out / f"{NAME}.sha256").write_text(f"{digest}  {NAME}\n")
    sizes = {"raw": len(blob), "gzip": len(gzip.compress(blob, 9)), "xz": len(lzma.compress(blob))}
    print(f"{path}: {sizes} sha256 {digest}", flush=True)

    with open(out / "golden.jsonl", "w", encoding="utf-8") as file:
        file.writelines(golden.records(tokenizer, table))
    dense = chain = None
    if args.data:
        cache = evaluate.Cache(args.data, tokenizer.encode)
        dense = evaluate.dense(table, cache)
        chain = evaluate.chain(table, cache, fold)
        evaluate.write(out / "metrics.tsv", dense, chain)
        print(f"mean of the ten sets, dense MRR@10 {evaluate.mean(dense):.4f}, chain {evaluate.mean(chain):.4f}")
    facts = {"teacher": args.teacher, "steps": args.steps, "batch": BATCH, "runs": RUNS, "seconds": spent, "dims": DIMS}
    (out / "model-card.md").write_text(card.text(args.train, digest, sizes, len(pieces), facts, dense, chain))
    (out / "NOTICES.md").write_text(notices.text(args.train, args.wordnet), encoding="utf-8")


if __name__ == "__main__":
    main()
