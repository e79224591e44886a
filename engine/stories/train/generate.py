#!/usr/bin/env python3
"""Generates the training text: one chat per line, as a JSON list of [role, text, key words].

    generate.py COUNT SEED [--brief] > chats.jsonl
    generate.py --show COUNT SEED

Key words are those that the answer takes over from the request; the trainer gives them more weight. The role "plain"
stands for a story without a chat around it. --brief gives stories of three or four sentences, for the first part of the
training. Everything comes from the word lists and plots beside this file: no outside text, no model.
"""
import json
import sys
from pathlib import Path

import asking as Q
import words as W
from story import NOUNS, R, Story

AGAIN = """another one|one more|again|another story|tell me another one|more|one more please|a different one|try again|next|once more|
continue|go on|and another""".replace("\n", "").split("|")


def keys(q):
    found = []
    for k in ("subject", "name", "adjective", "friend", "theme", "mood"):
        found += q.get(k, "").split()
    return found


def told(brief):
    q = Q.wish()
    text = Q.bare(q) if "subject" in q and R.random() < .1 else Q.ask(q)
    s = Story(**q, brief=brief)
    return ["user", text, []], ["assistant", s.text(), keys(q)], q, s


def follow_up(q, s, brief):
    """The next turn after the story s that q asked for."""
    q = dict(q, subject=s.subject)
    if s.name:
        q["name"], q["gender"] = s.name, s.gender
    r = R.random()
    if r < .4:
        q.pop("name", None), q.pop("gender", None), q.pop("theme", None)
        text = R.choice(AGAIN)
    elif r < .75:
        q["mood"] = m = R.choice(W.MOODS)
        text = R.choice([f"make it {m}", f"now a {m} story", f"can you make it {m}", f"a {m} one please"])
    elif r < .9:
        q["place"] = p = R.choice(list(W.PLACES))
        text = R.choice(["now set it %s", "the same %s", "let it happen %s"]) % W.PLACES[p][0]
    else:
        q["name"] = R.choice(W.NAMES_F + W.NAMES_M) if R.random() < .6 else Q.invented().capitalize()
        q["gender"] = "f" if q["name"] in W.NAMES_F else "m" if q["name"] in W.NAMES_M else s.gender
        text = R.choice(["the name should be %s", "call it %s", "now with the name %s"]) % q["name"]
    if q.get("gender") == "n":
        del q["gender"]
    s = Story(**q, brief=brief)
    return ["user", Q.style(text), []], ["assistant", s.text(), keys(q)], q, s


def chat(brief=False):
    r = R.random()
    if r < .03:
        return [["plain", Story(**Q.wish(), brief=brief).text(), []]]
    sys_text = Q.system()
    turns = [["system", sys_text, []]] if sys_text else []
    if r < .80:
        return turns + list(told(brief)[:2])
    if r < .90:
        u, a = Q.talk() if R.random() < .45 else Q.cannot()
        return turns + [["user", u, []], ["assistant", a, []]]
    q = s = None
    for _ in range(R.choice([2, 2, 2, 3, 4])):
        z = R.random()
        if s and z < .45:
            u, a, q, s = follow_up(q, s, brief or R.random() < .5)
        elif z < .7:
            x, y = Q.talk() if R.random() < .6 else Q.cannot()
            u, a = ["user", x, []], ["assistant", y, []]
        else:
            u, a, q, s = told(brief or R.random() < .5)
        turns += [u, a]
    return turns


def held_out():
    lines = (Path(__file__).parent / "subjects.txt").read_text().splitlines()
    return [line.split("#")[0].strip() for line in lines if "# unseen" in line and line[0] != "#"]


def main(args):
    show, brief = "--show" in args, "--brief" in args
    count, seed = (int(a) for a in args if not a.startswith("--"))
    R.seed(seed)
    forbidden = held_out()
    for n in forbidden:
        if n in NOUNS:
            raise SystemExit(f"{n} is held out for scoring and must not be in the word lists")
    for _ in range(count):
        c = chat(brief)
        if any(n in t.lower() for _, t, _ in c for n in forbidden):
            continue
        print("\n".join(f"{r}: {t}" for r, t, _ in c) + "\n" if show else json.dumps(c))


if __name__ == "__main__":
    main(sys.argv[1:])
