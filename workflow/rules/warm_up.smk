# The first job of a run.


# Compiles the kernels before the jobs that use them. No job depends on it, or new kernels would re-run them all; but it
# goes first and holds all "kernels", a resource limited by the profile, of which each of those jobs needs one.
rule warm_up:
    output:
        WARMED_UP,
    log:
        "logs/warm-up.log",
    benchmark:
        "logs/warm-up.tsv"
    params:
        options=choose_warm_up_options(),
        code=kernel_fingerprint(),
    threads: 2
    resources:
        mem_mb=1200,
        kernels=1000,
    conda:
        ENVIRONMENT
    priority: 100
    shell:
        "ovaflow warm-up {params.options:q} --threads={threads} > {log:q} 2>&1; echo {params.options:q} > {output:q}"
