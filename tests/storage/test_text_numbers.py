"""Numbers of stored texts, against a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.sparse.csr import offsets
from ovaflow.storage.arrays import Strings

# a few letters, so that texts are equal, or parts of one another
TEXTS = st.lists(st.text(alphabet="aä\ud800\n", max_size=3) | st.text(max_size=20))


@given(TEXTS, TEXTS)
def test_texts_are_found_as_a_dictionary_finds_them(texts, others) -> None:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    block = np.frombuffer(bytearray().join(encoded), np.uint8)
    strings = Strings(block, offsets([len(content) for content in encoded]))
    ours = strings.numbers
    theirs = {text: number for number, text in enumerate(texts)}
    assert ours.find(texts + others) == [theirs.get(text, -1) for text in texts + others]
    assert strings.beginning_with("a") == [
        number for number, text in enumerate(texts) if text.startswith("a")
    ]
    assert [ours.get(text) for text in others] == [theirs.get(text) for text in others]
