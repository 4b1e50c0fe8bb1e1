"""llama.cpp's server, as a second opinion on what a model writes. As a program, what speed's --other asks for:

    llama.py PORT TOKENS ID ID ...

lets the server at that port write greedily, and prints the seconds that this took and the tokens' ids.
"""
import json
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request


class LlamaServer:
    """Runs `command`, as "llama-server -m MODEL.gguf", until the end of the with statement."""

    def __init__(self, command, threads, context):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = shlex.split(command) + ["--host", "127.0.0.1", "--port", str(self.port), "--threads", str(threads),
                                               "--ctx-size", str(context), "--parallel", "1"]

    def __enter__(self):
        try:
            self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise SystemExit(f"{self.command[0]} cannot be run: {error.strerror}")
        while not self._is_ready():
            if self.process.poll() is not None:
                raise SystemExit(f"{' '.join(self.command)} ended with {self.process.returncode} before it was ready")
            time.sleep(.2)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def _is_ready(self):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def greedy(self, tokens, count):
        """The most likely tokens behind `tokens`, and the seconds that each took."""
        return greedy(self.port, tokens, count)


def greedy(port, tokens, count):
    request = {"prompt": [int(t) for t in tokens], "n_predict": count, "temperature": 0, "return_tokens": True,
               "cache_prompt": False}
    try:
        answer = json.load(urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{port}/completion", json.dumps(request).encode(), {"Content-Type": "application/json"})))
    except urllib.error.URLError as error:
        raise SystemExit(f"llama.cpp's server at port {port}: {error}")
    return answer["tokens"], answer["timings"]["predicted_ms"] / 1e3 / answer["timings"]["predicted_n"]


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    written, seconds = greedy(int(sys.argv[1]), sys.argv[3:], int(sys.argv[2]))
    print(seconds * len(written), *written)
