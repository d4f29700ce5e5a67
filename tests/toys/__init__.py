"""Two kinds of environment not among the shipped: two players with masks, chaotic physics."""
