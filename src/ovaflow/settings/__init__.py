"""What a user may say, once: every setting with its type, default, bounds and one sentence, and
every file.
"""
