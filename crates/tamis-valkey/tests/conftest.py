"""Servers for the tests: each test runs against every server that scripts/test-valkey names.

TAMIS_MODULE   the module
TAMIS_SERVERS  the servers, separated by colons
TAMIS_ALL      if set, the long tests run too
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

MODULE = os.environ["TAMIS_MODULE"]
SERVERS = os.environ["TAMIS_SERVERS"].split(":")
ALL = bool(os.environ.get("TAMIS_ALL"))


def free_port():
    """A port that nobody has. Nodes of a cluster use the port 10,000 above theirs, too. Both are
    below those that the system gives to clients."""
    while True:
        port = random.randrange(10_000, 22_000)
        try:
            for one in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", one))
            return port
        except OSError:
            continue


class Server:
    """A server in a folder of its own, with the module."""

    def __init__(self, program, *options, dialect=None, folder=None, port=None):
        self.program = program
        self.options = options
        self.dialect = dialect
        self.folder = folder or tempfile.mkdtemp(prefix="tamis-valkey-")
        self.port = port or free_port()
        self.process = None

    def start(self):
        command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--dir", self.folder, "--daemonize", "no", "--logfile", "log"]
        command += ["--enable-debug-command", "yes", "--save", ""]
        command += list(self.options)
        command += ["--loadmodule", MODULE]
        if self.dialect:
            command += ["DIALECT", self.dialect]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.time() + 60
        while True:
            try:
                client = self.client()
                client.ping()
                return self
            except (redis.ConnectionError, redis.BusyLoadingError):
                if self.process.poll() is not None or time.time() > deadline:
                    raise RuntimeError("the server did not start:\n" + self.log())
                time.sleep(0.02)

    def client(self, protocol=2, **options):
        retry = Retry(NoBackoff(), 0)
        return redis.Redis(port=self.port, protocol=protocol, retry=retry, **options)

    def log(self):
        path = os.path.join(self.folder, "log")
        return open(path, errors="replace").read() if os.path.exists(path) else "no log"

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def kill(self):
        """As a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def restart(self):
        self.stop()
        return self.start()

    def remove(self):
        if self.process and self.is_alive():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def version(program):
    text = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    name = "valkey" if "alkey" in text else "redis"
    return name + "-" + text.split("v=")[1].split()[0]


@pytest.fixture(scope="session", params=SERVERS, ids=version)
def program(request):
    return request.param


@pytest.fixture(scope="session")
def shared(program):
    server = Server(program).start()
    yield server
    alive = server.is_alive()
    log = server.log()
    server.remove()
    assert alive, log


@pytest.fixture(scope="session")
def shared_valkey_dialect(program):
    server = Server(program, dialect="valkey-bloom").start()
    yield server
    alive = server.is_alive()
    log = server.log()
    server.remove()
    assert alive, log


@pytest.fixture
def r(shared):
    client = shared.client()
    client.flushall()
    return client


@pytest.fixture
def r3(shared):
    client = shared.client(protocol=3)
    client.flushall()
    return client


@pytest.fixture
def vb(shared_valkey_dialect):
    client = shared_valkey_dialect.client()
    client.flushall()
    return client


@pytest.fixture
def start(program):
    """Starts servers that are removed at the end of the test."""
    servers = []

    def begin(*options, **settings):
        servers.append(Server(program, *options, **settings).start())
        return servers[-1]

    yield begin
    for server in servers:
        server.remove()


def raw(client, *words):
    """The reply as the protocol has it: errors are values, and nothing is translated."""
    connection = client.connection_pool.get_connection()
    try:
        connection.send_command(*words)
        return connection.read_response()
    except redis.ResponseError as error:
        return error
    finally:
        client.connection_pool.release(connection)


def error_of(client, *words):
    """The text of the error that the server sends, with its first word."""
    with socket.create_connection(("127.0.0.1", client.connection_pool.connection_kwargs["port"])) as wire:
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        request = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
        wire.sendall(request)
        reply = wire.makefile("rb").readline()
        assert reply.startswith(b"-"), (words, reply)
        return reply[1:].strip().decode()
