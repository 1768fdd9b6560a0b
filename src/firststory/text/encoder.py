"""A sentence encoder of your own, in a local folder: texts in, vectors out. Nothing is ever downloaded."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.engines.engine import Engine
from firststory.errors import MissingExtraError, ParameterError

MODEL_NAMES = ("model.onnx", "onnx/model.onnx")
"""Where the model lies in the folder: as exported, or as the repositories of sentence-transformers have it."""
TOKENIZER_NAME = "tokenizer.json"
POOLED_OUTPUT = "sentence_embedding"
"""The output that is a vector for each text already; where there is none, the tokens' vectors are averaged."""
PACKAGES = ("onnxruntime", "tokenizers")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
BATCH_TEXTS = 32
N_THREADS = 2
MAX_TOKENS = 256
"""Of a text, where tokenizer.json does not say."""
MAX_TOKEN_CHARACTERS = 32
"""Longer texts than this many characters for each token are cut before they are read."""
HOW_TO = "docs/how-to/vectors.md says how to export one; nothing is downloaded."


class SentenceEncoder:
    """Runs an ONNX sentence encoder on the processor, with two threads, 32 texts at a time.

    The vector of a text is the output `sentence_embedding`, else the mean of its tokens' vectors; it has length one. A
    text is cut where tokenizer.json says (`truncation`), else after 256 tokens.

    Parameters
    ----------
    folder : str or path
        With model.onnx (or onnx/model.onnx) and tokenizer.json.

    Attributes
    ----------
    dimensions : int
        Of the vectors.
    fingerprint : str
        The SHA-256 of the files: two folders with the same one give the same vectors.
    max_tokens : int
        Where texts are cut.
    n_texts, seconds : int, float
        What was encoded so far, and how long it took.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        model, tokenizer = encoder_files(self.folder)
        onnxruntime, tokenizers = map(_needed, PACKAGES)
        self.fingerprint = _fingerprint(model, tokenizer)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = N_THREADS, 1
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise classes of their own
            raise _unusable(self.folder, "files that can be read", str(error)) from error
        self._inputs = {one.name: np.int32 if "int32" in one.type else np.int64 for one in self._session.get_inputs()}
        if unknown := sorted(set(self._inputs) - set(INPUTS)):
            raise _unusable(self.folder, f"a model with the inputs {', '.join(INPUTS)}", ", ".join(unknown))
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = POOLED_OUTPUT if POOLED_OUTPUT in outputs else outputs[0]
        padding, truncation = self._tokenizer.padding, self._tokenizer.truncation
        self._padding_id = padding["pad_id"] if padding else 0
        self.max_tokens = truncation["max_length"] if truncation else MAX_TOKENS
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.max_tokens)
        self._engine: Engine | None = None
        self.n_texts, self.seconds = 0, 0.0
        self.dimensions = 0  # not known before the first vector
        self.dimensions = self._encode([["one text"]])[0].shape[1]

    @property
    def texts_per_second(self) -> float:
        """How fast it has been; 0 before the first text."""
        return self.n_texts / self.seconds if self.seconds else 0.0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length one for each text; of zeros where the model gives no number."""
        return self.encode_each([texts])[0]

    def encode_each(self, lists: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """`encode` of each list; an engine gets the batches of all of them at once."""
        begin = time.perf_counter()
        rows = self._encode(lists)
        self.seconds += time.perf_counter() - begin
        self.n_texts += sum(map(len, lists))
        return rows

    def use_engine(self, engine: Engine) -> None:
        """Let an engine run the batches. Its workers need the same files in a folder of the same name."""
        self._engine = engine
        _loaded[str(self.folder.absolute()), self.fingerprint] = self  # threads of this process share it

    def _encode(self, lists: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        longest = MAX_TOKEN_CHARACTERS * self.max_tokens
        batches: list[list[list[int]]] = []
        places: list[tuple[int, list[int]]] = []
        for number, texts in enumerate(lists):
            tokens = [one.ids for one in self._tokenizer.encode_batch([text[:longest] for text in texts])]
            # Texts of like length together: what fills up a batch is computed and thrown away.
            order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
            for begin in range(0, len(order), BATCH_TEXTS):
                places.append((number, order[begin : begin + BATCH_TEXTS]))
                batches.append([tokens[i] for i in places[-1][1]])
        if self._engine is None:
            vectors = [self.run(batch) for batch in batches]
        else:
            vectors = self._engine.map(run_encoder, batches, str(self.folder.absolute()), self.fingerprint)
        width = vectors[0].shape[1] if vectors else self.dimensions
        rows = [np.zeros((len(texts), width), dtype=np.float32) for texts in lists]
        for (number, where), found in zip(places, vectors, strict=True):
            rows[number][where] = found
        return rows

    def run(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """The vectors of one batch of tokens."""
        width = max(1, max(map(len, tokens)))
        ids = np.full((len(tokens), width), self._padding_id)
        mask = np.zeros((len(tokens), width))
        for i, own in enumerate(tokens):
            ids[i, : len(own)], mask[i, : len(own)] = own, 1.0
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        try:
            found = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float64)
        except Exception as error:  # onnxruntime raises classes of its own
            raise _unusable(self.folder, "a model that runs on texts", str(error)) from error
        if found.ndim == 3 and found.shape[:2] == mask.shape:
            found = (found * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)[:, None]
        if found.ndim != 2 or len(found) != len(tokens):
            raise _unusable(self.folder, "a model that gives a vector for each text or token", f"shape {found.shape}")
        length = np.linalg.norm(found, axis=1, keepdims=True)
        usable = np.isfinite(length) & (length > 0.0)
        return np.where(usable, found / np.where(usable, length, 1.0), 0.0)


_loaded: dict[tuple[str, str], SentenceEncoder] = {}
"""Encoders of this process by their folder and their fingerprint, for the workers of an engine."""


def run_encoder(tokens: Sequence[Sequence[int]], folder: str, fingerprint: str) -> NDArray[np.float64]:
    """The vectors of one batch of tokens, on whatever worker: the encoder is loaded there once."""
    if (folder, fingerprint) not in _loaded:
        encoder = SentenceEncoder(folder)
        if encoder.fingerprint != fingerprint:
            raise _unusable(Path(folder), "the same files on every worker", "other files")
        _loaded[folder, fingerprint] = encoder
    return _loaded[folder, fingerprint].run(tokens)


def check_encoder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be an encoder, and say what is missing, before anything is loaded or written."""
    encoder_files(folder)
    for module in PACKAGES:
        _needed(module)


def encoder_files(folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The model and the tokenizer of a folder, or an error that says which files must be there."""
    place = Path(folder)
    model = next((place / name for name in MODEL_NAMES if (place / name).is_file()), None)
    tokenizer = place / TOKENIZER_NAME
    missing = ([] if model else [MODEL_NAMES[0]]) + ([] if tokenizer.is_file() else [TOKENIZER_NAME])
    if model is None or missing:
        raise ParameterError(
            owner="settings",
            parameter="vectors",
            allowed=f"a folder with {MODEL_NAMES[0]} and {TOKENIZER_NAME}",
            received=f"{place}: without {' and '.join(missing)}" if place.is_dir() else f"{place}: no such folder",
            remedy="Name the folder with --vectors. " + HOW_TO,
            message=f"The folder {place} has no {' and no '.join(missing)}: a sentence encoder is those two files."
            if place.is_dir()
            else f"There is no folder {place}: a sentence encoder is a folder with {MODEL_NAMES[0]} and "
            f"{TOKENIZER_NAME}.",
        )
    return model, tokenizer


def _fingerprint(model: Path, tokenizer: Path) -> str:
    """Of the model, of the weights that lie beside it, and of the tokenizer."""
    beside = sorted(path for path in model.parent.glob(f"{model.name}*") if path != model)
    whole = hashlib.sha256()
    for path in (model, *beside, tokenizer):
        with path.open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def _needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError("firststory", module, "encoder") from error


def _unusable(folder: Path, allowed: str, received: str) -> ParameterError:
    return ParameterError(
        owner="settings",
        parameter=f"the encoder {folder}",
        allowed=allowed,
        received=received,
        remedy="Export the model once more. " + HOW_TO,
    )
