"""Players of Generation 1 battles."""
