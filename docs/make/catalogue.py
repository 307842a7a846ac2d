"""Write the tutorial's table, a made-up library catalogue: ``python docs/make/catalogue.py``."""

import csv
import random
from pathlib import Path

TABLE = Path(__file__).parents[1] / "tutorial" / "records.csv"

SUBJECTS = {
    "Astronomy": "stars planets telescope night sky comets galaxies observatory orbit moon",
    "Beekeeping": "bees honey hive swarm queen nectar apiary wax pollen keeper",
    "Birds": "birds nest migration feathers song wings owls plumage flocks robin",
    "Bread": "bread flour sourdough oven loaf crust yeast rye baking dough",
    "Bridges": "bridge span arch steel river crossing cables pylon viaduct engineers",
    "Cats": "cat kitten purr whiskers tail paws feline tabby mouse curious",
    "Chess": "chess opening endgame rook pawn gambit grandmaster checkmate board bishop",
    "Cycling": "bicycle cycling wheels pedal mountain pass tour spokes riders saddle",
    "Dragons": "dragon fire lair scales knight treasure dragons wyrm flame tamed",
    "Gardens": "garden roses hedge seeds orchard bulbs soil pruning herbs greenhouse",
    "Glaciers": "glacier ice moraine crevasse melt arctic snow valley retreat polar",
    "Gothic architecture": "cathedral vault buttress stained glass spire gothic tracery nave "
    "masons",
    "Jazz": "jazz saxophone swing trumpet bebop improvisation blues quartet rhythm club",
    "Lighthouses": "lighthouse keeper beacon rocks fog lamp coast harbour storm signal",
    "Maps": "maps atlas cartographer scale projection survey compass borders chart longitude",
    "Mushrooms": "mushrooms fungi forest spores chanterelle cap mycelium toadstool foraging stem",
    "Printing": "printing type press ink letterpress compositor paper woodcut broadside Gutenberg",
    "Railways": "railway steam locomotive station track carriage timetable signal tunnel engine",
    "Sailing": "sailing mast wind knots harbour regatta keel tide crew yacht",
    "Silk": "silk loom weavers moth thread mulberry cloth brocade caravan dye",
    "Tea": "tea leaves kettle ceremony green porcelain pot plantation infusion cup",
    "Volcanoes": "volcano lava eruption ash crater magma island summit tremor basalt",
    "Whales": "whale ocean blowhole harpoon pod song deep krill baleen migration",
    "Witchcraft": "witch spell cauldron broom trial charm coven magic potion accused",
}

FORMS = {
    "Children's books": ("{} for children", "My first book of {}", "Look, {}!"),
    "Handbooks": ("A handbook of {}", "The practical guide to {}", "{}: a manual for beginners"),
    "History": ("A history of {}", "{} through the centuries", "{} in the nineteenth century"),
    "Fiction": ("The secret of {}: a novel", "{}: a novel", "Tales of {}"),
    None: ("{}", "On {}", "Notes on {}", "{}: collected essays"),
}

ROWS = 480

STRAY_SHARE = 0.25
"""Share of titles with a word of another subject."""
FORGOTTEN_SHARE = 0.08
"""Share of subjects that the cataloguer forgot."""


def make_records(seed: int = 1) -> list[tuple[str, str, str]]:
    """Make the rows of the table: number, title, and subjects separated by semicolons."""
    drawn = random.Random(seed)
    # a few subjects are frequent, most are rare, as in any catalogue
    names = sorted(SUBJECTS)
    weights = [1 / (1 + rank) ** 0.7 for rank in range(len(names))]
    drawn.shuffle(names)
    found = []
    for number in range(1, ROWS + 1):
        chosen = list(dict.fromkeys(drawn.choices(names, weights, k=drawn.choice([1, 1, 2]))))
        words = [drawn.sample(SUBJECTS[name].split(), drawn.choice([1, 2, 2])) for name in chosen]
        if drawn.random() < STRAY_SHARE:
            words[-1][-1] = drawn.choice(SUBJECTS[drawn.choice(names)].split())
        form = drawn.choice(list(FORMS))
        topics = ", ".join([" and ".join(some) for some in words])
        title = drawn.choice(FORMS[form]).format(topics)
        title = title[0].upper() + title[1:]
        if form is not None:
            chosen.append(form)
        subjects = [name for name in chosen if drawn.random() > FORGOTTEN_SHARE]
        found.append((f"b{number:04}", title, "; ".join(subjects)))
    return found


if __name__ == "__main__":
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["id", "title", "subjects"])
        table.writerows(make_records())
