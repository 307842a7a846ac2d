"""From a shard plan to trained shards: planning, threads over labels, progress."""
