"""Trees over the instances."""

from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.fastxml.merging import train_forest
from ovaflow.fastxml.model_file import METHOD
from ovaflow.model.model_file import ModelFile
from ovaflow.settings.models import GrowTrees, Train


class FastXMLClassifier(LabelClassifier):
    """FastXML (Prabhu and Varma 2014): trees that divide the instances by sparse separators.

    Settings have the names and the defaults of the config file; see docs/reference/config.md. Scores of labels are the
    means of their shares in the leaves, of which the decision function is the part above 1/2.
    """

    method = METHOD
    neutral = 0.5
    settings = ((GrowTrees, tuple(GrowTrees.model_fields)),)

    def _train(self, dataset: Dataset) -> ModelFile:
        return train_forest(dataset, self._part(GrowTrees), self._part(Train).threads)
