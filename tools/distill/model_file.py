"""The artefact: writing, reading, quantising. README.md, section "File", is the format."""

import struct

import numpy as np

MAGIC = b"CBSTATIC"
VERSION = 1
ALIGN = 64
STEPS_PER_RMS = 8.0


def quantise(table):
    """int8 rows and f16 scales. The step is the row's rms / 8: five bits of entropy a value, so it compresses."""
    rms = np.sqrt(np.mean(table.astype(np.float64) ** 2, axis=1))
    scale = np.maximum(rms / STEPS_PER_RMS, np.abs(table).max(1) / 127).astype(np.float16)
    scale = np.maximum(scale, np.float16(1e-7))
    rows = np.rint(table / scale.astype(np.float32)[:, None])
    return np.clip(rows, -127, 127).astype(np.int8), scale


def write(path, pieces, fold, rows, scale, means):
    texts = [text.encode() for text, _ in pieces]
    codes = sorted(fold)
    values = [fold[c].encode() for c in codes]
    sections = [
        np.array([cost for _, cost in pieces], "<u2").tobytes(),
        bytes(len(t) for t in texts),
        b"".join(texts),
        np.array(codes, "<u4").tobytes(),
        bytes(len(v) for v in values),
        b"".join(values),
        means.astype("<f4").tobytes(),
        scale.astype("<f2").tobytes(),
        rows.tobytes(),
    ]
    at, offsets = ALIGN * 2, []
    for section in sections:
        offsets.append(at)
        at += -(-len(section) // ALIGN) * ALIGN
    header = MAGIC + struct.pack("<4I", VERSION, rows.shape[1], len(pieces), len(codes))
    header += b"".join(struct.pack("<2I", o, len(s)) for o, s in zip(offsets, sections))
    out = bytearray(at)
    out[: len(header)] = header
    for offset, section in zip(offsets, sections):
        out[offset : offset + len(section)] = section
    with open(path, "wb") as file:
        file.write(out)


def split(blob, lengths):
    ends = np.cumsum(lengths)
    return [blob[e - n : e].decode() for e, n in zip(ends.tolist(), lengths)]


def read(path):
    """Returns (pieces, fold, int8 rows, f16 scales, f32 means [zh, en])."""
    blob = open(path, "rb").read()
    if blob[:8] != MAGIC:
        raise ValueError("not a static encoder file")
    version, dims, count, folds = struct.unpack_from("<4I", blob, 8)
    if version != VERSION:
        raise ValueError(f"version {version} is not supported")
    spans = [struct.unpack_from("<2I", blob, 24 + 8 * i) for i in range(9)]
    part = [blob[at : at + size] for at, size in spans]
    costs = np.frombuffer(part[0], "<u2")
    texts = split(part[2], list(part[1]))
    codes = np.frombuffer(part[3], "<u4")
    values = split(part[5], list(part[4]))
    means = np.frombuffer(part[6], "<f4").reshape(2, dims)
    scale = np.frombuffer(part[7], "<f2")
    rows = np.frombuffer(part[8], np.int8).reshape(count, dims)
    return list(zip(texts, costs.tolist())), dict(zip(codes.tolist(), values)), rows, scale, means


def table(rows, scale):
    return rows.astype(np.float32) * scale.astype(np.float32)[:, None]
