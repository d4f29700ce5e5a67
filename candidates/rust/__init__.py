"""What the candidates written in Rust share."""
