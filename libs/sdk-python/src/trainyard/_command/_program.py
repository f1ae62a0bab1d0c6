"""The tree of commands, and the exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from .._version import __version__
from ..client._errors import ApiError, CodeError, DownloadError, PlatformAwayError
from . import _experiment as experiment
from . import _trial as trial
from ._call import Call, Failure, UsageError, printable
from ._login import login, logout

_VERBS = {
    "pause": "stop its trials gracefully; activate continues them",
    "activate": "run it, after a pause or when it was created paused",
    "cancel": "end it, its trials gracefully",
    "kill": "end it, its trials at once",
}
_LEVELS = ["trace", "debug", "info", "warning", "error", "critical"]

Command = Callable[[Call], None]


class Group(Protocol):
    """A group of commands of argparse."""

    def add_parser(
        self, name: str, *, aliases: Sequence[str], help: str, description: str
    ) -> argparse.ArgumentParser: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    try:
        given = _program().parse_args(argv)
    except SystemExit as end:
        # Argparse has printed the help or the error.
        return int(end.code or 0)
    call = Call(given)
    try:
        given.command(call)
        sys.stdout.flush()
        return 0
    except (UsageError, CodeError) as error:
        return _say(str(error), 2)
    except (Failure, DownloadError) as error:
        return _say(_sentence(str(error)), 1)
    except ApiError as error:
        return _refused(error)
    except PlatformAwayError as error:
        return _say(f"The platform cannot be reached: {error}.", 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the pipe has ended, as `head` does. Python's own flush at the exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _say(_sentence(str(error)), 1)
    except ValueError as error:
        # An empty name, say.
        return _say(_sentence(str(error)), 2)
    finally:
        call.close()


def _refused(error: ApiError) -> int:
    code = 2 if 400 <= error.status < 500 and error.status != 429 else 1
    for path, detail in error.problems:
        _say(f"{path}: {detail}" if path else _sentence(detail), code)
    return code if error.problems else _say(_sentence(str(error)), code)


def _sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."


def _say(text: str, code: int) -> int:
    for line in text.split("\n"):
        sys.stderr.write(f"{printable(line)}\n")
    return code


def _program() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trainyard", description="Trainyard from the command line"
    )
    parser.add_argument("-V", "--version", action="version", version=__version__)
    _output(parser, "table")
    groups = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_login(groups)
    words = (
        ("experiment", "e", "submit, watch and steer experiments", _add_experiment),
        ("trial", "t", "the trials of experiments", _add_trial),
        ("checkpoint", "c", "the checkpoints of trials", _add_checkpoint),
        ("model", "m", "the model registry", _add_model),
    )
    for word, short, text, add in words:
        group = groups.add_parser(word, aliases=[short], help=text, description=text)
        add(group.add_subparsers(title="commands", required=True, metavar="COMMAND"))
    return parser


def _output(parser: argparse.ArgumentParser, default: str) -> None:
    what = "what goes to stdout"
    parser.add_argument("-o", "--output", choices=["table", "json"], default=default, help=what)


def _add(
    group: Group, name: str, command: Command, text: str, aliases: Sequence[str] = ()
) -> argparse.ArgumentParser:
    parser = group.add_parser(name, aliases=list(aliases), help=text, description=text)
    # The option may also be before the command, whose own default must not replace it.
    _output(parser, argparse.SUPPRESS)
    parser.set_defaults(command=command)
    return parser


def _add_rows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter", default="", help='such as "state = ERROR and hparams.lr < 1e-3"'
    )
    parser.add_argument("--sort", default="", help='a field, and asc or desc: "best_value desc"')
    parser.add_argument("--limit", help="the largest number of rows")


def _add_login(groups: Group) -> None:
    text = "sign in to a cluster in a browser; later calls use it"
    parser = _add(groups, "login", login, text)
    parser.add_argument(
        "address", nargs="?", help="of the gateway; by default the embedded cluster"
    )
    parser.add_argument("--name", default="", help="of the login, by default its host and port")
    text = "store a token that you have: it is asked for, or read from stdin"
    parser.add_argument("--token", action="store_true", help=text)
    text = "forget a login; a token that login made is revoked, with those created with it"
    parser = _add(groups, "logout", logout, text)
    parser.add_argument(
        "name", nargs="?", default="", help="of the login, by default the current one"
    )


def _add_experiment(group: Group) -> None:
    parser = _add(group, "create", experiment.create, "submit an experiment")
    parser.add_argument("file", metavar="config", help="the experiment's YAML file")
    parser.add_argument("context", nargs="?", help="the folder of training code")
    parser.add_argument("-f", "--follow", action="store_true", help="show its logs until it ends")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--paused", action="store_true", help="create it paused")
    parser.add_argument("--idempotency-key", default="", metavar="KEY")
    parser = _add(group, "list", experiment.list_, "experiments, the newest first", ["ls"])
    _add_rows(parser)
    for name in ("label", "state", "column"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--workspace", default="")
    parser.add_argument("--project", default="")
    parser.add_argument("-a", "--archived", action="store_true", help="also archived experiments")
    parser = _add(group, "describe", experiment.describe, "one experiment")
    parser.add_argument("experiment")
    parser = _add(group, "logs", experiment.logs, "the log lines of all its trials")
    parser.add_argument("experiment")
    _add_logs(parser)
    text = "wait until it has ended; exit code 1 unless it completed"
    parser = _add(group, "wait", experiment.wait, text)
    parser.add_argument("experiment")
    for verb, text in _VERBS.items():
        parser = _add(group, verb, experiment.act, text)
        parser.set_defaults(verb=verb)
        parser.add_argument("experiments", nargs="+", help="one or more numbers")
        parser.add_argument("--dry-run", action="store_true", help="change nothing")


def _add_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="print new lines until it ends")
    parser.add_argument("--tail", metavar="LINES", help="only the last lines")
    parser.add_argument("--run", dest="run_number", metavar="NUMBER")
    parser.add_argument("--node", metavar="RANK")
    parser.add_argument("--rank")
    parser.add_argument("--stream", default="", choices=["stdout", "stderr", "agent"])
    parser.add_argument("--level", default="", choices=_LEVELS, help="or a more severe one")
    parser.add_argument("--since", metavar="TIME", help="10m (ago), or 2026-11-22T10:00:00Z")
    parser.add_argument("--until", metavar="TIME")
    parser.add_argument("--contains", default="", metavar="TEXT")
    parser.add_argument("--grep", default="", metavar="EXPRESSION", help="RE2")
    parser.add_argument("--search", default="", metavar="WORDS", help="in either case")


def _add_trial(group: Group) -> None:
    parser = _add(group, "list", trial.list_, "an experiment's trials", ["ls"])
    parser.add_argument("experiment")
    _add_rows(parser)
    parser = _add(group, "describe", trial.describe, "one trial")
    parser.add_argument("trial")
    parser = _add(group, "logs", trial.logs, "the output of its processes")
    parser.add_argument("trial")
    _add_logs(parser)
    parser = _add(group, "metrics", trial.metrics, "its stored metrics")
    parser.add_argument("trial")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="print new points until it ends"
    )
    parser.add_argument("--group", default="", help="training, validation, or one of your own")
    parser.add_argument("--superseded", action="store_true", help="also points that were repeated")


def _add_checkpoint(group: Group) -> None:
    text = "an experiment's or a trial's checkpoints"
    parser = _add(group, "list", trial.list_checkpoints, text, ["ls"])
    parser.add_argument("owner", metavar="experiment or trial", help="12, or 12.3")
    _add_rows(parser)
    parser = _add(group, "describe", trial.describe_checkpoint, "one, with its files")
    parser.add_argument("checkpoint")
    parser = _add(group, "download", trial.download_checkpoint, "its files")
    parser.add_argument("checkpoint")
    parser.add_argument("folder", nargs="?", help="by default a folder named after it")
    parser.add_argument("--glob", action="append", default=[], metavar="PATTERN")


def _add_model(group: Group) -> None:
    text = "write a version as a folder, with all that it takes to load it"
    parser = _add(group, "export", trial.export_model, text)
    parser.add_argument("model")
    parser.add_argument("version", help="a number, a semantic version, an alias, or latest")
    parser.add_argument("folder", nargs="?", help="where to, by default MODEL-NUMBER")
