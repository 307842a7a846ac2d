"""Labels from their written form to columns of the label matrix: vocabularies, choices and
hierarchies.
"""
