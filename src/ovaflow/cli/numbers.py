"""Numbers as options."""

import math

import click


class Finite(click.FloatRange):
    """A number in a range, neither infinite nor nan."""

    def convert(self, value, param, context):
        """Refuse what has no place on the number line; as :meth:`click.ParamType.convert`."""
        number = super().convert(value, param, context)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, context)
        return number
