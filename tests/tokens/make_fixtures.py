#!/usr/bin/env python3
"""Makes the fixtures: small tokenizers, and texts tokenized by `tokenizers`.
    pip install tokenizers==0.23.3 && python3 tests/tokens/make_fixtures.py"""
import json
import random
import struct
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")

WORDS = """the of and to in is it that was for on are with they be at one have this from or had by not word but what some we
can out other were all there when up use your how said an each she which do their time if will way about many then them write
would like so these her long make thing see him two has look more day could go come did number sound no most people my over
Know don't I'll we've you're it's he'd I'm they'LL IT'S don’t naïve café Zürich façade größe Straße ſtraße K'ſ
Привет мир быстрая коричневая лиса ёлка Київ їжак γειά σου κόσμε Ελλάδα ὀδυσσεύς שלום עולם مرحبا بالعالم كِتَابٌ
नमस्ते दुनिया क्षत्रिय বাংলা কোড তமিழ் ที่ประเทศไทย ສະບາຍດີ မြန်မာ ខ្មែរ 你好世界 今天天气很好 東京タワー ひらがな カタカナ 한국어 안녕하세요
ﷺ ⅷ ² ½ Ⅻ ① ๑๒๓ ١٢٣ १२३ 12 345 6789 3.14159 0xFF 1e-9 1,000,000 2024-01-31""".split()
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "👍🏽", "❤️", "🤷‍♂️", "🫠", "\U0001fae8", "⌚", "™"]
SPACES = [" ", "  ", "   ", "\t", "\t\t", "\n", "\n\n", " \n", "\r\n", "\r", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085",
          "\u200b", "\u180e", "\ufeff", "\v", "\f", "\u200d", " \u00a0 "]
CODE = ["def f(x):\n    return x**2  # ok\n", "for (int i = 0; i < n; ++i) {\n\ta[i] += b[i];\n}\n", "std::vector<int>",
        "if(x!=y&&z==0)", "\"quoted \\\"text\\\"\"", "https://example.org/a?b=c&d=%20", "#include <stdio.h>\r\n", "=>", "...", "!!!",
        "{'a': [1, 2.5]}", "SELECT * FROM t WHERE id='7';", "$\\alpha_{i+1}$", "----------------", "========", "\\n\\t"]
LOOSE = ["e\u0301", "a\u0308\u0323", "n\u0303o", "\u1100\u1161\u11a8", "\u0915\u093c", "\u212b", "q\u0307\u0323", "\u0344", "\ufb01",
         "\u0301", "\uac00\u11a8", "\u09c7\u09be", "\u0bc6\u0bbe", "\uf900", "\u2126", "\U0001d15e", "o\u0302\u0301"]
SPECIAL = ["<|begin_of_text|>", "<|endoftext|>", "<|im_start|>", "<|im_start|>user\n", "<|eot_id|>", "<|", "<tool>", "<mask>", "  <mask>  ",
           "<tool>s", "x<word>", " <word> ", "<word>", "<word>é", "<caf\u00e9>", "<cafe\u0301>"]
STRAY = ["\0", "\x01", "\x7f", "\ufffd", "\ue000", "\U0010ffff", "\u0378", "\u200e", "\u00ad"]


def mixed_text(size, seed):
    """About `size` characters of all kinds."""
    rng = random.Random(seed)
    kinds = [(WORDS, 60), (SPACES, 14), (CODE, 6), (EMOJI, 4), (LOOSE, 4), (SPECIAL, 2), (STRAY, 1)]
    parts, length = [], 0
    while length < size:
        part = rng.choice(rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0])
        if rng.random() < 0.05:
            part = part.upper()
        if rng.random() < 0.03:
            part = "".join(chr(rng.choice([*range(32, 0xd800), *range(0xe000, 0x11000)])) for _ in range(rng.randint(1, 4)))
        if rng.random() < 0.02:
            part = str(rng.randint(0, 10**rng.randint(1, 12)))
        parts.append(part + (" " if rng.random() < 0.6 else ""))
        length += len(parts[-1])
    return "".join(parts)


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def trained(pre_tokenizer, normalizer, vocabulary, special, added=()):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, show_progress=False, special_tokens=[],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(mixed_text(200_000, seed=1).splitlines(keepends=True), trainer)
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(list(added))
    return tokenizer


def ignoring_merges(tokenizer):
    """Removes the merges of long words, as Llama 3 lacks some."""
    document = json.loads(tokenizer.to_str())
    document["model"]["ignore_merges"] = True
    document["model"]["merges"] = [merge for merge in document["model"]["merges"] if sum(map(len, merge)) < 7]
    return Tokenizer.from_str(json.dumps(document))


def tokenizers():
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                      pre_tokenizers.ByteLevel(add_prefix_space=True)])
    odd = [AddedToken("<mask>", lstrip=True, rstrip=True, special=True), AddedToken("<word>", single_word=True),
           AddedToken("<tool>", normalized=True, special=False), AddedToken("<cafe\u0301>", normalized=True, special=False)]
    yield "llama3", ignoring_merges(trained(split(LLAMA3), None, 700, ["<|begin_of_text|>", "<|eot_id|>", "<|endoftext|>"])), "pairs"
    yield "gpt2", trained(pre_tokenizers.ByteLevel(add_prefix_space=False), None, 640, ["<|endoftext|>"]), "texts"
    yield "qwen2", trained(split(QWEN2), normalizers.NFC(), 640, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], odd), "texts"
    yield "digits", trained(digits, None, 400, ["<|endoftext|>", "<|im_start|>"]), "pairs"


def compact(tokenizer, merges):
    document = json.loads(tokenizer.to_str())
    if merges == "texts":
        document["model"]["merges"] = [m if isinstance(m, str) else " ".join(m) for m in document["model"]["merges"]]
    else:
        document["model"]["merges"] = [m.split(" ") if isinstance(m, str) else m for m in document["model"]["merges"]]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def fnv(data, value=0xcbf29ce484222325):
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def hash_of(ids):
    return f"{fnv(struct.pack(f'<{len(ids)}I', *ids)):016x}"


def normal_form_hash():
    """Hash of all characters of planes 0 to 3 in NFC, alone and combined."""
    value = 0xcbf29ce484222325
    for code in [*range(0xd800), *range(0xe000, 0x40000)]:
        c = chr(code)
        value = fnv(normalizers.NFC().normalize_str(f"{c}|{c}\u0323\u0301|e{c}\u0327|\uac00{c}").encode(), value)
    return f"{value:016x}"


def cases():
    yield ""
    yield from SPACES + EMOJI + LOOSE + SPECIAL + STRAY
    yield from CODE[:4]
    yield from ["Hello world", " Hello  world ", "it's IT'S K'ſ don't'll", "a" * 40, "1234567", "x\n\n  y", "  \n", "tab\t\tend",
                "<|endoftext|><|endoftext|>", "a<mask> b", "x <tool>y", "no<word> one <word> two"]


def main():
    FIXTURES.mkdir(exist_ok=True)
    text = mixed_text(24_000, seed=2)
    (FIXTURES / "mixed.txt").write_bytes(text.encode())
    expected = {"normal_form": normal_form_hash(), "cases": list(cases()), "tokenizers": {}}
    for name, tokenizer, merges in tokenizers():
        written = compact(tokenizer, merges)
        (FIXTURES / f"{name}.json").write_text(written, encoding="utf-8")
        tokenizer = Tokenizer.from_str(written)
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        expected["tokenizers"][name] = {
            "count": len(ids), "hash": hash_of(ids),
            "cases": [tokenizer.encode(case, add_special_tokens=False).ids for case in cases()]}
    (FIXTURES / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
