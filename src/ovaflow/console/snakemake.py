"""``python -m snakemake``, whose end by Ctrl-C is one line from its first import on; later the
workflow takes over.
"""

from ovaflow.console.interrupts import end_at_once

end_at_once()

from snakemake.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
