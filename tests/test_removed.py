import pytest
from commands import ovaflow

from ovaflow import removed
from ovaflow.registry import all_steps
from ovaflow.settings.configuration import Config, RunEntry

CONFIG = """\
datasets: {a: {source: builtin}}
runs: {b: {}}
"""


@pytest.mark.parametrize("name", removed.REMOVED_COMMANDS)
def test_command_that_is_gone(name) -> None:
    assert name not in all_steps()
    written = ovaflow(name, status=2)
    assert f"the command {name} is gone; {removed.REMOVED_COMMANDS[name]}" in written
    assert written.count("\n") == 1


@pytest.mark.parametrize(("command", "option"), removed.REMOVED_OPTIONS)
def test_option_that_is_gone(command, option) -> None:
    written = ovaflow(command, f"{option}=1", status=2)
    assert f"the option {option} is gone; {removed.REMOVED_OPTIONS[command, option]}" in written
    assert written.count("\n") == 1


@pytest.mark.parametrize("setting", removed.REMOVED_SETTINGS)
def test_setting_that_is_gone(setting, tmp_path) -> None:
    section, _, key = setting.partition(".")
    assert key not in Config.model_fields[section].annotation.model_fields
    assert key not in RunEntry.model_fields
    path = tmp_path / "my.yaml"
    path.write_text(f"{CONFIG}{section}: {{{key}: 1}}\n")
    written = ovaflow("run", path, "--dry-run", status=2)
    assert f"{setting}: this setting is gone; {removed.REMOVED_SETTINGS[setting]}" in written
    assert written.count("\n") == 1
