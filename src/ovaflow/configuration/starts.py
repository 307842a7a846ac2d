"""What starts need beside the means, by their names."""

FROM_ROOT = ("all-negative", "label-tree")
"""Starts that need the problem without positives solved."""

FROM_TREE = ("label-tree",)
"""Starts that need the label tree."""

OWN_SETTINGS = {
    "all-negative": ("root_epsilon",),
    "bias": ("bias_lambda",),
    "label-tree": ("root_epsilon",),
    "mean-separating": ("s", "t"),
    # labels that an earlier model lacks start mean-separating
    "pretrained": ("s", "t", "retrain"),
    "zero": (),
}
"""Settings that each start alone depends on."""
