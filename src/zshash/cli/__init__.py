"""The command line: one thin command per verb."""

import warnings

import click

import zshash
from zshash.cli.terminal import Commands, ShowWarnings

__all__ = ["main"]

# The place of each command and the first sentence of its help, so that the list of commands is
# printed without loading them.
COMMANDS = {
    "Learning": {
        "demo": (
            "zshash.cli.showing:demo",
            "Make an album of clip art without labels, search it by names, and write a page of "
            "pictures.",
        ),
        "fit": (
            "zshash.cli.learning:fit",
            "Learn a hash function from DATA and write it to MODEL.",
        ),
        "encode": (
            "zshash.cli.learning:encode",
            "Turn pictures or features (DATA as for fit) into packed codes, and write them to "
            "CODES.",
        ),
        "extract": (
            "zshash.cli.learning:extract",
            "Write the features of pictures, with paths and labels, to a file that all commands "
            "read.",
        ),
        "statistics": (
            "zshash.cli.learning:statistics",
            "Write the statistics of a network's features over general PICTURES to FILE.",
        ),
    },
    "Collections": {
        "create": (
            "zshash.cli.creating:create",
            "Make ALBUM, a folder, from PICTURES: look at them, learn from them, and add them.",
        ),
        "add": (
            "zshash.cli.creating:add",
            "Add pictures or features (DATA as for create) to COLLECTION.",
        ),
        "sync": (
            "zshash.cli.syncing:sync",
            "Bring COLLECTION up to date with the pictures below FOLDER.",
        ),
        "list": (
            "zshash.cli.listing:list_items",
            "List the items of COLLECTION with their paths and labels, in the order of their ids.",
        ),
        "label": (
            "zshash.cli.labelling:label",
            "Give items of COLLECTION, named by their IDS or by a condition, the label NAME.",
        ),
        "remove": (
            "zshash.cli.collecting:remove",
            "Remove items from COLLECTION, by their IDS or by a condition.",
        ),
        "restore": (
            "zshash.cli.collecting:restore",
            "Undo a removal from COLLECTION: its items come back under their ids.",
        ),
        "search": (
            "zshash.cli.searching:search",
            "Find items that look like QUERIES, or that show what a --name means.",
        ),
        "serve": (
            "zshash.cli.serving:serve",
            "Serve COLLECTION over HTTP: a page to search it, and an API.",
        ),
        "duplicates": (
            "zshash.cli.duplicates:duplicates",
            "List groups of items in COLLECTION that are copies of one picture.",
        ),
    },
    "Care of collections": {
        "verify": (
            "zshash.cli.collecting:verify",
            "Check every file, row and checksum of COLLECTION; exit status 1 if something is "
            "wrong.",
        ),
        "compact": (
            "zshash.cli.collecting:compact",
            "Free the disk space of items that were removed from COLLECTION.",
        ),
        "refit": (
            "zshash.cli.creating:refit",
            "Learn again from all pictures and labels of COLLECTION, and encode them anew in one "
            "step.",
        ),
        "reencode": (
            "zshash.cli.collecting:reencode",
            "Encode all items of COLLECTION again, with another MODEL.",
        ),
        "thumbnails": (
            "zshash.cli.thumbnails:thumbnails",
            "Make the thumbnails of COLLECTION again, from the files of its pictures.",
        ),
        "export": (
            "zshash.cli.collecting:export",
            "Write the codes of COLLECTION to FILE, for other programs.",
        ),
        "import": (
            "zshash.cli.collecting:import_",
            "Add the codes in FILE to COLLECTION, whose model must have made them.",
        ),
    },
    "Scores and facts": {
        "eval": (
            "zshash.cli.scoring:evaluate",
            "Score zero-shot retrieval: hide categories of DATA, train on the rest, find the "
            "hidden ones.",
        ),
        "compare": (
            "zshash.cli.scoring:compare",
            "Score methods side by side, at several code lengths, on the same splits.",
        ),
        "select": (
            "zshash.cli.selecting:select",
            "Choose parameters of a method by holding out categories of DATA as if they were "
            "unseen.",
        ),
        "reproduce": (
            "zshash.cli.reproducing:reproduce",
            "Run the experiments of the zero-shot hashing paper again, and write a report.",
        ),
        "info": (
            "zshash.cli.describing:info",
            "Describe a collection, a model, data, this installation, or the hashing methods.",
        ),
    },
}


@click.group(
    cls=Commands, sections=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(zshash.__version__)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Short binary codes that find pictures of categories nobody labelled."""
    ctx.with_resource(warnings.catch_warnings())
    warnings.showwarning = ShowWarnings()
