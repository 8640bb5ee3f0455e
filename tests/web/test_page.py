"""The page in a real browser, without a network: nothing overflows, nothing fails, figures are drawn."""

import json
import re
import shutil
import subprocess

import pytest

from tests.unit.publish_inputs import Study

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
           "--host-resolver-rules=MAP * ~NOTFOUND"]
MEASURE = """<script>
addEventListener("load", () => {
  const wide = [...document.querySelectorAll("body *")].filter(
    (one) => !one.closest(".scroll, pre") && one.getBoundingClientRect().right > innerWidth + 0.5);
  const pictures = [...document.images].map((one) => [one.complete, one.naturalWidth]);
  document.title = "MEASURED" + JSON.stringify({
    width: innerWidth, scroll: document.documentElement.scrollWidth, pictures,
    wide: wide.map((one) => one.tagName + " " + one.textContent.slice(0, 60)) }) + "END";
});
</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory, program):
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; install it to test the page in a browser")
    study = Study(tmp_path_factory.mktemp("study"), program)
    done = study.make_page()
    assert done.returncode == 0, done.stderr
    return study.page


def browse(page, folder, width: int, *options: str) -> subprocess.CompletedProcess:
    """Open a page in a window of the given width."""
    command = [CHROMIUM, *OPTIONS, f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", *options, f"file://{page}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("width", [1280, 820, 500])
def test_nothing_is_wider_than_the_window(page, tmp_path, width):
    measured = page.with_name("measured.html")
    # The page allows no script at all; this copy lets the measuring one run.
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    measured.write_text(html.replace("</body>", MEASURE))
    done = browse(measured, tmp_path, width, "--dump-dom")
    found = json.loads(re.search(r"MEASURED(.*?)END", done.stdout).group(1).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    assert found["width"] == width
    assert found["scroll"] <= width and found["wide"] == []
    assert found["pictures"] and all(complete and wide > 0 for complete, wide in found["pictures"])


@pytest.mark.parametrize("width", [1280, 500])
def test_it_opens_without_a_complaint(page, tmp_path, width):
    shot = tmp_path / "page.png"
    done = browse(page, tmp_path, width, f"--screenshot={shot}")
    assert shot.stat().st_size > 20_000
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


def test_a_phone_of_360_pixels(page, tmp_path):
    """Chromium opens no window under 500 pixels, so a frame of 360 stands for the phone."""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    (page.parent / "inner.html").write_text(html)
    outer = page.with_name("phone.html")
    outer.write_text("""<body style="margin:0"><iframe id=f src="inner.html" style="width:360px;height:800px;border:0"></iframe><script>
      addEventListener("load", () => { const inner = document.getElementById("f").contentDocument;
      document.title = "MEASURED" + inner.documentElement.scrollWidth + "," + inner.documentElement.clientWidth + "END"; });
      </script></body>""")
    done = browse(outer, tmp_path, 800, "--dump-dom", "--allow-file-access-from-files")
    scroll, width = re.search(r"MEASURED(\d+),(\d+)END", done.stdout).groups()
    assert int(width) == 360 and int(scroll) <= 360
