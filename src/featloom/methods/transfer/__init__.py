"""Method 5, transfer: which features matter, learned from many small tasks and handed on."""

from featloom.methods.transfer.clusters import ForegroundClustering
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.structure import AlternatingStructure
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TransFeat

__all__ = [
    "AlternatingStructure",
    "ForegroundClustering",
    "MultiTask",
    "RelevancePrior",
    "TransFeat",
]
