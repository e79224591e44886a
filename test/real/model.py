"""Writes a Hugging Face model of 8 MB that recites: model.py FOLDER.

It is a llama whose attention and feed-forward parts are zero and whose output
layer holds one successor for each token, so that the last character of the
prompt decides what comes, at any temperature. Every server that reads the
format runs it, and what a test expects of it does not hang on a random number.
"""

import json
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

# What follows on the last character of a prompt. A token has one successor, so
# no token is in two places. <HEX> is a piece of bytes: runes that come in parts.
SCRIPTS = {
    ":": [" Once", " upon", " a", " time", ",", " there", " lived", " one", " dragoman", "."],
    "?": [" caf", "<C3>", "<A9>", " <b>", '"q"', "\\", "<F0>", "<9F>", "<90>", "<BB>", " =",
          "<E6>", "<9D>", "<B1>", "<E4>", "<BA>", "<AC>", "<E2>", "<80>", "<A8>", " end"],
    "#": [" first", " ##", " second", " #", "##", " third"],
    "!": [" It", " '", "s", " so"],  # what transformers cleans up: It 's
    "%": [" grin", "<F1>"],  # ends within a rune
    "~": [" tick", " tock"],  # and from the start
    "": [" Aye", " captain"],  # any other
}
SIZE = 512


def alphabet():
    """The characters that stand for bytes in byte-level tokenizers, in order."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = (chr(256 + i) for i in range(256))
    return [chr(b) if b in shown else next(hidden) for b in range(256)]


BYTES = alphabet()


def spell(piece):
    raw = bytes([int(piece[1:3], 16)]) if piece[0] == "<" and piece[3:] == ">" else piece.encode()
    return "".join(BYTES[b] for b in raw)


def main(folder):
    vocab = {"<s>": 0, "</s>": 1}
    for token in BYTES:
        vocab[token] = len(vocab)
    for script in SCRIPTS.values():
        for piece in script:
            vocab.setdefault(spell(piece), len(vocab))
    while len(vocab) < SIZE:
        vocab[f"unused{len(vocab)}"] = len(vocab)

    follows = [vocab[spell(SCRIPTS[""][0])]] * SIZE
    for start, script in SCRIPTS.items():
        ids = [vocab[spell(piece)] for piece in script]
        if start:
            follows[vocab[spell(start)]] = ids[0]
        for one, two in zip(ids, [*ids[1:], ids[0] if start == "~" else 1]):
            follows[one] = two

    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", clean_up_tokenization_spaces=True,
        chat_template="{% for m in messages %}{{ m['content'] }}{% endfor %}",
    ).save_pretrained(folder)

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=SIZE, hidden_size=SIZE, intermediate_size=64, num_hidden_layers=1, num_attention_heads=8,
        max_position_embeddings=4096, bos_token_id=0, eos_token_id=1, tie_word_embeddings=False,
    ))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1 if "norm" in name else 0)
        model.model.embed_tokens.weight.copy_(torch.eye(SIZE))
        for token, following in enumerate(follows):
            model.lm_head.weight[following, token] = 2
    model.generation_config.do_sample = False
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
