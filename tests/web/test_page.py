"""The page in a real browser without a network: nothing overflows, nothing fails, figures are
drawn.
"""

import pytest

from tests.web.browser import browse, found_on

DARK = ["--blink-settings=preferredColorScheme=0"]
CONTRAST = """
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const paper = (one) => { for (; one; one = one.parentElement) { const of = numbers(getComputedStyle(one).backgroundColor);
    if (of.length < 4 || of[3] > 0) return of; } return [255, 255, 255]; };
  const texts = [...document.querySelectorAll("body *")].filter((one) => !one.closest("script, style, svg") &&
    [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()));
  const faint = texts.filter((one) => { const [a, b] = [luminance(numbers(getComputedStyle(one).color)), luminance(paper(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5; });
  return {dark: matchMedia("(prefers-color-scheme: dark)").matches, texts: texts.length,
    faint: faint.map((one) => one.className + " " + one.textContent.slice(0, 40))};"""


@pytest.mark.parametrize("width", [1280, 820, 500])
def test_nothing_is_wider_than_the_window(page, tmp_path, width):
    found = found_on(
        page,
        tmp_path,
        """
      const outside = [...document.querySelectorAll("body *")].filter((one) => !one.closest(".scroll, pre, nav"));
      const wide = outside.filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5);
      found = { width: innerWidth, scroll: document.documentElement.scrollWidth,
        pictures: [...document.images].map((one) => [one.complete, one.naturalWidth]),
        wide: wide.map((one) => one.tagName + " " + one.textContent.slice(0, 60)) };""",
        width,
    )
    assert found["width"] == width
    assert found["scroll"] <= width and found["wide"] == []
    assert found["pictures"] and all(complete and wide > 0 for complete, wide in found["pictures"])


@pytest.mark.parametrize("width", [1280, 500])
def test_it_opens_without_a_complaint(page, tmp_path, width):
    shot = tmp_path / "page.png"
    done = browse(page, tmp_path, width, f"--screenshot={shot}")
    assert shot.stat().st_size > 20_000
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


# The checks in a window of 1280 pixels, by name.
LOOKS = {
    "contrast": CONTRAST,
    "findings": """return [...document.querySelectorAll(".finding .line, table.dots")]
      .map((one) => one.getBoundingClientRect().bottom)""",
    "light": "return [...document.images].map((one) => one.currentSrc === one.src)",
    "words": """return {
      alts: [...document.images].map((one) => one.alt), hidden: [...document.querySelectorAll("svg")].every((one) => one.ariaHidden === "true"),
      regions: [...document.querySelectorAll("nav, [role=region], table.dots")].every((one) => one.ariaLabel),
      scripts: document.querySelectorAll("main script, img[onerror]").length, dark: document.querySelectorAll("picture source").length}""",
    "contents": """const stops = [...document.querySelectorAll("a[href], summary, button, [tabindex]")];
      stops[0].focus(); const skip = [stops[0].className, stops[0].getBoundingClientRect().left, stops[0].getAttribute("href")];
      const links = [...document.querySelectorAll("nav a")];
      const outlined = links.filter((one) => { one.focus(); return document.activeElement === one && getComputedStyle(one).outlineStyle !== "none" });
      return {skip, links: links.length, outlined: outlined.length, follow: stops[1] === links[0],
        lost: links.filter((one) => !document.getElementById(one.hash.slice(1))).length, main: !!document.getElementById("main")}""",
}


@pytest.fixture(scope="module", params=[[], DARK], ids=["light", "dark"])
def seen(request, page, tmp_path_factory) -> dict:
    """Return the results of LOOKS on light or on dark paper."""
    script = ", ".join(f"{name}: (() => {{ {look} }})()" for name, look in LOOKS.items())
    folder = tmp_path_factory.mktemp("seen")
    found = found_on(page, folder, f"found = {{ {script} }}", 1280, *request.param)
    assert found["contrast"]["dark"] == bool(request.param)
    return found


def test_it_is_seen_by_everybody(seen):
    """Every text has a contrast of 4.5 to 1 (WCAG AA). Each picture has a description and, on dark
    paper, its dark form.
    """
    assert len(seen["findings"]) >= 2, "on the first screen"
    assert max(seen["findings"]) <= 800
    assert seen["contrast"]["texts"] > 100
    assert seen["contrast"]["faint"] == []
    assert seen["light"]
    assert set(seen["light"]) == {not seen["contrast"]["dark"]}
    found = seen["words"]
    assert found["alts"] and all(len(alt) > 20 for alt in found["alts"])
    assert found["hidden"] and found["regions"]
    assert found["scripts"] == 0, "no text of a corpus runs as markup"
    assert found["dark"] == len(found["alts"])


def test_the_contents_go_by_the_keyboard(seen):
    """The first stop skips the contents and becomes visible. Then come the contents, each with a
    visible focus and a link to its section.
    """
    found = seen["contents"]
    assert found["skip"] == ["skip", 0, "#main"] and found["main"] and found["follow"]
    assert found["links"] == found["outlined"] > 8 and found["lost"] == 0
