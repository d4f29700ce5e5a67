"""Numbers of HalfCheetah as MuJoCo 3.14.0 compiles it.

Written by tools/halfcheetah/model.py; do not edit.
"""

from __future__ import annotations

from typing import NamedTuple


class Body(NamedTuple):
    """x, z: the joint in the parent's frame. com_x, com_z: mass centre in its own."""

    name: str
    parent: int
    x: float
    z: float
    mass: float
    com_x: float
    com_z: float
    inertia: float


class Joint(NamedTuple):
    """One of the six driven joints; weight: MuJoCo's dof_invweight0."""

    name: str
    low: float
    high: float
    stiffness: float
    damping: float
    armature: float
    gear: float
    weight: float


class Point(NamedTuple):
    """One end of a capsule, in its body's frame; weight: MuJoCo's body_invweight0.

    rest: its distance from the floor where all joint positions are zero.
    """

    geom: str
    body: int
    x: float
    z: float
    rest: float
    weight: float


# fmt: off
# ruff: noqa: E501
MUJOCO = "3.14.0"
TIMESTEP = 0.01
GRAVITY = 9.81
ROOT_HEIGHT = 0.7
RADIUS = 0.046
FRICTION = 0.4
LEAST_IMPEDANCE = 0.0001
MOST_IMPEDANCE = 0.8
CONTACT_WIDTH = 0.01
LIMIT_WIDTH = 0.03
STIFFNESS = 3906.2499999999995
DAMPING = 125.0
TOLERANCE = 1e-08
BODIES = (
    Body("torso", -1, 0.0, 0.0, 6.25020920502092, 0.15238987816307403, 0.025398313027179008, 0.897117688111749),
    Body("bthigh", 0, -0.5, 0.0, 1.5435146443514645, 0.1, -0.13, 0.01684433958158996),
    Body("bshin", 1, 0.16, -0.25, 1.5874476987447697, -0.14, -0.07, 0.018267419079497912),
    Body("bfoot", 2, -0.28, -0.14, 1.0953974895397491, 0.03, -0.097, 0.0063524232635983275),
    Body("fthigh", 0, 0.5, 0.0, 1.4380753138075317, -0.07, -0.12, 0.013739643347280341),
    Body("fshin", 4, -0.14, -0.24, 1.200836820083682, 0.065, -0.09, 0.008222108619246861),
    Body("ffoot", 5, 0.13, -0.18, 0.8845188284518829, 0.045, -0.07, 0.003529109456066946),
)
JOINTS = (
    Joint("bthigh", -0.52, 1.05, 240.0, 6.0, 0.1, 120.0, 2.729788644884893),
    Joint("bshin", -0.785, 0.785, 180.0, 4.5, 0.1, 90.0, 5.893248984162904),
    Joint("bfoot", -0.4, 0.785, 120.0, 3.0, 0.1, 60.0, 8.894877004054676),
    Joint("fthigh", -1.0, 0.7, 180.0, 4.5, 0.1, 120.0, 3.0813926054768768),
    Joint("fshin", -1.2, 0.87, 120.0, 3.0, 0.1, 60.0, 6.882795962275771),
    Joint("ffoot", -0.5, 0.5, 60.0, 1.5, 0.1, 30.0, 9.468134962769764),
)
POINTS = (
    Point("torso", 0, -0.5, 1.1102230246251565e-16, 0.654, 0.06415751945610272),
    Point("torso", 0, 0.5, -1.1102230246251565e-16, 0.6539999999999998, 0.06415751945610272),
    Point("head", 0, 0.7146493405538257, 0.19672398208600017, 0.8507239820860001, 0.06415751945610272),
    Point("head", 0, 0.4853506594461742, 0.0032760179139998263, 0.6572760179139997, 0.06415751945610272),
    Point("bthigh", 1, 0.18871939418669426, -0.2446903182275904, 0.40930968177240956, 0.09691101560963138),
    Point("bthigh", 1, 0.011280605813305769, -0.015309681772409586, 0.6386903182275904, 0.09691101560963138),
    Point("bshin", 2, -0.27446086117273405, -0.13648516234985636, 0.2675148376501436, 0.12720922534654552),
    Point("bshin", 2, -0.005539138827266005, -0.003514837650143668, 0.4004851623498563, 0.12720922534654552),
    Point("bfoot", 3, 0.004927244951249875, -0.006405535741606308, 0.25759446425839366, 0.24374928349017175),
    Point("bfoot", 3, 0.05507275504875012, -0.1875944642583937, 0.07640553574160623, 0.24374928349017175),
    Point("fthigh", 4, -0.003914941666783009, -0.004580049102872574, 0.6494199508971273, 0.0814837948136707),
    Point("fthigh", 4, -0.136085058333217, -0.23541995089712742, 0.41858004910287255, 0.0814837948136707),
    Point("fshin", 5, 0.005147897820126264, -0.0025144248195741042, 0.4114855751804259, 0.1319968179007737),
    Point("fshin", 5, 0.12485210217987375, -0.1774855751804259, 0.23651442481957408, 0.1319968179007737),
    Point("ffoot", 6, 0.005475026862347528, -0.012226506956322526, 0.22177349304367744, 0.2661441029233887),
    Point("ffoot", 6, 0.08452497313765248, -0.1277734930436775, 0.10622650695632248, 0.2661441029233887),
)
# fmt: on
