# Probabilities and thresholds: instances are held out, the run is trained again without them (by the same rules, on the
# dataset results/{dataset}/held-out-{share}), and their scores show what the model's scores mean.


rule hold_out_instances:
    input:
        dataset=paths.DATASET,
    output:
        paths.HELD_OUT_DATASET,
    log:
        "logs/{dataset}/held-out-{share}/hold-out.log",
    benchmark:
        "logs/{dataset}/held-out-{share}/hold-out.tsv"
    params:
        code=code_fingerprint("hold-out"),
    resources:
        mem_mb=megabytes(2),
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
        share=r"[\d.e-]+",
    shell:
        "ovaflow hold-out {input.dataset:q} --fraction={wildcards.share} --output={output:q} > {log:q} 2>&1"


rule calibrate_scores:
    input:
        model=paths.MODEL,
        held_out=held_out_by(paths.DATASET),
        predictions=held_out_by(paths.PREDICTIONS),
    output:
        paths.CALIBRATION,
    log:
        "logs/{dataset}/{run}/calibrate.log",
    benchmark:
        "logs/{dataset}/{run}/calibrate.tsv"
    params:
        code=code_fingerprint("calibrate"),
    resources:
        mem_mb=calibrating_megabytes,
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow calibrate {input.model:q} --held-out={input.held_out:q} --predictions={input.predictions:q}"
        " --output={output:q} > {log:q} 2>&1"


rule measure_calibration:
    input:
        dataset=paths.DATASET,
        model=paths.MODEL,
        calibration=paths.CALIBRATION,
    output:
        report(
            paths.CALIBRATION_CURVE,
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
        options=settings_of("calibration-curve"),
        code=code_fingerprint("calibration-curve"),
    threads: threads_of_run
    resources:
        mem_mb=megabytes(2),
    conda:
        "../../envs/ovaflow.yaml"
    wildcard_constraints:
        dataset=one_of(SETTINGS.datasets),
    shell:
        "ovaflow calibration-curve {input.model:q} --calibration={input.calibration:q} --dataset={input.dataset:q}"
        " {params.options:q} --threads={threads} --output={output:q} > {log:q} 2>&1"
