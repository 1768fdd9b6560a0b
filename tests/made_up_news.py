"""Made-up news that reads like news: events that several papers tell, turns of them, and the small news around.

Nothing of it happened, and none of the people, places and papers exist: it may be shown and committed. The page is
tested and photographed on it. `made_up_news(end)` ends at a moment of your choice, so that a page can be live.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

PAPERS = (
    "Harbour Radio", "Evening Post", "North Wire", "Channel Five", "The Corran Courier", "Meridian News", "Daily Ledger",
    "Coast Tribune", "The Valmore Times", "Republic Online", "Morning Standard", "Public Radio East", "The Lowland Herald",
    "City Desk", "Inland Press", "Union Broadcasting",
)  # fmt: skip

# hours before the end, the headlines in the order in which papers bring them, minutes between the first and the last,
# and sentences that reports of it have.
EVENTS: tuple[tuple[float, int, tuple[str, ...], tuple[str, ...]], ...] = (
    (0.5, 22, (
        "Captain of ferry aground off Corvinwen arrested",
        "Corvinwen ferry aground: captain Anders Holm arrested at airport",
        "Captain arrested after ferry ran aground off Corvinwen",
        "Ferry aground off Corvinwen: police have arrested the captain",
        "Ferry captain Anders Holm arrested over Corvinwen grounding",
    ), ("Police arrested captain Anders Holm at the airport.", "The captain of the Corvinwen ferry had left the bridge before it ran aground, prosecutors say.")),
    (1.1, 46, (
        "Central bank of Valmore cuts key rate to 2.25 percent in surprise move",
        "Valmore central bank lowers key rate to 2.25 percent",
        "Surprise rate cut: Valmore's central bank goes to 2.25 percent",
        "Rate cut to 2.25 percent surprises markets in Valmore",
        "Central bank surprises with rate cut, Valmore crown falls",
    ), ("The central bank lowered its key rate by half a point to 2.25 percent.", "Governor Ilse Marchetti said inflation was falling faster than expected.", "None of the 31 economists asked last week had expected a cut.")),
    (2.4, 70, (
        "Tunnel under Belmarle Strait closed after smoke found in service tube",
        "Smoke in service tube closes Belmarle Strait tunnel",
        "Belmarle Strait tunnel shut, 900 passengers brought out",
        "Passengers led out of Belmarle tunnel after smoke alarm",
        "900 passengers evacuated from Belmarle Strait tunnel",
        "Belmarle tunnel closed until morning after smoke alarm",
    ), ("About 900 passengers were led out of two trains through the service tube.", "Nobody was injured, the operator of the Belmarle Strait tunnel said.", "Firefighters found a burning cable in the service tube.")),
    (4.6, 38, (
        "Goalkeeper Mira Solberg retires after eleven seasons",
        "Mira Solberg, Corran's record goalkeeper, ends career",
        "Corran goalkeeper Mira Solberg announces retirement",
        "Record goalkeeper Mira Solberg to retire at end of season",
    ), ("Mira Solberg played 214 matches for Corran, more than anyone before her.", "The goalkeeper said her knee had decided for her.")),
    (6.3, 85, (
        "Wreck of steamer Aurelia found off Cape Tolland after 112 years",
        "Divers find steamer Aurelia, lost in 1914, off Cape Tolland",
        "Lost steamer Aurelia discovered at depth of 96 metres",
        "Aurelia, missing since 1914, lies off Cape Tolland, museum says",
        "After 112 years: wreck of the Aurelia identified",
    ), ("The steamer Aurelia went down in a storm in 1914 with 71 people on board.", "Divers identified the wreck by its bell, the maritime museum said.", "It lies 96 metres deep, upright and almost whole.")),
    (31.0, 120, (
        "Ferry runs aground off Corvinwen, rescue under way",
        "Ferry with 214 people on board runs aground near Corvinwen",
        "Corvinwen ferry aground: 214 rescued, two missing",
        "All but two rescued from ferry aground off Corvinwen",
        "214 people rescued from stranded Corvinwen ferry",
        "Lifeboats bring 214 passengers ashore after ferry runs aground",
        "Ferry aground off Corvinwen, two crew members missing",
        "Corvinwen ferry aground: what passengers of the ferry saw",
        "Ferry aground at Corvinwen: search for two missing goes on",
        "Tugs try to free ferry aground off Corvinwen",
        "Ferry company sends second ferry to Corvinwen",
        "Oil barrier laid around ferry aground off Corvinwen",
        "Two missing crew members of Corvinwen ferry found alive",
    ), ("The ferry struck rocks half a mile off Corvinwen at about nine in the morning.", "Lifeboats brought 214 passengers ashore; two members of the crew are missing.", "The coast guard said the sea was calm.", "The Corvinwen ferry had left Belmarle on time.")),
    (12.0, 40, (
        "Ferry aground off Corvinwen: engine alarm was switched off",
        "Engine alarm of ferry aground off Corvinwen was switched off",
        "Alarm switched off on ferry that ran aground off Corvinwen",
        "Corvinwen ferry aground: crew had switched alarm off",
    ), ("Investigators found the engine alarm of the ferry switched off.", "It had been out of use since Tuesday, the logbook shows.")),
    (13.5, 95, (
        "Lowland parliament passes water law by two votes",
        "Water law passes in Lowland parliament, 76 to 74",
        "Lowland water law adopted with majority of two",
        "Parliament adopts water law after all-night sitting",
        "Water law passes by two votes after 19-hour debate",
    ), ("The water law passed by 76 votes to 74 after a debate of 19 hours.", "Farmers must meter wells from January on, the law says.", "Environment minister Petra Vance called it a beginning.")),
    (18.0, 55, (
        "Tessaly Motors recalls 48,000 cars over brake hose",
        "48,000 Tessaly cars recalled because of brake hose",
        "Tessaly Motors calls back 48,000 vehicles",
        "Brake hose fault: Tessaly Motors recalls 48,000 cars",
    ), ("Tessaly Motors recalls 48,000 cars built since March.", "A brake hose may rub against the wheel, the maker said.")),
    (22.6, 140, (
        "Novelist Jonas Abara wins Meridian Prize",
        "Meridian Prize goes to Jonas Abara for 'The Salt Road'",
        "Jonas Abara awarded Meridian Prize for novel of migration",
        "'The Salt Road' by Jonas Abara wins this year's Meridian Prize",
        "Meridian Prize for Jonas Abara",
    ), ("Jonas Abara receives the Meridian Prize for his novel 'The Salt Road'.", "The jury praised a book that listens before it speaks.")),
    (27.0, 60, (
        "Storm Ottilie reaches hurricane strength, heads for Belmarle coast",
        "Storm Ottilie strengthens on its way to Belmarle",
        "Belmarle coast braces for storm Ottilie",
        "Storm Ottilie to hit Belmarle coast on Friday night",
        "Harbours close as storm Ottilie nears Belmarle",
        "Storm Ottilie: schools on Belmarle coast to stay closed",
    ), ("Storm Ottilie had winds of 130 kilometres an hour on Thursday.", "The weather service expects landfall near Belmarle on Friday night.", "Harbours on the Belmarle coast were closed.")),
    (20.5, 45, (
        "Storm Ottilie: 11,000 told to leave homes in Belmarle delta",
        "Evacuation ordered for Belmarle delta as Ottilie nears",
        "11,000 must leave Belmarle delta before storm Ottilie",
        "Belmarle delta evacuated ahead of storm Ottilie",
    ), ("The governor ordered the evacuation of the delta; 11,000 people live there.", "Buses leave from every village until midnight.")),
    (3.3, 30, (
        "Storm Ottilie weakens, evacuation of delta lifted",
        "Storm Ottilie weakens: evacuation of Belmarle delta lifted",
        "Evacuation of Belmarle delta lifted as storm Ottilie weakens",
        "Delta evacuation lifted after storm Ottilie turns north",
    ), ("Ottilie turned north in the morning and weakened to a gale.", "The evacuation order was lifted at noon.")),
    (32.0, 75, (
        "Dockworkers at Port Halvern walk out over pay",
        "Strike stops Port Halvern, largest container port",
        "Port Halvern at standstill as dockworkers strike",
        "Dockworkers' strike halts Port Halvern",
        "Strike at Port Halvern: 40 ships wait at anchor",
    ), ("Two thousand dockworkers walked out at Port Halvern at six in the morning.", "They ask for nine percent more pay; employers offer four.", "Forty ships lie at anchor outside Port Halvern.")),
    (11.3, 50, (
        "Port Halvern strike: mediator Ruth Calloway called in",
        "Ruth Calloway to mediate in Port Halvern strike",
        "Former judge Ruth Calloway becomes mediator at Port Halvern",
        "Mediator named in strike at Port Halvern",
    ), ("Former judge Ruth Calloway will mediate between dockworkers and employers.", "Talks begin at Port Halvern on Saturday.")),
    (45.0, 90, (
        "Earthquake of magnitude 5.8 shakes Lake Orsino region",
        "Magnitude 5.8 earthquake near Lake Orsino damages churches",
        "Lake Orsino: earthquake damages hundreds of houses",
        "Hundreds of houses damaged by earthquake at Lake Orsino",
        "Earthquake at Lake Orsino, magnitude 5.8, felt in capital",
        "Strong earthquake shakes Lake Orsino; no deaths reported",
    ), ("The earthquake had a magnitude of 5.8 and struck at a depth of nine kilometres.", "Hundreds of houses around Lake Orsino have cracks, officials said.", "No deaths were reported.")),
    (39.0, 60, (
        "Lake Orsino: dam declared safe after earthquake",
        "Engineers declare Orsino dam safe",
        "Orsino dam safe, engineers say after inspection",
        "After earthquake: dam at Lake Orsino passes inspection",
    ), ("Engineers inspected the dam with divers and found no damage.", "Villages below the dam may return to normal, they said.")),
    (56.0, 110, (
        "Mayor of Ashlow, Daniel Prewitt, resigns over land deals",
        "Daniel Prewitt resigns as mayor of Ashlow",
        "Ashlow mayor Prewitt steps down after land deals inquiry",
        "Land deals: Ashlow's mayor Daniel Prewitt quits",
        "Prewitt resigns as mayor; Ashlow to vote in January",
    ), ("Daniel Prewitt resigned as mayor of Ashlow after an inquiry into land deals.", "He sold three plots by the river to his brother's firm, the inquiry found.")),
    (63.0, 80, (
        "Measles outbreak in Tarn valley: 37 cases in a week",
        "37 cases of measles in Tarn valley",
        "Tarn valley schools closed after measles outbreak",
        "Measles: health ministry sends vaccination teams to Tarn valley",
        "Health ministry confirms 37 measles cases in Tarn valley",
    ), ("The health ministry counted 37 cases of measles in the Tarn valley.", "Vaccination teams go from village to village.", "Four schools are closed until Monday.")),
    (78.0, 65, (
        "Merger of Northline and Cardell railways approved",
        "Competition authority approves Northline-Cardell merger",
        "Northline may take over Cardell, authority rules",
        "Railways Northline and Cardell cleared to merge",
    ), ("The authority approved the merger of Northline and Cardell under conditions.", "Northline must sell nine regional lines within a year.")),
    (90.0, 100, (
        "Fire destroys paper mill in Dunmere",
        "Paper mill in Dunmere burns down, 300 jobs at risk",
        "Dunmere paper mill destroyed by fire overnight",
        "Fire at Dunmere paper mill: smoke seen from 60 kilometres away",
        "Large fire at paper mill in Dunmere",
    ), ("The paper mill in Dunmere burned down during the night.", "Three hundred people work there; nobody was hurt.", "Smoke was seen sixty kilometres away.")),
    (102.0, 70, (
        "Physicist Lena Okafor named head of space agency",
        "Lena Okafor to lead space agency",
        "Space agency gets first woman at its head: Lena Okafor",
        "Lena Okafor becomes director of space agency",
    ), ("Lena Okafor, a physicist, becomes director of the space agency in January.", "She led the mission that mapped the poles of the moon.")),
)  # fmt: skip

TOWNS = (
    "Ashlow Barrowby Caldwick Dunmere Elmsea Farnholt Gellerton Hartsea Ingleby Jarrow Kestrel Larkhill Marden Norwick "
    "Oakhaven Penmarsh Quillon Redmoor Stavely Thornby Upwell Vexford Wexholm Yarrowdale Zellwood Brackley Cressing Dover "
    "Eskdale Finchley Grantham Hollin Ivybridge Kelmarsh Linton Moorgate Newby Orford Pelham Rothsay"
).split()
FIRST = (
    "Ada Bruno Clara Dario Edith Felix Greta Hugo Irene Jakob Karla Leon Marta Nils Olga Pavel Rosa Simon Tilda Umberto "
    "Vera Walter Xenia Yusuf Zara Alma Boris Celia Dominic Elsa"
).split()
LAST = (
    "Abbott Bergmann Castell Dunlop Eriksen Fontaine Gruber Hallam Ibsen Jansen Kowalski Lindqvist Moreau Nakata Orlov "
    "Pereira Quist Rossi Sandoval Thorne Ullman Varga Winter Yilmaz Zander Ambrose Blackwood Carver Draper Ellison"
).split()
SMALL = (
    "{town} library opens on Sundays from {month}", "{person} elected head of {town} chamber of commerce",
    "{town} museum shows drawings by {person}", "Cyclist injured on bridge in {town}", "{town} swimming pool to reopen in {month}",
    "Choir of {town} sings works by {person}", "{person} wins {town} half marathon", "Bakery in {town} turns {n}",
    "Bus line {n} in {town} gets new timetable", "{town} to plant {n} trees along ring road", "Theatre in {town}: {person} plays Hamlet",
    "{town} council debates parking fees", "Police in {town} look for owner of {n} stolen bicycles", "{town} beats {other} {goals}",
    "{person}, teacher from {town}, publishes book of poems", "Water pipe bursts in centre of {town}",
    "{town} hospital gets new wing for {n} million crowns", "Farmers near {town} expect good apple harvest",
    "Roadworks on route {n} near {town} until {month}", "{person} retires as fire chief of {town}",
    "School in {town} named after {person}", "{town} market hall sold to {person}", "Student {person} builds boat from {n} bottles",
    "Fog delays flights at {town} airport", "{town} zoo welcomes {animal}", "Opinion: what {town} can learn from {other}",
    "Column by {person}: in praise of slow trains", "Recipe of the week: {dish} from {town}", "{town} orchestra tours {other} and Redmoor",
    "How {person} restored a mill near {town}", "Old {animal} found in attic in {town}", "Lottery: {n} winners in {town}",
    "Housing: {town} plans {n} flats at the station", "Broadband for {n} villages around {town}", "{town} tests night buses",
    "{person} brings {dish} festival to {town}", "Court in {town} fines {person} over noise", "Startup from {town} measures bees' flight",
    "{town} closes {n} playgrounds for repair", "Chess: {person} draws against {other}'s master",
)  # fmt: skip
MONTHS = "January February March April May June July August September October November December".split()
ANIMALS = "otters lynx pelicans tapirs beavers storks wolverines penguins tortoises bison".split()
DISHES = "pumpkin-soup plum-dumplings rye-bread leek-tart trout-pie honey-cake bean-stew cheese-noodles".split()


def made_up_news(end: datetime, *, days: int = 6, per_day: int = 320, seed: int = 7) -> Iterator[dict[str, str]]:
    """Documents in the order of time, the last at `end`; as lines of JSON have them."""
    draw = random.Random(seed)
    found: list[tuple[datetime, dict[str, str]]] = []
    for number, (hours, minutes, headlines, sentences) in enumerate(EVENTS):
        if hours > 24 * days - 14:  # in the first hours nothing can be confirmed
            continue
        papers = draw.sample(PAPERS, len(headlines))
        begin = end - timedelta(hours=hours)
        places = [0.0, *sorted(draw.uniform(0.04, 1.0) for _ in headlines[1:])]
        for headline, paper, place in zip(headlines, papers, places, strict=True):
            body = " ".join(draw.sample(sentences, min(2, len(sentences))))
            time = min(begin + timedelta(minutes=minutes * place), end)
            found.append((time, _document(f"event-{number}", headline, body, paper)))
    for _ in range(days * per_day):
        back = draw.uniform(0.01, 24 * days)
        time = end - timedelta(hours=back)
        if (time.hour < 5 or time.hour > 21) and draw.random() < 0.7:
            continue  # papers sleep too
        slots = {
            "town": draw.choice(TOWNS), "other": draw.choice(TOWNS), "month": draw.choice(MONTHS), "n": str(draw.randint(3, 97)),
            "person": f"{draw.choice(FIRST)} {draw.choice(LAST)}", "animal": draw.choice(ANIMALS), "dish": draw.choice(DISHES),
            "goals": f"{draw.randint(1, 6)}:{draw.randint(0, 5)}",
        }  # fmt: skip
        which = draw.randrange(len(SMALL))
        headline = SMALL[which].format(**slots).replace("-", " ")
        # Each kind of small news is one paper's own: nobody else confirms it.
        found.append((time, _document("small", headline, "", PAPERS[which % len(PAPERS)])))
    found.sort(key=lambda pair: pair[0])
    for number, (time, document) in enumerate(found):
        yield {"id": f"n{number:05d}", "time": time.isoformat().replace("+00:00", "Z"), **document}


def _document(label: str, headline: str, body: str, paper: str) -> dict[str, str]:
    text = f"{headline}\n{body}" if body else headline
    slug = "-".join(headline.lower().split())[:60]
    return {"title": headline, "text": text, "source": paper, "url": f"https://news.example/{slug}", "event": label}
