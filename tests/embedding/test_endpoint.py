from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from docstow.core.errors import ConfigurationError, DocstowError, UpstreamError
from docstow.embedding.endpoint import EndpointEmbedder
from docstow.net import Fetcher
from servers.embeddings import Embeddings, letters
from servers.loopback import content, redirect, status

KEY = "sk-secret-0123456789"


@pytest.fixture
def server() -> Iterator[Embeddings]:
    with Embeddings(KEY) as running:
        yield running


Make = Callable[..., EndpointEmbedder]


@pytest.fixture
def make(server: Embeddings, fetcher: Fetcher) -> Make:
    def made(*, key: str = KEY, model: str = "letters", user: str = "") -> EndpointEmbedder:
        url = server.url.replace("http://", f"http://{user}") + "/v1"
        return EndpointEmbedder(lambda: fetcher, url, model, key)

    return made


def test_vectors_are_of_unit_length_in_the_order_of_the_texts(
    server: Embeddings, make: Make
) -> None:
    texts = ["abba", "", "zebra", "  "] + ["b" * length for length in range(1, 100)]
    embedder = make()
    vectors = embedder.embed(texts)
    assert vectors.shape == (103, 26)
    assert vectors.dtype == np.float32
    for row in (0, 2, 4, 102):
        expected = np.array(letters(texts[row]))
        np.testing.assert_allclose(vectors[row], expected / np.linalg.norm(expected), rtol=1e-6)
    assert not vectors[[1, 3]].any()
    np.testing.assert_array_equal(embedder.embed_query("abba"), vectors[0])
    assert embedder.embed([]).shape == (0, 26)


def test_a_question_that_is_asked_again_is_sent_once(server: Embeddings, make: Make) -> None:
    embedder = make()
    first = embedder.embed_query("abba")
    sent = len(server.inputs())
    assert embedder.embed_query("abba") is first
    assert len(server.inputs()) == sent
    with pytest.raises(ValueError, match="read-only"):
        first += 1


def test_texts_are_sent_in_batches_and_cut(server: Embeddings, make: Make) -> None:
    make().embed(["a" * 9000, *["b"] * 130])
    assert [len(texts) for texts in server.inputs()] == [1, 64, 64, 3]
    assert max(len(text) for text in server.inputs()[1]) == 8000


def test_the_id_names_place_model_and_dimensions_but_no_key(server: Embeddings, make: Make) -> None:
    host = server.url.removeprefix("http://")
    assert make().id == f"openai:letters@{host}/v1/26"
    assert len(server.requests) == 1
    server.key = ""
    assert make(key="", user="user:password@").id == f"openai:letters@{host}/v1/26"


def test_a_busy_endpoint_is_asked_again(server: Embeddings, make: Make) -> None:
    server.plan("embeddings", status(429, retry_after="1"), status(503))
    assert make().dimensions == 26
    assert len(server.requests) == 3
    assert len({request.body for request in server.requests}) == 1


def test_another_dimension_is_refused(server: Embeddings, make: Make) -> None:
    embedder = make()
    assert embedder.dimensions == 26
    server.width = 25
    with pytest.raises(UpstreamError, match="answered with 25 dimensions, before with 26"):
        embedder.embed(["abc"])


@pytest.mark.parametrize("key", ["", "sk-wrong"])
def test_a_refused_key_is_named_but_not_shown(make: Make, key: str) -> None:
    with pytest.raises(ConfigurationError, match="does not accept the key") as caught:
        make(key=key).embed(["abc"])
    assert "set DOCSTOW_EMBEDDINGS_KEY" in caught.value.message
    assert "sk-wrong" not in json.dumps(caught.value.body())


@pytest.mark.parametrize("key", ["sk-wrong\n", "sk wrong", "sk-wröng"])
def test_a_key_that_cannot_be_sent_is_not_shown_either(make: Make, key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(key=key)
    assert caught.value.message == "embeddings_key: must be printable ASCII without spaces"


def test_an_unknown_model_is_named(make: Make) -> None:
    with pytest.raises(UpstreamError, match="answered 404 for the model 'words'"):
        make(model="words").embed(["abc"])


def test_the_key_does_not_follow_a_redirect(server: Embeddings, make: Make) -> None:
    with Embeddings() as other:
        server.always("embeddings", redirect(f"{other.url}/v1/embeddings", 307))
        with pytest.raises(UpstreamError, match="redirects more than 0 times"):
            make().embed(["abc"])
        assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [1, null]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 1e999]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}',
    ],
)
def test_answers_that_are_none_are_refused(server: Embeddings, make: Make, body: bytes) -> None:
    server.always("embeddings", content(body))
    with pytest.raises(DocstowError, match="did not answer with a vector for each text"):
        make().embed(["abc"])
