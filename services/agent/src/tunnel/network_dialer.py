"""Connects to ports inside the network of a container, for the agent outside of it.

The agent starts it as `python3 -I -S -E network_dialer.py PID SOCKET`. It enters the network namespace of the
process, through its user namespace where the agent may not enter it directly, and listens on the Unix socket. Each
connection begins with the port, two bytes, big endian. The answer is one byte: 0 if something listens there, and then
the two connections are joined until both directions have ended, else 1. The program ends with its input.
"""

import asyncio
import ctypes
import os
import struct
import sys

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PIECE_BYTES = 64 * 1024
# The containers' loopback first: servers of notebooks listen on no other address.
ADDRESSES = ("127.0.0.1", "::1")


def enter(pid):
    libc = ctypes.CDLL(None, use_errno=True)

    def enter_one(name, kind):
        descriptor = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        try:
            return libc.setns(descriptor, kind) == 0
        finally:
            os.close(descriptor)

    if enter_one("net", CLONE_NEWNET):
        return
    if not enter_one("user", CLONE_NEWUSER) or not enter_one("net", CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


async def pass_on(reader, writer):
    try:
        while True:
            piece = await reader.read(PIECE_BYTES)
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.transport.abort()


async def connect(port):
    for address in ADDRESSES:
        try:
            return await asyncio.open_connection(address, port, limit=PIECE_BYTES)
        except OSError:
            continue
    return None


async def serve_one(reader, writer):
    try:
        (port,) = struct.unpack(">H", await reader.readexactly(2))
        there = await connect(port)
        if there is None:
            writer.write(b"\1")
            return
        writer.write(b"\0")
        far_reader, far_writer = there
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
        far_writer.close()
    except (OSError, asyncio.IncompleteReadError):
        pass  # One side has left.
    finally:
        writer.close()


async def serve(path):
    loop = asyncio.get_event_loop()
    ended = loop.create_future()

    def read_input():
        if not os.read(0, 1) and not ended.done():
            ended.set_result(None)

    server = await asyncio.start_unix_server(serve_one, path, limit=PIECE_BYTES)
    os.chmod(path, 0o600)
    loop.add_reader(0, read_input)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await ended
    server.close()


if __name__ == "__main__":
    os.umask(0o177)
    enter(int(sys.argv[1]))
    asyncio.new_event_loop().run_until_complete(serve(sys.argv[2]))
