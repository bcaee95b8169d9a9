"""PyTorch's forward pass to a layer's attention pattern, without writing anything: torch_peer.py MODEL TRACE OUT.

Prints how many seconds the pass took, the best of three; the weights are in memory before. Saves the pattern to OUT.
With a fourth argument, next, it goes on to the probabilities of the next token and saves the five largest.
"""
import sys
import time

import numpy as np
import torch
from torch.nn.functional import gelu, layer_norm

from gpt2_small import Checkpoint, read_run

PARTS = ("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
         "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias")


def attention(w, x, config):
    """The block's rows after the attention, and the patterns of its heads."""
    n, d_model = x.shape
    normalized = layer_norm(x, (d_model,), w["ln_1.weight"], w["ln_1.bias"], config["layer_norm_epsilon"])
    qkv = torch.addmm(w["attn.c_attn.bias"], normalized, w["attn.c_attn.weight"])
    q, k, v = (part.view(n, config["n_head"], -1).transpose(0, 1) for part in qkv.split(d_model, dim=1))
    scores = q @ k.transpose(1, 2) / (d_model / config["n_head"]) ** 0.5
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    pattern = scores.masked_fill(later, -float("inf")).softmax(dim=-1)
    blends = (pattern @ v).transpose(0, 1).reshape(n, d_model)
    return x + torch.addmm(w["attn.c_proj.bias"], blends, w["attn.c_proj.weight"]), pattern


def mlp(w, x, config):
    normalized = layer_norm(x, x.shape[1:], w["ln_2.weight"], w["ln_2.bias"], config["layer_norm_epsilon"])
    hidden = gelu(torch.addmm(w["mlp.c_fc.bias"], normalized, w["mlp.c_fc.weight"]), approximate="tanh")
    return x + torch.addmm(w["mlp.c_proj.bias"], hidden, w["mlp.c_proj.weight"])


def forward(blocks, x, config):
    for w in blocks[:-1]:
        x = mlp(w, attention(w, x, config)[0], config)
    return attention(blocks[-1], x, config)[1]


def next_token(blocks, final, unembedding, x, config):
    for w in blocks:
        x = mlp(w, attention(w, x, config)[0], config)
    return (layer_norm(x[-1:], x.shape[1:], *final, config["layer_norm_epsilon"]) @ unembedding.T).softmax(dim=-1)[0]


def main(model, trace, out, what="pattern"):
    checkpoint = Checkpoint(model)
    ids, layer, head = read_run(trace)
    if what == "next":
        layer = checkpoint.config["n_layer"] - 1
    blocks = [{part: torch.tensor(checkpoint[f"h.{i}.{part}"]) for part in PARTS} for i in range(layer + 1)]
    x = torch.tensor(checkpoint["wte.weight"][ids] + checkpoint["wpe.weight"][: len(ids)])
    final = [torch.tensor(checkpoint[name]) for name in ("ln_f.weight", "ln_f.bias")]
    unembedding = torch.tensor(checkpoint["wte.weight"]) if what == "next" else None
    seconds = []
    with torch.inference_mode():
        for _ in range(3):
            start = time.perf_counter()
            if what == "next":
                result = next_token(blocks, final, unembedding, x, checkpoint.config)
            else:
                result = forward(blocks, x, checkpoint.config)
            seconds.append(time.perf_counter() - start)
    np.save(out, result.sort(descending=True).values[:5].numpy() if what == "next" else result[head].numpy())
    print(min(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
