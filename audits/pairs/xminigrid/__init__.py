"""XLand-MiniGrid's copies of MiniGrid's rooms."""
