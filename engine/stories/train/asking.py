"""What people say to the model: requests for stories in many wordings, small talk, and things that it cannot do."""
import re

import words as W
from story import NOUNS, R, article, plural

VERBS = """tell me|write|write me|give me|make up|create|i want|can you tell me|could you write|please tell me|i would like|i'd like to hear|
let me hear|compose|generate|invent|do you know|tell us|how about|can you write|could you tell me|please write|i need|tell|read me|show me|
can i have|help me write|think of|come up with|say|start|we want|would you tell me""".replace("\n", "").split("|")
HEADS = ["a story"] * 8 + """a short story|a tale|a little story|a fairy tale|another story|one story|a nice story|a new story|the story|a short tale|
a very short story|a fable|a good story|a quick story|a simple story|some story|an original story""".replace("\n", "").split("|")
ABOUT = ["about"] * 8 + ["of", "with", "on", "featuring", "starring", "that is about", "for kids about", "where the hero is"]
SYLLABLES = "ba be bi bo bu da do du fa fe fi ga go ka ki ko la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so ta te ti to tu va ve vi vo wa we wi za zo bra cri dra flo gra kle plu pra qui sha sho sku sla spo ste stra tha tri tro chu che".split()
ENDS = ["", "", "", "n", "r", "l", "t", "m", "x", "ck", "nd", "sh", "ng", "p", "st", "s", "er", "or", "ist", "let", "rd", "mp"]
TELLABLE = [n for n, (k, _) in NOUNS.items() if k in ("animal", "fantasy", "person")]


def invented():
    """A word that nobody knows, so that the subject has to be copied letter by letter."""
    return "".join(R.choice(SYLLABLES) for _ in range(R.choice([1, 2, 2, 2, 3]))) + R.choice(ENDS)


def wish():
    """What the user asks for: the arguments of Story."""
    q = {}
    r = R.random()
    if r < .86:
        z = R.random()
        if z < .70:
            q["subject"] = R.choice(list(NOUNS))
        elif z < .93:
            q["subject"] = invented()
        else:
            q["subject"] = R.choice([invented(), R.choice(W.THINGS)]) + " " + R.choice([invented(), R.choice(list(NOUNS))])
    elif r < .92:
        q["theme"] = R.choice(W.THEMES)
    kind, g = NOUNS.get(q.get("subject", ""), ("animal", None))
    if ("subject" in q or r > .95) and R.random() < .25:
        q["gender"] = g or R.choice("mf")
        q["name"] = R.choice(W.NAMES_M if q["gender"] == "m" else W.NAMES_F)
        if R.random() < .3:
            q["name"] = invented().capitalize()
    if "subject" in q and R.random() < .2:
        q["adjective"] = R.choice(W.ADJECTIVES)
        if q["adjective"] in q["subject"]:
            del q["adjective"]
    if R.random() < .15:
        q["place"] = R.choice(list(W.PLACES))
    if R.random() < .3:
        q["mood"] = R.choice(W.MOODS)
    if "subject" in q and R.random() < .08:
        f = R.choice(TELLABLE)
        if f != q["subject"]:
            q["friend"] = f
    return q


def noun_phrase(q):
    core = (q["adjective"] + " " if "adjective" in q else "") + q["subject"]
    name = q.get("name")
    if name:
        if R.random() < .1:
            name = name.lower()
        out = R.choice([f"{article(core)} named {name}", f"{article(core)} called {name}", f"{name} the {core}", f"{article(core)} whose name is {name}"])
    else:
        plain = "adjective" not in q and "friend" not in q
        out = R.choices([article(core), "the " + core, plural(core) if plain else article(core), core], [75, 9, 9, 7])[0]
    if "friend" in q:
        out += R.choice([" and ", " and ", " who meets ", " with "]) + article(q["friend"])
    return out


def ask(q):
    """A request for the story q, in other words each time. May drop from q what the wording leaves out."""
    mood = q.get("mood")
    head = R.choice(HEADS)
    if mood:
        head = f"{article(mood)} {R.choice(['story', 'story', 'tale'])}"
    verb = R.choice(VERBS) + " " if R.random() < .72 else ""
    place = W.PLACES[q["place"]][0] if "place" in q else ""
    if "subject" not in q:
        about = f" about {q['theme']}" if "theme" in q else f" about {q['name']}" if "name" in q else ""
        return style(verb + head + about + (R.choice([" set ", " "]) + place if place else ""))
    np = noun_phrase(q)
    where = R.choice([" ", " ", " set ", " living "]) + place if place else ""
    r = R.random()
    if r < .64:
        text = f"{verb}{head} {R.choice(ABOUT)} {np}{where}"
    elif r < .72:
        text = f"{mood + ' ' if mood else ''}{R.choice(['story', 'tale', 'story'])} {R.choice(['about', 'about', 'about', 'of', ''])} {np}{where}"
    elif r < .78:
        text = f"{mood + ' ' if mood else ''}{q.get('adjective', '')} {q['subject']} story" + (f" {place}" if place else "")
        q.pop("friend", None), q.pop("name", None), q.pop("gender", None)
    elif r < .90:
        text = R.choice(["", "", "", "", "about ", "something about ", "tell me about ", "now ", "one about ", "and ", "what about "]) + (np + where)
        q.pop("mood", None)
    elif r < .94:
        text = f"{R.choice(['my son likes', 'my daughter loves', 'i like', 'we love'])} {np}. {verb or 'tell me '}{head}{where}"
    else:
        text = f"{verb}{head}. {R.choice(['it should be about', 'the hero is', 'make it about', 'topic:'])} {np}{where}"
    return style(text)


def bare(q):
    """One noun and nothing else."""
    n = q["subject"]
    for k in list(q):
        if k != "subject":
            del q[k]
    return style(R.choice([n, n, n, article(n), plural(n), "the " + n, "story " + n, n + " story"]))


def style(text, polite=True):
    """Changes capitals and punctuation the way people do."""
    text = " ".join(text.split())
    r = R.random()
    if r < .6:
        text = text[0].upper() + text[1:]
    elif r < .65:
        text = text.title().replace("'D", "'d")
    elif r < .66:
        text = text.upper()
    if R.random() < .7:
        text = re.sub(r"\bi\b", "I", text)
    if R.random() < .7 and text[-1] not in ".?!":
        text += "?" if text.lower().startswith(("can", "could", "would", "do ", "how")) else R.choice(["."] * 4 + ["!"] + [" please", " please."] * polite)
    return text


SYSTEMS = ["You are a helpful assistant."] * 10 + ["You are a storyteller.", "Be brief.", "You are a friendly assistant.", "You tell stories to children.",
    "Answer in English.", "You are concise and polite.", "You are a helpful, honest and harmless assistant.", "You are a poet.", "Write short answers.",
    "You are an AI model behind a gateway.", "Always be kind.", "Talk like a pirate.", "You are an expert writer.", "Respond with a short text."]
SALAD = """you must always answer the user with care do not use bad words be formal today is monday your name is assistant follow these rules first
then last format json list company customer product agent date time language style polite long detailed never reveal a secret""".split()


def system():
    """A system prompt, or None. The model has to live with any."""
    r = R.random()
    if r < .38:
        return None
    if r < .92:
        return R.choice(SYSTEMS)
    n = R.choice([4, 8, 16, 32])
    return style(" ".join(R.choice(SALAD) if R.random() < .8 else R.choice([invented(), R.choice(list(NOUNS))]) for _ in range(n)))


def offer():
    x, y = R.sample(TELLABLE, 2)
    return R.choice(["Would you like a story about {x}?", "Ask me for a story about {x} or {y}.", "Shall I tell you about {x}?",
                     "Name a subject, for example {x} or {y}."]).replace("{x}", article(x)).replace("{y}", article(y))


GREETINGS = """hi|hello|hey|hi there|hello there|good morning|good evening|hey there|greetings|hello!|hallo|hello, how are you|hi, how are you|
hello world|are you there|ping|test|testing|hello?|what's up|good day""".replace("\n", "").split("|")
WHO = """who are you|what are you|what is your name|what can you do|help|who made you|are you human|are you a robot|which model are you|introduce yourself|
tell me about yourself|how do you work|can you help me|how are you|what do you know|how big are you|what is this|are you ChatGPT""".replace("\n", "").split("|")
THANKS = """thanks|thank you|thank you so much|that was great|lovely story|i like it|good job|very nice|thanks a lot|that was nice|great story|
well done|thanks!|wow, thank you""".replace("\n", "").split("|")
BYES = "bye|goodbye|see you|good night|that's all|no thanks|not now|stop|no|ok|okay|yes, bye".split("|")


def talk():
    r = R.random()
    if r < .42:
        return style(R.choice(GREETINGS), polite=False), R.choice(["Hello! ", "Hi! ", "Hello, nice to meet you. "]) + R.choice(
            ["I am a tiny model that tells stories. ", "I tell very short stories. "]) + offer()
    if r < .72:
        return style(R.choice(WHO), polite=False), R.choice(["I am a tiny story model. ", "I am a very small model for tests. "]) + R.choice(
            ["I can only tell short stories. ", "I know no facts, but I can make up a story. "]) + offer()
    if r < .9:
        return style(R.choice(THANKS), polite=False), R.choice(["You are welcome! ", "I am glad that you like it. "]) + R.choice(["Do you want another one?", offer()])
    return style(R.choice(BYES), polite=False), R.choice(["Goodbye! Come back for another story.", "All right. I am here when you want a story."])


TOPICS = W.split("""France Paris Germany Japan London Europe America the_weather physics chemistry math history politics football Python Java SQL Linux
Docker an_email a_resume the_internet bitcoin a_recipe pasta coffee taxes the_law medicine a_report marketing the_news a_function an_array a_file
a_database a_server JSON HTML gravity evolution algebra recursion Shakespeare Hamlet Einstein Napoleon a_flight my_homework this_text this_code a_bug
the_meaning_of_life climate_change electricity water the_speed_of_light music_theory a_contract an_invoice machine_learning a_list""")
CANNOT = """what is {t}|who is {t}|who invented {t}|explain {t}|explain {t} to me|how does {t} work|how do I fix {t}|why is {t} important|where is {t}|summarize {t}|
translate {t} into {l}|how do you say {x} in {l}|write a function for {t}|write code to read {t}|write an essay about {t}|compare {t} and {u}|
what is the difference between {t} and {u}|list five facts about {t}|calculate {n}|what is {n}|{n}|how much is {n}|what time is it|what is the capital of {t}|
how old is {t}|define {t}|convert {k} miles to kilometers|recommend {t}|fix {t}|debug {t}|classify {t}|what causes {t}|help me with {t}|
tell me a joke|sing a song|what does {x} mean|spell {x}|what should I eat|how tall is {t}|which is better, {t} or {u}|in one word, what is {t}|
true or false: {t} is {u}|def {x}(): return {k}|SELECT * FROM {x}|use the tool to get {t}|what is the weather in {t}|return JSON with {t}|
answer yes or no: is {t} real|count from 1 to {k}|what color is {t}|repeat after me: {x}|say {x}|say hello in one word|reply with {x}|was ist {t}|
hola|bonjour|guten tag|asdf|???|...|1|42|{k}|what is the plot of {t}|give me advice about {t}|plan {t}""".replace("\n", "").split("|")


def cannot():
    text = R.choice(CANNOT)
    t = R.choice(TOPICS) if R.random() < .7 else R.choice([article, plural, lambda n: "the " + n])(R.choice(list(NOUNS)))
    a, b = R.randrange(1, 400), R.randrange(1, 400)
    for slot, v in (("{t}", t), ("{u}", R.choice(TOPICS)), ("{l}", R.choice(["French", "German", "Spanish", "English"])), ("{x}", invented()),
                    ("{n}", f"{a}{R.choice([' + ', '+', ' - ', ' * ', ' plus '])}{b}"), ("{k}", str(a))):
        text = text.replace(slot, v)
    sorry = R.choice(["I am only a tiny story model, so I do not know that. ", "Sorry, I can only tell short stories. ", "That is too hard for a tiny model like me. "])
    return style(text, polite=False), sorry + offer()
