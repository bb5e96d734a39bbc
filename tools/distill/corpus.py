"""Training text as token ids, in the pair types that a batch can be made of."""

import ast
import collections
import json
import pathlib
import re
import sysconfig
import zlib

import numpy as np

from vocab import GENERAL, LEFT_OUT, wordnet_lines

SENTENCE = re.compile(r"(?<=[。！？；\n])|(?<=[.!?;])\s+")


class Pairs:
    """Pairs of one type. `left` and `right` are lists of id arrays, or of lists of id arrays (sentences)."""

    def __init__(self, name, weight):
        self.name, self.weight = name, weight
        self.left, self.right, self.source, self.keys = [], [], [], []

    def add(self, left, right, source, keys):
        self.left.append(left)
        self.right.append(right)
        self.source.append(source)
        self.keys.append(keys)

    def close(self):
        self.keys = np.array(self.keys, dtype=np.int64).reshape(-1, 2)
        groups = collections.defaultdict(list)
        for i, source in enumerate(self.source):
            groups[source].append(i)
        # Glosses come from one source: nothing to tell apart.
        self.groups = [np.array(g) for g in groups.values() if len(g) >= 64] if len(groups) > 1 else []
        self.group_p = np.array([len(g) for g in self.groups], dtype=float) ** 0.5
        self.group_p /= self.group_p.sum()
        return self


def key(text):
    return zlib.crc32(text.encode())


def read(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# Weights of the two types that are not made from the training folder.
GLOSS, DOCSTRING = 0.5, 1.5
TERMS = {"npm:id-tagging-schema"}


def glosses(folder, encode, excluded):
    """WordNet: the words of a synset, or an example with one of them, to its definition."""
    pairs, dropped = Pairs("gloss", GLOSS), 0
    for part in ("noun", "verb", "adj", "adv"):
        for line in wordnet_lines(folder, f"data.{part}"):
            head, text = line.split("|", 1)
            fields = head.split()
            words = [fields[4 + 2 * i].split("(")[0].replace("_", " ") for i in range(int(fields[3], 16))]
            definition, *examples = [p.strip(' ";\n') for p in text.split('; "')]
            names = " ".join(words)
            query = f"{examples[0]} {words[0]}" if examples and key(definition) % 2 else names
            left, right = np.array(encode(query), np.int32), np.array(encode(definition), np.int32)
            if not len(left) or len(right) < 4:
                continue
            if excluded.holds(text):
                dropped += 1
                continue
            pairs.add(left, right, "wordnet", (key(names), key(definition)))
    print(f"glosses: {len(pairs.left)}, left out for a run of words in an evaluation set: {dropped}", flush=True)
    return pairs.close()


class Excluded:
    """The runs of `SIZE` words in the documents below a folder; text that holds one of them is not trained on."""

    SIZE = 8

    def __init__(self, folder=None):
        self.runs = set()
        for path in sorted(pathlib.Path(folder).rglob("corpus*.jsonl")) if folder else ():
            for row in read(path):
                self.runs.update(self.of(f"{row.get('title', '')}\n{row['text']}"))

    def of(self, text):
        words = re.findall("[a-z0-9]+", text.lower())
        return (" ".join(words[i : i + self.SIZE]) for i in range(len(words) - self.SIZE + 1))

    def holds(self, text):
        return not self.runs.isdisjoint(self.of(text))


# Parts of the standard library that are no library, or that code collections have copied whole.
NO_LIBRARY = {"test", "tests", "idlelib", "lib2to3", "turtledemo", "site-packages", "dist-packages", "ensurepip", "doctest", "heapq"}
NO_LIBRARY |= {"cookiejar", "__pycache__", "lib-dynload", "pydoc_data"}


def has_own_licence(text):
    """Whether a module names a holder who may not have licensed it to the PSF."""
    notices = [line for line in text.splitlines() if re.search(r"copyright|\(c\) *\d{4}", line, re.I)]
    return "Licensed to PSF" not in text and not all("Python Software Foundation" in line for line in notices)


def library():
    """(path, text) of the modules of Python's standard library that come under the PSF licence alone."""
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if NO_LIBRARY.isdisjoint(parts) and not parts[0].startswith("config-"):
            text = path.read_text(encoding="utf-8")
            if not has_own_licence(text):
                yield path, text


def functions(text):
    """(source, first sentences of the docstring, source without the docstring) of every function with a docstring."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        doc = ast.get_docstring(node)
        if not doc:
            continue
        first = doc.split("\n\n")[0].strip()
        string = node.body[0]
        head, tail = lines[node.lineno - 1 : string.lineno - 1], lines[string.end_lineno : node.end_lineno]
        yield "\n".join(lines[node.lineno - 1 : node.end_lineno]), first, "\n".join(head + tail)


def docstrings(encode, excluded):
    """Python's standard library: what a function does, to its name, signature and body."""
    pairs, dropped, modules = Pairs("docstring", DOCSTRING), 0, 0
    for path, text in library():
        modules += 1
        for source, first, code in functions(text):
            left, right = np.array(encode(first), np.int32)[:64], np.array(encode(code), np.int32)[:256]
            if len(left) < 3 or len(right) < 4:
                continue
            if excluded.holds(source):
                dropped += 1
                continue
            pairs.add(left, right, "python", (key(first), key(code)))
    print(f"docstrings: {len(pairs.left)} of {modules} modules, left out for a run of words in an evaluation set: {dropped}", flush=True)
    return pairs.close()


def load(train, encode, wordnet, exclude=None, names=("par.jsonl", "h2b.jsonl", "mono_en.jsonl", "mono_zh.jsonl")):
    """Reads the training folder and returns the list of Pairs."""
    ids = lambda text: np.array(encode(text), dtype=np.int32)
    sentences = lambda text: [s for s in (ids(p) for p in SENTENCE.split(text) if p) if len(s)]
    par, general, term = Pairs("par", 3.0), Pairs("general", 3.0), Pairs("term", 0.5)
    heads = {k: Pairs("h2b_" + k, w) for k, w in (("ee", 1.0), ("zz", 1.0), ("ez", 1.0), ("ze", 1.0))}
    cloze = {k: Pairs("cloze_" + k, 3.0) for k in ("en", "zh")}
    crop = Pairs("crop", 1.5)
    for row in read(f"{train}/{names[0]}"):
        if row["src"] in LEFT_OUT:
            continue
        left, right = ids(row["en"]), ids(row["zh"])
        if not len(left) or not len(right):
            continue
        keys = key(row["en"]), key(row["zh"])
        kind = term if row["src"] in TERMS else general if row["src"] in GENERAL else par
        kind.add(left, right, row["src"], keys)
        if len(right) >= 14:
            crop.add(left, right, row["src"], keys)
    for row in read(f"{train}/{names[1]}"):
        body = sentences(row["body"])
        head = ids(row["heading"])
        if not body or not len(head):
            continue
        keys = key(row["heading"]), key(row["body"])
        kind = {"en": "e", "zh": "z"}[row["heading_lang"]] + {"en": "e", "zh": "z"}[row["body_lang"]]
        heads[kind].add(head, np.concatenate(body), row["src"], keys)
        if len(body) >= 2 and sum(map(len, body)) >= 20:
            cloze[row["body_lang"]].add(body, body, row["src"], keys)
    for lang, name in zip(("en", "zh"), names[2:]):
        for row in read(f"{train}/{name}"):
            body = sentences(row["text"])
            if len(body) >= 2:
                cloze[lang].add(body, body, row["src"], (key(row["text"]),) * 2)
    out = [p.close() for p in (par, general, crop, *heads.values(), *cloze.values(), term)]
    excluded = Excluded(exclude)
    return out + [glosses(wordnet, encode, excluded), docstrings(encode, excluded)]


def draw(pairs, size, rng):
    """A batch (left id arrays, right id arrays, keys): every second one from a single project."""
    if pairs.groups and rng.random() < 0.5:
        n, rows = 0, []
        while n < size:
            group = pairs.groups[rng.choice(len(pairs.groups), p=pairs.group_p)]
            take = rng.permutation(group)[: min(size - n, 256)]
            rows.append(take)
            n += len(take)
        rows = np.concatenate(rows)
    else:
        rows = rng.choice(len(pairs.left), min(size, len(pairs.left)), replace=False)
    left, right = [], []
    for i in rows:
        a, b = pairs.left[i], pairs.right[i]
        if pairs.name.startswith("cloze"):
            at = int(rng.integers(len(a)))
            query = a[at]
            keep = rng.random() < 0.1
            rest = [s for j, s in enumerate(b) if keep or j != at]
            left.append(query)
            right.append(np.concatenate(rest))
        elif pairs.name == "crop":
            # A part of one side must find the whole of the other.
            if rng.random() < 0.5:
                left.append(part(a, rng))
                right.append(b)
            else:
                left.append(a)
                right.append(part(b, rng))
        else:
            left.append(a)
            right.append(b)
    return left, right, pairs.keys[rows]


def part(ids, rng):
    size = max(4, int(len(ids) * rng.uniform(0.25, 0.6)))
    at = int(rng.integers(0, max(1, len(ids) - size + 1)))
    return ids[at : at + size]
