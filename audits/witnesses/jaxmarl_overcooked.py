"""The third onion starts the soup in JaxMARL; in overcooked_ai a player has to start it."""

import jax
import jaxmarl
from overcooked_ai_py.mdp.actions import Action
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

UP, RIGHT, LEFT, STAY, INTERACT = 0, 2, 3, 4, 5
FETCH = [LEFT, INTERACT, RIGHT, UP, INTERACT, LEFT] * 3  # an onion, to the pot, and back

rules = OvercookedGridworld.from_layout_name("cramped_room")
state = rules.get_standard_start_state()
for move in [UP, *FETCH]:  # the first player begins a cell lower here
    moves = [Action.INDEX_TO_ACTION[each] for each in (move, STAY)]
    state, _ = rules.get_state_transition(state, moves)
reference = state.objects[2, 0].is_cooking

env = jaxmarl.make("overcooked")
_, state = env.reset(jax.random.key(0))
for move in FETCH:
    seen, state, *_ = env.step_env(jax.random.key(0), state, {"agent_0": move, "agent_1": STAY})
port = bool(seen["agent_0"][..., 20].any())  # the layer of times left to cook
assert reference == port, f"overcooked_ai cooks {reference}, JaxMARL {port}"
