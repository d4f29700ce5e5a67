"""How strong is the suite? Bugs planted by rule in a candidate, and which level catches each."""
