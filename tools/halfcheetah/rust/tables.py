"""The Rust files without formulas: structures, numbers of the model and of the ziggurat."""

from __future__ import annotations

from twinstep.generated.halfcheetah import constraints, model, ziggurat
from twinstep.generated.halfcheetah.inertia import Load
from twinstep.generated.halfcheetah.kinematics import Motion, Pose

#: Begins each file; {}: what it is about.
HEADER = (
    "//! {}\n//!\n"
    "//! Written by tools/halfcheetah/rust from generated/halfcheetah; do not edit.\n\n"
)


def structures() -> str:
    """Return the Rust structures of the description's named tuples."""
    text = HEADER.format("What the pieces take and give, one structure per named tuple.")
    for kind in (Pose, Motion, Load, constraints.Contact, constraints.Rows, constraints.Limit):
        doc = (kind.__doc__ or "").strip().splitlines()[0]
        fields = "".join(f"    pub {field}: V,\n" for field in kind._fields)
        text += f"/// {doc}\n#[derive(Clone, Copy, Debug)]\n"
        text += f"pub(crate) struct {kind.__name__}<V> {{\n{fields}}}\n\n"
    return text.rstrip() + "\n"


def tables() -> str:
    """Return the model's numbers that hand-written code uses."""
    text = HEADER.format("Numbers of the model.")
    text += "/// One end of a capsule in its body's frame; weight: MuJoCo's body_invweight0.\n"
    text += "/// rest: its distance from the floor where all joint positions are zero.\n"
    text += "pub(crate) struct Point {\n    pub body: usize,\n    pub x: f64,\n    pub z: f64,\n"
    text += "    pub rest: f64,\n    pub weight: f64,\n}\n\n"
    text += "/// A driven joint; weight: MuJoCo's dof_invweight0.\n"
    text += (
        "pub(crate) struct Joint {\n    pub low: f64,\n    pub high: f64,\n    pub damping: f64,\n"
    )
    text += "    pub weight: f64,\n}\n\n"
    for name in ("TIMESTEP", "GRAVITY", "ROOT_HEIGHT", "FRICTION", "TOLERANCE"):
        text += f"pub(crate) const {name}: f64 = {getattr(model, name)!r};\n"
    text += f"pub(crate) const POINTS: [Point; {len(model.POINTS)}] = [\n"
    for point in model.POINTS:
        text += f"    Point {{ body: {point.body}, x: {point.x!r}, z: {point.z!r}, "
        text += f"rest: {point.rest!r}, weight: {point.weight!r} }},\n"
    text += f"];\npub(crate) const JOINTS: [Joint; {len(model.JOINTS)}] = [\n"
    for joint in model.JOINTS:
        text += f"    Joint {{ low: {joint.low!r}, high: {joint.high!r}, "
        text += f"damping: {joint.damping!r}, weight: {joint.weight!r} }},\n"
    text += "];\n/// The body that each body hangs on; the torso on none.\n"
    parents = ", ".join(str(max(body.parent, 0)) for body in model.BODIES)
    text += f"pub(crate) const PARENTS: [usize; {len(model.BODIES)}] = [{parents}];\n"
    text += "/// Where each body's mass has its centre, in its own frame.\n"
    centres = ", ".join(f"({body.com_x!r}, {body.com_z!r})" for body in model.BODIES)
    text += f"pub(crate) const CENTRES: [(f64, f64); {len(model.BODIES)}] = [{centres}];\n"
    return text


def ziggurat_tables() -> str:
    """Return the tables of normal draws."""
    text = HEADER.format("Tables of the ziggurat that normal numbers are drawn from.")
    for name in ("RIGHT", "PER_RIGHT"):
        text += f"pub(crate) const {name}: f64 = {getattr(ziggurat, name)!r};\n"
    for name, kind, doc in (
        ("INSIDE", "u64", "Draws below this are inside their layer."),
        ("WIDTHS", "f64", "A layer's width per unit of the draw."),
        ("HEIGHTS", "f64", "The density at a layer's edge."),
    ):
        values = getattr(ziggurat, name)
        text += f"/// {doc}\npub(crate) static {name}: [{kind}; {len(values)}] = [\n"
        for value in values:
            text += f"    {value!r},\n"
        text += "];\n"
    return text
