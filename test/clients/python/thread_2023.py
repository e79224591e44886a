"""The programs of the FastChat thread, with the libraries of their day.

The first half is the thread's LangChain program (unused imports left out) with
streaming off and on; the second its openai.ChatCompletion loops.
"""
import asyncio

import openai
from checks import BASE, MODEL, PIRATE, check, fails
from langchain.callbacks.streaming_stdout import StreamingStdOutCallbackHandler
from langchain.chains import LLMChain
from langchain.chat_models import ChatOpenAI as OpenAIChat
from langchain.prompts.chat import (
    AIMessagePromptTemplate,
    ChatPromptTemplate,
    HumanMessagePromptTemplate,
    SystemMessagePromptTemplate,
)


def pirate(streaming):
    llm = OpenAIChat(
        openai_api_base=BASE,
        callbacks=[StreamingStdOutCallbackHandler()],
        model_name=MODEL,
        streaming=streaming,
        verbose=True,
    )
    template = "You are a helpful assistant that translates english to pirate."
    system_message_prompt = SystemMessagePromptTemplate.from_template(template)
    example_human = HumanMessagePromptTemplate.from_template("Hi")
    example_ai = AIMessagePromptTemplate.from_template("Argh me mateys")
    human_template = "{text}"
    human_message_prompt = HumanMessagePromptTemplate.from_template(human_template)
    chat_prompt = ChatPromptTemplate.from_messages(
        [system_message_prompt, example_human, example_ai, human_message_prompt]
    )
    chain = LLMChain(llm=llm, prompt=chat_prompt)
    resp = chain.run("I love Red Hat!")
    print(resp)
    return resp


for streaming in (False, True):
    answer = pirate(streaming)
    check(f"langchain streaming={streaming}", answer == PIRATE, answer)


def ask(text, **more):
    messages = [{"role": "user", "content": text}]
    return openai.ChatCompletion.create(model=MODEL, messages=messages, **more)


def content(chunk):
    return chunk["choices"][0].get("delta", {}).get("content")


text = "".join(content(c) or "" for c in ask("I love Red Hat!", stream=True))
check("create stream", text == PIRATE, text)


async def loop():
    parts = []
    async for chunk in await openai.ChatCompletion.acreate(
        model=MODEL,
        messages=[{"role": "user", "content": "I love Red Hat!"}],
        stream=True,
    ):
        c = content(chunk)
        if c is not None:
            parts.append(c)
    return "".join(parts)


text = asyncio.run(loop())
check("acreate stream", text == PIRATE, text)

resp = ask("I love Red Hat!")
check("usage", resp["usage"]["total_tokens"] == resp["usage"]["prompt_tokens"] + resp["usage"]["completion_tokens"] > 0, resp)
resp = ask("I love Red Hat!", stop=["operating"])
check("stop", resp["choices"][0]["message"]["content"] == "Aye, Red Hat be a fine ", resp)
text = "".join(content(c) or "" for c in ask("I love Red Hat!", stream=True, stop=["operating"]))
check("stop stream", text == "Aye, Red Hat be a fine ", text)


fails("error before", lambda: ask("fail first"), "worker is out of memory")
fails("error before the stream", lambda: ask("fail first", stream=True), "worker is out of memory")
fails("error in the stream", lambda: list(ask("fail midway", stream=True)), "worker is out of memory")
fails("unknown model", lambda: openai.ChatCompletion.create(model="nope", messages=[{"role": "user", "content": "x"}]), "nope")

made = openai.Embedding.create(model=MODEL, input=["a", "bb"])
check("embeddings", [d["embedding"][0] for d in made["data"]] == [1, 2] and made["usage"]["total_tokens"] == 6, made)

stream = ask("slow", stream=True)
first = next(s for s in stream if content(s))
check("cancel", content(first) == "Aye", first)
# Leaving the process closes the connection; the driver sees the worker's side end.
