rule evaluate_predictions:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
        training=paths.TRAINING,
        predictions=paths.PREDICTIONS,
    output:
        metrics=mark_for_report(paths.METRICS, "metrics", "metrics"),
        analysis=mark_for_report(paths.ANALYSIS, "analysis", "frequent and rare labels, confusions"),
        labels=mark_for_report(paths.LABELS, "labels", "each label"),
        errors=paths.ERRORS,
    log:
        "logs/{dataset}/{run}/evaluate.log",
    benchmark:
        "logs/{dataset}/{run}/evaluate.tsv"
    params:
        options=make_settings_parameter("evaluate"),
        revision=STEPS["evaluate"].revision,
    resources:
        mem_mb=make_memory_request(1, models=False),
    conda:
        ENVIRONMENT
    shell:
        "ovaflow evaluate {input.predictions:q} --dataset={input.dataset:q} --model={input.model:q}"
        " --training={input.training:q} {params.options:q} --output={output.metrics:q}"
        " --analysis={output.analysis:q} --labels={output.labels:q}"
        " --errors={output.errors:q} > {log:q} 2>&1"
