"""The model: a llama of the smallest kind (RMS norm, rotary positions, gated feed-forward, tied embeddings)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

SHAPE = {"vocab": 2048, "width": 160, "layers": 6, "heads": 5, "hidden": 448, "context": 1024, "theta": 10000.0, "epsilon": 1e-5}


class Half(torch.autograd.Function):
    """x @ w.t() with both rounded to bfloat16, forth and back: many times faster where the CPU has AMX."""

    @staticmethod
    def forward(ctx, x, w):
        x, w = x.bfloat16(), w.bfloat16()
        ctx.save_for_backward(x, w)
        return (x @ w.t()).float()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        g = g.bfloat16()
        return (g @ w).float(), (g.t() @ x).float()


class Layer(nn.Module):
    def __init__(self, s):
        super().__init__()
        w, h = s["width"], s["hidden"]
        inner = w ** -0.5
        outer = inner / math.sqrt(2 * s["layers"])

        def matrix(rows, columns, std):
            return nn.Parameter(torch.randn(rows, columns) * std)

        self.norm1, self.norm2 = nn.Parameter(torch.ones(w)), nn.Parameter(torch.ones(w))
        self.q, self.k, self.v = (matrix(w, w, inner) for _ in range(3))
        self.o = matrix(w, w, outer)
        self.gate, self.up = matrix(h, w, inner), matrix(h, w, inner)
        self.down = matrix(w, h, outer * math.sqrt(w / h))


class Model(nn.Module):
    def __init__(self, s=None, half=False):
        super().__init__()
        self.s = s = s or SHAPE
        self.times = Half.apply if half else lambda x, w: x @ w.t()
        self.embed = nn.Parameter(torch.randn(s["vocab"], s["width"]) * 0.02)
        self.norm = nn.Parameter(torch.ones(s["width"]))
        self.layers = nn.ModuleList(Layer(s) for _ in range(s["layers"]))
        d = s["width"] // s["heads"]
        angle = torch.arange(s["context"])[:, None] / s["theta"] ** (torch.arange(0, d, 2) / d)
        self.register_buffer("cos", torch.cat([angle.cos()] * 2, 1)[:, None], False)
        self.register_buffer("sin", torch.cat([-angle.sin(), angle.sin()], 1)[:, None], False)
        self.register_buffer("future", torch.full((s["context"],) * 2, float("-inf")).triu(1), False)

    def rms(self, x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.s["epsilon"]) * weight

    def rotate(self, x, start):
        half, end = x.shape[-1] // 2, start + x.shape[1]
        return x * self.cos[start:end] + torch.cat([x[..., half:], x[..., :half]], -1) * self.sin[start:end]

    def forward(self, ids, chosen=None, cache=None):
        """Logits of the chosen positions (flat indexes), or of all. cache: a list that carries keys and values along."""
        s = self.s
        batch, length = ids.shape
        heads, start = s["heads"], cache[0][0].shape[3] if cache else 0
        x = F.embedding(ids, self.embed)
        for n, layer in enumerate(self.layers):
            y = self.rms(x, layer.norm1).view(batch * length, -1)
            q, k, v = self.times(y, torch.cat([layer.q, layer.k, layer.v])).view(batch, length, 3, heads, -1).unbind(2)
            q = self.rotate(q, start).permute(0, 2, 1, 3)
            k = self.rotate(k, start).permute(0, 2, 3, 1)
            v = v.permute(0, 2, 1, 3)
            if cache is not None:
                if start:
                    k, v = torch.cat([cache[n][0], k], 3), torch.cat([cache[n][1], v], 2)
                    cache[n] = (k, v)
                else:
                    cache.append((k, v))
            scores = (q / math.sqrt(q.shape[-1])) @ k + self.future[start:start + length, :start + length]
            mixed = (torch.softmax(scores, -1) @ v).permute(0, 2, 1, 3).reshape(batch * length, -1)
            x = x + self.times(mixed, layer.o).view(batch, length, -1)
            y = self.rms(x, layer.norm2).view(batch * length, -1)
            gate, up = self.times(y, torch.cat([layer.gate, layer.up])).chunk(2, -1)
            x = x + self.times(F.silu(gate) * up, layer.down).view(batch, length, -1)
        x = x.view(batch * length, -1)
        if chosen is not None:
            x = x[chosen]
        return self.rms(x, self.norm) @ self.embed.t()
