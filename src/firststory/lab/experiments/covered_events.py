"""Which documents tell of the widely covered events that an editor listed; of each event only the first is listed.

A document tells of an event when it comes within three days of the first report and its title and first 300 characters
hold the event's words. The words were chosen by reading what they match, on these two streams only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from firststory.datasets.editor import EditorLabels
from firststory.datasets.streams import TextStream
from firststory.evaluate.budget_kept import counted_days
from firststory.evaluate.known_events import KnownEvents, known_event
from firststory.records import Document

COVERED = timedelta(days=3)
SHARE = 0.6
"""An alert is on an event when this share of its documents is, or when it holds the first report."""
READ_CHARACTERS = 300

WORDS: dict[tuple[str, str], str] = {
    ("news17", "Beyonce twins"): "beyonc",
    ("news17", "Oroville"): "oroville",
    ("news17", "Sehwan"): "shrine|sehwan pakistan|sehwan|qalandar",
    ("news17", "Samsung"): "samsung lee|heir|chief|chairman|arrest|brib",
    ("news17", "Kim Jong-nam"): "kim malaysia|dna|jong-nam|nam",
    ("news17", "Flynn"): "flynn|adviser|harward|contacts trump|flynn russia|flynn|harward",
    ("news17", "Doris"): "storm_doris",
    ("news17", "Churkin"): "churkin",
    ("news17", "Oscars"): "oscar|moonlight|kimmel|pwc",
    ("news17", "Sessions-Russia"): "sessions|attorney russia|ambassador|recus|perjury|contact",
    ("news17", "Vault 7"): "wikileaks|vault cia|vault|hack",
    ("news17", "Kabul hospital"): "kabul|afghan hospital",
    ("news17", "Addis landslide"): "addis|ethiopia landslide|rubbish|dump",
    ("news17", "Rescue 116"): "coast_guard|rescue_helicopter|missing_helicopter|mayo",
    ("news17", "Damascus bombing"): "damascus attack|bomb|suicide|blast|kill",
    ("news17", "Orly"): "orly|paris_airport",
    ("news17", "Chuck Berry"): "chuck berry",
    ("news17", "London attack"): "london|westminster|parliament|masood|british attack|terror|masood|westminster",
    ("news17", "Health bill pulled"): "health|obamacare|ahca bill|vote|pull|ryan|repeal",
    ("news17", "Mubarak acquitted"): "mubarak",
    ("news17", "Navalny"): "navalny|russia navalny|protest|rall|demonstration",
    ("news17", "Cyclone Debbie"): "debbie|cyclone debbie|cyclone|queensland|australia",
    ("news17", "Article 50"): "article_50|brexit article_50|trigger|letter",
    ("news17", "Peru floods"): "peru",
    ("news17", "Uber president"): "uber president|jones|quit|leav|resign",
    ("news17", "Kansas shooting"): "kansas|indian|olathe|kuchibhotla kansas|shoot|hate",
    ("news17", "Romania protests"): "romania",
    ("news17", "Laptop ban"): "laptop|electronic|device ban|airline|cabin|flight",
    ("news17", "Opel-PSA"): "opel|vauxhall|psa|peugeot",
    ("news17", "Indyref2"): "scot|sturgeon|indyref independen|referend|indyref",
    ("head", "Nobel medicine"): "nobel medicine|cancer|immunotherap|allison|honjo|physiology",
    ("head", "USMCA"): "nafta|usmca|canad|mexico deal|agree|nafta|usmca|trade",
    ("head", "Amazon $15"): "amazon $15|minimum|wage|raise",
    ("head", "Ricin"): "ricin|pentagon|cruz|castor ricin|package|mail|letter|powder|substance|castor",
    ("head", "NYT Trump tax"): "trump tax",
    ("head", "Khashoggi missing"): "khashoggi|saudi khashoggi|consulate|columnist|journalist|writer|critic|missing",
    ("head", "Florence SC shooting"): "south_carolina|s._carolina|florence shot|shoot|officer|deput|ambush|cop",
    ("head", "Van Dyke convicted"): "van_dyke|laquan|mcdonald verdict|guilty|convict|murder|jury|van_dyke|laquan",
    ("head", "Interpol chief"): "interpol|meng",
    ("head", "Banksy"): "banksy",
    ("head", "Limo crash"): "limo|crash|newlywed limo|schoharie|york",
    ("head", "Bulgarian journalist"): "bulgaria|marinova",
    ("head", "Haley resigns"): "haley",
    (
        "head",
        "Hurricane Michael",
    ): "michael|hurricane|tropical|storm|panhandle michael|gulf|florida|panhandle|depression",
    (
        "head",
        "Soyuz abort",
    ): "soyuz|astronaut|rocket|cosmonaut|nasa|space_station soyuz|emergency|launch|crew|fail|abort|land",
    ("head", "Brunson freed"): "brunson|pastor brunson|turk",
    ("head", "Meghan pregnant"): "meghan|harry|sussex|royal pregnan|baby|expect|child",
    ("head", "Sears bankruptcy"): "sears",
    ("head", "Paul Allen dies"): "paul_allen|microsoft|allen allen|co-founder|cofounder",
    ("head", "Jayme Closs"): "closs|wisconsin|barron closs|missing|parents|teen|girl",
    ("head", "Caravan"): "caravan|hondura|migrant caravan|hondura|migrant",
    ("head", "Crimea college"): "crimea",
    ("head", "Kandahar attack"): "kandahar|afghan kandahar|general|commander|guard|raziq|police_chief|insider",
    ("head", "Soros bomb"): "soros bomb|explosive|device|home|mailbox|package",
    ("head", "Megyn Kelly"): "megyn|kelly megyn|blackface",
    ("head", "Kroger"): "kroger|kentucky|ky.|jeffersontown kroger|shoot|shot|gunman|grocery",
    ("head", "Pittsburgh synagogue"): "pittsburgh|synagogue|tree_of_life|bowers",
    ("head", "Leicester helicopter"): "leicester",
    ("head", "IBM Red Hat"): "red_hat",
    ("head", "Bolsonaro wins"): "bolsonaro|brazil bolsonaro|far-right|president|elect",
    ("head", "Lion Air"): "lion_air|indonesia|jakarta|737",
    ("head", "Merkel steps down"): "merkel",
    ("head", "Bulger killed"): "bulger",
    ("head", "Asia Bibi"): "bibi|pakistan|blasphemy bibi|blasphemy|christian",
    ("head", "Yoga studio shooting"): "yoga|tallahassee|beierle",
    ("head", "Sessions out"): "sessions|whitaker|attorney_general",
    ("head", "Thousand Oaks"): "thousand_oaks|borderline|california|bar thousand_oaks|borderline|shoot|gunman",
}
"""Per event the beginnings of words that a document must hold: one of each group. `_` stands for a blank."""


def events_of_editor(stream: TextStream, labels: EditorLabels) -> KnownEvents:
    """The covered events of a stream named `news17` or `head`, and which documents the editor called a true first."""
    place = {document.id: i for i, document in enumerate(stream.documents)}
    events = []
    for event in labels.events:
        if event.stream != stream.name or event.first_id not in place:
            continue
        first = stream.documents[place[event.first_id]]
        tells = _matcher(WORDS[stream.name, event.event])
        inside = [one for one in stream.documents if _is_soon_after(one, first) and tells(_beginning(one))]
        events.append(known_event(event.event, [first, *(one for one in inside if one.id != first.id)], first))
    days, unit = counted_days(stream.times)
    judged = {one.id: one.label == "TRUE_FIRST" for one in labels.alerts if one.stream == stream.name}
    # The list is not complete: that an alert is on none of its events does not make it wrong.
    return KnownEvents(tuple(events), judged, (), place, days, unit)


def _is_soon_after(document: Document, first: Document) -> bool:
    if document.time is None or first.time is None:
        return False
    return first.time <= document.time <= first.time + COVERED


def _beginning(document: Document) -> str:
    """The title, unless the text begins with it, and the text: their first characters in small letters."""
    title = document.title or ""
    text = document.text if document.text.startswith(title) else f"{title} {document.text}"
    return text[:READ_CHARACTERS].lower()


def _matcher(words: str) -> Callable[[str], bool]:
    groups = [
        re.compile(r"(?<!\w)(?:" + "|".join(re.escape(word).replace("_", " ") for word in group.split("|")) + ")")
        for group in words.split()
    ]
    return lambda text: all(group.search(text) for group in groups)
