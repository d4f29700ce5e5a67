"""Code shared by the candidates written in Rust."""
