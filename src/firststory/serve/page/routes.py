"""Where the views of the page are found."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from firststory.serve.access import ServiceHere, StoreToRead
from firststory.serve.page import missing
from firststory.serve.page.cards import cards_of
from firststory.serve.page.digest import digest_facts, mail_of, period_of
from firststory.serve.page.forms import router as forms
from firststory.serve.page.health import health_facts
from firststory.serve.page.now import KINDS, RANGES, now_facts
from firststory.serve.page.ranges import range_of
from firststory.serve.page.rendering import clock_for, fragment, may_write, render
from firststory.serve.page.search import search_facts
from firststory.serve.page.stories import RANGES as STORY_RANGES
from firststory.serve.page.stories import stories_facts
from firststory.serve.page.story import story_facts
from firststory.serve.page.storyline import storyline_facts
from firststory.serve.page.topics import RANGES as TOPIC_RANGES
from firststory.serve.page.topics import topic_facts, topics_facts

router = APIRouter(include_in_schema=False)
router.include_router(forms)


@router.get("/", response_class=HTMLResponse)
def now(request: Request, store: StoreToRead, kind: str = "all") -> HTMLResponse:
    """What is new."""
    clock = clock_for(request, store.last_time())
    if store.last_step() < 0:
        return missing.nothing_yet(request, clock)
    kind = kind if kind in KINDS else "all"
    within = range_of(request.query_params, clock, RANGES, "24h")
    facts = now_facts(store, clock, kind, within)
    chosen: dict[str, Any] = {
        "kind": kind,
        "kinds": KINDS,
        "ranges": RANGES,
        "chosen": within.chosen,
        "range_words": within.words,
        "from_day": within.from_day,
        "to_day": within.to_day,
    }
    return render(request, "now.html", "now", clock, **facts, **chosen)


@router.get("/page/stories", response_class=HTMLResponse)
def stories(
    request: Request,
    store: StoreToRead,
    level: Literal["story", "storyline"] = "storyline",
    since: str = "3d",
    page: Annotated[int, Query(ge=0, le=1000)] = 0,
) -> HTMLResponse:
    """What grows."""
    clock = clock_for(request, store.last_time())
    since = since if since in STORY_RANGES else "3d"
    return render(request, "stories.html", "stories", clock, **stories_facts(store, clock, level, since, page))


@router.get("/page/storylines", response_class=HTMLResponse)
def storylines() -> RedirectResponse:
    """The same list, at its other address."""
    return RedirectResponse("/page/stories?level=storyline", 307)


@router.get("/page/stories/{name}", response_class=HTMLResponse)
def story(request: Request, store: StoreToRead, name: str, before: int | None = None, rows: bool = False) -> Response:
    """One story; one that was merged is told as the one that has it now."""
    clock = clock_for(request, store.last_time())
    current = store.current_story(name)
    if current != name:
        return RedirectResponse(f"/page/stories/{current}", 307)
    facts = story_facts(store, clock, name, before)
    if facts is None:
        return missing.not_here(request, clock, "story", name)
    facts["more_href"] = f"/page/stories/{name}?"
    if rows:
        return fragment("documents.html", clock=clock, may_write=False, **facts)
    return render(request, "story.html", "stories", clock, **facts)


@router.get("/page/storylines/{name}", response_class=HTMLResponse)
def storyline(
    request: Request, store: StoreToRead, name: str, before: int | None = None, rows: bool = False
) -> Response:
    """One storyline."""
    clock = clock_for(request, store.last_time())
    current = store.current_storyline(name)
    if current != name:
        return RedirectResponse(f"/page/storylines/{current}", 307)
    facts = storyline_facts(store, clock, name, before)
    if facts is None:
        return missing.not_here(request, clock, "storyline", name)
    facts["more_href"] = f"/page/storylines/{name}?"
    if rows:
        return fragment("documents.html", clock=clock, may_write=False, **facts)
    return render(request, "storyline.html", "stories", clock, **facts)


@router.get("/page/topics", response_class=HTMLResponse)
def topics(request: Request, store: StoreToRead, since: str = "30d") -> HTMLResponse:
    """What the stream speaks of."""
    clock = clock_for(request, store.last_time())
    since = since if since in TOPIC_RANGES else "30d"
    return render(request, "topics.html", "topics", clock, **topics_facts(store, clock, since))


@router.get("/page/topics/{name}", response_class=HTMLResponse)
def topic(
    request: Request, store: StoreToRead, name: str, before: int | None = None, rows: bool = False
) -> HTMLResponse:
    """One topic."""
    clock = clock_for(request, store.last_time())
    facts = topic_facts(store, clock, name, before)
    if facts is None:
        return missing.not_here(request, clock, "topic", name)
    facts["more_href"] = f"/page/topics/{name}?"
    if rows:
        return fragment("documents.html", clock=clock, may_write=False, **facts)
    return render(request, "topic.html", "topics", clock, **facts)


@router.get("/page/search", response_class=HTMLResponse)
def search(request: Request, store: StoreToRead) -> HTMLResponse:
    """Documents by words."""
    clock = clock_for(request, store.last_time())
    asked = request.query_params
    facts = search_facts(store, clock, asked, tuple(asked.getlist("source")))

    def address(**changes: str | None) -> str:
        """This question, with something changed."""
        pairs = [(key, value) for key, value in asked.multi_items() if key not in changes]
        return "/page/search?" + urlencode([*pairs, *((key, value) for key, value in changes.items() if value)])

    return render(request, "search.html", "search", clock, address=address, **facts)


@router.get("/page/digest", response_class=HTMLResponse)
def digest(request: Request, store: StoreToRead) -> HTMLResponse:
    """What happened on a day or in a week."""
    clock = clock_for(request, store.last_time())
    facts = digest_facts(store, clock, period_of(store, request.query_params, clock))
    return render(request, "digest.html", "digest", clock, **facts)


@router.get("/page/digest.eml")
def digest_mail(request: Request, store: StoreToRead) -> Response:
    """The same as a mail, to be addressed and sent."""
    clock = clock_for(request, store.last_time())
    period = period_of(store, request.query_params, clock)
    told = digest_facts(store, clock, period)["digest"]
    name = f"firststory-{period.first.isoformat()}.eml"
    return Response(
        mail_of(told, period),
        media_type="message/rfc822",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.get("/page/health", response_class=HTMLResponse)
def health(request: Request, service: ServiceHere) -> HTMLResponse:
    """Whether all is well."""
    clock = clock_for(request, service.reader.last_time())
    return render(request, "health.html", "health", clock, **health_facts(service, clock))


@router.get("/page/alerts/{name}")
def alert(request: Request, store: StoreToRead, name: str) -> Response:
    """The address of an alert: it leads to its story, wherever that has gone."""
    found = store.alert(name)
    if found is None:
        return missing.not_here(request, clock_for(request, store.last_time()), "alert", name)
    if found.story is None:
        return RedirectResponse(f"/?since=7d#{name}", 307)
    return RedirectResponse(f"/page/stories/{found.story}#{name}", 307)


@router.get("/page/cards/{name}", response_class=HTMLResponse)
def alert_card(request: Request, store: StoreToRead, name: str) -> Response:
    """One alert as a card, for a page that is open already."""
    alert = store.alert(name)
    if alert is None:
        return Response(status_code=404)
    clock = clock_for(request, store.last_time())
    (card,) = cards_of(store, [alert])
    return fragment("card.html", card=card, clock=clock, may_write=may_write(request))


@router.get("/page/{rest:path}", response_class=HTMLResponse)
def nowhere(request: Request, store: StoreToRead, rest: str) -> HTMLResponse:
    """An address that no view has."""
    return missing.no_view(request, clock_for(request, store.last_time()))
