"""A reader that knows one line only, as docs/protocol/conformance.md shows it."""

import base64
import json
import re
import sys

HOLDINGS = re.compile(r"(?:fics% )*<b1> game (\d+) white \[([A-Z]*)\] black \[([A-Z]*)\](?: <- ([WB])([A-Z]))?")


def holdings(text):
    for line in text.replace("\r", "").split("\n"):
        match = HOLDINGS.fullmatch(line)
        if match:
            game, white, black, receiver, received = match.groups()
            yield {
                "game": int(game),
                "white": "".join(sorted(white, key="PNBRQ".find)),
                "black": "".join(sorted(black, key="PNBRQ".find)),
                "receiver": receiver,
                "received": received,
            }


print(json.dumps({"program": "small reader 1", "reads": ["holdings"]}), flush=True)
for line in sys.stdin:
    case = json.loads(line)
    text = base64.b64decode(case["input"]).decode("latin-1")
    print(json.dumps({"id": case["id"], "holdings": list(holdings(text))}), flush=True)
