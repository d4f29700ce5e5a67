"""A child's command line names the places where the child finds its modules."""

import json
import sys

from twinstep._lib.spawn import child_command


def test_every_path_is_the_childs_own_whatever_letters_it_has(monkeypatch):
    monkeypatch.setattr(sys, "path", ["/check-é/src", "/usr/lib"])
    _, _, script, origin, module, number = child_command(
        "a.module", 7, inside=lambda path: path.replace("/check-é", "/home")
    )
    assert json.loads(origin)["path"] == ["/home/src", "/usr/lib"]
    assert script.endswith("child.py")
    assert (module, number) == ("a.module", "7")
