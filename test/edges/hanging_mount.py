"""Mounts a file system that never answers over a folder, like a hard mount whose server is away.

It needs the right to mount, and /dev/fuse. It answers the kernel's first request, so that the mount exists, and reads
no further one: each call below the folder hangs. When this process is terminated, the calls that hang fail.
"""

import ctypes
import os
import signal
import struct
import sys

INIT = struct.Struct("<IIIIHHIIHHI7I")
"""The kernel's struct fuse_init_out."""
REQUEST_BYTES_MAX = 1 << 20
MNT_DETACH = 2


def mount(folder: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanging", folder.encode(), b"fuse", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    request = os.read(device, REQUEST_BYTES_MAX)
    _length, _opcode, unique = struct.unpack_from("<IIQ", request)
    body = INIT.pack(7, 31, 0, 0, 16, 12, 4096, 1, 1, 0, 0, *[0] * 7)
    os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
    signal.signal(signal.SIGTERM, lambda *_: libc.umount2(folder.encode(), MNT_DETACH))


if __name__ == "__main__":
    mount(sys.argv[1])
    print("mounted", flush=True)
    signal.pause()
