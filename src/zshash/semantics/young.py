"""Names of young animals. A network that knows an animal knows its young, too.

WordNet puts most of these names below *young mammal* or *young bird*, and not above any breed.
"""

__all__ = ["grown_up"]

GROWN_UP = {
    "n02122948": "n02121620",  # kitten, cat
    "n01322604": "n02084071",  # puppy, dog
    "n01322343": "n02084071",  # pup, dog
    "n02376542": "n02374451",  # foal, horse
    "n01887896": "n02402425",  # calf, cattle
    "n02412440": "n02411705",  # lamb, sheep
    "n02395694": "n02395406",  # piglet, hog
    "n01847170": "n01846331",  # duckling, duck
    "n01858906": "n01858441",  # cygnet, swan
    "n01856072": "n01855672",  # gosling, goose
    "n02430830": "n02430045",  # fawn, deer
    "n02469472": "n01639765",  # tadpole, frog
    "n02326763": "n02326432",  # leveret, hare
    "n01621635": "n01621127",  # owlet, owl
    "n01613807": "n01613294",  # eaglet, eagle
}


def grown_up(synset: str) -> str:
    """WordNet id of the animal that a young animal becomes; "" for anything else.

    >>> grown_up("n02122948"), grown_up("n02121620")
    ('n02121620', '')
    """
    return GROWN_UP.get(synset, "")
