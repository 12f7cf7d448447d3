"""Zero-shot recognition by names, as others do it: one interface, one file for each paper.

===============  ===========================================  ====================================
``dap``          Lampert 2009, Farhadi 2009                   attributes, one classifier each
``zero_data``    Larochelle 2008                              a model for each description
``cmt``          Socher 2013                                  a small network into word vectors
``devise``       Frome 2013                                   a linear map, hinge rank loss
``conse``        Norouzi 2014                                 mean of the likeliest known names
``eszsl``        Romera-Paredes 2015                          a bilinear form in closed form
===============  ===========================================  ====================================
"""

from zshash.studies.names2026.baselines.baseline import Baseline
from zshash.studies.names2026.baselines.cmt import CMT
from zshash.studies.names2026.baselines.conse import ConSE
from zshash.studies.names2026.baselines.dap import DAP
from zshash.studies.names2026.baselines.devise import DeViSE
from zshash.studies.names2026.baselines.eszsl import ESZSL
from zshash.studies.names2026.baselines.zero_data import ZeroData

__all__ = ["CMT", "DAP", "ESZSL", "Baseline", "ConSE", "DeViSE", "ZeroData"]
