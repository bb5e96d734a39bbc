"""Times onnxruntime and PyTorch, one thread each, on the texts of the encoder's benchmark. See README.md.

    python bench_peers.py FOLDER

FOLDER holds config.json, tokenizer.json and model.safetensors of a BERT model. Times are processor time of the process.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

os.environ.update({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/encoder/assets/golden.jsonl"
QUERIES = ["what happens while the index rebuilds", "索引重建期间查询会怎样"]
LENGTH, DOCUMENTS, ROUNDS = 400, 16, 7


def documents():
    lines = [json.loads(line)["text"] for line in GOLDEN.open()]
    texts, at = [], 0
    for _ in range(DOCUMENTS):
        text = ""
        while len(text) < LENGTH:
            text += lines[at % len(lines)] + "\n"
            at += 1
        texts.append(text)
    return texts


def fastest(work):
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def report(name, run, tokenizer):
    """`run` takes token numbers and a mask, and returns rows of the last layer."""
    def batch(texts):
        encodings = [tokenizer.encode(text).ids for text in texts]
        longest = max(map(len, encodings))
        ids = np.zeros((len(texts), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, :len(encoding)] = encoding
            mask[row, :len(encoding)] = 1
        rows = run(ids, mask)
        means = (rows * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    for query in QUERIES:
        print(f"{name}, query of {len(tokenizer.encode(query).ids) - 2} tokens: {fastest(lambda: batch([query])) * 1e3:.2f} ms")
    texts = documents()
    for size in (1, 4, 8, 16):
        groups = [texts[at:at + size] for at in range(0, len(texts), size)]
        seconds = fastest(lambda: [batch(group) for group in groups])
        print(f"{name}, documents in batches of {size}: {len(texts) / seconds:.2f} each second")
    return np.concatenate([batch([text]) for text in QUERIES + texts])


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    config = BertConfig.from_json_file(str(folder / "config.json"))
    model = BertModel.from_pretrained(str(folder), config=config, add_pooling_layer=False).eval()

    @torch.no_grad()
    def with_torch(ids, mask):
        return model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state.numpy()

    vectors = report("torch", with_torch, tokenizer)
    if len(sys.argv) > 2:
        np.save(sys.argv[2], vectors)
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError:
        print("onnxruntime: not measured, it and onnx are not installed")
        return

    class Rows(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    scratch = tempfile.TemporaryDirectory()
    file = f"{scratch.name}/peers.onnx"
    example = (torch.ones(2, 16, dtype=torch.long), torch.ones(2, 16, dtype=torch.long))
    torch.onnx.export(Rows(), example, file, input_names=["ids", "mask"], output_names=["rows"], dynamo=False,
                      dynamic_axes={"ids": {0: "b", 1: "t"}, "mask": {0: "b", 1: "t"}, "rows": {0: "b", 1: "t"}})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    report("onnxruntime", lambda ids, mask: session.run(None, {"ids": ids, "mask": mask})[0], tokenizer)


main()
