"""What the paper did in each experiment, and what is done here."""

from zshash.experiments.reproduction.configuration import Experiment
from zshash.experiments.reproduction.report.document import Block, Text

__all__ = ["introduction"]

ASKED = {
    "convergence": (
        "The paper trains on 30,000 pictures of ImageNet with 64 bits and 1,000 anchors and plots "
        "the objective against the iteration. It leaves the width of W's random start open, so two "
        "are shown: the package's default, and one so small that the first codes ignore it."
    ),
    "cifar10": (
        "One category is hidden, all methods learn from pictures of the others, and pictures of "
        "the hidden one are searched for among all that remain. The paper's plots come without "
        "numbers; its text says how the methods are ordered. KSH and IMH have 1,000 anchors, as "
        "all anchor-based methods in the paper; AGH, which is not in it, has its own 300."
    ),
    "unseen-category": (
        "Every category is hidden once, with the label vectors of the paper and with 0/1 labels. "
        "The similarity of a category is the average cosine of its name's vector to the others'."
    ),
    "seen-ratio": (
        "Each seed draws which categories are hidden; queries come from all hidden ones. With one "
        "category seen, all of its pictures are trained on, as in the paper."
    ),
    "training-size": "The number of training pictures, all else as in the first comparison.",
    "imagenet": (
        "The paper draws 100 categories of ImageNet, hides ten, and compares with four supervised "
        "methods. Each seed draws its ten anew here, so deviations include the choice of "
        "categories."
    ),
    "related": (
        "Retrieving a related category counts: another one than the query's, at most five hops "
        "away in WordNet, up to a common ancestor and down again. As the paper defines them, "
        "MAP_related is the mean over ranks 1 to K of the share of related pictures up to that "
        "rank, and precision_related their share within the radius. Where the label vectors come "
        "from WordNet, the measure and the method share their source: the section on label "
        "sources has the figures of others."
    ),
    "mirflickr": (
        "The paper learns from 100 categories of ImageNet that overlap no tag of MIRFlickr and "
        "searches MIRFlickr, where neighbours share at least two tags."
    ),
    "exemplars": (
        "The first fifteen pictures for the same queries. A mark ✓ (a solid green frame on the "
        "page) is the query's category, ✗ (dashed, red) another one. The number below a picture on "
        "the page is its Hamming distance; within equal ones pictures come by their row."
    ),
    "names": (
        "Beyond the paper: rank pictures by the *name* of an unseen category, with no picture to "
        "search with. A maps codes to label vectors, y is the vector of the name, ȳ the mean of "
        "the seen ones; `zshash search --name` takes the second way, less a part of the cosine of "
        "the best seen category."
    ),
    "labels": (
        "Beyond the paper: where label vectors come from, all else equal. Several sources are "
        "put side by side at equal weight."
    ),
    "alignment": (
        "The paper rotates the label vectors by an orthogonal R. The objective depends on W and R "
        "only through A = WRᵀ, and the best A does not depend on R, so that from the same start of "
        "A all codes must be the same. Here one split is learned from many starts: with R in "
        "closed form, with the paper's curvilinear search (Cayley), and without R."
    ),
    "structure": (
        "The paper keeps local structure by a Laplacian term. Here with the graph of nearest "
        "neighbours, with neighbours through anchors, and without the term, from the same starts."
    ),
}
STAND_INS = {
    "convergence": "100 categories of Tiny-ImageNet stand in for ImageNet, WordNet for its words.",
    "imagenet": (
        "100 categories of Tiny-ImageNet stand in for ImageNet, with MAP over the first 1,000 and "
        "500 queries (the paper: 5,000 and 1,000), because they have 550 pictures each and not "
        "1,300. Label vectors come from WordNet in place of the paper's word vectors."
    ),
    "related": (
        "The data is that of the section before. 27 of its 100 categories have no other one within "
        "five hops, so that their queries score nothing whatever is found; the paper's figures "
        "are of other categories. Paths that go up and down more than once would relate ten more "
        "of the 4,950 pairs."
    ),
    "mirflickr": (
        "Neither is at hand here. In their place stand mosaics of CIFAR-10: each shows four "
        "pictures of two or three categories, whose names are its tags; no picture is in two of "
        "them. None of these categories is learned from, which leaves five to learn from, not 100. "
        "MAP is that over the first 1,000 of 5,000 (the paper: 5,000 of 24,000). With `--data` and "
        "`--training` the same code runs on MIRFlickr and ImageNet."
    ),
}
"""What stands in for the paper's data, as long as a user does not replace it."""


def introduction(experiment: Experiment) -> list[Block]:
    """Paragraphs before an experiment of the paper; none before small ones and one's own."""
    if experiment.file or experiment.quick:
        return []
    texts = [ASKED[experiment.name]]
    if experiment.name in STAND_INS and not experiment.changes.data:
        texts.append(STAND_INS[experiment.name])
    return [Text(text) for text in texts]
