"""Write contracts/pokejax/reached.json: the events that occur in every variant's play.

Plays the public episodes of every variant and driver in the reference. An event counts if it occurs
in at least TEN of a variant's episodes, so that it also occurs with other seeds. The argument is
the output file.
"""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np

from twinstep.contracts.pokejax.events import EVENTS
from twinstep.inputs.seeds import seeds, starts_of
from twinstep.oracles.pokejax.bridge import PokejaxOracle
from twinstep.project import registry
from twinstep.reference.recording import record

TEN = 10
EPISODES = 100


def main(output: Path) -> None:
    """Count and write."""
    reached, anywhere = {}, np.zeros(len(EVENTS), np.int64)
    for subject in registry.subjects(registry.environment("pokejax"), {}):
        contract = subject.contract
        counted = dataclasses.replace(contract, events=EVENTS)
        oracle = PokejaxOracle(counted)
        starts = starts_of(contract, seeds("public", EPISODES, "pokejax"))
        total = np.zeros(len(EVENTS), np.int64)
        for name in contract.drivers:
            driver = registry.load_object(subject.driver(name))
            chunk = record(oracle, counted, driver, starts, contract.horizon, lambda *_: None)
            assert chunk.events is not None
            total += chunk.events.any(0).sum(0)
        key = f"{contract.params['format']} {contract.params['teams']}"
        reached[key] = [name for name, count in zip(EVENTS, total, strict=True) if count >= TEN]
        anywhere += total
        print(f"{subject.label}: {len(reached[key])} of {len(EVENTS)}", file=sys.stderr)
    never = [name for name, count in zip(EVENTS, anywhere, strict=True) if not count]
    print(f"in no variant: {', '.join(never) or 'none'}", file=sys.stderr)
    data = {"generated_by": "tools/pokejax/reached.py", "reached": reached}
    output.write_text(json.dumps(data, indent=0) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
