"""FastXML: an ensemble of trees over instances (Prabhu and Varma, KDD 2014)."""
