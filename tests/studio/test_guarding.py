"""Who may ask: the right host, the right origin, a token, and a role."""

from contextlib import suppress

import httpx
import pytest

from setveil.studio.guarding import BODY_BYTES, cookie_name
from setveil.studio.settings import Settings
from setveil.studio.users import User, Users, token_hash, users_in

from support.studios import TOKENS, serving

OWN = {"Authorization": f"Bearer {TOKENS['owner']}"}


def ask(served, method="GET", path="/api/v1/jobs", **headers):
    with served.client(None) as client:
        response = client.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
    return response.status_code


def cookie(served):
    return f"{cookie_name(served.studio.settings)}={TOKENS['owner']}"


def test_only_names_of_this_studio_are_hosts(served):
    port = served.studio.settings.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert ask(served, host=host, **OWN) == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"localhost.evil.example:{port}",
        f"127.0.0.1:{port}@evil",
        f"0.0.0.0:{port}",
    ):
        assert ask(served, host=host, **OWN) == 421, host
        assert ask(served, "GET", "/static/x.css", host=host) == 421
        assert ask(served, "GET", f"/?token={TOKENS['owner']}", host=host) == 421


def test_a_host_that_is_given_twice_is_refused(served):
    port = served.studio.settings.port
    lines = [
        f"GET /api/v1/jobs HTTP/1.1\r\nAuthorization: {OWN['Authorization']}\r\n",
        f"Host: 127.0.0.1:{port}\r\n" * 2,
        "\r\n",
    ]
    import socket  # noqa: PLC0415 - one test writes its own request

    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall("".join(lines).encode())
        assert b" 400 " in line.recv(4096).splitlines()[0] or b" 421 " in line.recv(4096)


def test_names_of_a_proxy_are_hosts(tmp_path):
    with serving(tmp_path / "studio", host_names=("data.example.org",)) as served:
        assert ask(served, host="data.example.org", **OWN) == 200
        assert ask(served, host="other.example.org", **OWN) == 421
        assert (
            ask(served, "POST", "/api/v1/data", host="data.example.org", origin="https://data.example.org", **OWN)
            == 400
        )


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_pages_of_other_sites_change_nothing(served, method):
    path = {"POST": "/api/v1/data", "PUT": "/api/v1/uploads/a.csv", "DELETE": "/api/v1/uploads/x"}[method]
    port = served.studio.settings.port
    for given in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{port + 1}"},
        {"origin": f"http://127.0.0.1:{port}.evil.example"},
        {"origin": f"ftp://127.0.0.1:{port}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": f"http://127.0.0.1:{port}", "sec_fetch_site": "cross-site"},
    ):
        assert ask(served, method, path, **OWN, **given) == 403, given
        assert ask(served, method, path, cookie=cookie(served), **given) == 403, given
    assert (
        ask(served, method, path, cookie=cookie(served)) == 403
    )  # a form of another site sends neither in old browsers
    assert ask(served, method, path, cookie=cookie(served), sec_fetch_site="none") == 403
    own = {"origin": f"http://127.0.0.1:{port}"}
    assert ask(served, method, path, cookie=cookie(served), **own) in (201, 400, 404)
    assert ask(served, method, path, cookie=cookie(served), sec_fetch_site="same-origin") in (201, 400, 404)


def test_a_token_is_needed_everywhere_but_for_static_files(served):
    with served.client() as client:
        addresses = client.get("/api/v1/openapi.json").json()["paths"]
    for path, operations in addresses.items():
        for method in operations:
            filled = path.replace("{number}", "0").replace("{label}", "a.csv")
            assert ask(served, method.upper(), filled) in (401, 403), path
            assert ask(served, method.upper(), filled, authorization="Bearer wrong") == 401
            assert ask(served, method.upper(), filled, authorization=f"Basic {TOKENS['owner']}") in (401, 403)
            assert ask(served, method.upper(), filled, cookie=cookie(served)[:-1], origin=served.url) == 401
    for path in ("/", "/releases", "/data/x", "/openapi.json", "/docs"):
        assert ask(served, "GET", path) == 401
    assert ask(served, "GET", "/static/missing.css") == 404
    assert ask(served, "GET", "/static/../api/v1/jobs") in (401, 404)
    assert ask(served, "GET", "/static/%2e%2e/studio.py") == 404
    assert ask(served, "GET", "/static//etc/passwd") == 404


def test_the_printed_address_signs_in(served):
    with served.client(None) as client:
        response = client.get("/", params={"token": TOKENS["owner"]})
        assert (response.status_code, response.headers["location"]) == (303, "/")
        given = response.headers["set-cookie"]
        assert "HttpOnly" in given
        assert "SameSite=Strict" in given
        assert client.get("/api/v1/me").json() == {"name": "owner", "role": "owner"}
    with served.client(None) as client:
        assert client.get("/", params={"token": "wrong"}).status_code == 401
        assert client.get("/api/v1/jobs", params={"token": TOKENS["owner"]}).status_code == 401
        assert "set-cookie" not in client.get("/", params={"token": "wrong"}).headers


def test_every_response_has_the_headers(served):
    for response in (
        httpx.get(f"{served.url}/"),
        httpx.get(f"{served.url}/api/v1/jobs", headers=OWN),
        httpx.get(f"{served.url}/static/a"),
    ):
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] in (
            "no-referrer",
            "same-origin",
        )  # pages need the second one for forms
        assert "server" not in response.headers or response.headers["server"] == "uvicorn"
        assert "access-control-allow-origin" not in response.headers


def test_a_request_that_is_too_large_is_refused(served):
    with served.client() as client:
        assert client.post("/api/v1/data", content=b"x" * (BODY_BYTES + 1)).status_code == 413
        endless = (b"x" * 65536 for _ in range(10_000))  # without a length
        with suppress(httpx.TransportError), client.stream("POST", "/api/v1/data", content=endless) as response:
            assert response.status_code == 413
        deep = b'{"sample": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        assert client.post("/api/v1/data", content=deep).status_code == 400
        for body in (
            b"{",
            b"\xff",
            b"[]",
            b"null",
            b'{"sample": 1e999}',
            b'{"sample": "a", "sample": "b"}',
            b'{"x": 1}',
        ):
            response = client.post("/api/v1/data", content=body, headers={"content-type": "application/json"})
            assert response.status_code == 400, body
            assert response.json()["error"]["kind"] == "bad-request"


def test_a_proxy_names_the_user(tmp_path):
    anna, ben = User("anna", "owner"), User("ben", "reviewer")
    users = Users({token_hash("t" * 40): anna}, {"anna": anna, "ben": ben}, "X-User")
    with serving(tmp_path / "studio", users=users) as served:
        with httpx.Client(base_url=served.url, headers={"X-User": "ben"}) as client:
            assert client.get("/api/v1/me").json() == {"name": "ben", "role": "reviewer"}
        assert ask(served, x_user="anna", path="/api/v1/jobs") == 200
        assert ask(served, x_user="nobody", path="/api/v1/jobs") == 401
        assert ask(served, "POST", "/api/v1/data", x_user="anna") == 403
        assert ask(served, "POST", "/api/v1/data", x_user="anna", origin=served.url) == 400
        assert ask(served, path="/api/v1/jobs", authorization="Bearer " + "t" * 40) == 200


def test_without_a_proxy_the_header_means_nothing(served):
    assert ask(served, x_user="owner", user="owner", remote_user="owner") == 401


def test_users_are_read_from_a_file(tmp_path):
    file = tmp_path / "users.toml"
    file.write_text(
        f'[anna]\nrole = "owner"\nsha256 = "{token_hash("t")}"\n[ben]\nrole = "reviewer"\nsha256 = "{token_hash("u")}"\n',
        encoding="utf-8",
    )
    users = users_in(file)
    assert users.of_token("t") == User("anna", "owner")
    assert users.of_token("u") == User("ben", "reviewer")
    assert users.of_token("v") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "names no user"),
        ("anna = 1", "the key 'role' must be owner or reviewer"),
        ('[anna]\nrole = "admin"', "the key 'role' must be owner or reviewer"),
        ('[anna]\nrole = "owner"', "the key 'sha256' must be"),
        ('[anna]\nrole = "owner"\nsha256 = "ABC"', "the key 'sha256' must be"),
        ('[anna]\nrole = "owner"\ntoken = "t"', "there is no key 'token'"),
        (
            f'[anna]\nrole = "owner"\nsha256 = "{"a" * 64}"\n[ben]\nrole = "owner"\nsha256 = "{"a" * 64}"',
            "the same token as anna",
        ),
    ],
)
def test_a_wrong_file_of_users_is_refused(tmp_path, content, said):
    from setveil.errors import BadData  # noqa: PLC0415 - of this test only

    file = tmp_path / "users.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=said):
        users_in(file)


def test_ports_have_cookies_of_their_own(tmp_path):
    first, second = (cookie_name(Settings(tmp_path, port=port)) for port in (1, 2))
    assert first != second
