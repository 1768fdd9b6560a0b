"""How sure alerts can be after few documents, in a sentence for people."""

from __future__ import annotations

from firststory.alerts.budget import Budget

FEW_DOCUMENTS = 5
UNSURE_DOCUMENTS = 100
SURE_DOCUMENTS = 500
"""Scores that p-values down to 0.2 % can be told from."""


def confidence(documents: int, budget: Budget) -> str:
    """What so many documents allow to say, the smallest p-value that they can give, and what to do.

    Examples
    --------
    >>> from firststory.alerts.budget import parse_budget
    >>> print(confidence(50, parse_budget("20/day")))
    Not very sure: alerts rest on 50 documents, so no p-value is below 1/51 = 0.02. More documents make them surer; \
--budget sets how many there are (20/day now).
    """
    if not documents:
        return "No document was judged yet."
    rest = f"alerts rest on {documents:,} document{'s' if documents > 1 else ''}"
    if budget.kind == "threshold":
        if documents >= UNSURE_DOCUMENTS:
            return f"The threshold is fixed at {budget.text}, however many documents there are: {rest}."
        return (
            f"Not very sure: {rest}, and among the first ones nearly all are novel. "
            f"More documents make them surer; --budget sets the threshold ({budget.text} now)."
        )
    least = f"no p-value is below 1/{documents + 1:,} = {1 / (documents + 1):.2g}"
    if documents >= SURE_DOCUMENTS:
        return f"Sure: {rest}, and {least}."
    how = "Hardly more than a guess" if documents < FEW_DOCUMENTS else "Not very sure"
    how = how if documents < UNSURE_DOCUMENTS else "Fairly sure"
    return (
        f"{how}: {rest}, so {least}. "
        f"More documents make them surer; --budget sets how many there are ({budget.text} now)."
    )
