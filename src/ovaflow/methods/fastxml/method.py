"""FastXML as a method: its trees are what shards divide."""

from ovaflow.training.even_division import EvenlyDivided


class FastXMLMethod(EvenlyDivided):
    name = "fastxml"
    model = "ovaflow.methods.fastxml.model_file:ForestModel"
    shard = "ovaflow.methods.fastxml.training:TreeShard"
    section = "ovaflow.methods.fastxml.settings:FastXML"
    settings = "ovaflow.methods.fastxml.settings:GrowTrees"
    sections = ("fastxml", "train", "evaluate")
    unit = "trees"
    sample_size = 1
    report_sections = ("ovaflow.methods.fastxml.section:SECTION",)
    small = "--trees=1"

    def units(self, dataset, settings):
        return settings.trees

    def units_of_run(self, config, run):
        return config.section(self.name, run=run).trees

    def train(self, dataset, numbers, settings, threads=1, title="grow", parts=None):
        from ovaflow.methods.fastxml.training import grow_trees

        return grow_trees(dataset, numbers, settings, threads, title, parts)

    def describe(self, shard):
        return f"{super().describe(shard)}, {len(shard.forest.children):,} nodes"

    def join(self, pieces, dataset):
        from ovaflow.methods.fastxml.merging import join_shards

        return join_shards(pieces, dataset)

    def statistics(self, pieces):
        from ovaflow.methods.fastxml.merging import describe_trees

        return {"trees": describe_trees(pieces)}
