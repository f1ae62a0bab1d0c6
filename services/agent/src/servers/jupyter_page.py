"""JupyterLab as the page of a task: on a Unix socket, for requests with the secret of the gateway only."""

import json
import os
import sys
import time
from importlib import metadata

from door import SECRET_HEADER, USE_PATH, Door, since
from jupyter_connections import PageConnection, PageKernels
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.serverapp import ServerApp
from page_server import listening
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_unix_socket
from tornado.routing import Matcher, Rule
from tornado.web import RequestHandler

# JupyterLab saves the layout of an open tab here every ten seconds.
LAYOUT_PATH = "/lab/api/workspaces"
# The times of kernels and terminals are known to this accuracy.
LOOK_MS = 1_000


class GatewayIdentity(IdentityProvider):
    """The gateway has checked the person, and its secret says so. Nobody else reaches a handler."""

    def get_user(self, handler):
        return User(username="owner", name="owner", display_name="owner", initials="o")

    @property
    def auth_enabled(self):
        return True

    @property
    def login_available(self):
        return False


class Refused(RequestHandler):
    def prepare(self):
        self.set_status(403)
        self.finish("the page of a task is reached through the gateway only")


class UseHandler(RequestHandler):
    def initialize(self, page):
        self.page = page

    def get(self):
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(self.page.use()))


class Stranger(Matcher):
    """Matches requests without the secret, before any handler."""

    def __init__(self, door):
        self.door = door

    def match(self, request):
        return None if self.door.admits(request.headers.get(SECRET_HEADER)) else {}


class AboutUse(Matcher):
    """Matches the agent's own requests, and notes all others."""

    def __init__(self, door):
        self.door = door

    def match(self, request):
        if request.path == USE_PATH:
            return {}
        # An upgraded connection, such as that of an open tab, is no request that lasts.
        method = "GET" if request.path.startswith(LAYOUT_PATH) else request.method
        self.door.began(method)
        self.door.ended(method)
        return None


class Watch:
    """The last activity of each kernel or terminal, by the monotonic clock: Jupyter has the time of day."""

    def __init__(self):
        self.seen = {}

    def look(self, last_activity):
        """`last_activity` has the times of those that exist, by name."""
        now = time.monotonic()
        self.seen = {
            name: (at, now) if self.seen.get(name, (None, 0))[0] != at else self.seen[name]
            for name, at in last_activity.items()
        }

    def idle_seconds(self, name):
        return since(self.seen[name][1])


class Page(ServerApp):
    """Settings of the platform win over those of the user's files, and so are set after these are read."""

    door = Door("")
    run_dir = ""
    packages = None

    def init_configurables(self):
        self.identity_provider_class = GatewayIdentity
        self.kernel_manager_class = PageKernels
        self.kernel_websocket_connection_class = PageConnection
        self.sock = "page.sock"
        self.allow_root = True
        self.allow_remote_access = True
        self.open_browser = False
        self.quit_button = False
        self.root_dir = os.getcwd()
        self.default_url = "/lab"
        self.base_url = "/"
        self.config.IdentityProvider.token = ""
        # The trash would be a part of the folder, and fill it.
        self.config.FileContentsManager.delete_to_trash = False
        super().init_configurables()

    def init_webapp(self):
        super().init_webapp()
        self.kernel_times, self.terminal_times, self.once_connected = Watch(), Watch(), set()
        rules = self.web_app.default_router.rules
        rules.insert(0, Rule(AboutUse(self.door), UseHandler, {"page": self}))
        rules.insert(0, Rule(Stranger(self.door), Refused))
        PeriodicCallback(self.look, LOOK_MS).start()

    def _bind_http_server_unix(self):
        self.http_server.add_socket(
            listening(self.run_dir, lambda name: bind_unix_socket(name, mode=0o600))
        )
        return True

    def look(self):
        kernels = self.kernel_manager.list_kernels()
        self.kernel_times.look({one["id"]: one["last_activity"] for one in kernels})
        self.once_connected &= {one["id"] for one in kernels}
        self.once_connected |= {one["id"] for one in kernels if one["connections"] > 0}
        terminals = self.terminals()
        self.terminal_times.look({one["name"]: one["last_activity"] for one in terminals})
        return kernels, terminals

    def terminals(self):
        manager = self.web_app.settings.get("terminal_manager")
        return [] if manager is None else manager.list()

    def use(self):
        kernels, terminals = self.look()
        return self.door.use(
            [
                {
                    "busy": one["execution_state"] == "busy",
                    "idle_seconds": self.kernel_times.idle_seconds(one["id"]),
                    "connections": one["connections"],
                    "ever_connected": one["id"] in self.once_connected,
                }
                for one in kernels
            ],
            [{"idle_seconds": self.terminal_times.idle_seconds(one["name"])} for one in terminals],
        )


def serve(secret, run_dir, packages):
    Page.door = Door(secret)
    Page.run_dir = run_dir
    # Files of running kernels, with the keys of their connections, are no part of the folder that is saved.
    os.environ["JUPYTER_RUNTIME_DIR"] = made(os.path.join(run_dir, "jupyter"))
    arguments = ["--ServerApp.jpserver_extensions=jupyterlab=True"]
    # Another manager of extensions would install into the Python of the host.
    arguments += ["--LabApp.extension_manager=readonly"]
    # People read the lines of the log. Each request is not one of them.
    arguments += ["--Application.log_level=WARN", "--LabApp.log_level=WARN"]
    put_first("JUPYTER_CONFIG_PATH", without_news(made(os.path.join(run_dir, "config"))))
    # A layered environment of the task has another prefix than the Python whose JupyterLab it sees.
    prefix = packages or prefix_of_own()
    if prefix is not None:
        arguments += ["--LabApp.app_dir=" + os.path.join(prefix, "share", "jupyter", "lab")]
        put_first("JUPYTER_CONFIG_PATH", os.path.join(prefix, "etc", "jupyter"))
        put_first("JUPYTER_PATH", os.path.join(prefix, "share", "jupyter"))
    if packages is not None:
        put_first("JUPYTER_PATH", kernels_with(packages, made(os.path.join(run_dir, "kernels"))))
    sys.argv = ["jupyter", *arguments]
    Page.launch_instance(arguments)


def without_news(folder):
    """Makes a folder of settings without the question about news, which would be asked of servers elsewhere."""
    settings = made(os.path.join(folder, "labconfig"))
    with open(os.path.join(settings, "page_config.json"), "w") as file:
        json.dump(
            {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}, file
        )
    return folder


def prefix_of_own():
    """Returns the prefix below which the task's own JupyterLab has its files; None if its metadata does not say."""
    end = os.path.join("share", "jupyter", "lab", "static", "package.json")
    distribution = metadata.distribution("jupyterlab")
    for file in distribution.files or []:
        path = os.path.normpath(str(distribution.locate_file(file)))
        if path.endswith(os.sep + end):
            return path[: -len(end) - 1]
    return None


def kernels_with(packages, folder):
    """Makes the kernel "python3" of the task's Python with the packages behind its path."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page_kernel.py")
    spec = {
        "argv": [sys.executable, program, packages, "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "metadata": {"debugger": True},
    }
    kernel = made(os.path.join(folder, "kernels", "python3"))
    with open(os.path.join(kernel, "kernel.json"), "w") as file:
        json.dump(spec, file)
    return folder


def made(folder):
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def put_first(variable, folder):
    before = os.environ.get(variable, "")
    os.environ[variable] = folder if before == "" else folder + os.pathsep + before
