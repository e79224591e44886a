"""Writes what FastChat's own Conversation class makes of conversations under its
templates: conv.py FOLDER [TEMPLATE...], a file NAME.json each, as conv_test.go
reads them. Without names: those of the styles that have numbers of their own in
each version (0.2.36 has no LLAMA3, GEMMA, CLLM and DEFAULT).

The files here:

    pip install --no-deps fschat==0.2.36
    python conv.py conv-0.2.36
    pip install --no-deps git+https://github.com/lm-sys/FastChat@0e6d3e4b
    python conv.py conv
"""

import dataclasses
import json
import pathlib
import sys

from fastchat.conversation import conv_templates, get_conv_template

TEMPLATES = (
    "chatglm chatglm2 internlm-chat dolly_v2 vigogne_instruct rwkv falcon phoenix Robin falcon-chat openchat_3.5 "
    "chatglm3 deepseek-chat metamath yuan2 cllm api_based_default gemini-1.5-pro"
).split()

CONVERSATIONS = [
    [("user", "Hi")],
    [("system", ""), ("user", "Hi")],
    [("system", "Be {brief}."), ("user", " Hi\n"), ("assistant", "Yes?"), ("user", "Go on")],
    [("user", "a"), ("user", ""), ("assistant", "b")],
    [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e")],
    [("assistant", "Wer da?"), ("user", "Grüße, 世界 👩‍👩‍👧\u00a0\u001f"), ("assistant", "e\u0301<n><n>"), ("assistant", "Sohn>")],
    [("system", "\n"), ("user", "a\r\n\r\nb\n\n\nc\r\n\n\n"), ("assistant", "</s> {system_message} %s")],
    [],
]


def case(name, messages):
    conv = get_conv_template(name)
    for role, text in messages:  # as FastChat's API server does it
        if role == "system":
            conv.set_system_message(text)
        else:
            conv.append_message(conv.roles[role == "assistant"], text)
    conv.append_message(conv.roles[1], None)
    return {"messages": [{"role": role, "content": text} for role, text in messages], "prompt": conv.get_prompt()}


def write(folder, name):
    conv = dataclasses.asdict(get_conv_template(name))
    conv["sep_style"] = int(conv["sep_style"])
    cases = ",\n  ".join(json.dumps(case(name, m), ensure_ascii=False) for m in CONVERSATIONS)
    reply = json.dumps({"conv": conv}, ensure_ascii=False)
    (folder / f"{name}.json").write_text(f'{{"reply":{reply},\n "cases":[\n  {cases}\n]}}\n', encoding="utf-8")


folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
for name in sys.argv[2:] or [name for name in TEMPLATES if name in conv_templates]:
    write(folder, name)
