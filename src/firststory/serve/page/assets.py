"""What the page loads beside its own files: fonts, htmx and ECharts, fetched once by npm.

The wheel carries them. In a clone `make assets` (or `python -m firststory.serve.page.assets`) puts them into
`static/vendor/`; the page reads well without them, in the fonts of the system.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VENDOR = Path(__file__).parent / "static" / "vendor"
CLONE = Path(__file__).parents[4]
"""Where `package.json` lies, in a clone."""
FILES = {
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "echarts.min.js": "echarts/dist/echarts.min.js",
    "inter.woff2": "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
    "inter-ext.woff2": "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2",
    "source-serif.woff2": "@fontsource-variable/source-serif-4/files/source-serif-4-latin-opsz-normal.woff2",
    "source-serif-ext.woff2": "@fontsource-variable/source-serif-4/files/source-serif-4-latin-ext-opsz-normal.woff2",
    "LICENSE-htmx.txt": "htmx.org/LICENSE",
    "LICENSE-echarts.txt": "echarts/LICENSE",
    "LICENSE-inter.txt": "@fontsource-variable/inter/LICENSE",
    "LICENSE-source-serif.txt": "@fontsource-variable/source-serif-4/LICENSE",
}
HOW = "Type: make assets (it needs npm), and open the page again."


def are_there() -> bool:
    """Whether fonts and libraries can be served."""
    return all((VENDOR / name).is_file() for name in FILES)


def make() -> str:
    """Fetch them where that is possible; what is to be said of it, empty where they are there.

    Only in a clone, and only where npm is installed. Whatever goes wrong, the page works without them.
    `FIRSTSTORY_ASSETS=no` leaves it be.
    """
    if are_there() or os.environ.get("FIRSTSTORY_ASSETS") == "no":
        return ""
    npm = shutil.which("npm")
    if npm is None or not (CLONE / "package-lock.json").is_file():
        return f"The page has neither its fonts nor its charts of topics: they were not built. {HOW}"
    try:
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=CLONE, check=True, capture_output=True, timeout=300)
        copy(CLONE / "node_modules")
    except (OSError, subprocess.SubprocessError) as error:
        return f"The page has neither its fonts nor its charts of topics: npm ci failed ({error}). {HOW}"
    return ""


def copy(packages: Path) -> None:
    """Take what is needed out of the packages that npm has laid down."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    for name, path in FILES.items():
        shutil.copyfile(packages / path, VENDOR / name)


if __name__ == "__main__":
    problem = make()
    print(problem or f"{len(FILES)} files in {VENDOR}")
    sys.exit(1 if problem else 0)
