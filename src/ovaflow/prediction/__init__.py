"""Prediction: best labels of texts and features, their explanation, and files of models."""
