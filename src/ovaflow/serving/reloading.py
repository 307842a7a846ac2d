"""A replaced model file is taken up while requests are answered."""

import asyncio

from ovaflow.console.errors import InputError


class Reloading:
    """Holds the model that answers, and watches its files.

    Parameters
    ----------
    files : ovaflow.serving.served_model.Files
    served : ovaflow.serving.served_model.ServedModel
        Opened from them.
    metrics : ovaflow.serving.metrics.Metrics
    log : callable
        Told what happened, in one line.
    seconds : float
        Between two looks at the files.

    Attributes
    ----------
    served : ServedModel
        A request takes it once, so that its answer comes from one model.
    remark : str
        Why the files are not the ones that are served; empty if they are.
    """

    def __init__(self, files, served, metrics, log, seconds=1.0):
        self._files, self._metrics, self._log, self._seconds = files, metrics, log, seconds
        self._seen, self._lock = served.state, asyncio.Lock()
        self.served, self.remark = served, ""
        metrics.set_model(served.checksum)

    async def watch(self):
        """Look at the files again and again, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._seconds)

    async def look(self, again=False):
        """Open the files and take them up if they are others than before.

        What cannot be opened, half-written files for example, leaves the
        model that is there in place.

        Parameters
        ----------
        again : bool
            Even if they are the same.
        """
        async with self._lock:
            state = self._files.state()
            if state == self._seen and not again:
                return
            self._seen = state
            try:
                self.served = await asyncio.to_thread(self._files.open)
            except (InputError, OSError) as error:
                self.remark = f"the replaced file is not served: {error}"
                self._log(f"still serving model {self.served.checksum}: {error}")
                self._metrics.count_reload(False)
                return
            self.remark = ""
            self._metrics.set_model(self.served.checksum)
            self._metrics.count_reload(True)
            self._log(" ".join(["serving model", self.served.checksum, self.served.remark]).strip())
