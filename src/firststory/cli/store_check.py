"""`firststory store check`: is a store whole?"""

from __future__ import annotations

import typer

from firststory.cli import options


def store_check(
    store: options.StoreUrl = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Check that a store is whole: its file, its references, its steps, the saved models and the full-text index.

    Nothing is changed, except that a store of an older version is brought up to date first. The exit status is 1 where
    anything is wrong. What is not right in the index or a model does not harm the rest.
    """
    from firststory.cli import output
    from firststory.cli.guard import ERROR
    from firststory.cli.rows_progress import rows_progress
    from firststory.harmless import harmless
    from firststory.store.checking import CHECKS, check_store

    with options.open_store(store, config) as opened, rows_progress(len(CHECKS)) as advance:
        findings = []
        for finding in check_store(opened, lambda name: advance(name, 0)):
            findings.append(finding)
            advance(finding.check, 1)
        name = opened.name
    is_whole = not any(finding.problem for finding in findings)
    if json:
        checks = {finding.check: finding.problem or "ok" for finding in findings}
        output.write_json({"store": name, "is_whole": is_whole, "checks": checks})
    else:
        screen = output.console(soft_wrap=True)
        for finding in findings:
            said = f"PROBLEM: {finding.problem}" if finding.problem else f"ok ({finding.detail})"
            screen.print(f"{finding.check:<12}{harmless(said, 500)}", markup=False)
    if not is_whole:
        raise typer.Exit(ERROR)
