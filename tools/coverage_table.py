"""Print the README's coverage table from a verdict: `python tools/coverage_table.py FILE`."""

import json
import sys
from pathlib import Path

print("| variant | driver | episodes that ended | steps | events seen | largest \\|vy\\| |")
print("|---" * 6 + "|")
for label, pair in json.loads(Path(sys.argv[1]).read_text())["pairs"].items():
    if (pair["environment"], pair["candidate"]) != ("pong", "jax"):
        continue
    for driver, seen in pair["drivers"].items():
        events = seen["events"]
        reached = sum(count > 0 for count in events.values())
        ended = seen["terminated"] + seen["truncated"]
        speed = seen["measures"]["largest |vy|"]
        print(
            f"| {label.split('@')[1].rpartition('-')[0]} | {driver} | {ended} of "
            f"{seen['episodes']} | {seen['steps']:,} | {reached} of {len(events)} | {speed:g} |"
        )
