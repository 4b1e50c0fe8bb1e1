"""examples/run as its user meets it, with a build, a download and a program that only pretend."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

RUN = pathlib.Path(__file__).parents[2] / "examples" / "run"
SETUP = """
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) no_install=
if [ "${1-}" = --no-install ]; then shift; fi
say() { printf 'specsample: %s\\n' "$*" >&2; }
need() { say "needs $*"; }
build() { build_dir=$root/build; }
"""
GENERATE = '#!/bin/sh\nprintf "[%s]" "$@"\n'
SMOLLM2 = """
import sys
sys.exit(1) if "--made" in sys.argv else print("/a folder")
"""
FILES = "[--target][/a folder/weights.spqg][--tokenizer][/a folder/tokenizer.sptk]"


class Run(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.write(".ci/setup.sh", SETUP)
        os.chmod(self.write("build/examples/generate", GENERATE), 0o755)
        self.write("examples/models/smollm2.py", SMOLLM2)
        shutil.copy(RUN, self.scratch / "examples")

    def write(self, name, text):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_it(self, *arguments):
        command = [self.scratch / "examples" / "run", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def passes(self, expected, *arguments):
        ended = self.run_it(*arguments)
        self.assertEqual((ended.returncode, ended.stdout), (0, expected), ended.stderr)
        return ended

    def refuses(self, expected, *arguments):
        ended = self.run_it(*arguments)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
        self.assertEqual(ended.stderr, f"specsample: {expected}\n")

    def test_arguments_go_to_the_program(self):
        ended = self.passes("[two  words][--seed][3][]", "two  words", "--seed", "3", "")
        self.assertNotIn("python", ended.stderr)
        self.passes("[--seed][3]", "--no-install", "--seed", "3")
        self.passes("[--json][a prompt]", "--json", "--model", "novpy", "a prompt")

    def test_the_model_stands_anywhere(self):
        drafter = self.scratch.resolve() / "examples" / "models" / "smollm2_drafter.spqd"
        cores = subprocess.run(["getconf", "_NPROCESSORS_ONLN"], capture_output=True, text=True).stdout.strip()
        files = f"{FILES}[--drafter][auto][--heads][{drafter}][--threads][{cores}]"
        tree, files = files, files + "[--lookahead][auto]"
        self.passes(tree + "[--tree][2,1]", "--model", "smollm2", "--tree", "2,1")
        ended = self.passes(files, "--model", "smollm2")
        self.assertIn("needs python", ended.stderr)
        self.passes(files + "[a prompt][--seed][3]", "a prompt", "--model", "smollm2", "--seed", "3")
        self.passes(files + "[a prompt][--seed][3]", "--no-install", "a prompt", "--seed", "3", "--model=smollm2")

    def test_the_last_model_counts(self):
        self.passes("[x]", "--model", "smollm2", "x", "--model", "novpy")

    def test_other_names_are_refused(self):
        self.refuses("--model is 'llama', but must be novpy or smollm2", "a prompt", "--model", "llama")
        self.refuses("--model is '', but must be novpy or smollm2", "--model=")
        self.refuses("--model must be followed by a name, novpy or smollm2", "a prompt", "--model")

    def test_what_cannot_be_made_ends_the_run(self):
        self.write("examples/models/smollm2.py", "import sys\nsys.exit('smollm2.py: why')")
        ended = self.run_it("--model", "smollm2", "a prompt")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertEqual(ended.stderr.splitlines()[-1], "smollm2.py: why")


if __name__ == "__main__":
    unittest.main()
