"""``python -m snakemake``, whose end by Ctrl-C is one line from its first import on; later the
workflow takes over.
"""

from ovaflow.console.interrupts import exit_on_interrupt

exit_on_interrupt()

from snakemake.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
