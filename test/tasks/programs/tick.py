"""Prints "tick" and a number in a terminal, and answers typed lines: "ping 3" with "pong 3", and "quit" by its end."""

import select
import sys

number = 0
while True:
    number += 1
    print("tick", number, flush=True)
    typed, _, _ = select.select([sys.stdin], [], [], 0.2)
    if not typed:
        continue
    words = sys.stdin.readline().split()
    if words[:1] == ["ping"]:
        print("pong", words[1], flush=True)
    elif words[:1] == ["quit"]:
        break
