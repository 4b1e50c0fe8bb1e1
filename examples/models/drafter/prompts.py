"""What a drafter's training texts begin with: chats whose messages are put together here or invented by the model,
instructions on code and prose, and code and prose to go on from. Code and prose are those of Python's own library, or of
files that are given, and what the model wrote itself before."""
import ast
import pathlib
import random
import re
import sysconfig
import textwrap

EDITS_OF_CODE = [
    "Add type hints to this code:", "Add a docstring to this function:", "Rewrite this code with clearer variable names:",
    "Add comments to this code:", "Fix the bug in this code:", "Rewrite this code and handle errors:",
    "Rename the first argument to `value` in this code:", "Make this code print what it does:",
    "Rewrite this function so that it is shorter:", "Copy this code, but make the function private:",
]
EDITS_OF_PROSE = [
    "Correct the spelling of this text:", "Rewrite this text in the past tense:", "Rewrite this text more simply:",
    "Repeat this text, but replace the first word:", "Make this text more formal:", "Turn this text into a list:",
    "Rewrite this text in the first person:", "Shorten this text a little:", "Improve the style of this text:",
]
TASKS = [
    "Write a Python function that does this: {}", "Explain in simple words: {}", "Write a short story that begins so: {}",
    "Summarise this: {}", "What does this mean? {}", "Write an email about this: {}", "Give three examples of this: {}",
    "Write a poem about this: {}", "List the steps to do this: {}", "Is this true? {}",
]

# Messages: in each line a word in braces stands for one of the list of that name. None is a prompt that `speed` measures.
MESSAGES = [
    "Write a short story about {hero} who {event}.", "Tell me a story in which {hero} {event}.",
    "Write the beginning of a novel about {hero} who {event}.", "Write a dialogue between {hero} and {hero}.",
    "Explain in a few paragraphs how {thing} works.", "How does {thing} work?", "Explain {thing} to a child.",
    "Describe {thing} in plain language.", "Why is {thing} important?", "What is {thing}, and who invented it?",
    "What are the main differences between {thing} and {thing}?", "Compare {place} and {place}.",
    "What should I know before I travel to {place}?", "Plan three days in {place} for me.", "Tell me about {place}.",
    "Tell me about the life of {person}.", "What is {person} known for?", "Write a short biography of {person}.",
    "Write a polite email to {reader} about {matter}.", "Write a letter to {reader} about {matter}.",
    "Write a short note to {reader}: it is about {matter}.", "Help me to tell {reader} about {matter}.",
    "Give me {count} ideas for {occasion}.", "Give me {count} tips on how to {task}.", "What do I need for {occasion}?",
    "How do I {task}?", "How do I {task} if I have never done it before?", "List the steps to {task}.",
    "What are common mistakes when people {task}?", "Make a plan to {task} in four weeks.",
    "Write a poem about {scene}.", "Write a poem about {scene} in {count} short verses.", "Describe {scene}.",
    "Write a song about {scene}.", "What does {scene} make you think of?",
    "Write a Python function that {job}.", "Write a Python function that {job}, and explain it.",
    "How do I write Python code that {job}?", "Write a short Python program that {job}, with comments.",
    "Write a JavaScript function that {job}.", "Write a test for a Python function that {job}.",
]
WORDS = {
    "hero": ["a young baker", "an old sailor", "a robot", "a nurse in a small town", "a girl with a talking cat",
             "a retired teacher", "a train driver", "a shy musician", "a gardener", "two brothers", "a lost astronaut",
             "a librarian", "a dragon", "a street painter", "a clockmaker", "a detective"],
    "event": ["finds a hidden door", "misses the last train", "learns to swim", "loses a ring", "gets a strange call",
              "moves to another country", "wins a race", "builds a boat", "saves a stray dog", "forgets everything",
              "meets an old friend", "opens a small shop", "discovers a map", "must keep a secret"],
    "thing": ["a solar panel", "the human heart", "a microwave oven", "the stock market", "a volcano", "a vaccine",
              "the internet", "a bicycle", "photosynthesis", "an electric car", "gravity", "the moon's light", "a piano",
              "a search engine", "a jet engine", "a battery", "the immune system", "inflation", "an elevator", "a glacier",
              "a neural network", "the water supply of a city", "a telescope", "a thunderstorm", "memory", "a lever"],
    "place": ["Lisbon", "Iceland", "New Zealand", "Kyoto", "the Amazon", "Morocco", "Chicago", "the Alps", "Venice",
              "Vietnam", "Scotland", "Cairo", "Norway", "Mexico City", "Rome", "Kenya"],
    "person": ["Isaac Newton", "Ada Lovelace", "Leonardo da Vinci", "Nelson Mandela", "Jane Austen", "Mozart",
               "Abraham Lincoln", "Cleopatra", "Charles Darwin", "Frida Kahlo", "Alan Turing", "Rosa Parks", "Gandhi",
               "William Shakespeare", "Albert Einstein", "Florence Nightingale"],
    "reader": ["my boss", "a customer", "my neighbour", "a friend", "my teacher", "the bank", "my team", "a hotel",
               "my grandmother", "the school", "a new colleague", "the city council"],
    "matter": ["a late delivery", "a day off", "the noise at night", "an invitation to dinner", "a lost suitcase",
               "a change of plans", "a mistake in the bill", "the results of a project", "a broken window",
               "moving to another office", "help with a job application", "a thank-you for a gift"],
    "count": ["three", "four", "five", "six", "seven", "ten"],
    "occasion": ["a school project", "a wedding gift", "a rainy weekend", "a vegetarian dinner", "a small garden",
                 "a first date", "a picnic", "a family game night", "a charity event", "a science fair",
                 "a camping trip", "an anniversary"],
    "task": ["learn the guitar", "grow tomatoes", "train a puppy", "save money", "prepare for a job interview",
             "make pancakes", "clean a bicycle chain", "write a good essay", "change a tyre", "run ten kilometres",
             "learn a language", "paint a room", "cook rice", "sleep better", "make a budget", "give a speech",
             "start a small business", "knit a scarf", "fix a leaking tap", "build a bookshelf"],
    "scene": ["a winter night", "the sea at dawn", "an empty street", "the first day of spring", "an old bridge",
              "a busy market", "a mountain lake", "the smell of coffee", "a city at night", "a summer storm", "home",
              "a field of sunflowers", "the stars", "a long journey", "a quiet library", "friendship"],
    "job": ["sorts a list of words by length", "counts the vowels of a string", "finds the largest of three numbers",
            "reads a file and prints its longest line", "computes the factorial of a number", "merges two sorted lists",
            "checks whether a year is a leap year", "reverses the digits of a number", "removes all spaces from a string",
            "computes the mean and the median of a list", "finds all common elements of two lists",
            "converts miles to kilometres", "prints a multiplication table", "groups words by their first letter",
            "guesses a number", "counts how often each word occurs in a text", "checks whether two strings are anagrams",
            "finds the second largest number of a list", "simulates the roll of two dice", "flattens a nested list"],
}


class Texts:
    """Pieces of text. `paths`: files or folders; none: Python's library, whose text is on every machine."""

    def __init__(self, paths):
        library = pathlib.Path(sysconfig.get_path("stdlib"))
        files = [f for p in map(pathlib.Path, paths or [library]) for f in (sorted(p.rglob("*")) if p.is_dir() else [p])]
        files = [f for f in files if f.suffix in (".py", ".txt", ".md", ".rst") and f.is_file()
                 and not {"test", "tests", "idlelib", "site-packages", "lib2to3"} & set(f.parts)]
        self.functions, self.prose, self.code = [], [], []
        for file in files:
            text = file.read_text(errors="ignore")
            if file.suffix != ".py":
                self.prose += [p for p in text.split("\n\n") if 80 < len(p) < 800]
                continue
            try:
                self._read_code(text)
            except (SyntaxError, ValueError):
                continue
        if not self.code or not self.prose:
            raise SystemExit("the given texts hold no Python functions or no paragraphs of prose; give more of both")

    def add_answer(self, text):
        """The code and the prose of an answer in Markdown: what a model writes is what it will be asked to change."""
        prose, *blocks = re.split("```", text)
        for i, block in enumerate(blocks):
            if i % 2:
                prose += block
            elif block.startswith("python\n") and i + 1 < len(blocks):  # the last may be cut off
                try:
                    self._read_code(block[len("python\n"):])
                except (SyntaxError, ValueError):
                    continue
        self.prose += [p for p in prose.split("\n\n") if 80 < len(p) < 800]

    def _read_code(self, text):
        lines = text.splitlines(keepends=True)
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                continue
            doc = ast.get_docstring(node)
            if doc:
                self.prose += [p for p in doc.split("\n\n") if 80 < len(p) < 800 and "   " not in p]
            if isinstance(node, ast.FunctionDef):
                source = textwrap.dedent("".join(lines[node.lineno - 1:node.end_lineno]))
                if 80 < len(source) < 900:
                    self.code.append(source)
                head, *rest = source.split('"""', 2)  # what comes before a docstring, it, and what follows
                if doc and len(doc) < 500 and len(rest) == 2 and head.count("\n") < 5:
                    self.functions.append((f'{head}"""{rest[0]}"""\n', doc.split(".")[0].replace("\n", " ")))


class Requests:
    """Lines for write_texts. `encode(text, specials)` gives token ids; `chat` is the text around a user's message."""

    def __init__(self, texts, encode, chat, seed):
        self.texts, self.encode, self.chat, self.rng = texts, encode, chat, random.Random(seed)

    def line(self):
        r = self.rng
        temperature = r.choice([0, 0, 0, 0, .6, .8, 1, 1])
        before, behind = self.chat
        kind = r.random()
        if before is not None and kind < .15:
            return self._format(temperature, before, behind)
        if kind < .32:
            return self._format(temperature, r.choice(self.texts.functions)[0])
        if kind < .37:
            return self._format(temperature, self._begin(r.choice(self.texts.prose + self.texts.code)))
        if before is None:
            return self._format(temperature, r.choice(self.texts.prose))
        return self._format(temperature, before + self._message() + behind)

    def _message(self):
        r = self.rng
        kind = r.random()
        if kind < .45:
            return re.sub(r"{(\w+)}", lambda word: r.choice(WORDS[word[1]]), r.choice(MESSAGES))
        if kind < .65:
            return f"{r.choice(EDITS_OF_CODE)}\n\n```python\n{self._short(self.texts.code)}\n```"
        if kind < .85:
            return f"{r.choice(EDITS_OF_PROSE)}\n\n{self._short(self.texts.prose)}"
        source = r.choice(self.texts.functions)[1] if kind < .93 else r.choice(self.texts.prose).split(".")[0]
        return r.choice(TASKS).format(source)

    def _short(self, pieces):
        """One that leaves room for the rest of a message."""
        while True:
            piece = self.rng.choice(pieces)
            if len(piece) < 600:
                return piece

    def _begin(self, text):
        return text[:self.rng.randint(40, 200)].rsplit(" ", 1)[0]

    def _format(self, temperature, *parts):
        return " ; ".join([str(temperature)] + [" ".join(map(str, self.encode(p)[-240:])) for p in parts])
