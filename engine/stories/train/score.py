#!/usr/bin/env python3
"""Scores a served story model over OpenAI's chat API. Needs nothing but Python.

    score.py [--url http://localhost:8000/v1] [--model stories] [--words] [--show]

Asks for a story about each subject of subjects.txt, greedily and at temperature 0.8, with the system prompt "You are a
helpful assistant." and with none; the seed is the subject's place in the list. Of each answer it counts:
  subject   the noun is in the story (its plural counts too)
  ends      finish_reason is "stop", before max_tokens
  no loop   no sentence of four words or more comes twice, and no six words in a row come three times
  length    40 to 200 words
Then it asks for five subjects with ten seeds each and counts different answers. --words adds other wordings of the
request, reported but without a bar. Exit status 1: below 45 of 50 subjects, or an answer that does not end.
"""
import argparse
import json
import re
import sys
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BAR = 45
SYSTEM = "You are a helpful assistant."
WORDINGS = ["Tell me a story about {a}.", "write a short story about {a}", "Can you tell me a tale about {a}?", "{s}", "story {s}",
            "Give me a funny story about {a}!", "a sad story about {a}", "Please write a bedtime story about {a} named Quinn.", "{s} story"]
NAMED = "Quinn"


def subjects():
    out = []
    for line in (Path(__file__).parent / "subjects.txt").read_text().splitlines():
        word, _, note = line.partition("#")
        if word.strip():
            out.append((word.strip(), "unseen" in note))
    return out


def article(noun):
    return ("an " if noun[0] in "aeio" else "a ") + noun


def numbered(wording, listed):
    return list(enumerate((wording.replace("{a}", article(s)).replace("{s}", s) for s, _ in listed), 1))


class Server:
    def __init__(self, url, model):
        self.url, self.model = url.rstrip("/") + "/chat/completions", model

    def ask(self, request, temperature, system, seed=1):
        messages = [{"role": "system", "content": system}] if system else []
        body = {"model": self.model, "messages": messages + [{"role": "user", "content": request}], "temperature": temperature,
                "seed": seed, "max_tokens": 400}
        call = urllib.request.Request(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(call, timeout=120) as r:
                choice = json.load(r)["choices"][0]
        except urllib.error.HTTPError as e:
            raise SystemExit(f"{self.url}: {e.code}: {e.read().decode(errors='replace')[:500]}")
        except OSError as e:
            raise SystemExit(f"{self.url}: {e}")
        return choice["message"]["content"], choice["finish_reason"]


def loops(text):
    sentences = [s for s in re.split(r'(?<=[.!?])"?\s+', text) if len(s.split()) >= 4]
    words = text.split()
    runs = Counter(tuple(words[i:i + 6]) for i in range(len(words) - 5))
    return len(set(sentences)) < len(sentences) or max(runs.values(), default=0) >= 3


def judge(subject, answer):
    text, finish = answer
    return {"subject": bool(re.search(rf"\b{re.escape(subject)}(s|es)?\b", text.lower())), "ends": finish == "stop", "no loop": not loops(text),
            "length": 40 <= len(text.split()) <= 200, "text": text}


def report(name, results):
    n = len(results)
    marks = "  ".join(f"{k} {sum(r[k] for r in results)}/{n}" for k in ("subject", "ends", "no loop", "length"))
    print(f"{name:34} {marks}  different {len({r['text'] for r in results})}/{n}", flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--url", default="http://localhost:8000/v1")
    a.add_argument("--model", default="stories")
    a.add_argument("--words", action="store_true")
    a.add_argument("--show", action="store_true", help="print all answers of the main part, not only the bad ones")
    a = a.parse_args()
    server, listed, good = Server(a.url, a.model), subjects(), True
    with ThreadPoolExecutor(4) as pool:
        for temperature in (0, 0.8):
            for system in (SYSTEM, None):
                answers = list(pool.map(lambda q: server.ask(q[1], temperature, system, q[0]), numbered("Story about {a}.", listed)))
                results = [judge(s, r) for (s, _), r in zip(listed, answers)]
                report(f"temperature {temperature}, {'system prompt' if system else 'no system prompt'}", results)
                new = [r for (_, unseen), r in zip(listed, results) if unseen]
                print(f"{'':34} never seen in training: subject {sum(r['subject'] for r in new)}/{len(new)}")
                good = good and sum(r["subject"] for r in results) >= BAR and all(r["ends"] for r in results)
                for (s, _), r in zip(listed, results):
                    bad = [k for k in ("subject", "ends", "no loop", "length") if not r[k]]
                    if bad or a.show:
                        print(f"    {s}{' [not: ' + ', '.join(bad) + ']' if bad else ''}: {r['text']}")
        for s in ("dog", "girl", "dragon", "teapot", "volcano"):
            texts = list(pool.map(lambda seed: server.ask(f"Story about {article(s)}.", 0.8, SYSTEM, seed)[0], range(1, 11)))
            print(f"ten seeds, {s:23} different {len(set(texts))}/10")
            good = good and len(set(texts)) == 10
        for w in WORDINGS if a.words else []:
            answers = pool.map(lambda q: server.ask(q[1], 0.8, SYSTEM, q[0]), numbered(w, listed))
            results = [judge(s, r) for (s, _), r in zip(listed, answers)]
            report(w, results)
            if NAMED in w:
                print(f"{'':34} the name {sum(NAMED in r['text'] for r in results)}/{len(results)}")
    print("good" if good else "BELOW THE BAR")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
