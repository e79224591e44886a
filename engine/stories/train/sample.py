#!/usr/bin/env python3
"""Asks a checkpoint directly, to look at it while it is being trained.

    sample.py CHECKPOINT.pt TOKENIZER.json [--heat 0.8] REQUEST...
"""
import argparse

import torch

from model import Model
from prepare import encode
from tokenizer import END, START, Tokenizer


def answer(model, tok, request, heat, system="You are a helpful assistant."):
    ids, _ = encode(tok, [["system", system, []], ["user", request, []]])
    ids += [START] + tok.encode("assistant\n")
    cache, out = [], []
    with torch.no_grad():
        while len(out) < 400:
            logits = model(torch.tensor([ids]), cache=cache)[-1]
            k = int(torch.multinomial(torch.softmax(logits / heat, 0), 1)) if heat else int(logits.argmax())
            if k == END:
                return tok.decode(out), True
            out.append(k)
            ids = [k]
    return tok.decode(out), False


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--heat", type=float, default=0)
    a.add_argument("checkpoint")
    a.add_argument("tokenizer")
    a.add_argument("requests", nargs="+")
    a = a.parse_args()
    torch.manual_seed(1)
    z = torch.load(a.checkpoint)
    model = Model(z["shape"])
    model.load_state_dict(z["model"])
    tok = Tokenizer(a.tokenizer)
    for r in a.requests:
        text, ended = answer(model, tok, r, a.heat)
        print(f"{r}\n  {text}{'' if ended else ' (does not end)'}\n")


if __name__ == "__main__":
    main()
