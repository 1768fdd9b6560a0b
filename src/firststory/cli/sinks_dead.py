"""`firststory sinks dead`: alerts that a sink did not take."""

from __future__ import annotations

from firststory.cli import options


def sinks_dead(store: options.StoreUrl = None, json: options.Json = False, config: options.Config = None) -> None:
    """Show the alerts that could not be delivered, and why: the dead letters of every sink, oldest first."""
    from firststory.cli import output
    from firststory.harmless import harmless
    from firststory.store.outbox import dead_letters

    with options.open_store(store, config) as opened:
        letters, name = dead_letters(opened), opened.name
    if json:
        output.write_json(list(letters))
        return
    screen = output.console(soft_wrap=True)
    for letter in letters:
        said = letter["problem"] or "is tried again by the run that writes, or the next one"
        screen.print(f"{letter['alert']}  {harmless(letter['sink'], 200)}: {harmless(said, 300)}", markup=False)
    if not letters:
        screen.print("No dead letters: every alert was delivered, or is on its way.")
    elif any(letter["problem"] for letter in letters):
        screen.print(f"Try them again: firststory sinks retry --store {name}", markup=False)
