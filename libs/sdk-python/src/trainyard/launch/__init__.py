"""Starts the processes of a run: ``python -m trainyard.launch.torch``."""
