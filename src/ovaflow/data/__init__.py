"""From sources to the dataset file: catalogue, download, readers, tf-idf, normalisation."""
