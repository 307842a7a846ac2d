CHOICES = [inputs.find_chosen_features(SETTINGS, dataset) for dataset in SETTINGS.datasets] + [
    inputs.find_chosen_C(SETTINGS, dataset, run)
    for dataset in SETTINGS.datasets
    for run in SETTINGS.runs_with_method(ONE_VS_ALL)
]


rule write_report:
    input:
        datasets=expand([paths.DATASET, paths.READING], dataset=SETTINGS.datasets),
        runs=expand(
            [
                paths.MODEL,
                paths.TRAINING,
                paths.PREDICTIONS,
                paths.METRICS,
                paths.ANALYSIS,
                paths.ERRORS,
            ],
            dataset=SETTINGS.datasets,
            run=SETTINGS.runs,
        ),
        figures=paths.find_figure_files(SETTINGS),
        choices=sorted({path for files in CHOICES for path in files.values()}),
        reliability=paths.find_second_stage_files(SETTINGS, paths.RELIABILITY),
        doubts=paths.find_second_stage_files(SETTINGS, paths.DOUBTS),
        folds=paths.find_cross_validation_files(SETTINGS),
    output:
        report(
            paths.REPORT,
            caption="../report/page.rst",
            category="Report",
            labels={"file": "the page about all runs"},
        ),
    log:
        "logs/report.log",
    benchmark:
        "logs/report.tsv"
    params:
        folders=lambda wildcards, input: list(
            dict.fromkeys(str(Path(path).parent) for path in input.runs)
        ),
        options=[*make_settings_parameter("report")({}), *inputs.make_sweep_options(SETTINGS)],
        choices=lambda wildcards, input: [f"--choice={path}" for path in input.get("choices", [])],
        version=__version__,
    resources:
        mem_mb=make_memory_request(1, base=600, models=False),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow report {params.folders:q} {params.options:q} {params.choices:q} --output={output:q} > {log:q} 2>&1"
