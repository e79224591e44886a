"""The clients of today: openai and langchain-openai."""
import openai
from checks import BASE, MODEL, PIRATE, check, fails
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

client = openai.OpenAI(base_url=BASE, api_key="none", max_retries=0)


def ask(text, **more):
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **more)


def joined(stream):
    return "".join(c.choices[0].delta.content or "" for c in stream if c.choices)


resp = ask("I love Red Hat!")
check("text", resp.choices[0].message.content == PIRATE and resp.choices[0].finish_reason == "stop", resp)
check("usage", resp.usage.total_tokens == resp.usage.prompt_tokens + resp.usage.completion_tokens > 0, resp)
text = joined(ask("I love Red Hat!", stream=True))
check("stream", text == PIRATE, text)
chunks = list(ask("I love Red Hat!", stream=True, stream_options={"include_usage": True}))
check("stream usage", chunks[-1].usage.total_tokens > 0 and chunks[-1].choices == [] and chunks[0].usage is None, chunks)
with client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "I love Red Hat!"}]) as s:
    check("stream helper", s.get_final_completion().choices[0].message.content == PIRATE)
check("stop", ask("I love Red Hat!", stop="operating").choices[0].message.content == "Aye, Red Hat be a fine ")
text = joined(ask("I love Red Hat!", stop=["operating"], stream=True))
check("stop stream", text == "Aye, Red Hat be a fine ", text)
fails("error before", lambda: ask("fail first"), "worker is out of memory", openai.APIStatusError)
fails("error before the stream", lambda: ask("fail first", stream=True), "worker is out of memory", openai.APIStatusError)
fails("error in the stream", lambda: joined(ask("fail midway", stream=True)), "worker is out of memory")
fails("unknown model", lambda: client.chat.completions.create(model="nope", messages=[{"role": "user", "content": "x"}]), "nope", openai.NotFoundError)
fails("bad value", lambda: ask("x", temperature=3), "temperature", openai.BadRequestError)
check("completions", client.completions.create(model=MODEL, prompt="I love Red Hat!", max_tokens=64).choices[0].text == PIRATE)
check("models", "vicuna-13B" in [m.id for m in client.models.list()] and client.models.retrieve("vicuna-13B").id == "vicuna-13B")
texts = ["a", "bb", "ccc", "dddd", "eeeee"]
for form in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
    made = client.embeddings.create(model=MODEL, input=texts, **form)
    check(f"embeddings {form}", made.usage.total_tokens == 15 and made.model == MODEL, made)
    vectors = [d.embedding for d in made.data]
    if form != {"encoding_format": "base64"}:  # which the client leaves as it is
        check(f"vectors {form}", [v[0] for v in vectors] == [1, 2, 3, 4, 5] and all(abs(v[2] - 1e-7) < 1e-14 for v in vectors), vectors)
fails("embeddings error", lambda: client.embeddings.create(model=MODEL, input="fail first"), "worker is out of memory", openai.APIStatusError)
fails("embeddings of token ids", lambda: client.embeddings.create(model=MODEL, input=[1, 2]), "token ids", openai.BadRequestError)
stream = ask("slow", stream=True)
first = next(c for c in stream if c.choices and c.choices[0].delta.content)
stream.close()
check("cancel", first.choices[0].delta.content == "Aye", first)

# LangChain
messages = [SystemMessage("You are a helpful assistant that translates english to pirate."), HumanMessage("I love Red Hat!")]


def chat(**more):
    return ChatOpenAI(base_url=BASE, api_key="none", model=MODEL, max_retries=0, **more)


answer = chat().invoke(messages)
check("langchain text", answer.content == PIRATE and answer.usage_metadata["total_tokens"] > 0, answer)
parts = list(chat(stream_usage=True).stream(messages))
whole = parts[0]
for p in parts[1:]:
    whole += p
check("langchain stream", whole.content == PIRATE and type(whole).__name__ == "AIMessageChunk", whole)
check("langchain stream usage", whole.usage_metadata["total_tokens"] > 0, whole)
check("langchain streaming=True", chat(streaming=True).invoke(messages).content == PIRATE)
check("langchain stop", chat(stop=["operating"]).invoke(messages).content == "Aye, Red Hat be a fine ")
fails("langchain error before", lambda: chat().invoke("fail first"), "worker is out of memory")
fails("langchain error in the stream", lambda: list(chat().stream("fail midway")), "worker is out of memory")
# Without the switch it sends token ids, and fetches the table for them from the network.
embedder = OpenAIEmbeddings(base_url=BASE, api_key="none", model=MODEL, check_embedding_ctx_length=False)
check("langchain embeddings", [v[0] for v in embedder.embed_documents(texts)] == [1, 2, 3, 4, 5])
check("langchain query", embedder.embed_query("bb")[:2] == [2, -0.25])
stream = chat().stream("slow")
first = next(p for p in stream if p.content)
stream.close()
check("langchain cancel", first.content == "Aye", first)
