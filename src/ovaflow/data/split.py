"""Which instances are set aside for testing, where the source does not say."""

import hashlib

_SPAN = float(1 << 64)


def in_test(content, fraction, seed=0):
    """Whether an instance belongs to the test set.

    Decided by a hash of the instance's content alone: the same on every
    machine and in any order of the instances, repeated instances stay together,
    and more instances move none of those already there.

    Parameters
    ----------
    content : str or bytes
    fraction : float
        Expected share of the test set, in [0, 1].
    seed : int
        Another seed, another split.

    Returns
    -------
    bool
    """
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    digest = hashlib.blake2b(block, digest_size=8, salt=seed.to_bytes(16, "little", signed=True)).digest()
    return int.from_bytes(digest, "little") < fraction * _SPAN
