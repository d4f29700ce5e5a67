"""jumanji's environments against those that they port."""
