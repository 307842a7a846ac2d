"""From sources to records: catalogue, download, the corpus that is read once, and how it is
divided.
"""
