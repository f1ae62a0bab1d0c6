"""Prints numbers until its file is there, then "end" with their count, and ends with the exit code in the file."""

import os
import sys
import time

go = sys.argv[1]
number = 0
while not os.path.exists(go):
    number += 1
    print(number, flush=True)
    time.sleep(0.05)
print("end", number, flush=True)
with open(go) as file:
    code = int(file.read())
sys.exit(code)
