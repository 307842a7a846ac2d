"""The second stage: ranks the candidates of a model by evidence that its scores lack, and says how
sure it is.
"""
