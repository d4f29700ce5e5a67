"""navix's grids against MiniGrid's."""
