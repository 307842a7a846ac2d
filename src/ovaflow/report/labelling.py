"""Names beside points, none over another."""

import itertools

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


def label_points(axes, points, line=()):
    """Write names beside points, where they cover neither a point nor a name.

    Names are placed one after another, each as near to its point as it can be;
    farther ones get a line. A name that fits nowhere is left out.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        With its final limits, in a figure whose size will not change.
    points : sequence of (str, float, float)
        Name and place of each, the most important first.
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
    for name, x, y in points:
        label = _place(axes, wording.plain(name, LONGEST), (x, y), taken, inside)
        if label is not None:
            taken.append(label)
            placed += 1
    return placed


def _along(corners):
    """Boxes over each straight piece of a line."""
    return [
        Bbox.from_extents(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])).padded(1.0)
        for a, b in itertools.pairwise(corners)
    ]


def _place(axes, name, point, taken, inside):
    """The box of a name that was placed; None where it fits nowhere."""
    for distance in _DISTANCES:
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
            if inside.fully_containsx(box.x0) and inside.fully_containsx(box.x1) and _free(box, taken, inside):
                return box
            text.remove()
    return None


def _free(box, taken, inside):
    return inside.y0 <= box.y0 and box.y1 <= inside.y1 + _SIZE and not any(box.overlaps(other) for other in taken)


def _box(text):
    renderer = text.figure._get_renderer()
    text.update_positions(renderer)
    # of the letters alone, without the line to the point
    bare = super(type(text), text).get_window_extent(renderer)
    return bare.padded(1.0)


def _leader():
    return {"arrowstyle": "-", "color": NAMED["muted"], "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4}
