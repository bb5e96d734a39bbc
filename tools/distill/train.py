"""Contrastive training of the table, in numpy: table = exp(W) * (E0 A + D)."""

import time

import numpy as np
import scipy.sparse as sp

import corpus

TAU = 0.05


def bag(texts, remap=None):
    """Sparse rows of sqrt(term frequency) over the tokens that occur; returns (matrix, tokens)."""
    flat = np.concatenate(texts)
    tokens, columns = np.unique(flat, return_inverse=True)
    rows = np.repeat(np.arange(len(texts)), [len(t) for t in texts])
    matrix = sp.coo_matrix((np.ones(len(flat), np.float32), (rows, columns)), shape=(len(texts), len(tokens))).tocsr()
    matrix.sum_duplicates()
    np.sqrt(matrix.data, out=matrix.data)
    return matrix, tokens


def thin(ids, drop, rng):
    """Leaves out each token with probability `drop`; at least half a short text stays."""
    if len(ids) < 5:
        return ids
    kept = ids[rng.random(len(ids)) >= drop]
    return kept if len(kept) else ids


class Model:
    """table = exp(w) * (E0 A + relu(E0 B) C + D), w = W + relu(E0 B) c; only D and W belong to single tokens."""

    def __init__(self, features, frequency, dim, hidden, seed):
        rng = np.random.default_rng(seed)
        _, size, axes = np.linalg.svd(features[rng.permutation(len(features))[:20000]], full_matrices=False)
        e0 = features @ axes[:512].T
        e0 /= np.sqrt(np.mean(np.sum(e0**2, 1)))
        width = e0.shape[1]
        # A random rotation: Adam on the principal axes themselves learns the first few only.
        turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
        self.e0 = (e0 @ turn).astype(np.float32)
        self.a = np.ascontiguousarray(turn.T[:, :dim], dtype=np.float32)
        self.b = (rng.standard_normal((width, hidden)) / np.sqrt(hidden) * np.sqrt(2)).astype(np.float32)
        self.c = np.zeros((hidden, dim + 1), np.float32)
        self.d = np.zeros((len(e0), dim), np.float32)
        self.w = np.log(1e-3 / (1e-3 + np.asarray(frequency))).astype(np.float32)
        self.state = {}

    def rows(self, e0, d, w):
        """(raw rows, gains, hidden) of some tokens."""
        hidden = np.maximum(e0 @ self.b, 0)
        extra = hidden @ self.c
        return e0 @ self.a + extra[:, :-1] + d, np.exp(w + extra[:, -1])[:, None], hidden

    def table(self):
        raw, gain, _ = self.rows(self.e0, self.d, self.w)
        return gain * raw

    def adam(self, name, value, grad, rows, rate, step):
        if name not in self.state:
            self.state[name] = (np.zeros_like(value), np.zeros_like(value))
        m, v = self.state[name]
        b1, b2 = 0.9, 0.999
        new_m = b1 * m[rows] + (1 - b1) * grad
        new_v = b2 * v[rows] + (1 - b2) * grad * grad
        m[rows], v[rows] = new_m, new_v
        value[rows] -= rate * (new_m / (1 - b1**step)) / (np.sqrt(new_v / (1 - b2**step)) + 1e-8)

    def step(self, left, right, keys, rates, step, rng=None, drop=0.0, decay=0.0):
        n = len(left)
        if drop:
            left, right = [thin(t, drop, rng) for t in left], [thin(t, drop, rng) for t in right]
        matrix, tokens = bag(left + right)
        e0 = self.e0[tokens]
        raw, gain, hidden = self.rows(e0, self.d[tokens], self.w[tokens])
        x = matrix @ (gain * raw)
        norm = np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
        z = x / norm
        q, d = z[:n], z[n:]
        logits = q @ d.T / TAU
        same = (keys[:, 0][:, None] == keys[:, 0]) | (keys[:, 1][:, None] == keys[:, 1])
        np.fill_diagonal(same, False)
        logits[same] = -1e4
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        r = np.exp(logits - logits.max(0, keepdims=True))
        r /= r.sum(0, keepdims=True)
        diag = np.arange(n)
        loss = -0.5 * (np.log(p[diag, diag] + 1e-12).mean() + np.log(r[diag, diag] + 1e-12).mean())
        g = p + r
        g[diag, diag] -= 2
        g *= 0.5 / (n * TAU)
        gz = np.concatenate([g @ d, g.T @ q])
        gx = (gz - z * np.sum(gz * z, 1, keepdims=True)) / norm
        gt = matrix.T @ gx.astype(np.float32)
        graw = gt * gain
        gw = np.sum(graw * raw, 1)
        gextra = np.concatenate([graw, gw[:, None]], axis=1)
        ghidden = gextra @ self.c.T
        ghidden[hidden <= 0] = 0
        every = slice(None)
        self.adam("a", self.a, e0.T @ graw, every, rates[0], step)
        self.adam("b", self.b, e0.T @ ghidden, every, rates[0], step)
        self.adam("c", self.c, hidden.T @ gextra, every, rates[0], step)
        self.adam("d", self.d, graw, tokens, rates[1], step)
        if decay:
            self.d[tokens] *= 1 - rates[1] * decay
        self.adam("w", self.w, gw, tokens, rates[2], step)
        return float(loss)


def averaged(make, runs, **settings):
    """The mean table of `runs` trainings that begin alike and see other batches: better than each, and less by chance."""
    total = None
    for run in range(runs):
        table = fit(make(), seed=settings["seed"] + run, **{k: v for k, v in settings.items() if k != "seed"}).table()
        total = table if total is None else total + table
    return total / runs


def fit(model, data, steps, batch, seed, log=print, check=None, every=250, scale=1.0, drop=0.0, decay=0.0, rates=(5e-4, 3e-3, 1e-2)):
    rng = np.random.default_rng(seed)
    weight = np.array([p.weight * np.sqrt(len(p.left)) for p in data])
    weight /= weight.sum()
    start, losses = time.process_time(), {}
    for step in range(1, steps + 1):
        pairs = data[rng.choice(len(data), p=weight)]
        left, right, keys = corpus.draw(pairs, batch, rng)
        turn = 0.5 * (1 + np.cos(np.pi * step / steps)) * min(1, step / 50) * scale
        loss = model.step(left, right, keys, [r * turn for r in rates], step, rng, drop, decay)
        losses.setdefault(pairs.name, []).append(loss)
        if step % every == 0 or step == steps:
            text = " ".join(f"{k}={np.mean(v[-20:]):.2f}" for k, v in sorted(losses.items()))
            log(f"step {step} cpu {time.process_time() - start:.0f}s {text}" + (" " + check(model) if check else ""))
    return model
