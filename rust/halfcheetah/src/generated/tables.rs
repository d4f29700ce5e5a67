//! Numbers of the model.
//!
//! Written by tools/halfcheetah/rust from generated/halfcheetah; do not edit.

/// One end of a capsule in its body's frame; weight: MuJoCo's body_invweight0.
/// rest: its distance from the floor where all joint positions are zero.
pub(crate) struct Point {
    pub body: usize,
    pub x: f64,
    pub z: f64,
    pub rest: f64,
    pub weight: f64,
}

/// A driven joint; weight: MuJoCo's dof_invweight0.
pub(crate) struct Joint {
    pub low: f64,
    pub high: f64,
    pub damping: f64,
    pub weight: f64,
}

pub(crate) const TIMESTEP: f64 = 0.01;
pub(crate) const GRAVITY: f64 = 9.81;
pub(crate) const ROOT_HEIGHT: f64 = 0.7;
pub(crate) const FRICTION: f64 = 0.4;
pub(crate) const TOLERANCE: f64 = 1e-08;
pub(crate) const POINTS: [Point; 16] = [
    Point { body: 0, x: -0.5, z: 1.1102230246251565e-16, rest: 0.654, weight: 0.06415751945610272 },
    Point { body: 0, x: 0.5, z: -1.1102230246251565e-16, rest: 0.6539999999999998, weight: 0.06415751945610272 },
    Point { body: 0, x: 0.7146493405538257, z: 0.19672398208600017, rest: 0.8507239820860001, weight: 0.06415751945610272 },
    Point { body: 0, x: 0.4853506594461742, z: 0.0032760179139998263, rest: 0.6572760179139997, weight: 0.06415751945610272 },
    Point { body: 1, x: 0.18871939418669426, z: -0.2446903182275904, rest: 0.40930968177240956, weight: 0.09691101560963138 },
    Point { body: 1, x: 0.011280605813305769, z: -0.015309681772409586, rest: 0.6386903182275904, weight: 0.09691101560963138 },
    Point { body: 2, x: -0.27446086117273405, z: -0.13648516234985636, rest: 0.2675148376501436, weight: 0.12720922534654552 },
    Point { body: 2, x: -0.005539138827266005, z: -0.003514837650143668, rest: 0.4004851623498563, weight: 0.12720922534654552 },
    Point { body: 3, x: 0.004927244951249875, z: -0.006405535741606308, rest: 0.25759446425839366, weight: 0.24374928349017175 },
    Point { body: 3, x: 0.05507275504875012, z: -0.1875944642583937, rest: 0.07640553574160623, weight: 0.24374928349017175 },
    Point { body: 4, x: -0.003914941666783009, z: -0.004580049102872574, rest: 0.6494199508971273, weight: 0.0814837948136707 },
    Point { body: 4, x: -0.136085058333217, z: -0.23541995089712742, rest: 0.41858004910287255, weight: 0.0814837948136707 },
    Point { body: 5, x: 0.005147897820126264, z: -0.0025144248195741042, rest: 0.4114855751804259, weight: 0.1319968179007737 },
    Point { body: 5, x: 0.12485210217987375, z: -0.1774855751804259, rest: 0.23651442481957408, weight: 0.1319968179007737 },
    Point { body: 6, x: 0.005475026862347528, z: -0.012226506956322526, rest: 0.22177349304367744, weight: 0.2661441029233887 },
    Point { body: 6, x: 0.08452497313765248, z: -0.1277734930436775, rest: 0.10622650695632248, weight: 0.2661441029233887 },
];
pub(crate) const JOINTS: [Joint; 6] = [
    Joint { low: -0.52, high: 1.05, damping: 6.0, weight: 2.729788644884893 },
    Joint { low: -0.785, high: 0.785, damping: 4.5, weight: 5.893248984162904 },
    Joint { low: -0.4, high: 0.785, damping: 3.0, weight: 8.894877004054676 },
    Joint { low: -1.0, high: 0.7, damping: 4.5, weight: 3.0813926054768768 },
    Joint { low: -1.2, high: 0.87, damping: 3.0, weight: 6.882795962275771 },
    Joint { low: -0.5, high: 0.5, damping: 1.5, weight: 9.468134962769764 },
];
/// The body that each body hangs on; the torso on none.
pub(crate) const PARENTS: [usize; 7] = [0, 0, 1, 2, 0, 4, 5];
/// Where each body's mass has its centre, in its own frame.
pub(crate) const CENTRES: [(f64, f64); 7] = [(0.15238987816307403, 0.025398313027179008), (0.1, -0.13), (-0.14, -0.07), (0.03, -0.097), (-0.07, -0.12), (0.065, -0.09), (0.045, -0.07)];
