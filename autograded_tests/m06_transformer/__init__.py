"""The exercises of 06_transformer."""
