rule write_report:
    input:
        datasets=expand("results/{dataset}/dataset.h5", dataset=SETTINGS.datasets),
        runs=expand(
            "results/{dataset}/{run}/{file}",
            dataset=SETTINGS.datasets,
            run=SETTINGS.runs,
            file=["model.h5", "training.h5", "predictions.h5", "metrics.json", "analysis.json"],
        ),
        cold_starts=files.cold_starts(SETTINGS),
        figures=files.figure_files(SETTINGS),
        calibrations=folds.calibration_files(SETTINGS),
    output:
        report(
            "results/report.html",
            caption="../report/page.rst",
            category="Report",
            labels={"file": "the page about all runs"},
        ),
    log:
        "logs/report.log",
    benchmark:
        "logs/report.tsv"
    params:
        folders=lambda wildcards, input: list(dict.fromkeys(str(Path(path).parent) for path in input.runs)),
        options=steps.report_options(SETTINGS),
        code=steps.code_of("report"),
        published=crc32(published_results().read_bytes()),
    resources:
        mem_mb=megabytes(1000, 1),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        'ovaflow report {params.folders:q} {params.options:q} --benchmarks="$(dirname {log:q})"'
        " --output={output:q} > {log:q} 2>&1"
