"""Places and motions of the bodies in the plane x (forward), z (up).

Everything is relative to the torso's joint, which moves, in axes that do not turn: the numbers stay
small however far the cheetah has run. A positive angle turns z towards x, as MuJoCo's y axis does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from twinstep.generated.halfcheetah.model import BODIES

Number = Any  # a float, an array, or a symbol that is traced into another language


class Pose(NamedTuple):
    """Cosine and sine of a body's angle, and the place of its joint.

    vers: 1 - cosine. rise: the joint's height above its height where all angles are zero. Near
    zero both keep digits that 1 - cos and differences of z lose: a contact's force is stiff enough
    to show them in float32.
    """

    cos: Number
    sin: Number
    x: Number
    z: Number
    vers: Number
    rise: Number

    def at(self, x: Number, z: Number) -> tuple[Number, Number]:
        """Return the place of a point of the body's own frame."""
        return self.x + self.cos * x + self.sin * z, self.z - self.sin * x + self.cos * z

    def rise_of(self, x: Number, z: Number) -> Number:
        """Return the same point's height above its height where all angles are zero."""
        return self.rise - self.sin * x - self.vers * z


class Motion(NamedTuple):
    """A rigid motion: turning rate, and velocity of what is at the torso's joint.

    Also used for accelerations and for directions in which to search.
    """

    turn: Number
    x: Number
    z: Number

    def at(self, x: Number, z: Number) -> tuple[Number, Number]:
        """Return the velocity of a point."""
        return self.x + self.turn * z, self.z - self.turn * x


def poses(q: list[Number]) -> list[Pose]:
    """Return the seven poses of joint positions q[9]."""
    sin, vers = _sin_vers(q[2])
    found = [Pose(1.0 - vers, sin, 0.0, 0.0, vers, 0.0)]
    for body, angle in zip(BODIES[1:], q[3:], strict=True):
        parent = found[body.parent]
        sin, vers = _sin_vers(angle)
        whole = parent.vers + vers + (parent.sin * sin - parent.vers * vers)
        whole_sin = parent.sin + sin - (parent.sin * vers + parent.vers * sin)
        x, z = parent.at(body.x, body.z)
        rise = parent.rise_of(body.x, body.z)
        found.append(Pose(1.0 - whole, whole_sin, x, z, whole, rise))
    return found


def _sin_vers(angle: Number) -> tuple[Number, Number]:
    xp = angle.__array_namespace__()
    cos, sin = xp.cos(angle), xp.sin(angle)
    return sin, xp.where(cos <= 0.0, 1.0 - cos, sin * sin / (1.0 + cos))


def motions(places: list[Pose], v: list[Number]) -> list[Motion]:
    """Return the bodies' motions under joint velocities v[9]."""
    found = [Motion(v[2], v[0], v[1])]
    for body, pose, rate in zip(BODIES[1:], places[1:], v[3:], strict=True):
        parent = found[body.parent]
        found.append(Motion(parent.turn + rate, parent.x - pose.z * rate, parent.z + pose.x * rate))
    return found
