#!/usr/bin/env python3
"""Turns chats into arrays for the trainer: tokens, and how much the loss of each one counts.

    prepare.py TOKENIZER.json OUT.npz < chats.jsonl
"""
import json
import sys

import numpy as np

from tokenizer import BOS, END, START, Tokenizer, turn, words

LONGEST = 640
KEY_WEIGHT = 3


def weigh(tok, text, keys):
    """Tokens of an answer and their weights: words that were asked for weigh more."""
    ids, weights = [], []
    keys = {k.lower() for k in keys}
    for w in words(text):
        t = tok.encode(w.replace("\u2581", " "))
        ids += t
        weights += [KEY_WEIGHT if w.strip("\u2581").lower() in keys else 1] * len(t)
    return ids, weights


def encode(tok, chat):
    ids, weights = [BOS], [0]
    for role, text, keys in chat:
        if role == "plain":
            t, w = weigh(tok, text, keys)
            return ids + t + [END], weights + w + [1]
        if role == "assistant":
            head = tok.encode(role + "\n")
            t, w = weigh(tok, text, keys)
            body, w = head + t + [END], [0] * len(head) + w + [1]
        else:
            body = tok.encode(turn(role, text)) + [END]
            w = [0] * len(body)
        ids += [START] + body + tok.encode("\n")
        weights += [0] + w + [0]
    return ids, weights


def main(tokenizer, out):
    tok = Tokenizer(tokenizer)
    ids, weights, lengths = [], [], []
    for line in sys.stdin:
        i, w = encode(tok, json.loads(line))
        if len(i) <= LONGEST:
            ids += i
            weights += w
            lengths.append(len(i))
    np.savez(out, ids=np.array(ids, np.int16), weights=np.array(weights, np.int8), lengths=np.array(lengths, np.int32))
    print(f"{out}: {len(lengths)} chats, {len(ids) / 1e6:.2f} M tokens, {sum(map(bool, weights)) / 1e6:.2f} M of them to be learned")


if __name__ == "__main__":
    main(*sys.argv[1:])
