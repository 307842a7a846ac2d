"""A kind of column beside the text: dates, whose feature is the year with its fraction."""

from math import nan

from ovaflow.features.columns import NumberColumn
from ovaflow.reading.cells import parse_time
from ovaflow.reading.feature_columns import COLUMN_KINDS, ColumnKind


class YearColumn(NumberColumn):
    @property
    def features(self) -> list[str]:
        return [f"{self.name} (year)", *super().features[1:]]


def parse_year(content) -> float:
    year = parse_time(content)
    return nan if year is None else year


def describe_years(name, years) -> str:
    return f"{name!r}, {int(min(years))} to {int(max(years))}"


COLUMN_KINDS.append(
    ColumnKind(
        setting="date_columns",
        sentence="column of dates, or several, that are features next to the text",
        plural="dates",
        read=parse_year,
        missing=nan,
        describe=describe_years,
        features=YearColumn,
        type=str,
    )
)
