# Profiles may name these jobs as before all methods shared their rules.
if "estimate_trees" in NAMED_BY_PROFILE:

    ruleorder: estimate_trees > estimate_training

    use rule estimate_training as estimate_trees with:
        wildcard_constraints:
            problem=r"fastxml-\w+",


if "train_trees" in NAMED_BY_PROFILE:

    ruleorder: train_trees > train_shard

    use rule train_shard as train_trees with:
        wildcard_constraints:
            run=one_of(SETTINGS.runs_of("fastxml")),


if "merge_trees" in NAMED_BY_PROFILE:

    ruleorder: merge_trees > merge_shards

    use rule merge_shards as merge_trees with:
        wildcard_constraints:
            run=one_of(SETTINGS.runs_of("fastxml")),
