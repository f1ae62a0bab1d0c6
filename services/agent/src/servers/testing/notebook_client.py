"""A page of JupyterLab for tests: starts a kernel, loses its connection within a cell, and connects again.

Started as `python3 notebook_client.py SOCKET SECRET`, with websocket-client on its path. Prints one JSON object.
"""

import http.client
import json
import socket
import sys
import time
import uuid

import websocket

PATH, SECRET = sys.argv[1], sys.argv[2]
# Shorter than the time between two pings of the server.
SILENCE_S = 20
HOST = "t1.localhost"
HEADERS = {"Host": HOST, "X-Trainyard-Task-Secret": SECRET}


def connected():
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(SILENCE_S)
    stream.connect(PATH)
    return stream


def ask(method, path, body=None, cookie=""):
    client = http.client.HTTPConnection(HOST)
    client.sock = connected()
    more = {"Cookie": "_xsrf=" + cookie, "X-XSRFToken": cookie} if cookie else {}
    client.request(
        method, path, json.dumps(body) if body is not None else None, {**HEADERS, **more}
    )
    answer = client.getresponse()
    text = answer.read().decode()
    found = [one for one in answer.headers.get_all("Set-Cookie") or [] if "_xsrf=" in one]
    return text, found[0].split("_xsrf=")[1].split(";")[0] if found else ""


def use():
    return json.loads(ask("GET", "/trainyard/use")[0])


class Kernel:
    def __init__(self, known=""):
        self.id = known or self.started()
        self.session = uuid.uuid4().hex
        self.connection = websocket.WebSocket()

    @staticmethod
    def started():
        _, cookie = ask("GET", "/lab")
        return json.loads(ask("POST", "/api/kernels", {"name": "python3"}, cookie)[0])["id"]

    def connect(self):
        url = f"ws://{HOST}/api/kernels/{self.id}/channels?session_id={self.session}"
        header = ["X-Trainyard-Task-Secret: " + SECRET]
        self.connection = websocket.create_connection(url, socket=connected(), header=header)

    def execute(self, code):
        """Returns the id of the request."""
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
        header.update(username="", session=self.session, date="")
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.connection.send(json.dumps({**message, "channel": "shell", "buffers": []}))
        return header["msg_id"]

    def read(self, request, until):
        """Returns the texts that the request has printed, up to a text, to the end of the request or to silence."""
        texts = ""
        while until is None or until not in texts:
            try:
                message = json.loads(self.connection.recv())
            except websocket.WebSocketTimeoutException:
                break
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "error":
                raise RuntimeError(message["content"])
            if message["msg_type"] == "stream":
                texts += message["content"]["text"]
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        return texts


# More than Jupyter lets pass in its window of 3 s.
LINES = 4_000
PRINTING = f"""import time
print("begun", flush=True)
time.sleep(1)
for i in range({LINES}): print(i, flush=True)
open("printed", "w").close()
"""


def two_pages():
    """Two pages whose connections break while a cell prints. Returns for each what it has missed."""
    first = Kernel()
    pages = [first, Kernel(first.id)]
    for page in pages:
        page.connect()
    printing = first.execute(PRINTING)
    heard = [page.read(printing, "begun\n") for page in pages]
    for page in pages:
        # The connection breaks: there is no close frame.
        page.connection.shutdown()
    while '"printed"' not in ask("GET", "/api/contents/")[0]:
        time.sleep(0.1)
    time.sleep(0.3)
    for n, page in enumerate(pages):
        page.connect()
        heard[n] += page.read(printing, None)
    wanted = ["begun", *map(str, range(LINES))]
    return [sorted(set(wanted) ^ set(text.split()))[:20] for text in heard]


def main():
    kernel = Kernel()
    time.sleep(1.2)
    never = use()["kernels"]
    kernel.connect()
    where = kernel.execute("import ipykernel, sys, time; x = 41; print(sys.path[-1], sys.path[0])")
    path = kernel.read(where, None).strip()
    counting = kernel.execute("for i in range(8): print(i, flush=True); time.sleep(0.2)\nx += 1")
    heard = kernel.read(counting, "1\n")
    busy = use()["kernels"]
    # The kernel counts on while nobody is connected.
    kernel.connection.close()
    time.sleep(0.8)
    kernel.connect()
    heard += kernel.read(counting, None)
    value = kernel.read(kernel.execute("print(x)"), None).strip()
    time.sleep(1.5)
    ask("GET", "/api/kernels")
    ask("GET", "/api/sessions")
    _, cookie = ask("GET", "/lab")
    layout = {"data": {}, "metadata": {"id": "default"}}
    ask("PUT", "/lab/api/workspaces/default", layout, cookie)
    # A tab that connects again asks the kernel who it is.
    kernel.connection.close()
    kernel.connect()
    time.sleep(1.2)
    after = use()
    listed = json.loads(ask("GET", "/api/contents?content=1")[0])["type"]
    found = {"never": never, "path": path, "heard": heard, "busy": busy, "listed": listed}
    found["pages"] = two_pages()
    print(json.dumps({**found, "value": value, "after": after}))


if __name__ == "__main__":
    main()
