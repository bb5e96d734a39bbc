"""Reference tokenizer of the static encoder; README.md, section "Tokenizer", is its specification."""

import re
import unicodedata

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
SYMBOLS = "#$%&+@"
RUN = re.compile(f"[A-Za-z0-9]+|[{HAN}]+|[{SYMBOLS}]")
LETTERS_OR_DIGITS = re.compile("[A-Za-z]+|[0-9]+")
# Alternatives in order: an acronym before a capitalised word, a word, a trailing acronym.
CAMEL = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
UNKNOWN_COST = 1 << 20
MAX_PIECE = 24
LATIN_FOLD = {
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE",
    "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ı": "i",
}
IS_HAN = re.compile(f"[{HAN}]")
KEPT = re.compile(f"[A-Za-z0-9{HAN}{SYMBOLS}]")


def build_fold(simplified):
    """Makes the fold table {code point: string} from a {traditional: simplified} character map.

    A code point that is absent stands for itself. "" means transparent: the characters around it touch.
    """
    fold = {}
    for code in range(0x80, 0x40000):
        char = chr(code)
        category = unicodedata.category(char)
        if category in ("Mn", "Me", "Cf"):
            fold[code] = ""
            continue
        if category in ("Cn", "Cs", "Co"):
            continue
        plain = unicodedata.normalize("NFKD", char)
        out = "".join(
            LATIN_FOLD.get(c, simplified.get(c, c)) for c in plain if unicodedata.category(c) not in ("Mn", "Me", "Cf")
        )
        # Two steps reach a fixed point: some simplified forms are themselves compatibility characters.
        out = "".join(simplified.get(c, c) for c in unicodedata.normalize("NFKD", out))
        if out != char and KEPT.search(out):
            fold[code] = "".join(c if KEPT.match(c) else " " for c in out)
    for code in range(0xE0000, 0xE01F0):
        fold[code] = ""
    return fold


class Tokenizer:
    """Turns text into token ids. `pieces` is a list of (text, cost); the index is the id."""

    def __init__(self, pieces, fold):
        self.fold = dict(fold)
        self.ids = {text: i for i, (text, _) in enumerate(pieces)}
        self.costs = [cost for _, cost in pieces]
        self.longest = max(len(text) for text, _ in pieces)
        self._cache = {}

    def encode(self, text):
        """Returns the ids in order of appearance."""
        out = []
        cache = self._cache
        for run in RUN.findall(text.translate(self.fold)):
            ids = cache.get(run)
            if ids is None:
                ids = self._run(run)
                if len(run) < 16:
                    cache[run] = ids
            out.extend(ids)
        return out

    def _run(self, run):
        if IS_HAN.match(run):
            return self._viterbi(run)
        if run in SYMBOLS:
            return self._known(run)
        whole = self.ids.get(run.lower())
        if whole is not None:
            return [whole]
        out = []
        for part in LETTERS_OR_DIGITS.findall(run):
            whole = self.ids.get(part.lower())
            if whole is not None:
                out.append(whole)
            elif part[0] in "0123456789":
                for at in range(0, len(part), 3):
                    out.extend(self._known(part[at : at + 3]))
            else:
                for word in CAMEL.findall(part):
                    word = word.lower()
                    whole = self.ids.get(word)
                    out.extend([whole] if whole is not None else self._viterbi(word))
        return out

    def _known(self, text):
        found = self.ids.get(text)
        return [] if found is None else [found]

    def _viterbi(self, run):
        """Cheapest split; on equal cost the longer last piece. Costs are integers, so this is exact anywhere."""
        ids, costs, longest = self.ids, self.costs, self.longest
        best, back = [0], [None]
        for end in range(1, len(run) + 1):
            low, step = None, None
            for start in range(max(0, end - longest), end):
                found = ids.get(run[start:end])
                if found is not None:
                    cost = best[start] + costs[found]
                elif start == end - 1:
                    cost = best[start] + UNKNOWN_COST
                else:
                    continue
                if low is None or cost < low:
                    low, step = cost, (start, found)
            best.append(low)
            back.append(step)
        out, end = [], len(run)
        while end:
            start, found = back[end]
            if found is not None:
                out.append(found)
            end = start
        return out[::-1]
