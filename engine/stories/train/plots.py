"""Reads the plots, and holds the variables that some of them use.

A plot begins with a line "= name (moods) VARIABLES"; the last two may be missing. Then come its beats, with an empty
line between two; each line of a beat is one way to tell it. The last block holds the morals, without a capital letter.

In the text <one|two> picks one. {H} is the hero, {he} {him} {his} its pronouns ({He} {His} at the start of a sentence),
{S} the noun ({aS} with its article), {F} the other character (the first mention brings it in with an article), {in} and
{p} the place, {a} {b} {c} three different things there, {T} a time; other slots are the variables.
"""
import re
from pathlib import Path

LOST = [{"x": x, "why": y} for x, y in (
    ("blue scarf", "to keep warm"), ("silver bell", "to call friends"), ("little key", "to open the door"),
    ("red kite", "to play with"), ("old map", "to find the way"), ("tin flute", "to make music"),
    ("green cap", "to look smart"), ("lucky coin", "to feel brave"), ("warm mitten", "for cold days"),
    ("picture book", "to read at night"), ("glass marble", "to show to friends"), ("paper boat", "to sail on the water"))]
SKILL = [{"do": a, "doing": b, "did": c} for a, b, c in (
    ("sing", "singing", "sang"), ("dance", "dancing", "danced"), ("whistle", "whistling", "whistled"),
    ("juggle", "juggling", "juggled"), ("paint", "painting", "painted"), ("swim", "swimming", "swam"),
    ("read", "reading", "read"), ("bake", "baking", "baked"), ("skate", "skating", "skated"),
    ("climb", "climbing", "climbed"), ("play the drum", "drumming", "played the drum"), ("tell jokes", "telling jokes", "told jokes"))]
FOOD = [{"x": x} for x in ("loaf of bread", "bowl of soup", "sweet pear", "honey cake", "piece of cheese", "red apple",
                           "plate of pancakes", "berry pie", "pot of porridge", "bag of nuts")]
FEAR = [{"x": x} for x in ("the dark", "thunder", "deep water", "high places", "loud noises", "strangers", "big waves", "being alone")]
NOISE = [{"x": x, "was": y} for x, y in (
    ("a slow knocking", "a loose shutter"), ("a soft crying", "a lost kitten"), ("a strange howling", "the wind in an old pipe"),
    ("a quick scratching", "a hungry mouse"), ("a deep humming", "a nest of sleepy bees"), ("a long creaking", "an old swing"),
    ("a thin whistling", "a teapot on the fire"), ("a heavy thumping", "a rabbit with a drum"))]
WISH = [{"x": x, "w": w, "bad": b} for x, w, b in (
    ("a glowing stone", "to be very big", "could not fit through the door"), ("a golden feather", "for summer all year", "missed the snow"),
    ("a green bottle", "for a mountain of sweets", "had a terrible stomach ache"), ("a silver ring", "to be invisible", "could not find anyone to talk to"),
    ("a bright shell", "for endless rain", "was wet from head to toe"), ("a tiny lamp", "to know everything", "could not be surprised anymore"))]
HAT = [{"x": x, "who": y} for x, y in (("a black top hat", "the mayor"), ("a paper crown", "the king"), ("a long white beard", "a famous wizard"),
                                       ("a red nose", "a circus clown"), ("a shiny badge", "the police"), ("big round glasses", "the new teacher"))]
MESS = [{"x": x, "y": y, "z": z} for x, y, z in (
    ("soup", "a whole bar of soap", "bubbles came out of every window"), ("pancakes", "a bucket of yeast", "they grew as high as the roof"),
    ("popcorn", "ten pots of corn", "it rolled down the road like snow"), ("pudding", "a jar of glue", "it stuck to every spoon and every nose"),
    ("a cake", "pepper for sugar", "everyone sneezed nine times"), ("jam", "a sack of beans", "it hopped around on the table"))]
TOOL = [{"x": x, "y": y} for x, y in (("stuck in the mud", "a long rope"), ("caught in a net", "a sharp stone"), ("trapped under a branch", "a strong pole"),
                                      ("locked in a shed", "a rusty key"), ("stuck in a deep hole", "a wooden ladder"))]
MAKE = [{"x": x, "y": y} for x, y in (("a drum", "old tins"), ("a warm hat", "gray wool"), ("a small boat", "bits of wood"), ("a crown", "yellow flowers"),
                                      ("a kite", "colored paper"), ("a puppet", "an old sock"), ("a necklace", "tiny shells"))]
FIND = [{"x": x, "y": y} for x, y in (("a mirror with the words: you are the treasure", "was enough"), ("a bag of seeds", "could make things grow"),
                                      ("an old song book", "had songs to share"), ("two cups and some tea", "had a good friend"))]
BROKE = [{"x": x} for x in ("blue vase", "kitchen window", "painted plate", "clay pot", "music box", "wooden clock")]
HEAD = re.compile(r"= (\w+)(?: \(([a-z ]+)\))?(?: ([A-Z]+))?")


def read(*names):
    """name -> (moods, the values that its variables may have together, beats, morals)"""
    out = {}
    for name in names:
        text = (Path(__file__).parent / "plots" / name).read_text()
        for part in text.split("\n= ")[1:]:
            head, _, body = part.partition("\n")
            plot, moods, variables = HEAD.fullmatch("= " + head).groups()
            blocks = [b.split("\n") for b in body.strip().split("\n\n")]
            out[plot] = ((moods or "").split(), globals()[variables] if variables else [{}], blocks[:-1], blocks[-1])
    return out


AGENT = read("agents.txt", "moods.txt")
THING = read("things.txt")
BIG = read("big.txt")
