"""Texts and their topics, which two words of each tell."""

TEXTS = [f"{'salt' if i % 2 else 'rope'} {'sea' if i % 3 else 'hill'} number{i % 7}" for i in range(60)]
TOPICS = [["cooking" if i % 2 else "climbing", *(["water"] if i % 3 else [])] for i in range(60)]
