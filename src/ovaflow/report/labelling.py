"""Names beside points, none over another."""

import itertools

import numpy as np
from matplotlib.transforms import Bbox

from ovaflow.report import wording
from ovaflow.report.drawing import NAMED

LONGEST = 26
"""Characters of a name."""

_SIZE = 9.5
_POINT = 5.0
_DIRECTIONS = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (0.8, 0.8, "left", "bottom"),
    (0.8, -0.8, "left", "top"),
    (-0.8, 0.8, "right", "bottom"),
    (-0.8, -0.8, "right", "top"),
)
_DISTANCES = (7, 14, 22, 32, 44)


def label_points(axes, points, important, line=()):
    """Write names beside points, where they cover neither a point nor a name.

    Names are placed one after another, each as near to its point as it can be.
    Important ones may stand farther away, with a line to their point. A name that
    fits nowhere is left out.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        With its final limits, in a figure whose size will not change.
    points : sequence of (str, float, float)
        Name and place of each, the most important first.
    important : int
        How many of them are.
    line : sequence of (float, float)
        Corners of a line of steps that names must not cover, either.

    Returns
    -------
    int
        Names that were placed.
    """
    # the layout is settled before sizes of texts mean anything
    axes.figure.draw_without_rendering()
    centres = [axes.transData.transform(point[1:]) for point in points]
    taken = [Bbox.from_bounds(x - _POINT, y - _POINT, 2 * _POINT, 2 * _POINT) for x, y in centres]
    taken += _along([axes.transData.transform(corner) for corner in line])
    inside, placed = axes.get_window_extent(), 0
    for place, (name, x, y) in enumerate(points):
        distances = _DISTANCES if place < important else _DISTANCES[:1]
        boxes = _place(axes, wording.plain(name, LONGEST), (x, y), taken, inside, distances)
        if boxes is not None:
            taken += boxes
            placed += 1
    return placed


def _along(corners):
    """Boxes over each straight piece of a line."""
    return [
        Bbox.from_extents(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])).padded(1.0)
        for a, b in itertools.pairwise(corners)
    ]


def _place(axes, name, point, taken, inside, distances):
    """Boxes of a name that was placed and of the line to its point; None where it fits nowhere."""
    for distance in distances:
        for right, up, horizontal, vertical in _DIRECTIONS:
            text = axes.annotate(
                name,
                point,
                (distance * right, distance * up),
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=_SIZE,
                color=NAMED["ink"],
                arrowprops=_leader() if distance > _DISTANCES[0] else None,
            )
            text.set_in_layout(False)
            box = _box(text)
            line = _line(axes.transData.transform(point), box) if distance > _DISTANCES[0] else []
            if _within(box, inside) and not any(each.overlaps(other) for each in (box, *line) for other in taken):
                return [box, *line]
            text.remove()
    return None


def _within(box, inside):
    return inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1


def _box(text):
    renderer = text.figure._get_renderer()
    text.update_positions(renderer)
    # of the letters alone, without the line to the point
    bare = super(type(text), text).get_window_extent(renderer)
    return bare.padded(1.0, 2.5)


def _line(point, box):
    """Small boxes on the way from a point, which is not among them, to a name."""
    end = np.clip(point, box.min, box.max)
    length = np.hypot(*(end - point))
    steps = np.arange(2 * _POINT, length, 3.0) / max(length, 1e-9)
    return [Bbox.from_bounds(*(point + step * (end - point)), 0.5, 0.5) for step in steps]


def _leader():
    return {"arrowstyle": "-", "color": NAMED["muted"], "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4}
