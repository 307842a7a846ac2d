"""Settings that users can set, each with its type, default, bounds and a sentence, and the paths of
all files.
"""
