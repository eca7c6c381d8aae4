"""A server on this computer that speaks S3, and keeps what it is given in memory."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch
from urllib.request import Request, urlopen

_BUCKET = "games"


@contextmanager
def s3_server(files: Mapping[str, bytes] | None = None) -> Iterator[str]:
    """Serve a bucket for as long as the block; the environment leads this process and those it starts to it.

    Args:
        files: name → bytes, of what is in the bucket from the start.
    Yields:
        The URL of the bucket.
    """
    import fsspec
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    # What a server keeps outlives it in this process.
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    environment = {
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_S3": f"http://{host}:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        with patch.dict(os.environ, environment):
            system = fsspec.filesystem("s3")
            system.mkdir(_BUCKET)
            system.pipe({f"{_BUCKET}/{name}": data for name, data in (files or {}).items()})
            yield f"s3://{_BUCKET}"
    finally:
        type(system).clear_instance_cache()  # the next server has another port
        server.stop()
