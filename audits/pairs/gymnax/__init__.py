"""gymnax's environments against those that they port."""
