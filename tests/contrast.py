"""Contrast of colours by WCAG 2.2; a colour is red, green and blue, each from 0 to 255."""


def compute_contrast(one, other) -> float:
    """Compute the contrast of two colours, from 1 to 21."""
    dark, light = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _compute_luminance(colour) -> float:
    """Compute the relative luminance."""
    red, green, blue = (_linearize(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linearize(part) -> float:
    if part <= 0.04045:
        return part / 12.92
    return ((part + 0.055) / 1.055) ** 2.4
