"""Prints what FastChat makes of conversations, for each of its templates: a JSON
object a line, {"name", "cases": [{"messages", "prompt"}]}. As its API server
does it."""

import json

from fastchat.conversation import conv_templates, get_conv_template

CONVERSATIONS = [
    [("user", "Hi")],
    [("system", "Be {brief}."), ("user", " Hi\n"), ("assistant", "Yes?"), ("user", "Go on")],
    [("user", "a"), ("user", ""), ("assistant", "b")],
]

for name in conv_templates:
    cases = []
    for messages in CONVERSATIONS:
        conv = get_conv_template(name)
        for role, text in messages:
            if role == "system":
                conv.set_system_message(text)
            else:
                conv.append_message(conv.roles[role == "assistant"], text)
        conv.append_message(conv.roles[1], None)
        try:
            prompt = conv.get_prompt()
        except (TypeError, ValueError, AttributeError, IndexError):
            continue  # FastChat itself fails
        cases.append({"messages": [{"role": role, "content": text} for role, text in messages], "prompt": prompt})
    print(json.dumps({"name": name, "cases": cases}, ensure_ascii=False))
