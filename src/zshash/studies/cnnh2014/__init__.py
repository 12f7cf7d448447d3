"""CNNH from pixels (Xia et al., AAAI 2014), by the protocol of its paper on CIFAR-10.

Rongkai Xia, Yan Pan, Hanjiang Lai, Cong Liu and Shuicheng Yan: *Supervised Hashing for Image
Retrieval via Image Representation Learning*, AAAI 2014.

pictures → `protocol` (who is a query, who is trained on) → `zshash.hashing.cnnh` (codes of the
training pictures) → `network`, `efficientnet`, `training` (a network that learns them; PyTorch) →
`experiment` (a task, scored over the whole ranking) → `study` (what is run, and its tables)
"""

from zshash.studies.cnnh2014.study import PREFACE, STUDY, TITLE

__all__ = ["PREFACE", "STUDY", "TITLE"]
