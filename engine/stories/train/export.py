#!/usr/bin/env python3
"""Writes a checkpoint as a GGUF file (version 3), its matrices as Q8_0.

    export.py CHECKPOINT.pt TOKENIZER.json OUT.gguf
"""
import struct
import sys

import numpy as np
import torch

from tokenizer import BOS, BYTE0, END, UNK, Tokenizer

TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['role'] != 'assistant' %}{{ ' ' }}{% endif %}"
    "{{ message['content'] | trim }}"
    "{{ '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # types of metadata values
TYPE_F32, TYPE_Q8_0 = 0, 8  # types of tensors
FILE_Q8_0 = 7
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # types of tokens
ALIGN = 32


def string(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def entry(key, kind, value, of=None):
    out = string(key) + struct.pack("<I", kind)
    if kind == ARRAY:
        out += struct.pack("<IQ", of, len(value))
        if of == STRING:
            return out + b"".join(string(v) for v in value)
        return out + np.array(value, {F32: "<f4", I32: "<i4"}[of]).tobytes()
    if kind == STRING:
        return out + string(value)
    return out + struct.pack({U32: "<I", F32: "<f", BOOL: "<?"}[kind], value)


def q8_0(m):
    """Blocks of 32 numbers of a row: a half precision scale and 32 signed bytes."""
    blocks = m.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / 127
    out = np.empty(len(blocks), [("scale", "<f2"), ("q", "i1", 32)])
    out["scale"] = scale[:, 0]
    out["q"] = np.round(blocks / np.where(scale > 0, scale, 1))
    return out.tobytes()


def interleave(m, heads):
    """llama.cpp rotates neighbouring rows of a head, the trainer rotates its halves: reorders the rows."""
    return m.reshape(heads, 2, m.shape[0] // heads // 2, m.shape[1]).swapaxes(1, 2).reshape(m.shape)


def tensors(weights, s):
    def get(name):
        return weights[name].float().numpy()

    out = [("token_embd.weight", get("embed")), ("output_norm.weight", get("norm"))]
    for n in range(s["layers"]):
        for ours, theirs in (("norm1", "attn_norm"), ("q", "attn_q"), ("k", "attn_k"), ("v", "attn_v"), ("o", "attn_output"),
                             ("norm2", "ffn_norm"), ("gate", "ffn_gate"), ("up", "ffn_up"), ("down", "ffn_down")):
            m = get(f"layers.{n}.{ours}")
            out.append((f"blk.{n}.{theirs}.weight", interleave(m, s["heads"]) if ours in "qk" else m))
    return out


def kind(i):
    if i == UNK:
        return UNKNOWN
    if i < BYTE0:
        return CONTROL
    return BYTE if i < BYTE0 + 256 else NORMAL


def metadata(tok, s, count):
    return [
        entry("general.architecture", STRING, "llama"),
        entry("general.type", STRING, "model"),
        entry("general.name", STRING, "Dragoman stories"),
        entry("general.description", STRING, "A demonstration: tells short made-up stories, trained on generated text only"),
        entry("general.size_label", STRING, f"{count / 1e6:.1f}M"),
        entry("general.file_type", U32, FILE_Q8_0),
        entry("general.quantization_version", U32, 2),
        entry("llama.vocab_size", U32, s["vocab"]),
        entry("llama.context_length", U32, s["context"]),
        entry("llama.embedding_length", U32, s["width"]),
        entry("llama.block_count", U32, s["layers"]),
        entry("llama.feed_forward_length", U32, s["hidden"]),
        entry("llama.attention.head_count", U32, s["heads"]),
        entry("llama.attention.head_count_kv", U32, s["heads"]),
        entry("llama.attention.layer_norm_rms_epsilon", F32, s["epsilon"]),
        entry("llama.rope.dimension_count", U32, s["width"] // s["heads"]),
        entry("llama.rope.freq_base", F32, s["theta"]),
        entry("tokenizer.ggml.model", STRING, "llama"),
        entry("tokenizer.ggml.pre", STRING, "default"),
        entry("tokenizer.ggml.tokens", ARRAY, tok.pieces, STRING),
        entry("tokenizer.ggml.scores", ARRAY, tok.scores, F32),
        entry("tokenizer.ggml.token_type", ARRAY, [kind(i) for i in range(len(tok.pieces))], I32),
        entry("tokenizer.ggml.unknown_token_id", U32, UNK),
        entry("tokenizer.ggml.bos_token_id", U32, BOS),
        entry("tokenizer.ggml.eos_token_id", U32, END),
        entry("tokenizer.ggml.eot_token_id", U32, END),
        entry("tokenizer.ggml.add_bos_token", BOOL, True),
        entry("tokenizer.ggml.add_eos_token", BOOL, False),
        entry("tokenizer.ggml.add_space_prefix", BOOL, False),
        entry("tokenizer.chat_template", STRING, TEMPLATE),
    ]


def main(checkpoint, tokenizer, out):
    z = torch.load(checkpoint, map_location="cpu")
    tok, listed = Tokenizer(tokenizer), tensors(z["model"], z["shape"])
    entries = metadata(tok, z["shape"], sum(m.size for _, m in listed))
    info, data = b"", b""
    for name, m in listed:
        data += b"\0" * (-len(data) % ALIGN)
        info += string(name) + struct.pack(f"<I{m.ndim}Q", m.ndim, *m.shape[::-1])
        info += struct.pack("<IQ", TYPE_F32 if m.ndim == 1 else TYPE_Q8_0, len(data))
        data += m.astype("<f4").tobytes() if m.ndim == 1 else q8_0(m)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(entries)) + b"".join(entries) + info
    with open(out, "wb") as f:
        f.write(head + b"\0" * (-len(head) % ALIGN) + data)
        print(f"{out}: {f.tell()} bytes, step {z['step']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
