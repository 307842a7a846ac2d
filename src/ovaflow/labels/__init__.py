"""From what is written as a label to columns of the label matrix: vocabularies, choices,
hierarchies.
"""
