# Probabilities and thresholds: instances are held out, the run is trained again without them (by the same rules, on the
# dataset results/{dataset}/held-out-{share}), and the scores of the held-out instances tell what the model's scores mean.


rule hold_out_instances:
    input:
        dataset="results/{dataset}/dataset.h5",
    output:
        "results/{dataset}/held-out-{share}/dataset.h5",
    log:
        "logs/{dataset}/held-out-{share}/hold-out.log",
    benchmark:
        "logs/{dataset}/held-out-{share}/hold-out.tsv"
    params:
        code=steps.code_of("hold-out"),
    resources:
        mem_mb=megabytes(1000, 3),
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
        share=r"[\d.e-]+",
    shell:
        "ovaflow hold-out {input.dataset:q} --fraction={wildcards.share} --output={output:q} > {log:q} 2>&1"


rule calibrate_scores:
    input:
        model="results/{dataset}/{run}/model.h5",
        held_out=lambda wildcards: f"results/{folds.fold_of(SETTINGS, **wildcards)}/dataset.h5",
        predictions=lambda wildcards: f"results/{folds.fold_of(SETTINGS, **wildcards)}/{wildcards.run}/predictions.h5",
    output:
        "results/{dataset}/{run}/calibration.h5",
    log:
        "logs/{dataset}/{run}/calibrate.log",
    benchmark:
        "logs/{dataset}/{run}/calibrate.tsv"
    params:
        code=steps.code_of("calibrate"),
    resources:
        mem_mb=lambda wildcards, input: 1000 + 2 * input.size_files_mb[1] + 20 * input.size_files_mb[2],
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow calibrate {input.model:q} --held-out={input.held_out:q} --predictions={input.predictions:q}"
        " --output={output:q} > {log:q} 2>&1"


rule measure_calibration:
    input:
        dataset="results/{dataset}/dataset.h5",
        model="results/{dataset}/{run}/model.h5",
        calibration="results/{dataset}/{run}/calibration.h5",
    output:
        report(
            "results/{dataset}/{run}/calibration.json",
            caption="../report/calibration.rst",
            category="{dataset}",
            subcategory="{run}",
            labels={"file": "probabilities and thresholds"},
        ),
    log:
        "logs/{dataset}/{run}/calibration-curve.log",
    benchmark:
        "logs/{dataset}/{run}/calibration-curve.tsv"
    params:
        options=lambda wildcards: steps.predict_options(SETTINGS, wildcards.dataset, wildcards.run),
        code=steps.code_of("calibration-curve"),
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1000, 4),
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow calibration-curve {input.model:q} --calibration={input.calibration:q} --dataset={input.dataset:q}"
        " {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"
