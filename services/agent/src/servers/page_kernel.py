"""Starts a kernel of a notebook: with the agent's packages behind the path of the task's own Python."""

import sys

if __name__ == "__main__":
    # The folder of this program comes first, and is none of the kernel's.
    sys.path.pop(0)
    sys.path.append(sys.argv.pop(1))
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
