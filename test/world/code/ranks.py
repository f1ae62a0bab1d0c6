"""Prints its place in the allocation, and connects to the other nodes at the master's address."""

import os
import socket
import time

rank = int(os.environ["TRAINYARD_NODE_RANK"])
nodes = int(os.environ["TRAINYARD_NNODES"])
master = (os.environ["TRAINYARD_MASTER_ADDR"], int(os.environ["TRAINYARD_MASTER_PORT"]))
slots = os.environ["TRAINYARD_SLOT_IDS"]
print(f"rank {rank} of {nodes} with slots {slots}", flush=True)
if rank == 0:
    with socket.create_server(master) as server:
        for _ in range(nodes - 1):
            other, _address = server.accept()
            other.close()
    print("all met", flush=True)
else:
    for _ in range(100):
        try:
            socket.create_connection(master).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    else:
        raise SystemExit("the master is not there")
