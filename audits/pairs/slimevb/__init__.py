"""slimevb's JAX backend against slimevolleygym."""
