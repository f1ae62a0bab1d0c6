"""TensorBoard as the page of a task: on a Unix socket, for requests with the secret of the gateway only."""

import json
import os

from door import SECRET_HEADER, USE_PATH, Door
from page_server import SOCKET, listening
from tensorboard import default, program
from tensorboard.program import TensorBoardServer
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

# The name of a header in WSGI.
SECRET_KEY = "HTTP_" + SECRET_HEADER.upper().replace("-", "_")


class QuietHandler(WSGIRequestHandler):
    """A page that polls would fill the log of the task."""

    def log_request(self, code="-", size="-"):
        pass


class Guarded:
    """The application behind the door."""

    def __init__(self, application, door):
        self.application = application
        self.door = door

    def __call__(self, environ, start_response):
        if not self.door.admits(environ.get(SECRET_KEY)):
            return answer(
                start_response,
                "403 Forbidden",
                "text/plain",
                "the page of a task is reached through the gateway only",
            )
        if environ.get("PATH_INFO") == USE_PATH:
            return answer(start_response, "200 OK", "application/json", json.dumps(self.door.use()))
        return self.noted(environ, start_response)

    def noted(self, environ, start_response):
        method = environ["REQUEST_METHOD"]
        self.door.began(method)
        try:
            yield from self.application(environ, start_response)
        finally:
            self.door.ended(method)


def answer(start_response, status, kind, text):
    body = text.encode("utf-8")
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


def server_class(door, run_dir):
    class Server(ThreadedWSGIServer, TensorBoardServer):
        daemon_threads = True

        def __init__(self, application, flags):
            guarded = Guarded(application, door)
            listening(
                run_dir,
                lambda name: ThreadedWSGIServer.__init__(
                    self, "unix://" + name, 0, guarded, QuietHandler
                ),
            )

        def get_url(self):
            return "http://localhost:0/"

        def print_serving_message(self):
            pass

        def server_close(self):
            super().server_close()
            try:
                os.unlink(os.path.join(run_dir, SOCKET))
            except OSError:
                pass  # The run's own processes may have removed it.

    return Server


def serve(secret, run_dir, _packages):
    config = json.loads(os.environ.get("TRAINYARD_CONFIG", "{}"))
    board = program.TensorBoard(
        default.get_plugins(), server_class=server_class(Door(secret), run_dir)
    )
    logdir = os.path.join(os.path.dirname(run_dir), "tensorboard")
    given = [str(one) for one in config.get("tensorboard_args") or []]
    # The agent brings new files every half a minute. Of an argument that is given twice, the last one counts.
    board.configure(["tensorboard", "--reload_interval=5", *given, "--logdir=" + logdir])
    raise SystemExit(board.main())
