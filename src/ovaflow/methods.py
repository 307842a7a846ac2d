"""The modules of models, by method."""

MODULES = {
    "one-vs-all": "ovaflow.prediction.top_k",
    "fastxml": "ovaflow.fastxml.model_file",
    "rembrandt": "ovaflow.rembrandt.model_file",
}
"""Each has open_model, save_model, predict, score and load_kernels."""
