"""A link that leads nowhere is named, and so is a part that would be loaded from the network."""

from __future__ import annotations

from pathlib import Path

import pytest

import links

PAGE = '<html><body><h1 id="top">A</h1>{}</body></html>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(PAGE.format('<a href="sub/b.html#sub-top">b</a>'))
    (tmp_path / "sub" / "b.html").write_text(
        '<i id="sub-top"></i><a href="../index.html#top">a</a><a href="/index.html">a</a>'
        '<a href="https://example.org/x">x</a><a href="mailto:a@b.c">m</a>'
        '<img src="../a.png"><a href="#sub-top">s</a>'
    )
    (tmp_path / "a.png").touch()
    (tmp_path / "ü b.html").write_text("<a id='ä'></a>")
    return tmp_path


def said(site: Path) -> list[str]:
    return [f"{page}: {what}" for page, what in links.faults(site)[0]]


def test_a_whole_site_has_no_fault_and_is_counted(site):
    (site / "c.html").write_text('<a href="%C3%BC%20b.html#%C3%A4">u</a><a href=".">here</a>')
    found, seen = links.faults(site)
    assert found == []
    assert seen == {"pages": 4, "internal": 6, "anchors": 4, "external": 2}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">x</a>', "gone.html: there is no such file"),
        ('<a href="sub/b.html#gone">x</a>', "the page is there, the anchor is not"),
        ('<a href="#gone">x</a>', "#gone: the page is there, the anchor is not"),
        ('<img src="gone.png">', "gone.png: there is no such file to load"),
        ('<script src="https://cdn.example.org/x.js"></script>', "is loaded from another site"),
        ('<link rel="stylesheet" href="//cdn.example.org/x.css">', "is loaded from another site"),
        ('<iframe src="http://example.org/"></iframe>', "is loaded from another site"),
    ],
)
def test_a_planted_fault_is_named(site, body, fault):
    (site / "c.html").write_text(PAGE.format(body))
    (only,) = said(site)
    assert only.startswith("c.html: ")
    assert only.endswith(fault)


def test_styles_may_not_load_from_elsewhere_either(site):
    (site / "a.css").write_text(
        "/* url(https://example.org/in-a-comment) */ @import 'https://example.org/x.css';"
        'b{background:url("a.png")} i{background:url(data:image/png;base64,x)} u{background:url(gone.woff2)}'
    )
    assert said(site) == [
        "a.css: https://example.org/x.css: is loaded from another site",
        "a.css: gone.woff2: there is no such file to load",
    ]


def test_the_command_fails_on_a_fault_and_on_an_empty_folder(site, tmp_path, capsys):
    assert links.main([str(site)]) == 0
    (site / "c.html").write_text('<a href="gone.html">x</a>')
    assert links.main([str(site)]) == 1
    assert "1 broken" in capsys.readouterr().out
    assert links.main([str(tmp_path / "sub" / "none")]) == 1
