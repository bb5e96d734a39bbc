"""Tiny tokenizers of the three kinds, trained on a few lines."""

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES = [
    "the index is rebuilt when its settings do not fit and a query waits for the snapshot",
    "what happens to queries while the index rebuilds after a crash",
    "passage: query: a memory is a fragment of text with a path and headings",
    "索引重建期间查询会怎样 记忆是带有路径和标题的文本片段",
    "设置不符时会重建索引 查询使用快照 用户 预算 候选",
    "fn main() { let index = Index::open(path)?; println!(\"{index:?}\"); }",
    "docs/known-limits.md Limits Speed 速度",
    "yes no yes no\nyes\nno\nyes\nno",
] * 3

QWEN_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def bert(size=124):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(LINES, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=special, show_progress=False, limit_alphabet=95))
    number = tokenizer.token_to_id
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(word, number(word)) for word in ("[CLS]", "[SEP]")])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def xlm_roberta(size=170):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(LINES, trainers.UnigramTrainer(
        vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False))
    number = tokenizer.token_to_id
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(word, number(word)) for word in ("<s>", "</s>")])
    return tokenizer


def qwen(size=290):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN_SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(
        vocab_size=size - 3, show_progress=False, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer
