"""Tells one story: fills a plot (plots.py) with a hero, a place and a second character."""
import math
import random
import re
import zlib

import plots
import words as W

R = random.Random(0)
CHOICE = re.compile(r"<([^<>]*)>")
SLOT = re.compile(r"\{(\w+)\}")
PRONOUNS = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}
LIKES = W.split("""old_songs long_walks warm_soup rainy_days riddles the_stars funny_hats quiet_mornings the_smell_of_bread bright_colors
the_sound_of_rain good_jokes the_wind snow sweet_berries picture_books""")
TRAITS = W.split("kind curious cheerful quiet clever dreamy honest friendly patient careful")
TIMES = W.split("""one_day one_morning one_evening one_cold_morning one_sunny_day one_rainy_afternoon early_one_morning late_one_evening
one_windy_day one_spring_morning one_summer_day one_autumn_evening one_winter_day one_quiet_afternoon one_fine_day""")

NOUNS = {}
for kind, words in (("animal", W.ANIMALS), ("fantasy", W.FANTASY), ("thing", W.THINGS), ("big", W.PLACES_BIG)):
    for n in words:
        NOUNS.setdefault(n, (kind, None))
for g, words in (("f", W.PERSONS_F), ("m", W.PERSONS_M), (None, W.PERSONS_X)):
    for n in words:
        NOUNS[n] = ("person", g)
NOUNS["mermaid"] = NOUNS["fairy"] = NOUNS["nymph"] = ("fantasy", "f")
for n in W.split("hen cow mare goose ewe"):
    NOUNS[n] = ("animal", "f")
for n in W.split("rooster bull ox ram stallion"):
    NOUNS[n] = ("animal", "m")


def article(phrase):
    w = phrase.split()[0].lower()
    vowel = w[0] in "aeiou" and not w.startswith(("uni", "use", "one", "eu")) or w in ("honest", "hour")
    return ("an " if vowel else "a ") + phrase


def plural(noun):
    head, _, last = noun.rpartition(" ")
    irregular = {"mouse": "mice", "goose": "geese", "child": "children", "man": "men", "woman": "women", "wolf": "wolves", "sheep": "sheep",
                 "fish": "fish", "thief": "thieves", "calf": "calves", "leaf": "leaves", "elf": "elves", "dwarf": "dwarves", "deer": "deer",
                 "knife": "knives", "loaf": "loaves", "scarf": "scarves", "fireman": "firemen", "ox": "oxen"}
    if last in irregular:
        p = irregular[last]
    elif last.endswith(("s", "x", "ch", "sh")):
        p = last + "es"
    elif last.endswith("y") and last[-2] not in "aeiou":
        p = last[:-1] + "ies"
    elif last.endswith("man"):
        p = last[:-3] + "men"
    else:
        p = last + "s"
    return (head + " " + p).strip()


def leaning(options, *key, strength=1.0):
    """A weighted draw whose weights depend on the key, so that other subjects get other texts even when decoding greedily."""
    weights = []
    for i in range(len(options)):
        u = (zlib.crc32(repr((key, i)).encode()) + 1) / 2**32
        v = zlib.crc32(repr((i, key)).encode()) / 2**32
        weights.append(math.exp(strength * math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)))
    return R.choices(options, weights)[0]


def choose(text):
    return CHOICE.sub(lambda m: R.choice(m.group(1).split("|")), text)


def capitals(text):
    text = re.sub(r'([.!?]"? )("?)([a-z])', lambda m: m.group(1) + m.group(2) + m.group(3).upper() if not m.group(1)[1] == '"' else m.group(0), text)
    return text[0].upper() + text[1:]


class Story:
    """subject: noun; kind, gender: None to look them up; the rest only where the request asks for it."""

    def __init__(self, subject=None, name=None, gender=None, adjective=None, place=None, mood=None, friend=None, theme=None, brief=False):
        kinds = ("animal", "animal", "person", "fantasy")
        while subject is None:
            n = R.choice(list(NOUNS))
            if NOUNS[n][0] in kinds and (gender is None or NOUNS[n][1] in (None, gender)):
                subject = n
        self.subject, self.adjective, self.mood, self.theme, self.brief = subject, adjective, mood, theme, brief
        self.kind, g = NOUNS.get(subject, ("animal", None))
        self.agent = self.kind in kinds
        if self.agent:
            g = g or gender or R.choice("mf")
            if name is None and R.random() < .6:
                name = R.choice(W.NAMES_M if g == "m" else W.NAMES_F)
        self.gender = g = g if self.agent else "n"
        self.name = name
        self.friend_asked = friend
        self._place(place)
        table = plots.AGENT if self.agent else plots.THING if self.kind == "thing" else plots.BIG
        fits = [k for k, p in table.items() if mood and mood in p[0]]
        if not fits:
            fits = [k for k, p in table.items() if not set(p[0]) & {"sad", "scary", "bedtime"} or mood is None and R.random() < .3]
        self.plot = leaning(fits, subject, "plot", strength=.8)
        _, variables, self.beats, self.morals = table[self.plot]
        chosen = R.choice(variables)
        he, him, his = PRONOUNS[g]
        self.slots = {"he": he, "him": him, "his": his, "He": he.capitalize(), "His": his.capitalize(), "S": subject, "aS": article(subject), "like": R.choice(LIKES),
                      "in": re.sub(r"\ban?\b", "the", self.at), "p": self.where, "a": self.marks[0], "b": self.marks[1], "c": self.marks[2], **chosen}

    def _place(self, key):
        s = self.subject
        if key is None:
            if s in W.WATER:
                choices = ["sea", "island", "harbor"]
            elif s in W.COLD:
                choices = ["snow"]
            elif s in W.HIGH:
                choices = ["space"]
            else:
                choices = W.HOME_OF[self.kind]
            key = leaning(choices, s, "place")
        self.at, self.where, marks, company = W.PLACES[key]
        last = set(s.split()) | {s}
        marks = [m for m in marks if not last & set(m.replace("-", " ").split())]
        self.marks = R.sample(marks, 3) if len(marks) > 2 else ["the narrow path", "the big rock", "the wooden fence"]
        self.key = key
        if self.friend_asked:
            self.friend = self.friend_short = self.friend_asked
        else:
            self.friend = R.choice([c for c in company if not last & set(c.split())])
            first, _, rest = self.friend.partition(" ")
            self.friend_short = rest if rest and first in FIRST_WORDS else self.friend
        self.met = False

    def hero(self):
        if self.name and R.random() < .66:
            return self.name
        return "the " + self.subject

    def slot(self, m):
        k = m.group(1)
        if k == "H":
            return self.hero()
        if k == "T":
            return R.choice(TIMES)
        if k == "F":
            if self.met:
                return "the " + self.friend_short
            self.met = True
            return article(self.friend)
        v = self.slots[k]
        return SLOT.sub(self.slot, v)

    def fill(self, text):
        return SLOT.sub(self.slot, choose(text))

    def opening(self):
        noun = (self.adjective + " " if self.adjective else "") + self.subject
        who, at = article(noun), self.at
        named = f" named {self.name}" if self.name else ""
        he = PRONOUNS[self.gender][0]
        He = he.capitalize()
        if self.agent:
            forms = [f"Once upon a time, there was {who}{named} who lived {at}.", f"There once was {who}{named}. {He} lived {at}.",
                     f"Long ago, {who}{named} lived {at}.", f"{at}, there lived {who}{named}.", f"Once there was {who}{named}. {He} had a home {at}.",
                     f"Far away, {at}, lived {who}{named}.", f"Not long ago there was {who}{named} who lived {at}."]
            if self.name:
                forms += [f"{self.name} was {who}. {He} lived {at}.", f"{self.name} was {who} who lived {at}."]
        else:
            forms = [f"Once upon a time, there was {who}{named} {at}.", f"{at}, there was {who}{named}.", f"There once was {who}{named} {at}.",
                     f"Long ago, there was {who}{named} {at}.", f"This happened to {who}{named} {at}."]
        out = leaning(forms, self.subject, len(forms), strength=.7)
        if self.theme:
            out = f"This is {article(self.mood + ' story') if self.mood else 'a story'} about {self.theme}. " + out
        elif self.mood and R.random() < .9:
            out = R.choice([f"This is {article(self.mood)} story. ", f"Here is {article(self.mood)} story about {article(self.subject)}. "]) + out
        if self.agent and self.mood not in ("sad", "scary", "spooky") and R.random() < .45:
            like = leaning(LIKES, self.subject, "like")
            out += " " + R.choice([f"{He} liked {like}.", f"{He} loved {like}.", f"{He} was {R.choice(TRAITS)} and loved {like}.",
                                   f"{He} was a very {R.choice(TRAITS)} {self.subject}."])
        return out

    def closing(self):
        if self.theme:
            return self.fill(R.choice(["That is how {H} learned about %s.", "And so {H} found out what %s means."]) % self.theme)
        if self.mood == "bedtime" or R.random() < .3:
            return ""
        moral = R.choice(self.morals)
        forms = ["{H} learned that %s.", "And {H} never forgot that %s.", "So {H} found out that %s.", "From then on, {H} knew that %s."]
        out = self.fill(leaning(forms, self.subject, strength=.6) % moral)
        return out + " The end." if R.random() < .1 else out

    def text(self):
        parts = [capitals(self.opening())]
        beats = self.beats
        if self.brief:
            beats = [beats[0], beats[-1]] if R.random() < .5 else [beats[0], beats[len(beats) // 2], beats[-1]]
        for b in beats:
            line = leaning(b, self.subject, self.plot, strength=.4)
            parts.append(capitals(self.fill(line)))
        end = "" if self.brief and R.random() < .5 else self.closing()
        if end:
            parts.append(capitals(end))
        return " ".join(parts)


FIRST_WORDS = set(W.split("""old gray red busy kind young wise sleepy brown fat friendly proud tall white small green little black clever slow
lonely quiet new royal curious silver bright strong tiny wandering blue"""))
