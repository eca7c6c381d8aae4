"""The recorder's own reader as a program that answers conformance cases: ``python -m recorder.conformance``."""

from __future__ import annotations

import base64
import json
import sys

from recorder.conformance.own_reader import KINDS, PROGRAM, read_facts


def main() -> None:
    """Print the greeting, then answer each line of standard input until it ends."""
    print(json.dumps({"program": PROGRAM, "reads": sorted(KINDS)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        facts = read_facts([base64.b64decode(request["input"])], request["wanted"])
        print(json.dumps({"id": request["id"], **facts}), flush=True)


if __name__ == "__main__":
    main()
