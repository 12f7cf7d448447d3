import pytest

from zshash.web import Settings
from zshash.web.settings import is_loopback


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("ZSHASH_TOKEN", raising=False)


def test_no_token_is_needed_to_read_on_this_machine():
    for host in ("127.0.0.1", "localhost", "::1", "127.3.2.1"):
        assert Settings(host=host).token is None
        assert not Settings(host=host).needs_token


@pytest.mark.parametrize("how", [{"writable": True}, {"host": "0.0.0.0"}, {"host": "::"}])
def test_a_random_token_where_one_is_needed_and_none_is_given(how):
    one, other = Settings(**how), Settings(**how)
    assert one.needs_token
    assert len(one.token) >= 32
    assert one.token != other.token
    assert one.knows(one.token)
    assert not one.knows(other.token)
    assert not one.knows("")


def test_the_token_of_the_environment(monkeypatch):
    monkeypatch.setenv("ZSHASH_TOKEN", "a token from elsewhere")
    assert Settings(writable=True).token == "a token from elsewhere"
    assert Settings(writable=True, token="another one for this").token == "another one for this"
    monkeypatch.setenv("ZSHASH_TOKEN", "")
    assert Settings().token is None
    monkeypatch.setenv("ZSHASH_TOKEN", "short")
    with pytest.raises(ValueError, match="at least 16 characters"):
        Settings()


@pytest.mark.parametrize("token", ["", "x", "fifteen letters", "sixteen lettérs or more"])
def test_tokens_that_are_none(token):
    with pytest.raises(ValueError, match="at least 16 characters, all of them ASCII"):
        Settings(token=token)


def test_a_token_is_not_shown():
    settings = Settings(writable=True, token="sixteen letters!")
    assert "sixteen" not in repr(settings)


def test_servers_on_different_ports_have_different_cookies():
    assert Settings(port=1).cookie != Settings(port=2).cookie


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "128.0.0.1"])
def test_addresses_of_more_than_this_machine(host):
    assert not is_loopback(host)


@pytest.mark.parametrize("wrong", [{"seconds": float("nan")}, {"seconds": float("inf")}])
def test_times_that_never_come(wrong):
    with pytest.raises(ValueError, match="seconds must be a number above 0"):
        Settings(**wrong)


@pytest.mark.parametrize("name", ["http://photos.example", "photos.example/", "", "a b"])
def test_hosts_that_are_none(name):
    with pytest.raises(ValueError, match="is no name of a host"):
        Settings(hosts=(name,))
