from ovaflow.estimators.scorers import f1_scorer as f1_scorer
from ovaflow.estimators.scorers import precision_at_k_scorer as precision_at_k_scorer
from ovaflow.estimators.text_features import TextFeatures as TextFeatures
from ovaflow.methods.fastxml.classifier import FastXMLClassifier as FastXMLClassifier
from ovaflow.methods.one_vs_all.classifier import OneVsAllClassifier as OneVsAllClassifier
from ovaflow.methods.rembrandt.classifier import RembrandtClassifier as RembrandtClassifier
