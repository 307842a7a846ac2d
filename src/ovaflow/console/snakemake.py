"""``python -m snakemake``, which Ctrl-C ends with one line while modules are loaded; later the
workflow handles Ctrl-C.
"""

from ovaflow.console.interrupts import exit_on_interrupt

exit_on_interrupt()

from snakemake.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
