"""pgx's games against engines of others."""
