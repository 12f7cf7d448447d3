"""The routes of the HTTP API: each reads a request, has its work done in a lane, and answers."""

from fastapi import APIRouter

from zshash.web.freshness import Tags, tagging
from zshash.web.page import add_page
from zshash.web.routes.changes import add_changes
from zshash.web.routes.exporting import add_export
from zshash.web.routes.facets import add_facets
from zshash.web.routes.facts import add_facts, add_sessions
from zshash.web.routes.items import add_items, add_pictures
from zshash.web.routes.map import add_map
from zshash.web.routes.review import add_duplicates, add_refit
from zshash.web.routes.searching import add_batch, add_names, add_search, add_why, body_schemas
from zshash.web.routes.shared import API
from zshash.web.state import ServerState

__all__ = ["API", "body_schemas", "make_router"]


def make_router(state: ServerState) -> APIRouter:
    """Router with all routes of a server."""
    router = APIRouter(route_class=tagging(Tags(state.served.collection, state.settings)))
    add_page(router)
    searching = (add_search, add_batch, add_names, add_why)
    caring = (add_export, add_changes, add_items, add_pictures, add_duplicates, add_refit)
    for add in (add_facts, add_sessions, add_facets, *searching, *caring, add_map):
        add(router, state)
    return router
