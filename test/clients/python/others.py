"""LiteLLM as a client, and LlamaIndex."""
import os

import litellm
from checks import BASE, MODEL, PIRATE, check, fails
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

litellm.suppress_debug_info = True


def ask(text, **more):
    return litellm.completion(
        model="openai/" + MODEL, api_base=BASE, api_key="none", num_retries=0,
        messages=[{"role": "user", "content": text}], **more,
    )


def joined(stream):
    return "".join(c.choices[0].delta.content or "" for c in stream if c.choices)


resp = ask("I love Red Hat!")
check("litellm text", resp.choices[0].message.content == PIRATE and resp.choices[0].finish_reason == "stop", resp)
check("litellm usage", resp.usage.total_tokens == 17, resp)
text = joined(ask("I love Red Hat!", stream=True))
check("litellm stream", text == PIRATE, text)
chunks = list(ask("I love Red Hat!", stream=True, stream_options={"include_usage": True}))
check("litellm stream usage", any(getattr(c, "usage", None) and c.usage.total_tokens == 17 for c in chunks), chunks)
check("litellm stop", ask("I love Red Hat!", stop=["operating"]).choices[0].message.content == "Aye, Red Hat be a fine ")
fails("litellm error before", lambda: ask("fail first"), "worker is out of memory")
fails("litellm error in the stream", lambda: joined(ask("fail midway", stream=True)), "worker is out of memory")

llm = OpenAILike(model=MODEL, api_base=BASE, api_key="none", is_chat_model=True, max_retries=0)
messages = [ChatMessage(role="system", content="You are a pirate."), ChatMessage(role="user", content="I love Red Hat!")]
answer = llm.chat(messages)
check("llamaindex text", answer.message.content == PIRATE, answer)
text = "".join(c.delta or "" for c in llm.stream_chat(messages))
check("llamaindex stream", text == PIRATE, text)
text = llm.chat(messages, stop=["operating"]).message.content
check("llamaindex stop", text == "Aye, Red Hat be a fine ", text)
fails("llamaindex error before", lambda: llm.chat([ChatMessage(role="user", content="fail first")]), "worker is out of memory")
fails("llamaindex error in the stream", lambda: list(llm.stream_chat([ChatMessage(role="user", content="fail midway")])), "worker is out of memory")

stream = llm.stream_chat([ChatMessage(role="user", content="slow")])
first = next(c for c in stream if c.delta)
check("llamaindex cancel", first.delta == "Aye", first)
os._exit(0)  # leaving closes the connection; the driver sees the worker's side end
