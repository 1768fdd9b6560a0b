"""scripts/bert-to-onnx writes what BERT computes: a small random one beside the formulas in NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from math import erf
from pathlib import Path

import numpy as np
import onnxruntime
from safetensors.numpy import save_file

SCRIPT = Path(__file__).parents[1] / "scripts" / "bert-to-onnx"
SIZE, HEADS, INNER, WORDS, LAYERS = 8, 2, 12, 20, 2


def random_weights():
    rng = np.random.default_rng(0)
    shapes = {f"embeddings.{name}_embeddings.weight": (n, SIZE) for name, n in
              {"word": WORDS, "position": 16, "token_type": 2}.items()}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        own = f"encoder.layer.{layer}"
        dense = {f"attention.self.{part}": (SIZE, SIZE) for part in ("query", "key", "value")}
        dense |= {"attention.output.dense": (SIZE, SIZE), "intermediate.dense": (INNER, SIZE)}
        for name, shape in (dense | {"output.dense": (SIZE, INNER)}).items():
            shapes |= {f"{own}.{name}.weight": shape, f"{own}.{name}.bias": shape[:1]}
        norms += [f"{own}.attention.output.LayerNorm", f"{own}.output.LayerNorm"]
    shapes |= {f"{name}.{part}": (SIZE,) for name in norms for part in ("weight", "bias")}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def bert(w, ids):
    """One text without padding, by the formulas of the paper (Devlin et al., 2019; post-norm, exact GELU)."""

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x, name):
        x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        own = f"encoder.layer.{layer}"
        q, k, v = (dense(x, f"{own}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in np.split(np.arange(SIZE), HEADS):
            alike = np.exp(q[:, head] @ k[:, head].T / np.sqrt(SIZE / HEADS))
            heads.append(alike / alike.sum(axis=1, keepdims=True) @ v[:, head])
        attended = dense(np.hstack(heads), f"{own}.attention.output.dense")
        x = norm(x + attended, f"{own}.attention.output.LayerNorm")
        inner = dense(x, f"{own}.intermediate.dense")
        inner *= 0.5 * (1.0 + np.vectorize(erf)(inner / np.sqrt(2.0)))
        x = norm(x + dense(inner, f"{own}.output.dense"), f"{own}.output.LayerNorm")
    return x


def test_the_graph_computes_bert_and_padding_changes_nothing(tmp_path):
    weights = random_weights()
    config = {
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": SIZE, "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer.json").write_text("{}")
    save_file(weights, tmp_path / "model.safetensors")
    subprocess.run([sys.executable, SCRIPT, tmp_path, tmp_path / "out"], check=True)
    session = onnxruntime.InferenceSession(tmp_path / "out" / "model.onnx", providers=["CPUExecutionProvider"])
    ids, mask = np.array([[3, 7, 1, 9], [5, 2, 0, 0]]), np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    (found,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    exact = {name: values.astype(float) for name, values in weights.items()}
    np.testing.assert_allclose(found[0], bert(exact, ids[0]), atol=1e-4)
    np.testing.assert_allclose(found[1, :2], bert(exact, ids[1, :2]), atol=1e-4)
