"""Requests by names that are not allowed: among them those of pages whose own name was made to mean this machine."""

from starlette.middleware.trustedhost import TrustedHostMiddleware

from ovaflow.serving.replies import problem

_REFUSAL = problem(400, "called by a name that is not allowed: serve with --allowed-host")


class KnownHost:
    """ASGI middleware that refuses what starlette refuses, but not in plain text."""

    def __init__(self, app, allowed_hosts):
        self._app, self._check = app, TrustedHostMiddleware(_accept, allowed_hosts, www_redirect=False)

    async def __call__(self, scope, receive, send):
        refused = []

        async def note(message):
            refused.append(message)

        await self._check(scope, receive, note)
        await (_REFUSAL if refused else self._app)(scope, receive, send)


async def _accept(scope, receive, send):
    pass
