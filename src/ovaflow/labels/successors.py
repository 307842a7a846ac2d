"""Subjects that replace others: chains of successors, followed to their ends."""

from collections.abc import Collection, Mapping, Sequence

REPLACED_BY_SEVERAL = "subjects_replaced_by_several"
REPLACED_IN_CIRCLE = "subjects_replaced_in_a_circle"
REPLACED_BY_UNKNOWN = "subjects_replaced_by_unknown_ones"
"""Reasons why a replaced subject has no successor, as counts name them."""


def find_successors(
    replaced_by: Mapping[str, Sequence[str]], assignable: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Find the assignable subject at the end of each chain of replacements.

    Parameters
    ----------
    replaced_by : mapping
        Subjects that replace each replaced one.
    assignable : collection
        Subjects that may be assigned.

    Returns
    -------
    successors : dict
        The assignable subject that replaces each replaced one, for those that have one.
    reasons : dict
        The reason why there is none, for the others.
    """
    successors = {}
    reasons = {}
    for subject in replaced_by:
        chain = set()
        last = subject
        while last not in chain and len(replaced_by.get(last, ())) == 1:
            chain.add(last)
            [last] = replaced_by[last]
        if last in chain:
            reasons[subject] = REPLACED_IN_CIRCLE
        elif last != subject and last in assignable:
            successors[subject] = last
        elif last in replaced_by:
            reasons[subject] = REPLACED_BY_SEVERAL
        else:
            reasons[subject] = REPLACED_BY_UNKNOWN
    return successors, reasons
