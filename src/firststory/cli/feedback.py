"""`firststory feedback`: say whether a verdict was useful, or take it back; the next run takes it up."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def feedback(
    verdict: Annotated[str, typer.Argument(metavar="VERDICT_ID", help="The id of the document that was judged.")],
    useful: Annotated[
        bool | None, typer.Option("--useful/--not-useful", help="Whether the alert was worth your time.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last word on this verdict back.")] = False,
    store: options.StoreUrl = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Say whether a verdict was useful: the threshold for alerts moves and, with enough marks, the score's weights."""
    from firststory.alerts.budget import parse_budget
    from firststory.alerts.feedback import Feedback
    from firststory.cli import output
    from firststory.harmless import harmless

    if undo == (useful is not None):
        raise typer.BadParameter("say one of --useful, --not-useful and --undo")
    with options.open_store(store, config, writes=True) as opened:
        feedback_so_far = Feedback()
        for row in opened.feedback():
            feedback_so_far.apply(row["document"], row["useful"])
        if undo and verdict not in {mark.verdict for mark in feedback_so_far.marks}:
            raise typer.BadParameter(f"there is no feedback on {verdict!r} to take back")
        opened.add_feedback(verdict, None if undo else useful)
        budget = opened.settings().get("budget")
    words = feedback_so_far.apply(verdict, None if undo else useful, None if budget is None else parse_budget(budget))
    if json:
        output.write_json(
            {"verdict": verdict, "useful": useful, "strictness": feedback_so_far.strictness, "sentence": words}
        )
    else:
        output.console().print(f"{harmless(words, 300)} The next run applies it.", markup=False)
