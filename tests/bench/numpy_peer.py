"""The same steps in numpy, float32, each written with np.savetxt: numpy_peer.py MODEL TRACE OUT.

Token ids, layer and head are those of TRACE, a trace of onehead's. With a fourth argument, next, it goes on through all layers
and writes the ids and probabilities of the five likeliest next tokens instead.
"""
import os
import sys

import numpy as np

from gpt2_small import Checkpoint, read_run


def layer_norm(x, gain, bias, epsilon):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * gain + bias


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3)))


def head_steps(w, qkv, block, head, d_head):
    """From the queries, keys and values of all heads to one head's output: steps 05 to 13."""
    d_model = qkv.shape[1] // 3
    q, k, v = (qkv[:, third * d_model + head * d_head :][:, :d_head] for third in range(3))
    scores = q @ k.T
    scaled = scores / np.float32(np.sqrt(d_head))
    masked = np.where(np.tri(len(q), dtype=bool), scaled, np.float32(-np.inf))
    pattern = softmax(masked)
    blend = pattern @ v
    output = blend @ w[block + "attn.c_proj.weight"][head * d_head : (head + 1) * d_head]
    return {"05_q": q, "06_k": k, "07_v": v, "08_scores": scores, "09_scaled_scores": scaled, "10_masked_scores": masked,
            "11_softmax": pattern, "12_blend": blend, "13_output_projection": output}


def attention(w, x, layer, wanted):
    """All steps of the head that is wanted; all heads where the block only has to be passed through."""
    block, n_head = f"h.{layer}.", w.config["n_head"]
    normalized = layer_norm(x, w[block + "ln_1.weight"], w[block + "ln_1.bias"], w.config["layer_norm_epsilon"])
    qkv = normalized @ w[block + "attn.c_attn.weight"] + w[block + "attn.c_attn.bias"]
    heads = [head_steps(w, qkv, block, head, x.shape[1] // n_head) for head in range(n_head)]
    bias = w[block + "attn.c_proj.bias"]
    others = sum(step["13_output_projection"] for head, step in enumerate(heads) if head != wanted)
    after = x + heads[wanted]["13_output_projection"] + others + bias
    return {"03_residual": x, "04_normalized": normalized, **heads[wanted], "14_other_heads": others,
            "15_projection_bias": bias[np.newaxis], "16_residual_after": after}


def mlp(w, x, layer):
    block = f"h.{layer}."
    normalized = layer_norm(x, w[block + "ln_2.weight"], w[block + "ln_2.bias"], w.config["layer_norm_epsilon"])
    hidden = gelu(normalized @ w[block + "mlp.c_fc.weight"] + w[block + "mlp.c_fc.bias"])
    return x + hidden @ w[block + "mlp.c_proj.weight"] + w[block + "mlp.c_proj.bias"]


def next_tokens(w, x):
    for layer in range(w.config["n_layer"]):
        x = mlp(w, attention(w, x, layer, 0)["16_residual_after"], layer)
    last = layer_norm(x[-1:], w["ln_f.weight"], w["ln_f.bias"], w.config["layer_norm_epsilon"])
    probabilities = softmax(last @ w["wte.weight"].T)[0]
    likely = np.argsort(-probabilities, kind="stable")[:5]
    return np.column_stack([likely, probabilities[likely]])


def main(model, trace, out, what="steps"):
    w = Checkpoint(model)
    ids, layer, head = read_run(trace)
    if what == "next":
        os.mkdir(out)
        np.savetxt(os.path.join(out, "next.csv"), next_tokens(w, w["wte.weight"][ids] + w["wpe.weight"][: len(ids)]), fmt="%.9g", delimiter=",")
        return
    steps = {"01_token_embedding": w["wte.weight"][ids], "02_position_embedding": w["wpe.weight"][: len(ids)]}
    x = steps["01_token_embedding"] + steps["02_position_embedding"]
    for below in range(layer):
        x = mlp(w, attention(w, x, below, 0)["16_residual_after"], below)
    if layer > 0:
        steps = {}
    os.mkdir(out)
    for name, values in {**steps, **attention(w, x, layer, head)}.items():
        np.savetxt(os.path.join(out, name + ".csv"), values, fmt="%.9g", delimiter=",")


if __name__ == "__main__":
    main(*sys.argv[1:])
