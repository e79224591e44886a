#!/usr/bin/env python3
"""The vocabulary: byte pair merges, run the way llama.cpp runs its "llama" (SentencePiece) tokenizer.

    tokenizer.py SIZE OUT.json < chats.jsonl

A blank is written as U+2581, merges never cross a word, and what is no piece falls back to bytes.
"""
import json
import re
import sys
from collections import Counter, defaultdict

SPECIAL = ["<unk>", "<s>", "<|im_end|>", "<|im_start|>"]
UNK, BOS, END, START = range(4)
BYTE0 = len(SPECIAL)
WORD = re.compile("\u2581?[A-Za-z]+|\u2581|.", re.S)


def words(text):
    return WORD.findall(text.replace(" ", "\u2581"))


def turn(role, text):
    """What stands between <|im_start|> and <|im_end|>. The blank makes a first word the same token as any other."""
    return role + "\n" + ("" if role == "assistant" else " ") + text


class Tokenizer:
    def __init__(self, path):
        with open(path) as f:
            d = json.load(f)
        self.pieces, self.scores = d["pieces"], d["scores"]
        self.ids = {p: i for i, p in enumerate(self.pieces)}
        self.known = {}

    def encode(self, text):
        out = []
        for w in words(text):
            if w not in self.known:
                self.known[w] = self.merge(list(w))
            out += self.known[w]
        return out

    def merge(self, parts):
        """Joins the neighbours with the best score, the leftmost first, until no two form a piece."""
        while True:
            best, at = None, -1
            for i in range(len(parts) - 1):
                k = self.ids.get(parts[i] + parts[i + 1])
                if k is not None and (best is None or self.scores[k] > best):
                    best, at = self.scores[k], i
            if at < 0:
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        out = []
        for p in parts:
            out += [self.ids[p]] if p in self.ids else [BYTE0 + b for b in p.encode()]
        return out

    def decode(self, ids):
        raw = b"".join(bytes([i - BYTE0]) if BYTE0 <= i < BYTE0 + 256 else self.pieces[i].replace("\u2581", " ").encode() for i in ids)
        return raw.decode("utf-8", "replace")


def train(size, lines):
    count = Counter()
    for line in lines:
        for role, text, _ in json.loads(line):
            count.update(words(text if role == "plain" else turn(role, text)))
    texts = [(list(w), n) for w, n in count.items() if len(w) > 1]
    pieces = SPECIAL + [f"<0x{b:02X}>" for b in range(256)]
    scores = [0.0] * len(pieces)
    for c in [chr(c) for c in range(33, 127)] + ["\u2581"]:
        pieces.append(c)
        scores.append(-1e5)
    pairs, where = Counter(), defaultdict(set)

    def tally(k, sign):
        parts, n = texts[k]
        for p in zip(parts, parts[1:]):
            pairs[p] += sign * n
            where[p].add(k)

    for k in range(len(texts)):
        tally(k, 1)
    seen = set(pieces)
    while len(pieces) < size:
        pair = max(pairs, key=lambda p: (pairs[p], p))
        new = pair[0] + pair[1]
        if new not in seen:
            seen.add(new)
            pieces.append(new)
            scores.append(float(-len(pieces)))
        for k in list(where[pair]):
            tally(k, -1)
            parts, i = texts[k][0], 0
            while i < len(parts) - 1:
                if parts[i] == pair[0] and parts[i + 1] == pair[1]:
                    parts[i:i + 2] = [new]
                i += 1
            tally(k, 1)
        del pairs[pair]
    return {"pieces": pieces, "scores": scores}


if __name__ == "__main__":
    vocabulary = train(int(sys.argv[1]), sys.stdin)
    with open(sys.argv[2], "w") as f:
        json.dump(vocabulary, f, ensure_ascii=False)
