"""Two environments that the shipped ones are not: two players with masks, and chaotic physics."""
