"""From texts and columns to features: tokens, blocks, vocabulary, tf-idf, normalization."""
