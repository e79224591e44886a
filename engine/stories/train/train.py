#!/usr/bin/env python3
"""Trains the model, in slices: it goes on where CHECKPOINT.pt stops. SIGTERM ends a slice.

    train.py [--steps N] [--warm warm.npz --warm-steps N] [--slice SECONDS] CHECKPOINT.pt VALIDATION.npz DATA.npz...

The learning rate and the order of the data depend on the step alone, never on the clock, and the seeds are fixed.
Matrices are trained with Muon (momentum whose update is made orthogonal), the rest with AdamW.
"""
import argparse
import os
import signal
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import SHAPE, Model

TOKENS = 4096  # in a batch, at most
RATE, ADAM_RATE, MOMENTUM, DECAY = 0.02, 0.004, 0.95, 0.02


class Data:
    def __init__(self, files):
        loaded = [np.load(f) for f in files]
        self.ids, self.weights, self.lengths = (np.concatenate([z[k] for z in loaded]) for k in ("ids", "weights", "lengths"))
        self.starts = np.concatenate([[0], np.cumsum(self.lengths.astype(np.int64))[:-1]])

    def batches(self, seed):
        """One pass over the data in a random order, chats of like length together."""
        rng = np.random.default_rng(seed)
        order, out = rng.permutation(len(self.lengths)), []
        for i in range(0, len(order), 4096):
            part, batch = order[i:i + 4096], []
            for k in part[np.argsort(self.lengths[part], kind="stable")]:
                if batch and self.lengths[k] * (len(batch) + 1) > TOKENS:
                    out.append(batch)
                    batch = []
                batch.append(k)
            out.append(batch)
        rng.shuffle(out)
        return out

    def batch(self, chats):
        """Input tokens, where the loss counts (flat), what comes there, and how much it counts."""
        width = max(self.lengths[k] for k in chats)
        ids, weights = np.zeros((len(chats), width), np.int64), np.zeros((len(chats), width), np.float32)
        for row, k in enumerate(chats):
            n, at = self.lengths[k], self.starts[k]
            ids[row, :n], weights[row, :n] = self.ids[at:at + n], self.weights[at:at + n]
        ids, weights = torch.from_numpy(ids), torch.from_numpy(weights)[:, 1:].reshape(-1)
        chosen = weights.nonzero().squeeze(1)
        return ids[:, :-1].contiguous(), chosen, ids[:, 1:].reshape(-1)[chosen], weights[chosen]


class Order:
    """Which batch belongs to which step."""

    def __init__(self, data, first):
        self.data, self.first, self.epoch = data, first, None

    def at(self, step):
        if self.epoch is None:
            self.size, self.epoch, self.list = len(self.data.batches(0)), -1, []
        epoch, i = divmod(step - self.first, self.size)
        while True:
            if epoch != self.epoch:
                self.epoch, self.list = epoch, self.data.batches(1000 + epoch)
            if i < len(self.list):
                return self.data.batch(self.list[i])
            i %= len(self.list)


def orthogonal(g, half):
    """Newton-Schulz steps towards the nearest matrix with orthonormal rows (or columns)."""
    tall = g.shape[0] > g.shape[1]
    x = (g.t() if tall else g) / (g.norm() + 1e-7)
    if half:
        x = x.bfloat16()
    for _ in range(5):
        a = x @ x.t()
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
    return (x.t() if tall else x).float()


class Trainer:
    def __init__(self, path, steps, half=False):
        torch.manual_seed(1)
        self.path, self.steps, self.half, self.step, self.seconds = path, steps, half, 0, 0.0
        self.model = Model(half=half)
        named = list(self.model.named_parameters())
        self.matrices = [p for n, p in named if p.dim() == 2 and n != "embed"]
        self.momenta = [torch.zeros_like(p) for p in self.matrices]
        self.adam = torch.optim.AdamW([p for n, p in named if p.dim() == 1 or n == "embed"], lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0)
        if os.path.exists(path):
            z = torch.load(path)
            self.model.load_state_dict(z["model"])
            self.adam.load_state_dict(z["adam"])
            self.momenta, self.step, self.seconds = z["momenta"], z["step"], z["seconds"]

    def save(self, seconds):
        state = {"shape": SHAPE, "model": self.model.state_dict(), "adam": self.adam.state_dict(), "momenta": self.momenta,
                 "step": self.step, "seconds": seconds}
        torch.save(state, self.path + ".tmp")
        os.replace(self.path + ".tmp", self.path)

    def rate(self):
        """Up during 60 steps, level until 40 % of the way, then down to nearly nothing."""
        return min(1, (self.step + 1) / 60) * min(1, max(0.02, (1 - self.step / self.steps) / 0.6))

    def update(self, batch):
        ids, chosen, wanted, weights = batch
        loss = F.cross_entropy(self.model(ids, chosen), wanted, reduction="none")
        self.model.zero_grad(set_to_none=True)
        ((loss * weights).sum() / weights.sum()).backward()
        rate = self.rate()
        self.adam.param_groups[0]["lr"] = ADAM_RATE * rate
        self.adam.step()
        with torch.no_grad():
            for p, m in zip(self.matrices, self.momenta):
                m.mul_(MOMENTUM).add_(p.grad)
                u = orthogonal(p.grad.add(m, alpha=MOMENTUM), self.half) * max(1, p.shape[0] / p.shape[1]) ** 0.5
                p.mul_(1 - RATE * rate * DECAY).add_(u, alpha=-RATE * rate)
        self.step += 1
        return loss.mean().item()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--steps", type=int, default=2400)
    a.add_argument("--warm")
    a.add_argument("--warm-steps", type=int, default=0)
    a.add_argument("--slice", type=float, default=1e9)
    a.add_argument("--half", action="store_true", help="multiply in bfloat16; only for CPUs with AMX")
    a.add_argument("checkpoint")
    a.add_argument("validation")
    a.add_argument("data", nargs="+")
    a = a.parse_args()
    t = Trainer(a.checkpoint, a.steps, a.half)
    check = Data([a.validation])
    check_batches = [check.batch(b) for b in check.batches(0)[:12]]
    order = Order(Data(a.data), a.warm_steps)
    warm = Order(Data([a.warm]), 0) if a.warm_steps else None
    print(f"{sum(p.numel() for p in t.model.parameters()) / 1e6:.2f} M parameters, at step {t.step} of {a.steps}", flush=True)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    begin, saved, before, losses = time.time(), time.time(), t.seconds, []
    while t.step < a.steps and time.time() - begin < a.slice and not stop:
        losses.append(t.update((warm if t.step < a.warm_steps else order).at(t.step)))
        now = before + time.time() - begin
        if t.step % 100 == 0 or t.step == a.steps:
            with torch.no_grad():
                v = sum(F.cross_entropy(t.model(ids, chosen), wanted).item() for ids, chosen, wanted, _ in check_batches) / len(check_batches)
            print(f"step {t.step}: loss {sum(losses) / len(losses):.4f}, validation {v:.4f}, {now:.0f} s, {time.process_time():.0f} s of CPU in this slice", flush=True)
            losses = []
        if time.time() - saved > 120:
            t.save(now)
            saved = time.time()
    t.save(before + time.time() - begin)
    print(f"saved at step {t.step}", flush=True)


if __name__ == "__main__":
    main()
