"""The config file: its schema, its defaults, and what each step of the pipeline depends on."""
