"""Retrieval quality of a table on folders of corpus.jsonl, queries.jsonl, qrels.tsv.

  python3 evaluate.py --model static-zhen-256.bin --data DIR [--chain] [--out metrics.tsv]
"""

import argparse
import collections
import json
import pathlib
import re

import numpy as np

import train as training


def rows(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def qrels(path):
    out = collections.defaultdict(set)
    for line in open(path, encoding="utf-8"):
        f = line.split()
        if len(f) == 4 and float(f[3]) > 0:
            out[f[0]].add(f[2])
    return out


class Set:
    """One searched corpus: docs, queries, relevant ids, and whether a query sees only its scope."""

    def __init__(self, name, docs, queries, relevant, scoped=False):
        self.name, self.docs, self.scoped = name, docs, scoped
        self.queries = [q for q in queries if relevant.get(q["id"])]
        self.relevant = relevant


def folder(name, path, suffix="", scoped=False):
    path = pathlib.Path(path)
    return Set(
        name, rows(path / f"corpus{suffix}.jsonl"), rows(path / "queries.jsonl"), qrels(path / f"qrels{suffix}.tsv"), scoped
    )


def heading(text):
    found = re.match(r"#+ (.+?)(?: *\{.*\})?\n", text)
    return found.group(1) if found else None


def sections_of(data, lang):
    """Own title and heading -> body of the section, inside one language (made from the devdocs sections)."""
    docs, queries, relevant = [], [], {}
    for row in rows(f"{data}/devdocs/corpus_sections.jsonl"):
        head = heading(row["text"])
        body = row["text"].split("\n", 1)[1].strip() if head and "\n" in row["text"] else ""
        if row["lang"] != lang or len(body) < 80 or head == row["title"]:
            continue
        docs.append({"id": row["id"], "title": "", "text": body[: 700 if lang == "en" else 350], "lang": lang})
        queries.append({"id": row["id"], "text": f"{row['title']} {head}", "lang": lang})
        relevant[row["id"]] = {row["id"]}
    keep = sorted(queries, key=lambda q: hash_of(q["id"]))[:600]
    docs = sorted(docs, key=lambda q: hash_of(q["id"]))[:600]
    return docs, keep, relevant


def hash_of(text):
    import zlib

    return zlib.crc32(text.encode())


def sets(data):
    """Yields lists of Set under one reported name; their queries are pooled."""
    for pair in ("zh-zh", "en-en", "zh-en", "en-zh"):
        yield f"xquad {pair}", [folder("", f"{data}/xquad/{pair}")]
    yield "cmrc2018", [folder("", f"{data}/cmrc2018")]
    for lang in ("zh", "en"):
        yield f"dev {lang}-{lang}", [Set("", *sections_of(data, lang))]
    files = folder("", f"{data}/devdocs", "_sections")
    for a, b in (("zh", "en"), ("en", "zh")):
        docs = [d for d in files.docs if d["lang"] == b]
        queries = [q for q in files.queries if q["kind"].endswith(f"{a}->{b}")]
        yield f"dev {a}-{b}", [Set("", docs, queries, files.relevant)]
    yield "locomo", [folder("", p) for p in sorted(pathlib.Path(f"{data}/locomo/by_project").iterdir())]
    yield "xquad mixed", [folder("", f"{data}/xquad/mixed")]
    yield "drcd", [folder("", f"{data}/drcd")]
    yield "devdocs files", [folder("", f"{data}/devdocs")]
    yield "devdocs sections", [files]
    for pair in ("zh-zh", "en-en", "zh-en", "en-zh"):
        yield f"madial {pair}", [folder("", f"{data}/madial/{pair}", scoped=True)]
    yield "cosqa", [folder("", f"{data}/cosqa_dev")]
    yield "rhelm", [folder("", p) for p in sorted(pathlib.Path(f"{data}/rhelm/by_project").iterdir())]
    yield "dureader", [folder("", f"{data}/dureader_demo")]
    yield "cranfield", [folder("", f"{data}/cranfield")]


TEN = [f"xquad {p}" for p in ("zh-zh", "en-en", "zh-en", "en-zh")] + ["cmrc2018"]
TEN += [f"dev {p}" for p in ("zh-zh", "en-en", "zh-en", "en-zh")] + ["locomo"]


def score(order, docs, relevant):
    """(MRR@10, R@5) of one ranking."""
    mrr, hits = 0.0, 0
    for rank, i in enumerate(order[:10]):
        if docs[i]["id"] in relevant:
            mrr = mrr or 1 / (rank + 1)
            hits += rank < 5
    return mrr, hits / len(relevant)


class Cache:
    """Token ids of every text of every set, made once for one tokenizer."""

    def __init__(self, data, encode):
        ids = lambda text: np.array(encode(text), dtype=np.int32)
        memo = {}

        def tokens(text):
            if text not in memo:
                memo[text] = ids(text)
            return memo[text]

        self.sets = []
        for name, parts in sets(data):
            for part in parts:
                part.doc_ids = [tokens(f"{d['title']}\n{d['text']}") for d in part.docs]
                part.query_ids = [tokens(q["text"]) for q in part.queries]
                part.mask = None
                if part.scoped:
                    scope = np.array([d["scope"] for d in part.docs])
                    part.mask = np.array([q["scope"] == scope for q in part.queries])
            self.sets.append((name, parts))


def embed(table, texts):
    texts = [t if len(t) else np.array([0], dtype=np.int32) for t in texts]
    matrix, tokens = training.bag(texts)
    x = matrix @ table[tokens]
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9)


def dense(table, cache, only=None):
    """{set: (MRR@10, R@5)} of the cosine alone."""
    out = {}
    for name, parts in cache.sets:
        if only and name not in only:
            continue
        total = []
        for part in parts:
            sims = embed(table, part.query_ids) @ embed(table, part.doc_ids).T
            if part.mask is not None:
                sims = np.where(part.mask, sims, -9)
            order = np.argsort(-sims, axis=1, kind="stable")[:, :10]
            total += [score(o, part.docs, part.relevant[q["id"]]) for o, q in zip(order, part.queries)]
        out[name] = tuple(np.mean(total, axis=0))
    return out


# ---- the whole chain: BM25 + cosine, language-aware min-max fusion, late interaction over the first 24 ----

STOP = set("a an and are as at be been but by can did do does for from had has have he her his how i if in into is it its me my not of on or our she so than that the their them then there these they this to was we were what when where which who whom why will with would you your 的 了 是 在 有 和 与 吗 呢 吧 啊 么".split())


def words(text, fold):
    out = []
    for run in re.findall("[A-Za-z0-9_]+|[\u3400-\u9fff]+", text.translate(fold)):
        if run[0] > "\u33ff":
            out += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            continue
        parts = re.findall("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", run)
        for word in dict.fromkeys([run.lower(), *(p.lower() for p in parts)]):
            if word not in STOP:
                out.append(stem(word))
    return out


def stem(word):
    for end in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
            return word[: -len(end)] + ("i" if end == "ies" else "")
    return word


def bm25(docs, queries, k1=1.0, b=0.5):
    import scipy.sparse as sp

    index, rows_, cols, data = {}, [], [], []
    lengths = np.array([len(d) for d in docs], dtype=float)
    for i, doc in enumerate(docs):
        for word, tf in collections.Counter(doc).items():
            rows_.append(i)
            cols.append(index.setdefault(word, len(index)))
            data.append(tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[i] / lengths.mean())))
    matrix = sp.csr_matrix((data, (rows_, cols)), shape=(len(docs), len(index)))
    df = np.bincount(cols, minlength=len(index))
    idf = np.log(1 + (len(docs) - df + 0.5) / (df + 0.5))
    out = np.zeros((len(queries), len(docs)), np.float32)
    for i, query in enumerate(queries):
        known = sorted({index[w] for w in query if w in index})
        if known:
            out[i] = matrix[:, known] @ idf[known]
    return out


def han_share(text):
    han = len(re.findall("[\u3400-\u9fff]", text))
    return han > 0.15 * len(re.sub(r"\s", "", text))


def minmax(row, mask, depth=100):
    cut = np.where(mask, row, -1e9)
    top = np.argsort(-cut, kind="stable")[:depth]
    top = top[mask[top]]
    out = np.zeros_like(row)
    if len(top):
        low, high = row[top].min(), row[top].max()
        out[top] = (row[top] - low) / (high - low + 1e-9)
    return out


def chain(table, cache, fold, weight=3.0, depth=24):
    """{set: (MRR@10, R@5)} of fusion v3 plus `weight` x MaxSim over the first `depth`."""
    unit = table / (np.linalg.norm(table, axis=1, keepdims=True) + 1e-9)
    norms = np.linalg.norm(table, axis=1)
    out = {}
    for name, parts in cache.sets:
        total = []
        for part in parts:
            if not hasattr(part, "bm25"):
                part.bm25 = bm25(
                    [words(f"{d['title']}\n{d['text']}", fold) for d in part.docs],
                    [words(q["text"], fold) for q in part.queries],
                )
                part.doc_zh = np.array([han_share(d["text"]) for d in part.docs])
                part.query_zh = [han_share(q["text"]) for q in part.queries]
            sims = embed(table, part.query_ids) @ embed(table, part.doc_ids).T
            uniq = {}
            for i, query in enumerate(part.queries):
                mask = part.mask[i] if part.mask is not None else np.ones(len(part.docs), bool)
                lexical = minmax(part.bm25[i], mask & (part.bm25[i] > 0))
                near = minmax(sims[i], mask)
                same = part.doc_zh == part.query_zh[i]
                fused = np.where(same, 0.5 * near + 0.5 * lexical, 0.9 * near + 0.05 * lexical)
                fused = np.where(mask, fused, -9)
                order = np.argsort(-fused, kind="stable")[:60]
                head, tail = order[:depth], order[depth:]
                q = np.unique(part.query_ids[i])
                if len(q):
                    w = norms[q] / norms[q].sum()
                    late = []
                    for j in head:
                        if j not in uniq:
                            uniq[j] = np.unique(part.doc_ids[j])
                        d = uniq[j]
                        late.append(float(w @ (unit[q] @ unit[d].T).max(1)) if len(d) else 0.0)
                    head = head[np.argsort(-(fused[head] + weight * np.array(late)), kind="stable")]
                order = np.concatenate([head, tail])
                total.append(score(order, part.docs, part.relevant[query["id"]]))
        out[name] = tuple(np.mean(total, axis=0))
    return out


def line(scores):
    return " ".join(f"{k.replace('xquad', 'xq')}={100 * v[0]:.1f}" for k, v in scores.items())


def mean(scores, index=0):
    return float(np.mean([scores[k][index] for k in TEN if k in scores]))


def write(path, dense_scores, chain_scores):
    with open(path, "w") as out:
        out.write("set\tdense MRR@10\tdense R@5\tchain MRR@10\tchain R@5\n")
        for name, (mrr, recall) in dense_scores.items():
            more = chain_scores[name] if chain_scores else (float("nan"),) * 2
            out.write(f"{name}\t{mrr:.4f}\t{recall:.4f}\t{more[0]:.4f}\t{more[1]:.4f}\n")


def main():
    import model_file
    from tokenizer import Tokenizer

    ask = argparse.ArgumentParser()
    ask.add_argument("--model", required=True)
    ask.add_argument("--data", required=True)
    ask.add_argument("--chain", action="store_true")
    ask.add_argument("--out", default="/dev/stdout")
    args = ask.parse_args()
    pieces, fold, rows_, scale, _ = model_file.read(args.model)
    table = model_file.table(rows_, scale)
    cache = Cache(args.data, Tokenizer(pieces, fold).encode)
    write(args.out, dense(table, cache), chain(table, cache, fold) if args.chain else None)


if __name__ == "__main__":
    main()
