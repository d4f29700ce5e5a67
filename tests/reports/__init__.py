"""Public reports of wrong ports, each rebuilt as a pair: the rules, and the port as reported."""
