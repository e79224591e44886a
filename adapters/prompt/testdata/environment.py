"""The environment that transformers renders chat templates in, with a fixed clock."""
import datetime
import json
import os

import jinja2
import jinja2.ext
import jinja2.sandbox

os.environ["TZ"] = "UTC"
NOW = datetime.datetime(2026, 3, 5, 7, 8, 9, 123456)


class Generation(jinja2.ext.Extension):
    """The block {% generation %}, which marks what the model wrote and prints as it stands."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(words):
    error = jinja2.exceptions.TemplateError(words)
    error.raised = True
    raise error


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


ENV = environment()
