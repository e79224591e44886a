#!/usr/bin/env python3
"""Writes what Python's jinja2 makes of the test templates, for the Go tests to compare with.

Run it in this folder after changing a shipped template, conversations.json or
this file. It needs jinja2 3.1 (Debian: python3-jinja2); the tests do not.
"""
import datetime
import json
import os
import random

from environment import ENV, NOW, jinja2


def families():
    """golden/NAME.txt: every shipped template with every conversation."""
    conversations = json.load(open("conversations.json", encoding="utf-8"))
    os.makedirs("golden", exist_ok=True)
    for file in sorted(os.listdir("../templates")):
        name = file.removesuffix(".jinja")
        template = ENV.from_string(open("../templates/" + file, encoding="utf-8").read())
        eos = "<｜end▁of▁sentence｜>" if name.startswith("deepseek") else "</s>"
        with open(f"golden/{name}.txt", "w", encoding="utf-8", newline="") as out:
            for title, messages in conversations.items():
                try:
                    text = template.render(
                        messages=messages, tools=None, documents=None, add_generation_prompt=True,
                        bos_token="<bos>", eos_token=eos,
                    )
                except jinja2.exceptions.TemplateError as e:
                    text = "refused: " + str(e)
                out.write(f"##### {title}\n{text}\n")


FEATURES = [
    "{{ messages.0.content }}",
    "{{ messages[0].content }}|{{ messages[-1]['content'] }}",
    "{{ {'é': 1, 'b': [1.0, 2, none, true, 'x<y>&']} | tojson }}",
    "{{ {'é': 1}|tojson(ensure_ascii=False) }}{{ {'é': 1}|tojson(ensure_ascii=True) }}",
    "{{ data | tojson(indent=2) }}",
    "{{ data | tojson(separators=(',', ':')) }}",
    "{{ data | tojson(sort_keys=true) }}",
    "{{ data }}",
    "{%- set m = messages[1:] %}{{ m | length }}{{ m[0].role }}{{ 'abcdef'[1:-1:2] }}{{ 'abc'[::-1] }}",
    "{% for k, v in data.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in data %}{{ loop.index0 }}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ k }}{% endfor %}",
    "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d') }}",
    "{% set ns = namespace(a=0, b='') %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% set ns.b = ns.b ~ i %}{% endfor %}{{ ns.a }}{{ ns.b }}",
    "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i > 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% macro f(a, b='x') %}<{{ a }}{{ b }}>{% endmacro %}{{ f(1) }}{{ f(2, 'y') }}{{ f(b='z', a=3) }}",
    "{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}in{% endcall %}",
    "{% for x in tree recursive %}{{ x.n }}{% if x.c %}({{ loop(x.c) }}){% endif %}{% endfor %}",
    "{{ 'a' if x is defined else 'b' }}{{ data.z is defined }}{{ data.nope is defined }}{{ none is none }}",
    "{{ 'x' in 'xyz' }}{{ 'q' not in ['a'] }}{{ 'z' in data }}{{ 1 in [1, 2] }}",
    "{{ '  a b '.strip() }}|{{ 'a,b,c'.split(',') }}|{{ 'a,b'.split(',')[-1] }}|{{ 'Abc'.startswith('A') }}|{{ 'abc'.replace('b', 'x') }}",
    "{{ messages | map(attribute='role') | join(', ') }}|{{ messages | selectattr('role', 'equalto', 'user') | list | length }}",
    "{{ messages | rejectattr('role', 'equalto', 'user') | map(attribute='content') | list }}",
    "{{ [3, 1, 2] | sort }}{{ [1, 2] | first }}{{ [1, 2] | last }}{{ 'a b' | title }}{{ 'AbC' | lower | capitalize }}{{ ' x ' | trim }}",
    "{{ x | default('d') }}{{ '' | default('e', true) }}{{ 'a\\nb' | indent(2) }}{{ 'a\\nb' | indent(2, true) }}",
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ 2 ** 10 }} {{ 1 / 2 }} {{ 10 / 2 }} {{ 1e6 }} {{ 1.5 | int }} {{ '3' | int }}",
    "{{ not true }}{{ true and false or true }}{{ 1 < 2 < 3 }}{{ 'a' ~ 1 ~ none ~ true }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c %}block {{ a }}{% endset %}{{ c }}",
    "{% filter upper %}abc{% endfilter %}{{ '%s-%s' | replace('%s', 'x') }}",
    "{{ 'it''s' }}{{ \"a\\\"b\" }}{{ 'tab\\tnew\\nline \\u00e9 \\\\' }}",
    "{% if messages[0].role == 'user' and messages | length > 1 %}y{% elif false %}n{% else %}e{% endif %}",
    "{% for m in messages if m.role != 'user' %}{{ m.role }}{% else %}none{% endfor %}{% for m in [] %}{% else %}empty{% endfor %}",
    "{{ {'a': {'b': 1}}.a.b }}{{ data.get('z', 0) }}{{ data.get('q', 0) }}{{ data['list'][0] }}",
    "{{ data | items | list | length }}{{ data.keys() | list }}{{ data.values() | list | length }}{{ data | dictsort | length }}",
    "{{ 'x' is string }}{{ 1 is number }}{{ data is mapping }}{{ messages is iterable }}{{ 1 is odd }}{{ none is not none }}",
    "{{ '%c%c|%s %5s|%-4s|%04d|%+d|%d%%' | format(233, 'x', 'é', 1.5, 'ab', 7, 8, true) }}{% set x = '%x %X %o' |\n format(255, 171, 8) %}{{ x }}",
    "{{ '%.2f %f %8.3e|%(b)s' | format(2.5, 1, 12345.678) if false else '%(b)s-%(a)03d' | format(a=1, b='z') }}{{ \"%.2f|%8.1f\"|format(2, 0.25) }}",
    "{{ '日本'[1] }}{% for c in 'é日' %}{{ c }}.{% endfor %}{{ '日本' | length }}",
]

CONTEXT = (
    '{"messages":[{"role":"user","content":"Hé"},{"role":"assistant","content":"Yo"},{"role":"user","content":"x"}],'
    '"data":{"z":1,"a":2.0,"list":[1,1.5,1e-7,1e6,-0.0,true,null,"é\\"\\\\\\n<b>"],"big":9007199254740993,"o":{"y":{},"b":[]}},'
    '"tree":[{"n":1,"c":[{"n":2},{"n":3,"c":[{"n":4}]}]},{"n":5}]}'
)


def features():
    """features.jsonl: small templates, each about something that real ones do."""
    with open("features.jsonl", "w", encoding="utf-8") as out:
        out.write(CONTEXT + "\n")
        for source in FEATURES:
            try:
                text = ENV.from_string(source).render(**json.loads(CONTEXT))
            except jinja2.exceptions.TemplateError as e:
                print("left out:", source, e)
                continue
            out.write(json.dumps([source, text], ensure_ascii=False) + "\n")


RNG = random.Random(20261130)
TEXT = ["a", "b ", " c", "\n", "\n\n", " ", "  \n  ", "\t", "x\ny", " z \n", "", "{", "}", "{ ", "\r\n", "\u00a0", "\u2028 ", "é\n "]


def mark():
    return RNG.choice(["", "", "", "-", "-", "+"])


def right_mark():
    return RNG.choice(["", "", "", "-", "-"])


def mixture(depth=0):
    """A random mixture of text and tags with marks."""
    s = ""
    for _ in range(RNG.randint(1, 4)):
        s += RNG.choice(TEXT)
        kind = RNG.random()
        if kind < 0.30:
            s += "{{" + mark() + RNG.choice([" 'E' ", " '}}' ", ' "%}" ', " {'a': {}}.a ", "\n'E'\n", "'{#'"]) + right_mark() + "}}"
        elif kind < 0.55 and depth < 2:
            s += "{%" + mark() + " if true " + mark() + "%}" + mixture(depth + 1)
            if RNG.random() < 0.3:
                s += "{%" + mark() + " else " + mark() + "%}" + mixture(depth + 1)
            s += "{%" + mark() + "\nendif " + mark() + "%}"
        elif kind < 0.70 and depth < 2:
            s += "{%" + mark() + " for i in [1, 2] " + mark() + "%}" + mixture(depth + 1) + "{%" + mark() + " endfor " + mark() + "%}"
        elif kind < 0.76 and depth < 2:
            s += "{%" + mark() + " set q " + mark() + "%}" + mixture(depth + 1) + "{%" + mark() + "endset" + mark() + "%}{{ q }}"
        elif kind < 0.84:
            s += "{%" + mark() + " set q = '%}' " + mark() + "%}"
        elif kind < 0.93:
            s += "{#" + mark() + RNG.choice([" c ", "", " {{ ' ", "\n\n"]) + mark() + "#}"
        else:
            s += "{%" + mark() + " raw " + right_mark() + "%}"
            s += RNG.choice([" r ", "\nr\n", "{{ r }}", "{% if %}", "\\'{#", " {"])
            s += "{%" + mark() + " endraw " + mark() + "%}"
        s += RNG.choice(TEXT)
    return s


def whitespace(count):
    """whitespace.jsonl: random mixtures, and what is left of their whitespace."""
    with open("whitespace.jsonl", "w", encoding="utf-8") as out:
        while count > 0:
            source = mixture()
            try:
                text = ENV.from_string(source).render()
            except jinja2.exceptions.TemplateError:
                continue
            out.write(json.dumps([source, text], ensure_ascii=False) + "\n")
            count -= 1


def dates():
    """strftime.jsonl: every directive of glibc's strftime on awkward days."""
    days = [NOW, datetime.datetime(2023, 1, 1), datetime.datetime(2024, 12, 30, 12, 0, 59), datetime.datetime(2020, 2, 29, 23, 59, 0),
            datetime.datetime(2021, 1, 3, 0, 5, 7, 1), datetime.datetime(2027, 1, 1, 13, 30)]
    letters = [*"aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYzZ%fs"]
    formats = ["%" + c for c in letters] + ["%-d", "%-m", "%-I", "%-H", "%-M", "%-j", "%_d", "%_m", "%05d", "%^a", "%^B", "%Ey", "%Od", "%Q", "%", "a%", "%-", "100%%",
               "Today is %A, %-d %B %Y.", "%e", "%3d", "%_5d", "%10A"]
    with open("strftime.jsonl", "w", encoding="utf-8") as out:
        for day in days:
            for f in formats:
                out.write(json.dumps([day.strftime("%Y-%m-%dT%H:%M:%S.%f"), f, day.strftime(f)]) + "\n")


families()
features()
whitespace(1500)
dates()
