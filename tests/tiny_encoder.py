"""A sentence encoder small enough to be made in a test, and what it must give, in plain NumPy."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = ["[PAD]", "[UNK]", "storm", "gale", "floods", "harbour", "port", "vote", "mayor", "resigns", "bridge", "closed"]
DIMENSIONS = 5


def table(seed: int = 0) -> np.ndarray:
    """One vector per word; that of the padding is large, so that it would be noticed."""
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
    rows[0] = 1000.0
    return rows


def expected(text: str, seed: int = 0, max_tokens: int = 256) -> np.ndarray:
    """The direction of the mean of the words' vectors."""
    words = text.lower().split()[:max_tokens]
    if not words:
        return np.zeros(DIMENSIONS)
    mean = table(seed)[[WORDS.index(word) if word in WORDS else 1 for word in words]].astype(float).mean(axis=0)
    return mean / np.linalg.norm(mean)


def make_encoder(folder, *, seed: int = 0, pooled: bool = False, kind=TensorProto.INT64, max_tokens=None, extra=()):
    """Write model.onnx and tokenizer.json: Gather, and with `pooled` the masked mean as `sentence_embedding`."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if max_tokens is not None:
        tokenizer.enable_truncation(max_tokens)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = ["input_ids", *(["attention_mask"] if pooled else []), *extra]
    inputs = [helper.make_tensor_value_info(name, kind, ("n", "tokens")) for name in names]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    constants = [numpy_helper.from_array(table(seed), "table")]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ("n", "tokens", DIMENSIONS))]
    if pooled:
        constants += [numpy_helper.from_array(np.array(axis), f"axis_{axis[0]}") for axis in ([1], [2])]
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "axis_2"], ["weights"]),
            helper.make_node("Mul", ["last_hidden_state", "weights"], ["masked"]),
            helper.make_node("ReduceSum", ["masked", "axis_1"], ["sentence_embedding"], keepdims=0),
        ]
        outputs.append(
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ("n", DIMENSIONS)),
        )
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")
    return folder
