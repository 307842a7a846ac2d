rule evaluate_predictions:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
        training=paths.TRAINING,
        predictions=paths.PREDICTIONS,
    output:
        metrics=report(
            paths.METRICS,
            caption="../report/metrics.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "metrics"},
        ),
        analysis=report(
            paths.ANALYSIS,
            caption="../report/analysis.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "frequent and rare labels, failures"},
        ),
        labels=report(
            paths.LABELS,
            caption="../report/labels.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "each label"},
        ),
        reference=paths.REFERENCE,
    log:
        "logs/{dataset}/{run}/evaluate.log",
    benchmark:
        "logs/{dataset}/{run}/evaluate.tsv"
    params:
        options=settings_of("evaluate"),
        revision=STEPS["evaluate"].revision,
    resources:
        mem_mb=megabytes(1, models=False),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow evaluate {input.predictions:q} --dataset={input.dataset:q} --model={input.model:q}"
        " --training={input.training:q} {params.options:q} --output={output.metrics:q}"
        " --analysis={output.analysis:q} --labels={output.labels:q}"
        " --reference={output.reference:q} > {log:q} 2>&1"
