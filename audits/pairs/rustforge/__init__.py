"""rustforge-rl's environments in Rust against those that they port."""
