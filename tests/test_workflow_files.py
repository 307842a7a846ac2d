import os
import subprocess
import sys

from ovaflow.workflow import code_alone


def test_another_python_finds_the_code_and_nothing_else(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "ovaflow").symlink_to("/nowhere")
    for _ in range(2):
        folder = code_alone(tmp_path / "made")
    assert [path.name for path in folder.iterdir()] == ["ovaflow"]
    # without its own packages, as an environment that has none of them
    script = (
        "import ovaflow.fingerprint, sys; print(ovaflow.__file__, [name for name in sys.modules if 'numpy' in name])"
    )
    command = [sys.executable, "-S", "-P", "-c", script]
    done = subprocess.run(command, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{folder}{os.sep}ovaflow{os.sep}__init__.py []"
