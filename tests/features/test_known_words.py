"""Words that a model knows, by the features that it has of them."""

import numpy as np
import pytest

from ovaflow.features.tfidf import TfIdf
from ovaflow.features.tokens import tokenize

PIECES = ['" dra"', '"drag"', '"rago"', '"agon"', '"gon "']


@pytest.mark.parametrize(
    ("block", "names", "text", "known"),
    [
        ("words", ["dragon"], "a dragon, dragons", ["dragon"]),
        ("stems=english", ["train-"], "training plains", ["training"]),
        ("prefixes=6", ["dragon*"], "dragonfly dragon dragoon", ["dragonfly"]),
        ("prefixes=4", ["drag*"], "dragonfly drawing", ["dragonfly"]),
        ("pairs", ["train dragon"], "they train dragon knights", ["train", "dragon"]),
        ("names", ["<dragon training>"], "train our dragons trainings", ["dragons", "trainings"]),
        # words of any language begin so, or have such pieces
        ("prefixes=3", ["dra*"], "dragonfly", []),
        ("characters=4-4", PIECES[1:], "dragon", []),
        ("characters=4-4", PIECES, "dragon, dragons", ["dragon"]),
        # a run of characters is many words
        ("characters=1-2", ['"猫"'], "黒猫が鳴く 犬が吠える", ["黒猫が鳴く"]),
        ("prefixes=2", ["黒猫*"], "黒猫が鳴く", ["黒猫が鳴く"]),
    ],
)
def test_a_word_is_known_by_features_that_tell_it(block, names, text, known) -> None:
    idf = np.ones(len(names), np.float32)
    transform = TfIdf(names, idf, sublinear=True, normalize=True, bias=0, features=(block,))
    tokens = tokenize([text])
    words = list(tokens.words)
    tokens = tokens._replace(words=words)
    terms = transform.find_terms(words)
    is_known = transform.find_known_tokens(tokens, terms, transform.find_sequences(tokens, terms))
    assert [words[number] for number in tokens.ids[is_known].tolist()] == known
