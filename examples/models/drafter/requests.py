"""What a drafter's training texts begin with: chats whose messages the model invents, instructions on real code and prose,
and real code and prose to go on from. The real part is Python's own library and documentation, or files that are given."""
import ast
import pathlib
import random
import sysconfig

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


class Texts:
    """Pieces of real text. `paths`: files or folders; none: Python's library, whose text is on every machine."""

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

    def _read_code(self, text):
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                continue
            doc = ast.get_docstring(node)
            if doc:
                self.prose += [p for p in doc.split("\n\n") if 80 < len(p) < 800 and "   " not in p]
            if isinstance(node, ast.FunctionDef):
                source = ast.get_source_segment(text, node)
                if 80 < len(source) < 900:
                    self.code.append(source)
                if doc and len(doc) < 500:
                    head = source[:source.find('"""')] if '"""' in source else None
                    if head and head.count("\n") < 5:
                        self.functions.append((head + '"""' + doc + '\n    """\n', doc.split(".")[0].replace("\n", " ")))


class Requests:
    """Lines for write_texts. `encode(text, specials)` gives token ids; `chat` is the text around a user's message."""

    def __init__(self, texts, encode, chat, seed):
        self.texts, self.encode, self.chat, self.rng = texts, encode, chat, random.Random(seed)

    def line(self):
        r = self.rng
        temperature = r.choice([0, 0, 0, 0, .6, .8, 1, 1])
        before, behind = self.chat
        kind = r.random()
        if before is not None and kind < .40:
            return self._format(temperature, before, behind)
        if kind < .52:
            return self._format(temperature, r.choice(self.texts.functions)[0])
        if kind < .60:
            return self._format(temperature, self._begin(r.choice(self.texts.prose + self.texts.code)))
        if before is None:
            return self._format(temperature, r.choice(self.texts.prose))
        return self._format(temperature, before + self._message() + behind)

    def _message(self):
        r = self.rng
        kind = r.random()
        if kind < .35:
            return f"{r.choice(EDITS_OF_CODE)}\n\n```python\n{r.choice(self.texts.code)}\n```"
        if kind < .65:
            return f"{r.choice(EDITS_OF_PROSE)}\n\n{r.choice(self.texts.prose)}"
        source = r.choice(self.texts.functions)[1] if kind < .85 else r.choice(self.texts.prose).split(".")[0]
        return r.choice(TASKS).format(source)

    def _begin(self, text):
        return text[:self.rng.randint(40, 200)].rsplit(" ", 1)[0]

    def _format(self, temperature, *parts):
        return " ; ".join([str(temperature)] + [" ".join(map(str, self.encode(p)[-200:])) for p in parts])
