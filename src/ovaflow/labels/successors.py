"""Which subjects stand for replaced ones: chains of successors, to their ends."""

REPLACED_BY_SEVERAL, REPLACED_IN_CIRCLE, REPLACED_BY_UNKNOWN = (
    f"subjects_replaced_{how}" for how in ("by_several", "in_a_circle", "by_unknown_ones")
)
"""Why no subject stands for a replaced one, as counts call it."""


def find_successors(replaced_by, assignable):
    """The assignable subject that stands for each replaced one; of those that have none, why."""
    ends = {}
    why = {}
    for subject in replaced_by:
        chain = {}
        last = subject
        while last not in chain and len(replaced_by.get(last, ())) == 1:
            chain[last] = True
            [last] = replaced_by[last]
        if last in chain:
            why[subject] = REPLACED_IN_CIRCLE
        elif last != subject and last in assignable:
            ends[subject] = last
        else:
            why[subject] = REPLACED_BY_SEVERAL if last in replaced_by else REPLACED_BY_UNKNOWN
    return ends, why
