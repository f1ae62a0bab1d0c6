"""Connections of pages to kernels that keep the messages of a page while its connection is broken.

Jupyter keeps them for the last connection of a kernel only. If the gateway dies, the connections of all pages break, in
any order: a second tab, a console, and those that JupyterLab opens for moments. Here each connection that breaks is
kept for its session, which the page names when it connects again. A page that leaves says so by a close frame.

A kept connection whose page does not come back would grow with all output. The last one of a kernel stays until another
page connects, so that a laptop may sleep while a cell runs, and all others for RETURN_S.
"""

from functools import partial

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.ioloop import IOLoop

# JupyterLab tries to connect again for about four minutes.
RETURN_S = 300


class PageKernels(AsyncMappingKernelManager):
    """Has what Jupyter calls a buffer by kernel and session, in place of one by kernel."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.kept = {}

    def start_buffering(self, kernel_id, session_key, channels):
        if not self.buffer_offline_messages:
            super().start_buffering(kernel_id, session_key, channels)
            return
        of_kernel = self.kept.setdefault(kernel_id, {})
        self.drop(kernel_id, of_kernel.get(session_key))
        kept = {"session_key": session_key, "channels": channels, "buffer": []}
        of_kernel[session_key] = kept
        for channel, stream in channels.items():
            stream.on_recv(partial(note, kept["buffer"], channel))
        if self.kernel_model(kernel_id)["connections"] > 0:
            self.drop_later(kernel_id, kept)

    def get_buffer(self, kernel_id, session_key):
        of_kernel = self.kept.get(kernel_id, {})
        found = of_kernel.pop(session_key, None)
        for other in of_kernel.values():
            self.drop_later(kernel_id, other)
        return found

    def stop_buffering(self, kernel_id):
        for kept in self.kept.pop(kernel_id, {}).values():
            close(kept)

    def drop_later(self, kernel_id, kept):
        IOLoop.current().call_later(RETURN_S, self.drop, kernel_id, kept)

    def drop(self, kernel_id, kept):
        of_kernel = self.kept.get(kernel_id, {})
        if kept is not None and of_kernel.get(kept["session_key"]) is kept:
            close(of_kernel.pop(kept["session_key"]))


def note(buffer, channel, message):
    buffer.append((channel, message))


def close(kept):
    for stream in kept["channels"].values():
        if not stream.closed():
            stream.on_recv(None)
            stream.close()


class PageConnection(ZMQChannelsWebsocketConnection):
    has_left = False

    def connect(self):
        wire = self.websocket_handler.ws_connection
        answer_close = wire.close

        def closed(*arguments):
            # This answers a close frame of the page, and is no end by the server, such as that of a page without pongs.
            answers = wire.client_terminated and not wire.server_terminated
            self.has_left = self.has_left or answers
            return answer_close(*arguments)

        wire.close = closed
        # Jupyter limits the messages of a second. Those that were kept come at once, and none of them is left out.
        limits_rate, self.limit_rate = self.limit_rate, False
        connected = super().connect()
        if connected is not None:
            connected.add_done_callback(lambda _: self.set_trait("limit_rate", limits_rate))
        return connected

    def disconnect(self):
        kernels = self.multi_kernel_manager
        if self.is_broken() and kernels.kernel_model(self.kernel_id)["connections"] > 1:
            kernels.start_buffering(self.kernel_id, self.session_key, self.channels)
            self.channels = {}
        super().disconnect()

    def is_broken(self):
        """Returns whether the page may come back, and has not done so already."""
        is_latest = self._open_sessions.get(self.session_key) is self.websocket_handler
        is_known = self.kernel_id in self.multi_kernel_manager
        return is_latest and is_known and bool(self.channels) and not self.has_left
