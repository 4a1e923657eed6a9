"""The Node process that plays a game, and the frames that it exchanges with this one; see ../server.ts.

A request is `op, length` (uint32 each) and its bytes, an answer is `status, length` and its bytes. Descriptions and
errors are JSON; steps are arrays, each from a multiple of 8 bytes on.
"""
import json
import os
import struct
import subprocess
import weakref

SERVER = os.path.join(os.path.dirname(__file__), "generated", "server.mjs")
MAKE, RESET, STEP, TEXT, GAMES = range(1, 6)


class CoplayError(Exception):
    """An error that the Node process tells, such as an unknown option of a game."""


class Node:
    """A process of Node. It ends with this object, with `close()`, and with this process, however that ends."""

    def __init__(self):
        command = os.environ.get("NODE", "node")
        try:
            self.process = subprocess.Popen(
                [command, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except FileNotFoundError:
            raise CoplayError(
                "expected a program %r to run, found none. Install Node 20 or later, or name it by the environment "
                "variable NODE." % command
            ) from None
        self.close = weakref.finalize(self, _end, self.process)

    def ask(self, op, payload=b""):
        """The bytes of the answer."""
        pipe = self.process.stdin
        try:
            pipe.write(struct.pack("=II", op, len(payload)))
            pipe.write(payload)
            pipe.flush()
        except (BrokenPipeError, ValueError):
            self._fail()
        status, length = struct.unpack("=II", self._read(8))
        answer = self._read(length)
        if status != 0:
            raise CoplayError(json.loads(answer.decode())["message"])
        return answer

    def ask_json(self, op, request=None):
        return json.loads(self.ask(op, json.dumps(request).encode()).decode())

    def _read(self, size):
        found = self.process.stdout.read(size)
        if len(found) < size:
            self._fail()
        return found

    def _fail(self):
        self.close()
        raise CoplayError("the Node process of the game has ended; its last words are on standard error")


def _end(process):
    for pipe in (process.stdin, process.stdout):
        try:
            pipe.close()
        except BrokenPipeError:
            pass
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def games():
    """Names of the games."""
    node = Node()
    try:
        return node.ask_json(GAMES)
    finally:
        node.close()


def camel(name):
    """`max_steps` as `maxSteps`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
