"""A link between two programs that can be cut, stalled, delayed and half-closed."""

import asyncio
import threading

STATES = ("open", "cut", "stalled", "delayed", "half-closed")
DELAY_SECONDS = 0.5  # of each piece that a delayed link passes on


class Proxy:
    """Listens on `url` and passes all on to a port of 127.0.0.1. It can be set in any thread."""

    def __init__(self, port, address="127.0.0.1"):
        self.port = port  # of the program behind it
        self.state = "open"
        self._writers = set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        started = asyncio.start_server(self._connect, address, 0)
        self._server = asyncio.run_coroutine_threadsafe(started, self._loop).result(30)
        self.url = f"http://{address}:{self._server.sockets[0].getsockname()[1]}"

    def set(self, state):
        """`cut` ends all connections and refuses new ones. `stalled` and `delayed` keep them.
        `half-closed` ends each direction on which something is sent, and loses what was sent."""
        assert state in STATES
        self.state = state
        if state == "cut":
            self._loop.call_soon_threadsafe(self._abort)

    def stop(self):
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self):
        for writer in self._writers:
            writer.transport.abort()

    async def _connect(self, reader, writer):
        if self.state == "cut":
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, there_writer}
        self._writers |= pair
        await asyncio.gather(self._pass_on(reader, there_writer),
                             self._pass_on(there_reader, writer))
        self._writers -= pair
        for one in pair:
            one.close()

    async def _pass_on(self, reader, writer):
        try:
            while piece := await reader.read(1 << 16):
                while self.state == "stalled":
                    await asyncio.sleep(.05)
                if self.state == "delayed":
                    await asyncio.sleep(DELAY_SECONDS)
                if self.state == "half-closed":
                    break
                writer.write(piece)
                await writer.drain()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()  # the other direction ends, too
