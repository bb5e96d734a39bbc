"""What becomes training text and vocabulary: `python -m unittest test_text`."""

import pathlib
import tempfile
import unittest

import numpy as np

import corpus
import train
import vocab

MODULE = '''
def area(width, height):
    """Area of a rectangle.

    More about it.
    """
    return width * height


class Box:
    async def open(self): "Opens it."; return self

    def bare(self):
        return 1
'''


class Functions(unittest.TestCase):
    def test_code_is_without_its_docstring(self):
        (source, first, code), other = corpus.functions(MODULE)
        self.assertEqual("Area of a rectangle.", first)
        self.assertEqual("def area(width, height):\n    return width * height", code)
        self.assertIn("More about it.", source)
        self.assertEqual(("Opens it.", ""), other[1:])


class OwnLicence(unittest.TestCase):
    def test_only_what_comes_under_the_psf_licence_alone_is_used(self):
        for text, own in (
            ("import os\n", False),
            ("# Copyright (C) 2001-2007 Python Software Foundation\n", False),
            ("# Copyright 2007 Somebody, Inc.\n# Licensed to PSF under a Contributor Agreement.\n", False),
            ("# Copyright 2001 by Somebody. All Rights Reserved.\n", True),
            ("# Copyright (c) 2001 Python Software Foundation\n# (c) 2002 Somebody\n", True),
        ):
            self.assertEqual(own, corpus.has_own_licence(text), text)


class Excluded(unittest.TestCase):
    def test_a_run_of_eight_words_is_found_in_other_writing(self):
        with tempfile.TemporaryDirectory() as folder:
            line = '{"title": "t", "text": "zero One, two-three FOUR five_six seven eight"}\n'
            pathlib.Path(folder, "corpus.jsonl").write_text(line)
            excluded = corpus.Excluded(folder)
        self.assertTrue(excluded.holds("and one two three four five six seven eight nine"))
        self.assertFalse(excluded.holds("one two three four five six seven nine"))
        self.assertFalse(corpus.Excluded().holds("one two three four five six seven eight"))


class Inflected(unittest.TestCase):
    def check(self, lemma, part, forms, **odd):
        exceptions = {(part, lemma): odd["odd"]} if odd else {}
        self.assertEqual(forms.split(), vocab.inflected(lemma, part, exceptions))

    def test_regular_forms(self):
        self.check("city", "noun", "cities")
        self.check("box", "noun", "boxes")
        self.check("bake", "verb", "bakes baking baked")
        self.check("agree", "verb", "agrees agreeing agreed")
        self.check("carry", "verb", "carries carrying carried")
        self.check("happy", "adj", "happier happiest", odd=["happier", "happiest"])
        self.check("cold", "adj", "colder coldest")
        self.check("american", "adj", "")

    def test_exceptions_take_the_place_of_regular_forms(self):
        self.check("child", "noun", "children", odd=["children"])
        self.check("fall", "verb", "falls fell fallen falling", odd=["fell", "fallen"])
        self.check("abet", "verb", "abets abetted abetting", odd=["abetted", "abetting"])


class Averaged(unittest.TestCase):
    def test_the_mean_of_runs_with_different_seeds(self):
        seen = []

        class Run:
            def table(self):
                return np.full((2, 2), float(seen[-1]))

        original, train.fit = train.fit, lambda model, seed, steps: seen.append(seed) or model
        try:
            table = train.averaged(Run, 3, seed=5, steps=1)
        finally:
            train.fit = original
        self.assertEqual([5, 6, 7], seen)
        self.assertEqual(6.0, table[0, 0])


if __name__ == "__main__":
    unittest.main()
