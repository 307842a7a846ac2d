rule evaluate_predictions:
    input:
        dataset="results/{dataset}/dataset.h5",
        model="results/{dataset}/{run}/model.h5",
        training="results/{dataset}/{run}/training.h5",
        predictions="results/{dataset}/{run}/predictions.h5",
    output:
        metrics=report(
            "results/{dataset}/{run}/metrics.json",
            caption="../report/metrics.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "metrics"},
        ),
        analysis=report(
            "results/{dataset}/{run}/analysis.json",
            caption="../report/analysis.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "frequent and rare labels, failures"},
        ),
    log:
        "logs/{dataset}/{run}/evaluate.log",
    benchmark:
        "logs/{dataset}/{run}/evaluate.tsv"
    params:
        options=lambda wildcards: steps.evaluate_options(SETTINGS, wildcards.dataset),
        code=steps.code_of("evaluate"),
    resources:
        mem_mb=megabytes(1000, 1),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow evaluate {input.predictions:q} --dataset={input.dataset:q} --model={input.model:q}"
        " --training={input.training:q} {params.options:q} --output={output.metrics:q}"
        " --analysis={output.analysis:q} > {log:q} 2>&1"
