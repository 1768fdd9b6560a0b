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
    (1.3, 22, (
        "Captain Anders Holm of ferry aground off Corvinwen arrested",
        "Corvinwen ferry aground: captain Anders Holm arrested at airport",
        "Captain Anders Holm arrested after ferry ran aground off Corvinwen",
        "Ferry aground off Corvinwen: police arrested captain Anders Holm",
        "Ferry captain Anders Holm arrested over Corvinwen grounding",
        "Arrested at the airport: Anders Holm, captain of Corvinwen ferry",
        "Corvinwen ferry: lawyer of arrested captain Anders Holm speaks",
    ), ("Police arrested captain Anders Holm at the airport.", "The captain of the Corvinwen ferry had left the bridge before it ran aground, prosecutors say.")),
    (0.9, 40, (
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
        "Storm Ottilie: evacuation of Belmarle delta, 11,000 told to leave",
        "Evacuation of 11,000 ordered in Belmarle delta as storm Ottilie nears",
        "11,000 must leave: evacuation of Belmarle delta before storm Ottilie",
        "Evacuation of Belmarle delta begins, storm Ottilie drives out 11,000",
        "Buses for evacuation of 11,000 from Belmarle delta before storm Ottilie",
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
        "Ruth Calloway to be mediator in Port Halvern strike",
        "Former judge Ruth Calloway becomes mediator in Port Halvern strike",
        "Mediator named in strike at Port Halvern: Ruth Calloway",
        "Strike at Port Halvern: both sides accept Ruth Calloway as mediator",
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

# hours before the end at which reports of it begin and end, and what they are headed.
BETWEEN: tuple[tuple[float, float, tuple[str, ...]], ...] = (
    (28.5, 12.6, (
        "Ferry aground off Corvinwen: what is known", "Divers look at hull of ferry aground off Corvinwen",
        "Passengers of ferry aground off Corvinwen tell of a jolt and silence", "Corvinwen hotel takes in passengers of ferry",
        "Ferry: weather helps rescuers off Corvinwen", "Coast guard: ferry lies stable off Corvinwen",
        "Ferry aground off Corvinwen was checked in spring, company says", "Families wait in Corvinwen for news of ferry crew",
        "Tugs fail again to free ferry off Corvinwen", "Ferry off Corvinwen: investigators board the ship",
        "Corvinwen thanks the lifeboats that saved ferry passengers", "Cars still on deck of ferry aground off Corvinwen",
    )),
    (11.2, 1.5, (
        "Switched-off alarm on Corvinwen ferry: company says it did not know", "Minister in Corvinwen: ferry alarm must be explained",
        "Ferry off Corvinwen: who switched the alarm off?", "Union: crews of Corvinwen ferries are overworked",
        "Ferry pulled off the rocks at Corvinwen", "Other ferries of Corvinwen company are to be checked",
        "Corvinwen ferry towed into harbour",
    )),
    (25.5, 4.0, (
        "Storm Ottilie: trains along Belmarle coast stop at noon", "Sandbags for Belmarle before storm Ottilie",
        "Storm Ottilie tears roofs off in Belmarle", "Power cuts on Belmarle coast as storm Ottilie arrives",
        "Fishing boats of Belmarle seek shelter from storm Ottilie", "Storm Ottilie: Belmarle hospitals call in more nurses",
        "Waves of nine metres off Belmarle in storm Ottilie", "Belmarle bridges closed by storm Ottilie",
        "Storm Ottilie passes Belmarle lighthouse at 140 kilometres an hour", "Shelters in Belmarle fill before storm Ottilie",
    )),
    (30.0, 1.5, (
        "Port Halvern strike: supermarkets fear for bananas", "Strike at Port Halvern costs nine million crowns a day",
        "Ships leave Port Halvern for other ports during strike", "Port Halvern dockworkers vote to go on with strike",
        "Strike at Port Halvern: car makers run out of parts", "Employers raise their offer in Port Halvern strike",
        "Dockworkers of Port Halvern march to town hall", "Port Halvern strike: talks last into the night",
    )),
)  # fmt: skip
# What a week speaks of: the day before the end on which it is told most, how long it lasts, how much, headlines.
THEMES: tuple[tuple[float, float, int, tuple[str, ...]], ...] = (
    (0.0, 2.6, 170, (
        "Lowland election: {party} at {n} percent in new poll", "{candidate} opens Lowland election campaign in {town}",
        "Lowland election: {candidate} promises cheaper rents", "{candidate} and {rival} clash over taxes in Lowland election",
        "{party} chooses {person} for Lowland election in {town}", "Lowland election: young voters of {town} doubt {candidate}",
        "{candidate} visits farmers near {town} before Lowland election", "Lowland election: {rival} calls {candidate} a dreamer",
        "Lowland election posters torn down in {town}", "What {party} wants to do after the Lowland election",
    )),
    (2.2, 9.0, 130, (
        "Harbour Cup: {club} beat {other} {goals}", "{person} injured, {club} worry before Harbour Cup match",
        "Harbour Cup: {club} through to next round against {other}", "{club} coach {person} praises Harbour Cup defence",
        "Late goal by {person} sends {club} on in Harbour Cup", "Harbour Cup draw: {club} travel to {other}",
        "{club} sell {n},000 tickets for Harbour Cup evening", "Referee of Harbour Cup match {club} against {other} apologises",
    )),
    (4.3, 0.9, 150, (
        "Hale trial: witness tells of empty accounts in {town}", "Banker Viktor Hale silent on day {n} of trial",
        "Hale trial: defence calls {person} a liar", "Viktor Hale trial hears of {n} million crowns sent to {town}",
        "Judge in Hale trial sends jury home early", "Savers from {town} demonstrate outside Hale trial",
        "Hale trial: expert {person} doubts the books", "Prosecutors in Hale trial ask for {n} more days",
    )),
    (2.6, 1.1, 130, (
        "Grain prices rise again after drought near {town}", "Bakers in {town} pass on higher grain prices",
        "Grain prices: minister {person} rules out export ban", "Drought: farmers of {town} harvest half, grain prices climb",
        "Grain prices at highest for {n} months", "Mills near {town} stand still as grain prices soar",
        "Grain prices: {town} traders deny hoarding", "Rain around {town} does not stop grain prices",
    )),
    (1.2, 0.8, 100, (
        "Night train to {town}: tickets gone within {n} minutes", "Night train returns after {n} years, mayor of {town} rejoices",
        "First night train leaves {town} with {n} passengers", "Night train stops in {town}, hotels hope",
        "Night train late on first trip, passengers from {town} patient", "{person} writes a song about the night train to {town}",
    )),
)  # fmt: skip
PARTIES = ("Coastal Union", "Green Dike", "Lowland Labour", "New Centre")
CANDIDATES = ("Petra Vance", "Marek Doyle", "Ines Halloran", "Tom Ackerley")
CLUBS = ("Corran Rovers", "Halvern City", "Belmarle United", "Orsino Athletic", "Tarn Wanderers", "Valmore Rangers")

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


def made_up_news(end: datetime, *, days: int = 6, per_day: int = 100, seed: int = 7) -> Iterator[dict[str, str]]:
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
    for first, last, headlines in BETWEEN:
        for n, headline in enumerate(headlines):
            back = first + (last - first) * (n + draw.random()) / len(headlines)
            found.append((end - timedelta(hours=back), _document("between", headline, "", draw.choice(PAPERS))))
    for peak, width, most, headlines in THEMES:
        for n in range(most * days // 6):
            back = 24 * abs(draw.gauss(peak, width))
            time = end - timedelta(hours=back)
            if back > 24 * days or (_is_night(time) and draw.random() < 0.7):
                continue
            which = n % len(headlines)
            # Each kind is one paper's own here too: a theme has many voices, and none of them confirms another.
            paper = PAPERS[(5 * which + round(10 * width)) % len(PAPERS)]
            found.append((time, _document("theme", headlines[which].format(**_slots(draw)), "", paper)))
    for _ in range(days * per_day):
        time = end - timedelta(hours=draw.uniform(0.01, 24 * days))
        if _is_night(time) and draw.random() < 0.7:
            continue
        which = draw.randrange(len(SMALL))
        headline = SMALL[which].format(**_slots(draw)).replace("-", " ")
        # Each kind of small news is one paper's own: nobody else confirms it.
        found.append((time, _document("small", headline, "", PAPERS[which % len(PAPERS)])))
    found.sort(key=lambda pair: pair[0])
    for number, (time, document) in enumerate(found):
        yield {"id": f"n{number:05d}", "time": time.isoformat().replace("+00:00", "Z"), **document}


def _is_night(time: datetime) -> bool:
    """Papers sleep too."""
    return time.hour < 5 or time.hour > 21


def _slots(draw: random.Random) -> dict[str, str]:
    town, other = draw.sample(TOWNS, 2)
    candidate, rival = draw.sample(CANDIDATES, 2)
    return {
        "town": town, "other": other, "month": draw.choice(MONTHS), "n": str(draw.randint(3, 97)), "rival": rival,
        "person": f"{draw.choice(FIRST)} {draw.choice(LAST)}", "animal": draw.choice(ANIMALS), "dish": draw.choice(DISHES),
        "goals": f"{draw.randint(1, 6)}:{draw.randint(0, 5)}", "party": draw.choice(PARTIES), "candidate": candidate,
        "club": draw.choice(CLUBS),
    }  # fmt: skip


def _document(label: str, headline: str, body: str, paper: str) -> dict[str, str]:
    text = f"{headline}\n{body}" if body else headline
    slug = "-".join(headline.lower().split())[:60]
    return {"title": headline, "text": text, "source": paper, "url": f"https://news.example/{slug}", "event": label}
