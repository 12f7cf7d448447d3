from prometheus_client.parser import text_string_to_metric_families

from tests.web.conftest import BEARER, TOKEN


def numbers(client):
    """All samples that /metrics tells, by name and labels."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.body.decode())
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_requests_are_counted_by_route_method_and_status(serving):
    client = serving(BEARER, writable=True, token=TOKEN)
    for number in (1, 2, 5000):
        client.get(f"/api/v1/items/{number}")
    client.ask("DELETE", "/api/v1/items/7")
    client.get("/no/such/page")
    client.ask("PATCH", "/api/v1/items/1")
    client.ask("GET", "/", headers={"Host": "evil.example"})
    found = numbers(client)
    route = "/api/v1/items/{id}"
    total = {key[1:]: value for key, value in found.items() if key[0] == "zshash_requests_total"}
    assert total[tuple(sorted([route, "GET", "200"]))] == 2
    assert total[tuple(sorted([route, "GET", "404"]))] == 1
    assert total[tuple(sorted([route, "DELETE", "204"]))] == 1
    assert total[tuple(sorted(["other", "GET", "404"]))] == 1
    assert total[tuple(sorted(["other", "GET", "403"]))] == 1
    assert sum(n for key, n in total.items() if "405" in key and "other" in key) == 1
    assert not [key for key in total if "PATCH" in key or "/no/such/page" in key]
    assert found["zshash_request_seconds_count", route] >= 4
    assert found["zshash_request_seconds_sum", route] > 0
    assert found["zshash_items",] == 179
    for lane in ("searches", "reading", "filtering", "pictures", "writing"):
        assert found[f"zshash_waiting_{lane}",] == 0


def test_the_process_is_counted(client):
    assert numbers(client)["process_resident_memory_bytes",] > 1e6
