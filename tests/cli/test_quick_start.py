"""What a command loads, seen from outside: a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

LOOK = """
import json, sys
from firststory.cli.main import main
sys.argv = ["firststory", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
large = (
    "pandas", "pyarrow", "sqlalchemy", "sklearn", "scipy.stats._stats_py", "scipy.optimize", "numpy.f2py.f2py2e",
    "numpy.testing._private",
)
print(json.dumps([name for name in large if name in sys.modules]))
"""


def loaded_by(*arguments):
    done = subprocess.run([sys.executable, "-c", LOOK, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_score_loads_no_data_frames_and_no_database(tmp_path):
    lines = tmp_path / "news.jsonl"
    lines.write_text("".join(json.dumps({"text": f"Bridge {n} closed"}) + "\n" for n in range(3)))
    assert loaded_by("score", str(lines)) == ["sklearn"]


def test_run_loads_no_data_frames(tmp_path):
    lines = tmp_path / "news.jsonl"
    lines.write_text(json.dumps({"text": "Bridge closed"}) + "\n")
    assert loaded_by("run", str(lines), "--store", str(tmp_path / "news.db"), "--quiet") == ["sqlalchemy", "sklearn"]


def test_help_loads_nothing_large():
    assert loaded_by("--help") == []


def test_statistics_that_were_put_off_work_when_asked_for():
    code = (
        "from firststory.cli.quick_start import load_estimators\nload_estimators()\nimport scipy.stats\n"
        "assert round(scipy.stats.norm.cdf(0.0), 3) == 0.5\nfrom scipy.stats import norm\nimport pandas\n"
        "from sklearn.preprocessing import power_transform\nfrom numpy.testing import assert_array_equal\n"
        "assert_array_equal([1], [1])\n"
        "print(power_transform([[1.0], [2.0], [4.0]], method='box-cox').shape, pandas.DataFrame({'a': [1]}).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["(3,", "1)", "(1,", "1)"]
