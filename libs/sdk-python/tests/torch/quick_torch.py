"""Imports torch, and what it imports at an optimizer's first step, for scripts that tests launch.

The garbage collector would search the modules' objects during the imports and at the process's end, which takes
longer than a test's training, and would find none to free.
"""

import gc
import importlib

gc.disable()
torch = importlib.import_module("torch")
importlib.import_module("torch._dynamo")
gc.freeze()
gc.enable()
