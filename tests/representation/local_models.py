"""Small models in the layouts of other programs, made and saved on the spot, and data in the layouts people have."""

from __future__ import annotations

import json
import struct

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "fine", "dull", "film", "story", "long", "short"]


def pictures(folder, classes=2, each=5, side=12, seed=0):
    """A folder of classes with small colour pictures; gives them in the order of their paths."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    made = []
    for number in range(classes):
        place = folder / f"class{number}"
        place.mkdir(parents=True)
        for at in range(each):
            array = rng.integers(0, 256, size=(side, side, 3), dtype=np.uint8)
            Image.fromarray(array).save(place / f"{at}.png")
            made.append(array)
    return made


def texts(path, rows=9):
    """A table of short texts of different lengths, as JSON lines."""
    rng = np.random.default_rng(1)
    made = [" ".join(rng.choice(WORDS[5:], size=1 + at % 6)) for at in range(rows)]
    lines = (json.dumps({"text": one, "label": "pos" if at % 2 else "neg"}) for at, one in enumerate(made))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def bert(folder):
    """A folder as `save_pretrained` writes it, with a tokenizer."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=20,
        max_position_embeddings=32,
    )
    model = BertModel(config).eval()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    return model, tokenizer


def vit(folder):
    """A vision transformer with a head for three classes, and the file that says how pictures are prepared."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=20,
        image_size=12,
        patch_size=4,
        num_labels=3,
    )
    model = ViTForImageClassification(config).eval()
    model.save_pretrained(folder)
    settings = {"size": {"height": 12, "width": 12}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return model


def normalized(arrays, mean=0.5, deviation=0.5):
    """Pictures as a batch, channels first, by hand."""
    return ((np.stack(arrays).astype(np.float64) / 255 - mean) / deviation).transpose(0, 3, 1, 2).astype(np.float32)


def onnx_graph(rng):
    """relu(pixels @ first) @ second as an ONNX graph, written by hand: bytes, and the two matrices."""
    first, second = (rng.normal(size=shape).astype(np.float32) for shape in ((432, 6), (6, 4)))
    shape = _tensor("shape", np.array([0, -1], np.int64))
    weights = [shape, _tensor("first", first), _tensor("second", second)]
    nodes = [
        _node("Reshape", ["pixels", "shape"], ["flat"]),
        _node("MatMul", ["flat", "first"], ["product"]),
        _node("Relu", ["product"], ["hidden"]),
        _node("MatMul", ["hidden", "second"], ["logits"]),
    ]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, b"by hand")
    graph += b"".join(_bytes(5, one) for one in weights)
    graph += _bytes(11, _value("pixels", [None, 3, 12, 12])) + _bytes(12, _value("logits", [None, 4]))
    return _whole(1, 8) + _bytes(8, _whole(2, 17)) + _bytes(7, graph), first, second


def _number(value):
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def _bytes(field, content):
    return _number(field << 3 | 2) + _number(len(content)) + content


def _whole(field, value):
    return _number(field << 3) + _number(value)


def _node(kind, given, made):
    return (
        b"".join(_bytes(1, one.encode()) for one in given)
        + b"".join(_bytes(2, one.encode()) for one in made)
        + _bytes(4, kind.encode())
    )


def _tensor(name, array):
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    return (
        b"".join(_whole(1, side) for side in array.shape)
        + _whole(2, kind)
        + _bytes(8, name.encode())
        + _bytes(9, array.tobytes())
    )


def _value(name, shape):
    sides = b"".join(_bytes(1, _bytes(2, b"n") if side is None else _whole(1, side)) for side in shape)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _whole(1, 1) + _bytes(2, sides)))


def safetensors_header(path):
    """The header of a file of safetensors, to break it."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]
