"""Bridge to Pokemon Showdown's simulator, the npm package @pkmn/sim."""
