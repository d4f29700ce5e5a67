"""CartPole in JAX, float64, one episode at a time; twinstep batches and compiles it."""
