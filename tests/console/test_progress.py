import io

import pytest

from ovaflow.console.progress import Progress, format_duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "theirs"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (59.2, "59 s"),
        (59.7, "1 min 00 s"),
        (723, "12 min 03 s"),
        (12_000, "3 h 20 min"),
    ],
)
def test_durations_are_formatted_for_people(seconds, theirs) -> None:
    assert format_duration(seconds) == theirs


def test_a_log_gets_plain_lines_and_a_last_one() -> None:
    stream = io.StringIO()
    with Progress("train", 4, "labels", every=0, stream=stream) as progress:
        for _ in range(4):
            progress.advance()
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("train: 1 of 4 labels (25 %), ")
    assert lines[-1].startswith("train: 4 labels in ")
    assert "\r" not in stream.getvalue()


def test_the_time_left_follows_the_work(monkeypatch) -> None:
    stream = io.StringIO()
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with Progress("train", 1000, "labels", every=0, stream=stream, work=200.0) as progress:
        now += 30
        progress.advance(work=150.0)
    assert stream.getvalue().splitlines()[0] == "train: 1 of 1,000 labels (75 %), 10 s left"


def test_log_lines_are_rare() -> None:
    stream = io.StringIO()
    with Progress("train", 1000, "labels", every=60, stream=stream) as progress:
        for _ in range(1000):
            progress.advance()
    assert len(stream.getvalue().splitlines()) == 1


def test_a_terminal_gets_one_moving_line() -> None:
    stream = Terminal()
    with Progress("train", 0, "bytes", stream=stream) as progress:
        progress.advance(5000)
    assert stream.getvalue().startswith("\r")
    assert stream.getvalue().endswith("train: 5,000 bytes in 0.0 s\n")


def test_an_error_leaves_the_terminal_on_a_new_line() -> None:
    stream = Terminal()
    with pytest.raises(ValueError, match="stop"), Progress("train", 3, "labels", stream=stream):
        raise ValueError("stop")
    assert stream.getvalue() == "\n"
