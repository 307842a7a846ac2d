rule predict_labels:
    input:
        dataset="results/{dataset}/dataset.h5",
        model="results/{dataset}/{run}/model.h5",
    output:
        "results/{dataset}/{run}/predictions.h5",
    log:
        "logs/{dataset}/{run}/predict.log",
    benchmark:
        "logs/{dataset}/{run}/predict.tsv"
    params:
        options=lambda wildcards: steps.predict_options(SETTINGS, wildcards.dataset, wildcards.run),
        code=steps.code_of("predict"),
    threads: threads_of_run
    resources:
        mem_mb=megabytes(1000, 3),
    conda:
        "../../envs/ovaflow.yaml"
    shell:
        "ovaflow predict {input.model:q} --dataset={input.dataset:q} {params.options:q} --threads={threads}"
        " --output={output:q} > {log:q} 2>&1"
