"""Makes tiny random models and what PyTorch and transformers compute from them. See README.md."""

import json
import pathlib

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import (BertConfig, BertForSequenceClassification, BertModel, Qwen3Config, Qwen3ForCausalLM,
                          XLMRobertaConfig, XLMRobertaForSequenceClassification)

import small_tokenizers

OUT = pathlib.Path(__file__).parents[2] / "crates/encoder/tests/data/transformer"
HIDDEN, INNER, LAYERS, HEADS, MOST = 32, 32, 2, 4, 60
LONG = "the index is rebuilt after a crash. 索引重建期间查询会怎样。" * 14
TEXTS = [
    ("query", "", [], "what happens to queries while the index rebuilds"),
    ("query", "", [], "索引重建期间查询会怎样"),
    ("query", "", [], ""),
    ("query", "", [], "?!, ...。；"),
    ("passage", "", [], "fn main() { let index = Index::open(path)?; }"),
    ("passage", "docs/known-limits.md", ["Limits", "速度"], "设置不符时会重建索引 and a query waits."),
    ("passage", "docs/known-limits.md", ["Limits " * 30, "速度"], "a memory is a fragment of text"),
    ("passage", "docs/limits.md", ["速度"], LONG),
    ("passage", "", [], LONG),
]
QUERIES = ["what happens to queries while the index rebuilds", "索引"]
PAIRED = ["索引重建期间查询会怎样", "the index is rebuilt when its settings do not fit", "", LONG]
INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
BEGIN = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
         "Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n")
END = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def randomise(model, seed):
    """Weights large enough that a mistake anywhere shows in the result."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in model.named_parameters():
        noise = torch.randn(tensor.shape, generator=generator)
        is_norm = "norm" in name.lower() and name.endswith("weight")
        tensor.data = 1 + 0.2 * noise if is_norm else (0.1 if name.endswith("bias") else 0.3) * noise
    return model.eval()


def rounded(model, dtype):
    for tensor in model.parameters():
        tensor.data = tensor.data.to(dtype).float()
    return model


def save(model, file, dtype):
    tensors = {name: tensor.detach().to(dtype).contiguous() for name, tensor in model.named_parameters()}
    save_file(tensors, OUT / file)
    (OUT / file).chmod(0o644)


def context_of(path, headings):
    return "" if not path and not headings else "\n".join([path, *headings]) + "\n"


def windows_of(tokenizer, before, after, most, prefix, context, text):
    """Token numbers of each window, and how many of them are the text's own."""
    ids = lambda part: tokenizer.encode(part, add_special_tokens=False).ids
    room = most - len(before) - len(after)
    everything = ids(prefix + context + text)
    if len(everything) <= room:
        return [(before + everything + after, len(everything))]
    front = len(ids(prefix + context))
    own, lead = everything[front:], len(ids(prefix))
    context_ids = everything[lead:front]
    kept = min(len(context_ids), room // 4)
    head = everything[:lead] + context_ids[len(context_ids) - kept:]
    step = room - len(head)
    return [(before + head + own[at:at + step] + after, len(own[at:at + step])) for at in range(0, len(own), step)]


def pooled(rows, pooling):
    vector = {"mean": rows.mean(0), "cls": rows[0], "last": rows[-1]}[pooling]
    return vector / vector.norm()


@torch.no_grad()
def vectors(body, tokenizer, around, pooling, prefixes, /, **case):
    before, after = around
    texts = []
    for side, path, headings, text in TEXTS:
        windows = windows_of(tokenizer, before, after, MOST, prefixes[side], context_of(path, headings), text)
        outputs = [pooled(body(torch.tensor([ids])).last_hidden_state[0], pooling) for ids, _ in windows]
        total = sum(own for _, own in windows)
        vector = outputs[0]
        if len(windows) > 1:
            vector = sum(output * own / total for output, (_, own) in zip(outputs, windows))
            vector = vector / vector.norm()
        texts.append({"side": side, "path": path, "headings": headings, "text": text, "windows": len(windows),
                      "vector": [round(float(number), 6) for number in vector]})
    return {"pooling": pooling, "query_prefix": prefixes["query"], "passage_prefix": prefixes["passage"],
            "max_tokens": MOST, "texts": texts, **case}


@torch.no_grad()
def sparse_of(body, tokenizer, head):
    special = set(tokenizer.token_to_id(word) for word in ("<s>", "</s>", "<pad>", "<unk>", "<mask>"))
    result = []
    for text in (TEXTS[1][3], TEXTS[5][3], ""):
        ids = tokenizer.encode(text).ids
        weights = torch.relu(head(body(torch.tensor([ids])).last_hidden_state[0]))[:, 0]
        found = {}
        for token, weight in zip(ids, weights.tolist()):
            if token not in special and weight > 0:
                found[token] = max(found.get(token, 0), weight)
        result.append({"text": text, "weights": [[token, round(weight, 6)] for token, weight in sorted(found.items())]})
    return result


@torch.no_grad()
def pair_scores(model, tokenizer, most, marked, /, **case):
    ids = lambda part: tokenizer.encode(part, add_special_tokens=False).ids
    probe = tokenizer.encode("a", "a").ids
    text = ids("a")
    size = len(text)
    cls, close = probe[0], probe[-1]
    middle = probe[1 + size:len(probe) - 1 - size]
    pairs = []
    for query in QUERIES:
        for passage in PAIRED:
            q, p = ids(query), ids(passage)
            room = most - 2 - len(middle) - len(q)
            tokens = [cls, *q, *middle, *p[:room], close]
            types = [int(marked and at >= 1 + len(q) + len(middle)) for at in range(len(tokens))]
            logit = model(torch.tensor([tokens]), token_type_ids=torch.tensor([types])).logits[0, 0]
            pairs.append({"query": query, "passage": passage, "cut": room < len(p), "score": float(torch.sigmoid(logit))})
    return {"max_tokens": most, "pairs": pairs, **case}


@torch.no_grad()
def prompted_scores(model, tokenizer, most, /, **case):
    ids = lambda part: tokenizer.encode(part, add_special_tokens=False).ids
    begin, end = ids(BEGIN), ids(END)
    yes, no = tokenizer.token_to_id("yes"), tokenizer.token_to_id("no")
    pairs = []
    for query in QUERIES:
        for passage in PAIRED:
            body = ids(f"<Instruct>: {INSTRUCTION}\n<Query>: {query}\n<Document>: {passage}")
            room = most - len(begin) - len(end)
            logits = model(torch.tensor([begin + body[:room] + end])).logits[0, -1]
            score = torch.softmax(logits[[no, yes]], 0)[1]
            pairs.append({"query": query, "passage": passage, "cut": room < len(body), "score": float(score)})
    return {"max_tokens": most, "pairs": pairs, **case}


LLAMA_BERT = {
    "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
LLAMA_QWEN = {
    "embed_tokens": "token_embd", "norm": "output_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def llama_name(name, table):
    stem, part = name.rsplit(".", 1)
    for prefix in ("encoder.layer.", "layers."):
        if stem.startswith(prefix):
            number, rest = stem[len(prefix):].split(".", 1)
            return f"blk.{number}.{table[rest]}.{part}"
    return f"{table[stem]}.{part}"


@torch.no_grad()
def save_gguf(model, file, kind, table, architecture):
    """Writes the model, and leaves in it what a reader of the file gets."""
    writer = gguf.GGUFWriter(OUT / file, architecture)
    writer.add_name("tiny")
    writer.add_array("tiny.words", ["一", "two"])
    for name, tensor in model.named_parameters():
        if name.startswith("pooler."):
            continue
        numbers = tensor.numpy()
        used = kind if numbers.ndim == 2 else gguf.GGMLQuantizationType.F32
        stored = gguf.quants.quantize(numbers, used)
        writer.add_tensor(llama_name(name, table) if table else name, stored, raw_dtype=used)
        tensor.copy_(torch.from_numpy(np.array(gguf.quants.dequantize(stored, used), dtype=np.float32)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def write_config(name, config, **more):
    config = {key: value for key, value in config.to_dict().items() if not key.startswith("_")} | more
    (OUT / f"{name}.config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tokenizers = {}
    for name, train in (("bert", small_tokenizers.bert), ("xlm-roberta", small_tokenizers.xlm_roberta),
                        ("qwen3", small_tokenizers.qwen)):
        file = OUT / f"{name}.tokenizer.json"
        # Training is not deterministic, all else is: remove the file to train anew.
        if not file.exists():
            train().save(str(file), pretty=False)
        tokenizers[name] = Tokenizer.from_file(str(file))
    sizes = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "attn_implementation": "eager"}
    cases = []
    number = lambda tokenizer, word: tokenizer.token_to_id(word)

    tokenizer = tokenizers["bert"]
    around = ([number(tokenizer, "[CLS]")], [number(tokenizer, "[SEP]")])
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), intermediate_size=INNER, max_position_embeddings=64, **sizes)
    write_config("bert", config)
    prefixes = {"query": "query: ", "passage": "passage: "}
    plain = {"query": "", "passage": ""}
    model = randomise(BertModel(config, add_pooling_layer=False), 1)
    save(model, "bert-f32.safetensors", torch.float32)
    common = {"architecture": "bert", "config": "bert", "tokenizer": "bert"}
    cases.append(vectors(model, tokenizer, around, "mean", prefixes, name="bert-mean", weights="bert-f32.safetensors", **common))
    cases.append(vectors(model, tokenizer, around, "cls", plain, name="bert-cls", weights="bert-f32.safetensors", **common))
    for kind, table in (("F16", None), ("Q8_0", LLAMA_BERT), ("Q4_0", LLAMA_BERT)):
        file = f"bert-{kind.lower()}.gguf"
        model = randomise(BertModel(config, add_pooling_layer=False), 1)
        save_gguf(model, file, gguf.GGMLQuantizationType[kind], table, "bert")
        cases.append(vectors(model, tokenizer, around, "mean", prefixes, name=f"bert-gguf-{kind.lower()}", weights=file, **common))
    config.num_labels = 1
    model = rounded(randomise(BertForSequenceClassification(config), 2), torch.bfloat16)
    save(model, "bert-rerank-bf16.safetensors", torch.bfloat16)
    cases.append(pair_scores(model, tokenizer, MOST, True, name="bert-rerank", weights="bert-rerank-bf16.safetensors", **common))

    tokenizer = tokenizers["xlm-roberta"]
    around = ([number(tokenizer, "<s>")], [number(tokenizer, "</s>")])
    config = XLMRobertaConfig(vocab_size=tokenizer.get_vocab_size(), intermediate_size=INNER, max_position_embeddings=66,
                              type_vocab_size=1, pad_token_id=1, num_labels=1, layer_norm_eps=1e-5, **sizes)
    write_config("xlm-roberta", config)
    model = rounded(randomise(XLMRobertaForSequenceClassification(config), 3), torch.float16)
    save(model, "xlm-roberta-f16.safetensors", torch.float16)
    common = {"architecture": "xlm-roberta", "config": "xlm-roberta", "tokenizer": "xlm-roberta",
              "weights": "xlm-roberta-f16.safetensors"}
    cases.append(pair_scores(model, tokenizer, MOST, False, name="xlm-roberta-rerank", **common))
    head = randomise(torch.nn.Linear(HIDDEN, 1), 7)
    save(head, "sparse_linear.safetensors", torch.float32)
    cases.append(vectors(model.roberta, tokenizer, around, "cls", plain, name="xlm-roberta-sparse",
                         sparse=sparse_of(model.roberta, tokenizer, head), **common))

    tokenizer = tokenizers["qwen3"]
    around = ([], [number(tokenizer, "<|endoftext|>")])
    config = Qwen3Config(vocab_size=tokenizer.get_vocab_size(), intermediate_size=INNER, max_position_embeddings=2048,
                         num_key_value_heads=2, head_dim=12, rope_theta=1e6, tie_word_embeddings=True,
                         pad_token_id=None, **sizes)
    write_config("qwen3", config)
    model = rounded(randomise(Qwen3ForCausalLM(config), 5), torch.float16)
    save(model, "qwen3-f16.safetensors", torch.float16)
    common = {"architecture": "qwen3", "config": "qwen3", "tokenizer": "qwen3"}
    asked = {"query": "Instruct: retrieve\nQuery:", "passage": ""}
    cases.append(vectors(model.model, tokenizer, around, "last", asked, name="qwen3-last", weights="qwen3-f16.safetensors", **common))
    cases.append(prompted_scores(model, tokenizer, 700, name="qwen3-rerank", weights="qwen3-f16.safetensors", **common))
    # Rows of whole blocks for the quantised one.
    config = Qwen3Config(**{**config.to_dict(), "head_dim": 8, "attn_implementation": "eager"})
    write_config("qwen3-blocks", config)
    model = randomise(Qwen3ForCausalLM(config), 6).model
    save_gguf(model, "qwen3-q4_0.gguf", gguf.GGMLQuantizationType.Q4_0, LLAMA_QWEN, "qwen3")
    cases.append(vectors(model, tokenizer, around, "last", asked, name="qwen3-gguf-q4_0", weights="qwen3-q4_0.gguf",
                         **{**common, "config": "qwen3-blocks"}))
    for case in cases:
        name = case.pop("name")
        (OUT / f"{name}.expected.json").write_text(json.dumps(case, ensure_ascii=False) + "\n")


main()
