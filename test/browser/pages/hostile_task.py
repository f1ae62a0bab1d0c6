"""A server of a task that attacks the person who opens its page. Usage: hostile_task.py PORT"""

import http.server
import json
import sys

SCRIPT = b"self.addEventListener('fetch', (event) => event.respondWith(new Response('from the worker')));"

seen: "list[str]" = []


class Hostile(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/seen":
            self.answer("application/json", json.dumps(seen).encode())
            return
        seen.append(self.path)
        if self.path == "/worker.js":
            self.answer("text/javascript", SCRIPT)
        else:
            self.answer("text/html", b"<!doctype html><title>task</title><h1>A hostile page</h1>")

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("access-control-allow-origin", "*")
        self.send_header("service-worker-allowed", "/")
        # A header for the whole site would empty the cookies of the platform beside this host.
        self.send_header("clear-site-data", '"cookies", "storage"')
        for domain in ("localhost", ".localhost", "127.0.0.1"):
            self.send_header("set-cookie", f"planted_by_server=1; Domain={domain}; Path=/")
        self.send_header("set-cookie", "own=1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        print(format % args, flush=True)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hostile).serve_forever()
