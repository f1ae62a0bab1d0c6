"""Saves the folder of a task as a checkpoint, and unpacks it again.

A save has the format ``trainyard-work/1``, version 1. Its files:

- ``work.json``: ``format``, ``task``, ``run``, the numbers ``files`` and ``bytes``, the names of the ``archives``, and
  ``large``: for each file stored as it is, its ``path`` in the folder, its ``file`` in the save, its ``mode`` and
  ``mtime`` (nanoseconds). Bytes of a path that are not UTF-8 are lone surrogates, as in ``os.fsdecode``.
- ``small-<n>.tar``: folders, links and smaller files with modes and times, in the order of their paths.
- ``files/<path>``: the large files. Characters that are not printable, ``%`` and ``\\`` are percent-encoded.

Not kept: owners, extended attributes, the bits that change the user of a program, that two names are one file (each is
saved as a file), and fractions of a second in the times of what is in archives.
"""

FORMAT = "trainyard-work/1"
DESCRIPTION = "work.json"
